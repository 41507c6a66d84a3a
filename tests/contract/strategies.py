"""Random numbers, in the forms in which rows have them, and values of any type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiers import examples

from .kinds.case import Drawn, KindCase

# No slower machine makes a test fail. The profile says whether runs draw the same examples.
_CONTRACT = settings(
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = {"complex64": "float32", "complex128": "float64"}
RAW_ONLY = ("uint64", "float16", "bfloat16", "float64", *COMPLEX)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def contract(number: int) -> settings:
    """Return the settings of a contract test.

    Args:
        number: how many examples it runs; a third of them in the profile `quick`.
    """
    return settings(
        _CONTRACT,
        max_examples=examples(number).max_examples,
        derandomize=settings().derandomize,
    )


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return numpy's dtype; that of bfloat16 comes from another package."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def numbers(dtype: str, *, finite: bool) -> st.SearchStrategy[Any]:
    """Any number of a dtype as a Python value, extreme ones often."""
    if dtype == "bool":
        return st.booleans()
    if dtype in COMPLEX:
        part = numbers(COMPLEX[dtype], finite=finite)
        return st.builds(complex, part, part)
    if dtype in INTEGERS:
        bounds = np.iinfo(dtype)
        low, high = int(bounds.min), int(bounds.max)
        extremes = [low, high, 0, 1, high - 1, low + 1, min(127, high), min(128, high)]
        return st.sampled_from(extremes) | st.integers(low, high)
    limits = ml_dtypes.finfo(numpy_dtype(dtype))
    extremes = [0.0, -0.0, float(limits.max), float(limits.min), 1.0, -1.0]
    extremes += [float(limits.tiny), float(limits.smallest_subnormal)]
    extremes += [] if finite else [float("nan"), float("inf"), float("-inf")]
    width = {"float16": 16, "float64": 64}.get(dtype, 32)
    drawn = st.floats(width=width, allow_nan=not finite, allow_infinity=not finite)  # type: ignore[arg-type]
    if dtype == "bfloat16":
        drawn = drawn.map(_truncated_to_bfloat16)
    return st.sampled_from(extremes) | drawn


def _truncated_to_bfloat16(number: float) -> float:
    bits = np.array([number], np.float32).view(np.uint32)
    cut = (bits & np.uint32(0xFFFF0000)).view(np.float32)[0]
    return float(cut) if np.isnan(number) == np.isnan(cut) else 0.0


@st.composite
def arrays(
    draw: st.DrawFn, dtype: str, shape: tuple[int, ...], *, finite: bool
) -> NDArray[Any]:
    """Arrays of a dtype and shape; those of bfloat16 hold that very type.

    A few numbers are drawn and dealt out, which is quick for any size.
    """
    size = int(np.prod(shape))
    some = draw(
        st.lists(
            numbers(dtype, finite=finite), min_size=1, max_size=max(1, min(size, 4))
        )
    )
    dealt = chance(draw).integers(0, len(some), size)
    return np.array(some, numpy_dtype(dtype))[dealt].reshape(shape)


def chance(draw: st.DrawFn) -> np.random.Generator:
    """Return a generator of random numbers of a drawn seed."""
    return np.random.default_rng(draw(st.integers(0, 2**16)))


@st.composite
def forms(draw: st.DrawFn, array: NDArray[Any], *, lists: bool = True) -> Any:
    """The same numbers in one of the forms in which rows come."""
    found: list[Callable[[], Any]] = [lambda: array]
    if lists and array.size:
        found += [array.tolist, lambda: tuple(array.tolist())]
    if array.dtype == BFLOAT16:
        found.append(lambda: array.astype(np.float32))
    elif array.dtype.kind in "iuf" and array.dtype.itemsize > 1:
        found.append(lambda: array.astype(array.dtype.newbyteorder(">")))
    if array.ndim:
        found.append(lambda: np.repeat(array, 2, axis=-1)[..., ::2])
        found.append(lambda: np.asfortranarray(array))
    if array.dtype.name in ("int8", "uint8", "int16", "uint16", "int32"):
        found.append(lambda: array.astype(np.int64))
    if not array.ndim:
        found = [lambda: array[()], lambda: array, array.item]
    return draw(st.sampled_from(found))()


_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.sampled_from(
        [2**24 + 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64]
    ),
    st.floats(),
    st.sampled_from([0.1, 1e40, 1e-50, 65504.0, 65520.0, 3.0, -0.0, 2.0**63]),
    st.sampled_from(["", "hare", "hares", "FOX", "1", "\ud800", "a\x00"]),
    st.sampled_from([b"", b"hare", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"]),
    st.sampled_from(
        [
            np.bool_(True),
            np.int8(-1),
            np.int64(2**53 + 1),
            np.uint64(2**64 - 1),
            np.float16(0.1),
            np.float32(0.1),
            np.float64(0.1),
            np.float64("nan"),
            np.str_("hare"),
            np.bytes_(b"hare"),
            np.datetime64("2020-01-01"),
            np.complex64(1),
            ml_dtypes.bfloat16(1.5),
        ]
    ),
    st.sampled_from([object(), 1j, {}, {1}, range(3), bytearray(b"x"), np.ma.masked]),
)

_DTYPES = (
    *("bool", "int8", "int32", "int64", "uint8", "uint64"),
    *("float16", "float32", "float64", "U2", "S2", "O", "complex64", "M8[s]"),
)


@st.composite
def _wild_arrays(draw: st.DrawFn, good: st.SearchStrategy[Any]) -> Any:
    near = [np.shape(_as_array(draw(good))), (0,), (2,), (3,), (), (0, 5)]
    shape = draw(st.sampled_from([near[0], (2, *near[0]), *near[1:]]))
    dtype = draw(st.sampled_from(_DTYPES))
    array = np.ones(shape, dtype) if dtype[0] not in "OM" else np.empty(shape, dtype)
    if draw(st.integers(0, 5)) == 0:
        return np.ma.masked_array(array, mask=draw(st.booleans()))
    return array


def _as_array(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else np.zeros(2)


def wild(case: KindCase) -> st.SearchStrategy[Any]:
    """Values of any type: right by chance, mostly wrong, often nearly right."""
    listed = st.lists(_scalars, max_size=4)
    good = case.draw("x").map(_given)
    return st.one_of(
        _scalars,
        listed,
        listed.map(tuple),
        st.lists(listed, max_size=3),
        _wild_arrays(good),
        st.lists(good, max_size=2),
        good.map(_damaged),
    )


def _given(drawn: Drawn) -> Any:
    return drawn.given


def _damaged(value: Any) -> Any:
    """Spoil a good value a little: shorten it, or give it another type."""
    if isinstance(value, (str, bytes)):
        return value[: len(value) // 2]
    if isinstance(value, np.ndarray):
        return value[..., :-1] if value.ndim else value.astype(object)
    if isinstance(value, (list, tuple)):
        return [*value, *value, "x"]
    return [value]
