"""A decoder that schemas of tests name: from a file of numpy to its array."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np


def load(data: bytes) -> Any:
    """Return the array of a .npy file; None of no bytes."""
    if not data:
        return None
    return np.load(BytesIO(data))


def saved(array: Any) -> bytes:
    """Return an array as a .npy file."""
    file = BytesIO()
    np.save(file, array)
    return file.getvalue()
