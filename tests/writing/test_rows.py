"""What `write_dataset` takes for rows, and what it says of rows that it does not take."""

from __future__ import annotations

import json
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import Row, contents, row, rows
from published_splits import published

from generated import DatasetError, RecordError
from generated.digit.serializer import write_dataset

# Sources.


class ByIndex:
    """Rows by index; for some of them an error is raised instead."""

    def __init__(self, count: int, errors: dict[int, Exception] | None = None) -> None:
        self._count = count
        self._errors = errors or {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Row:
        if index in self._errors:
            raise self._errors[index]
        return row(index)


def by_function(
    count: int, errors: dict[int, Exception] | None = None
) -> Callable[[], Iterator[Row]]:
    """The source of a shard."""
    source = ByIndex(count, errors)
    return lambda: (source[index] for index in range(count))


class IterableDataset:
    """As PyTorch's: it has a length and an index that only says no."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Row]:
        return iter(rows(6))


class OfUnknownLength(IterableDataset):
    """As tf.data's: it has a length that is sometimes not known."""

    def __len__(self) -> int:
        raise TypeError("The dataset length is unknown.")


class OldSequence:
    """Rows by index until there are no more, without a length."""

    def __getitem__(self, index: int) -> Row:
        return rows(6)[index]


class Pairs:
    """Gives pairs of names and values, as instances of pydantic's classes do."""

    def __init__(self, fields: Row) -> None:
        self._fields = fields

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from self._fields.items()

    def __reduce__(self) -> Any:
        raise AssertionError("sent as a dict instead")


@pytest.mark.parametrize(
    ("source", "length"),
    [
        (tuple(rows(6)), 6),
        (np.array(rows(6), object), 6),
        (deque(rows(6)), 6),
        (ByIndex(6), 6),
        (dict(enumerate(rows(6))).values(), 6),
        (map(row, range(6)), None),
        (IterableDataset(), 6),
        (OfUnknownLength(), None),
        (OldSequence(), None),
        ([by_function(6)], None),
        ([Pairs(each) for each in rows(6)], 6),
        ([list(each.items()) for each in rows(6)], 6),
    ],
)
def test_sources_of_equal_rows_make_equal_files(
    tmp_path: Path, source: Any, length: int | None
) -> None:
    """Their lengths are known where they have one."""
    totals = []
    write_dataset(rows(6), tmp_path / "a", "train", workers=2)
    write_dataset(
        source, tmp_path / "b", "train", progress=lambda at: totals.append(at.total)
    )
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert totals == [length]


class Columns:
    """Stands for an instance of a library's class, which has columns."""

    def __iter__(self) -> Iterator[str]:
        return iter(["scan"])


def _columns(name: str, **attributes: Any) -> Any:
    return type(name, (Columns,), attributes)()


_NOT_ROWS = [
    ({"scan": [1, 2]}, "a dict"),
    ("rows.csv", "str 'rows.csv'"),
    (b"rows", "bytes b'rows'"),
    (_columns("DataFrame", iloc=()), "a DataFrame"),
    (_columns("Frame", to_dicts=len), "a Frame"),
    (_columns("Table", to_pylist=len), "a Table"),
    (_columns("Model", model_fields={}), "a Model"),
    (lambda: rows(1), "a function"),
    (5, "int 5"),
    (None, "None"),
    (Path("rows"), "a PosixPath"),
]


@pytest.mark.parametrize(("source", "found"), _NOT_ROWS)
def test_what_is_no_source_is_refused(tmp_path: Path, source: Any, found: str) -> None:
    """At once, also as the source of a shard."""
    with pytest.raises(TypeError, match=f"source is {found},"):
        write_dataset(source, tmp_path / "data", "train")
    assert not (tmp_path / "data").exists()
    several = [by_function(1), lambda: source]
    with pytest.raises(TypeError, match=f"^shard 1: .* {found},"):
        write_dataset(several, tmp_path, "train")
    assert published(tmp_path) == []


def test_callables_and_rows_do_not_mix(tmp_path: Path) -> None:
    """A list is of callables or of rows."""
    with pytest.raises(TypeError, match=" 1 a dict"):
        write_dataset([by_function(1), row(0)], tmp_path, "train")


def _joined(function: Callable[[], Iterator[Row]]) -> Iterable[Row]:
    return function()


_UNREADABLE = RecordError("photo", "half a file", "a whole one")
_FORMS: dict[str, Callable[..., Any]] = {
    "index": ByIndex,
    "stream": lambda *them: _joined(by_function(*them)),
    "shards": lambda *them: [by_function(2), by_function(*them)],
}


@pytest.mark.parametrize(
    ("form", "place", "workers"),
    [
        ("index", " row 5", 1),
        ("index", " row 5", 2),
        ("stream", " row 5", 1),
        ("shards", " shard 1, row 5", 1),
        ("shards", " shard 1, row 5", 2),
    ],
)
def test_an_error_of_a_source_comes_as_it_was_raised(
    tmp_path: Path, form: str, place: str, workers: int
) -> None:
    """With a note that says how far the source was; on_error="skip" is not for it."""
    errors = {5: OSError(5, "Input/output error", "17.jpg")}
    with pytest.raises(OSError, match=r"17\.jpg") as caught:
        write_dataset(
            _FORMS[form](9, errors),
            *(tmp_path, "train"),
            **{"workers": workers, "on_error": "skip"},
        )
    assert (caught.value.errno, caught.value.filename) == (5, "17.jpg")
    assert any(note.endswith(place) for note in caught.value.__notes__)
    assert published(tmp_path) == []


def test_what_a_function_for_a_shard_raises(tmp_path: Path) -> None:
    """Such as one that takes arguments."""
    with pytest.raises(TypeError) as caught:
        write_dataset([lambda index: rows(index)], tmp_path, "train")
    assert any("shard 0" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("form", ["stream", "shards"])
def test_an_unreadable_row_ends_a_generator(tmp_path: Path, form: str) -> None:
    """One that raises gives nothing more, also where rows may be left out."""
    with pytest.raises(RecordError, match="row 5") as caught:
        write_dataset(
            _FORMS[form](9, {5: _UNREADABLE}), tmp_path, "train", on_error="skip"
        )
    assert (caught.value.row, caught.value.field) == (5, "photo")
    assert caught.value.shard == (1 if form == "shards" else None)
    assert caught.value.__cause__ is not None


# Rows.


def _with(**fields: Any) -> Row:
    return row(3) | fields


def _without(name: str) -> Row:
    return {key: value for key, value in row(3).items() if key != name}


class Instance(Pairs):
    """Stands for an instance of the schema's class as it is now."""

    model_fields: dict[str, Any] = {}


_REFUSED: list[tuple[Any, type[Exception], str, str]] = [
    (_with(digit=17), RecordError, "digit", "found class id 17"),
    (_with(image=np.zeros((8, 9, 1), np.uint8)), RecordError, "image", "[8, 9, 1]"),
    (_without("digit"), TypeError, "digit", "no value"),
    (_with(scam=1), TypeError, "scam", "did you mean 'scan'?"),
    (_with(xyz=1), TypeError, "xyz", "schemagen generate"),
    ({**row(3), 2: 3}, TypeError, "2", "schemagen generate"),
    (Instance(_with(scam=1)), TypeError, "scam", "schemagen generate"),
    (Instance(_without("digit")), TypeError, "digit", "schemagen generate"),
]


@pytest.mark.parametrize(("wrong", "error", "field", "words"), _REFUSED)
def test_a_wrong_row_is_named_or_left_out(
    tmp_path: Path, wrong: Any, error: type[Exception], field: str, words: str
) -> None:
    """By its position and field, and in the words of the error in the report."""
    good = rows(3)
    for source, place, shard in (
        ([*good, wrong], "row 3", None),
        ([by_function(2), lambda: iter([*good, wrong])], "shard 1, row 3", 1),
    ):
        with pytest.raises(error) as caught:
            write_dataset(source, tmp_path / "none", "train")
        said = str(caught.value)
        assert said.startswith(f"{place}: field '{field}': found ")
        assert words in said
        assert published(tmp_path / "none") == []
        with pytest.warns(RuntimeWarning, match=rf"1 row was .*1 for field '{field}'"):
            count = write_dataset(
                source,
                *(tmp_path / "data", "train"),
                **{"on_error": "skip", "overwrite": True, "refused": tmp_path / "rows"},
            )
        assert count == (3 if shard is None else 5)
        [line] = map(json.loads, (tmp_path / "rows").read_text("utf-8").splitlines())
        assert (line["row"], line.get("shard"), line["field"]) == (3, shard, field)
        assert {"found", "expected", "advice"} <= set(line)
        assert line["found"] in said
        assert line["expected"] in said
        assert line["advice"] in said


class Broken:
    """A value, or a row, whose own code has a mistake."""

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        raise TypeError("a mistake in somebody's code")

    keys = __array__


@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ((np.zeros(3), 5), "row 3: found a tuple"),
        (5, "row 3: found int 5"),
        (None, "row 3: found None"),
        ("text", "row 3: found str 'text'"),
        (np.zeros((2, 3)), r"row 3: found float64 \[2, 3\]"),
        (Broken(), "a mistake in somebody's code"),
    ],
)
def test_what_is_no_row_at_all_is_never_left_out(
    tmp_path: Path, wrong: Any, words: str, on_error: Any
) -> None:
    """It is a mistake of the source; one in somebody's code has a note of the place."""
    source = [lambda: iter([*rows(3), wrong])]
    with pytest.raises(TypeError, match=words) as caught:
        write_dataset(source, tmp_path, "train", on_error=on_error)
    named = [str(caught.value), *getattr(caught.value, "__notes__", [])]
    assert any("shard 0, row 3" in text for text in named)
    assert published(tmp_path) == []


