"""A value is refused by every way of writing and reading, or by none.

The kinds are those of schemagen, and one that is declared next to this: see `interval.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import schemagen
import tensorflow as tf
from schemagen.codegen.python_source import known_names
from schemagen.runtime.kinds.registry import KINDS
from schemagen.runtime.shared.errors import DatasetError
from tfrecord_files import write_records

from .generated_records import Generated, importable, project_record, write_project
from .interval import Interval
from .test_open_split import check_column, plain
from .wrong_values import NOTHING, READERS, RECORDS, WRITERS, Field

PACKAGE = "contract_refused"

HEAD = """\
from typing import Annotated, Any

from schemagen import *

from contract.interval import Interval
"""

PLACE = "place"
"""The field of each record that says which row it is."""

FIELDS = [(record, name) for record, fields in RECORDS.items() for name in fields]


class Form(NamedTuple):
    """How rows give a value of a field."""

    field: Field
    name: str

    def of(self, value: Any) -> Any:
        """Return a value in this form.

        Raises:
            ValueError: it has no such form.
        """
        if self.name == "as it is":
            return value
        if self.name == "list":
            if not isinstance(value, np.ndarray):
                raise ValueError("no array")
            return value.tolist()
        array = np.array(value)  # refuses lists of different lengths
        if array.dtype.kind in "US" and array.ndim:
            array = np.array(value, object)
        elif array.dtype.kind not in "biuf":
            raise ValueError("no numbers")
        if self.name == "array of its dtype":
            cast = array.astype(tf.as_dtype(self.field.dtype).as_numpy_dtype)
            if not _are_equal(cast, array):
                raise ValueError("not of its dtype")
            array = cast
        return array[()]

    @classmethod
    def all(cls, field: Field) -> list[Form]:
        """Return all forms of a field."""
        names = ("as it is", "list", "array", "array of its dtype")
        return [cls(field, name) for name in names if field.dtype or name != names[-1]]


class Case:
    """A record, and what becomes of its right and wrong rows.

    Args:
        name: of its class.
        generated: its code.
        directory: for files.
        writers: closes its writer.
    """

    def __init__(
        self, name: str, generated: Generated, directory: Path, writers: ExitStack
    ) -> None:
        self.fields = RECORDS[name]
        self.serializer = generated.serializer
        self.good = {field: each.right[0] for field, each in self.fields.items()}
        self.good[PLACE] = 0
        self._generated = generated
        self._directory = directory
        self._path = directory / "read" / "some.tfrecord"
        self._writer = writers.enter_context(
            self.serializer.Writer(directory, "of_writer")
        )
        self._writer.write(**self.good)  # it refuses to publish nothing

    # Writing.

    def written(self, field: str, value: Any) -> dict[str, bool]:
        """Return which ways of writing take a value of a field; others refuse its row.

        What is taken in several forms is published in one of them, since that takes long.
        """
        found: dict[str, bool] = {}
        for form in Form.all(self.fields[field]):
            try:
                given = form.of(value)
            except (ValueError, OverflowError):
                continue
            row = {**self.good, field: given}
            good = self.good
            try:
                good = {**good, field: form.of(good[field])}
                self.serializer.serialize(**good)
            except ValueError:  # no value of this field has this form
                good = self.good
            ways = self._ways(field, good, row)
            if form.name == "as it is" or not any(ways.values()):
                ways |= self._datasets(field, good, row)
            found |= {f"{way}, {form.name}": taken for way, taken in ways.items()}
        return found

    def _ways(
        self, field: str, good: dict[str, Any], row: dict[str, Any]
    ) -> dict[str, bool]:
        serializer, rows = self.serializer, [good, row, good]
        columns = {name: [each[name] for each in rows] for name in good}
        alone = {name: [each] for name, each in row.items()}
        found = {
            "serialize": _taken(None, serializer.serialize, **row),
            "serialize_batch of one": _taken(0, serializer.serialize_batch, **alone),
        }
        of_column = {"list": columns[field], "array": _as_array(columns[field])}
        found["write"] = _taken(None, self._writer.write, **row)
        for shape, column in of_column.items():
            if column is not None:
                for call in (serializer.serialize_batch, self._writer.write_batch):
                    given = {**columns, field: column}
                    found[f"{call.__name__} of a {shape}"] = _taken(1, call, **given)
        return found

    def _datasets(
        self, field: str, good: dict[str, Any], row: dict[str, Any]
    ) -> dict[str, bool]:
        rows = [good, row, good]
        columns = {name: [each[name] for each in rows] for name in good}
        sources: dict[str, Any] = {"rows": rows}
        if len({*map(_types_of, columns[field])}) == 1:  # frames would make it one
            sources |= {"pandas": _frame(columns), "Arrow": _table(columns)}
        write = partial(self.serializer.write_dataset, overwrite=True, index=False)
        return {
            f"write_dataset of {name}": _taken(
                1, write, source, self._directory, "of_dataset"
            )
            for name, source in sources.items()
            if source is not None
        }

    # Reading.

    @cached_property
    def records(self) -> dict[tuple[str, str, int], bytes]:
        """The records of all right and wrong values.

        By "right" or "wrong", the field, and the number of the value.
        """
        found: dict[tuple[str, str, int], bytes] = {}
        for name, field in self.fields.items():
            for number, value in enumerate(field.right):
                row = {**self.good, name: value, PLACE: len(found)}
                found["right", name, number] = self.serializer.serialize(**row)
            for number, wrong in enumerate(field.wrong):
                if wrong.stored is not NOTHING:
                    good = self.serializer.serialize(**{**self.good, PLACE: len(found)})
                    data = _with(good, wrong.features(name))
                    found["wrong", name, number] = data
        return found

    @cached_property
    def split(self) -> Any:
        """The records in a file, opened."""
        self._path.parent.mkdir()  # apart from what is written
        write_records(self._path, self.records.values())
        return self._generated.module("reader").open_split(self._path)

    @cached_property
    def read(self) -> dict[str, dict[int, Any]]:
        """What each reader delivers, by the record's place; None of what it refuses."""
        split, count = self.split, len(self.records)
        datasets = self._generated.module("pipeline").make_dataset(
            self._path, batch_size=1, info=True, on_corrupt="skip"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of records that are left out
            tensors = {int(each[PLACE][0]): info for each, info in datasets}
        findings = schemagen.verify(
            self._path, record=self._generated.record, examples=count
        ).findings
        refused = {each.record for some in findings for each in some.examples}
        rows = {at: _or_none(split, at) for at in range(count)}
        batches = {at: _or_none(split, [0, at]) for at in range(count)}
        return {
            "open_split": _without_none(rows),
            "open_split of batches": _without_none(batches),
            "make_dataset": tensors,
            "verify": {at: None for at in range(count) if at not in refused},
        }

    def place(self, what: str, field: str, number: int) -> int:
        """Return where a record is in the file."""
        return list(self.records).index((what, field, number))


def _or_none(split: Any, at: Any) -> Any:
    try:
        return split[at]
    except DatasetError:
        return None


def _without_none(found: Mapping[int, Any]) -> dict[int, Any]:
    return {at: value for at, value in found.items() if value is not None}


def _taken(row: int | None, call: Callable[..., Any], *args: Any, **named: Any) -> bool:
    """Return whether a way of writing takes a row; its error has to name the row.

    Raises:
        Exception: any other error than a RecordError.
    """
    try:
        call(*args, **named)
    except ValueError as error:
        if type(error).__name__ != "RecordError":
            raise
        refused: Any = error
    else:
        return True
    assert refused.row == row
    assert refused.found
    assert refused.expected
    return False


def _as_array(values: list[Any]) -> Any:
    """Return the values of a column as one array; None if they are not alike."""
    try:
        arrays = [np.array(value) for value in values]
    except (ValueError, OverflowError):
        return None
    alike = len({(each.dtype, each.shape) for each in arrays}) == 1
    return np.stack(arrays) if alike and arrays[0].dtype.kind in "biufMmV" else None


def _frame(columns: Mapping[str, list[Any]]) -> Any:
    """Return columns as a frame of pandas; None if it cannot hold them, or has missing values."""
    try:
        frame = pd.DataFrame({name: [*column] for name, column in columns.items()})
    except UnicodeEncodeError:  # pandas refuses it
        return None
    return None if frame.isna().to_numpy().any() else frame


def _table(columns: Mapping[str, list[Any]]) -> Any:
    """Return columns as a table of Arrow; None if it has no types for them."""
    try:
        return pa.table({name: pa.array(column) for name, column in columns.items()})
    except (pa.ArrowException, OverflowError, UnicodeEncodeError, TypeError):
        return None


def _types_of(value: Any) -> Any:
    """Return the type of a value, and of what is in it."""
    if isinstance(value, np.ndarray):
        return str(value.dtype) if value.dtype != object else _types_of(value.tolist())
    items = value if isinstance(value, (list, tuple)) else ()
    return type(value), frozenset(map(_types_of, items))


def _are_equal(cast: Any, array: Any) -> bool:
    """Return whether numbers are the same in another dtype; bools are no numbers."""
    if (cast.dtype.kind == "b") != (array.dtype.kind == "b"):
        return False
    if array.dtype.kind == "f":
        return np.array_equal(cast.astype(array.dtype), array, equal_nan=True)
    return bool(cast.tolist() == array.tolist())


def _with(data: bytes, features: Mapping[str, Any]) -> bytes:
    """Return a record with other features, or feature lists."""
    has_lists = any(isinstance(each, list) for each in features.values())
    kind = tf.train.SequenceExample if has_lists else tf.train.Example
    message = kind.FromString(data)
    for key, stored in features.items():
        if has_lists:
            steps = tf.train.FeatureList(feature=stored)
            message.feature_lists.feature_list[key].CopyFrom(steps)
        else:
            message.features.feature[key].CopyFrom(stored)
    found: bytes = message.SerializeToString()
    return found


def source_of(record: str) -> str:
    """Return a class whose fields have no part in a model."""
    fields = RECORDS[record]
    has_steps = any(each.declared.startswith("Steps(") for each in fields.values())
    lines = "".join(
        f"    {name}: Annotated[{field.type}, {_of_role(field.declared, 'info')}]\n"
        for name, field in fields.items()
    )
    place = _of_role('Scalar("int64")', "input")
    return (
        f"\n\nclass {record}({'SequenceRecord' if has_steps else 'Record'}):\n{lines}"
        f"    {PLACE}: Annotated[int, {place}]\n"
    )


def _of_role(declared: str, role: str) -> str:
    given = declared.removesuffix(")")
    return f"{given}{'' if given.endswith('(') else ', '}role={role!r})"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Case]]:
    """All records, by class name; `Interval` is a kind as long as they are used."""
    root = tmp_path_factory.mktemp("refused") / "project"
    KINDS["Interval"] = Interval
    known_names.cache_clear()
    try:
        write_project(root, HEAD + "".join(map(source_of, RECORDS)), PACKAGE)
        with importable(root), ExitStack() as writers:
            yield {
                name: Case(
                    name,
                    project_record(root, PACKAGE, name),
                    tmp_path_factory.mktemp("data"),
                    writers,
                )
                for name in RECORDS
            }
    finally:
        del KINDS["Interval"]
        known_names.cache_clear()


