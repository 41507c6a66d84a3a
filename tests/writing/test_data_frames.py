"""Rows and columns of pandas."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns import columns_of
from schemagen.runtime.shared.errors import RecordError

if TYPE_CHECKING:
    from types import ModuleType

    from conftest import PackageOf

PAGE = Path(__file__).parents[2] / "docs" / "writing.md"
SECTION = PAGE.read_text("utf-8").partition("## Data frames")[2].partition("\n## ")[0]
CLEAN = re.search(r"^columns = (frame\..*)$", SECTION, re.M)[1]  # type: ignore[index]

SCHEMA = """
from typing import Annotated

from schemagen import Label, Record


class House(Record):
    \"\"\"A sold house.\"\"\"

    kind: Annotated[str, Label(classes=("flat", "house"))]
    area: float
    built: int | None = None
    price: float
"""


@pytest.fixture(scope="module")
def house(package_of: PackageOf) -> ModuleType:
    """The serializer of houses."""
    return package_of(SCHEMA).module("house", "serializer")


def _frame(**columns: Any) -> pd.DataFrame:
    """Houses, after others that are filtered out."""
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(["flat", "house", "flat"]),
            "area": np.array([1.0, 80.1, 120.5]),
            "built": np.array([1, 1990, 2001]),
            "price": np.array([1, 0.1, 99_999.99]),
        }
    ).assign(**columns)
    return frame[frame["area"] > 2]


def _records(house: ModuleType, directory: Path, frame: pd.DataFrame, how: str) -> Any:
    """Write a frame, and return the bytes of its shard."""
    if how == "columns":
        with house.Writer(directory, "train") as writer:
            writer.write_batch(**frame)
    else:
        tuples = frame.itertuples(index=False)
        rows = frame.to_dict("records") if how == "dicts" else tuples
        house.write_dataset(rows, directory, "train")
    return (directory / "train-00000-of-00001.tfrecord").read_bytes()


HOW = pytest.mark.parametrize("how", ["columns", "dicts", "tuples"])


@HOW
@pytest.mark.parametrize("area", ["float64", "float32", "float16", "Float64"])
def test_frames_are_written_as_rows_of_python_are(
    house: ModuleType, tmp_path: Path, how: str, area: str
) -> None:
    """Floats of any dtype are rounded to the field's, and row labels are left out."""
    frame = _frame(area=pd.array([1.0, 80.5, 120.5], area))
    expected = [
        {"kind": "house", "area": 80.5, "built": 1990, "price": 0.1},
        {"kind": "flat", "area": 120.5, "built": 2001, "price": 99_999.99},
    ]
    house.write_dataset(expected, tmp_path / "rows", "train")
    plain = (tmp_path / "rows" / "train-00000-of-00001.tfrecord").read_bytes()
    assert _records(house, tmp_path / "frame", frame, how) == plain


@HOW
def test_missing_values_are_none(house: ModuleType, tmp_path: Path, how: str) -> None:
    """Those of pandas are refused with the row, and the page's line makes them None."""
    frame = _frame(built=[1.0, 1990.0, None], price=[1.0, 0.1, 2.0])
    nan = r"row 0: field 'built': found 1990.0.*pandas uses floats for integers"
    if how == "columns":
        nan = r"row 1: field 'built': found NaN.*missing values made pandas use floats"
    with pytest.raises(RecordError, match=nan):
        _records(house, tmp_path / "floats", frame, how)
    missing = _frame(price=[1.0, 0.1, np.nan])
    with pytest.raises(RecordError, match=r"row 1: field 'price'.*pandas' missing"):
        _records(house, tmp_path / "missing", missing, how)
    clean = eval(CLEAN, {"frame": frame})
    rows = [
        {"kind": "house", "area": 80.1, "built": 1990, "price": 0.1},
        {"kind": "flat", "area": 120.5, "price": 2.0},
    ]
    house.write_dataset(rows, tmp_path / "rows", "train")
    plain = (tmp_path / "rows" / "train-00000-of-00001.tfrecord").read_bytes()
    assert _records(house, tmp_path / "clean", clean, how) == plain


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with dtypes": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas with objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "arrow in chunks": lambda columns: pa.concat_tables(
        [pa.table(columns)[:1], pa.table(columns)[1:]]
    ),
}

