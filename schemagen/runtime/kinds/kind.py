"""The base class of kinds: how a field is declared, stored and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..cells.cells import Read, Source
from ..cells.checks import Checks, Constraints, plan_of
from ..cells.decoded import Form, Shape, Values
from ..cells.decoding import Expected
from ..cells.delivered import Absence, Delivered, Layout, Mark
from ..cells.faults import Features
from ..cells.in_numpy import ColumnSource, Notes
from ..cells.in_tensorflow import TensorSource
from ..cells.part import BYTES, Part
from ..cells.written import Stored, Written, column_of_written, joined
from ..shared import base64_text
from ..shared.dtypes import DTYPES, FLOATS
from ..shared.errors import Problem
from ..tensorflow.parsed import Parsed
from .parameters import Name, Parameters, parameter

Column = Sequence[Any] | NDArray[Any]
Role = Literal["input", "target", "weight", "info"]
Default = Literal["any", "empty", "none"]
K = TypeVar("K", bound="Kind")

if TYPE_CHECKING:
    Key = Any  # text, once the kind is bound
else:
    Key = Name | None


class _Bound:
    """What a kind knows of the field that it is bound to.

    Attributes:
        label: the field's name, with dots where it is nested.
        optional: whether the value may be missing.
        default: what readers deliver for a missing value; None for none.
        parts: what it is stored as, its values first.
        dtype: of the values, by its TensorFlow name.
    """

    label: str = ""
    optional: bool = False
    default: Any = None
    parts: tuple[Part, ...] = ()
    dtype: Any


@dataclass(eq=False)
class Kind(_Bound, Parameters):
    """The kind of a field: how its values are stored, checked and read.

    Use it as `Annotated[type, kind]`. Parameters are checked when the schema is read, not
    when the kind is created, so that one run reports all mistakes of a schema.

    `bound` makes the codec of a field: the same kind, which knows the field's name, and
    stores and reads its values.

    Attributes:
        key: the feature's key in the Example; the field's name if None.
        role: input, target, weight or info; the kind's default if None.
        presence: of an optional field, deliver `<name>_present`, a bool for each
            record, also where a default replaces a missing value.
    """

    _: KW_ONLY
    key: Key = parameter(default=None)
    role: Role | None = parameter(default=None)
    presence: bool = parameter(default=False, omit_default=True)

    # How it is declared.

    kind: ClassVar[str]
    """Its name in schemas, specs and messages."""

    holds: ClassVar[str]
    """The Python types that a field of this kind may be declared with, in words."""

    takes_default: ClassVar[Default] = "any"
    """Which defaults a field of this kind may have: any value, an empty list, or none."""

    derived: ClassVar[Mapping[str, Any]] = {}
    """The properties that a spec has like parameters, with their usual values."""

    of_classes: ClassVar[bool] = False
    """Whether its values are classes, or lists of them."""

    of_pixels: ClassVar[bool] = False
    """Whether its values are images or masks, or lists of them."""

    selectable: ClassVar[bool] = False
    """Whether readers may read some items of its lists, without the others."""

    has_head: ClassVar[bool] = False
    """Whether the generated model has a head that predicts it."""

    layers: ClassVar[tuple[str, ...]] = ()
    """The suffixes of the names that the model's layers for an input have."""

    def accepts(self, python_type: Any) -> bool:
        """Tell whether a field of this kind may be declared with this type."""
        raise NotImplementedError

    @property
    def python_type(self) -> str:
        """The Python type that a schema declares such a field with, as source."""
        return "np.ndarray"

    @property
    def of_step(self) -> Kind:
        """The kind of one step's value; itself if it has no steps."""
        return self

    def rules(self) -> Iterator[Problem]:
        keys = [
            key
            for name, given in self.by_name().items()
            if name.endswith("_key") and given
            for key in (given if isinstance(given, tuple) else (given,))
            if key is not None
        ]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            yield Problem(f"the key {key!r} twice", "a key of its own for each")

    def resolved(self, name: str) -> Self:
        """Return the kind as specs have it: each parameter in its one normal form.

        Args:
            name: of the field.

        Raises:
            Problem: a parameter that is not valid.
        """
        return replace(
            self, key=self.default_key(name) if self.key is None else self.key
        )

    def default_key(self, name: str) -> str:
        """Return the key that a field of this name has if `key` is None."""
        return name

    def bound(self, label: str) -> Self:
        """Return the codec of a field, which stores and reads its values.

        Args:
            label: the field's name, with dots where it is nested. Its key has slashes
                there, if the kind does not state another one.
        """
        resolved = self.resolved(label.replace(".", "/"))
        bound: Self = object.__new__(
            _class_of(type(resolved), resolved.form())  # type: ignore[arg-type]
        )
        state = {"label": label, "optional": self.optional, "default": self.default}
        vars(bound).update(resolved._mutable_state() | state)
        bound.bind()
        return bound

    def form(self) -> type[Any]:
        """Return the class that stores and reads what these parameters declare."""
        return type(self)

    def bind(self) -> None:
        """Set what storing and reading need; the label and all parameters are known."""
        # An attribute that is set here is read faster than a cached property.
        self.parts = self.make_parts()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parameters: what is made of them holds functions."""
        state = (self.by_name(), self.label, self.optional, self.default)
        declared = getattr(self, "_declared", type(self))
        return _restored, (declared, bool(self.parts), *state)

    # What it stores, takes and delivers.

    def make_parts(self) -> tuple[Part, ...]:
        """Return what it is stored as, its values first."""
        raise NotImplementedError

    @cached_property
    def delivered(self) -> Delivered:
        """What readers deliver, of a kind that is bound."""
        return self._delivers()

    def _delivers(
        self,
        shape: Shape = (),
        dtype: str | None = None,
        *,
        decoded: tuple[str, Shape] | None = None,
        layout: Layout = "dense",
        filler: Any = None,
        limit: int | None = None,
        batchable: bool = True,
        mark: Mark = "mask",
        absent: Any = None,
    ) -> Delivered:
        """Return what readers deliver, with the usual values of what is not given.

        Args:
            shape: of one record's tensor.
            dtype: of the tensor; the kind's own if None.
            decoded: dtype and shape of one decoded value; those of the tensor if None.
            layout: of a batch.
            filler: what pads shorter rows; None and 0 are the zero of each dtype.
            limit: the largest length of a list.
            batchable: whether the values of several records make one tensor.
            mark: what tells a missing value from others, where there is no default.
            absent: what it is then; NaN if that _marks it, or the filler, if None.
        """
        own = dtype or str(self.dtype)
        dtype = "string" if own == "bytes" else own
        zero = {"string": "", "bool": False}.get(dtype, 0.0 if dtype in FLOATS else 0)
        filler = filler or zero
        missing = self.optional and self.default is None
        if self.default not in (None, ()):  # an empty list is all padding
            absent = self.default
        elif absent is None:
            absent = float("nan") if missing and mark == "nan" else filler
        absence = Absence(absent, mark if missing else "", self.presence)
        decoded = decoded or (own, shape)
        return Delivered(
            dtype, shape, decoded, filler, absence, layout, limit, batchable
        )

    def prepare(self) -> None:
        """Import what reading needs, before anything is read.

        Raises:
            ModuleNotFoundError: the package of the dtype is not installed.
            DatasetError: a decoder cannot be imported.
        """
        dtype = DTYPES.get(self.delivered.dtype)
        try:
            _ = dtype and dtype.numpy
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"field {self.label!r}: {self.delivered.dtype}: {error}",
                name=error.name,
            ) from None

    @property
    def name(self) -> str:
        """The field's name in batches and models."""
        return self.label.replace(".", "_")

    # What is right.

    @property
    def checks(self) -> Checks:
        """What has to be right of stored values, beyond what the parts say.

        Writers, readers, `verify` and the parser run the same checks. A class that refuses
        more than its base class adds to them.
        """
        return ()

    @cached_property
    def checked(self) -> Checks:
        """The checks, made once."""
        return self.checks

    @cached_property
    def plan(self) -> Constraints | None:
        """What all checks ask for, as data; None if a plan cannot say it."""
        if len(self.parts) > 1 or self.parts[0].in_list:
            return None
        return plan_of(self.checked)

    @cached_property
    def expected(self) -> Expected | None:
        """What the core checks; None if that is not all."""
        return self.parts[0].expected(self.plan, optional=self.optional)

    # Writing.

    @property
    def quick(self) -> Callable[[Any], Stored | None] | None:
        """Stores a row's value if it is plain and the plan holds, or returns None."""
        return None

    def convert(self, value: Any) -> Any:
        """Return a value in the one form in which it is stored.

        Raises:
            Problem: the field cannot hold it.
        """
        raise NotImplementedError

    def store(self, value: Any) -> Sequence[Stored]:
        """Return what each part holds of one row's value, before it is checked.

        Raises:
            Problem: the field cannot hold it.
        """
        raise NotImplementedError

    def pack(self, values: Any, rows: int) -> Sequence[Written]:
        """Return what each part holds of the values of `rows` rows, none of them missing.

        Kinds with a faster way for columns have their own. It may refuse what `store`
        accepts: the rows are then stored one by one, which also finds the one at fault.

        Raises:
            Problem, TypeError, ValueError: the field cannot hold a value.
        """
        # Not `map`, which a StopIteration of a value would end early.
        return self.join([self.store(value) for value in values])

    def join(self, rows: Sequence[Sequence[Stored]]) -> Sequence[Written]:
        """Return what each part holds of all rows, given what it holds of each."""
        return [
            joined(part, [row[at] for row in rows])
            for at, part in enumerate(self.parts)
        ]

    # Reading.

    def cells(self, source: Source) -> tuple[Any, ...]:
        """Return what is stored in each part that is read, of rows that have them all."""
        (part,) = self.parts
        return (source.read(part, part.text),)

    def unpack(self, *cells: Any) -> Any:
        """Return the values of checked cells.

        Of arrays they are what batches have, but for padding and resizing, and encoded
        images stay bytes; of tensors they are the tensor of a batch: [B, ...].
        """
        raise NotImplementedError

    @property
    def _marks(self) -> tuple[Part, ...]:
        """The parts without which a row has no value, where `cells` fills up such rows."""
        return ()

    def read(self, source: Source) -> Read:
        """Check stored values, and return those that are right."""
        cells = source.checked(self.cells(source), *self.checked)
        if self._marks:
            cells = source.present(cells, *self._marks)
        return cells[0], lambda: self.unpack(*cells)

    def validity(self, values: Values) -> NDArray[np.bool_] | None:
        """Return which decoded values are no missing ones; None for all."""
        return None

    def in_form(self, values: Values, form: Form) -> Values:
        """Return decoded values as `parse` delivers them, but for padding.

        Raises:
            UndecodableError: one is a damaged image.
        """
        return values

    def dtype_in(self, form: Form) -> str:
        """Return the dtype of the values in a form, by its TensorFlow name."""
        return self.delivered.dtype

    def parse(self, parsed: Parsed) -> Any:
        """Return the tensor of a batch: [B, ...]."""
        may_be_absent = self.delivered.absence.possible
        passes_over = may_be_absent and self._stand_in_fails
        source = TensorSource(self.label, parsed, may_be_absent, passes_over)
        _, tensor = self.read(source)
        return tensor()

    @cached_property
    def _stand_in_fails(self) -> bool:
        """Whether what TensorFlow parses for a missing value may fail a check."""
        part = self.parts[0]
        if len(self.parts) > 1 or part.in_list or part.is_media:
            return False
        values: Any
        count = (part.count or 0) if part.missing is not None else 0  # a list is empty
        if part.stored == BYTES:
            data = part.missing * part.repeats if count else b""
            text = base64_text.encoded(data) if part.transfer_encoding else data
            values = [text] * count
        else:
            values = np.full(count, part.missing or 0, part.stored)
        column = column_of_written(part, Written(values, count), 1)
        notes = Notes(self.label, packed=True)
        one = Features(np.ones(1, np.bool_), {part.key: (column,)}, optional=True)
        source = ColumnSource(one, notes)
        source.checked(self.cells(source), *self.checked)
        return bool(notes.faults)

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        """Return which records of a batch have a value: bool [B]."""
        counted = (part.key for part in self.parts if part.item_size is not None)
        return parsed.present(next(counted, self.key))

    def parsed(self, parsed: Parsed) -> dict[str, Any]:
        """Return the tensors of a batch by name, if the field is asked for."""
        if self.name not in parsed.fields:
            return {}
        found = {self.name: self.parse(parsed)}
        if self.delivered.absence.masked:
            present = self.present(parsed, found[self.name])
            found[f"{self.name}_present"] = present
        return found

    @property
    def features(self) -> tuple[Part, ...]:
        """The parts that TensorFlow parses."""
        return tuple(part for part in self.parts if part.read and not part.in_list)


def optional(kind: K, default: Any = None) -> K:
    """Return the kind of a field whose value may be missing.

    Args:
        kind: of its values.
        default: what readers deliver for a missing value; None for none.
    """
    found = replace(kind)
    vars(found).update(optional=True, default=default)
    return found


@cache
def _class_of(declared: type[K], form: type[K]) -> type[K]:
    """Return the class of a bound kind.

    Args:
        declared: the class that a schema names.
        form: the class that stores and reads what it declares. Of a class that derives
            from a kind it is that kind's, which does not know what the class adds.
    """
    if issubclass(form, declared):
        return form
    names = {"_declared": declared, "__module__": declared.__module__}
    return type(declared.__name__, (declared, form), names)


def _restored(
    cls: type[Kind],
    is_bound: bool,
    parameters: dict[str, Any],
    label: str,
    may_be_missing: bool,
    default: Any,
) -> Kind:
    kind: Kind = cls(**parameters)
    kind = optional(kind, default) if may_be_missing else kind
    return kind.bound(label) if is_bound else kind
