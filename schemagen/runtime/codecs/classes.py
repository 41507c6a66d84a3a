"""Class labels, given by id or by name, one or several a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..reading.decoding import Expected
from ..shared.errors import Problem, did_you_mean, warn
from ..shared.values import Numbers, check_shape, described, shortened
from .base import Codec
from .changes import CLASSES, FORM, NUM_CLASSES, OFFSET, parameter
from .decoded import Form, Shape, Values
from .faults import near, shown_bytes
from .parsed import Parsed
from .part import BYTES, INT, Part
from .stored import Read, Rule, Source
from .strings import encode_text
from .written import Stored, Written, written_numbers

_IDS = Numbers("int64")

# How many classes are kept at hand, as they are stored.
_KEPT = 4096
_SHOWN = 5

# Types of a class id. A bool is not one, although True equals 1.
_PLAIN = frozenset((int, str, np.int64, np.int32, np.uint8))


@dataclass(eq=False, kw_only=True)
class ClassCodec(Codec):
    """A field of classes.

    Attributes:
        num_classes: ids go from 0 to num_classes - 1; the number of names if 0.
        classes: the names in the order of their ids; may be empty.
        offset: what is added to an id where it is stored.
        stored: "id", or "text" for names, as UTF-8.
    """

    num_classes: int = parameter(*NUM_CLASSES, default=0)
    classes: tuple[str, ...] = parameter(*CLASSES, default=())
    offset: int = parameter(*OFFSET, default=0)
    stored: str = parameter(*FORM, default="id")

    of_classes: ClassVar[bool] = True

    count: ClassVar[int | None]
    """How many there are in a record; None for any number."""

    def __post_init__(self) -> None:
        self.num_classes = self.num_classes or len(self.classes)
        super().__post_init__()
        text = self.stored == "text"
        self._ids = {name: index for index, name in enumerate(self.classes)}
        self._texts = [encode_text(name) for name in self.classes] if text else []
        # Ids that read as the name of another class, until there was a warning.
        self._misleading = {
            int(name)
            for name, index in self._ids.items()
            if name.isdecimal() and int(name) != index and str(int(name)) == name
        }

    def make_parts(self) -> tuple[Part, ...]:
        if self.stored == "text":
            return (Part(self.key, BYTES, self.count, dtype="string"),)
        bounds = (self.offset, self.offset + self.num_classes - 1)
        return (Part(self.key, INT, self.count, bounds=bounds),)

    @property
    def _ids_of_files(self) -> tuple[int, int]:
        """The least and the greatest stored id, -1 for a missing class apart."""
        return self.offset, self.offset + self.num_classes - 1

    @property
    def _none(self) -> bool:
        """Whether -1, or "", is a missing class."""
        return self.missing and self.count == 1

    def _cause_of_id(self, value: Any) -> str:
        if self.offset == 0 and value == self.num_classes:
            return "ids that count from 1? then declare offset=1"
        if self.offset and value == self.offset - 1:
            return f"ids that count from {value}? then declare offset={value}"
        if value == -1:
            return "no class: declare it optional with the default None"
        return ""

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
            f"field {self.label!r}: {index} is taken for the class id of "
            f"{self.classes[index]!r}, as ids count from 0; pass {str(index)!r} for the "
            "class of that name (there is one warning for all records)"
        )

    def _expected(self) -> str:
        ids = f"a class id from 0 to {self.num_classes - 1}"
        if self.offset:
            ids += f", to which the writer adds offset={self.offset}"
        return f"{ids} or one of {self._shown}" if self._ids else ids

    @property
    def _shown(self) -> str:
        more = ", ..." if len(self.classes) > _SHOWN else ""
        return ", ".join(map(repr, self.classes[:_SHOWN])) + more

    @property
    def expected(self) -> Expected | None:
        (part,) = self.parts
        expected = part.expected(optional=self.optional)
        if expected is None or part.stored != INT:
            return None
        first, last = self._ids_of_files
        if self._none and first != 0:
            return None  # -1 and the ids are not one range
        return expected._replace(bounds=(-1 if self._none else first, last))

    def ids(self, source: Source) -> Any:
        """Return the rows with the classes of the schema, by their ids from 0."""
        (part,) = self.parts
        found = source.read(part, part.text)
        if part.stored == INT:
            return self._checked_ids(found)
        words = f"one of {len(self.classes)} classes, {self._shown}"
        ids = found.ids_of(self._texts)
        least = -1 if self._none else 0
        return ids.check(
            lambda ids: ids >= least,
            Rule("SG527", "class id out of range", words),
            shown=found,
            found=shown_bytes,
            cause=lambda value: near(value.decode(errors="replace"), self.classes),
        )

    def _checked_ids(self, found: Any) -> Any:
        first, last = self._ids_of_files
        words = f"class ids from {first} to {last}"
        words += ", or -1 for none" if self._none else ""
        rule = Rule("SG527", "class id out of range", words)

        def right(ids: Any) -> Any:
            known = (ids >= first) & (ids <= last)
            return known | (ids == -1) if self._none else known

        found = found.check(right, rule, cause=self._cause_of_id)
        if not self.offset:
            return found
        ids = found.values
        shifted = ids - self.offset
        if self._none:
            shifted = found.xp.where(ids == -1, ids, shifted)
        return found.with_values(shifted)


@dataclass(eq=False, kw_only=True)
class Label(ClassCodec):
    """One class; -1 is a missing one."""

    dtype: str = field(default="int64", init=False)
    count: ClassVar[int | None] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._known: dict[int | str, Sequence[Stored]] = {}

    def make_parts(self) -> tuple[Part, ...]:
        (part,) = super().make_parts()
        if not self.optional:
            return (part,)
        given = self.default
        if self.stored == "text":
            text = b"" if given is None else self.classes[given].encode()
            return (replace(part, missing=text),)
        return (replace(part, missing=-1 if given is None else given + self.offset),)

    in_band = True

    def convert(self, value: Any) -> int:
        return self._id_of(value)

    def store(self, value: Any) -> Sequence[Stored]:
        if type(value) not in _PLAIN:
            return (self._stored(self.convert(value)),)
        stored = self._known.get(value)
        if stored is None:
            stored = (self._stored(self.convert(value)),)
            if len(self._known) < _KEPT:
                self._known[value] = stored
        return stored

    def _stored(self, index: int) -> Stored:
        return (self._texts[index] if self._texts else index + self.offset,)

    def store_column(self, values: Any, rows: int) -> Sequence[Written]:
        if not isinstance(values, np.ndarray) and str in set(map(type, values)):
            values = [self.convert(value) for value in values]
        ids = _IDS.convert(values)
        check_shape(ids, (rows,))
        if ids.size and not 0 <= ids.min() <= ids.max() < self.num_classes:
            raise Problem("class ids out of range", self._expected())
        if self._misleading:
            named = self._misleading.intersection(ids.tolist())
            if named:
                self._warn_of(min(named))
        if self._texts:
            return (Written([self._texts[at] for at in ids.tolist()]),)
        return (written_numbers(self.parts[0], ids + self.offset, 1),)

    def validity(self, values: Values) -> NDArray[np.bool_] | None:
        return np.asarray(values) >= 0 if self.missing else None

    def delivered(self, values: Values, form: Form) -> Values:
        if not (form.names and self.classes):
            return values
        names: Values = np.array([*self.classes, ""], object)[np.asarray(values)]
        return names

    @property
    def absent(self) -> Any:
        return -1 if self.default is None else self.default

    def read(self, source: Source) -> Read:
        ids = self.ids(source)
        return ids, lambda: ids.dense("int64", ())

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        if self.missing:  # then -1 is not a class, wherever it comes from
            return tensor >= 0
        return super().present(parsed, tensor)


@dataclass(eq=False, kw_only=True)
class MultiLabel(ClassCodec):
    """Any number of classes, each at most once, stored in the order given."""

    dtype: str = field(default="float32", init=False)
    count: ClassVar[int | None] = None

    @property
    def delivered_shape(self) -> Shape:
        return (self.num_classes,)

    @property
    def decoded_as(self) -> tuple[str, Shape]:
        return "int64", (None,)

    is_tensor = False

    @property
    def missing_target(self) -> float | None:
        return -1.0 if self.missing else None

    def convert(self, value: Any) -> list[int]:
        if isinstance(value, np.ndarray):
            self._check_array(value)
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            advice = "a set has no order: pass sorted(...)"
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

    def store(self, value: Any) -> Sequence[Stored]:
        ids = self.convert(value)
        if self._texts:
            return ([self._texts[index] for index in ids],)
        return ([index + self.offset for index in ids],)

    def read(self, source: Source) -> Read:
        ids = self.ids(source)
        return ids, lambda: ids.classes(self.num_classes)

    def delivered(self, values: Values, form: Form) -> Values:
        if form.names and self.classes:
            return [[self.classes[index] for index in row] for row in values]
        hot = np.zeros((len(values), self.num_classes), np.float32)
        if len(values):
            rows = np.repeat(np.arange(len(values)), list(map(len, values)))
            hot[rows, np.concatenate(values)] = 1
        return hot
