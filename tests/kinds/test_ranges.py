"""Ranges: numbers out of them are refused by the writer, verify and both readers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import run
from schemagen.runtime.shared.errors import RecordError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

# Fields by name: annotation, kind with a place for the range, the range, a right value,
# a wrong one, and what is found and expected.
_FIELDS: dict[str, tuple[str, str, str, Any, Any, str, str]] = {
    "score": (
        *("float", "Scalar('float32'{})", "min=0, max=1", 0.5, 1.5),
        *("1.5", "numbers from 0 to 1"),
    ),
    "tenth": (
        *("float", "Scalar('float32'{})", "max=0.1", 0.1, 0.2),
        *("0.2", "numbers up to 0.1"),
    ),
    "age": (
        *("int", "Scalar('int64'{})", "min=0, max=150", 150, 151),
        *("151", "numbers from 0 to 150"),
    ),
    "small": (
        "int",
        "Scalar('int8'{})",
        "min=-3",
        -3,
        -4,
        "-4",
        "numbers of -3 or more",
    ),
    "large": (
        *("int", "Scalar('uint64'{})", "max=2**63", 2**63, 2**63 + 1),
        *(f"{2**63 + 1}", f"numbers up to {2**63}"),
    ),
    "wide": (
        "float",
        "Scalar('float64'{})",
        "min=1",
        1.0,
        0.0,
        "0.0",
        "numbers of 1 or more",
    ),
    "angles": (
        *("Any", "Vector((2,){}, finite=False)", "max=180", [np.nan, 180], [0, 181]),
        *("181.0 at [1]", "numbers up to 180"),
    ),
    "levels": (
        *("Any", "Vector((2,), 'uint8', 'raw', dequantize=(0.5, 0.0){})", "max=9"),
        *([9, 9], [9, 10], "10 at [1]", "numbers up to 9"),
    ),
    "half": (
        *("Any", "Vector((2,), 'bfloat16'{})", "min=0", [0.0, 1.0], [1.0, -1.0]),
        *("-1.0 at [1]", "numbers of 0 or more"),
    ),
    "tokens": (
        *("list[int]", "VarLen('int64'{})", "min=0, max=99", [0, 99], [5, 100]),
        *("100 at [1]", "numbers from 0 to 99"),
    ),
    "signal": (
        *("Any", "VarLen('float64'{})", "min=-1, max=1", [0.5, -1.0], [0.5, -2.0]),
        *("-2.0 at [1]", "numbers from -1 to 1"),
    ),
    "filled": (
        *("list[int]", "VarLen('int64', max_length=3, pad_on_disk=True{})", "max=5"),
        *([1, 5], [1, 6], "6 at [1]", "numbers up to 5"),
    ),
    "cloud": (
        *("Any", "Tensor((None, 2), 'float32', shape_key='cloud/s'{})", "min=0"),
        *([[0, 1]], [[0, 1], [2, -1]], "-1.0", "numbers of 0 or more"),
    ),
    "listed": (
        *("Any", "Tensor((None,), 'int16', encoding='list', shape_key='listed/s'{})"),
        *("max=4", [4], [5], "5", "numbers up to 4"),
    ),
    "proto": (
        *("Any", "Tensor((None,), 'float32', encoding='proto'{})", "max=4"),
        *([4], [5], "5.0", "numbers up to 4"),
    ),
    "weights": (
        *("Any", "Sparse((9,), 'weights/at'{})", "min=1", {2: 1.0}, {2: 0.5}),
        *("0.5", "numbers of 1 or more"),
    ),
    "lists": (
        *("list[list[int]]", "Ragged('int64'{})", "max=3", [[1], [3]], [[1], [4]]),
        *("4 at [", "numbers up to 3"),
    ),
}


def _schema(*, limited: bool) -> str:
    lines = [
        f"    {name}: Annotated[{of}, {kind.format(f', {limit}' if limited else '')}]\n"
        for name, (of, kind, limit, *_) in _FIELDS.items()
    ]
    ranges = ", min=3, max=4" if limited else ""
    lines += [
        f"    maybe: Annotated[int | None, Scalar('int64'{ranges})] = None\n",
        f"    default: Annotated[float, Scalar('float32'{ranges})] = 3.5\n",
    ]
    return (
        "from typing import Annotated, Any\nfrom schemagen import *\n\n"
        f"class Limited(Record):\n{''.join(lines)}\n"
        "class Walk(SequenceRecord):\n    number: int\n"
        f"    speeds: Annotated[list[float], Steps(Scalar('float32'{ranges}))]\n"
    )


ROW = {name: right for name, (_, _, _, right, *_) in _FIELDS.items()}


@pytest.fixture(scope="module")
def limited(package_of: PackageOf) -> Workspace:
    """The package whose fields have ranges."""
    return package_of(_schema(limited=True))


@pytest.fixture(scope="module")
def unlimited(package_of: PackageOf) -> Workspace:
    """The same without ranges, which writes what is wrong."""
    return package_of(_schema(limited=False))


@pytest.mark.parametrize("name", _FIELDS)
def test_the_writer_refuses_what_is_out_of_range(limited: Workspace, name: str) -> None:
    """By row and by column; the error names field, found and expected."""
    serializer = limited.module("limited", "serializer")
    *_, wrong, found, expected = _FIELDS[name]
    serializer.serialize(**ROW)
    serializer.serialize_batch(**{field: [right] for field, right in ROW.items()})
    with pytest.raises(RecordError) as caught:
        serializer.serialize(**{**ROW, name: wrong})
    for text in (repr(name), found, expected):
        assert text in str(caught.value)
    columns = {field: [right, right] for field, right in ROW.items()}
    columns[name] = [ROW[name], wrong]
    with pytest.raises(RecordError) as caught:
        serializer.serialize_batch(**columns)
    assert caught.value.row == 1
    assert expected in str(caught.value)


def _written(unlimited: Workspace, directory: Path, *rows: dict[str, Any]) -> Path:
    serializer = unlimited.module("limited", "serializer")
    serializer.write_dataset([{**ROW, **row} for row in rows], directory, "train")
    return directory


@pytest.fixture(scope="module")
def parse(limited: Workspace) -> Any:
    """`parse_batch` of the fields with ranges, as a graph."""
    return tf.function(limited.module("limited", "parser").parse_batch, autograph=False)


def test_readers_take_what_is_in_range(
    limited: Workspace, unlimited: Workspace, tmp_path: Path
) -> None:
    """And `make_dataset` has the parser's error of what is not."""
    data = _written(unlimited, tmp_path / "right", {}, {})
    assert len(_split(limited, data)[:]["score"]) == 2
    assert len(list(_dataset(limited, data))) == 1
    for name in ("score", "angles"):
        *_, wrong, _, expected = _FIELDS[name]
        data = _written(unlimited, tmp_path / name, {}, {name: wrong})
        with pytest.raises(tf.errors.InvalidArgumentError, match=name) as refused:
            list(_dataset(limited, data))
        assert expected in str(refused.value)


