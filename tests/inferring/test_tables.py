"""Schemas of tables, whose rows the generated writer takes as they are."""

from __future__ import annotations

import datetime as dt
import io
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import schemagen
from command_line import make_project, run
from PIL import Image

from .inference import Inferred, infer

if TYPE_CHECKING:
    from conftest import PackageOf

ROWS = 30
DAY = dt.date(2020, 1, 1)
NOON = dt.datetime(2020, 1, 1, 12)
NAN = float("nan")

Make = Callable[[int], Any]

FRAMES: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
}


def png(value: int) -> bytes:
    """Return a picture."""
    out = io.BytesIO()
    Image.fromarray(np.full((4, 5, 3), value, np.uint8)).save(out, "PNG")
    return out.getvalue()


def some(make: Make) -> Make:
    """Return a function of a row's number that has no value for each sixth."""
    return lambda row: None if row % 6 == 0 else make(row)


def seconds(row: int) -> dt.timedelta:
    return dt.timedelta(seconds=row)


# name, type, value of a row; the field and, if it is another one, what it reads as
COLUMNS: list[tuple[str, Any, Make, str, Make | None]] = [
    ("small", pa.int8(), lambda row: row, 'Annotated[int, Scalar("int8")]', None),
    ("fair", pa.int32(), lambda row: row - 9, 'Annotated[int, Scalar("int32")]', None),
    ("long", pa.int64(), lambda row: 2**62 + row, "int", None),
    ("byte", pa.uint8(), lambda row: row, 'Annotated[int, Scalar("uint8")]', None),
    (
        "unsigned",
        pa.uint64(),
        lambda row: 2**64 - 1 - row,
        'Annotated[int, Scalar("uint64")]',
        None,
    ),
    ("perhaps", pa.int64(), some(lambda row: row), "int | None", None),
    (
        "half",
        pa.float16(),
        lambda row: np.float16(row / 2),
        'Annotated[float, Scalar("float16")]',
        None,
    ),
    ("single", pa.float32(), lambda row: row / 4, "float", None),
    ("free", pa.float32(), some(lambda row: row / 4), "float | None", None),
    (
        "double",
        pa.float64(),
        lambda row: row / 3,
        "float",
        lambda row: float(np.float32(row / 3)),
    ),
    (
        "nan",
        pa.float64(),
        lambda row: NAN if row == 3 else row / 4,
        "float | None",
        None,
    ),
    (
        "epoch",
        pa.float64(),
        lambda row: 1.6e9 + row / 3,
        'Annotated[float, Scalar("float64")]',
        None,
    ),
    (
        "huge",
        pa.float64(),
        lambda row: 1e300 * (row + 1),
        'Annotated[float, Scalar("float64")]',
        None,
    ),
    (
        "endless",
        pa.float64(),
        lambda row: np.inf if row == 4 else row / 4,
        'Annotated[float, Scalar("float32", finite=False)]',
        None,
    ),
    # As pandas holds integers of which one is missing.
    ("counted", pa.float64(), some(float), "int | None", None),
    (
        "money",
        pa.decimal128(9, 2),
        lambda row: Decimal(f"{row}.25"),
        "float",
        lambda row: row + 0.25,
    ),
    ("units", pa.decimal128(9, 0), some(Decimal), "int | None", None),
    ("yes", pa.bool_(), lambda row: row % 3 == 0, "bool", None),
    ("maybe", pa.bool_(), some(lambda row: row % 2 == 0), "bool | None", None),
    ("words", pa.string(), lambda row: f"é{row}", "str", None),
    ("view", pa.string_view(), some(lambda row: f"is {row % 9}"), "str | None", None),
    ("blob", pa.binary(), lambda row: bytes([row, 255]), "bytes", None),
    (
        "photo",
        pa.binary(),
        png,
        'Annotated[bytes, Image((4, 5, 3), encoding="png")]',
        None,
    ),
    (
        "day",
        pa.date32(),
        lambda row: DAY + dt.timedelta(row),
        'Annotated[int, Scalar("int64", unit="s", role="info")]',
        lambda row: dt.datetime.combine(DAY + dt.timedelta(row), dt.time(), dt.UTC),
    ),
    *(
        (
            f"at_{unit}",
            pa.timestamp(unit, zone),
            some(lambda row: NOON + seconds(row)),
            f'Annotated[int | None, Scalar("int64", unit="{unit}", role="info")]',
            some(lambda row: (NOON + seconds(row)).replace(tzinfo=dt.UTC)),
        )
        for unit, zone in (("s", None), ("ms", None), ("us", "UTC"), ("ns", "UTC"))
    ),
    (
        "takes",
        pa.duration("ms"),
        some(seconds),
        'Annotated[int | None, Scalar("int64", unit="ms", duration=True)]',
        None,
    ),
    (
        "opens",
        pa.time64("us"),
        some(lambda row: dt.time(8, row, 1, 5)),
        'Annotated[int | None, Scalar("int64", unit="us", duration=True)]',
        some(lambda row: dt.timedelta(hours=8, minutes=row, seconds=1, microseconds=5)),
    ),
    (
        "size",
        pa.dictionary(pa.int8(), pa.string()),
        some(lambda row: ("S", "M", "L")[row % 3]),
        'Annotated[Literal["M", "L", "S"] | None, Label(role="input")]',
        None,
    ),
    (
        "label",
        pa.dictionary(pa.int8(), pa.string()),
        lambda row: ("no", "yes")[row % 2],
        'Literal["no", "yes"]',
        None,
    ),
    ("code", pa.dictionary(pa.int8(), pa.int64()), lambda row: row % 3, "int", None),
    (
        "species",
        pa.string(),
        lambda row: ("cat", "dog")[row % 2],
        'Literal["cat", "dog"]',
        None,
    ),
    (
        "class_id",
        pa.int64(),
        lambda row: row % 3 + 1,
        "Annotated[int, Label(num_classes=4)]",
        None,
    ),
    (
        "target",
        pa.int64(),
        lambda row: row % 3 - 1,
        'Annotated[int, Scalar("int64", role="target")]',
        None,
    ),
    (
        "vector",
        pa.list_(pa.float32()),
        lambda row: [row / 2] * 3,
        "Annotated[np.ndarray, Vector((3,))]",
        None,
    ),
    (
        "fixed",
        pa.list_(pa.uint8(), 2),
        lambda row: [row, 1],
        'Annotated[np.ndarray, Vector((2,), dtype="uint8")]',
        None,
    ),
    (
        "one",
        pa.list_(pa.int64()),
        lambda row: [row],
        'Annotated[np.ndarray, Vector((1,), dtype="int64")]',
        None,
    ),
    (
        "matrix",
        pa.list_(pa.list_(pa.float32())),
        lambda row: [[row, 1], [2, 3]],
        "Annotated[np.ndarray, Vector((2, 2))]",
        None,
    ),
    (
        "cube",
        pa.list_(pa.list_(pa.list_(pa.int64()))),
        lambda row: [[[row, 2], [3, 4]], [[5, 6], [7, 8]]],
        'Annotated[np.ndarray, Vector((2, 2, 2), dtype="int64")]',
        None,
    ),
    # As long as pixels would be, and written flat.
    (
        "flat",
        pa.list_(pa.float32()),
        lambda row: [float(at) for at in range(100)],
        "Annotated[np.ndarray, Vector((100,))]",
        None,
    ),
    ("items", pa.list_(pa.int64()), lambda row: [row] * (row % 4), "list[int]", None),
    (
        "names",
        pa.list_(pa.string()),
        lambda row: ["a"] * (row % 3),
        "list[str]",
        None,
    ),
    (
        "corners",
        pa.list_(pa.list_(pa.float32(), 4)),
        lambda row: [[1.0, 2.0, 3.0, row]] * (row % 5),
        'Annotated[np.ndarray, VarLen("float32", item_shape=(4,), role="info")]',
        None,
    ),
    (
        "ragged",
        pa.list_(pa.list_(pa.int64())),
        lambda row: [[1] * (row % 3), [2]],
        "list[list[int]]",
        None,
    ),
    (
        "nothing",
        pa.null(),
        lambda row: None,
        'Annotated[float | None, Scalar("float32", role="info")]',
        None,
    ),
    (
        "no_text",
        pa.string(),
        lambda row: None,
        'Annotated[str | None, Text(role="info")]',
        None,
    ),
    (
        "never",
        pa.timestamp("us"),
        lambda row: None,
        'Annotated[int | None, Scalar("int64", unit="us", role="info")]',
        None,
    ),
    # Names that no field can have; the key is that of the column.
    ("class", pa.string(), str, 'Annotated[str, Text(key="class", role="info")]', None),
    (
        "area (m2)",
        pa.float32(),
        float,
        'Annotated[float, Scalar("float32", key="area (m2)")]',
        None,
    ),
    (
        "a/b",
        pa.float32(),
        float,
        'Annotated[float, Scalar("float32", key="a/b")]',
        None,
    ),
    ("a/z", pa.int64(), int, 'Annotated[int, Scalar("int64", key="a/z")]', None),
]
RENAMED = {"class": "class_", "area (m2)": "area_m2", "a/b": "a_b", "a/z": "a_z"}