def test_a_value_whose_own_code_fails_is_named_or_left_out(tmp_path: Path) -> None:
    """Its error is that of the value, so the other rows are written."""
    source = [*rows(3), _with(moments=Broken())]
    words = r"row 3: field 'moments': found a Broken, which raises .*a mistake"
    with pytest.raises(RecordError, match=words) as caught:
        write_dataset(source, tmp_path / "none", "train")
    assert "a mistake in somebody's code" in caught.value.found
    with pytest.warns(RuntimeWarning, match="1 row was .*1 for field 'moments'"):
        assert write_dataset(source, tmp_path, "train", on_error="skip") == 3


# The report of rows that are left out.


def _some_wrong(*wrong: int, count: int = 9) -> list[Row]:
    return [row(n) | ({"digit": 17} if n in wrong else {}) for n in range(count)]


def _skip(source: Any, directory: Path, report: Any, **options: Any) -> int:
    return write_dataset(
        *(source, directory, "train"), on_error="skip", refused=report, **options
    )


def test_an_unreadable_row_by_index_is_left_out(tmp_path: Path) -> None:
    """A RecordError of __getitem__ stands for its row, and the next can be had."""
    report = tmp_path / "rows"
    with pytest.warns(RuntimeWarning, match="field 'photo'"):
        assert _skip(ByIndex(9, {5: _UNREADABLE}), tmp_path / "data", report) == 8
    assert json.loads(report.read_text())["row"] == 5


