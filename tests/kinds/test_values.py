"""Numbers: converted without loss, or refused."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from schemagen.runtime.shared.errors import Problem
from schemagen.runtime.shared.values import FLOATS, INTEGERS, Numbers, item_size
from tiers import examples

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
            found = Numbers(target, finite=False).convert(array)
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
    """With exact=False floats are rounded as numpy does, overflow still refused."""

    @examples(40)
    @given(_values(source))
    def check(array: Any) -> None:
        with np.errstate(all="ignore"):
            expected = array.astype(target)
            overflow = bool((np.isinf(expected) & np.isfinite(array)).any())
        numbers = Numbers(target, exact=False, finite=False)
        if overflow:
            with pytest.raises(Problem, match="in the range of"):
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
    numbers = Numbers("bfloat16", exact=False, finite=False)
    if np.isinf(expected.astype(np.float32)[0]) and math.isfinite(number):
        with pytest.raises(Problem, match="range of bfloat16"):
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
    found = Numbers("bfloat16", exact=False).convert(np.array(number))
    assert float(found) == _nearest_bfloat16(number)


@pytest.mark.parametrize("dtype", FLOATS)
def test_raw_bytes_are_the_dtypes_own(dtype: str) -> None:
    """Raw storage is the dtype's little-endian memory, NaN and -0.0 included."""
    values = np.array([1.5, -0.0, np.inf, np.nan, 2.0**-14], np.float32)
    numbers = Numbers(dtype, finite=False)
    raw = numbers.raw(numbers.convert(values)).tobytes()
    assert len(raw) == item_size(dtype) * len(values)
    back = np.frombuffer(raw, _NUMPY[dtype]).astype(np.float32)
    np.testing.assert_array_equal(back, values)
    np.testing.assert_array_equal(np.signbit(back[:3]), [False, True, False])


@pytest.mark.parametrize("dtype", ["int16", "uint64", "float32", "float64"])
def test_foreign_byte_order_and_strides(dtype: str) -> None:
    """Big-endian arrays, transposed and reversed ones hold the same numbers."""
    plain = np.arange(6, dtype=dtype).reshape(2, 3)
    numbers = Numbers(dtype)
    for array in (
        plain.astype(plain.dtype.newbyteorder(">")),
        np.asfortranarray(plain),
        plain[::-1, ::-1][::-1, ::-1],
    ):
        raw = numbers.raw(numbers.convert(array))
        assert raw.tobytes() == plain.tobytes()


