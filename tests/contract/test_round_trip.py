"""Random records of all kinds: the bytes on disk, and what every way of reading gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from stored_features import example

from .generated_records import (
    Generated,
    RecordCase,
    Row,
    arguments,
    columns_of,
    taken_from,
)
from .strategies import contract
from .verified import check_agreement, faults_of, mutated, spec_beside, values_of

Rows = Sequence[Row]


def flat(tensors: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested tensors by their path, joined by `_`."""
    found: dict[str, Any] = {}
    for name, value in tensors.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}_")
        else:
            found[prefix + name] = value
    return found


def feature_list(*steps: tf.train.Feature) -> tf.train.FeatureList:
    """Return a feature list."""
    return tf.train.FeatureList(feature=steps)


def stored_in(row: Row) -> dict[str, tf.train.Feature]:
    """Return the features that have to be stored, by key."""
    return {key: it for drawn in row.values() for key, it in drawn.stored.items()}


def lists_of(row: Row) -> dict[str, Any]:
    """Return the features of each step that have to be stored, by key."""
    return {key: steps for each in row.values() for key, steps in each.lists.items()}


def original(record: RecordCase, row: Row) -> bytes:
    """Return the row as protobuf writes it: as an Example, and after it any lists."""
    features = stored_in(row)
    if not record.has_steps:
        return example(features)
    lists = {key: feature_list(*steps) for key, steps in lists_of(row).items()}
    message = tf.train.SequenceExample(
        feature_lists=tf.train.FeatureLists(feature_list=lists),
    )
    data: bytes = message.SerializeToString(deterministic=True)
    return example(features) + data if features else data


def empty(record: RecordCase) -> bytes:
    """Return a message of the record's type that has none of its keys."""
    if not record.has_steps:
        return bytes(tf.train.Example().SerializeToString())
    lists = tf.train.FeatureLists(feature_list={"another": feature_list()})
    return bytes(tf.train.SequenceExample(feature_lists=lists).SerializeToString())


def plain(tensor: Any) -> Any:
    """Return a tensor as numpy, or as nested lists if it is ragged."""
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.to_list()
    if isinstance(tensor, tf.sparse.SparseTensor):
        return tf.sparse.to_dense(tensor).numpy()
    return tensor.numpy()


def canonical(array: Any) -> Any:
    """Return an array's bytes, all NaNs taken as one."""
    if array.dtype.kind in "fV":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.tobytes()


def check_equal(found: Any, expected: Any, where: str) -> None:
    """Assert equality to the bit, all NaNs taken as one."""
    if isinstance(expected, (bytes, list)):
        found = found.tolist() if isinstance(found, np.ndarray) else found
        assert found == expected, where
        return
    typed = isinstance(expected, (np.ndarray, np.generic)) and expected.dtype != object
    if typed:
        assert found.dtype == expected.dtype, where
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape, where
    if typed:
        same = canonical(np.asarray(found)) == canonical(expected)
        assert same, (where, found, expected)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=where)


def check_one(found: Mapping[str, Any], row: Row) -> None:
    """Assert that one parsed record is what the row holds, and nothing more."""
    expected = {n: v for drawn in row.values() for n, v in drawn.delivered.items()}
    found = flat(found)
    assert set(found) == set(expected)
    for name, value in expected.items():
        check_equal(plain(found[name]), value, name)


def check_batch(record: RecordCase, batch: Mapping[str, Any], rows: Rows) -> None:
    """Assert that each row of a batch is what it is alone, filled up where dense."""
    batch = flat(batch)
    for at, row in enumerate(rows):
        for drawn in row.values():
            for name, value in drawn.delivered.items():
                found = plain(batch[name])[at]
                if isinstance(value, (bytes, list)) and isinstance(found, np.ndarray):
                    filler = [record.padding(name)] * (len(found) - len(value))
                    value = value + filler  # type: ignore[operator]
                elif not isinstance(value, (bytes, list)):
                    own = tuple(slice(size) for size in np.shape(value))
                    outside = np.ones(np.shape(found), bool)
                    outside[own] = False
                    rest = np.asarray(found)[outside].tolist()
                    dtype = np.asarray(found).dtype
                    wanted = np.asarray(record.padding(name)).astype(dtype)
                    assert rest == [wanted.item()] * len(rest), name
                    found = np.asarray(found)[own]
                check_equal(found, value, f"{name} of row {at}")


