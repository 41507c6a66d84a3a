"""The three schemas of this repository and the rows that go with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemagen

from demo import digits, penguins, photos
from schemas.digit import Digit
from schemas.penguin import Penguin
from schemas.photo import Photo

ROOT = Path(__file__).parents[2]
SOURCES = {"digit": digits, "penguin": penguins, "photo": photos}
CLASSES = {"digit": Digit, "penguin": Penguin, "photo": Photo}
TARGETS = {"digit": "digit", "penguin": "species", "photo": "photograph"}
SPLITS = ("train", "test")

# What a model gets: neither the island, nor a bird's or a scan's number, nor a box.
INPUTS = {
    "digit": {"image", "ink_runs", "moments"},
    "photo": {"crop"},
    "penguin": {
        *("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"),
        *("delta_15_n", "delta_13_c", "sex", "full_clutch"),
        *("comment", "comment_words"),
    },
}


def column(record: str, split: str, field: str) -> list[Any]:
    """Return a field's values in the rows of a split."""
    return [row[field] for row in SOURCES[record].rows()[split]]


@pytest.mark.parametrize("record", SOURCES)
def test_every_row_of_the_sources_is_a_valid_record(record: str) -> None:
    """The schema's class accepts all that the demo writes, and no row without its target."""
    splits = SOURCES[record].rows()
    for rows in splits.values():
        for row in rows:
            CLASSES[record](**row)
    del row[TARGETS[record]]
    with pytest.raises(ValueError, match=TARGETS[record]):
        CLASSES[record](**row)


@pytest.mark.parametrize("record", SOURCES)
def test_what_would_tell_the_answer_is_no_input(record: str) -> None:
    """The roles say which fields a model gets."""
    text = (ROOT / "generated" / record / "spec.json").read_text(encoding="utf-8")
    fields = json.loads(text)["fields"]
    found = {field["name"] for field in fields if field["role"] == "input"}
    assert found == INPUTS[record]


def test_generated_code_of_this_repository_is_up_to_date() -> None:
    """`schemagen check` finds nothing."""
    assert schemagen.check(ROOT).findings == ()


# Nothing leaks from the training data into the held-out data.


def test_no_scan_of_digits_is_in_train_and_test() -> None:
    """Neither by number nor by what is on it; and the split keeps the proportions."""
    scans, images, counts = (
        [column("digit", split, field) for split in SPLITS]
        for field in ("scan", "image", "digit")
    )
    assert sorted([*scans[0], *scans[1]]) == list(range(1797))
    train, test = ({np.asarray(i).tobytes() for i in side} for side in images)
    assert not train & test
    of_train, of_test = map(np.bincount, counts)
    assert of_test / (of_train + of_test) == pytest.approx(0.25, abs=0.01)


def test_no_nest_of_penguins_is_in_train_and_test() -> None:
    """Mates, and birds found again in another year, are on one side."""
    train, test = (
        {
            (species, individual.split("A")[0])
            for species, individual in zip(
                column("penguin", split, "species"),
                column("penguin", split, "individual"),
                strict=True,
            )
        }
        for split in SPLITS
    )
    assert not train & test
    counts = [len(column("penguin", split, "species")) for split in SPLITS]
    assert sum(counts) == 344
    assert counts[1] / sum(counts) == pytest.approx(0.25, abs=0.03)


def test_no_pixel_of_photos_is_in_train_and_test() -> None:
    """The lowest row that train has of a photograph is above test's highest."""
    train, test = (np.stack(column("photo", split, "box")) for split in SPLITS)
    assert (train[:, 0] + train[:, 2]).max() <= test[:, 0].min()
