"""Lists of lists of any lengths: their values, and the length of each inner list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..cells.cells import Source
from ..cells.checks import Check, Checks, integers
from ..cells.decoded import convert_each, split_rows
from ..cells.delivered import Delivered
from ..cells.part import INT, Part
from ..cells.written import Stored
from ..shared.dtypes import ITEMS
from ..shared.errors import Problem
from ..shared.values import described
from .changes import DTYPE, FINITE, GROUP, KEY, LIMIT, PADDING
from .kind import Default, Kind, optional
from .limits import Listed
from .lists import NumberList, VarLen, padding_of, padding_problems
from .parameters import Name, OneOf, Padding, Size, declared, parameter
from .python_types import item_name, item_type, item_types
from .ranges import Ranged

_ADD_UP = "row lengths that add up to"


@dataclass(frozen=True)
class RaggedValue:
    """The values of inner lists.

    Attributes:
        items: the values of all lists, one after the other.
        lengths: int64 [T], the length of each list.
        text: whether the items are text, as UTF-8.
    """

    items: NDArray[Any] | list[bytes]
    lengths: NDArray[np.int64]
    text: bool = False

    def tolist(self) -> list[list[Any]]:
        """Return the lists as Python's own."""
        flat = self.items if isinstance(self.items, list) else self.items.tolist()
        if self.text:
            flat = [item.decode() for item in flat]
        return split_rows(flat, self.lengths)


@declared
class Ragged(Listed, Ranged):
    """A list of lists of numbers or strings, each of any length from 0.

    Stored as two features: all values one after the other, under the field's key, and
    how many of them each inner list has.

    Attributes:
        dtype: of the values; "string" is text, "bytes" opaque.
        row_lengths_key: the key of the inner lists' lengths; the field's key and
            "/row_lengths" if None.
        ragged: deliver a RaggedTensor; False pads a batch to its longest lists.
        padding_value: what fills up where `ragged=False`; 0 means "" for strings and
            False for bools.
        max_length: the most inner lists that a row may have; None for any number.
        group: a name that fields with equally many items share: here, inner lists.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
    """

    dtype: Annotated[str, OneOf(ITEMS)] = parameter(*DTYPE)
    row_lengths_key: Name | None = parameter(*KEY, default=None)
    ragged: bool = parameter(default=True)
    padding_value: Padding = parameter(*PADDING, default=0)
    max_length: Size | None = parameter(*LIMIT, default=None)
    group: Name | None = parameter(*GROUP, default=None)
    exact: bool = parameter(default=False)
    finite: bool = parameter(*FINITE, default=True)

    kind: ClassVar[str] = "Ragged"
    layers: ClassVar[tuple[str, ...]] = ("dense", "flat", "normalization", "vocabulary")
    holds: ClassVar[str] = "a list of lists of its dtype"
    takes_default: ClassVar[Default] = "empty"
    noun: ClassVar[str] = "lists"

    @property
    def python_type(self) -> str:
        return f"list[list[{item_name(self.dtype)}]]"

    def accepts(self, python_type: Any) -> bool:
        inner = item_type(python_type)
        return item_type(inner) in item_types(self.dtype)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        yield from padding_problems(self.dtype, self.padding_value)

    def resolved(self, name: str) -> Self:
        key = self.row_lengths_key or f"{self.key or name}/row_lengths"
        padding: Any = padding_of(self.dtype, self.padding_value)
        resolved = super().resolved(name)
        return replace(resolved, row_lengths_key=key, padding_value=padding)

    def bind(self) -> None:
        # The values of all inner lists, as one list.
        bounds = {each.name for each in fields(Ranged)} - {
            each.name for each in fields(Kind)
        }
        shared = ("key", "exact", "finite", *bounds)
        values = VarLen(self.dtype, **{name: getattr(self, name) for name in shared})
        self._values = (optional(values) if self.optional else values).bound(self.label)
        super().bind()

    def make_parts(self) -> tuple[Part, ...]:
        lengths = Part(
            self.row_lengths_key or "",
            INT,
            None,
            self.max_length,
            "row lengths",
            (0, None),
            "row_lengths_key",
            f"the row lengths of {self.key!r}",
        )
        (values,) = self._values.parts
        return (replace(values, item_size=None), replace(lengths, item_size=1))

    @cached_property
    def delivered(self) -> Delivered:
        return self._delivers_items((None, None))

    def convert(self, value: Any) -> RaggedValue:
        expected = f"a list of lists of {self.dtype}"
        if isinstance(value, np.ndarray) and value.ndim:
            value = list(value)
        if not isinstance(value, (list, tuple)):
            raise Problem(described(value), expected)
        for at, inner in enumerate(value):
            if not isinstance(inner, (list, tuple)) and np.ndim(inner) != 1:
                raise Problem(f"{described(inner)} at [{at}]", expected)
        lengths = np.fromiter(map(len, value), np.int64, len(value))
        if isinstance(self._values, NumberList):
            return RaggedValue(self._numbers(self._values, value), lengths)
        strings = [*chain.from_iterable(self._each(value))]
        return RaggedValue(strings, lengths, text=self.dtype == "string")

    def _numbers(self, values: NumberList, value: Sequence[Any]) -> NDArray[Any]:
        """Convert all lists at once; one by one if something is wrong with one."""
        try:
            return values.concatenated(value)[0]
        except (Problem, TypeError, ValueError):
            return np.concatenate(self._each(value))

    def _each(self, value: Sequence[Any]) -> list[Any]:
        return convert_each(self._values.convert, value, "in list [{1}] {0}")

    def store(self, value: Any) -> Sequence[Stored]:
        lists = self.convert(value)
        items = lists.items
        strings = isinstance(items, list)
        return (items if strings else self._values.store(items)[0], lists.lengths)

    @property
    def checks(self) -> Checks:
        return (
            *self._values.checks_of_items(),
            integers(
                *(0, None, "SG529", "negative row length", "row lengths from 0"),
                part=1,
                structural=True,
            ),
            Check(
                "SG529",
                "row lengths do not add up",
                f"{_ADD_UP} the number of values",
                lambda values, lengths: lengths.sums() == values.lengths,
                by_row=True,
                part=1,
                numbers=lambda values, lengths: (lengths.sums(), values.lengths),
                found=f"{_ADD_UP} {{}}, and {{}} values",
                structural=True,
            ),
            *self._limit.checks(part=1),
        )

    def cells(self, source: Source) -> tuple[Any, ...]:
        text = "int64 values, the length of each inner list"
        values = self._values.items(source, fill=True)
        return source.aligned(values, source.read(self.parts[1], text, fill=True))

    @property
    def _marks(self) -> tuple[Part, ...]:
        return self.parts

    def unpack(self, *cells: Any) -> Any:
        values, lengths = cells
        kept = self._limit.kept(values.lists_of_lists(self.dtype, lengths))
        return kept if self.ragged else values.padded(kept, self.delivered.filler)