def wide(rows: int = ROWS) -> pa.Table:
    """Return a table with a column of each type."""
    columns = {
        name: pa.array([make(row) for row in range(rows)], pa_type, from_pandas=False)
        for name, pa_type, make, *_ in COLUMNS
    }
    points = [{"x": row, "at": {"lat": row / 2, "ok": True}} for row in range(rows)]
    return pa.table({**columns, "point": pa.array(points)})


@pytest.mark.parametrize("case", COLUMNS, ids=lambda case: case[0])
def test_each_type_of_a_column_is_declared(case: Any) -> None:
    """By its field's annotation, if there are no other columns."""
    table = wide().select([case[0]])
    declared = declarations(schemagen.infer_schema(table, "Narrow").source)
    assert declared == {RENAMED.get(case[0], case[0]): case[3]}


def declarations(source: str) -> dict[str, str]:
    """Return the annotations of the fields in a schema's source, each in one line."""
    body = source.partition("(Record):")[2].replace("[\n        ", "[")
    text = "\n".join(line for line in body.splitlines() if "# " not in line)
    text = text.replace(",\n    ]", "]").replace("\n        ", " ")
    pairs = (line.strip().split(": ", 1) for line in text.splitlines() if ": " in line)
    return {name: rest.partition(" = ")[0] for name, rest in pairs}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_writer_takes_the_table_as_it_is(
    package_of: PackageOf, tmp_path: Path, kind: str
) -> None:
    """And readers deliver its values."""
    package = package_of(schemagen.infer_schema(wide(), "Wide").source)
    frame = FRAMES[kind](wide())
    package.module("wide", "serializer").write_dataset(frame, tmp_path, "train")
    read = package.module("wide", "reader").open_split(
        tmp_path, "train", class_names=True
    )
    table = read.to_arrow()
    for name, _, make, _, reads in COLUMNS:
        column = table[RENAMED.get(name, name)]
        if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
            column = column.cast(_in_us(column.type))
        wanted = [(reads or make)(row) for row in range(ROWS)]
        wanted = [None if value != value else value for value in wanted]
        assert column.to_pylist() == wanted, name
    assert read[5]["point"]["at"]["lat"] == 2.5


