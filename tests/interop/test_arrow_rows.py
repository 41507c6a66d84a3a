"""Rows go through a pyarrow table of the exported schema into a data set, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported_records import ROWS, generated, tool
from schemagen.use_cases.export import export

pa = tool("pyarrow")


# Of the records Kept and Pair, by their number.
CLASSES = {3: ("cat", "wild dog", "Uhu é"), 2: ("a", "b")}


def schema_of(project: Path, record: str, out: Path) -> Any:
    export(record, "arrow", out, project)
    return pa.ipc.read_schema(pa.py_buffer(out.read_bytes()))


def nested(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as Arrow takes it: lists in place of arrays, pairs as structs."""
    found = {}
    for name, value in row.items():
        if name == "bag":
            value = {"indices": list(value), "values": list(value.values())}
        elif name == "cells":
            value = {"indices": value[0], "values": value[1]}
        elif isinstance(value, dict):
            value = nested(value)
        elif isinstance(value, np.ndarray):
            value = value.tolist()
        found[name] = value
    return found


def column(field: Any, rows: list[dict[str, Any]]) -> Any:
    values = [row.get(field.name) for row in rows]
    if isinstance(field.type, pa.FixedShapeTensorType):
        arrays = [np.ravel(value).tolist() for value in values]
        storage = pa.array(arrays, field.type.storage_type)
        return pa.ExtensionArray.from_storage(field.type, storage)
    if pa.types.is_dictionary(field.type):
        values = [CLASSES[len(set(values))][value] for value in values]
    return pa.array(values, field.type)


def unpacked(scalar: Any) -> Any:
    """Return a value as the writer takes it."""
    if isinstance(scalar.type, pa.FixedShapeTensorType):
        return scalar.to_numpy()
    value = scalar.as_py()
    if isinstance(value, dict) and set(value) == {"indices", "values"}:
        return value["indices"], value["values"]
    return value


@pytest.mark.parametrize("record", ["kept", "pair"])
def test_rows_are_the_same_after_they_were_a_table(
    project: Path, tmp_path: Path, record: str
) -> None:
    """To the byte: no value and no dtype is lost on the way."""
    schema = schema_of(project, record, tmp_path / "rows.arrow")
    rows = [ROWS[record](number) for number in range(7)]
    lists = [nested(row) for row in rows]
    arrays = [column(field, lists) for field in schema]
    table = pa.Table.from_arrays(arrays, schema=schema)
    table.validate(full=True)
    serialize = generated(project, record, "serializer").serialize
    for at, row in enumerate(rows):
        read = {name: unpacked(table[name][at]) for name in table.column_names}
        assert serialize(**read) == serialize(**row)


def test_types_are_those_of_a_row(project: Path, tmp_path: Path) -> None:
    """Fixed shapes are tensors, classes dictionaries, optional fields nullable."""
    schema = schema_of(project, "changed", tmp_path / "rows.arrow")
    assert schema.field("told").type == pa.dictionary(pa.int32(), pa.string())
    assert schema.field("maybe").type == pa.int64()
    assert schema.field("maybe").nullable
    assert schema.field("maybe").metadata[b"schemagen.kind"] == b"Label"
    assert schema.field("maybe").metadata[b"schemagen.num_classes"] == b"3"
    assert not schema.field("number").nullable
    assert schema.field("lists").type == pa.list_(pa.list_(pa.int64()))
    assert schema.field("rgb").type == pa.list_(pa.uint8(), 2)
    assert schema.field("half").type == pa.list_(pa.float32(), 3)
    assert schema.field("scan").type == pa.list_(pa.list_(pa.list_(pa.uint16(), 1)))
    pair = schema_of(project, "pair", tmp_path / "pair.arrow")
    assert pair.field("pixels").type == pa.fixed_shape_tensor(pa.uint8(), [2, 2, 1])
    assert pair.metadata[b"schemagen.record"] == b"pair"
    assert pair.field("kind").metadata[b"schemagen.role"] == b"target"


def test_steps_are_lists(project: Path, tmp_path: Path) -> None:
    schema = schema_of(project, "clip", tmp_path / "rows.arrow")
    assert schema.field("speeds").type == pa.list_(pa.float32())