SOME = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, Scalar, VarLen

class Some(Record):
    number: int
    free: Annotated[float, Scalar("float64", finite=False)]
    count: int | None = None
    score: Annotated[float | None, Scalar("float32")] = None
    name: str | None = None
    flag: bool | None = None
    label: Annotated[int | None, Label(num_classes=3)] = None
    items: Annotated[list[int], VarLen("int64")] = []
"""


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    "options", [{}, {"shuffle_seed": 1}, {"workers": 2, "shards": 2}]
)
def test_frames_are_written_with_gaps(
    package_of: PackageOf, tmp_path: Path, kind: str, options: dict[str, Any]
) -> None:
    """NaN, NA, NaT and null are missing, and integers among them stay integers."""
    package = package_of(SOME)
    write_dataset = package.module("some", "serializer").write_dataset
    rows = [
        {
            "number": number,
            "count": None if number % 3 else 2**40 + number,
            "score": None if number % 2 else number / 4,
            "name": None if number % 5 else f"name {number}",
            "flag": None if number % 4 else number % 8 == 0,
            "label": None if number % 7 else number % 3,
            "items": [number] * (number % 3),
            "free": number / 3,
        }
        for number in range(20)
    ]
    columns = columns_of(*rows)
    write_dataset(rows, tmp_path / "rows", "train", **options)
    write_dataset(FRAMES[kind](columns), tmp_path / "frame", "train", **options)
    for path in sorted((tmp_path / "rows").glob("train-*")):
        assert (tmp_path / "frame" / path.name).read_bytes() == path.read_bytes()


def test_a_gap_of_a_required_field_names_the_row(
    house: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match="row 1: field 'price'"):
        house.write_dataset(_frame(price=[1.0, 0.1, None]), tmp_path, "train")
    with pytest.raises(TypeError, match="'other'"):
        house.write_dataset(_frame(other=1), tmp_path, "train")
    with pytest.raises(RecordError, match=r"row 0: field 'built': found .*1990.5"):
        house.write_dataset(_frame(built=[1.0, 1990.5, None]), tmp_path, "train")


@pytest.mark.parametrize("value", [2.5, np.inf, 2.0**60])
def test_a_number_that_is_not_an_integer_names_its_row(
    house: ModuleType, tmp_path: Path, value: float
) -> None:
    """The integers before it are integers, though the column has floats."""
    frame = pd.concat([_frame(built=[1.0, 1990.0, None])] * 3)
    frame.iloc[4, 2] = value
    expected = r"row 4: field 'built': found (2\.5|inf|1\.15\S+) \(float64\)"
    with pytest.raises(RecordError, match=expected):
        house.write_dataset(frame, tmp_path, "train")


def test_a_nan_of_a_field_that_takes_it_stays(
    package_of: PackageOf, tmp_path: Path
) -> None:
    package = package_of(SOME)
    frame = pd.DataFrame({"number": [1, 2], "free": [np.nan, 1.5]})
    package.module("some", "serializer").write_dataset(frame, tmp_path, "train")
    split = package.module("some", "reader").open_split(tmp_path, "train")
    assert np.isnan(split[0]["free"])
    assert split[1]["count"] is None


EXACT = """
from datetime import timedelta
from typing import Annotated, Any
import numpy as np
from pydantic import BaseModel
from schemagen import Label, Record, Scalar, Steps, SequenceRecord, VarLen, Vector

class Place(BaseModel):
    x: int
    at: Annotated[int | None, Scalar("int64", unit="ns")] = None

class Exact(SequenceRecord):
    row: int
    whole: Annotated[int | None, Scalar("int64")] = None
    high: Annotated[int | None, Scalar("uint64")] = None
    real: Annotated[float | None, Scalar("float64", exact=True)] = None
    flag: bool | None = None
    text: str | None = None
    data: bytes | None = None
    label: Annotated[str | None, Label(classes=("a", "b"))] = None
    at: Annotated[int | None, Scalar("int64", unit="ns")] = None
    seconds: Annotated[int | None, Scalar("int64", unit="s")] = None
    lasts: Annotated[timedelta | None, Scalar("int64", unit="ns")] = None
    items: Annotated[list[int], VarLen("int64")] = []
    shape: Annotated[np.ndarray | None, Vector((2, 2))] = None
    times: Annotated[list[int] | None, Steps(Scalar("int64", unit="ns"))] = None

