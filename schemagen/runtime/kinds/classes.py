"""Class labels, given by id or by name, one or several a record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Protocol,
    Self,
    get_args,
    get_origin,
)

import numpy as np
from numpy.typing import NDArray

from ..cells.cells import Source
from ..cells.checks import Check, Checks, Constraints
from ..cells.decoded import Form, Values
from ..cells.delivered import Delivered
from ..cells.faults import near, shown_bytes
from ..cells.part import BYTES, INT, Part
from ..cells.written import Stored, Written, written_numbers
from ..shared.errors import Problem, did_you_mean, warn
from ..shared.values import Numbers, check_shape, described, shortened
from ..tensorflow.parsed import Parsed
from .changes import CLASSES, FORM, NUM_CLASSES, OFFSET, VALUES
from .kind import Default, Kind
from .parameters import Count, Integer, Name, Size, declared, parameter
from .python_types import class_names, is_array, is_enum, members
from .text import encode_text

_IDS = Numbers("int64")

# How many classes are kept at hand, as they are stored.
_KEPT = 4096
_SHOWN = 5

# The largest share of records in which -1 looks like no class.
FEW_MISSING = 0.1

# Types of a class id. A bool is not one, although True equals 1.
_PLAIN = frozenset((int, str, np.int64, np.int32, np.uint8))

# What TensorFlow parses for a missing label where -1 is one of the values.
_NO_VALUE = -(2**63)


Names = Annotated[
    tuple[Name, ...], "a tuple of non-empty texts, such as ('beagle', 'pug')"
]
Renamed = Annotated[
    tuple[tuple[Name, Name], ...], "a dict from former names to those of today"
]
ClassValues = Annotated[tuple[Integer, ...], "a tuple of ints, such as (-1, 1)"]
StoredAs = Literal["id", "text"]


class Classed(Kind):
    """Classes, which have ids from 0 on, and what is stored for each of them.

    Attributes:
        stored_as: the integers or names that are stored, in the order of class ids.
    """

    classes: tuple[str, ...] | None
    num_classes: int | None = None
    vocabulary: str | None
    offset: int
    values: tuple[int, ...]
    stored: StoredAs
    renamed: tuple[tuple[str, str], ...]

    of_classes: ClassVar[bool] = True

    number: ClassVar[int | None] = None
    """How many there are in a record; None for any number."""

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.classes or self.values) or self.num_classes or 0

    def bind(self) -> None:
        self._count, self._names = self.count, self.classes or ()
        self.stored_as: Sequence[Any] = range(self.offset, self.offset + self._count)
        if self.stored == "text":
            self.stored_as = [encode_text(name) for name in self._names]
        elif self.values:
            self.stored_as = self.values
        super().bind()
        self._ids = {name: index for index, name in enumerate(self._names)}
        # Ids that read as the name of another class, until there was a warning.
        self._misleading = {
            int(name)
            for name, index in self._ids.items()
            if name.isdecimal() and int(name) != index and str(int(name)) == name
        }

    def make_parts(self) -> tuple[Part, ...]:
        if self.stored == "text":
            return (Part(self.key, BYTES, self.number, dtype="string"),)
        first, last = self.offset, self.offset + self._count - 1
        bounds = (min(self.values), max(self.values)) if self.values else (first, last)
        return (Part(self.key, INT, self.number, bounds=bounds),)

    @property
    def _none(self) -> bool:
        """Whether a missing class is read as -1."""
        return self.delivered.absence.possible and self.number == 1

    @property
    def _stored_none(self) -> Any:
        """What is stored for a missing class: -1, or ""."""
        if self.stored == "text":
            return b""
        return _NO_VALUE if -1 in self.values else -1

    def _cause_of_id(self, value: Any, share: float) -> str:
        if self.offset == 0 and value == self._count:
            return "ids that count from 1? then declare offset=1"
        if self.offset and value == self.offset - 1:
            return f"ids that count from {value}? then declare offset={value}"
        if value != -1 or self.number != 1:
            return ""
        if share <= FEW_MISSING:
            return "no class: declare it optional with the default None"
        return "a class of its own? then declare values=, such as values=(-1, 1)"

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
        if not 0 <= value < self._count:
            advice = ""
            if value in self.values:
                own = self.values.index(value)
                advice = f"{value} is what files hold for the class id {own}"
            raise Problem(f"class id {value}", self._expected(), advice)
        if value in self._misleading:
            self._warn_of(int(value))
        return int(value)

    def ids_of_list(self, value: Any) -> list[int]:
        """Return the ids of a list of classes, given by id, name or Enum member.

        Raises:
            Problem: it is not a list, or has another item.
        """
        if isinstance(value, np.ndarray):
            _check_array(value)
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            advice = "a set has no order: pass sorted(...)"
            advice = advice if isinstance(value, (set, frozenset)) else ""
            raise Problem(described(value), "a list of classes", advice)
        return [self._id_of(item) for item in value]

    def names_of_lists(self, values: Values) -> list[list[str]]:
        """Return lists of ids by the names of their classes."""
        return [[self._names[index] for index in row] for row in values]

    def _id_of_name(self, name: str) -> int:
        if name in self._ids:
            return self._ids[name]
        advice = did_you_mean(name, self._ids)
        raise Problem(f"the class {shortened(name)}", self._expected(), advice)

    def _warn_of(self, index: int) -> None:
        self._misleading.clear()
        warn(
            f"field {self.label!r}: {index} is taken for the class id of "
            f"{self._names[index]!r}, as ids count from 0; pass {str(index)!r} for the "
            "class of that name (there is one warning for all records)"
        )

    def _expected(self) -> str:
        ids = f"a class id from 0 to {self._count - 1}"
        if self.offset:
            ids += f", to which the writer adds offset={self.offset}"
        if self.values:
            ids += f", stored as {_some(self.values)}"
        return f"{ids} or one of {_some(self._names)}" if self._ids else ids

    @property
    def checks(self) -> Checks:
        return (self._known_ids() if self._in_order else self._known_values(),)

    @property
    def _in_order(self) -> bool:
        """Whether ids are stored, or ids from another number on."""
        return isinstance(self.stored_as, range)

    def _known_values(self) -> Check:
        least = -1 if self._none else 0
        if self.values:
            words = f"one of the values {_some(self.values)}"
            words += ", or -1 for none" if self._none and -1 not in self.values else ""
            return Check(
                "SG527",
                "class id out of range",
                words,
                lambda cells: cells.values >= least,
            )
        return Check(
            "SG527",
            "class id out of range",
            f"one of {len(self._names)} classes, {_some(self._names)}",
            lambda cells: cells.values >= least,
            found=shown_bytes,
            cause=lambda value, _: near(value.decode(errors="replace"), self._names),
        )

    def _known_ids(self) -> Check:
        first, last = self.offset, self.offset + self._count - 1
        words = f"class ids from {first} to {last}"
        words += ", or -1 for none" if self._none else ""

        def right(cells: Any) -> Any:
            ids = cells.values
            known = (ids >= first) & (ids <= last)
            return known | (ids == -1) if self._none else known

        plan: Constraints | None = Constraints((-1 if self._none else first, last))
        if self._none and first != 0:
            plan = None  # -1 and the ids are not one range
        return Check(
            "SG527",
            "class id out of range",
            words,
            right,
            cause=self._cause_of_id,
            plan=plan,
        )

    def cells(self, source: Source) -> tuple[Any, ...]:
        (part,) = self.parts
        found = source.read(part, part.text)
        if self._in_order:
            return (found,)
        return (found.ids_of(self.stored_as, self._stored_none),)

    def ids(self, found: Any) -> Any:
        """Return classes by their ids from 0, given those that are stored."""
        if not self.offset:
            return found
        ids = found.values
        shifted = ids - self.offset
        if self._none:
            shifted = found.xp.where(ids == -1, ids, shifted)
        return found.with_values(shifted)


@declared
class Classes(Classed):
    """A field that holds one or several of a fixed number of classes.

    Attributes:
        classes: the classes' names in the order of their ids.
        num_classes: how many classes there are, if they have no names.
        vocabulary: a file of the names, one a line, in the order of their ids; its
            path from the directory of the schema file. Read when generating.
        offset: what is added to a class id where it is stored; 1 for files that
            count classes from 1. Rows and batches count from 0 in any case.
        values: the integer that is stored for each class, in the order of their ids,
            such as (-1, 1). Rows and batches have ids from 0 in any case.
        stored: "id", or "text" for the class's name itself, as UTF-8.
        renamed: from the names that classes had in earlier data to those of today.
    """

    classes: Names | None = parameter(*CLASSES, default=())
    num_classes: Size | None = parameter(*NUM_CLASSES, default=None)
    vocabulary: Name | None = parameter(default=None, omit_default=True)
    offset: Count = parameter(*OFFSET, default=0, omit_default=True)
    stored: StoredAs = parameter(*FORM, default="id", omit_default=True)
    renamed: Renamed = parameter(default=(), omit_default=True)
    values: ClassValues = parameter(*VALUES, default=(), omit_default=True)

    def rules(self) -> Iterator[Problem]:
        if not (self.classes or self.vocabulary or self.num_classes or self.values):
            yield Problem(
                "no classes",
                "classes=('beagle', 'pug'), num_classes=2 or vocabulary='names.txt'",
            )
        yield from class_problems(self)

    def resolved(self, name: str) -> Self:
        return replace(
            super().resolved(name), **resolved_classes(self), num_classes=self.count
        )


@declared
class Label(Classes):
    """One class out of several, stored as its id; -1 is a missing one.

    A Literal or an Enum in the field's type gives the classes too. Its default role is
    target.

    Attributes:
        classes: the classes' names in the order of their ids.
        num_classes: how many classes there are, if they have no names.
        vocabulary: a file of the names, one a line, next to the schema file.
        offset: what is added to a class id where it is stored.
        values: the integer that is stored for each class, such as (-1, 1).
        stored: "id", or "text" for the class's name itself.
    """

    kind: ClassVar[str] = "Label"
    has_head: ClassVar[bool] = True
    holds: ClassVar[str] = (
        "int; or str, a Literal or an Enum of the names, if its classes have names"
    )
    dtype = "int64"
    number: ClassVar[int | None] = 1

    @property
    def python_type(self) -> str:
        return "str" if self.stored == "text" else "int"

    def accepts(self, python_type: Any) -> bool:
        if python_type in (int, int | str, Any):
            return True
        if python_type is str:
            return bool(self.classes)
        names, own = class_names(python_type), self.classes or ()
        if not names or not all(isinstance(name, str) for name in names):
            return False
        by_value = is_enum(python_type) and type(next(iter(python_type)).value) is int
        if by_value:  # the members' values are the ids
            return names == own
        return sorted(names) == sorted(own)

    def bind(self) -> None:
        super().bind()
        self._known: dict[int | str, Sequence[Stored]] = {}

    def make_parts(self) -> tuple[Part, ...]:
        (part,) = super().make_parts()
        if not self.optional:
            return (part,)
        given = self.default
        missing = self._stored_none if given is None else self.stored_as[given]
        return (replace(part, missing=missing),)

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
        return (self.stored_as[index],)

    def pack(self, values: Any, rows: int) -> Sequence[Written]:
        if not isinstance(values, np.ndarray) and str in set(map(type, values)):
            values = [self.convert(value) for value in values]
        ids = _IDS.convert(values)
        check_shape(ids, (rows,))
        if ids.size and not 0 <= ids.min() <= ids.max() < self._count:
            raise Problem("class ids out of range", self._expected())
        if self._misleading:
            named = self._misleading.intersection(ids.tolist())
            if named:
                self._warn_of(min(named))
        if self.stored == "text":
            return (Written([self.stored_as[at] for at in ids.tolist()]),)
        stored = np.asarray(self.values)[ids] if self.values else ids + self.offset
        return (written_numbers(self.parts[0], stored, 1),)

    def validity(self, values: Values) -> NDArray[np.bool_] | None:
        return np.asarray(values) >= 0 if self._none else None

    def in_form(self, values: Values, form: Form) -> Values:
        if not (form.names and self._names):
            return values
        names: Values = np.array([*self._names, ""], object)[np.asarray(values)]
        return names

    @cached_property
    def delivered(self) -> Delivered:
        return self._delivers(mark="value", absent=-1)

    def unpack(self, *cells: Any) -> Any:
        return self.ids(cells[0]).dense("int64", ())

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        if self._none:  # then -1 is not a class, wherever it comes from
            return tensor >= 0
        return super().present(parsed, tensor)


@declared
class MultiLabel(Classes):
    """Any number of classes, from none to all, each at most once.

    Stored as a list of any length, in the order given, and delivered as a row of one
    number for each class: 1 for those that are there, 0 for the others. Its default role
    is target.

    Attributes:
        classes: the classes' names in the order of their ids.
        num_classes: how many classes there are, if they have no names.
        vocabulary: a file of the names, one a line, next to the schema file.
        offset: what is added to a class id where it is stored.
        values: the integer that is stored for each class, such as (-1, 1).
        stored: "id", or "text" for the classes' names themselves.
    """

    kind: ClassVar[str] = "MultiLabel"
    has_head: ClassVar[bool] = True
    takes_default: ClassVar[Default] = "empty"
    holds: ClassVar[str] = (
        "a list of int, or of str if its classes have names; np.ndarray"
    )
    dtype = "float32"
    number: ClassVar[int | None] = None

    @property
    def python_type(self) -> str:
        return "list[str]" if self.classes else "list[int]"

    def accepts(self, python_type: Any) -> bool:
        return accepts_classes(python_type, named=bool(self.classes))

    @cached_property
    def delivered(self) -> Delivered:
        found = self._delivers((self.count,), decoded=("int64", (None,)))
        if not found.absence.possible:
            return found
        return replace(found, absence=replace(found.absence, target=-1.0))

    def convert(self, value: Any) -> list[int]:
        ids = self.ids_of_list(value)
        if len(set(ids)) < len(ids):
            at = next(n for n, index in enumerate(ids) if index in ids[:n])
            hot = len(ids) == self.count and set(ids) <= {0, 1}
            raise Problem(
                f"the class {value[at]!r} twice, at [{ids.index(ids[at])}] and at "
                f"[{at}]",
                "each class once",
                "if there is a 1 for each class, pass np.flatnonzero(hot)"
                if hot
                else "",
            )
        return ids

    def store(self, value: Any) -> Sequence[Stored]:
        ids = self.convert(value)
        return ([self.stored_as[index] for index in ids],)

    def unpack(self, *cells: Any) -> Any:
        return self.ids(cells[0]).classes(self._count)

    def in_form(self, values: Values, form: Form) -> Values:
        if form.names and self._names:
            return self.names_of_lists(values)
        hot = np.zeros((len(values), self._count), np.float32)
        if len(values):
            rows = np.repeat(np.arange(len(values)), list(map(len, values)))
            hot[rows, np.concatenate(values)] = 1
        return hot


def _check_array(array: NDArray[Any]) -> None:
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


def accepts_classes(python_type: Any, *, named: bool) -> bool:
    """Return whether a type is that of a list of classes, by id or by name."""
    if is_array(python_type):
        return True
    origin = get_origin(python_type) or python_type
    inner = [item for item in get_args(python_type) if item is not Ellipsis]
    if origin not in (list, tuple, Sequence) or (str in inner and not named):
        return False
    return all(member in (int, str) for item in inner for member in members(item))


def names_of(kind: Kind) -> tuple[str, ...]:
    """Return the names of the classes of a kind, or of its steps; () if it has none."""
    # Masks declare them too.
    return getattr(kind.of_step, "classes", None) or ()


class _Named(Protocol):
    """What has classes with names."""

    classes: tuple[str, ...] | None
    num_classes: int | None
    renamed: tuple[tuple[str, str], ...]


def class_name_problems(kind: _Named) -> Iterator[Problem]:
    """Yield what is wrong with the names of classes, and with their former names."""
    names = kind.classes or ()
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        yield Problem(f"the class {twice!r} twice", "each name once")
    if names and kind.num_classes not in (None, len(names)):
        yield Problem(
            f"num_classes={kind.num_classes} and {len(names)} classes",
            "one or the other",
        )
    renamed = dict(kind.renamed)
    if renamed.keys() & set(names) or not set(renamed.values()) <= set(names):
        yield Problem(
            f"renamed={renamed!r}",
            "a dict from names that are not in `classes` to names that are",
        )


def class_problems(kind: Any) -> Iterator[Problem]:
    """Yield what is wrong with classes, and with how they are stored."""
    if kind.classes and kind.vocabulary:
        yield Problem("classes and vocabulary", "one or the other")
    yield from class_name_problems(kind)
    names, values = kind.classes or kind.vocabulary, kind.values
    if kind.stored == "text" and (kind.offset or values or kind.renamed or not names):
        yield Problem(
            "stored='text' with an offset, values, renamed, or no names",
            "names of the classes, and no ids: the file holds the names",
        )
    if values and kind.offset:
        yield Problem(f"values={values!r} and offset={kind.offset}", "one or the other")
    if len(set(values)) < len(values):
        yield Problem(f"values={values!r}", "another value for each class")
    count = len(kind.classes or ()) or kind.num_classes
    if values and count not in (None, len(values)):
        yield Problem(f"{count} classes and {len(values)} values", "a value for each")


def resolved_classes(kind: Any) -> dict[str, Any]:
    """Return the parameters of classes in their one form: (1, 2) is an offset of 1."""
    first, *_ = values = kind.values or (0,)
    counted = first >= 0 and values == tuple(range(first, first + len(values)))
    return {
        "classes": kind.classes or (),
        "vocabulary": None,
        "offset": first if counted and kind.values else kind.offset,
        "values": () if counted else kind.values,
    }


def _some(items: Sequence[Any]) -> str:
    """Return the first items in words."""
    more = ", ..." if len(items) > _SHOWN else ""
    return ", ".join(map(repr, items[:_SHOWN])) + more