def _in_us(kind: Any) -> Any:
    if pa.types.is_duration(kind):
        return pa.duration("us")
    return pa.timestamp("us", kind.tz)


# Files.


def houses(rows: int = ROWS) -> pd.DataFrame:
    """Return sold houses, with row labels that are no column."""
    random = np.random.default_rng(0)
    built = random.integers(1900, 2020, rows).astype(float)
    built[::7] = np.nan
    return pd.DataFrame(
        {
            "kind": pd.Categorical(
                random.choice(["flat", "house"], rows),
                categories=["house", "flat", "farm"],
            ),
            "area": random.normal(100, 20, rows),
            "built": built,
            "sold": pd.Timestamp("2020-01-01") + pd.to_timedelta(range(rows), unit="D"),
            "garden": random.random(rows) < 0.5,
            "price": random.normal(300_000, 10_000, rows),
        },
        index=range(5, 5 + rows),
    )


HOUSE = """\
class House(Record):
    kind: Annotated[Literal["house", "flat", "farm"], Label(role="input")]
    area: float

    # doubt: whole numbers, some of them missing: integers, or floats?
    built: int | None = None

    # a time: to learn from it, add columns of its parts, such as the hour
    sold: Annotated[int, Scalar("int64", unit="us", role="info")]
    garden: bool

    # doubt: the target, by its name?
    price: Annotated[float, Scalar("float32", role="target")]
"""


