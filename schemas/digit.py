"""Handwritten digits, from the scans that scikit-learn ships."""

from typing import Annotated

import numpy as np
from schemagen import Image, Label, Record, Scalar, VarLen, Vector


class Digit(Record):
    """One handwritten digit, scanned to 8x8 pixels.

    Source: the 1,797 scans of `sklearn.datasets.load_digits`, which are the test set
    of "Optical Recognition of Handwritten Digits" (UCI Machine Learning Repository).

    `ink_runs` and `moments` are derived from the scan of their own record alone.
    """

    image: Annotated[np.ndarray, Image(shape=(8, 8, 1))]
    """The scan, from 0 (paper) to 240 (ink): 15 times the source's 0 to 16."""

    ink_runs: Annotated[np.ndarray, VarLen(dtype="int64", max_length=32)]
    """Derived: lengths in pixels of the runs of ink along the rows, from the top.

    A pixel is ink from 120 on. A row without ink adds no run.
    """

    moments: Annotated[np.ndarray, Vector(shape=(8,), dtype="float32")]
    """Derived: the amount and the position of ink.

    Ink as a share of a black square; centre down and right, spread down and right,
    all in pixels; slant (correlation of down and right, -1 to 1); skewness down and
    right.
    """

    digit: Annotated[
        int,
        Label(
            classes=(
                "zero",
                "one",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
            )
        ),
    ]
    """The digit that the writer was asked to write."""

    scan: Annotated[int, Scalar(dtype="int64", role="info")]
    """The index of the scan in the source, from 0."""
