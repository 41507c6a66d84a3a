"""Rows of `schemas/digit.py` from scikit-learn's scans."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

FULL_INK = 16  # the source's darkest pixel
HELD_OUT = 0.25


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the splits train and test.

    The scans are split first, each digit in the same proportion, and only then is
    anything derived; what is derived looks at one scan at a time.
    """
    source = load_digits()
    scans = source.images.astype(np.uint8)
    train, test = train_test_split(
        np.arange(len(scans)),
        test_size=HELD_OUT,
        stratify=source.target,
        random_state=0,
    )

    def rows_of(indices: Iterable[int]) -> list[dict[str, Any]]:
        return [_row(int(i), scans[i], int(source.target[i])) for i in indices]

    return {"train": rows_of(train), "test": rows_of(test)}


def _row(index: int, scan: NDArray[np.uint8], digit: int) -> dict[str, Any]:
    return {
        "image": scan[:, :, np.newaxis] * np.uint8(15),
        "ink_runs": ink_runs(scan),
        "moments": moments(scan),
        "digit": digit,
        "scan": index,
    }


def ink_runs(scan: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the lengths of the runs of ink along the rows, from the top."""
    ink = np.pad(scan >= FULL_INK // 2, ((0, 0), (1, 1))).astype(np.int8)
    steps = np.diff(ink, axis=1).ravel()
    return np.flatnonzero(steps == -1) - np.flatnonzero(steps == 1)


def moments(scan: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the amount and the position of ink, as the schema describes it."""
    weights = scan / scan.sum()
    down, right = np.indices(scan.shape, dtype=np.float64)
    centre = np.array([(weights * down).sum(), (weights * right).sum()])
    off_down, off_right = down - centre[0], right - centre[1]
    spread = np.sqrt(
        [(weights * off_down**2).sum(), (weights * off_right**2).sum()]
    ).clip(min=1e-6)
    slant = (weights * off_down * off_right).sum() / spread.prod()
    skewness = (
        np.array([(weights * off_down**3).sum(), (weights * off_right**3).sum()])
        / spread**3
    )
    ink = scan.sum() / (FULL_INK * scan.size)
    return np.array([ink, *centre, *spread, slant, *skewness], np.float32)