def table_of(directory: Path, suffix: str, frame: pd.DataFrame) -> Path:
    """Write a frame to a file."""
    directory.mkdir(exist_ok=True)
    path = directory / f"train{suffix}"
    match suffix:
        case ".parquet" | ".pq":
            frame.to_parquet(path)
        case ".feather":
            pyarrow.feather.write_feather(frame, path)
        case ".csv":
            frame.to_csv(path, index=False)
        case _:
            table = pa.Table.from_pandas(frame)
            with pa.ipc.new_stream(path, table.schema) as writer:
                writer.write_table(table)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".pq", ".feather", ".arrow"])
def test_files_of_tables_are_read(tmp_path: Path, suffix: str) -> None:
    """Row labels of pandas are no column; categories have an order, and times a unit."""
    data = table_of(tmp_path, suffix, houses())
    found = infer(data, tmp_path / "house.py")
    assert found.read == f"{ROWS} rows of train{suffix}"
    assert HOUSE in found.text
    assert f'"""Inferred from {ROWS} rows of train{suffix}.' in found.text


def test_a_csv_file_has_the_types_that_arrow_infers(
    tmp_path: Path, package_of: PackageOf
) -> None:
    """Of numbers, dates and texts; the printed program reads the same ones."""
    frame = houses().assign(sold=[str(DAY)] * ROWS)
    data = table_of(tmp_path, ".csv", frame)
    found = infer(data, tmp_path / "house.py")
    fields = found.fields
    assert fields["kind"].kind.kind == "Text"
    assert (fields["built"].kind.dtype, fields["built"].optional) == ("int64", True)
    assert fields["sold"].kind.unit == "s"
    assert fields["garden"].kind.dtype == "bool"
    rows = program_of(found, package_of, tmp_path)
    assert rows["area"].to_pylist() == pytest.approx(frame["area"].tolist())


def test_empty_text_of_a_csv_file_is_missing(
    tmp_path: Path, package_of: PackageOf
) -> None:
    """To `infer` and to the program that it prints."""
    regions = ["north" if i % 3 else None for i in range(60)]
    frame = pd.DataFrame({"region": regions, "x": np.arange(60) / 7})
    found = infer(table_of(tmp_path, ".csv", frame), tmp_path / "house.py")
    assert found.fields["region"].optional
    rows = program_of(found, package_of, tmp_path)
    assert rows["region"].to_pylist() == regions


