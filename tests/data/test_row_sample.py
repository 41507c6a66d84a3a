"""The sample of rows: what records have together, however they are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from schemagen.data.one_pass import FileGroup, Wanted, read_data
from schemagen.data.sources import find_data
from schemagen.data.statistics.samples import (
    MISSING,
    MOST_ROWS,
    NUMBER,
    OTHER,
    TEXT,
    RowSample,
)

from .conftest import Limits
from .messages import Values, example, sequence_example, write_file

KEYS = ("number", "text", "never")


def sampled(
    directory: Path, keys: Sequence[str] = KEYS, workers: int = 1
) -> RowSample | None:
    """Return the sample of the records of the only split."""
    data = find_data(directory)
    [(split, files)] = data.splits.items()
    groups = [FileGroup(split, None, files)]
    wanted = Wanted(statistics=True, rows=tuple(keys))
    found = read_data(data, groups, wanted, workers=workers, progress=None)
    return found.statistics[split].rows


def sample_of(directory: Path, keys: Sequence[str] = KEYS) -> RowSample:
    """Return the sample, which is there."""
    found = sampled(directory, keys)
    assert found is not None
    return found


def write(directory: Path, messages: Sequence[bytes], files: int = 1) -> Path:
    """Write records to files of one split, in turn."""
    for at in range(files):
        path = directory / f"train-{at:05}-of-{files:05}.tfrecord"
        write_file(path, messages[at::files])
    return directory


def cells(sample: RowSample, key: str) -> list[tuple[int, Any]]:
    """Return what is held, and the number or the text, of each record."""
    found = sample.cells[key]
    values = zip(found.held, found.numbers, found.texts, strict=True)
    return [
        (int(held), {NUMBER: float(number), TEXT: text}.get(held))
        for held, number, text in values
    ]


def same(one: RowSample | None, other: RowSample | None) -> bool:
    """Compare samples bit by bit."""
    assert one is not None
    assert other is not None
    for key in KEYS:
        for name in ("numbers", "counts", "means"):
            own, others = (getattr(each.cells[key], name) for each in (one, other))
            assert own.tobytes() == others.tobytes()
        assert cells(one, key) == cells(other, key)
    return np.array_equal(one.priorities, other.priorities)


def test_workers_and_parts_change_nothing(tmp_path: Path, limits: Limits) -> None:
    """Of more records than are kept: files are read together, alone, or cut."""
    messages = [
        example({"number": at * 0.5, "text": f"word {at % 7}" * (at % 3)})
        for at in range(5000)
    ]
    data = write(tmp_path, messages, files=9)
    usual = sampled(data)
    limits.task(20_000)
    assert same(sampled(data), usual)
    assert same(sampled(data, workers=2), usual)
    limits.part(2000)
    assert same(sampled(data, workers=2), sampled(data))


def test_values_of_a_record_stay_together_and_are_spread_over_all(
    tmp_path: Path,
) -> None:
    """At most so many records are kept."""
    messages = [example({"number": at, "text": f"{at}"}) for at in range(3 * MOST_ROWS)]
    found = sample_of(write(tmp_path, messages, files=2))
    numbers = found.cells["number"].numbers.astype(int)
    assert len(found) == len(set(numbers)) == MOST_ROWS
    assert [int(text) for text in found.cells["text"].texts] == numbers.tolist()
    assert (np.diff(found.priorities.astype(object)) > 0).all()
    assert np.histogram(numbers, 4, (0, 3 * MOST_ROWS))[0].min() > MOST_ROWS / 5


def test_only_single_numbers_and_short_texts_are_kept(tmp_path: Path) -> None:
    """Of lists, the number of values and their mean; an empty one has no value."""
    rows: dict[str, tuple[Values, tuple[int, Any], int, float | None]] = {
        "float": (1.5, (NUMBER, 1.5), 1, 1.5),
        "integer": (2**53, (NUMBER, 2.0**53), 1, 2.0**53),
        "two numbers": ([1, 2], (OTHER, None), 2, 1.5),
        "infinities": ([1.0, np.inf, -np.inf], (OTHER, None), 3, None),
        "empty list": (np.empty(0, np.float32), (MISSING, None), 0, None),
        "missing": (None, (MISSING, None), -1, None),
        "text": ("é", (TEXT, "é".encode()), 1, None),
        "empty text": ("", (TEXT, b""), 1, None),
        "longest text": ("x" * 64, (TEXT, b"x" * 64), 1, None),
        "longer text": ("x" * 65, (OTHER, None), 1, None),
        "two texts": (["a", "b"], (OTHER, None), 2, None),
        "bytes": (b"\xff\x00\x01", (TEXT, b"\xff\x00\x01"), 1, None),
    }
    values = {key: value for key, (value, *_) in rows.items()}
    others = example(dict.fromkeys(rows, 1.0))  # so that no column is regular
    found = sample_of(write(tmp_path, [example(values), others, example({})]), [*rows])
    for key, (_, expected, count, mean) in rows.items():
        assert cells(found, key)[0] == expected, key
        assert sorted(cells(found, key)[1:]) == [(MISSING, None), (NUMBER, 1.0)]
        assert found.cells[key].counts[0] == count
        assert sorted(found.cells[key].counts[1:]) == [-1, 1]
        means = found.cells[key].means[0]
        assert np.isnan(means) if mean is None else means == mean


def test_steps_are_counted_and_their_values_have_a_mean(tmp_path: Path) -> None:
    """Of all steps together; a feature list without a step is there."""
    rows: list[tuple[dict[str, list[Values]], int, float]] = [
        ({"number": [[1.0, 2.0], [6.0]]}, 2, 3.0),
        ({"number": [None, 5, 6]}, 3, 5.5),
        ({"number": [b"x"]}, 1, np.nan),
        ({"number": []}, 0, np.nan),
        ({}, -1, np.nan),
        ({"number": [[4.0]]}, 1, 4.0),
    ]
    messages = [sequence_example({}, lists) for lists, _, _ in rows]
    found = sample_of(write(tmp_path, messages), ["number"]).cells["number"]
    order = sample_of(
        write(tmp_path / "at", [example({"number": n}) for n in range(6)])
    )
    at = order.cells["number"].numbers.astype(int)
    counts, means = (np.array([row[n] for row in rows]) for n in (1, 2))
    np.testing.assert_array_equal(found.counts, counts[at])
    np.testing.assert_array_equal(found.means, means[at])
    held = np.where(counts < 0, MISSING, OTHER)
    np.testing.assert_array_equal(found.held, held[at])


def test_records_that_cannot_be_read_are_not_in_the_sample(tmp_path: Path) -> None:
    """The others are, in place of them."""
    messages = [example({"number": at}) for at in range(40)]
    messages[3:30:3] = [b"\xff"] * 9
    found = sample_of(write(tmp_path, messages))
    expected = sorted(set(range(40)) - set(range(3, 30, 3)))
    assert sorted(found.cells["number"].numbers.tolist()) == expected


def test_no_sample_is_taken_unless_it_is_wanted(tmp_path: Path) -> None:
    assert sampled(write(tmp_path, [example({"number": 1})]), ()) is None
