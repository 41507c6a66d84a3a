"""Files of tables: Parquet, CSV and Arrow, read with pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..runtime.interface import install
from ..runtime.shared.errors import DatasetError, no_split
from ..runtime.shared.frame_columns import classes_of
from ..runtime.writing.frames import check_computed, index_columns
from .files import FilePath, entries_of, file_path, matching
from .formatting import plural, shell_word
from .layouts import is_ignored, says_records, split_of, split_order

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
}
"""The formats of tables, by the suffixes of their files."""

# Types of a CSV file's columns follow from the values in so many bytes.
_CSV_BYTES = 1 << 26

# So many rows are read at a time, and no more of them once they have so many bytes.
_ROWS, _MOST_BYTES = 1 << 10, 1 << 28

HELD = (
    "numbers of up to 64 bits, bools, text, bytes, times, or lists and structs of them"
)
"""The values of a column that a field can hold."""

# What reads one file, as a user writes it; several are read as a data set of Arrow.
_READERS = {
    "parquet": "pyarrow.parquet.read_table({})",
    "csv": "pyarrow.csv.read_csv({}, parse_options=parse, convert_options=convert)",
    "arrow": "pyarrow.feather.read_table({})",
}

# Quoted text may have line breaks, and an empty text is missing, as pandas takes both.
_CSV_OPTIONS = (
    "parse = pyarrow.csv.ParseOptions(newlines_in_values=True)",
    "convert = pyarrow.csv.ConvertOptions(strings_can_be_null=True)",
)


@dataclass(frozen=True)
class TableFiles:
    """Files of one table.

    Attributes:
        where: the user's name for them.
        paths: the files, sorted.
        is_part: whether they are those of one split only.
    """

    where: str
    paths: tuple[FilePath, ...]
    is_part: bool = False

    @property
    def format(self) -> str:
        """The format of all files."""
        return _format_of(self.paths[0])

    @property
    def splits(self) -> list[str]:
        """The splits that the names of the files say, as far as they have common names."""
        named = {*map(_split_of, self.paths)}
        return sorted(split for split in named if split_order(split) < split_order(""))

    @property
    def options(self) -> tuple[str, ...]:
        """The statements that the expression needs before it."""
        return _CSV_OPTIONS if self.format == "csv" else ()

    @property
    def expression(self) -> str:
        """What returns the rows in a program that imports the package it begins with."""
        first, *others = self.paths
        is_directory = file_path(self.where).is_dir()
        if not others:
            return _READERS[self.format].format(repr(str(first)))
        if self.is_part:
            paths = repr([*map(str, self.paths)])
        elif not is_directory:
            paths = f"sorted(glob.glob({self.where!r}))"
        elif self.format == "parquet":
            return _READERS[self.format].format(repr(self.where))
        else:
            paths = repr(self.where)
        form = repr(self.format)
        if self.format == "csv":
            form = "pyarrow.dataset.CsvFileFormat(parse, convert_options=convert)"
        return f"pyarrow.dataset.dataset({paths}, format={form}).to_table()"


@dataclass(frozen=True)
class TableRows:
    """The rows that were read.

    Attributes:
        table: a `pyarrow.Table`.
        text: a description of what was read.
    """

    table: Any
    text: str


def table_files(where: str, split: str | None = None) -> TableFiles | None:
    """Return the files of a table that a path, a glob or a directory names.

    None if their names say that they are something else. A directory is one of a table if
    it has such files, and none of records.

    Raises:
        DatasetError: they are of several formats, or none is of the split.
    """
    try:
        paths = _paths(where)
    except OSError:  # which reading records says more of
        return None
    formats = sorted({_format_of(each) for each in paths})
    if not formats or "" in formats:
        return None
    if len(formats) > 1:
        raise DatasetError(
            f"{where}: tables of several formats: {', '.join(formats)}; name the files of one"
        )
    if split is not None:
        splits = {_split_of(each) for each in paths}
        paths = [each for each in paths if _split_of(each) == split]
        if not paths:
            raise DatasetError(f"{where}: {no_split(split, filter(None, splits))}")
    return TableFiles(where, tuple(sorted(paths, key=str)), is_part=split is not None)


def _paths(where: str) -> Sequence[FilePath]:
    """Return the files that a path or a glob names, or those of tables in a directory.

    There are none in a directory with files of records.
    """
    path = file_path(where)
    if path.is_dir():
        entries = entries_of(path).items()
        files = [path / name for name, entry in entries if entry == "file"]
        others = (each.name for each in files if not _format_of(each))
        if any(map(says_records, others)):
            return []
        return [
            each for each in files if _format_of(each) and not is_ignored(each.name)
        ]
    if path.exists():
        return [path]
    return [each for each in matching(where) if not each.is_dir()]


def _format_of(path: FilePath) -> str:
    suffix = f".{path.name.rpartition('.')[2]}"
    return FORMATS.get(suffix.lower(), "")


def _split_of(path: FilePath) -> str:
    return split_of(f"{path.name.rpartition('.')[0]}.tfrecord")


def read_table(
    files: TableFiles, limit: int | None = None, sample: int | None = None
) -> TableRows:
    """Read the first rows of a table.

    Args:
        files: the files.
        limit: the first rows of each split to read; None for all.
        sample: the most rows to read instead, spread over all files; None for no limit.

    Raises:
        DatasetError: pyarrow is not installed, a file cannot be read, there are no rows, or
            the files have other columns than the first one.
    """
    pa = require_pyarrow()
    share = None if sample is None else max(1, sample // len(files.paths))
    read: Counter[str] = Counter()
    tables, whole = [], True
    for path in files.paths:
        split = _split_of(path)
        most = share if limit is None else limit - read[split]
        try:
            table, complete = _first(path, most)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise DatasetError(f"{path}: it cannot be read: {error}") from None
        whole = whole and complete
        read[split] += table.num_rows
        tables.append(table)
    table = _joined(files, tables)
    if not table.num_rows:
        raise DatasetError(f"{files.where}: it has no rows")
    rows, name = plural(table.num_rows, "row"), shell_word(files.paths[0].name)
    if len(tables) == 1:
        return TableRows(table, f"{'' if whole else 'the first '}{rows} of {name}")
    of = f"{len(tables):,} files"
    if limit is not None and not whole:
        text = f"{rows} of {of}, the first {limit:,} of each split"
    else:
        text = f"{rows} of {of}" if whole else f"{rows}, the first ones of each of {of}"
    return TableRows(table, text)


def as_table(frame: Any, limit: int | None) -> TableRows:
    """Return the first rows of a data frame, without the labels of rows.

    Args:
        frame: the data frame.
        limit: the most rows; None or 0 for all.

    Raises:
        TypeError: it is not a data frame, has no rows, or a column is none of Arrow's.
        DatasetError: pyarrow is not installed, or the limit is no count.
    """
    pa = require_pyarrow()
    if limit is not None and (type(limit) is not int or limit < 0):
        raise DatasetError(
            f"limit={limit!r}: expected how many rows to look at; 0 or None for all"
        )
    check_computed(frame)
    classes = set(classes_of(frame))
    if hasattr(frame, "read_all"):  # a reader of Arrow's batches, as of DuckDB
        frame = frame.read_all()
    is_arrow = isinstance(frame, pa.Table | pa.RecordBatch)
    if not is_arrow and not classes & {
        ("pandas", "DataFrame"),
        ("polars", "DataFrame"),
    }:
        raise TypeError(
            f"found a {type(frame).__name__}, expected a DataFrame of pandas or polars, or "
            "a table of Arrow"
        )
    count = len(frame)
    if not count:
        raise TypeError("the frame has no rows")
    first = frame[:limit] if limit else frame
    if is_arrow:
        table = pa.table(first)
    elif ("pandas", "DataFrame") in classes:
        table = _of_columns(first.items(), partial(pa.array, from_pandas=True))
    else:
        pairs = zip(first.columns, first.get_columns(), strict=True)
        table = _of_columns(pairs, lambda series: series.to_arrow())
    rows = plural(table.num_rows, "row")
    part = "" if table.num_rows == count else "the first "
    return TableRows(table, f"{part}{rows} of a {type(frame).__name__}")


def _of_columns(
    columns: Iterable[tuple[Any, Any]], array_of: Callable[[Any], Any]
) -> Any:
    """Return the table of Arrow that has the columns of a frame.

    Raises:
        TypeError: Arrow has no type for the values of one.
    """
    import pyarrow as pa

    names, arrays = [], []
    for name, series in columns:
        try:
            if str(series.dtype) == "Object":  # of polars, which returns addresses
                raise TypeError("they are objects of Python")
            arrays.append(array_of(series))
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise TypeError(
                f"column {name!r} of dtype {series.dtype} has values that no field holds: "
                f"{error}; expected values of one type: {HELD}"
            ) from None
        names.append(str(name))
    return pa.table(arrays, names)


def require_pyarrow() -> Any:
    """Import pyarrow.

    Raises:
        DatasetError: it is not installed; says how to install it.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise DatasetError(
            f"tables are read with pyarrow, which is not installed: run `{install('tables')}`"
        ) from error
    return pyarrow


