"""What all codecs have in common: names, absence, errors, rows and columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..reading.decoding import Expected
from ..shared.dtypes import FLOATS
from .changes import DEFAULT, OPTIONAL, parameter
from .decoded import Decoded, Form, Shape, Values
from .parsed import Parsed
from .part import Part
from .row_source import RowSource
from .stored import Read, Source
from .stored_tensors import TensorSource
from .written import Stored, Written, joined

Column = Sequence[Any] | NDArray[Any]


@dataclass(eq=False)
class Codec(ABC):
    """The codec of one field of a record.

    Attributes:
        label: the field's name, with dots where it is nested.
        key: the key of its values; the label with slashes if None. "" for the
            value of one step, which has no key.
        optional: whether the value may be missing.
        default: what readers deliver for a missing value.
        presence: deliver a mask that tells which records have a value.
    """

    label: str
    _: KW_ONLY
    key: Any = parameter(default=None)
    optional: bool = parameter(*OPTIONAL, default=False)
    default: Any = parameter(*DEFAULT, default=None)
    presence: bool = parameter(default=False)

    parts: tuple[Part, ...] = field(init=False, repr=False)
    """What it is stored as, its values first."""

    in_list: ClassVar[bool] = False
    """Whether it is stored as a feature list of a SequenceExample."""

    of_classes: ClassVar[bool] = False
    """Whether its values are classes, or lists of them."""

    of_pixels: ClassVar[bool] = False
    """Whether its values are images or masks, or lists of them."""

    dtype: Any = field(init=False, repr=False)
    """The dtype of the values, by its TensorFlow name."""

    def __post_init__(self) -> None:
        self._name_key()
        # An attribute that is set here is read faster than a cached property.
        self.parts = self.make_parts()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parameters: what is made of them holds functions."""
        names = [each.name for each in fields(self) if each.init]
        return _made, (type(self), {name: getattr(self, name) for name in names})

    def _name_key(self) -> None:
        """Make the key of the label, if none is given."""
        if self.key is None:
            self.key = self.label.replace(".", "/")

    # What it stores, takes and delivers.

    @abstractmethod
    def make_parts(self) -> tuple[Part, ...]:
        """Return what it is stored as, its values first."""

    @property
    def delivered_shape(self) -> Shape:
        """The shape of one record's tensor; None for a size that varies."""
        return ()

    @property
    def delivered_dtype(self) -> str:
        """The dtype of a tensor, by its TensorFlow name."""
        return "string" if self.dtype == "bytes" else str(self.dtype)

    @property
    def layout(self) -> str:
        """The layout of a batch: dense, ragged or sparse."""
        return "dense"

    @property
    def padded(self) -> bool:
        """Whether rows are padded to the longest of their batch."""
        return None in self.delivered_shape and self.layout == "dense"

    @property
    def filler(self) -> Any:
        """The value that pads shorter rows; 0 is the zero of each dtype."""
        dtype = self.delivered_dtype
        zero = {"string": "", "bool": False}.get(dtype, 0.0 if dtype in FLOATS else 0)
        return getattr(self, "padding_value", zero) or zero

    @property
    def batchable(self) -> bool:
        """Whether the values of several records make one tensor."""
        return True

    @property
    def limit(self) -> int | None:
        """The largest length of a list; None if there is no limit."""
        return None

    @property
    def item_size(self) -> int | None:
        """The stored numbers or raw bytes of one item; None if it is not a list."""
        return None

    @property
    def length_part(self) -> Part:
        """The part whose length tells the number of items."""
        return self.parts[0]

    @property
    def absent(self) -> Any:
        """The value of a missing one in a batch, which fills an array."""
        if self.default not in (None, ()):  # an empty list is all padding
            return self.default
        return float("nan") if self.nan_if_missing else self.filler

    @property
    def decoded_as(self) -> tuple[str, Shape]:
        """The dtype and the shape of one decoded value; None for a size that varies."""
        return str(self.dtype), self.delivered_shape

    @property
    def is_tensor(self) -> bool:
        """Whether decoded values are arrays with more than a list's dimension."""
        dtype, shape = self.decoded_as
        listed = self.item_size is not None and (len(shape) == 1 or None in shape[1:])
        return bool(shape) and dtype not in ("string", "bytes") and not listed

    # Missing values.

    @property
    def name(self) -> str:
        """The field's name in batches and models."""
        return self.label.replace(".", "_")

    @property
    def missing(self) -> bool:
        """Whether a missing value has no default."""
        return self.optional and self.default is None

    @property
    def in_band(self) -> bool:
        """Whether one of its own values marks a missing one."""
        return False

    @property
    def nan_if_missing(self) -> bool:
        """Whether a missing value is NaN, so that it needs no mask."""
        return False

    @property
    def missing_target(self) -> float | None:
        """The value of a missing target, where the parser delivers it next to a mask."""
        return None

    @property
    def masked(self) -> bool:
        """Whether a mask tells which records have a value."""
        unmarked = self.missing and not self.in_band and not self.nan_if_missing
        return unmarked or self.presence

    # Writing.

    @abstractmethod
    def convert(self, value: Any) -> Any:
        """Return a value in the one form in which it is stored.

        Raises:
            Problem: the field cannot hold it.
        """

    @abstractmethod
    def store(self, value: Any) -> Sequence[Stored]:
        """Return what each part holds of one row's value.

        Raises:
            Problem: the field cannot hold it.
        """

    def store_column(self, values: Any, rows: int) -> Sequence[Written]:
        """Return what each part holds of the values of `rows` rows, none of them missing.

        Kinds with a faster way for columns have their own. It may refuse what `store`
        accepts: the rows are then stored one by one, which also finds the one at fault.

        Raises:
            Problem, TypeError, ValueError: the field cannot hold a value.
        """
        return self.join([*map(self.store, values)])

    def join(self, rows: Sequence[Sequence[Stored]]) -> Sequence[Written]:
        """Return what each part holds of all rows, given what it holds of each."""
        return [
            joined(part, [row[at] for row in rows])
            for at, part in enumerate(self.parts)
        ]

    # Reading.

    @property
    def expected(self) -> Expected | None:
        """What the one feature that holds it has to be, if `read` checks no more."""
        return None

    @abstractmethod
    def read(self, source: Source) -> Read:
        """Check stored values, and return those that are right.

        Of arrays they are what batches have, but for padding and resizing, and encoded
        images stay bytes; of tensors they are the tensor of a batch: [B, ...].
        """

    def decode(self, source: RowSource) -> Decoded:
        """Return the values of the records in which they are right."""
        found, values = self.read(source)
        return Decoded(found.column.rows, values)

    def validity(self, values: Values) -> NDArray[np.bool_] | None:
        """Return which decoded values are no missing ones; None for all."""
        return None

    def delivered(self, values: Values, form: Form) -> Values:
        """Return decoded values as `parse` delivers them, but for padding.

        Raises:
            UndecodableError: one is a damaged image.
        """
        return values

    def parse(self, parsed: Parsed) -> Any:
        """Return the tensor of a batch: [B, ...]."""
        _, tensor = self.read(TensorSource(self.label, parsed, self.optional))
        return tensor()

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        """Return which records of a batch have a value: bool [B]."""
        return parsed.present(self.length_part.key)

    def parsed(self, parsed: Parsed) -> dict[str, Any]:
        """Return the tensors of a batch by name, if the field is asked for."""
        if self.name not in parsed.fields:
            return {}
        found = {self.name: self.parse(parsed)}
        if self.masked:
            present = self.present(parsed, found[self.name])
            found[f"{self.name}_present"] = present
        return found

    @property
    def features(self) -> tuple[Part, ...]:
        """The parts that TensorFlow parses."""
        return tuple(part for part in self.parts if part.read)

    @property
    def required(self) -> tuple[str, ...]:
        """The keys of lists that TensorFlow reads as empty where they are missing."""
        if self.optional:
            return ()
        return tuple(
            part.key
            for part in self.features
            if part.count is None and part.holds != "index"
        )


def _made(cls: type[Codec], parameters: dict[str, Any]) -> Codec:
    return cls(**parameters)