def program_of(found: Inferred, package_of: PackageOf, directory: Path) -> pa.Table:
    """Run the program that the command prints, and return the records that it writes."""
    package = package_of(found.text)
    lines = found.output.partition("then write the rows:\n")[2].splitlines()
    program = "\n".join(line.strip() for line in lines)
    record = found.spec.record
    program = program.replace(f"generated.{record}", f"{package.package}.{record}")
    exec(program.replace("'data'", repr(str(directory / "data"))), {})
    open_split = package.module(record, "reader").open_split
    return open_split(directory / "data", "train", class_names=True).to_arrow()


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv"])
@pytest.mark.parametrize("how", ["file", "directory", "glob"])
def test_the_printed_program_writes_the_rows(
    tmp_path: Path, package_of: PackageOf, suffix: str, how: str
) -> None:
    """Of a file, of a directory and of a glob."""
    frame = houses(40).drop(columns="sold").astype({"kind": str})
    if how != "file":
        for number, part in enumerate((frame[:25], frame[25:])):
            path = table_of(tmp_path / "rows", suffix, part)
            path.rename(path.with_name(f"train-{number}{suffix}"))
        data = tmp_path / "rows" / ("*" if how == "glob" else "")
    else:
        data = table_of(tmp_path, suffix, frame)
    found = infer(data, tmp_path / "house.py")
    name = f"train{suffix}" if how == "file" else "2 files"
    assert found.read == f"40 rows of {name}"
    rows = program_of(found, package_of, tmp_path)
    wanted = [None if value != value else int(value) for value in frame["built"]]
    assert rows["built"].to_pylist() == wanted
    assert rows["kind"].to_pylist() == frame["kind"].tolist()


@pytest.mark.parametrize("how", ["file", "directory"])
def test_integers_with_nulls_are_written_exactly(
    tmp_path: Path, package_of: PackageOf, how: str
) -> None:
    """Those of Parquet files, also in structs; labels of rows stay out."""
    (rows := tmp_path / "rows").mkdir()
    ids = [1234567890123456789 + row if row % 3 else None for row in range(ROWS)]
    structs = [{"a": value, "b": "text"} for value in ids]
    frame = pd.DataFrame(
        {"number": pd.array(ids, "Int64"), "x": 0.5}, index=[*map(str, range(ROWS))]
    )
    table = pa.Table.from_pandas(frame).append_column("s", pa.array(structs))
    pyarrow.parquet.write_table(table, rows / "a.parquet")
    data = rows / "a.parquet"
    if how == "directory":
        pyarrow.parquet.write_table(table, rows / "b.parquet")
        data, ids = rows, ids * 2
    written = program_of(infer(data, tmp_path / "x.py"), package_of, tmp_path)
    assert written["number"].to_pylist() == ids
    assert written["s_a"].to_pylist() == ids


@pytest.mark.parametrize("how", ["file", "directory"])
def test_texts_of_csv_files_may_have_line_breaks(
    tmp_path: Path, package_of: PackageOf, how: str
) -> None:
    """Wherever the blocks that Arrow reads end."""
    (rows := tmp_path / "rows").mkdir()
    texts = [f"good {row}\n" * 40 for row in range(4_000)]
    frame = pd.DataFrame({"words": texts, "x": 0.5})
    frame.to_csv(rows / "a.csv", index=False)
    data = rows / "a.csv"
    if how == "directory":
        frame.to_csv(rows / "b.csv", index=False)
        data, texts = rows, texts * 2
    found = infer(data, tmp_path / "x.py", limit=100)
    assert program_of(found, package_of, tmp_path)["words"].to_pylist() == texts


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a;b\n1;2\n", "one column: is ';' the separator of the file?"),
        (b"a\tb\n1\t2\n", "one column: is a tab the separator of the file?"),
        (
            "a,b\né,1\n".encode("latin-1"),
            "not UTF-8: is the text of the file in another",
        ),
    ],
    ids=["semicolons", "tabs", "Latin-1"],
)
def test_other_separators_and_encodings_of_csv_files_are_doubtful(
    tmp_path: Path, content: bytes, words: str
) -> None:
    """Arrow reads them as one column of text, or as bytes."""
    (tmp_path / "a.csv").write_bytes(content)
    assert words in infer(tmp_path / "a.csv", tmp_path / "x.py").prose


def test_integers_that_floats_may_have_changed_are_doubtful() -> None:
    """As pandas makes of ids some of which are missing; larger ones are no integers."""
    ids = [1234567890123456789.0, NAN, 2.0**60] * 10
    doubt = "whole numbers of 2**53 and more, some of them missing: integers that may"
    (found,) = (
        each
        for each in schemagen.infer_schema(
            pd.DataFrame({"number": ids, "large": [1e300, NAN, 1.0] * 10}), "Row"
        ).doubts
        if "2**53" in each
    )
    assert found.startswith(doubt)


