from typing import Annotated

import numpy as np
from schemagen import Record, Vector


class EncodedSize(Record):
    size: Annotated[np.ndarray, Vector((2,), encoding="raw")]