@contract(15)
@given(data=st.data())
def test_every_kind_is_stored_and_read_as_stated(
    generated: Generated, data: st.DataObject
) -> None:
    """The bytes are protobuf's, by row and by batch; batches and single rows agree."""
    rows = data.draw(generated.case.batches())
    serializer = generated.serializer
    written = [serializer.serialize(**arguments(row)) for row in rows]
    assert written == [original(generated.case, row) for row in rows]
    columns = columns_of(generated.case, [arguments(row) for row in rows])
    assert serializer.serialize_batch(**columns) == written
    check_batch(generated.case, generated.parse_batch(tf.constant(written)), rows)
    for row, item in zip(rows, written, strict=True):
        check_one(generated.parse_example(tf.constant(item)), row)


@contract(5)
@given(data=st.data())
def test_schema_instances_are_rows_of_the_same_bytes(
    generated: Generated, data: st.DataObject
) -> None:
    """`Record(**row)` accepts every good row and hands on the same values."""
    for row in data.draw(generated.case.batches()):
        given_row = arguments(row)
        instance = generated.record(**given_row)
        taken = taken_from(generated.case, instance, given_row)
        serialize = generated.serializer.serialize
        assert serialize(**taken) == serialize(**given_row)


@contract(3)
@given(data=st.data())
def test_eager_code_and_single_fields_read_the_same(
    generated: Generated, data: st.DataObject
) -> None:
    """Without a graph a batch parses as in one, and each field alone as in all."""
    record, parser = generated.case, generated.parser
    rows = data.draw(record.batches())
    written = [generated.serializer.serialize(**arguments(row)) for row in rows]
    check_batch(record, parser.parse_batch(tf.constant(written)), rows)
    for name, case in record.fields.items():
        fields = case.fields(name)
        only = parser.parse_batch(tf.constant(written), fields)
        assert set(flat(only)) == {n for row in rows for n in row[name].delivered}
        check_batch(record, only, [{name: row[name]} for row in rows])
        for row in rows:
            if row[name].stored and not record.has_steps:  # others may be missing
                alone = tf.constant([example(row[name].stored)])
                found = parser.parse_batch(alone, fields)
                check_batch(record, found, [{name: row[name]}])


@contract(5)
@given(data=st.data())
def test_plain_tensorflow_reads_the_same_with_the_generated_description(
    generated: Generated, data: st.DataObject
) -> None:
    """`tf.io` and FEATURE_DESCRIPTION, or SEQUENCE_DESCRIPTION, give what is stored."""
    rows = data.draw(generated.case.batches())
    serialize = generated.serializer.serialize
    written = tf.constant([serialize(**arguments(row)) for row in rows])
    features = generated.parser.FEATURE_DESCRIPTION
    lists: dict[str, Any] = {}
    if generated.case.has_steps:
        context, lists, lengths = tf.io.parse_sequence_example(
            written, features or None, generated.parser.SEQUENCE_DESCRIPTION
        )
    else:
        context = tf.io.parse_example(written, features)
    for at, row in enumerate(rows):
        stored = stored_in(row)
        for key in stored.keys() & context.keys():  # readers need no height of a PNG
            found = np.reshape(plain(context[key])[at], -1)
            check_feature(found, stored[key], padded=True)
        steps_of = lists_of(row)
        for key, column in lists.items():
            steps = steps_of.get(key, [])
            is_ragged = isinstance(column, tf.RaggedTensor)
            counts = column.row_lengths() if is_ragged else lengths[key]
            assert counts[at] == len(steps)
            for number, feature in enumerate(steps):
                found = column[at, number].numpy()
                check_feature(np.reshape(found, -1), feature)