def test_the_first_rows_of_each_split_are_read(tmp_path: Path) -> None:
    """Up to the limit, which is said."""
    data = table_of(tmp_path, ".parquet", houses())
    found = infer(data, tmp_path / "house.py", limit=10)
    assert found.read == "the first 10 rows of train.parquet"
    (tmp_path / "train-2.parquet").write_bytes(data.read_bytes())
    both = infer(tmp_path / "train*.parquet", tmp_path / "both.py", limit=10)
    assert both.read == "10 rows of 2 files, the first 10 of each split"
    every = infer(tmp_path / "train*.parquet", tmp_path / "every.py", limit=0)
    assert every.read == f"{2 * ROWS} rows of 2 files"


def test_a_split_is_told_by_the_names_of_files(tmp_path: Path) -> None:
    """As of files of records."""
    train = table_of(tmp_path, ".parquet", houses())
    (tmp_path / "test-00000-of-00001.parquet").write_bytes(train.read_bytes())
    every = infer(tmp_path, tmp_path / "all.py")
    assert "note: files of the splits test and train: choose one with" in every.output
    found = infer(tmp_path, tmp_path / "house.py", split="test")
    assert found.read == f"{ROWS} rows of test-00000-of-00001.parquet"
    assert f"{found.read.split()[-1]}'), 'data', 'test')" in found.output
    result = run("infer", tmp_path, "--out", tmp_path / "x.py", "--split", "dev")
    assert result.exit_code == 2
    assert "no split 'dev'; there are: test, train" in result.output


def test_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    """By the names of both, and of the column."""
    table_of(tmp_path, ".parquet", houses()).rename(tmp_path / "a.parquet")
    table_of(tmp_path, ".parquet", houses().drop(columns="area"))
    result = run("infer", tmp_path, "--out", tmp_path / "x.py")
    assert result.exit_code == 2
    assert "train.parquet: other columns than a.parquet: 'area'" in result.output


def test_wider_types_of_other_files_are_declared(tmp_path: Path) -> None:
    """Integers of one file and those of another are of one column."""
    for name, dtype in (("a", pa.int8()), ("b", pa.int32())):
        table = pa.table({"number": pa.array([1, 2, 3], dtype)})
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    found = infer(tmp_path, tmp_path / "x.py")
    assert found.fields["number"].kind.dtype == "int32"


