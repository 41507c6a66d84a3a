"""Random rows: good ones with what has to come back, and values of any type."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from tiers import examples

from .fields import INTEGERS, FieldCase, RecordCase

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


@dataclass(frozen=True)
class Given:
    """A value as a row gives it, and what readers have to deliver for it.

    Attributes:
        value: the argument of the writer.
        expected: a number array, bytes, a list of bytes, or the pixels of an image;
            None if it may be anything that `encoded` decodes to.
        encoded: the bytes of an image that have to be stored as they are.
    """

    value: Any
    expected: Any
    encoded: bytes | None = None


Row = Mapping[str, Given]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return numpy's dtype; that of bfloat16 comes from another package."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def numbers(dtype: str, *, finite: bool) -> st.SearchStrategy[Any]:
    """Any number of a dtype as a Python value, extreme ones often."""
    if dtype == "bool":
        return st.booleans()
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
    dealt = _chance(draw).integers(0, len(some), size)
    return np.array(some, numpy_dtype(dtype))[dealt].reshape(shape)


def _chance(draw: st.DrawFn) -> np.random.Generator:
    return np.random.default_rng(draw(st.integers(0, 2**16)))


@st.composite
def _forms(draw: st.DrawFn, array: NDArray[Any], case: FieldCase) -> Any:
    """The same numbers in one of the forms in which rows come."""
    forms: list[Callable[[], Any]] = [lambda: array]
    if case.kind != "Image" and array.size:
        forms.append(array.tolist)
        forms.append(lambda: tuple(array.tolist()))
    if array.dtype == BFLOAT16:
        forms.append(lambda: array.astype(np.float32))
    elif array.dtype.kind in "iuf" and array.dtype.itemsize > 1:
        forms.append(lambda: array.astype(array.dtype.newbyteorder(">")))
    if array.ndim:
        forms.append(lambda: np.repeat(array, 2, axis=-1)[..., ::2])
        forms.append(lambda: np.asfortranarray(array))
    if array.dtype.name in ("int8", "uint8", "int16", "uint16", "int32"):
        forms.append(lambda: array.astype(np.int64))
    if not array.ndim:
        forms = [lambda: array[()], lambda: array, array.item]
    return draw(st.sampled_from(forms))()


@st.composite
def _number_values(draw: st.DrawFn, case: FieldCase) -> Given:
    shape: tuple[int, ...] = tuple(size or 0 for size in case.shape)
    if case.kind == "VarLen":
        longest = 6 if case.max_length is None else case.max_length
        length = draw(st.integers(0, longest) | st.just(longest))
        if length == 0 and draw(st.booleans()):
            empty = np.empty((0, *shape), numpy_dtype(case.dtype))
            return Given([], empty)
        shape = (length, *shape)
    # Python's own floats are rounded to float32; arrays are where `exact` is False.
    rounded = case.dtype == "float32" and case.kind != "Image"
    if (rounded or not case.exact) and draw(st.booleans()):
        size = int(np.prod(shape))
        wide = draw(st.lists(st.floats(-1e38, 1e38), min_size=size, max_size=size))
        array = np.array(wide, np.float64).reshape(shape)
        given: Any = array.tolist() if rounded else array
        if rounded and not case.exact and shape:
            given = draw(st.sampled_from([given, array]))
        if not array.size:  # lists do not tell the sizes that come after
            given = array.astype(case.dtype)
        return Given(given, array.astype(case.dtype))
    array = draw(arrays(case.dtype, shape, finite=case.finite))
    return Given(draw(_forms(array, case)), array)


_texts = st.sampled_from(
    ["", "\x00", "a\x00b", "🦊", "\U0010ffff", "e\u0301", "\u202e", " \n", "'\"\\"]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_blobs = st.sampled_from([b"", b"\x00", b"\xff\xfe", b"\n"]) | st.binary(max_size=8)


def _strings(case: FieldCase) -> st.SearchStrategy[Given]:
    if case.kind != "VarLen":
        if case.dtype == "bytes":
            return _blobs.map(lambda blob: Given(blob, blob))
        return _texts.map(lambda text: Given(text, text.encode()))
    longest = 5 if case.max_length is None else case.max_length
    if case.dtype == "bytes":
        blobs = st.lists(_blobs, max_size=longest)
        return blobs.map(lambda items: Given(items, items))
    texts = st.lists(_texts, max_size=longest)
    forms = texts | texts.map(tuple) | texts.map(lambda t: np.array(t, object))
    return forms.map(lambda items: Given(items, [item.encode() for item in items]))


def _labels(case: FieldCase) -> st.SearchStrategy[Given]:
    ids = st.integers(0, case.num_classes - 1)
    forms = ids.map(lambda i: Given(i, np.int64(i)))
    forms |= ids.map(lambda i: Given(np.uint16(i), np.int64(i)))
    if case.classes:
        forms |= ids.map(lambda i: Given(case.classes[i], np.int64(i)))
    return forms


def encode_image(pixels: NDArray[np.uint8], encoding: str) -> bytes:
    """Encode pixels with Pillow."""
    image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    out = io.BytesIO()
    image.save(out, format=encoding.upper())
    return out.getvalue()


@st.composite
def _encoded_images(draw: st.DrawFn, case: FieldCase) -> Given:
    height, width = (size or draw(st.integers(1, 6)) for size in case.size[:2])
    channels = case.size[2] or 0
    pixels = _chance(draw).integers(0, 256, (height, width, channels), np.uint8)
    if draw(st.booleans()):
        # What is stored is the writer's own encoding; a PNG gives the pixels back.
        return Given(pixels, pixels if case.encoding == "png" else None)
    data = encode_image(pixels, case.encoding)
    return Given(data, pixels if case.encoding == "png" else None, data)


def values(case: FieldCase) -> st.SearchStrategy[Given]:
    """Good values of a field, without None."""
    if case.kind == "Label":
        return _labels(case)
    if case.encoding:
        return _encoded_images(case)
    if case.dtype in ("string", "bytes"):
        return _strings(case)
    return _number_values(case)


def _perhaps(case: FieldCase) -> st.SearchStrategy[Given | None]:
    found: st.SearchStrategy[Given | None] = values(case)
    return (st.none() | found) if case.optional else found


def rows(record: RecordCase) -> st.SearchStrategy[dict[str, Given]]:
    """Good rows; optional fields are sometimes left out."""
    drawn = st.fixed_dictionaries({f.name: _perhaps(f) for f in record.fields})
    kept = drawn.map(lambda row: {n: v for n, v in row.items() if v is not None})
    return kept.filter(bool)


def batches(record: RecordCase, longest: int = 3) -> st.SearchStrategy[list[Row]]:
    """Good batches, of one row if the record's images cannot be stacked."""
    size = 1 if record.one_image_batches else longest
    return st.lists(rows(record), min_size=1, max_size=size)