def _each(side: str) -> Iterator[Any]:
    """Yield the wrong values that a row, "value", or a file, "stored", can have."""
    for record, name in FIELDS:
        for number, wrong in enumerate(RECORDS[record][name].wrong):
            if getattr(wrong, side) is NOTHING:
                continue
            yield pytest.param(
                record,
                name,
                number,
                id=f"{record}.{name}-{wrong.what}",
            )


@pytest.mark.parametrize(("record", "name", "number"), [*_each("value")])
def test_a_wrong_value_is_refused_by_all_ways_of_writing(
    cases: dict[str, Case], record: str, name: str, number: int
) -> None:
    """As a list, an array or a scalar, in a row, in a column, in a frame."""
    wrong = RECORDS[record][name].wrong[number]
    written = cases[record].written(name, wrong.value)
    taken = {way for way, is_taken in written.items() if is_taken}
    assert taken == ({*written} if WRITERS in wrong.taken else set())


@pytest.mark.parametrize(("record", "name", "number"), [*_each("stored")])
def test_a_wrong_record_is_refused_by_all_readers(
    cases: dict[str, Case], record: str, name: str, number: int
) -> None:
    """But for what the documentation says that a reader does not look at."""
    case = cases[record]
    place = case.place("wrong", name, number)
    taken = {reader for reader, records in case.read.items() if place in records}
    expected = {*READERS} & {*RECORDS[record][name].wrong[number].taken}
    if "open_split" in expected:
        expected.add("open_split of batches")
    assert taken == expected


@pytest.mark.parametrize(
    ("record", "name"), [pytest.param(*each, id=".".join(each)) for each in FIELDS]
)
def test_a_right_value_is_taken_by_all_ways_and_read_by_all_readers(
    cases: dict[str, Case], record: str, name: str
) -> None:
    """And both readers give it back."""
    case = cases[record]
    field = case.fields[name]
    for number, value in enumerate(field.right):
        written = case.written(name, value)
        assert written["serialize, as it is"]
        for form in Form.all(field):
            of_form = {w: t for w, t in written.items() if w.endswith(f", {form.name}")}
            assert len({*of_form.values()}) <= 1, of_form
        place = case.place("right", name, number)
        assert all(place in records for records in case.read.values())
        read = field.read or field.right
        row = case.read["open_split"][place][name]
        assert repr(plain(row)) == repr(plain(read[number]))
        column = case.split[[place]][name]
        check_column(column, case.read["make_dataset"][place][name], name)
