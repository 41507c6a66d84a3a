"""Rows of `schemas/penguin.py` from the raw table of palmerpenguins."""

from __future__ import annotations

import random
import re
from typing import Any

from palmerpenguins import load_penguins_raw

HELD_OUT = 0.25

_MEASUREMENTS = {
    "bill_length_mm": "Culmen Length (mm)",
    "bill_depth_mm": "Culmen Depth (mm)",
    "flipper_length_mm": "Flipper Length (mm)",
    "body_mass_g": "Body Mass (g)",
    "delta_15_n": "Delta 15 N (o/oo)",
    "delta_13_c": "Delta 13 C (o/oo)",
}


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the splits train and test.

    Within each species whole nests go to one side, in every year, so that no test
    bird has its mate, or itself in another year, in the training data.
    """
    table = load_penguins_raw().to_dict("records")
    nests: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in map(_row, table):
        of_species = nests.setdefault(row["species"], {})
        of_species.setdefault(nest_of(row), []).append(row)
    shuffle = random.Random(0).shuffle
    splits: dict[str, list[dict[str, Any]]] = {"train": [], "test": []}
    for of_species in nests.values():
        groups = list(of_species.values())
        shuffle(groups)
        wanted = HELD_OUT * sum(map(len, groups))
        taken = 0
        for group in groups:
            splits["test" if taken < wanted else "train"] += group
            taken += len(group)
    # A reader that takes the shards in order should not see species after species.
    for split in splits.values():
        shuffle(split)
    return splits


def nest_of(row: dict[str, Any]) -> str:
    """Return the number of a bird's nest, such as N12."""
    return str(row["individual"]).partition("A")[0]


def _row(found: dict[Any, Any]) -> dict[str, Any]:
    # The table's missing values are NaN, in columns of text too.
    known: dict[str, Any] = {
        column: None if value != value else value for column, value in found.items()
    }
    return {
        "species": known["Species"].split()[0],
        "island": known["Island"],
        "individual": known["Individual ID"],
        **{name: known[column] for name, column in _MEASUREMENTS.items()},
        "sex": known["Sex"].lower() if known["Sex"] else None,
        "full_clutch": known["Clutch Completion"] == "Yes",
        "comment": known["Comments"],
        "comment_words": words(known["Comments"] or ""),
    }


def words(comment: str) -> list[str]:
    """Return a comment's words in small letters, without punctuation."""
    return re.findall(r"\w+", comment.lower())
