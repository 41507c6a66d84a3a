from typing import Annotated

import numpy as np
from schemagen import Record, Tensor


class SerializedTensor(Record):
    """What `tf.io.serialize_tensor` makes."""

    table: Annotated[np.ndarray, Tensor((None, 2), "float16", encoding="proto")]
    fixed: Annotated[np.ndarray, Tensor((3,), "int32", encoding="proto")]
