"""The numbers of `inspect`, compared with numpy's, however records are distributed."""

from __future__ import annotations

import io
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemagen
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tiers import examples

from .documents import document, facts_of, splits_of
from .messages import Values, example, write_file

DISTINCT, LONGEST, BINS = 1024, 256, 256  # as docs/inspect.md states them
KEY = "k"

FLOATS = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, 0.1, 1e-45, 3e38])
INT64S = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 30)
COLUMNS = st.one_of(
    st.lists(FLOATS, max_size=60).map(lambda values: np.array(values, np.float32)),
    st.lists(INT64S, max_size=60).map(lambda values: np.array(values, np.int64)),
)


def inspected(directory: Path, shards: list[list[Values]]) -> dict[str, Any]:
    """Return what `inspect` says of a key with these values in each record."""
    for at, rows in enumerate(shards):
        path = directory / f"train-{at:05}-of-{len(shards):05}"
        write_file(path, [example({KEY: row}) for row in rows])
    printed = document(directory, "--records", "0")
    [split] = splits_of(printed)
    assert split["records"] == sum(map(len, shards))
    [kind] = split["keys"][0]["by_kind"]
    measures = {
        each["measure"]: each["value"]
        for each in facts_of(printed, key=KEY, of="values")
    }
    found: dict[str, Any] = {**kind, "measures": measures}
    return found


def check(found: dict[str, Any], values: Any) -> None:
    """Compare a summary with what numpy and plain Python say of all values."""
    finite = values[np.isfinite(values)]
    plain = finite.tolist()
    assert (found["count"], found["nan"]) == (len(values), np.isnan(values).sum())
    assert found["infinite"] == [(values == -np.inf).sum(), (values == np.inf).sum()]
    assert found["zeros"] == plain.count(0)
    assert found["whole"] == sum(value == int(value) for value in plain)
    assert found["minimum"] == min(plain, default=None)
    assert found["maximum"] == max(plain, default=None)
    counts = Counter(plain)
    assert found["distinct"] == (
        [{"value": value, "count": count} for value, count in sorted(counts.items())]
        if len(counts) <= DISTINCT
        else None
    )
    bins = found["histogram"]
    assert len(bins) <= BINS
    for each in bins:
        low, high = each["low"], float(each["high"])
        if high - low > np.spacing(abs(low)):  # the bounds are not rounded to one
            assert each["values"] == sum(low <= value < high for value in plain)
    assert sum(each["values"] for each in bins) == len(plain)
    if not plain:
        assert (found["mean"], found["deviation"]) == (None, None)
        return
    floats = finite.astype(np.float64)
    tolerance = 1e-9 * np.abs(floats).max()
    assert found["mean"] == pytest.approx(floats.mean(), rel=1e-9, abs=tolerance)
    assert found["deviation"] == pytest.approx(floats.std(), rel=1e-6, abs=tolerance)


