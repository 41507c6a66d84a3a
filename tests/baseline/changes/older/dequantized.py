from typing import Annotated

import numpy as np
from schemagen import Record, Vector


class DequantizedSize(Record):
    size: Annotated[
        np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.5, 0.0))
    ]