def test_the_warning_counts_by_field_and_shows_the_first_rows(tmp_path: Path) -> None:
    """With a report it names the file, and otherwise the option for one."""
    source = [*_some_wrong(1, 2, 4, 5), _with(scam=1)]
    for report in (None, tmp_path / "rows"):
        with pytest.warns(RuntimeWarning) as caught:
            _skip(source, tmp_path / "data", report, overwrite=True)
        [warning] = caught
        first, *shown, rest = str(warning.message).splitlines()
        assert "5 rows" in first
        assert "4 for field 'digit', 1 for field 'scam'" in first
        assert ("refused=" if report is None else str(report)) in first
        assert [line.split(":")[0].strip() for line in shown] == [
            *("row 1", "row 2", "row 4")
        ]
        assert rest.strip() == "and 2 more"
        assert warning.filename == __file__


def test_an_earlier_report_is_replaced(tmp_path: Path) -> None:
    """An empty file says that there was nothing, without a warning."""
    report = tmp_path / "rows"
    report.write_text("of an earlier run\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _skip(rows(9), tmp_path / "data", report)
    assert report.read_text() == ""


@pytest.mark.parametrize("path", ["gs://bucket/rows", "", os.devnull])
def test_a_report_that_is_no_local_file_is_refused(tmp_path: Path, path: str) -> None:
    """What is there is read and may be replaced: never a directory, device or pipe."""
    path = path or str(tmp_path)
    with pytest.raises(DatasetError, match=r"^refused=") as caught:
        _skip(rows(1), tmp_path / "data", path)
    assert repr(path) in str(caught.value)
