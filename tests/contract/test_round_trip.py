"""What was written is what every reader reads: ours, tensorflow's and protobuf's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from .fields import FieldCase
from .generated_records import Generated
from .independent import ABSENT, from_description, from_message, same
from .strategies import Given, Row, arguments, batches, contract, numpy_dtype


def written(generated: Generated, rows: Sequence[Row]) -> list[bytes]:
    """Serialize rows one by one."""
    return [generated.serializer.serialize(**arguments(row)) for row in rows]


def columns(generated: Generated, rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Turn rows into columns, with None for what a row leaves out."""
    taken = [arguments(row) for row in rows]
    return {
        field.name: [row.get(field.name) for row in taken]
        for field in generated.case.fields
    }


def check_stored(field: FieldCase, value: Given | None, found: Any) -> None:
    """Assert that a stored value is what the row gave."""
    if value is None:
        assert found is ABSENT
    elif field.encoding:
        if value.encoded is not None:
            assert found == value.encoded
        if value.expected is not None:
            pixels = tf.io.decode_png(found, channels=field.shape[2]).numpy()
            assert same(pixels, value.expected)
    else:
        assert same(found, value.expected), (field, value, found)


def default_of(field: FieldCase) -> Any:
    """Return what stands for a value that is missing, of a field of fixed shape."""
    shape = tuple(size or 1 for size in field.shape)
    if field.dtype in ("string", "bytes"):
        value = field.default_value or b""
        return value.encode() if isinstance(value, str) else value
    dtype = numpy_dtype(field.dtype)
    if field.default_value is not None:
        return np.array(field.default_value, dtype).reshape(shape)
    if field.kind == "Label":
        return np.full(shape, -1, dtype)
    nan = field.kind in ("Scalar", "Vector") and field.is_float
    return np.full(shape, np.nan if nan else 0, dtype)


def decoded_image(field: FieldCase, data: bytes) -> Any:
    """Decode an image as the schema asks for, with tensorflow."""
    decode = tf.io.decode_jpeg if field.encoding == "jpeg" else tf.io.decode_png
    pixels = decode(data, channels=field.shape[2])
    if field.shape[:2] != field.size[:2]:
        resized = tf.image.resize(pixels, field.shape[:2])
        pixels = tf.cast(tf.round(resized), tf.uint8)
    return pixels.numpy()


def expected_row(field: FieldCase, value: Given | None, message: Any) -> Any:
    """Return what parsers have to deliver for one row, padding left out."""
    if value is None:
        if field.kind == "VarLen":
            if field.dtype in ("string", "bytes"):
                return []
            return np.empty((0, *field.shape), numpy_dtype(field.dtype))
        return default_of(field)
    return decoded_image(field, message) if field.encoding else value.expected


def check_parsed(
    field: FieldCase, tensor: Any, rows: Sequence[Any], *, single: bool = False
) -> None:
    """Assert that a parsed tensor holds these rows, filled up where it is dense."""
    assert tensor.dtype == ("string" if field.dtype == "bytes" else field.dtype)
    if field.kind != "VarLen":
        for found, row in zip(tensor.numpy(), rows, strict=True):
            assert same(found, row), (field, found, row)
        return
    assert isinstance(tensor, tf.RaggedTensor) == (field.ragged and not single)
    longest = max(map(len, rows))
    if field.ragged:
        assert tensor.shape[0] == len(rows)
        for at, row in enumerate(rows):
            found = tensor[at].numpy()
            assert same(found.tolist() if isinstance(row, list) else found, row)
        return
    dense = tensor.numpy()
    assert dense.shape[:2] == (len(rows), longest)
    for found, row in zip(dense, rows, strict=True):
        if isinstance(row, list):
            assert found.tolist() == row + [field.padding] * (longest - len(row))
            continue
        filler = np.full(
            (longest - len(row), *field.shape), field.padding, numpy_dtype(field.dtype)
        )
        assert same(found, np.concatenate([row, filler])), (field, found, row)


def check_batch(
    generated: Generated, batch: Any, rows: Sequence[Row], data: Any
) -> None:
    """Assert that a parsed batch is what the rows hold, masks included."""
    names = [field.name for field in generated.case.fields]
    masks = [f"{f.name}_present" for f in generated.case.fields if f.masked]
    assert set(batch) == {*names, *masks}
    messages = [from_message(item, generated.case.fields) for item in data]
    for field in generated.case.fields:
        given_values = [row.get(field.name) for row in rows]
        wanted = [
            expected_row(field, value, message[field.name])
            for value, message in zip(given_values, messages, strict=True)
        ]
        check_parsed(field, batch[field.name], wanted)
        if field.masked:
            present = batch[f"{field.name}_present"]
            assert present.dtype == tf.bool
            assert present.numpy().tolist() == [v is not None for v in given_values]


