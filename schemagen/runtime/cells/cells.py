"""What a kind reads from: the stored values of a batch, in numpy or in a TensorFlow graph.

A kind says once which stored values are right (`checks`) and what becomes of them. In
numpy a check keeps the rows that are right and notes a fault; in TensorFlow it is an
assertion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from .checks import BytesCheck, Check
from .decoded import Shape

if TYPE_CHECKING:
    from .part import Part


class Cells(ABC):
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

    @property
    @abstractmethod
    def absent(self) -> Any:
        """Which rows have no value of their own, of those that are read: bool [rows].

        False for none of them.
        """

    @abstractmethod
    def are_nan(self, numbers: Any) -> Any:
        """Return which numbers are NaN."""

    def by_row(self, count: int) -> Any:
        """Return as many values of each row: [rows, count]."""
        return self.xp.reshape(self.values, (-1, count))

    @abstractmethod
    def raw(self, dtype: str, count: int | None = None) -> Self:
        """Return the numbers in bytes, one value of bytes a row.

        Args:
            dtype: of the little-endian numbers.
            count: how many each row has; None for any number.
        """

    @abstractmethod
    def ids_of(self, known: Sequence[bytes] | Sequence[int], none: bytes | int) -> Self:
        """Return the positions of stored names or integers; -2 for an unknown one.

        Messages show what is stored.

        Args:
            known: the names or integers.
            none: what is no class, whose position is -1, unless it is known.
        """

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
    def scaled(self, numbers: Any, scale: float, offset: float) -> Any:
        """Return numbers times a scale plus an offset, as float32; NaN where absent."""

    @abstractmethod
    def are_products(self, counts: Any, sizes: Sequence[Any]) -> Any:
        """Return which rows have as many as the product of their sizes: bool [rows].

        In float64, so that sizes which no memory holds do not wrap around.
        """

    @abstractmethod
    def deserialized(
        self, dtype: str, shape: Shape, expected: str
    ) -> tuple[Any, Sequence[Any]]:
        """Return what tf.io.serialize_tensor has written: raw numbers, and their sizes.

        Args:
            dtype: of the numbers.
            shape: of one tensor; None for a size that varies.
            expected: what should be there.
        """

    @abstractmethod
    def sums(self) -> Any:
        """Return the sum of each row's integers: int64 [rows]."""

    @abstractmethod
    def tensors(
        self, dtype: str, shape: Shape, sizes: Sequence[Any], filler: Any
    ) -> Any:
        """Return a tensor for each row.

        Args:
            dtype: of the numbers.
            shape: of all of them; None for a size that varies.
            sizes: int64 [rows] for each dimension, or one for all rows.
            filler: what fills up where they are batched.
        """

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
    def steps(self, part: Part, limit: Any) -> tuple[Any, Source]:
        """Return the steps of a feature list, and a source of what each of them holds.

        Args:
            part: the list.
            limit: beyond which graphs do not look at steps.
        """

    @abstractmethod
    def complete(self, steps: Any, inside: Source) -> Any:
        """Return the rows all of whose steps are right, once they have been read."""

    @abstractmethod
    def aligned(self, *some: Any) -> tuple[Any, ...]:
        """Return the rows that all of some stored values have."""

    @abstractmethod
    def sized(self, cells: Any, image: Any) -> tuple[Any, Any]:
        """Return the rows whose image can be read, and its stored height and width.

        Args:
            cells: the rows.
            image: the bound kind of the image.

        Returns:
            The rows, and int64 [rows, 2].
        """

    @abstractmethod
    def checked(self, cells: tuple[Any, ...], *checks: Check | BytesCheck) -> Any:
        """Return the rows for which checks hold, of cells that have the same rows."""

    @abstractmethod
    def present(self, cells: tuple[Any, ...], *parts: Part) -> tuple[Any, ...]:
        """Return those rows of cells in which parts are present."""
