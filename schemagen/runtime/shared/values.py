"""From what a row holds to numpy arrays of the declared dtype, lossless or refused.

Values are converted a whole array at a time. Floating-point numbers are rounded to the
declared dtype, unless the field is exact. Anything else that the dtype cannot hold is a
`Problem`; nothing is truncated, wrapped or read as another type on the way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import isfinite
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dtypes import DTYPES, INEXACT, INTEGERS, PARTS, bits_of, rounded
from .errors import Problem
from .times import TIMES, Time, as_integers

# More dimensions than numpy's arrays have; a list may even hold itself.
_DEEPEST = 64

_AS_TIME = "declare Scalar('int64', unit='s') for times; or unit='ms', 'us' or 'ns'"

_AS_BOOL = "convert with bool(), .astype(bool) of numpy and pandas, or .cast of others"

NO_RANGE = (None, None)
"""The range of numbers without limits."""

# Up to this many numbers are summed up to see whether all are finite; for longer
# arrays numpy's library would start threads.
_SUMMED = 8192

# The types of numbers: Python's own, and numpy's scalars.
_NUMBERS = (bool, int, float, complex, np.generic)


def flatten(value: Sequence[Any]) -> tuple[Sequence[object], tuple[int, ...]]:
    """Return the items of nested lists or tuples, and their common shape."""
    level: Sequence[Any] = value
    shape = [len(level)]
    while level and isinstance(level[0], (list, tuple)):
        if not all(isinstance(item, (list, tuple)) for item in level):
            raise Problem("a list among numbers", "lists of equal depth")
        sizes = set(map(len, level))
        if len(sizes) > 1:
            raise Problem(
                f"lists of different lengths ({min(sizes)} to {max(sizes)})",
                "lists of equal length",
            )
        shape.append(sizes.pop())
        if len(shape) > _DEEPEST:
            raise Problem(
                f"lists nested more than {_DEEPEST} deep", "numpy's dimensions"
            )
        level = list(chain.from_iterable(level))
    return level, tuple(shape)


def masked() -> Problem:
    """Return what is wrong with any array that has a mask."""
    return Problem("a masked array", "an array without mask", "a mask is not written")


def stacked(rows: Sequence[Any]) -> NDArray[Any]:
    """Join arrays along a new first dimension, without joining their dtypes."""
    if any(isinstance(row, np.ma.MaskedArray) for row in rows):
        raise masked()
    arrays = [np.asarray(row) for row in rows]
    if len({array.shape for array in arrays}) > 1:
        raise Problem("arrays of different shapes", "arrays of one shape")
    if len({array.dtype for array in arrays}) > 1:
        raise Problem("arrays of different dtypes", "arrays of one dtype")
    # As `np.stack`, which takes longer for many small arrays.
    joined: NDArray[Any] = np.concatenate([array.reshape(-1) for array in arrays])
    return joined.reshape(len(arrays), *arrays[0].shape)


@dataclass(frozen=True)
class Numbers:
    """How the numbers of a field are checked and converted.

    Attributes:
        dtype: the declared dtype, by its TensorFlow name.
        exact: refuse floats that `dtype` cannot hold exactly, instead of rounding them
            to the nearest.
        single: errors ask for one number, not for several.
        time: what integers are that may be given as times; None for other numbers.
    """

    dtype: str
    exact: bool = False
    single: bool = False
    time: Time | None = None

    def convert(self, value: object) -> NDArray[Any]:
        """Return `value` as an array of the declared dtype, of whatever shape.

        Of one that numpy lacks it is float32, which holds each of its values.

        Raises:
            Problem: a value of another type, or one that the dtype cannot hold.
        """
        if self.time is not None:
            value = as_integers(value, self.time)
        array = value if isinstance(value, np.ndarray) else self._from_python(value)
        if isinstance(array, np.ma.MaskedArray):
            raise masked()
        # A dtype's name takes microseconds to find; its kind is at hand.
        if array.dtype.kind == "V" and array.dtype.name in DTYPES:
            array = array.astype(np.float32)
        if self.dtype == "bool":
            return self._booleans(array)
        if self.dtype in INTEGERS:
            return self._integers(array)
        if self.dtype in PARTS:
            return self._complex(array)
        return self._floats(array)

    @cached_property
    def _own(self) -> np.dtype[Any] | None:
        """The dtype of memory that is stored as it is, if there is one."""
        dtype = DTYPES[self.dtype]
        return dtype.numpy.newbyteorder("<") if dtype.in_numpy else None

    def accepts(self, array: NDArray[Any]) -> bool:
        """Return whether an array is stored as it is, whatever its strides are.

        `convert` would find nothing wrong with it and nothing to convert, nor would
        `raw`. If not, they may still accept it.

        Args:
            array: an array without a mask.
        """
        own = self._own
        return own is not None and array.dtype == own

    def raw(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a converted array as little-endian, contiguous memory to store."""
        dtype = DTYPES[self.dtype]
        if not dtype.in_numpy:
            return bits_of(array, dtype)
        if sys.byteorder == "big":
            array = array.astype(array.dtype.newbyteorder("<"))
        return np.ascontiguousarray(array)

    def _from_python(self, value: object) -> NDArray[Any]:
        """Make an array of a number or of nested sequences of numbers."""
        plain = (bool, int, float, complex)
        if isinstance(value, plain) and not isinstance(value, np.generic):
            return self._from_numbers([value], ())
        if isinstance(value, (list, tuple)):
            if {*map(type, value)} <= {float, int}:
                return self._from_numbers(value, (len(value),))
            if any(isinstance(item, np.ndarray) for item in value):
                # numpy would make numbers of bools, and NaN of what is masked.
                listed = (list, tuple)
                return stacked(
                    [
                        self._from_python(item) if isinstance(item, listed) else item
                        for item in value
                    ]
                )
            return self._from_numbers(*flatten(value))
        if value is None or isinstance(value, (str, bytes, dict, set)):
            raise self._strange(value, single=self.single)
        return np.asarray(value)

    def _strange(self, value: object, *, single: bool = False) -> Problem:
        """Describe a value that is neither a number nor a time."""
        problem = _no_number(value, self.dtype, single=single)
        if self.time is None:
            return problem
        return Problem(problem.found, self.time.words, problem.advice)

    def _from_numbers(
        self, flat: Sequence[object], shape: tuple[int, ...]
    ) -> NDArray[Any]:
        """Make an array of a shape, of Python's own types by their own rules.

        numpy would read [True, 2] as integers, and [2**63, 1] and integers among
        floats as float64, whether that holds them or not.
        """
        types = set(map(type, flat))
        if len(types) > 1 and types.isdisjoint((bool, np.bool_)):
            # A timedelta64 derives from integers, and is none.
            integers = [
                index(n)
                for n in flat
                if isinstance(n, _NUMBERS) and hasattr(n, "__index__")
            ]
            if len(integers) == len(flat):
                flat, types = integers, {int}
            elif self.dtype in INEXACT:
                self._check_integers(integers)
        array = self._array_of(flat, types)
        return array.reshape((*shape, *array.shape[1:]))

    def _array_of(self, flat: Sequence[object], types: set[type]) -> NDArray[Any]:
        """Make an array of numbers of some types, or of arrays: flat but for their sizes.

        Raises:
            Problem: one is not a number, or bools and numbers are mixed.
        """
        if not types:
            return np.empty(0, DTYPES[self.dtype].memory)
        if types == {int}:
            try:
                return np.array(flat, np.int64)
            except OverflowError:
                pass
            try:
                return np.array(flat, np.uint64)
            except OverflowError:
                largest = max(flat, key=abs)  # type: ignore[arg-type]
                raise Problem(f"the integer {largest}", self.dtype) from None
        if types == {float, int}:
            return np.array(flat, np.float64)
        if len(types) > 1 and types & {bool, np.bool_}:
            raise Problem("a bool among numbers", f"{self.dtype} numbers")
        strange = [k for k in types if not issubclass(k, _NUMBERS)]
        if strange and issubclass(strange[0], np.ndarray):
            return stacked(flat)
        if strange:
            example = next(v for v in flat if type(v) is strange[0])
            raise self._strange(example)
        return np.asarray(flat)

    def _check_integers(self, integers: Sequence[int]) -> None:
        """Refuse integers that stand among floats and would be rounded with them."""
        try:
            self.convert(integers)
        except Problem:
            for integer in integers:
                self.convert(integer)

    def _booleans(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.dtype.kind != "b":
            raise _wrong_dtype(array, "bool")
        return array

    def _integers(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.dtype.kind not in "iu":
            raise _wrong_dtype(array, self.dtype)
        target = np.dtype(self.dtype)
        if array.dtype == target:
            return array
        if not np.can_cast(array.dtype, target) and array.size:
            low, high = DTYPES[self.dtype].bounds or (0, 0)
            for extreme in (int(array.min()), int(array.max())):
                if not low <= extreme <= high:
                    raise Problem(
                        f"the integer {extreme}", f"{self.dtype}, from {low} to {high}"
                    )
        return array.astype(target, copy=False)

    def _complex(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.dtype.kind not in "fiuc":
            raise _wrong_dtype(array, self.dtype)
        if array.dtype == self.dtype:
            return array
        part = replace(self, dtype=PARTS[self.dtype])
        found = np.empty_like(array, self.dtype)
        found.real, found.imag = part._floats(array.real), part._floats(array.imag)
        return found

    def _floats(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.dtype.kind not in "fiu":
            raise _wrong_dtype(array, self.dtype)
        if array.dtype == self.dtype:
            return array
        dtype = DTYPES[self.dtype]
        if not dtype.in_numpy:
            converted: NDArray[Any] = rounded(array, dtype)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                converted = array.astype(self.dtype, copy=False)
            if array.dtype.kind == "f" and np.can_cast(array.dtype, converted.dtype):
                return converted
        if (
            array.dtype.kind == "f"
            and np.count_nonzero(converted == array) == array.size
        ):
            return converted
        overflown = ~np.isfinite(converted) & np.isfinite(array)
        if array.dtype.kind == "f":
            same = (converted == array) | np.isnan(array)
        else:
            same = same_integers(converted, array)
        _refuse(overflown, array, f"a number in the range of {self.dtype}")
        # Integers are counts and ids: rounding is for floats only.
        if self.exact or array.dtype.kind != "f":
            # Python's own numbers have no astype.
            scalar = not array.ndim and dtype.in_numpy
            how = f"np.{self.dtype}(value)," if scalar else f".astype({self.dtype!r})"
            _refuse(
                ~same,
                array,
                f"a number that {self.dtype} holds exactly",
                f"round it with {how} or leave out exact=True"
                if array.dtype.kind == "f"
                else "declare a wider dtype",
            )
        return converted


def described(value: object) -> str:
    """Say what a value is, in a few words, whatever it raises."""
    try:
        return _described(value)
    except Exception:
        return f"a {type(value).__name__}"


def raising(value: object, error: Exception, expected: str) -> Problem:
    """Return what is wrong with a value that cannot be converted for its own error."""
    return Problem(
        f"{described(value)}, which raises {shortened(error, 200)}", expected
    )


def _described(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name} {list(value.shape)}"
    if isinstance(value, (str, bytes)):
        return f"{type(value).__name__} {shortened(value)}"
    if isinstance(value, np.generic):
        return f"{value!s:.60} ({value.dtype.name})"
    if isinstance(value, (bool, int, float, complex)):
        return f"{type(value).__name__} {shortened(value)}"
    own = type(value)
    name = "PIL image" if own.__module__.startswith("PIL.") else own.__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def shortened(value: object, limit: int = 60) -> str:
    """Return the repr of a value, cut to `limit` characters, whatever it raises."""
    try:
        text = repr(value[:limit]) if isinstance(value, (str, bytes)) else repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def inside(
    numbers: Any, range: tuple[Any, Any], is_nan: Callable[[Any], Any] = np.isnan
) -> Any:
    """Tell which numbers, of numpy or TensorFlow, are in a range; NaN is."""
    low, high = range
    # TensorFlow takes ~(x < low) for x >= low, which NaN is not.
    right = is_nan(numbers)
    if low is None or high is None:
        return right | (numbers <= high if low is None else numbers >= low)
    return right | ((numbers >= low) & (numbers <= high))


def range_text(low: Any, high: Any) -> str:
    """Write a range: "numbers from 0 to 1", "numbers of 0 or more"."""
    least, greatest = (f"{n:.7g}" if isinstance(n, float) else n for n in (low, high))
    if low is None:
        return f"numbers up to {greatest}"
    if high is None:
        return f"numbers of {least} or more"
    return f"numbers from {least} to {greatest}"


def check_shape(array: NDArray[Any], expected: Sequence[int | None]) -> None:
    """Refuse an array of another shape; None in `expected` is any size.

    Raises:
        Problem: naming both shapes.
    """
    shape = array.shape
    if shape == expected:
        return
    if len(shape) != len(expected) or any(
        size is not None and size != found
        for size, found in zip(expected, shape, strict=True)
    ):
        raise Problem(f"shape {list(shape)}", f"shape {shape_text(expected)}")


def shape_text(shape: Sequence[int | None]) -> str:
    """Write a shape as `[64, 64, 3]`, with `?` for a size that may vary."""
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _wrong_dtype(array: NDArray[Any], dtype: str) -> Problem:
    """Say what an array holds in place of numbers of the declared dtype."""
    name, expected = array.dtype.name, f"{dtype} values"
    if not array.size:  # numpy's default, whatever the values would have been
        advice = f"pass [], or np.array([], {dtype!r})" if array.ndim == 1 else ""
        return Problem(f"an empty array of {name}", expected, advice)
    if array.dtype.kind == "O":
        for value in array.flat:
            if not isinstance(value, _NUMBERS):
                return _no_number(value, dtype)
        found = f"object values, such as {described(array.flat[0])}"
        return Problem(found, expected, "pass .tolist() of them")
    found = f"{name} values" if array.ndim else f"{array[()]!s:.60} ({name})"
    whole = array.dtype.kind == "f" and not array.ndim and float(array).is_integer()
    pandas = " (pandas uses floats for integers where a row has none)" if whole else ""
    by_kind = {
        **dict.fromkeys("Mm", _AS_TIME),
        "f": f"pass integers, or declare a dtype of floats{pandas}"
        if dtype != "bool"
        else _AS_BOOL,
        **dict.fromkeys("iu", _AS_BOOL if dtype == "bool" else ""),
    }
    return Problem(found, expected, by_kind.get(array.dtype.kind, ""))


def _no_number(value: object, dtype: str, *, single: bool = False) -> Problem:
    """Describe a value that is not a number."""
    one = f"{'an' if dtype.startswith('int') else 'a'} {dtype}"
    one += " number" * (dtype != "bool")
    expected = one if single else f"{dtype} numbers"
    if isinstance(value, TIMES):
        return Problem(f"{type(value).__name__} {value}", expected, _AS_TIME)
    return Problem(described(value), expected)


def _refuse(
    wrong: NDArray[np.bool_], array: NDArray[Any], expected: str, advice: str = ""
) -> None:
    """Raise a Problem that shows the first wrong value and where it stands."""
    if not wrong.any():
        return
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    at = f" at {list(index)}" if index else ""
    raise Problem(f"{array[index]!s}{at} ({array.dtype.name})", expected, advice)


def same_integers(floats: NDArray[Any], integers: NDArray[Any]) -> NDArray[np.bool_]:
    """Compare without the rounding of a comparison in float64."""
    wide = floats.astype(np.float64)
    inside = (wide >= -(2.0**63)) & (wide < 2.0**63)
    back = np.where(inside, wide, 0.0).astype(np.int64)
    same = inside & (back == integers)
    if integers.dtype == np.uint64:
        high = (wide >= 2.0**63) & (wide < 2.0**64)
        same |= high & (np.where(high, wide, 0.0).astype(np.uint64) == integers)
    return np.asarray(same)


def all_finite(array: NDArray[Any]) -> bool:
    """Return whether no number of an array is NaN or infinite.

    The sum of squares is finite only if all of them are: one call for a short array.
    Where large numbers make it infinite each is looked at.
    """
    if array.size <= _SUMMED and isfinite(np.vdot(array, array).real):
        return True
    return bool(np.isfinite(array).all())
