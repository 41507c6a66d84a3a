"""What a kind reads from: the stored values of a batch, in numpy or in a TensorFlow graph.

A kind says once which stored values are right and what becomes of them. In numpy a check
keeps the rows that are right and notes a fault; in TensorFlow it is an assertion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from ..shared.dtypes import FLOATS
from .decoded import Shape

if TYPE_CHECKING:
    from .part import Part


class Rule(NamedTuple):
    """What a check is about.

    Attributes:
        id: the rule's id.
        what: what is wrong where it fails.
        expected: what should be there.
    """

    id: str
    what: str
    expected: str


class Stored(ABC):
    """The values under one key in the rows of a batch, one row after the other.

    Tests are functions, so that rows which the core has compared with a plan cost nothing.

    Attributes:
        label: the field's name in messages.
        xp: numpy or TensorFlow, for functions that both have.
    """

    label: str
    xp: Any

    @property
    @abstractmethod
    def values(self) -> Any:
        """The values of all rows; what bytes are is up to the methods."""

    @property
    @abstractmethod
    def lengths(self) -> Any:
        """How many values each row has: int64 [rows]."""

    @property
    @abstractmethod
    def sizes(self) -> Any:
        """How many bytes each row has, of one value of bytes or none: int64 [rows]."""

    @property
    @abstractmethod
    def owners(self) -> Any:
        """The row of each value, counted from 0: int64 [values]."""

    @abstractmethod
    def check(
        self,
        test: Callable[[Any], Any],
        rule: Rule,
        *,
        shown: Self | None = None,
        found: Callable[[Any], str] | None = None,
        cause: Callable[[Any], str] | None = None,
    ) -> Self:
        """Refuse rows that have a wrong value.

        Args:
            test: from the values to which are right: bool [values].
            rule: what is wrong otherwise.
            shown: the values that messages show; these if None.
            found: the words for a wrong value; its text and position if None.
            cause: the likely cause, given a wrong value.
        """

    @abstractmethod
    def check_rows(
        self,
        test: Callable[[], tuple[Any, ...]],
        rule: Rule,
        words: str,
        *,
        cause: Callable[[Any, int], str] | None = None,
    ) -> Self:
        """Refuse rows as a whole.

        Args:
            test: returns which rows are right, bool [rows], and the numbers of each row
                that messages show.
            rule: what is wrong otherwise.
            words: the text of what was found, with a place for each of these numbers.
            cause: the likely cause, given the refused rows and the position of one.
        """

    @abstractmethod
    def finite(self, dtype: str) -> Self:
        """Refuse NaN and infinities, where the reader looks for them."""

    @abstractmethod
    def text(self) -> Self:
        """Refuse bytes that are not UTF-8, where the reader looks for them."""

    @abstractmethod
    def raw(self, dtype: str, count: int | None = None) -> Self:
        """Return the numbers in bytes, one value of bytes a row.

        Args:
            dtype: of the little-endian numbers.
            count: how many each row has; None for any number.
        """

    @abstractmethod
    def ids_of(self, names: Sequence[bytes]) -> Self:
        """Return the positions of stored names; -1 for "", -2 for an unknown name."""

    @abstractmethod
    def classes(self, count: int) -> Any:
        """Return the classes of each row, given by id; graphs have 0 or 1 for each."""

    @abstractmethod
    def with_values(self, values: Any) -> Self:
        """Return other numbers in place of these."""

    @abstractmethod
    def dense(self, dtype: str, shape: Shape) -> Any:
        """Return a value of a fixed shape for each row: [rows, *shape]."""

    @abstractmethod
    def lists(self, dtype: str, item_shape: tuple[int, ...] = ()) -> Any:
        """Return a list of items for each row."""

    @abstractmethod
    def of_steps(self, found: Self, values: Any) -> Any:
        """Return the values of the steps of each row, given those of all right steps."""

    @abstractmethod
    def padded(self, lists: Any, filler: Any) -> Any:
        """Return lists as batches have them, where batches are made of rows as they are."""

    @abstractmethod
    def lists_of_lists(self, dtype: str, lengths: Self) -> Any:
        """Return lists of lists for each row, given how many values each inner one has."""

    @abstractmethod
    def scaled(self, numbers: Any, scale: float, offset: float, absent: Any) -> Any:
        """Return numbers times a scale plus an offset, as float32; NaN where absent."""

    @abstractmethod
    def are_products(self, counts: Any, sizes: Sequence[Any]) -> Any:
        """Return which rows have as many as the product of their sizes: bool [rows].

        In float64, so that sizes which no memory holds do not wrap around.
        """

    @abstractmethod
    def deserialized(
        self, dtype: str, shape: Shape, expected: str, absent: Any
    ) -> tuple[Any, Sequence[Any]]:
        """Return what tf.io.serialize_tensor has written: raw numbers, and their sizes.

        Args:
            dtype: of the numbers.
            shape: of one tensor; None for a size that varies.
            expected: what should be there.
            absent: which rows have none.
        """

    @abstractmethod
    def sums(self) -> Any:
        """Return the sum of each row's integers: int64 [rows]."""

    @abstractmethod
    def tensors(
        self, dtype: str, shape: Shape, sizes: Sequence[Any], filler: Any, absent: Any
    ) -> Any:
        """Return a tensor for each row.

        Args:
            dtype: of the numbers.
            shape: of all of them; None for a size that varies.
            sizes: int64 [rows] for each dimension, or one for all rows.
            filler: what fills up where they are batched.
            absent: which rows have none.
        """

    @abstractmethod
    def distinct(self, axes: Sequence[Self], rule: Rule) -> Self:
        """Refuse rows in which an index occurs twice; graphs do so as they sort them."""

    @abstractmethod
    def sparse(
        self, dtype: str, shape: tuple[int, ...], axes: Sequence[Self], *, dense: bool
    ) -> Any:
        """Return a sparse tensor for each row, or a dense one.

        Args:
            dtype: of the values.
            shape: of one row's tensor.
            axes: the index of each value in each dimension.
            dense: whether to fill up with zeros.
        """

    def within(
        self, low: int | None, high: int | None, rule: Rule, **words: Any
    ) -> Self:
        """Refuse integers outside of a range, both ends included; None for no limit."""

        def right(numbers: Any) -> Any:
            if low is None or high is None:
                return numbers >= low if high is None else numbers <= high
            return (numbers >= low) & (numbers <= high)

        return self.check(right, rule, **words)

    @abstractmethod
    def in_range(
        self, dtype: str, range: tuple[Any, Any], rule: Rule, absent: Any
    ) -> Self:
        """Refuse rows with a number out of a range.

        Args:
            dtype: of the numbers, which may be raw bytes.
            range: the least and the greatest; None for no limit.
            rule: what is wrong otherwise.
            absent: which rows have none, of those that are read.
        """

    def numbers_of(self, dtype: str, bounds: Any, *, finite: bool) -> Self:
        """Check the numbers of a list.

        Args:
            dtype: of the numbers.
            bounds: the least and the greatest, if the list holds others.
            finite: whether NaN and infinities are refused.
        """
        if dtype in FLOATS:
            return self.finite(dtype) if finite else self
        if bounds is None:
            return self
        low, high = bounds
        text = "0 or 1 for a bool" if dtype == "bool" else f"{dtype}, {low} to {high}"
        rule = Rule("SG526", "number out of the dtype's range", text)
        return self.within(low, high, rule)


