"""Random records of all kinds: `open_split` gives what `parse_batch` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.shared.errors import DatasetError

from .generated_records import Generated
from .test_round_trip import flat

ROWS = 5

UNLIKE_TENSORFLOW = "Pillow does not decode"
"""How the error begins of the two kinds of images that Pillow has no pixels of."""


@pytest.fixture
def serialized(generated: Generated) -> list[bytes]:
    """Some records, the same ones in each run, the last one without optional values."""
    serialize = generated.serializer.serialize
    rows = generated.samples(ROWS)
    fields = generated.case.fields.items()
    required = {name for name, case in fields if not case.default}
    if required:
        rows[-1] = {name: v for name, v in rows[-1].items() if name in required}
    return [serialize(**row) for row in rows]


@pytest.fixture
def split(generated: Generated, serialized: list[bytes], tmp_path: Path) -> Any:
    """The same records in a file, opened."""
    path = tmp_path / "some.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in serialized:
            writer.write(record)
    return generated.module("reader").open_split(path)


def test_batches_are_those_of_parse_batch(
    generated: Generated, serialized: list[bytes], split: Any
) -> None:
    alone = any(case.one_row_batches for case in generated.case.fields.values())
    batches = [[at] for at in range(ROWS)] if alone else [[3, 0, 4], [1], [4]]
    for numbers in batches:
        try:
            found = flat(split[numbers])
        except DatasetError as error:
            assert UNLIKE_TENSORFLOW in str(error)  # noqa: PT017
            continue
        chosen = tf.constant([serialized[number] for number in numbers])
        expected = flat(generated.parser.parse_batch(chosen))
        assert found.keys() == expected.keys()
        for name, tensor in expected.items():
            check_column(found[name], tensor, name)


def test_records_are_rows_of_batches(generated: Generated, split: Any) -> None:
    """But for padding, and for None where a value is missing."""
    codecs = generated.module("fields").RECORD.fields
    for number in range(ROWS):
        try:
            row, batch = flat(split[number]), flat(split[[number]])
        except DatasetError as error:
            assert UNLIKE_TENSORFLOW in str(error)  # noqa: PT017
            continue
        assert row.keys() == codecs.keys()
        for name, value in row.items():
            present = batch.get(f"{name}_present", [True])[0]
            may_lack = codecs[name].delivered.absence.possible
            if value is None:
                assert may_lack, name
            else:
                assert present or not may_lack, name
                expected = without_padding(plain(batch[name][0]), plain(value))
                assert repr(plain(value)) == repr(expected), name


def without_padding(padded: Any, lists: Any) -> Any:
    """Return as much of each padded list as the lists of a row have."""
    if not isinstance(padded, list) or not any(isinstance(e, list) for e in lists):
        return padded
    pairs = zip(padded, lists, strict=True)
    return [found[: len(each)] for found, each in pairs]


class EverySecond:
    """What `make_dataset` lets `parse_batch` select, here every second item."""

    def most(self, length: int) -> int:
        return (length + 1) // 2

    def __call__(self, serialized: tf.Tensor, lengths: tf.Tensor) -> tf.RaggedTensor:
        return tf.ragged.range(0, lengths, 2, row_splits_dtype=tf.int64)


def test_selected_items_are_those_of_lists_in_both_readers(
    generated: Generated, serialized: list[bytes], split: Any, tmp_path: Path
) -> None:
    """Every second item, of each kind of lists that can be selected."""
    codecs = generated.module("fields").RECORD.fields
    alone = any(case.one_row_batches for case in generated.case.fields.values())
    names = [name for name, codec in codecs.items() if codec.selectable]
    if not names or alone:
        return
    path, select = tmp_path / "some.tfrecord", {key: {"every": 2} for key in names}
    some = generated.module("reader").open_split(path, fields=names, select=select)
    whole = generated.module("reader").open_split(path, fields=names)
    for number in range(ROWS):
        found, expected = flat(some[number]), flat(whole[number])
        for name, value in expected.items():
            chosen = None if value is None else value[::2]
            assert repr(plain(found[name])) == repr(plain(chosen)), name
    fields = dict.fromkeys(names, EverySecond())
    tensors = flat(generated.parser.parse_batch(tf.constant(serialized), fields))
    batch = flat(some[:])
    for name in tensors:
        check_column(batch[name], tensors[name], name)


def check_column(found: Any, tensor: Any, name: str) -> None:
    """Assert that a column holds what a tensor does."""
    if isinstance(tensor, tf.RaggedTensor):
        assert plain(found) == tensor.to_list(), name
        return
    if isinstance(tensor, tf.SparseTensor):
        found, tensor = dense(found, tensor.dense_shape), tf.sparse.to_dense(tensor)
    expected = tensor.numpy()
    if isinstance(found, list):  # images of different sizes
        found = np.stack(found)
    assert found.shape == expected.shape, name
    if expected.dtype == object:
        assert plain(found) == expected.tolist(), name
        return
    assert found.dtype == expected.dtype, name
    assert repr(plain(found)) == repr(plain(expected)), name  # NaN equals NaN


def dense(rows: Sequence[Any], shape: Any) -> Any:
    """Return the pairs of sparse rows as one array."""
    found = np.zeros(shape, rows[0][1].dtype)
    for row, (indices, values) in enumerate(rows):
        found[(row, *indices.T)] = values
    return found


def plain(value: Any) -> Any:
    """Return a value as Python's own, texts as bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, np.ndarray) and value.dtype.kind == "V":  # bfloat16
        value = value.astype(np.float32)
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    assert not isinstance(value, Mapping)
    return value