class Placed(Record):
    row: int
    place: Place
"""


@pytest.fixture(scope="module")
def exact(package_of: PackageOf) -> Any:
    return package_of(EXACT)


NS = 1_600_000_000_123_456_789
US = NS // 1000
S = NS // 10**9
BIG = 2**53 + 1


def _pd(dtype: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pd.DataFrame({"it": pd.Series(values, dtype=dtype)})


def _np(dtype: str) -> Callable[[list[Any]], Any]:
    return lambda values: pd.DataFrame({"it": np.array(values, dtype)})


def _cat(values: list[Any]) -> Any:
    return pd.DataFrame({"it": pd.Categorical(values)})


def _zone(unit: str) -> Callable[[list[Any]], Any]:
    def make(values: list[Any]) -> Any:
        times = pd.Series(np.array([v or "NaT" for v in values], f"M8[{unit}]"))
        zoned = times.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
        return pd.DataFrame({"it": zoned})

    return make


def _pl(dtype: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pl.DataFrame({"it": pl.Series(values, dtype=dtype)})


def _pa(dtype: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pa.table({"it": pa.array(values, dtype)})


def _batch(dtype: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pa.RecordBatch.from_pydict({"it": pa.array(values, dtype)})


def _apd(dtype: Any) -> Callable[[list[Any]], Any]:
    return _pd(pd.ArrowDtype(dtype))


_FLOATS = {
    24: [_np("float32"), _pd("Float32"), _apd(pa.float32()), _pl(pl.Float32)],
    11: [_np("float16"), _apd(pa.float16()), _pl(pl.Float16), _batch(pa.float16())],
    53: [_np("float64"), _pd("Float64"), _apd(pa.float64()), _pl(pl.Float64)],
}
_FLOATS[24].append(_pa(pa.float32()))
_FLOATS[53].append(_pa(pa.float64()))
_INTEGERS = [_pd("Int64"), _apd(pa.int64()), _pl(pl.Int64), _pa(pa.int64()), _cat]
_INTEGERS += [_pa(pa.dictionary(pa.int8(), pa.int64())), _pl(pl.Int128)]
_INTEGERS += [_pd(object), _batch(pa.int64())]
_UNSIGNED = [_np("uint64"), _pd("UInt64"), _apd(pa.uint64()), _pl(pl.UInt64)]
_UNSIGNED.append(_pa(pa.uint64()))
_TEXTS = [_pd(object), _pd("string"), _pd("str"), _apd(pa.string()), _pl(pl.String)]
_TEXTS += [_pa(pa.large_string()), _pa(pa.string_view()), _pl(pl.Categorical), _cat]
_TEXTS += [_pl(pl.Enum(["a", "b"])), _pa(pa.dictionary(pa.int8(), pa.string()))]
_BOOLS = [_pd(object), _pd("boolean"), _apd(pa.bool_()), _pl(pl.Boolean), _cat]
_BOOLS += [_pa(pa.bool_()), _batch(pa.bool_())]
_BYTES = [_pd(object), _apd(pa.binary()), _pl(pl.Binary), _pa(pa.binary())]
_BYTES.append(_pa(pa.binary(2)))
_ZONE = "Asia/Tokyo"


def _times(unit: str) -> list[Callable[[list[Any]], Any]]:
    found = [_zone(unit), _pd(f"M8[{unit}]"), _apd(pa.timestamp(unit))]
    found += [_pa(pa.timestamp(unit)), _batch(pa.timestamp(unit, _ZONE))]
    if unit != "s":
        found += [_pl(pl.Datetime(unit)), _pl(pl.Datetime(unit, _ZONE))]  # type: ignore[arg-type]
    return found


def _durations(unit: str) -> list[Callable[[list[Any]], Any]]:
    found = [_pd(f"m8[{unit}]"), _apd(pa.duration(unit)), _pa(pa.duration(unit))]
    return [*found, _pl(pl.Duration(unit))] if unit != "s" else found  # type: ignore[arg-type]


def _decimals(scale: int) -> list[Callable[[list[Any]], Any]]:
    arrow = pa.decimal128(18, scale)
    return [_pl(pl.Decimal(18, scale)), _pa(arrow), _apd(arrow), _batch(arrow)]


def _lists(inner: Any, arrow: Any) -> list[Callable[[list[Any]], Any]]:
    found = [_pl(pl.List(inner)), _pa(pa.list_(arrow)), _batch(pa.large_list(arrow))]
    return [*found, _apd(pa.list_(arrow))]


# field, frames, what they are made of, what is written; or the row that is refused
CASES: list[tuple[str, list[Callable[[list[Any]], Any]], list[Any], Any]] = [
    ("whole", _INTEGERS, [BIG, None, -(2**62) - 1], [BIG, None, -(2**62) - 1]),
    ("whole", _UNSIGNED, [1, 2**63 - 1, 2**63], 2),
    ("high", _UNSIGNED, [1, 2**64 - 1], [1, 2**64 - 1]),
    *(
        case
        for digits, frames in _FLOATS.items()
        for case in (
            ("whole", frames, [2.0**digits - 1, np.nan], [2**digits - 1, None]),
            ("whole", frames, [1.0, 2.0**digits], 1),
            ("whole", frames, [1.0, np.nan, 2.5], 2),
            ("real", frames, [0.5, 2.0**digits - 1], [0.5, 2.0**digits - 1]),
        )
    ),
    *(
        (field, frames[1:], *case)  # the first are numpy's, which have no None
        for frames in _FLOATS.values()
        for field, *case in (
            ("whole", [None, 3.0], [None, 3]),
            ("real", [None, 0.5], [None, 0.5]),
            ("flag", [None, 1.0], 1),
            ("text", [None, 1.0], 1),
        )
    ),
    ("flag", _BOOLS, [True, None, False], [True, None, False]),
    ("flag", _INTEGERS, [1, 0, 1], 0),
    ("text", _TEXTS, ["a", None, "b"], ["a", None, "b"]),
    ("label", _TEXTS, ["a", None, "b"], [0, None, 1]),
    ("data", _BYTES, [b"ab", None], [b"ab", None]),
    ("whole", _decimals(2), [None, Decimal("1.5")], 1),
    ("whole", _decimals(0), [None, Decimal(BIG)], [None, BIG]),
    ("real", _decimals(2), [None, Decimal("1.25")], [None, 1.25]),
    *(
        ("at", _times(unit), [None, S * n], [None, S * 10**9])
        for unit, n in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))
    ),
    ("at", _times("ns"), [NS, None], [NS, None]),
    ("at", _times("us"), [US, None], [US * 1000, None]),
    ("seconds", _times("ns"), [S * 10**9, NS], 1),
    ("seconds", _times("us"), [S * 10**6, US], 1),
    ("seconds", _times("s"), [10**12, None], [10**12, None]),
    ("at", _times("s"), [1, 10**12], 1),
    ("lasts", _durations("ns"), [NS, None], [NS, None]),
    ("lasts", _durations("us"), [US, None], [US * 1000, None]),
    ("lasts", _durations("s"), [S, 10**12], 1),
    ("lasts", _times("ns"), [None, NS], 1),
    ("at", _durations("ns"), [None, NS], 1),
    ("at", [_pl(pl.Date), _pa(pa.date32())], [1, None], [86400 * 10**9, None]),
    ("at", [_pa(pa.date64())], [86_400_000, None], [86400 * 10**9, None]),
    ("at", [_pl(pl.Time), _pa(pa.time64("ns"))], [None, 5], 1),
    ("lasts", [_pl(pl.Time), _pa(pa.time64("ns"))], [None, 5], [None, 5]),
    ("items", _lists(pl.Int64, pa.int64()), [[BIG], [], [1, 2]], [[BIG], [], [1, 2]]),
    ("items", _lists(pl.Int64, pa.int64()), [[1], None, [3, 4]], [[1], [], [3, 4]]),
    ("items", _lists(pl.Int64, pa.int64()), [[1], [2, None]], 1),
    ("items", _lists(pl.Float64, pa.float64()), [[], [2.0]], 1),
    ("times", _lists(pl.Datetime("ns"), pa.timestamp("ns")), [[NS], []], [[NS], []]),
    ("times", _lists(pl.Datetime("ns"), pa.timestamp("ns")), [[NS], [NS, None]], 1),
    (
        "shape",
        [
            *_lists(pl.List(pl.Float32), pa.list_(pa.float32())),
            _pl(pl.Array(pl.Float32, (2, 2))),
            _pa(pa.list_(pa.list_(pa.float32(), 2), 2)),
        ],
        [[[1, 2], [3, 4]], None],
        [[[1.0, 2.0], [3.0, 4.0]], None],
    ),
    (
        "place",
        [
            _pl(pl.Struct({"x": pl.Int64, "at": pl.Datetime("ns")})),
            _pa(pa.struct({"x": pa.int64(), "at": pa.timestamp("ns")})),
        ],
        [{"x": BIG, "at": NS}, {"x": 1, "at": None}],
        [{"x": BIG, "at": NS}, {"x": 1, "at": None}],
    ),
]


def _cases() -> list[Any]:
    return [
        pytest.param(field, frame, made, written, id=f"{number}-{field}-{at}")
        for number, (field, frames, made, written) in enumerate(CASES)
        for at, frame in enumerate(frames)
    ]


def _plain(value: Any) -> Any:
    """Return a value of a split as one of Python's own."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value


