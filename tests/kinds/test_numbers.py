"""Numbers of files that other code wrote: narrowed, cast or refused when read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from stored_features import blobs, floats, ints

if TYPE_CHECKING:
    from types import ModuleType

    from conftest import PackageOf

NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
WIDE = ("uint64", "float16", "bfloat16", "float64")
LISTED = ("bool", *NARROW, "int64", "float32")


def _declared() -> str:
    lines = []
    for dtype in (*LISTED, *WIDE):
        lines += [
            f"scalar_{dtype}: Annotated[Any, Scalar({dtype!r}, finite=False)]",
            f"list_{dtype}: Annotated[Any, VarLen({dtype!r}, finite=False)]",
        ]
    for dtype in (*LISTED, *WIDE):
        lines += [
            f"vector_{dtype}: Annotated[Any, Vector((2,), {dtype!r}, finite=False)]",
            f"raw_{dtype}: Annotated[Any, Vector((2,), {dtype!r}, 'raw', finite=False)]",
        ]
    lines.append("strict: Annotated[float, Scalar('float32')]")
    fields = "".join(f"    {line}\n" for line in lines)
    return (
        "from typing import Annotated, Any\nfrom schemagen import *\n\n"
        f"class Numbers(Record):\n{fields}"
    )


@pytest.fixture(scope="module")
def parser(package_of: PackageOf) -> ModuleType:
    """The parser of a record with a field of each dtype and each way to store it."""
    return package_of(_declared()).module("numbers", "parser")


def _numpy(dtype: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, dtype, dtype))


def _read(parser: ModuleType, name: str, feature: tf.train.Feature) -> Any:
    """Read one field of an Example that has nothing else in it."""
    features = tf.train.Features(feature={name: feature})
    data = tf.train.Example(features=features).SerializeToString()
    return parser.parse_batch(tf.constant([data]), [name])[name].numpy()[0]


@pytest.mark.parametrize("dtype", NARROW)
def test_int64_on_disk_is_narrowed_if_it_fits(parser: ModuleType, dtype: str) -> None:
    """The smallest and the largest number are read; one beyond is an error."""
    bounds = np.iinfo(dtype)
    low, high = int(bounds.min), int(bounds.max)
    for kind in ("vector", "list"):
        found = _read(parser, f"{kind}_{dtype}", ints(low, high))
        assert found.dtype == dtype
        assert found.tolist() == [low, high]
    assert _read(parser, f"scalar_{dtype}", ints(high)) == high
    for wrong in (low - 1, high + 1, 2**63 - 1, -(2**63)):
        expected = f"'{{}}_{dtype}': expected {dtype}, {low} to {high}, found"
        for kind, values in (("scalar", [wrong]), ("vector", [0, wrong])):
            message = expected.format(kind)
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                _read(parser, f"{kind}_{dtype}", ints(*values))
        with pytest.raises(tf.errors.InvalidArgumentError, match="'list_"):
            _read(parser, f"list_{dtype}", ints(wrong, 0, 1))


@pytest.mark.parametrize("kind", ["scalar", "vector", "list"])
@pytest.mark.parametrize("wrong", [2, -1, 256, 2**32])
def test_only_0_and_1_are_bools(parser: ModuleType, kind: str, wrong: int) -> None:
    """A count in the place of a flag is an error, not True."""
    values = [1] if kind == "scalar" else [1, 0]
    found = _read(parser, f"{kind}_bool", ints(*values))
    assert found.dtype == np.bool_
    assert np.reshape(found, -1).tolist() == [bool(value) for value in values]
    message = f"field '{kind}_bool': expected 0 or 1 for a bool, found"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _read(parser, f"{kind}_bool", ints(wrong, *values[1:]))


_EXTREMES: dict[str, list[Any]] = {
    "bool": [True, False],
    "float16": [65_504.0, 2.0**-24],
    "bfloat16": [3.3895313892515355e38, -(2.0**-133)],
    "float32": [3.4028234663852886e38, 1.401298464324817e-45],
    "float64": [1.7976931348623157e308, 5e-324],
}


def _extremes(dtype: str) -> Any:
    """Return the two numbers that are most easily lost, and infinity with NaN."""
    if dtype not in _EXTREMES:
        return [np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)]
    found = [np.array(_EXTREMES[dtype], _numpy(dtype))]
    if "float" in dtype:
        found.append(np.array([np.inf, np.nan], _numpy(dtype)))
    return found


@pytest.mark.parametrize("dtype", [*LISTED, *WIDE])
def test_raw_numbers_are_read_to_the_bit(parser: ModuleType, dtype: str) -> None:
    """Little-endian bytes of every dtype come back as they are, as often as asked."""
    names = [f"raw_{dtype}"]
    if dtype in WIDE:
        names.append(f"vector_{dtype}")
    if dtype in WIDE:
        names.append(f"list_{dtype}")
    for array in _extremes(dtype):
        for name in names:
            found = _read(parser, name, blobs(array.tobytes()))
            assert found.dtype == array.dtype
            assert found.tobytes() == array.tobytes()
        if dtype in WIDE:
            found = _read(parser, f"scalar_{dtype}", blobs(array[:1].tobytes()))
            assert found.tobytes() == array[:1].tobytes()
    for name in names:
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"field '{name}': "):
            _read(parser, name, blobs(bytes(2 * array.itemsize + 1)))


@pytest.mark.parametrize("dtype", WIDE)
def test_a_list_is_no_raw_number(parser: ModuleType, dtype: str) -> None:
    """What the lists of an Example would have rounded is refused, not cast."""
    feature = floats(0.5) if "float" in dtype else ints(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected type: string"):
        _read(parser, f"scalar_{dtype}", feature)


def test_finite_is_checked_when_writing_only(parser: ModuleType) -> None:
    """A NaN in a file of other code is delivered, as the page says."""
    assert np.isnan(_read(parser, "strict", floats(float("nan"))))


_FLOATS = """\
from typing import Annotated, Any
import numpy as np
from schemagen import *


