"""Class labels, given by id or by name."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from ..errors import Problem, did_you_mean
from ..values import Numbers, described, shortened
from ..wire import INT64_LIST, Pieces, varint
from .base import Feature, packed_integers

_IDS = Numbers("int64")


class Label(Feature):
    """One of a fixed number of classes, stored as its id.

    Args:
        name: the field's name.
        key: the feature's key in the Example.
        num_classes: ids go from 0 to num_classes - 1.
        classes: the classes' names in the order of their ids; may be empty.
        optional: whether None is allowed.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str,
        num_classes: int,
        classes: tuple[str, ...] = (),
        optional: bool = False,
    ) -> None:
        super().__init__(name, key, INT64_LIST, optional=optional)
        self._num_classes = num_classes
        self._ids = {name: index for index, name in enumerate(classes)}

    def convert(self, value: Any) -> int:
        if isinstance(value, Enum):
            value = value.value
        if isinstance(value, str):
            return self._id_of(value)
        if isinstance(value, (bool, np.bool_)) or not isinstance(
            value, (int, np.integer)
        ):
            if isinstance(value, np.ma.MaskedArray):
                raise Problem("a masked array", self._expected())
            if isinstance(value, np.ndarray) and value.ndim == 0:
                return self.convert(value[()])
            raise Problem(described(value), self._expected())
        if not 0 <= value < self._num_classes:
            raise Problem(f"class id {value}", self._expected())
        return int(value)

    def _id_of(self, name: str) -> int:
        if name in self._ids:
            return self._ids[name]
        advice = did_you_mean(name, self._ids)
        raise Problem(f"the class {shortened(name)}", self._expected(), advice)

    def _expected(self) -> str:
        ids = f"a class id from 0 to {self._num_classes - 1}"
        if not self._ids:
            return ids
        names = list(self._ids)
        shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        return f"{ids} or one of {shown}"

    def _pieces(self, value: Any) -> Pieces:
        packed = varint(self.convert(value))
        return self._entry.packed_head(len(packed)), packed

    def _column(self, values: Any, rows: int) -> list[Pieces]:
        if not isinstance(values, np.ndarray) and str in set(map(type, values)):
            values = [self.convert(value) for value in values]
        ids = _IDS.convert(values)
        if ids.shape != (rows,):
            raise Problem(f"shape {list(ids.shape)}", f"shape [{rows}]")
        if ids.size and not 0 <= ids.min() <= ids.max() < self._num_classes:
            raise Problem("class ids out of range", self._expected())
        runs = packed_integers(ids, np.ones(rows, np.int64))
        return [(self._entry.packed_head(len(run)), run) for run in runs]