_REFUSED = [
    ("int64", True, "found True (bool), expected int64 values"),
    ("int64", np.array([True]), "found bool values, expected int64 values"),
    ("int64", [True, 2], "found a bool among numbers"),
    ("int64", 3.7, "found 3.7 (float64), expected int64 values"),
    ("int64", np.array([3.7]), "found float64 values, expected int64 values"),
    (
        "int64",
        np.array([]),
        "found an empty array of float64, expected int64 values; "
        "pass [], or np.array([], 'int64')",
    ),
    ("int64", 3.0, "found 3.0 (float64), expected int64 values"),
    ("int64", math.nan, "found nan (float64), expected int64 values"),
    ("int64", 2**63, "found the integer 9223372036854775808"),
    ("int64", [2**63, 1], "found the integer 9223372036854775808"),
    ("int64", 2**64, "found the integer 18446744073709551616, expected int64"),
    ("uint64", -1, "found the integer -1, expected uint64, from 0"),
    ("uint8", 256, "found the integer 256, expected uint8, from 0 to 255"),
    ("int8", np.array([1, -129]), "found the integer -129, expected int8"),
    ("bool", 1, "found 1 (int64), expected bool values"),
    ("bool", "yes", "found str 'yes', expected bool numbers"),
    ("float32", True, "found True (bool), expected float32 values"),
    ("float32", np.array(0.1), "found 0.1 (float64), expected a number that float32"),
    ("float32", np.float64(0.1), "found 0.1 (float64), expected a number that float3"),
    ("float32", [np.float64(0.1)], "found 0.1 at [0] (float64), expected a number th"),
    ("float32", [0.1, np.float64(0.1)], "found the number 0.1, expected an exact flo"),
    ("float32", [np.array([0.1])], "found 0.1 at [0, 0] (float64), expected a number"),
    ("float32", [0.1, 2**24 + 1], "found the integer 16777217, expected an exact flo"),
    ("float32", [0.1, np.int64(2**24 + 1)], "found the integer 16777217, expected an"),
    ("float32", [[0.1], [1e39]], "found 1e+39 at [1, 0] (float64), expected a number"),
    ("float32", [0.1, math.nan], "found nan at [1] (float64), expected a finite numb"),
    ("float16", 0.1, "found 0.1 (float64), expected a number that float16 holds"),
    ("bfloat16", [0.1], "found 0.1 at [0] (float64), expected a number that bfloat16"),
    ("float32", 2**24 + 1, "found 16777217 (int64), expected a number that float32"),
    ("float32", [0.5, 2**53 + 1], "found the integer 9007199254740993"),
    ("float32", 1e39, "found 1e+39 (float64), expected a number in the range"),
    ("float32", math.nan, "found nan (float64), expected a finite number"),
    ("float32", [1.0, -math.inf], "found -inf at [1] (float64), expected a finite"),
    ("float32", 1j, "found 1j (complex128), expected float32 values"),
    ("float32", None, "found None, expected float32 numbers"),
    ("float32", "1.0", "found str '1.0', expected float32 numbers"),
    ("float32", b"1.0", "found bytes b'1.0', expected float32 numbers"),
    ("float32", [1.0, "2"], "found str '2', expected float32 numbers"),
    ("float32", [1.0, None], "found None, expected float32 numbers"),
    ("float32", [1.0, [2.0]], "found"),
    ("float32", [[1.0], [2.0, 3.0]], "found lists of different lengths (1 to 2)"),
    ("float32", [[1.0], 2.0], "found a list among numbers, expected lists of equal"),
    ("float32", Decimal("0.5"), "found a Decimal, expected float32 numbers"),
    ("float32", np.array([1.0, Decimal(1)]), "found a Decimal, expected float32 num"),
    ("int64", np.array([1, None]), "found None, expected int64 numbers"),
    ("float32", {1.0}, "found a set, expected float32 numbers"),
    ("float32", np.array(["a"]), "found str32 values, expected float32 values"),
    (
        "float32",
        np.array([0.5], object),
        "found object values, such as float 0.5, expected float32 values; "
        "pass .tolist() of them",
    ),
    ("float32", np.ma.masked_array([1.0], [True]), "found a masked array"),
    ("int64", np.array(["2020"], "M8[Y]"), "found datetime64[Y] values"),
    ("float16", 70_000.0, "found 70000.0 (float64), expected a number in the range"),
    ("float16", 2049, "found 2049 (int64), expected a number that float16 holds"),
    ("bfloat16", 257, "found 257 (int64), expected a number that bfloat16 holds"),
    ("bfloat16", 3.4e38, "found 3.4e+38 (float64), expected a number"),
    ("float64", 2**53 + 1, "found 9007199254740993 (int64), expected a number that"),
]


@pytest.mark.parametrize(("dtype", "value", "message"), _REFUSED)
def test_refusals_say_what_was_found(dtype: str, value: object, message: str) -> None:
    """A value that cannot be held is named, with what was expected of it."""
    with pytest.raises(Problem) as caught:
        Numbers(dtype).convert(value)
    assert str(caught.value).startswith(message)


_NOON = datetime(2026, 1, 1, 12)