class Floats(SequenceRecord):
    scalar: Annotated[float, Scalar("float32")]
    vector: Annotated[list[float], Vector((2,))]
    raw: Annotated[list[float], Vector((2,), "float32", "raw")]
    matrix: Annotated[list[list[float]], Vector((1, 2))]
    seq: Annotated[list[float], VarLen("float32")]
    pairs: Annotated[list[list[float]], VarLen("float32", item_shape=(2,))]
    lists: Annotated[list[list[float]], Ragged("float32", ragged=False)]
    tensor: Annotated[list[float], Tensor((None,), shape_key="size")]
    proto: Annotated[list[float], Tensor((None,), encoding="proto")]
    sparse: Annotated[Any, Sparse((9,), "at", dense=True)]
    steps: Annotated[list[float], Steps(Scalar("float32"))]
    wide_steps: Annotated[list[list[float]], Steps(Vector((2,)))]
    plain: float
"""

_NAMES = ("scalar", "vector", "raw", "matrix", "seq", "pairs", "lists", "tensor")
_NAMES += ("proto", "sparse", "steps", "wide_steps", "plain")
_NESTED = ("matrix", "pairs", "lists", "wide_steps")


def _floats_row(numbers: list[Any], make: Any = list) -> dict[str, Any]:
    """Return a row of two numbers a field, each list made by a function."""
    row: dict[str, Any] = dict.fromkeys(_NAMES, make(numbers))
    row |= {name: [make(numbers)] for name in _NESTED}
    row["sparse"] = ([3, 5], make(numbers))
    return row | {"scalar": make(numbers)[0], "plain": 0.5}


def test_python_floats_in_float32_fields_are_rounded_in_rows_and_columns(
    package_of: PackageOf,
) -> None:
    """Each kind writes the bytes of the float32 array, as a record of its schema says."""
    package = package_of(_FLOATS)
    writer = package.module("floats", "serializer")
    parse_batch = package.module("floats", "parser").parse_batch
    row = _floats_row([0.1, 1e-50])
    meant = _floats_row([0.1, 1e-50], lambda n: np.array(n, np.float32))
    record = writer.serialize(**row)
    assert record == writer.serialize(**meant)
    assert record == writer.serialize(**_floats_row([0.1, 1e-50], tuple))
    columns = {name: [value, meant[name]] for name, value in row.items()}
    assert writer.serialize_batch(**columns) == [record, record]
    lists = {name: [value, value] for name, value in row.items()}
    assert writer.serialize_batch(**lists) == [record, record]
    batch = parse_batch(tf.constant([record]))
    for name in ("vector", "raw", "seq", "tensor", "proto", "steps"):
        np.testing.assert_array_equal(batch[name][0], np.float32([0.1, 1e-50]))
    assert batch["scalar"][0] == np.float32(0.1)


def test_float64_arrays_in_float32_fields_are_refused_in_rows_and_columns(
    package_of: PackageOf,
) -> None:
    """So are numpy's float64 scalars, integers that do not fit, and overflow."""
    writer = package_of(_FLOATS).module("floats", "serializer")
    good = _floats_row([0.1, 0.2])
    cases = (
        _floats_row([0.1, 0.2], np.array),
        _floats_row([0.1, 0.2], lambda n: [*map(np.float64, n)]),
        _floats_row([2**24 + 1, 0.5]),
        _floats_row([1e39, 0.5]),
    )
    for wrong in cases:
        for name in _NAMES[:-1]:
            row = {**good, name: wrong[name]}
            with pytest.raises(ValueError, match=f"field '{name}'"):
                writer.serialize(**row)
            columns = {key: [good[key], value] for key, value in row.items()}
            with pytest.raises(ValueError, match=f"row 1: field '{name}'"):
                writer.serialize_batch(**columns)


class _Series:
    """A column that gives Python's floats and is an array, as one of pandas is."""

    def __init__(self, numbers: list[float]) -> None:
        self._array = np.array(numbers)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Any:
        return iter(self._array.tolist())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._array, dtype)


def test_a_float64_series_is_refused_as_an_array_is(package_of: PackageOf) -> None:
    """Its rows are numpy's numbers, though iterating over it gives Python's."""
    schema = "from schemagen import *\nfrom typing import Annotated\n\n\n"
    schema += "class One(Record):\n    ratio: Annotated[float, Scalar('float32')]\n"
    writer = package_of(schema).module("one", "serializer")
    assert len(writer.serialize_batch(ratio=_Series([0.5, 0.25]))) == 2
    with pytest.raises(ValueError, match=r"row 1: field 'ratio': found 0\.1 \(float64"):
        writer.serialize_batch(ratio=_Series([0.5, 0.1]))
    with pytest.raises(ValueError, match=r"field 'ratio': found 0\.1 \(float64"):
        writer.serialize(ratio=np.float64(0.1))