@contract(10)
@given(data=st.data())
def test_every_reader_reads_what_was_written(
    generated: Generated, data: st.DataObject
) -> None:
    """Rows come back equal from protobuf, plain tensorflow, and our parsers."""
    rows = data.draw(batches(generated.case))
    serialized = written(generated, rows)
    fields = generated.case.fields

    for row, item in zip(rows, serialized, strict=True):
        for field in fields:
            stored = from_message(item, fields)[field.name]
            check_stored(field, row.get(field.name), stored)

    plain = from_description(serialized, generated.parser.FEATURE_DESCRIPTION, fields)
    for row, found in zip(rows, plain, strict=True):
        for field in fields:
            if field.name in row:
                check_stored(field, row[field.name], found[field.name])
            elif field.kind != "VarLen" and not field.encoding:
                assert same(found[field.name], default_of(field))

    check_batch(
        generated, generated.parse_batch(tf.constant(serialized)), rows, serialized
    )
    for row, item in zip(rows, serialized, strict=True):
        single = generated.parse_example(tf.constant(item))
        batch = {name: tensor[tf.newaxis] for name, tensor in single.items()}
        for field in fields:
            message = from_message(item, fields)[field.name]
            wanted = expected_row(field, row.get(field.name), message)
            check_parsed(field, batch[field.name], [wanted], single=True)


@contract(10)
@given(data=st.data())
def test_bytes_are_the_same_by_row_by_batch_and_by_protobuf(
    generated: Generated, data: st.DataObject
) -> None:
    """One row has one encoding: protobuf's deterministic one."""
    rows = data.draw(batches(generated.case, longest=5))
    serialized = written(generated, rows)
    batch = generated.serializer.serialize_batch(**columns(generated, rows))
    assert batch == serialized
    for item in serialized:
        message = tf.train.Example.FromString(item)
        assert message.SerializeToString(deterministic=True) == item


@contract(8)
@given(data=st.data())
def test_a_record_instance_is_a_row_of_the_same_bytes(
    generated: Generated, data: st.DataObject
) -> None:
    """`Record(**row)` accepts every good row and hands on the same values."""
    rows = data.draw(batches(generated.case, longest=2))
    for row in rows:
        given_row = arguments(row)
        instance = generated.record(**given_row)
        taken = {name: getattr(instance, name) for name in given_row}
        serialize = generated.serializer.serialize
        assert serialize(**taken) == serialize(**given_row)


def test_shapes_are_static(generated: Generated) -> None:
    """In a graph, every tensor has its dtype and all of its shape but B and T."""
    batch = generated.parse_batch.get_concrete_function().structured_outputs
    single = generated.parse_example.get_concrete_function().structured_outputs
    for field in generated.case.fields:
        dtype = "string" if field.dtype == "bytes" else field.dtype
        own = (None, *field.shape) if field.kind == "VarLen" else field.shape
        found = batch[field.name]
        assert found.dtype == dtype
        assert found.shape.as_list() == [None, *own]
        assert single[field.name].dtype == dtype
        assert single[field.name].shape.as_list() == list(own)
        if field.masked:
            assert batch[f"{field.name}_present"].shape.as_list() == [None]
            assert single[f"{field.name}_present"].shape.as_list() == []


@contract(2)
@given(data=st.data())
def test_eager_code_and_some_fields_alone_read_the_same(
    generated: Generated, data: st.DataObject
) -> None:
    """Without a graph a batch parses as in one, and some of its fields as in all."""
    rows = data.draw(batches(generated.case))
    serialized = written(generated, rows)
    batch = generated.parser.parse_batch(tf.constant(serialized))
    check_batch(generated, batch, rows, serialized)
    single = generated.parser.parse_example(tf.constant(serialized[0]))
    assert {name: tensor.dtype for name, tensor in single.items()} == {
        name: tensor.dtype for name, tensor in batch.items()
    }
    chosen = [field.name for field in generated.case.fields][:2]
    part = generated.parser.parse_batch(tf.constant(serialized), chosen)
    assert {name.removesuffix("_present") for name in part} == set(chosen)
    for name, tensor in part.items():
        assert repr(tensor) == repr(batch[name])