@examples(100)
@given(COLUMNS, st.data())
def test_any_numbers_in_any_files_are_those_of_numpy(
    tmp_path_factory: pytest.TempPathFactory, values: Any, data: st.DataObject
) -> None:
    """Files and records of any sizes, none included, in any order."""
    size = st.integers(0, len(values))
    bounds = sorted([0, len(values), *data.draw(st.lists(size, max_size=5))])
    rows: list[Values] = [values[a:b] for a, b in pairwise(bounds)]
    cut = data.draw(st.integers(0, len(rows)))
    one = inspected(tmp_path_factory.mktemp("one"), [rows])
    two = inspected(tmp_path_factory.mktemp("two"), [rows[cut:], [], rows[:cut]])
    assert one == two
    check(one["numbers"], values)
    ordered = np.sort(values[np.isfinite(values)])
    if len(ordered):
        assert one["measures"]["median"] == ordered[(len(ordered) - 1) // 2]
    check(one["lengths"], np.array([len(row) for row in rows]))  # type: ignore[arg-type]


RANDOM = np.random.default_rng(1)
LARGE: dict[str, Any] = {
    "far from zero": 1e6 + RANDOM.normal(size=4000).astype(np.float32),
    "huge": RANDOM.normal(size=4000).astype(np.float32) * np.float32(5e37),
    "tiny": np.array([0, 1e-45, -1e-45, 1e-38] * 999, np.float32),
    "not finite": np.array([np.nan, np.inf, -np.inf, 3, 1e-30] * 99, np.float32),
    "never finite": np.array([np.nan, np.inf, -np.inf] * 9, np.float32),
    "beyond 2 ** 53": 2**60 + RANDOM.integers(0, 999, 4000),
    "all of int64": RANDOM.integers(-(2**63), 2**63 - 1, 4000),
    "extremes": np.array([2**63 - 1] * 3000 + [-(2**63)] * 5000),
    "constant": np.full(9999, 0.1, np.float32),
    "few": np.arange(DISTINCT),
    "one more": np.arange(DISTINCT + 1).astype(np.float32),
}


@pytest.mark.parametrize("name", LARGE)
def test_numbers_of_any_magnitude_are_those_of_numpy(tmp_path: Path, name: str) -> None:
    """Rounding stays below 1e-9 of the greatest magnitude."""
    values = LARGE[name]
    pieces: list[Values] = np.split(values, [1, 7, 500, 501, 3000])
    found = inspected(tmp_path, [[piece] for piece in pieces[::-1]])["numbers"]
    check(found, values)


PIXELS = RANDOM.integers(0, 256, (20, 30, 3), np.uint8)


def image(form: str, mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.fromarray(PIXELS).convert(mode).save(out, form)
    return out.getvalue()


# As tf.io.serialize_tensor writes it.
TENSOR = bytes.fromhex("08011208120208021202080322") + b"\x18" + bytes(24)

# A value, its format, whether it is UTF-8, and what else is known of it.
CONTENTS: list[tuple[bytes, str, bool, Any]] = [
    *[
        (image(form, mode), form, False, (20, 30, channels))
        for form, mode, channels in [
            *(
                ("jpeg", "RGB", 3),
                ("jpeg", "L", 1),
                ("png", "RGBA", 4),
                ("png", "L", 1),
            ),
            *(("bmp", "RGB", 3), ("gif", "RGB", 3), ("webp", "RGB", 3)),
        ]
    ],
    (image("jpeg")[:-20], "jpeg", False, None),
    (image("png")[:-20], "png", False, None),
    (b"", "empty", True, None),
    (b"a word", "text", True, None),
    ("Straße, 東京\n\ttabs".encode(), "text", True, None),
    (b"BMW is a car", "text", True, None),
    (b"GIF89a is a format", "text", True, None),
    (b"RIFF1234WEBP", "text", True, None),
    (b"\x00\x01\x02", "raw", True, None),
    (b"\x1b[31mred", "raw", True, None),
    (b"\xff\xfe\x00", "raw", False, None),
    (b"BM\xff\xff", "bmp", False, None),
    (b"\x08\x01", "tensor", False, ("float32", [])),
    (TENSOR, "tensor", False, ("float32", [2, 3])),
    (bytes.fromhex("0809120022080700000000000000"), "tensor", False, ("int64", [])),
    (bytes.fromhex("080412021200"), "tensor", False, ("uint8", [0])),
    (bytes.fromhex("080112021801"), "tensor", False, ("float32", None)),
    (b"\x08\x63\x12\x00", "raw", True, None),
    (b"\x08backspace", "raw", True, None),
]


@pytest.mark.parametrize(
    ("value", "form", "utf8", "known"), CONTENTS, ids=range(len(CONTENTS))
)
def test_bytes_are_told_apart_by_their_content(
    tmp_path: Path, value: bytes, form: str, utf8: bool, known: Any
) -> None:
    """Images with their sizes, tensors with their shapes, text; all are counted."""
    found = inspected(tmp_path, [[value, b"cat"], [[value, b"\xff" * (LONGEST + 1)]]])
    kind = found["bytes"]
    formats = Counter({form: 2}) + Counter(["text", "raw"])
    assert {each["value"]: each["count"] for each in kind["formats"]} == formats
    assert (kind["count"], kind["utf8"]) == (4, 1 + 2 * utf8)
    check(kind["sizes"], np.array([len(value), 3, len(value), LONGEST + 1]))
    assert kind["distinct"] is None
    tensors = [
        (each["value"]["dtype"], each["value"]["shape"], each["count"])
        for each in kind["tensors"]
    ]
    assert tensors == ([(*known, 2)] if form == "tensor" else [])
    is_image = form in ("jpeg", "png", "bmp", "gif", "webp")
    assert kind["images"] == 2 * is_image
    pictures = [each["value"] for each in kind["pictures"]]
    sizes = [(each["height"], each["width"], each["channels"]) for each in pictures]
    assert sizes == ([known] if known and is_image else [])
    troubles = [each["count"] for each in kind["troubles"]]
    assert troubles == ([2] if is_image and not known else [])


def test_few_different_short_texts_are_counted(tmp_path: Path) -> None:
    """Of more than 1,024, or of long ones, no one counts each."""
    names = [b"%04d" % number for number in range(DISTINCT)]
    longest = b"a" * LONGEST
    cases: list[tuple[list[bytes], int | None]] = [
        (names * 2, DISTINCT),
        ([*names, b"one more"], None),
        ([longest, b"b"], 2),
        ([longest + b"a", b"b"], None),
    ]
    for at, (values, number) in enumerate(cases):
        found = inspected(tmp_path / f"{at}", [[values]])["bytes"]["distinct"]
        assert found is None if number is None else len(found) == number
        if number == DISTINCT:
            assert {each["count"] for each in found} == {2}


def test_no_more_keys_than_memory_is_meant_for(tmp_path: Path) -> None:
    """The first 5,000 by name are kept, in whatever order records come."""
    names = [f"{number:04}" for number in range(5003)]
    some = [example(dict.fromkeys(names[at::3], at)) for at in range(3)]
    for at, order in enumerate((some, some[::-1])):
        path = write_file(tmp_path / f"{at}", order * 2)
        found = schemagen.inspect(path).whole
        assert list(found.keys) == names[:5000]
        assert found.more_keys
        assert {key.present for key in found.keys.values()} == {2}