def arguments(row: Row) -> dict[str, Any]:
    """Return a row as the writer's keywords."""
    return {name: given.value for name, given in row.items()}


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
def _wild_arrays(draw: st.DrawFn, case: FieldCase) -> Any:
    near = [tuple(size or 2 for size in case.shape), (0,), (2,), (3,), (), (0, 5)]
    shape = draw(st.sampled_from([near[0], (2, *near[0]), *near[1:]]))
    dtype = draw(st.sampled_from(_DTYPES))
    array = np.ones(shape, dtype) if dtype[0] not in "OM" else np.empty(shape, dtype)
    if draw(st.integers(0, 5)) == 0:
        return np.ma.masked_array(array, mask=draw(st.booleans()))
    return array


def wild(case: FieldCase) -> st.SearchStrategy[Any]:
    """Values of any type: right by chance, mostly wrong, often nearly right."""
    listed = st.lists(_scalars, max_size=4)
    good = values(case).map(lambda given: given.value)
    return st.one_of(
        _scalars,
        listed,
        listed.map(tuple),
        st.lists(listed, max_size=3),
        _wild_arrays(case),
        st.lists(good, max_size=2),
        good.map(_damaged),
    )


def _damaged(value: Any) -> Any:
    """Spoil a good value a little: shorten it, or give it another type."""
    if isinstance(value, (str, bytes)):
        return value[: len(value) // 2]
    if isinstance(value, np.ndarray):
        return value[..., :-1] if value.ndim else value.astype(object)
    if isinstance(value, (list, tuple)):
        return [*value, *value, "x"]
    return [value]
