from typing import Annotated

import numpy as np
from schemagen import Image, Record, Scalar, Tensor, Vector


class Base64Text(Record):
    """What is stored as base64 text."""

    image: Annotated[
        bytes, Image((4, 6, 3), encoding="png", transfer_encoding="base64")
    ]
    pixels: Annotated[np.ndarray, Image((2, 2, 1), transfer_encoding="base64")]
    sample: Annotated[
        np.ndarray, Vector((3,), encoding="raw", transfer_encoding="base64")
    ]
    secret: Annotated[bytes, Scalar("bytes", transfer_encoding="base64")]
    double: Annotated[float, Scalar("float64", transfer_encoding="base64")]
    table: Annotated[
        np.ndarray,
        Tensor((None, 2), "int32", shape_key="table/shape", transfer_encoding="base64"),
    ]