Read: TypeAlias = "tuple[Any, Callable[[], Any]]"
"""The rows of a batch that are right, and a function that returns their values."""


class Source(ABC):
    """The features of a batch, of which one field is read."""

    @abstractmethod
    def read(
        self,
        part: Part,
        expected: str,
        *,
        needed_by: Any = None,
        fill: bool = False,
    ) -> Any:
        """Return what is stored under a part's key: its type and count are checked.

        Args:
            part: what to read.
            expected: what should be there, in words.
            needed_by: the rows that have to have it; None for all of a required field.
            fill: whether rows that may be without are rows without values; of
                `needed_by`, those may that have no value, or all of an optional field.
        """

    @abstractmethod
    def steps(self, key: str, limit: Any) -> tuple[Any, Source]:
        """Return the steps of a feature list, and a source of what each of them holds.

        Args:
            key: of the list.
            limit: beyond which graphs do not look at steps.
        """

    @abstractmethod
    def complete(self, steps: Any, inside: Source) -> Any:
        """Return the rows all of whose steps are right, once they have been read."""

    @abstractmethod
    def aligned(self, *some: Any) -> Sequence[Any]:
        """Return the rows that all of some stored values have."""

    @abstractmethod
    def present(self, some: Any, *parts: Part) -> Any:
        """Return those rows of some stored values in which parts are present."""

    @abstractmethod
    def absent(self, part: Part) -> Any:
        """Return which rows lack an optional part, of those that are read: bool [rows]."""