@pytest.mark.parametrize(("field", "frame", "made", "written"), _cases())
def test_a_value_of_a_frame_arrives_exactly_or_is_refused(
    exact: Any,
    tmp_path: Path,
    field: str,
    frame: Callable[[list[Any]], Any],
    made: list[Any],
    written: Any,
) -> None:
    """At the edge of what a column's type holds, and with each kind of missing values."""
    record = "placed" if field == "place" else "exact"
    write_dataset = exact.module(record, "serializer").write_dataset
    source = _named(frame(made), field)
    if isinstance(written, int):
        with pytest.raises(RecordError) as caught:
            write_dataset(source, tmp_path, "train")
        assert caught.value.row == written
        assert caught.value.field == field
        return
    write_dataset(source, tmp_path, "train")
    split = exact.module(record, "reader").open_split(tmp_path, "train")
    assert [_plain(split[at][field]) for at in range(len(split))] == written


@pytest.mark.parametrize(("field", "frame", "made", "written"), _cases())
def test_a_column_of_a_frame_arrives_exactly_or_is_refused(
    exact: Any,
    tmp_path: Path,
    field: str,
    frame: Callable[[list[Any]], Any],
    made: list[Any],
    written: Any,
) -> None:
    """Columns of `write_batch` are as exact; NaN and NaT of numpy's arrays stay."""
    if field == "place":
        return  # has a column for each member
    column = _named(frame(made), field)[field]
    module = exact.module("exact", "serializer")
    try:
        with module.Writer(tmp_path, "train") as writer:
            writer.write_batch(row=range(len(made)), **{field: column})
    except RecordError as error:
        assert error.field == field  # noqa: PT017
        assert error.row is not None  # noqa: PT017
        of_numpy = isinstance(getattr(column, "dtype", None), np.dtype)
        # Floats are integers in whole frames alone.
        assert isinstance(written, int) or of_numpy or field == "whole"
        return
    split = exact.module("exact", "reader").open_split(tmp_path, "train")
    assert [_plain(split[at][field]) for at in range(len(split))] == written


