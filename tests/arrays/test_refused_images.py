"""Images that Pillow refuses for their pixels: corrupt records as any others."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import PIL.Image
import pytest

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import PackageOf

_SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Record

class Photo(Record):
    number: int
    photo: Annotated[np.ndarray, Image((None, None, 3), encoding="png", resize=(4, 4))]
"""
_MOST_PIXELS = 100

_SIDES = (8, 8, 12, 8, 40, 8)
"""Of 64 pixels; of 144, which Pillow warns of; and of 1,600, which it refuses."""


@pytest.fixture
def open_split(
    package_of: PackageOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Opens a split with images of `_SIDES`, where Pillow has a lower limit."""
    package = package_of(_SCHEMA)
    rows = [
        {"number": number, "photo": np.zeros((side, side, 3), np.uint8)}
        for number, side in enumerate(_SIDES)
    ]
    write = package.module("photo", "serializer").write_dataset
    write(rows, tmp_path / "data", "train")
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", _MOST_PIXELS)
    read = package.module("photo", "reader").open_split
    return lambda **options: read(tmp_path / "data", "train", **options)


@pytest.mark.parametrize(("action", "wrong"), [("ignore", [4]), ("error", [2, 4])])
def test_an_image_that_pillow_refuses_is_a_corrupt_record(
    open_split: Any, action: Any, wrong: list[int]
) -> None:
    """The error names file, record and field, alone and in a batch; skip leaves it out."""
    with warnings.catch_warnings():
        warnings.simplefilter(action, PIL.Image.DecompressionBombWarning)
        for number in wrong:
            for read in (
                lambda at: open_split()[at],
                lambda at: open_split()[at : at + 1],
            ):
                with pytest.raises(DatasetError, match="'photo'") as error:
                    read(number)
                assert f"record {number}" in str(error.value)
                assert "train-00000-of-00001.tfrecord" in str(error.value)
        warnings.filterwarnings("ignore", message=".*left out")
        batches = [*open_split(on_corrupt="skip").batches(6)]
    kept = [number for batch in batches for number in batch["number"].tolist()]
    assert kept == [number for number in range(len(_SIDES)) if number not in wrong]


@pytest.mark.parametrize("batched", [None, False, True])
@pytest.mark.filterwarnings("ignore:Image size", "ignore:.*left out")
def test_rows_for_loaders_are_those_that_can_be_decoded(
    open_split: Any, batched: bool | None
) -> None:
    """As rows and as columns, and the images found to be corrupt only then."""
    split = open_split(on_corrupt="skip")
    if batched is not None:
        split = split.map(dict, batched=batched)
    for read in (len, list, lambda rows: rows.columns):
        several = split.__getitems__([5, 4, 0])
        read(several)
        assert len(several) == 2
        assert [each["number"] for each in several] == [5, 0]
        assert several.columns["number"].tolist() == [5, 0]
    none = split.__getitems__([4, 4])
    assert len(none) == len([*none]) == 0
    with pytest.raises(DatasetError, match="record 4 and 1 more: all records"):
        assert none.columns
