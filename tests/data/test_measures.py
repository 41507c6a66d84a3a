"""Every fact of `inspect`, compared with what numpy says of the same rows, unit included."""

from __future__ import annotations

import importlib
import io
import wave
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import schemagen
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from schemagen import Audio, Image, Label, Scalar, SequenceRecord, Steps, Text, VarLen
from tiers import examples

from .messages import example, sequence_example, write_data, write_file

DISTINCT = 1024  # as docs/inspect.md states it

KINDS = ("cat", "dog", "owl")


class Row(SequenceRecord):
    """Values of all sorts."""

    n: int | None = None
    x: Annotated[float | None, Scalar("float32", finite=False)] = None
    xs: Annotated[list[float], VarLen("float32")]
    word: Annotated[str, Text()]
    kind: Annotated[int, Label(classes=KINDS)]
    photo: Annotated[np.ndarray, Image((None, None, 1), encoding="png")]
    sound: Annotated[bytes, Audio(8000, channels=2)]
    pace: Annotated[list[float], Steps(Scalar("float32"))]


FLOATS = st.floats(-1e9, 1e9, width=32) | st.sampled_from([0.0, -0.0, 1.5])
ANY_FLOATS = FLOATS | st.sampled_from([float("nan"), float("inf"), -float("inf")])
SAMPLES = st.sampled_from([0, 0, 32, 33, -4000, 32767, 32767, -32768])
INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 30)
ROWS = st.fixed_dictionaries(
    {
        "xs": st.lists(FLOATS, max_size=4),
        "word": st.text("abc", min_size=1, max_size=3),
        "kind": st.integers(0, 2),
        "photo": st.tuples(st.integers(1, 5), st.integers(1, 5)),
        "sound": st.lists(st.tuples(SAMPLES, SAMPLES), max_size=9),
        "pace": st.lists(FLOATS, max_size=4),
    },
    optional={"n": INTEGERS, "x": ANY_FLOATS},
)
SPLITS = st.fixed_dictionaries(
    {
        "train": st.lists(ROWS, min_size=1, max_size=30),
        "test": st.lists(ROWS, min_size=1, max_size=30),
    }
)

Rows = Sequence[Mapping[str, Any]]
Key = tuple[str, str | None, str, str, str | None]
"""The subject, the split, the measure, of what, and the category."""

WORDS = {
    *("compression", "fingerprint", "declared as", "in a batch", "role"),
    *("description", "key", "kind", "optional", "note"),
}
"""Facts in words, which other tests compare with what they show."""

OTHERS = {"duplicates", "shared", "trouble", "normalised mutual information"}
"""What test_fail_on.py, test_damaged_files.py and test_associations.py compare."""


def photo(size: tuple[int, int]) -> bytes:
    out = io.BytesIO()
    Pillow.new("L", size[::-1]).save(out, "PNG")
    return out.getvalue()


def sound(samples: Sequence[tuple[int, int]]) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((2, 2, 8000, len(samples), "NONE", ""))
        file.writeframes(np.array(samples, "<i2").tobytes())
    return out.getvalue()


def is_clipped(samples: Sequence[tuple[int, int]]) -> bool:
    """Return whether a channel has three samples at full scale, one after the other."""
    full = np.isin(np.array(samples).reshape(-1, 2), (-32768, 32767))
    return bool((full[:-2] & full[1:-1] & full[2:]).any())


def message(row: Mapping[str, Any]) -> bytes:
    context = {key: value for key, value in row.items() if key != "pace"}
    context["photo"] = photo(row["photo"])
    context["sound"] = sound(row["sound"])
    context["xs"] = np.array(row["xs"], np.float32)
    return sequence_example(context, {"pace": row["pace"]})


def written(directory: Path, splits: Mapping[str, Rows]) -> Path:
    messages = {name: [*map(message, rows)] for name, rows in splits.items()}
    return write_data(directory / "data", Row, messages)


class Near(float):
    """A number that is calculated in steps, with rounding."""

    def __new__(cls, value: Any, scale: Any) -> Near:
        found = super().__new__(cls, value)
        found.error = 1e-9 * float(scale)
        return found

    error: float

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, (int, float))
        return bool(abs(float(self) - other) <= self.error + 1e-9 * abs(float(self)))

    __hash__ = float.__hash__