REFUSED: dict[str, tuple[pa.Table, str]] = {
    "no rows": (pa.table({"a": pa.array([], pa.int64())}), "it has no rows"),
    "two of one name": (
        pa.table([[1], [2]], names=["a", "a"]),
        "column 'a' is there twice",
    ),
    "no name": (pa.table([[1]], names=[""]), "column '' has no name"),
    "maps": (
        pa.table({"m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))}),
        "column 'm' has a type that no field holds",
    ),
    "lists of times": (pa.table({"t": [[NOON]]}), "column 't' has a type that no"),
    "lists of structs": (
        pa.table({"s": [[{"x": 1}]]}),
        "column 's' has a type that no",
    ),
    "null in lists": (
        pa.table({"n": [[1, None]]}),
        "found:    null among their items",
    ),
    "null structs": (
        pa.table({"s": [{"x": 1, "y": 2}, None]}),
        "column 's' is a struct that is null",
    ),
    "structs of one member": (
        pa.table({"s": [{"x": 1}]}),
        "column 's.x' is in a struct that cannot be a nested model",
    ),
    "members without a name of Python": (
        pa.table({"s": [{"x": 1, "not a name": 1}]}),
        "column 's.not a name' is in a struct",
    ),
    "lists of varying matrices": (
        pa.table({"v": [[[[1], [2, 3]]]]}),
        "found:    items whose shape varies",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_field_holds_is_refused_by_column(tmp_path: Path, case: str) -> None:
    """With what was found, and what to do."""
    table, words = REFUSED[case]
    pyarrow.feather.write_feather(table, tmp_path / "t.feather")
    result = run("infer", tmp_path / "t.feather", "--out", tmp_path / "x.py")
    assert result.exit_code == 2, result.output
    assert words in result.output
    assert not (tmp_path / "x.py").exists()


def test_a_broken_table_is_refused(tmp_path: Path) -> None:
    """With what Arrow says."""
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and no more")
    result = run("infer", tmp_path / "t.parquet", "--out", tmp_path / "x.py")
    assert result.exit_code == 2
    assert "t.parquet: SG441 it cannot be read: " in result.output.replace("\n", " ")


def test_without_pyarrow_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra."""
    data = table_of(tmp_path, ".parquet", houses())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("infer", data, "--out", tmp_path / "x.py")
    assert result.exit_code == 2
    assert "SG407" in result.output
    assert 'pip install "schemagen-tfrecord[tables]"' in result.output


@pytest.mark.parametrize("command", ["adopt", "infer"])
def test_files_that_are_no_records_say_how_tables_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """`adopt` names the command for tables, and `infer` what it reads of others."""
    project = make_project(tmp_path / "project", {})
    monkeypatch.chdir(project)
    data = table_of(project, ".parquet", houses())
    if command == "infer":
        data = data.rename(data.with_name("train"))
    result = run(command, data, "--out", project / "schemas" / "house.py")
    assert result.exit_code == 2, result.output
    advice = {
        "adopt": "run `schemagen infer",
        "infer": "pass a data frame to schemagen.infer_schema",
    }
    assert advice[command] in result.output


# Frames.


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_has_the_schema_of_its_file(tmp_path: Path, kind: str) -> None:
    """Whatever package it is of."""
    frame = FRAMES[kind](pa.Table.from_pandas(houses(), preserve_index=False))
    if kind == "polars":  # whose other categories have no order
        frame = frame.with_columns(
            pl.col("kind").cast(pl.Enum(["house", "flat", "farm"]))
        )
    found = schemagen.infer_schema(frame, "House")
    assert HOUSE in found.source
    assert found.doubts == (
        "whole numbers, some of them missing: integers, or floats?",
        "the target, by its name?",
    )
    found.write(tmp_path / "house.py")
    assert (tmp_path / "house.py").read_text() == str(found)
    with pytest.raises(Exception, match=r"house\.py exists"):
        found.write(tmp_path / "house.py")
    found.write(tmp_path / "house.py", force=True)


def test_the_first_rows_of_a_frame_are_looked_at() -> None:
    """All of them with `limit=None` or 0; no other limit is taken."""
    frame = pd.DataFrame({"number": range(20)})
    for limit, words in (
        (5, "the first 5 rows"),
        (None, "20 rows"),
        (0, "20 rows"),
        (20, "20 rows"),
    ):
        found = schemagen.infer_schema(frame, "Row", limit=limit)
        assert f'"""Inferred from {words} of a DataFrame.' in found.source
    with pytest.raises(Exception, match="limit=-1: expected how many rows"):
        schemagen.infer_schema(frame, "Row", limit=-1)


def test_columns_of_one_name_are_refused() -> None:
    """Of pandas, as of a file."""
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(Exception, match="column 'a' is there twice"):
        schemagen.infer_schema(frame, "Row")


def test_batches_of_arrow_are_frames() -> None:
    """One, or a reader of several."""
    batch = pa.RecordBatch.from_pydict({"number": [1, 2]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])
    assert "2 rows" in schemagen.infer_schema(batch, "Row").source
    assert "4 rows" in schemagen.infer_schema(reader, "Row").source


def test_numbered_columns_are_fields(tmp_path: Path, package_of: PackageOf) -> None:
    """As of a frame that is made of an array."""
    frame = pd.DataFrame(np.arange(6.0, dtype=np.float32).reshape(3, 2))
    package = package_of(schemagen.infer_schema(frame, "Cell").source)
    package.module("cell", "serializer").write_dataset(frame, tmp_path, "train")
    read = package.module("cell", "reader").open_split(tmp_path, "train")
    assert [row["n1"] for row in read] == [1, 3, 5]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ([{"a": 1}], "found a list, expected a DataFrame"),
        (pl.LazyFrame({"a": [1]}), r"LazyFrame.*\.collect\(\)"),
        (pd.DataFrame({"a": []}), "the frame has no rows"),
        ({"a": [1]}, "found a dict, expected a DataFrame"),
        (
            pd.DataFrame({"a": [1, "x"]}),
            "column 'a' of dtype object has values that.*'x'",
        ),
        (pd.DataFrame({"a": [2**70, 1]}), "column 'a' of dtype object.*too large"),
        (pd.DataFrame({"a": [1j]}), "column 'a' of dtype complex128"),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0])}), "column 'a' of dtype Sparse"),
        (pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128)}), "'a' of dtype Int128"),
        (pl.DataFrame({"a": pl.Series([{1}], dtype=pl.Object)}), "'a' of dtype Object"),
    ],
    ids=[
        *(
            "list",
            "lazy",
            "empty",
            "dict",
            "mixed",
            "beyond int64",
            "complex",
            "sparse",
        ),
        *("Int128", "objects"),
    ],
)
def test_what_is_no_frame_is_an_error(frame: Any, words: str) -> None:
    """That says what to pass."""
    with pytest.raises(TypeError, match=words):
        schemagen.infer_schema(frame, "Row")


