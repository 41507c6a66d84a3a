"""Sequences of any length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from ..runtime.shared.dtypes import FLOATS, INTEGERS
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import Numbers
from .kind import Default, Kind
from .parameters import Name, OneOf, Padding, Size, seldom
from .parameters import Shape as ItemShape
from .python_types import is_list_of, is_numbers, item_name, item_types

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

    @property
    def python_type(self) -> str:
        return "np.ndarray" if self.item_shape else f"list[{item_name(self.dtype)}]"

    @property
    def uses_vocabulary(self) -> bool:  # type: ignore[override]
        return not self.item_shape and self.dtype not in ("bool", *FLOATS)

    def accepts(self, python_type: Any) -> bool:
        if self.dtype in STRINGS:
            return is_list_of(python_type, *item_types(self.dtype))
        return is_numbers(python_type, self.dtype)

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

    def settled(self, name: str) -> Self:
        return replace(
            super().settled(name),
            padding_value=padding_of(self.dtype, self.padding_value),
        )


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
