"""Arrays of what writers are given, and of what functions of records return.

Both may be tensors of PyTorch, JAX and TensorFlow.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dtypes import DTYPES
from .errors import Problem
from .values import described

_PACKAGES = ("torch", "jax", "jaxlib", "tensorflow")

_NUMBERS = {
    np.dtype(name): np.dtype(name)
    for name in (
        *(each.name for each in DTYPES.values() if each.in_numpy),
        *("complex64", "complex128"),
    )
}

# Numpy makes floats of the integers of a list if only some of them are larger than this.
_BEYOND = 1 << 63


def is_tensor(value: object) -> bool:
    """Tell whether a value is a tensor of one of these packages."""
    return type(value).__module__.partition(".")[0] in _PACKAGES


def as_arrays(value: Any, *, text: bool = False, detach: bool = False) -> Any:
    """Return the arrays of tensors, also in a list; any other value as it is.

    Args:
        value: what a writer was given.
        text: whether strings are text.
        detach: take the values of tensors that require a gradient.

    Raises:
        Problem: a tensor has no array, with the call that makes one.
    """
    if isinstance(value, (list, tuple)) and any(map(is_tensor, value)):
        return [as_arrays(each, text=text, detach=detach) for each in value]
    if not is_tensor(value):
        return value
    try:
        found = _array_of(value, detach=detach)
    except Problem:
        raise
    except ModuleNotFoundError as error:
        words = f"a {value.dtype} tensor"
        raise Problem(words, "a dtype that numpy has", str(error)) from None
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


def _array_of(tensor: Any, *, detach: bool) -> Any:
    if not hasattr(tensor, "requires_grad"):
        return tensor.numpy() if hasattr(tensor, "numpy") else np.asarray(tensor)
    if tensor.device.type != "cpu":
        where = f"a tensor on {tensor.device}"
        raise Problem(where, "one on the CPU", "pass tensor.cpu()")
    if tensor.requires_grad and detach:
        tensor = tensor.detach()
    elif tensor.requires_grad:
        words = "a tensor that requires a gradient"
        raise Problem(words, "one that does not", "pass tensor.detach()")
    dtype = DTYPES.get(str(tensor.dtype).removeprefix("torch."))
    if dtype is None or dtype.in_numpy:
        return tensor.numpy()
    bits = getattr(sys.modules["torch"], f"int{8 * dtype.size}")
    return tensor.view(bits).numpy().view(dtype.numpy)


def array_of(value: Any) -> NDArray[Any]:
    """Return a value as an array of numbers, or of texts or bytes, which are objects.

    Raises:
        Problem: it is neither, or it is a tensor without an array.
    """
    if type(value) is np.ndarray or isinstance(value, np.generic):
        array = np.asarray(value)
        known = _NUMBERS.get(array.dtype)
        if known and known.num == array.dtype.num:
            return array
    plain = as_arrays(value, detach=True)
    if isinstance(plain, np.ma.MaskedArray):
        raise Problem(
            "a masked array", "one without a mask", "return array.filled(...)"
        )
    try:
        array = np.asarray(plain)
        if array.dtype.kind in "UST":  # of mixed lists, numpy makes texts of numbers
            array = np.array(plain, object)
        elif array.dtype not in _NUMBERS:
            array = array.astype(array.dtype.newbyteorder("="), copy=False)
        # "long long" is equal to int64, and unknown to PyTorch.
        array = array.view(_NUMBERS.get(array.dtype, array.dtype))
        right = _is_right(array) and not _is_rounded(plain, array)
    except Exception:  # lists of different lengths, and what other packages raise
        right = False
    if not right:
        raise Problem(
            described(value),
            "a number, a text, bytes, an array of them, or a list of one length in each "
            "dimension",
        )
    return array


def _is_right(array: NDArray[Any]) -> bool:
    """Tell whether an array has numbers that frameworks have, texts or bytes."""
    if array.dtype.kind == "O":
        types = {*map(type, array.flat)}
        return any(all(issubclass(t, each) for t in types) for each in (str, bytes))
    return array.dtype in _NUMBERS or array.dtype.name in DTYPES


def _is_rounded(value: Any, array: NDArray[Any]) -> bool:
    """Tell whether large integers in a list have become floats."""
    if array.dtype.kind != "f" or not isinstance(value, (list, tuple)):
        return False
    if not (np.abs(array) >= _BEYOND).any():
        return False
    return any(isinstance(each, int) for each in np.asarray(value, object).flat)
