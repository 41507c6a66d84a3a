"""What `print` shows of splits and batches: counts, and each field's dtype and shape."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import PackageOf

CLIPS = '''
from typing import Annotated, Any

import numpy as np

from pydantic import BaseModel
from schemagen import *


class Place(BaseModel):
    """Where a clip was made."""

    town: str
    height: float | None = None


class Clip(Record):
    """One value of several kinds."""

    photo: Annotated[np.ndarray, Image((None, None, 3), encoding="png", resize=(4, 4))]
    words: Annotated[list[str], VarLen("string")]
    tokens: Annotated[list[int], VarLen("int32", max_length=9)]
    title: str | None = None
    code: Annotated[bytes, Scalar("bytes")]
    tags: Annotated[list[str], MultiLabel(classes=("old", "new"))]
    grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("row", "column"))]
    lists: Annotated[list[list[int]], Ragged("int64", row_lengths_key="lists/lengths")]
    mood: Annotated[str | None, Label(classes=("glad", "sad"))] = None
    share: Annotated[float, Scalar("float32")] = 1.0
    place: Place
'''
CLIP: dict[str, Any] = {
    "photo": np.zeros((4, 4, 3), np.uint8),
    "words": ["one", "two"],
    "tokens": [1, 2, 3],
    "code": b"\xff",
    "tags": ["new"],
    "grid": {(0, 2): 1.5},
    "lists": [[1], [2, 3]],
    "mood": "sad",
    "place": {"town": "Bonn"},
}


@pytest.fixture(scope="module")
def clips(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Open a split of five clips."""
    package = package_of(CLIPS)
    directory: Path = tmp_path_factory.mktemp("clips")
    package.module("clip", "serializer").write_dataset([CLIP] * 5, directory, "train")

    def make(**options: Any) -> Any:
        reader = package.module("clip", "reader")
        return reader.open_split(directory, "train", **options)

    return make


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested fields by their labels."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        inner = isinstance(value, dict)
        found |= flat(value, f"{name}.") if inner else {prefix + name: value}
    return found


def agrees(text: str, value: Any) -> bool:
    """Compare `uint8 [4, 4, 3]` with a value."""
    found = re.fullmatch(r"(list of (\d+) )?(sparse )?(\w+)(?: (\[.*\]))?", text)
    assert found, text
    _, count, sparse, dtype, shape = found.groups()
    if count is not None:
        return len(value) == int(count)
    if sparse:
        return isinstance(value, tuple)
    if shape and "?, ?" in shape and isinstance(value, list):
        return True  # lists of other lengths in one
    sizes = shape[1:-1].split(", ") if shape else []
    own = np.shape(value)
    known = {"str": (str,), "bytes": (bytes,)}.get(dtype)
    if known:
        items = np.asarray(value, object).ravel()
        right = all(isinstance(each, known) for each in items)
    else:
        right = np.asarray(value).dtype.name == dtype
    pairs = zip(sizes, own, strict=True)
    return right and all(size in ("?", str(found)) for size, found in pairs)


def lines_of(shown: object) -> tuple[str, dict[str, str]]:
    """Return the title, and dtype and shape by field."""
    title, *lines = repr(shown).split("\n")
    pairs = (line.strip().split("  ", 1) for line in lines)
    return title, {name: text.strip() for name, text in pairs}


FORMS: list[dict[str, Any]] = [
    {},
    {"class_names": True},
    {"decode_images": False},
    {"ragged": "list"},
    {"fields": ["photo", "mood"]},
]


@pytest.mark.parametrize("options", FORMS, ids=str)
def test_each_field_has_its_dtype_and_shape(clips: Any, options: Any) -> None:
    split = clips(**options)
    title, fields = lines_of(split)
    assert title == "Split of 5 records:"
    row = flat(split[0])
    for name, text in fields.items():
        assert row[name] is None or agrees(text, row[name]), (name, text)
    title, fields = lines_of(split.batches(2))
    assert title == "3 batches of 2 records:"
    batch = flat(next(split.batches(2)))
    assert list(fields) == list(batch)
    for name, text in fields.items():
        assert agrees(text, batch[name]), (name, text, batch[name])


def test_all_ways_to_derive_a_split_show_theirs(clips: Any) -> None:
    split = clips(fields=["tokens", "share"])
    fields = {"tokens": "int32 [?]", "share": "float32"}
    assert lines_of(split) == ("Split of 5 records:", fields)
    assert lines_of(split.select([1, 2])) == ("Split of 2 records:", fields)
    assert lines_of(split.at_epoch(1, shuffle_seed=1))[1] == fields
    mapped = split.map(lambda row: {"other": 1})
    assert lines_of(mapped) == ("Split of 5 records, before map:", fields)


def test_packed_rows_show_their_columns(clips: Any) -> None:
    batches = clips(fields=["tokens", "share"]).batches(
        2, pack={"tokens": 8}, per_segment=["share"]
    )
    title, fields = lines_of(batches)
    batch = next(batches)
    assert title == f"{len(batches)} batches of 2 rows:"
    assert fields == {
        "tokens": "int32 [2, 8]",
        "tokens_segments": "int32 [2, 8]",
        "tokens_positions": "int32 [2, 8]",
        "share": "float32 [2, ?]",
    }
    assert set(fields) == set(batch)


def test_no_record_is_read(clips: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And of many fields the first ones are shown."""
    split = clips()
    monkeypatch.setattr(type(split), "_read", lambda *_: pytest.fail("it reads"))
    assert len(repr(split).split("\n")) == 13
