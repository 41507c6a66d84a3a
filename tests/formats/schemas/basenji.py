"""Basenji: DNA sequences and the signals measured along them."""

from typing import Annotated

import numpy as np
from schemagen import Record, Vector

LENGTH = 512
BINS = 4
SIGNALS = 7


class Basenji(Record):
    """A stretch of DNA, one base a row, and what experiments found in each bin."""

    sequence: Annotated[np.ndarray, Vector((LENGTH, 4), "uint8", encoding="raw")]
    target: Annotated[np.ndarray, Vector((BINS, SIGNALS), "float16", role="target")]
