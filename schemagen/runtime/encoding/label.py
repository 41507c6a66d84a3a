"""Class labels, given by id or by name, one or several a record."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem, did_you_mean, warn
from ..shared.values import Numbers, described, shortened
from ..shared.wire import BYTES_LIST, INT64_LIST, Pieces, varint
from .base import Feature
from .columns import BufferColumns, value_buffers, varint_buffers
from .text import encode_text

_IDS = Numbers("int64")

# How many classes' entries are kept at hand.
_KEPT = 4096

# What stands for a class without being taken for another number: True equals 1.
_PLAIN = frozenset((int, str, np.int64, np.int32, np.uint8))


@dataclass(eq=False, kw_only=True)
class _Classes(Feature):
    """A field of classes.

    Attributes:
        num_classes: ids go from 0 to num_classes - 1.
        classes: the classes' names in the order of their ids; may be empty.
        offset: what is added to an id where it is stored.
        stored: "id", or "text" for names, as UTF-8.
    """

    num_classes: int
    classes: tuple[str, ...] = ()
    offset: int = 0
    stored: str = "id"

    def __post_init__(self) -> None:
        text = self.stored == "text"
        self._store_as(BYTES_LIST if text else INT64_LIST)
        self._ids = {name: index for index, name in enumerate(self.classes)}
        self._texts = [encode_text(name) for name in self.classes] if text else []
        # Ids that read as the name of another class, until there was a warning.
        self._misleading = {
            int(name)
            for name, index in self._ids.items()
            if name.isdecimal() and int(name) != index and str(int(name)) == name
        }

    def _id_of(self, value: Any) -> int:
        """Return the id of a class that is given by id, name or Enum member.

        Raises:
            Problem: it is not one.
        """
        if isinstance(value, Enum):
            value = value.value
        if isinstance(value, str):
            return self._id_of_name(value)
        if isinstance(value, (bool, np.bool_)) or not isinstance(
            value, (int, np.integer)
        ):
            if isinstance(value, np.ma.MaskedArray):
                raise Problem("a masked array", self._expected())
            if isinstance(value, np.ndarray) and value.ndim == 0:
                return self._id_of(value[()])
            raise Problem(described(value), self._expected())
        if not 0 <= value < self.num_classes:
            raise Problem(f"class id {value}", self._expected())
        if value in self._misleading:
            self._warn_of(int(value))
        return int(value)

    def _id_of_name(self, name: str) -> int:
        if name in self._ids:
            return self._ids[name]
        advice = did_you_mean(name, self._ids)
        raise Problem(f"the class {shortened(name)}", self._expected(), advice)

    def _warn_of(self, index: int) -> None:
        self._misleading.clear()
        warn(
            f"field {self.name!r}: {index} is taken for the class id of "
            f"{self.classes[index]!r}, as ids count from 0; pass {str(index)!r} for the "
            "class of that name (there is one warning for all records)"
        )

    def _expected(self) -> str:
        ids = f"a class id from 0 to {self.num_classes - 1}"
        if self.offset:
            ids += f", to which the writer adds offset={self.offset}"
        if not self._ids:
            return ids
        names = list(self._ids)
        shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        return f"{ids} or one of {shown}"


class Label(_Classes):
    """One class."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._known: dict[int | str, Pieces] = {}

    def convert(self, value: Any) -> int:
        return self._id_of(value)

    def encode(self, value: Any) -> Pieces:
        if type(value) not in _PLAIN:
            return self._row(value, None)
        pieces = self._known.get(value)
        if pieces is None:
            pieces = (b"".join(self._row(value, None)),)
            if len(self._known) < _KEPT:
                self._known[value] = pieces
        return pieces

    def _pieces(self, value: Any) -> Pieces:
        index = self.convert(value)
        run = self._texts[index] if self._texts else varint(index + self.offset)
        return self._entry.packed_head(len(run)), run

    def _column(self, values: Any, rows: int) -> BufferColumns:
        if not isinstance(values, np.ndarray) and str in set(map(type, values)):
            values = [self.convert(value) for value in values]
        ids = _IDS.convert(values)
        if ids.shape != (rows,):
            raise Problem(f"shape {list(ids.shape)}", f"shape [{rows}]")
        if ids.size and not 0 <= ids.min() <= ids.max() < self.num_classes:
            raise Problem("class ids out of range", self._expected())
        if self._misleading:
            named = self._misleading.intersection(ids.tolist())
            if named:
                self._warn_of(min(named))
        if self._texts:
            return value_buffers(self._entry, [self._texts[at] for at in ids.tolist()])
        return varint_buffers(self._entry, (ids + self.offset)[:, np.newaxis])


class MultiLabel(_Classes):
    """Any number of classes, each at most once, stored in the order given."""

    def convert(self, value: Any) -> list[int]:
        if isinstance(value, np.ndarray):
            self._check_array(value)
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            advice = "a set has no order: sorted() makes a list of it"
            advice = advice if isinstance(value, (set, frozenset)) else ""
            raise Problem(described(value), "a list of classes", advice)
        ids = [self._id_of(item) for item in value]
        if len(set(ids)) < len(ids):
            at = next(n for n, index in enumerate(ids) if index in ids[:n])
            raise Problem(
                f"the class {value[at]!r} twice, at [{ids.index(ids[at])}] and at "
                f"[{at}]",
                "each class once",
            )
        return ids

    def _check_array(self, array: NDArray[Any]) -> None:
        if isinstance(array, np.ma.MaskedArray):
            raise Problem("a masked array", "a list of classes")
        if array.ndim != 1:
            raise Problem(f"shape {list(array.shape)}", "shape [?]: a list of classes")
        if array.dtype.kind in "bf" and array.size:
            raise Problem(
                f"{array.dtype.name} values",
                "the ids or names of the classes that are there",
                "of a row of zeros and ones give np.flatnonzero(row)",
            )

    def _pieces(self, value: Any) -> Pieces:
        ids = self.convert(value)
        if self._texts:
            return self._entry.listing(self._texts[index] for index in ids)
        if not ids:
            return (self._entry.empty,)
        packed = b"".join(varint(index + self.offset) for index in ids)
        return self._entry.packed_head(len(packed)), packed
