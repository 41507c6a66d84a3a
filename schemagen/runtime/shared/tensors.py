"""Tensors of PyTorch, JAX and TensorFlow, as writers are given them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .dtypes import DTYPES
from .errors import Problem

_PACKAGES = ("torch", "jax", "jaxlib", "tensorflow")


def is_tensor(value: object) -> bool:
    """Tell whether a value is a tensor of one of these packages."""
    return type(value).__module__.partition(".")[0] in _PACKAGES


def as_arrays(value: Any, *, text: bool = False) -> Any:
    """Return the arrays of tensors, also in a list; any other value as it is.

    Args:
        value: what a writer was given.
        text: whether strings are text.

    Raises:
        Problem: a tensor has no array, with the call that makes one.
    """
    if isinstance(value, (list, tuple)) and any(map(is_tensor, value)):
        return [as_arrays(each, text=text) for each in value]
    if not is_tensor(value):
        return value
    try:
        found = _array_of(value)
    except Problem:
        raise
    except Exception as error:  # of any of these packages
        raise Problem(
            f"a {type(value).__name__} without an array: {error}",
            "a tensor with values",
            "pass an array of numpy, such as tensor.numpy()",
        ) from None
    if text:
        return _decoded(found.tolist() if isinstance(found, np.ndarray) else found)
    return found[()] if isinstance(found, np.ndarray) else found


def _decoded(value: Any) -> Any:
    """Return text in place of bytes, also in lists."""
    if isinstance(value, list):
        return [*map(_decoded, value)]
    return value.decode() if isinstance(value, bytes) else value


def _array_of(tensor: Any) -> Any:
    if not hasattr(tensor, "requires_grad"):
        return tensor.numpy() if hasattr(tensor, "numpy") else np.asarray(tensor)
    if tensor.device.type != "cpu":
        where = f"a tensor on {tensor.device}"
        raise Problem(where, "one on the CPU", "pass tensor.cpu()")
    if tensor.requires_grad:
        words = "a tensor that requires a gradient"
        raise Problem(words, "one that does not", "pass tensor.detach()")
    dtype = DTYPES.get(str(tensor.dtype).removeprefix("torch."))
    if dtype is None or dtype.in_numpy:
        return tensor.numpy()
    bits = getattr(sys.modules["torch"], f"int{8 * dtype.size}")
    return tensor.view(bits).numpy().view(dtype.numpy)
