"""Sequences of any length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from ..runtime.encoding import base, sequence
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import (
    FLOATS,
    INTEGERS,
    Numbers,
    item_size,
    shape_text,
)
from .field import FieldSpec
from .kind import Default, Kind
from .literals import Code, literal
from .parameters import Name, OneOf, Padding, Size, seldom
from .parameters import Shape as ItemShape
from .python_types import is_array, is_list_of, number_types
from .storage import Entry, values
from .view import FieldView, Shape

if TYPE_CHECKING:
    from .steps import Steps

STRINGS = ("string", "bytes")
DTYPES = ("bool", *INTEGERS, *FLOATS, *STRINGS)
TooLong = Literal["error", "keep_head", "keep_tail"]


@dataclass(frozen=True)
class VarLen(Kind):
    """A sequence of any length from 0: numbers, items of a fixed shape, strings.

    Attributes:
        dtype: of the items; "string" is text, "bytes" opaque.
        max_length: the most items a row may have; None for any number.
        item_shape: the shape of one item; items are stored flat.
        padding_value: what fills a batch up to its longest row; 0 means "" for
            strings and False for bools.
        ragged: deliver a RaggedTensor in place of a padded batch.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        too_long: what becomes of more than `max_length` items, when writing and when
            reading: "error" refuses them, "keep_head" keeps the first and "keep_tail"
            the last of them.
        pad_on_disk: fill shorter rows up to `max_length` with `padding_value` when
            writing; readers then get a fixed shape.
        group: a name that fields with equally many items share; checked when writing
            and when reading.
    """

    dtype: Annotated[str, OneOf(DTYPES)]
    max_length: Size | None = None
    item_shape: ItemShape = ()
    padding_value: Padding = 0
    ragged: bool = False
    exact: bool = False
    finite: bool = True
    too_long: TooLong = seldom("error")
    pad_on_disk: bool = seldom(False)
    group: Name | None = seldom(None)

    name: ClassVar[str] = "VarLen"
    holds: ClassVar[str] = "a list or np.ndarray of its dtype"
    takes_default: ClassVar[Default] = "empty"
    input_layers: ClassVar[tuple[str, ...]] = ("dense", "normalization", "vocabulary")

    def accepts(self, python_type: Any) -> bool:
        if self.dtype in STRINGS:
            return is_list_of(python_type, str if self.dtype == "string" else bytes)
        return is_array(python_type) or is_list_of(
            python_type, *number_types(self.dtype)
        )

    def rules(self) -> Iterator[Problem]:
        yield from limit_problems(self)
        if self.pad_on_disk and (self.ragged or self.max_length is None):
            yield Problem(
                "pad_on_disk=True with ragged=True or no max_length",
                "max_length=n: what is padded on disk has one length",
            )
        if self.item_shape and self.dtype in STRINGS:
            yield Problem(f"item_shape with dtype {self.dtype!r}", "single strings")
        yield from padding_problems(self.dtype, self.padding_value)

    @property
    def opaque(self) -> str:
        return "opaque bytes" if self.dtype == "bytes" else ""

    def settled(self, name: str) -> Self:
        return replace(
            super().settled(name),
            padding_value=padding_of(self.dtype, self.padding_value),
        )

    def storage(self, key: str) -> tuple[Entry, ...]:
        size = prod(self.item_shape)
        most = None if self.max_length is None else self.max_length * size
        if self.pad_on_disk:
            return (values(key, self.dtype, most),)
        if self.too_long != "error":
            most = None  # files may hold more, which readers cut
        return (values(key, self.dtype, None, most),)

    def feature(self, name: str, *, optional: bool) -> base.Feature:
        key = self.key or name
        padding: Any = None
        if self.pad_on_disk:
            padding = padding_of(self.dtype, self.padding_value)
        if self.dtype in STRINGS:
            return sequence.Strings(
                name,
                key=key,
                dtype=self.dtype,
                max_length=self.max_length,
                too_long=self.too_long,
                padding=padding,
                optional=optional,
            )
        return sequence.VarLen(
            name,
            key=key,
            dtype=self.dtype,
            max_length=self.max_length,
            too_long=self.too_long,
            padding=padding,
            item_shape=self.item_shape,
            optional=optional,
            exact=self.exact,
            finite=self.finite,
        )

    def view(self, field: FieldSpec) -> FieldView:
        return VarLenView(field)


def limit_problems(kind: VarLen | Steps) -> Iterator[Problem]:
    """Yield sequences that are cut, and have no limit."""
    if kind.max_length is None and kind.too_long != "error":
        yield Problem(f"too_long={kind.too_long!r} without a limit", "max_length=n")


def padding_problems(dtype: str, value: object) -> Iterator[Problem]:
    """Yield a padding value that a dtype cannot hold."""
    try:
        padding_of(dtype, value)
    except Problem as problem:
        yield Problem(f"padding_value={value!r}", problem.expected)


def padding_of(dtype: str, value: object) -> bool | int | float | str:
    """Return what fills a batch of a dtype; 0 is "" for strings and False for bools.

    Raises:
        Problem: the dtype cannot hold it.
    """
    if type(value) is int and value == 0 and dtype in ("bool", *STRINGS):
        return False if dtype == "bool" else ""
    return item_of(dtype, value)


def item_of(dtype: str, value: object) -> bool | int | float | str:
    """Return a single item of a dtype.

    Raises:
        Problem: the dtype cannot hold it.
    """
    if dtype in STRINGS:
        if not isinstance(value, str):
            raise Problem(repr(value), "a str")
        return value
    number = Numbers(dtype, finite=False).convert(value)
    if number.shape:
        raise Problem(repr(value), "one number")
    return number.item()  # type: ignore[no-any-return]


_LIMITS = {
    "error": ", at most {} items",
    "keep_head": ", of which the first {} items are kept",
    "keep_tail": ", of which the last {} items are kept",
}


class VarLenView(FieldView[VarLen]):
    """A sequence of any length, padded or ragged when read."""

    @property
    def shape(self) -> Shape:
        length = self.kind.max_length if self.filled_up else None
        return (length, *self.kind.item_shape)

    @property
    def filled_up(self) -> bool:
        """Whether what is stored has one length, `max_length`."""
        return self.kind.pad_on_disk

    @property
    def stored_padding(self) -> Code:
        """What fills rows up on disk, for the feature that does it."""
        return literal(self.kind.padding_value)

    @property
    def is_list(self) -> bool:
        return self.shape[0] is None

    @property
    def required_sequence(self) -> bool:
        return not self.raw and not self.optional and not self.filled_up

    @property
    def item_size(self) -> int | None:
        if self.filled_up:
            return None
        return prod(self.kind.item_shape) * (item_size(self.dtype) if self.raw else 1)

    def _raw(self, number: object, count: int) -> bytes:
        """Return the raw bytes of a number, so many times."""
        numbers = Numbers(self.dtype, finite=False)
        return numbers.raw(numbers.convert(number)).tobytes() * count

    @property
    def default_value(self) -> Code:
        if not self.filled_up:
            return literal(b"")  # of raw numbers; a list needs none
        padding = self.kind.padding_value
        if self.raw:
            return Code(f"{literal(self._raw(padding, 1))} * {self.size}")
        if isinstance(padding, str):
            return Code(f"[{literal(padding.encode())}] * {self.size}")
        dtype = "np.float32" if self.is_float else "np.int64"
        value = literal(padding if self.is_float else int(padding))
        return Code(f"np.full({literal(self.shape)}, {value}, {dtype})")

    @property
    def vocabulary(self) -> bool:
        """Whether the items are ids or words, not quantities."""
        single = not self.kind.item_shape
        return single and not self.is_float and self.dtype != "bool"

    @property
    def python_type(self) -> str:
        named = {"string": "Sequence[str]", "bytes": "Sequence[bytes]"}
        return named.get(self.kind.dtype, "ArrayLike")

    @property
    def wanted_value(self) -> str:
        text = f"{self.kind.dtype} {shape_text((None, *self.kind.item_shape))}"
        limit = self.kind.max_length
        if limit is not None:
            text += _LIMITS[self.kind.too_long].format(limit)
        if self.group is not None:
            text += f", as many as the others of {self.group!r}"
        return text

    @property
    def delivers_value(self) -> str:
        if self.filled_up:
            padding = self.kind.padding_value
            return f"{self.dtype} {self.batch_shape}, padded on disk with {padding!r}"
        sizes = ("B", "(T)" if self.kind.ragged else "T", *self.kind.item_shape)
        text = f"{self.dtype} [{', '.join(map(str, sizes))}]"
        if self.kind.ragged:
            return f"{text}, ragged"
        return f"{text}, padded with {self.kind.padding_value!r}"

    @property
    def missing_text(self) -> str:
        if self.filled_up:
            return "all padding"
        return "empty"
