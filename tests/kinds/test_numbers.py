"""Numbers: narrowed if they fit, converted without loss, rounded once, or refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from schemagen.runtime.shared.dtypes import FLOATS, INTEGERS
from schemagen.runtime.shared.errors import Problem
from schemagen.runtime.shared.values import Numbers
from stored_features import example, floats, ints
from tiers import examples

if TYPE_CHECKING:
    from types import ModuleType

    from conftest import PackageOf

NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")


def _declared() -> str:
    lines = ["strict: Annotated[float, Scalar('float32')]"]
    for dtype in NARROW:
        lines += [
            f"scalar_{dtype}: Annotated[Any, Scalar({dtype!r})]",
            f"list_{dtype}: Annotated[Any, VarLen({dtype!r})]",
            f"vector_{dtype}: Annotated[Any, Vector((2,), {dtype!r})]",
        ]
    fields = "".join(f"    {line}\n" for line in lines)
    return (
        "from typing import Annotated, Any\nfrom schemagen import *\n\n"
        f"class Numbers(Record):\n{fields}"
    )


@pytest.fixture(scope="module")
def parser(package_of: PackageOf) -> ModuleType:
    """The parser of a record with a field of each dtype and each way to store it."""
    return package_of(_declared()).module("numbers", "parser")


def _read(parser: ModuleType, name: str, feature: tf.train.Feature) -> Any:
    """Read one field of an Example that has nothing else in it."""
    data = tf.constant([example({name: feature})])
    return parser.parse_batch(data, [name])[name].numpy()[0]


@pytest.mark.parametrize("dtype", NARROW)
def test_int64_on_disk_is_narrowed_if_it_fits(parser: ModuleType, dtype: str) -> None:
    """The smallest and the largest number are read; one beyond is an error."""
    bounds = np.iinfo(dtype)
    low, high = int(bounds.min), int(bounds.max)
    for kind in ("vector", "list"):
        found = _read(parser, f"{kind}_{dtype}", ints(low, high))
        assert found.dtype == dtype
        assert found.tolist() == [low, high]
    assert _read(parser, f"scalar_{dtype}", ints(high)) == high
    for wrong in (low - 1, high + 1, 2**63 - 1, -(2**63)):
        for kind, values in (
            ("scalar", [wrong]),
            ("vector", [0, wrong]),
            ("list", [wrong, 0, 1]),
        ):
            shown = f"'{kind}_{dtype}'.*{dtype}, {low} to {high}.*{wrong}"
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){shown}"):
                _read(parser, f"{kind}_{dtype}", ints(*values))


def test_finite_is_checked_when_writing_only(parser: ModuleType) -> None:
    """A NaN in a file of other code is delivered, as the page says."""
    assert np.isnan(_read(parser, "strict", floats(float("nan"))))


_DTYPES = ("bool", *INTEGERS, *FLOATS)
_NUMPY = {name: np.dtype(getattr(ml_dtypes, name, name)) for name in _DTYPES}


def _values(dtype: str) -> st.SearchStrategy[Any]:
    """Arrays of one dtype, with its extreme, infinite and subnormal values."""
    if dtype == "bfloat16":
        bits = arrays.arrays(np.uint16, arrays.array_shapes(min_dims=0, max_dims=2))
        return bits.map(lambda found: np.asarray(found).view(ml_dtypes.bfloat16))
    shapes = arrays.array_shapes(min_dims=0, max_dims=2, max_side=4)
    # Small values next to those of any size, so that many of them do fit.
    elements = arrays.from_dtype(np.dtype(dtype))
    if dtype != "bool":
        small = st.integers(0, 300).map(lambda n: np.dtype(dtype).type(n % 128))
        elements = st.one_of(elements, small)
    return arrays.arrays(np.dtype(dtype), shapes, elements=elements)


def _same(found: Any, given_value: Any) -> bool:
    """Compare two numbers by their exact values, whatever their types."""
    if isinstance(given_value, float) and not math.isfinite(given_value):
        return str(float(found)) == str(given_value)
    return Fraction(found) == Fraction(given_value)


@pytest.mark.quick_cases(74)
@pytest.mark.parametrize("target", _DTYPES)
@pytest.mark.parametrize("source", _DTYPES)
def test_conversion_is_lossless_or_refused(source: str, target: str) -> None:
    """From every dtype to every other, each value arrives or the array is refused."""

    @examples(25)
    @given(_values(source))
    def check(array: Any) -> None:
        try:
            found = Numbers(target, exact=True).convert(array)
        except Problem:
            assert _may_be_refused(array, target)
            return
        assert found.shape == array.shape
        stored = "float32" if target == "bfloat16" else target
        assert found.dtype == np.dtype(stored)
        pairs = zip(found.ravel().tolist(), array.ravel().tolist(), strict=True)
        assert all(_same(got, was) for got, was in pairs)

    check()


def _may_be_refused(array: Any, target: str) -> bool:
    """Tell whether an array cannot go to a dtype: another sort, or a loss."""
    source = array.dtype.name
    if (source == "bool") != (target == "bool"):
        return True
    if source in FLOATS and target in INTEGERS:
        return True
    with np.errstate(all="ignore"):
        back = array.astype(_NUMPY[target])
    values = zip(back.ravel().tolist(), array.ravel().tolist(), strict=True)
    return any(not _finite_same(got, was) for got, was in values)


def _finite_same(found: Any, given_value: Any) -> bool:
    if isinstance(found, float) and not math.isfinite(found):
        return str(found) == str(float(given_value))
    return _same(found, given_value)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", ["float16", "float32", "float64"])
def test_rounding_is_that_of_numpy(source: str, target: str) -> None:
    """Floats are rounded as numpy does, and overflow is refused."""

    @examples(40)
    @given(_values(source))
    def check(array: Any) -> None:
        with np.errstate(all="ignore"):
            expected = array.astype(target)
            overflow = bool((np.isinf(expected) & np.isfinite(array)).any())
        numbers = Numbers(target)
        if overflow:
            with pytest.raises(Problem, match=target):
                numbers.convert(array)
        else:
            np.testing.assert_array_equal(numbers.convert(array), expected)

    check()


@examples(300)
@given(st.floats(width=32, allow_nan=False))
def test_bfloat16_is_rounded_as_by_ml_dtypes(number: float) -> None:
    """The nearest bfloat16, ties to even, is what ml_dtypes finds."""
    array = np.array([number], np.float32)
    with np.errstate(over="ignore"):
        expected = array.astype(ml_dtypes.bfloat16)
    numbers = Numbers("bfloat16")
    if np.isinf(expected.astype(np.float32)[0]) and math.isfinite(number):
        with pytest.raises(Problem, match="bfloat16"):
            numbers.convert(array)
        return
    found = numbers.raw(numbers.convert(array))
    assert found.tobytes() == expected.tobytes()


def _nearest_bfloat16(number: float) -> float:
    """The nearest bfloat16 by exact arithmetic, ties to the even one."""
    bits = np.arange(0x7F80, dtype=np.uint16)
    table = bits.view(ml_dtypes.bfloat16).astype(np.float64)
    at = int(np.searchsorted(table, abs(number)))
    near = [i for i in (at - 1, at) if 0 <= i < len(table)]
    exact = Fraction(abs(number))
    best = min(near, key=lambda i: (abs(Fraction(float(table[i])) - exact), i % 2))
    return math.copysign(float(table[best]), number)


@examples(200)
@given(
    st.integers(0x0080, 0x7F7E),
    st.sampled_from([0.0, 1.0, -1.0]),
    st.booleans(),
)
def test_bfloat16_is_rounded_once(bits: int, side: float, negative: bool) -> None:
    """A float64 next to a tie goes to its own side, as if float32 were not between.

    Rounding to float32 first would make a tie of it, and a tie goes to the even one.
    """
    low, high = (
        float(np.array([b], np.uint16).view(ml_dtypes.bfloat16)[0])
        for b in (bits, bits + 1)
    )
    tie = (low + high) / 2
    number = math.nextafter(tie, side * math.inf) if side else tie
    number = -number if negative else number
    found = Numbers("bfloat16").convert(np.array(number))
    assert float(found) == _nearest_bfloat16(number)
