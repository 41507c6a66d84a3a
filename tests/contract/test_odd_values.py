"""Whatever object a field is given, its row is written or refused, in all ways alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tfrecord_files import read_records

from .generated_records import Generated, importable, project_record, write_project
from .odd_values import ODD
from .strict import GOOD, GOOD_CLIP, columns_of

Records = dict[str, Generated]

SOURCE = """\
from datetime import datetime, timedelta
from typing import Annotated

import numpy as np

from schemagen import *


class Related(Record):
    boxes: Annotated[np.ndarray, VarLen("float32", item_shape=(4,), group="objects",
        box=("ymin", "xmin", "ymax", "xmax"))]
    kinds: Annotated[list[int], VarLen("int64", group="objects")]
    names: Annotated[list[str] | None, VarLen("string", group="objects")] = None
    loose: Annotated[np.ndarray | None, Vector((2, 2), finite=False)] = None
    limited: Annotated[float, Scalar("float64", min=0, max=9)]
    score: float | None = None
    at: Annotated[datetime | None, Scalar("int64", unit="us")] = None
    lasts: Annotated[timedelta | None, Scalar("int64", unit="us")] = None
    seen: Annotated[int, Scalar("int64", unit="ns")]


class Unrelated(Record):
    number: int
    text: str
    kinds: Annotated[list[int], VarLen("int64", group="objects")]
    names: Annotated[list[str] | None, VarLen("string", group="objects")] = None
    at: Annotated[datetime | None, Scalar("int64", unit="us")] = None
"""

RELATED: dict[str, Any] = {
    "boxes": [[0.0, 0.0, 0.5, 0.5]],
    "kinds": [1],
    "names": ["a"],
    "loose": [[1.0, 2.0], [3.0, 4.0]],
    "limited": 1.5,
    "score": 0.5,
    "at": None,
    "lasts": None,
    "seen": 7,
}
UNRELATED: dict[str, Any] = {
    "number": 1,
    "text": "a",
    "kinds": [1],
    "names": ["a"],
    "at": None,
}
GOOD_ROWS = {
    "Strict": GOOD,
    "Clip": GOOD_CLIP,
    "Related": RELATED,
    "Unrelated": UNRELATED,
}
# A nested value is one field of a row, and a column for each of its members.
FIELDS = [
    f"{record}.{field}"
    for record, row in GOOD_ROWS.items()
    for field in (*row, *(("place.x", "place.spot") if "place" in row else ()))
]
PARTS = 24


def _cases() -> Iterator[Any]:
    """Yield each field with all odd values, those of the largest record in parts.

    Of these parts `make test` runs one for each field, another one for the next field.
    """
    for number, path in enumerate(FIELDS):
        parts = PARTS if path.startswith("Strict.") else 1
        for part in range(parts):
            is_quick = part == number % parts
            yield pytest.param(
                path,
                [*ODD][part::parts],
                id=f"{path}-{part}",
                marks=[] if is_quick else pytest.mark.slow,
            )


@pytest.fixture(scope="module")
def records(strict: Records, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The serializers of all records, by class name."""
    root = tmp_path_factory.mktemp("odd") / "project"
    write_project(root, SOURCE, "contract_odd")
    with importable(root):
        related = {
            name: project_record(root, "contract_odd", name)
            for name in ("Related", "Unrelated")
        }
        yield {name: each.serializer for name, each in {**strict, **related}.items()}


def _row(good: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    """Return a row with another value of a field, which may be nested."""
    outer, _, inner = field.partition(".")
    return {**good, outer: {**good[outer], inner: value} if inner else value}


def _outcome(
    row: int | None, call: Callable[..., Any], *args: Any, **named: Any
) -> Any:
    """Return what a call returns; or the field of its RecordError, which names the row.

    Raises:
        Exception: any other error.
    """
    try:
        return call(*args, **named)
    except ValueError as error:
        if type(error).__name__ != "RecordError":
            raise
        refused: Any = error
    assert refused.row == row
    assert all((refused.field, refused.found, refused.expected, str(refused)))
    return {"field": refused.field}


@pytest.mark.parametrize(("path", "names"), [*_cases()])
def test_an_odd_value_is_refused_by_field_and_row_or_written_in_all_ways_alike(
    records: Any, tmp_path: Path, path: str, names: list[str]
) -> None:
    """No other error than a RecordError, so `on_error="skip"` leaves out this row alone."""
    record, _, field = path.partition(".")
    serializer, good = records[record], GOOD_ROWS[record]
    plain = serializer.serialize(**good)
    outcomes, written = {}, []
    with warnings.catch_warnings(), serializer.Writer(tmp_path, "writer") as writer:
        warnings.simplefilter("ignore")  # of names of classes that look like ids
        for name in names:
            make = ODD[name]
            outcome = _outcome(None, serializer.serialize, **_row(good, field, make()))
            outcomes[name] = outcome
            is_written = isinstance(outcome, bytes)
            again = _outcome(None, writer.write, **_row(good, field, make()))
            assert again == (None if is_written else outcome), name
            written += [outcome] * is_written
            if field == "place":
                continue
            columns = columns_of(good, _row(good, field, make()))
            batch = _outcome(1, serializer.serialize_batch, **columns)
            assert batch == ([plain, outcome] if is_written else outcome), name
            columns = columns_of(good, _row(good, field, make()))
            batch = _outcome(1, writer.write_batch, **columns)
            assert batch == (None if is_written else outcome), name
            written += [plain, outcome] * is_written
        writer.write(**good)
    assert _records(tmp_path, "writer") == [*written, plain]

    rows = [_row(good, field, ODD[name]()) for name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the rows that are left out
        serializer.write_dataset([good, *rows], tmp_path, "rows", on_error="skip")
    kept = [each for each in outcomes.values() if isinstance(each, bytes)]
    assert _records(tmp_path, "rows") == [plain, *kept]


@pytest.mark.parametrize("field", ["number", "text"])
def test_an_odd_key_is_refused_by_field_and_row(
    records: Any, tmp_path: Path, field: str
) -> None:
    """Keys are read before the other fields are looked at."""
    serializer = records["Unrelated"]
    other = {**UNRELATED, "number": 99, "text": "other"}
    for name, make in ODD.items():
        rows = [other, _row(UNRELATED, field, make())]
        outcome = _outcome(
            1,
            serializer.write_dataset,
            rows,
            tmp_path / name,
            "train",
            shuffle_seed=1,
            key_field=field,
        )
        assert outcome in (2, {"field": field}), name


def _records(directory: Path, split: str) -> list[bytes]:
    (shard,) = directory.glob(f"{split}-*.tfrecord")
    return read_records(shard)