def test_a_name_that_no_class_can_have_is_refused() -> None:
    """As of `--name`."""
    with pytest.raises(Exception, match="the record cannot be called 'my row'"):
        schemagen.infer_schema(pd.DataFrame({"a": [1]}), "my row")


def comments(**columns: Any) -> str:
    """Return the schema of a table in one line, without the marks of comments."""
    source = schemagen.infer_schema(pa.table(columns), "Found").source
    return " ".join(source.replace("#", "").split())


def test_what_is_doubtful_in_records_is_doubtful_in_tables() -> None:
    """Of texts and ids that may be classes, and of paths of files."""
    texts = comments(species=["cat", "dog"] * 5 + ["", "cat"])
    assert "2 texts" not in texts
    assert "3 texts in 12 records: classes? Label(classes=(...))" in texts
    ids = comments(label=[0, 1, 2] * 10)
    assert "0 to 2 in 30 records: is 2 the highest id?" in ids
    paths = comments(picture=[f"images/{row}.png" for row in range(30)])
    assert "paths of files such as 'images/0.png', and not images" in paths
    flags = comments(flag=[0, 1] * 15)
    assert "only 0 and 1 were seen" in flags
    bare = comments(x=[None, 1.5] * 15)
    assert "15 rows without any value cannot be written: leave them out" in bare


def test_few_rows_that_differ_are_declared_as_well() -> None:
    """The writer has to take them: nothing has stored them yet."""
    rows = 300
    lists = [[1, 2]] * (rows - 1) + [[1, 2, 3]]
    floats = [0.5] * (rows - 1) + [np.inf]
    found = comments(items=lists, number=pa.array(floats))
    assert "items: list[int]" in found
    assert 'Scalar("float32", finite=False)' in found


def test_labels_of_the_sizes_of_images_stay_columns() -> None:
    """Each column is a field, as the writer takes each."""
    columns = {"image": [png(row) for row in range(30)], "height": [4] * 30}
    found = comments(**columns, width=[5] * 30, format=["png"] * 30)
    for name in columns | {"width": 0, "format": 0}:
        assert f"{name}: " in found
    assert 'height: Annotated[int, Scalar("int64", role="info")]' in found


def test_many_categories_are_text() -> None:
    """A dictionary may be there to save memory."""
    names = pa.array([f"name {row}" for row in range(1200)]).dictionary_encode()
    assert "name: str" in comments(name=names).replace(
        'Annotated[str, Text(role="info")]', "str"
    )
    assert "town: str" in comments(town=names)