def check_feature(found: Any, feature: Any, *, padded: bool = False) -> None:
    """Assert that an array has the values of a feature, or begins with them."""
    kind = feature.WhichOneof("kind")
    values = list(getattr(feature, kind).value) if kind else []
    np.testing.assert_array_equal(found[: len(values)] if padded else found, values)


@contract(8)
@given(data=st.data())
def test_verify_passes_what_is_written_and_agrees_with_the_parser(
    generated: Generated, data: st.DataObject
) -> None:
    """Good records have no finding; of changed ones both refuse the same."""
    rows = data.draw(generated.case.batches())
    written = [generated.serializer.serialize(**arguments(row)) for row in rows]
    spec = spec_beside(generated.parser)
    assert faults_of(spec, written) == [[] for _ in written]
    for message in written:
        changed = mutated(data, message, steps=generated.case.has_steps)
        check_agreement(spec, generated.parse_batch, changed)


def replaced(row: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a row with another value at a path."""
    name, *rest = path
    return {**row, name: replaced(row[name], rest, value) if rest else value}


def is_given(row: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Return whether a row has a value at a path."""
    for name in path:
        if row.get(name) is None:
            return False
        row = row[name]
    return True


@contract(5)
@given(data=st.data())
def test_values_read_without_tensorflow_are_written_as_the_same_bytes(
    generated: Generated, data: st.DataObject
) -> None:
    """Of every kind; dequantized numbers, which no writer takes, as TensorFlow has them."""
    rows = [arguments(row) for row in data.draw(generated.case.batches())]
    serialize = generated.serializer.serialize
    written = [serialize(**row) for row in rows]
    spec = spec_beside(generated.parser)
    decoded = values_of(spec, written)
    for field in spec.fields:
        path = field.path or (field.name,)
        given = [number for number, row in enumerate(rows) if is_given(row, path)]
        assert decoded[field.name].rows.tolist() == given, field
        for number, value in zip(given, decoded[field.name].values(), strict=True):
            if isinstance(value, np.ndarray):
                assert value.ndim == len(field.codec.delivered.decoded[1])
            kind: Any = field.kind.of_step
            if getattr(kind, "dequantize", None) or getattr(kind, "dense", False):
                parsed = flat(generated.parser.parse_batch(written, [field.name]))
                padded = parsed[field.name][number]
                unpadded = padded[tuple(map(slice, value.shape))]
                np.testing.assert_array_equal(value, unpadded)
                continue
            row = replaced(rows[number], path, value)
            assert serialize(**row) == written[number], field


def test_what_is_missing_is_never_read_as_something(generated: Generated) -> None:
    """A message without a required field is refused, whatever its kind."""
    data = tf.constant([empty(generated.case)])
    for name, case in generated.case.fields.items():
        for field in case.required(name):
            with pytest.raises(tf.errors.InvalidArgumentError):
                generated.parser.parse_batch(data, [field])
    with pytest.raises(tf.errors.InvalidArgumentError):
        generated.parser.parse_batch(data)


def test_examples_are_no_sequences_without_steps(generated: Generated) -> None:
    """A SequenceRecord refuses them, with all fields and with each alone."""
    record, parser = generated.case, generated.parser
    if not record.has_steps:
        return
    features = {key: tf.train.Feature() for key in parser.FEATURE_DESCRIPTION}
    names = [case.fields(name) for name, case in record.fields.items()]
    for data in (example(features), b""):
        for fields in [tuple(chain.from_iterable(names)), *names]:
            with pytest.raises(tf.errors.InvalidArgumentError):
                parser.parse_batch(tf.constant([data]), fields)


def test_shapes_are_as_static_as_they_can_be(generated: Generated) -> None:
    """No tensor has an unknown rank, and a record alone has the shape of its row."""
    batch, single = (
        flat(graph.get_concrete_function().structured_outputs)
        for graph in (generated.parse_batch, generated.parse_example)
    )
    assert set(batch) == set(single)
    for name, tensor in batch.items():
        assert tensor.shape.rank is not None, name
        assert tensor.shape.rank == single[name].shape.rank + 1, name
        assert tensor.shape.as_list()[1:] == single[name].shape.as_list(), name