@pytest.mark.parametrize("value", [_NOON, [_NOON], [[1, _NOON]], np.array([_NOON])])
@pytest.mark.parametrize("dtype", ["int64", "uint32", "int16", "float32", "bool"])
def test_a_datetime_is_shown_with_what_to_store(dtype: str, value: object) -> None:
    """It is named by its type and value; integers that are wide enough hold seconds."""
    with pytest.raises(Problem) as caught:
        Numbers(dtype).convert(value)
    assert caught.value.found == "datetime 2026-01-01 12:00:00"
    assert caught.value.expected == f"{dtype} numbers"
    assert caught.value.advice == (
        "store seconds since 1970: int(value.timestamp())"
        if dtype in ("int64", "uint32")
        else ""
    )


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.datetime64(_NOON, "s"), "2026-01-01T12:00:00 (datetime64[s])"),
        ([np.datetime64(_NOON, "ms")], "datetime64[ms] values"),
        (np.array([_NOON], "M8[us]"), "datetime64[us] values"),
    ],
)
def test_numpys_times_are_told_how_to_be_stored(value: object, found: str) -> None:
    """The advice is what makes int64 of them."""
    with pytest.raises(Problem) as caught:
        Numbers("int64").convert(value)
    assert str(caught.value) == (
        f"found {found}, expected int64 values; store seconds since 1970: "
        "value.astype('datetime64[s]').astype('int64')"
    )
    with pytest.raises(Problem) as caught:
        Numbers("float64").convert(value)
    assert caught.value.advice == ""


@pytest.mark.parametrize(
    ("dtype", "value", "advice"),
    [
        (
            "float32",
            [[np.float64(0.1), 0.2]],
            "round it with np.float32(value), or declare exact=False",
        ),
        (
            "float32",
            np.float64(0.1),
            "round it with np.float32(value), or declare exact=False",
        ),
        ("float16", 0.1, "round it with np.float16(value), or declare exact=False"),
        (
            "float32",
            np.array([0.1]),
            "round it with .astype('float32') or declare exact=False",
        ),
        ("bfloat16", 0.1, "round it with .astype('bfloat16') or declare exact=False"),
        ("float32", [[np.float64(1e39), 0.2]], ""),
        ("float32", [0.5, 2**24 + 1], "declare a wider dtype"),
    ],
)
def test_what_to_do_about_inexact_numbers(
    dtype: str, value: object, advice: str
) -> None:
    """One number is rounded by its type, an array by its method."""
    with pytest.raises(Problem) as caught:
        Numbers(dtype).convert(value)
    assert caught.value.advice == advice


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("int64", [], np.empty(0, np.int64)),
        ("float32", [[], []], np.empty((2, 0), np.float32)),
        ("bfloat16", [], np.empty(0, np.float32)),
        ("bool", [True, False], np.array([True, False])),
        ("bool", np.bool_(True), np.array(True)),
        ("uint64", 2**64 - 1, np.array(2**64 - 1, np.uint64)),
        ("int64", -(2**63), np.array(-(2**63))),
        ("float32", [1, 0.5], np.array([1, 0.5], np.float32)),
        ("float32", (1, 2), np.array([1, 2], np.float32)),
        ("float32", 0.1, np.array(0.1, np.float32)),
        ("float32", [0.1, 1, 0.2], np.array([0.1, 1, 0.2], np.float32)),
        ("float32", ([0.1], (1e-50,)), np.array([[0.1], [0]], np.float32)),
        ("float32", [0.1, np.float32(0.3)], np.array([0.1, 0.3], np.float32)),
        ("float32", [0.1, np.float64(0.5)], np.array([0.1, 0.5], np.float32)),
        ("float64", 2**53, np.array(2.0**53)),
        ("float64", np.uint64(2**63), np.array(2.0**63)),
        ("float32", np.int8(3), np.array(3, np.float32)),
        ("float32", [np.array([1.0]), np.array([2.0])], np.array([[1], [2]], "f4")),
        ("int8", np.array([3], np.uint64), np.array([3], np.int8)),
    ],
)
def test_accepted_values(dtype: str, value: object, expected: Any) -> None:
    """What fits exactly is taken, from Python and from numpy."""
    found = Numbers(dtype).convert(value)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


def test_integers_are_never_rounded() -> None:
    """exact=False is for floats: a count that does not fit is still refused."""
    with pytest.raises(Problem, match="declare a wider dtype"):
        Numbers("float32", exact=False).convert(2**24 + 1)