def measures(values: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield the measures of numbers, and whether each is a count."""
    finite = values[np.isfinite(values)]
    wide = finite.astype(np.float64)
    scale = np.abs(wide).max()
    yield "minimum", finite.min(), False
    yield "maximum", finite.max(), False
    for name, share in (
        *(("5 %", 0.05), ("25 %", 0.25), ("median", 0.5)),
        *(("75 %", 0.75), ("95 %", 0.95)),
    ):
        yield name, np.quantile(finite, share, method="inverted_cdf"), False
    yield "mean", Near(wide.mean(), scale), False
    yield "standard deviation", Near(wide.std(), 1e3 * scale), False
    yield "zeros", np.count_nonzero(finite == 0), True
    yield "NaN", np.count_nonzero(np.isnan(values)), True
    yield "infinite", np.count_nonzero(np.isinf(values)), True
    distinct = len(np.unique(finite))
    if distinct <= DISTINCT:
        yield "distinct", distinct, True


def quantities(rows: Rows) -> Iterator[tuple[str, str, str, list[Any], Any]]:
    """Yield the subject, what, the unit, the numbers and their dtype."""
    some = [row["xs"] for row in rows]
    words = [row["word"].encode() for row in rows]
    steps = [row["pace"] for row in rows]
    yield "n", "values", "", [row["n"] for row in rows if "n" in row], np.int64
    yield "x", "values", "", [row["x"] for row in rows if "x" in row], np.float32
    yield "xs", "values", "", [each for one in some for each in one], np.float32
    yield "xs", "lengths", "values", [*map(len, some)], np.int64
    yield "kind", "values", "", [row["kind"] for row in rows], np.int64
    yield "word", "sizes", "bytes", [*map(len, words)], np.int64
    sizes = [len(photo(row["photo"])) for row in rows]
    yield "photo", "sizes", "bytes", sizes, np.int64
    yield "photo", "heights", "pixels", [row["photo"][0] for row in rows], np.int64
    yield "photo", "widths", "pixels", [row["photo"][1] for row in rows], np.int64
    yield (
        "sound",
        "sizes",
        "bytes",
        [len(sound(row["sound"])) for row in rows],
        np.int64,
    )
    seconds = [len(row["sound"]) / 8000 for row in rows]
    yield "sound", "durations", "seconds", seconds, np.float64
    yield "pace", "values", "", [each for one in steps for each in one], np.float32
    yield "pace", "steps", "steps", [*map(len, steps)], np.int64


def wide(samples: Sequence[tuple[int, int]]) -> Any:
    return np.array(samples, np.int64)


def extent(values: Sequence[int]) -> tuple[int, int]:
    return min(values), max(values)


def reference(path: Path, splits: Mapping[str, Rows]) -> dict[Key, tuple[Any, str]]:
    """Return the value and the unit of each fact, from the rows alone."""
    found: dict[Key, tuple[Any, str]] = {}
    parts: dict[str | None, Rows] = {None: [r for s in splits.values() for r in s]}
    parts.update(splits)
    for split, rows in parts.items():
        pattern = f"{split or ''}*.tfrecord"
        files = [each.stat().st_size for each in path.glob(pattern)]
        found["", split, "files", "", None] = len(files), "files"
        found["", split, "records", "", None] = len(rows), "records"
        found["", split, "on disk", "", None] = sum(files), "bytes"
        for name in Row.model_fields:
            present = sum(name in row for row in rows)
            if split is not None:
                missing = len(rows) - present
                found[name, split, "missing", "", None] = missing, "records"
            # A split without a value of a key says so in the fact of all.
            if present or split is None:
                found[name, split, "present", "", None] = present / len(rows), "share"
    every = parts[None]
    lengths = {name: [1] for name in Row.model_fields}
    lengths["xs"] = [len(row["xs"]) for row in every]
    for name, some in lengths.items():
        there = any(row.get(name, []) != [] for row in every)
        there = there or name in ("xs", "sound")
        if there:
            found[name, None, "length", "", None] = extent(some), "values"
    steps = [len(row["pace"]) for row in every]
    found["pace", None, "steps", "", None] = extent(steps), "steps"
    varied = {
        (subject, of)
        for subject, of, _, values, _ in quantities(every)
        if len(set(values)) > 1
    }
    for split, rows in splits.items():
        sizes = [len(message(row)) for row in rows]
        found["", split, "record size", "", None] = extent(sizes), "bytes"
        for subject, of, unit, values, dtype in quantities(rows):
            numbers = np.array(values, dtype)
            if not np.isfinite(numbers).any():
                continue
            if of != "values" and (subject, of) not in varied:
                continue
            for measure, value, is_count in measures(numbers):
                key = subject, split, measure, of, None
                found[key] = value, "values" if is_count else unit
        sounds = [row["sound"] for row in rows]
        clipped = sum(map(is_clipped, sounds))
        silent = sum(np.abs(each).max(initial=0) < 32.767 for each in map(wide, sounds))
        for name, of, amount, unit in (
            *(("rate", "", (8000, 8000), "Hz"), ("channels", "", (2, 2), "")),
            ("total", "durations", Near(sum(map(len, sounds)) / 8000, 1), "seconds"),
            *(("clipped", "", clipped, "records"), ("silent", "", silent, "records")),
        ):
            found["sound", split, name, of, None] = amount, unit
        for subject, names in (("kind", KINDS), ("word", [r["word"] for r in every])):
            counts = Counter(dict.fromkeys(names, 0))
            values = [row[subject] for row in rows]
            counts.update(KINDS[v] if subject == "kind" else v for v in values)
            for category, count in counts.items():
                key = subject, split, "share", "", category
                found[key] = count / len(rows), "share"
                found[subject, split, "records", "", category] = count, "records"
    return found


def compare(path: Path, splits: Mapping[str, Rows]) -> None:
    """Assert that facts are those of the reference, and that none is left out."""
    expected, seen = reference(path, splits), set[Key]()
    for fact in schemagen.inspect(path).facts:
        # How splits differ is tested where it is calculated.
        if fact.measure in WORDS | OTHERS or fact.other_split is not None:
            continue
        if fact.measure == "values" and fact.category is None:
            continue  # in words
        key = fact.subject, fact.split, fact.measure, fact.of, fact.category
        assert key in expected, f"the reference does not know {key}"
        value, unit = expected[key]
        assert fact.value == value, (key, fact.value, value)
        assert fact.unit == unit, (key, fact.unit, unit)
        seen.add(key)
    # Texts are counted as classes if they come again and again.
    missing = {key for key in expected.keys() - seen if key[0] != "word" or key[3]}
    assert not missing


@examples(60)
@given(SPLITS)
def test_each_fact_is_that_of_numpy(
    tmp_path_factory: pytest.TempPathFactory, splits: dict[str, Rows]
) -> None:
    compare(written(tmp_path_factory.mktemp("any"), splits), splits)


RANDOM = np.random.default_rng(1)


def fixed(count: int) -> list[dict[str, Any]]:
    """Return rows of which no measure is 42."""
    return [
        {
            "n": at - 2,
            "x": [0.5 * at, float("nan"), float("inf")][at % 8 // 6 * (at % 2 + 1)],
            "xs": [float(at)] * (at % 3),
            "word": "abc"[: 1 + at % 3],
            "kind": at % 3,
            "photo": (1 + at % 4, 2 + at % 5),
            "sound": [(32767, at)] * (at % 7),
            "pace": [0.25] * (at % 4),
        }
        for at in range(count)
    ]


MEASURES = importlib.import_module("schemagen.data.statistics.numbers")


@pytest.mark.parametrize("name", [each.name for each in MEASURES.MEASURES])
@pytest.mark.parametrize(
    "wrong", [{"of": lambda _: 42}, {"unit": "pixels"}], ids=["42", "unit"]
)
def test_a_wrong_measure_is_noticed(
    tmp_path: Path, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = {"train": fixed(30), "test": fixed(20)}
    path = written(tmp_path, splits)
    compare(path, splits)
    entries = [
        each._replace(**wrong) if each.name == name else each
        for each in MEASURES.MEASURES
    ]
    monkeypatch.setattr(MEASURES, "MEASURES", tuple(entries))
    monkeypatch.setitem(
        MEASURES.BY_NAME, name, next(each for each in entries if each.name == name)
    )
    with pytest.raises(AssertionError, match=f"'{name}'"):
        compare(path, splits)


def test_a_new_measure_needs_a_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = {"train": fixed(9)}
    path = written(tmp_path, splits)
    new = MEASURES.MEASURES[0]._replace(name="least")
    monkeypatch.setattr(MEASURES, "MEASURES", (*MEASURES.MEASURES, new))
    monkeypatch.setitem(MEASURES.BY_NAME, "least", new)
    with pytest.raises(AssertionError, match="the reference does not know"):
        compare(path, splits)


@pytest.mark.parametrize(
    "values",
    [
        RANDOM.normal(size=5000).astype(np.float32),
        RANDOM.lognormal(0, 2, 5000).astype(np.float32),
        1e6 + RANDOM.normal(size=5000).astype(np.float32),
        RANDOM.integers(-(10**12), 10**12, 5000),
    ],
    ids=["normal", "lognormal", "far from zero", "integers"],
)
def test_quantiles_of_many_are_near(tmp_path: Path, values: Any) -> None:
    """Within a hundredth of the spread of nearly all, or an eighth of the value."""
    path = write_file(tmp_path / "part", [example({"xs": values})])
    facts = schemagen.inspect(path).facts
    found = {e.measure: e.value for e in facts if (e.subject, e.of) == ("xs", "values")}
    spread = np.quantile(values, 0.99) - np.quantile(values, 0.01)
    for name, value, _ in measures(values):
        if "%" in name or name == "median":
            distance = abs(found[name] - value)
            assert distance < max(spread / 100, abs(value) / 8), name
        else:
            assert found[name] == value, name
    assert ("distinct" in found) == (len(np.unique(values)) <= DISTINCT)