def _named(frame: Any, field: str) -> Any:
    """Return a frame of one column, "it", with a number of each row next to it."""
    rows = range(len(frame))
    if isinstance(frame, pd.DataFrame):
        return frame.rename(columns={"it": field}).assign(row=rows)
    if isinstance(frame, pl.DataFrame):
        return frame.rename({"it": field}).with_columns(row=pl.Series(rows))
    arrays = [frame.column(0), pa.array(rows)]
    return type(frame).from_arrays(arrays, names=[field, "row"])


class _MyFrame(pd.DataFrame):
    """A frame of a user's own class, as of GeoPandas."""

    @property
    def _constructor(self) -> Any:
        return _MyFrame


class DuckDBPyRelation:
    """Looks as a relation of DuckDB does."""


DuckDBPyRelation.__module__ = "duckdb._relation"


def test_a_frame_of_a_derived_class_or_a_reader_of_batches_is_a_frame(
    exact: Any, tmp_path: Path
) -> None:
    """Classes of users' own, and what `.arrow()` of DuckDB returns, have columns as well."""
    module = exact.module("exact", "serializer")
    columns = {"row": [1, 2], "whole": [BIG, 2]}
    module.write_dataset(columns_to_rows(columns), tmp_path / "rows", "train")
    plain = (tmp_path / "rows" / "train-00000-of-00001.tfrecord").read_bytes()
    table = pa.table(columns)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    for number, frame in enumerate((_MyFrame(columns), reader)):
        directory = tmp_path / str(number)
        module.write_dataset(frame, directory, "train")
        shard = directory / "train-00000-of-00001.tfrecord"
        assert shard.read_bytes() == plain


