from typing import Annotated

import numpy as np
from schemagen import Record, Vector


class Dequantized(Record):
    """Integers that are read as floats."""

    listed: Annotated[np.ndarray, Vector((2,), "uint8", dequantize=(0.5, -2.0))]
    raw: Annotated[np.ndarray, Vector((3,), "int16", "raw", dequantize=(0.25, 1.0))]