@pytest.mark.parametrize("name", _FIELDS)
def test_readers_refuse_what_is_out_of_range(
    limited: Workspace, unlimited: Workspace, parse: Any, name: str, tmp_path: Path
) -> None:
    """Verify has a finding; open_split a fault, and the parser an assertion."""
    *_, wrong, found, expected = _FIELDS[name]
    data = _written(unlimited, tmp_path / "wrong", {}, {name: wrong})
    with pytest.raises(Exception, match=f"'{name}'") as caught:
        _split(limited, data)[:]
    assert expected in str(caught.value)
    assert found in str(caught.value)
    files = tf.data.TFRecordDataset([*map(str, data.glob("*.tfrecord"))])
    with pytest.raises(tf.errors.InvalidArgumentError, match=name) as refused:
        parse(tf.stack([*files]))
    assert expected in str(refused.value)
    verified = run("verify", data, "--record", "limited", "--project", limited.root)
    assert verified.exit_code == 1
    assert "SG535" in verified.output
    assert expected in verified.output


def _split(project: Workspace, data: Path) -> Any:
    return project.module("limited", "reader").open_split(data, "train")


def _dataset(project: Workspace, data: Path) -> Any:
    make_dataset = project.module("limited", "pipeline").make_dataset
    return make_dataset(data, "train", batch_size=2)


def test_docstrings_state_the_range(limited: Workspace) -> None:
    """Those of the writer's keywords."""
    text = limited.module("limited", "serializer").serialize.__doc__
    assert "one float32, from 0 to 1" in text
    assert "int64 [?], from 0 to 99" in text


def test_missing_values_are_in_no_range(limited: Workspace, tmp_path: Path) -> None:
    """A missing integer reads as 0, whatever the range; a default is in it."""
    serializer = limited.module("limited", "serializer")
    serializer.write_dataset(
        [{**ROW, "maybe": 3}, {**ROW, "maybe": None}], tmp_path, "train"
    )
    assert [row["maybe"] for row in _split(limited, tmp_path)] == [3, None]
    (batch,) = _dataset(limited, tmp_path)
    assert batch["maybe"].numpy().tolist() == [3, 0]
    assert batch["default"].numpy().tolist() == [3.5, 3.5]


def test_steps_have_the_range_of_their_kind(
    limited: Workspace, unlimited: Workspace
) -> None:
    """A step out of it is refused by the writer and the parser."""
    right, wrong = (
        {"number": 1, "speeds": [3.0, 4.0]},
        {"number": 1, "speeds": [3.0, 5.0]},
    )
    serializer = limited.module("walk", "serializer")
    serializer.serialize(**right)
    with pytest.raises(RecordError, match=r"in step 1.*from 3 to 4"):
        serializer.serialize(**wrong)
    data = unlimited.module("walk", "serializer").serialize(**wrong)
    parse = limited.module("walk", "parser").parse_batch
    with pytest.raises(tf.errors.InvalidArgumentError, match="from 3 to 4"):
        parse(tf.constant([data]))