def _first(path: FilePath, most: int | None) -> tuple[Any, bool]:
    """Return a table of the first rows of a file, and whether these are all.

    There are fewer than asked for if they are large, such as images.
    """
    import pyarrow as pa

    schema, batches = _opened(path)
    found: list[Any] = []
    rows = size = 0
    for batch in batches:
        if most is not None and (rows >= most or size > _MOST_BYTES):
            return pa.Table.from_batches(found, schema), False
        found.append(batch if most is None else batch[: most - rows])
        rows, size = rows + batch.num_rows, size + batch.nbytes
    whole = most is None or rows <= most
    return pa.Table.from_batches(found, schema), whole


def _opened(path: FilePath) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a file, and an iterator of the batches of its rows."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    file = pa.PythonFile(path.open("rb", buffering=0), mode="r")
    match _format_of(path):
        case "parquet":
            of_parquet = parquet.ParquetFile(file)
            return of_parquet.schema_arrow, of_parquet.iter_batches(batch_size=_ROWS)
        case "csv":
            options = csv.ReadOptions(block_size=_CSV_BYTES)
            parse = csv.ParseOptions(newlines_in_values=True)
            convert = csv.ConvertOptions(strings_can_be_null=True)
            reader = csv.open_csv(file, options, parse, convert)
            return reader.schema, iter(reader)
    try:
        of_file = pa.ipc.open_file(file)
    except pa.ArrowInvalid:  # Arrow's stream format has the same suffix
        file.seek(0)
        reader = pa.ipc.open_stream(file)
        return reader.schema, iter(reader)
    numbers = range(of_file.num_record_batches)
    return of_file.schema, map(of_file.get_batch, numbers)


def _joined(files: TableFiles, tables: Sequence[Any]) -> Any:
    """Return the rows of all files, without the labels of rows that pandas has stored.

    Raises:
        DatasetError: the files have other columns than the first one.
    """
    import pyarrow as pa

    first, *others = tables
    for path, other in zip(files.paths[1:], others, strict=True):
        if other.schema.names != first.schema.names:
            differing = set(other.schema.names) ^ set(first.schema.names)
            shown = ", ".join(map(repr, sorted(differing))) or "their order"
            raise DatasetError(
                f"{path}: other columns than {files.paths[0].name}: {shown}; name files of "
                "the same columns"
            )
    table = first
    try:
        if others:
            table = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise DatasetError(
            f"{files.where}: columns of several types: {error}"
        ) from None
    labels = index_columns(first)
    names = enumerate(table.schema.names)
    return table.select([at for at, name in names if name not in labels])
