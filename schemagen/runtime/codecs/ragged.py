"""Lists of lists of any lengths: their values, and the length of each inner list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem
from ..shared.values import described
from .changes import DTYPE, FINITE, GROUP, KEY, LIMIT, PADDING, parameter
from .decoded import Shape, convert_each, split_rows
from .limits import Limit, Listed
from .lists import Strings, VarLen, list_codec
from .part import INT, Part
from .stored import Read, Rule, Source
from .written import Stored


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


@dataclass(eq=False, kw_only=True)
class Ragged(Listed):
    """A list of lists of numbers or strings, each of any length from 0.

    Attributes:
        dtype: of the values; "string" is text, "bytes" opaque.
        row_lengths_key: the key of the inner lists' lengths; the key and "/row_lengths"
            if None.
        max_length: the most inner lists a row may have, or None.
        ragged: deliver a RaggedTensor; False pads a batch to its longest lists.
        padding_value: what fills up where `ragged=False`.
        group: the group of fields that are equally long.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    dtype: str = parameter(*DTYPE)
    row_lengths_key: str | None = parameter(*KEY, default=None)
    max_length: int | None = parameter(*LIMIT, default=None)
    ragged: bool = parameter(default=True)
    padding_value: Any = parameter(*PADDING, default=0)
    group: str | None = parameter(*GROUP, default=None)
    exact: bool = parameter(default=False)
    finite: bool = parameter(*FINITE, default=True)

    def __post_init__(self) -> None:
        self._name_key()
        facts: dict[str, Any] = {"exact": self.exact, "finite": self.finite}
        codec = list_codec(self.dtype)
        self._inner: VarLen | Strings = codec(
            self.label,
            key=self.key,
            dtype=self.dtype,
            optional=self.optional,
            **(facts if codec is VarLen else {}),
        )
        self._limit = Limit(self.max_length, noun="lists")
        super().__post_init__()

    def make_parts(self) -> tuple[Part, ...]:
        lengths = Part(
            self.row_lengths_key or f"{self.key}/row_lengths",
            INT,
            None,
            self.max_length,
            "row lengths",
            (0, None),
            "row_lengths_key",
            f"the row lengths of {self.key!r}",
        )
        return (*self._inner.parts, lengths)

    @property
    def delivered_shape(self) -> Shape:
        return (None, None)

    item_size = 1

    @property
    def length_part(self) -> Part:
        return self.parts[1]

    def convert(self, value: Any) -> RaggedValue:
        expected = f"a list of lists of {self.dtype}"
        if isinstance(value, np.ndarray) and value.ndim:
            value = list(value)
        if not isinstance(value, (list, tuple)):
            raise Problem(described(value), expected)
        self._limit.check(len(value))
        for at, inner in enumerate(value):
            if not isinstance(inner, (list, tuple)) and np.ndim(inner) != 1:
                raise Problem(f"{described(inner)} at [{at}]", expected)
        lengths = np.fromiter(map(len, value), np.int64, len(value))
        if isinstance(self._inner, VarLen):
            return RaggedValue(self._numbers(self._inner, value), lengths)
        strings = [*chain.from_iterable(self._each(value))]
        return RaggedValue(strings, lengths, text=self.dtype == "string")

    def _numbers(self, inner: VarLen, value: Sequence[Any]) -> NDArray[Any]:
        """Convert all lists at once; one by one if something is wrong with one."""
        try:
            return inner.concatenated(value)[0]
        except (Problem, TypeError, ValueError):
            return np.concatenate(self._each(value))

    def _each(self, value: Sequence[Any]) -> list[Any]:
        return convert_each(self._inner.convert, value, "in list [{1}] {0}")

    def store(self, value: Any) -> Sequence[Stored]:
        lists = self.convert(value)
        items = lists.items
        strings = isinstance(items, list)
        return (items if strings else self._inner.store(items)[0], lists.lengths)

    def read(self, source: Source) -> Read:
        part, lengths_part = self.parts
        values = self._inner.items(source, fill=True)
        text = "int64 values, the length of each inner list"
        lengths = source.read(lengths_part, text, fill=True)
        rule = Rule("SG529", "negative row length", "row lengths from 0")
        lengths = lengths.within(0, None, rule)
        values, lengths = source.aligned(values, lengths)

        def test() -> tuple[Any, ...]:
            sums = lengths.sums()
            return sums == values.lengths, sums, values.lengths

        words = "row lengths that add up to"
        rule = Rule(
            "SG529", "row lengths do not add up", f"{words} the number of values"
        )
        lengths = lengths.check_rows(test, rule, f"{words} {{}}, and {{}} values")
        lengths = self._limit.checked(lengths, lambda: lengths.lengths)
        lengths = source.present(lengths, part, lengths_part)
        values, lengths = source.aligned(values, lengths)

        def lists() -> Any:
            kept = self._limit.kept(values.lists_of_lists(self.dtype, lengths))
            return kept if self.ragged else values.padded(kept, self.filler)

        return lengths, lists