def columns_to_rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return columns as rows."""
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


@pytest.mark.parametrize(
    ("source", "call"),
    [
        (pl.LazyFrame({"row": [1]}), r"LazyFrame.*\.collect\(\)"),
        (DuckDBPyRelation(), r"DuckDBPyRelation.*\.arrow\(\)"),
    ],
)
def test_a_frame_without_rows_yet_is_refused_with_the_call_that_makes_them(
    exact: Any, tmp_path: Path, source: Any, call: str
) -> None:
    with pytest.raises(TypeError, match=call):
        exact.module("exact", "serializer").write_dataset(source, tmp_path, "train")


def test_a_column_that_is_not_a_field_is_refused_by_name(
    exact: Any, tmp_path: Path
) -> None:
    """It is the frame that is wrong, whatever becomes of wrong rows."""
    write_dataset = exact.module("exact", "serializer").write_dataset
    frame = pd.DataFrame({"row": [1, 2]}, index=[5, 7])
    table = pa.table({"row": [1, 2], "other": [5, 7]})
    with pytest.raises(TypeError, match=r"'other'.*select") as caught:
        write_dataset(table, tmp_path, "train", on_error="skip")
    assert "generate" not in str(caught.value)
    with pytest.raises(TypeError, match=r"column 0, expected only the fields"):
        write_dataset(pd.DataFrame([[1]]), tmp_path, "train")
    with pytest.raises(TypeError, match=r"'whole_'.*did you mean 'whole'"):
        write_dataset(frame.assign(whole_=1), tmp_path, "train")


def test_labels_of_rows_that_pandas_stored_in_a_table_are_no_column(
    exact: Any, tmp_path: Path
) -> None:
    """As those of a frame are none; a field of their name takes them."""
    write_dataset = exact.module("exact", "serializer").write_dataset
    frame = pd.DataFrame({"row": [1, 2]}, index=[5, 7])
    write_dataset(pa.Table.from_pandas(frame, preserve_index=True), tmp_path, "train")
    indexed = frame.set_index(pd.Index([3, 4], name="whole"))
    named = pa.Table.from_pandas(indexed, preserve_index=True)
    write_dataset(named, tmp_path, "named")
    open_split = exact.module("exact", "reader").open_split
    assert [each["row"] for each in open_split(tmp_path, "train")] == [1, 2]
    assert [each["whole"] for each in open_split(tmp_path, "named")] == [3, 4]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_what_was_found_is_described_as_the_frame_has_it(
    exact: Any, tmp_path: Path, kind: Any
) -> None:
    """Floats are not integers, and a field of bools says how to convert 0 and 1."""
    write_dataset = exact.module("exact", "serializer").write_dataset
    for field, values, found, advice in (
        ("flag", [0, 1], "0 (int64)", ".astype(bool)"),
        ("flag", [0.0, 1.0], "0.0 (float64)", ".cast"),
        ("text", [2.0, 3.0], "2.0 (float64)", ""),
        ("data", [2, 3], "2 (int64)", ""),
        ("whole", np.array([2.5, 1.0], np.float32), "2.5 (float32)", "integers"),
    ):
        with pytest.raises(RecordError) as caught:
            write_dataset(kind({"row": [1, 2], field: values}), tmp_path, "train")
        assert (caught.value.field, caught.value.row) == (field, 0)
        assert caught.value.found == found
        assert advice in caught.value.advice


ROW_BY_ROW: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "iterrows": lambda columns: (row for _, row in pd.DataFrame(columns).iterrows()),
    "itertuples": lambda columns: pd.DataFrame(columns).itertuples(index=False),
    "to_dict": lambda columns: pd.DataFrame(columns).to_dict("records"),
    "to_dicts": lambda columns: pl.DataFrame(columns).to_dicts(),
    "iter_rows": lambda columns: pl.DataFrame(columns).iter_rows(named=True),
    "to_pylist": lambda columns: pa.table(columns).to_pylist(),
}


@pytest.mark.parametrize("how", ROW_BY_ROW)
@pytest.mark.parametrize(
    ("field", "column"),
    [
        ("whole", [BIG, 1]),
        ("high", np.array([2**64 - 1, 1], np.uint64)),
        ("real", [0.1, 2.0]),
        ("flag", [True, False]),
        ("text", ["a", "b"]),
        ("data", [b"a", b""]),
        ("items", [[BIG], []]),
        ("at", np.array([US, 0], "M8[us]")),
        ("lasts", np.array([US, 0], "m8[us]")),
    ],
)
def test_rows_of_a_frame_one_by_one_are_exact_or_refused(
    exact: Any, tmp_path: Path, how: str, field: str, column: Any
) -> None:
    """The values that a frame gives as rows are those that it holds, or an error."""
    module = exact.module("exact", "serializer")
    rows = ROW_BY_ROW[how]({"row": [0, 1], field: column})
    try:
        module.write_dataset(rows, tmp_path, "train")
    except RecordError as error:
        assert how == "iterrows"  # makes floats of integers next to other numbers
        assert error.row == 0  # noqa: PT017
        assert error.field in ("row", field)  # noqa: PT017
        return
    split = exact.module("exact", "reader").open_split(tmp_path, "train")
    expected = [US * 1000, 0] if field in ("at", "lasts") else [*column]
    assert [_plain(split[at][field]) for at in range(2)] == expected


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("at", np.datetime64(2**62, "ns"), 2**62),
        ("at", np.datetime64(S, "s"), S * 10**9),
        ("at", np.datetime64(10**12, "s"), None),
        ("at", np.datetime64(300_000, "Y"), None),
        ("at", np.datetime64(1, "D"), 86400 * 10**9),
        ("at", np.datetime64(1500, "ps"), None),
        ("at", np.datetime64(2000, "ps"), 2),
        ("lasts", np.timedelta64(2, "h"), 7200 * 10**9),
        ("lasts", np.timedelta64(5), None),
        ("lasts", np.timedelta64(5, "M"), None),
        ("lasts", np.timedelta64(5, "Y"), None),
        ("lasts", pd.Timedelta(5, "ns"), 5),
        ("at", pd.Timestamp(NS, tz="Asia/Tokyo"), NS),
        ("seconds", pd.Timestamp("9999-12-31").as_unit("s"), 253402214400),
    ],
)
def test_a_time_in_another_unit_is_exact_or_refused(
    exact: Any, tmp_path: Path, field: str, value: Any, written: int | None
) -> None:
    """A duration in months, or without a unit, has no length of its own."""
    module = exact.module("exact", "serializer")
    of_numpy = isinstance(value, np.generic)
    for number, given in enumerate([value, np.array(value)] if of_numpy else [value]):
        rows = [{"row": 0, field: given}]
        directory = tmp_path / str(number)
        if written is None:
            with pytest.raises(RecordError) as caught:
                module.write_dataset(rows, directory, "train")
            assert (caught.value.field, caught.value.row) == (field, 0)
            continue
        module.write_dataset(rows, directory, "train")
        split = exact.module("exact", "reader").open_split(directory, "train")
        assert split[0][field] == written
