"""Rows of `schemas/photo.py` out of the two photographs that scikit-learn ships."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_sample_images

NAMES = ("china", "flower")  # as scikit-learn orders them
SIDES = (40, 160)  # the shortest and the longest side of a piece, in pixels
TRAIN_ROWS = 0.6  # the share of a photograph, from the top, that train has
COUNTS = {"train": 96, "test": 32}  # of each photograph


@cache
def photographs() -> dict[str, NDArray[np.uint8]]:
    """Return the photographs by name, uint8 [427, 640, 3]."""
    return dict(zip(NAMES, load_sample_images().images, strict=True))


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the splits train and test.

    Pieces overlap, so that train is cut from the upper part of each photograph and
    test from the lower: no pixel is in both.
    """
    random = np.random.default_rng(0)
    return {
        split: [
            _row(random, name, split) for _ in range(count) for name in photographs()
        ]
        for split, count in COUNTS.items()
    }


def part(split: str, height: int) -> tuple[int, int]:
    """Return the first row of a split's part of a photograph, and the one after it."""
    border = round(height * TRAIN_ROWS)
    return (0, border) if split == "train" else (border, height)


def _row(random: np.random.Generator, name: str, split: str) -> dict[str, Any]:
    pixels = photographs()[name]
    first, end = part(split, pixels.shape[0])
    height, width = (int(side) for side in random.integers(*SIDES, size=2))
    top = int(random.integers(first, end - height + 1))
    left = int(random.integers(pixels.shape[1] - width + 1))
    return {
        "crop": pixels[top : top + height, left : left + width],
        "photograph": name,
        "box": np.array([top, left, height, width], np.int32),
    }
