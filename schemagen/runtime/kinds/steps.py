"""Steps: a value of a field in each step of a tf.train.SequenceExample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np

from ..cells.cells import Read, Source
from ..cells.checks import Checks
from ..cells.decoded import Form, Values, convert_each, split_rows
from ..cells.delivered import Delivered
from ..cells.part import BYTES, Part
from ..cells.written import Stored, Written
from ..images.pixels import UndecodableError
from ..shared.dtypes import DTYPES, STRINGS
from ..shared.errors import Problem
from ..shared.requirements import lazy_tf as tf
from ..shared.values import Numbers, check_shape, described
from ..tensorflow.parsed import Parsed
from .augment import augment_of
from .changes import GROUP, LIMIT, PADDING, TOO_LONG
from .classes import Label
from .images import Image
from .kind import Default, Kind
from .limits import Listed
from .lists import VarLen, limit_problems, padding_of, padding_problems
from .numbers import Scalar, Vector
from .parameters import Instance, Name, Padding, Size, TooLong, declared, parameter
from .python_types import is_array, is_list, item_type
from .text import Text

STEPS = (Image, Label, Scalar, Text, VarLen, Vector)

# What a VarLen leaves to the Steps that it is in, or has only outside of steps.
_NOT_OF_LISTS = ("padding_value", "ragged", "pad_on_disk", "group", "box")

Step = Annotated[Kind, Instance(), "a kind, such as Text()"]


@declared
class Steps(Listed):
    """A feature list of a SequenceRecord: a value, or a list of values, in each step.

    Attributes:
        step: the kind of one step's value; a VarLen for a list of any length. Wire key and
            role are those of Steps, and so are `padding_value`, `ragged` and `group` of
            lists.
        max_length: the most steps a row may have; None for any number.
        too_long: what becomes of more, when writing and when reading: "error" refuses
            them, "keep_head" keeps the first and "keep_tail" the last of them.
        padding_value: what fills a batch up to its longest row; 0 means "" for text
            and -1, no class, for labels.
        ragged: deliver a RaggedTensor in place of a padded batch.
        group: a name that fields with equally many steps share; checked when writing
            and when reading.
    """

    step: Step = parameter()
    max_length: Size | None = parameter(*LIMIT, default=None)
    too_long: TooLong = parameter(*TOO_LONG, default="error", omit_default=True)
    padding_value: Padding = parameter(*PADDING, default=0)
    ragged: bool = parameter(default=False)
    group: Name | None = parameter(*GROUP, default=None, omit_default=True)

    kind: ClassVar[str] = "Steps"
    layers: ClassVar[tuple[str, ...]] = ("dense", "normalization", "vocabulary")
    holds: ClassVar[str] = "a list of what its kind holds, or np.ndarray"
    takes_default: ClassVar[Default] = "empty"
    noun: ClassVar[str] = "steps"
    selectable: ClassVar[bool] = True

    @property
    def python_type(self) -> str:
        one, lists = self.step.python_type, isinstance(self.step, VarLen)
        return one if one == "np.ndarray" and not lists else f"list[{one}]"

    @property
    def of_step(self) -> Kind:
        return self.step

    def accepts(self, python_type: Any) -> bool:
        if is_array(python_type):
            lists = isinstance(self.step, VarLen)
            return python_type is Any or not (lists or self.step.dtype in STRINGS)
        if not is_list(python_type):
            return False
        item = item_type(python_type)
        return item is None or self.step.accepts(item)

    def rules(self) -> Iterator[Problem]:
        yield from limit_problems(self)
        step = self.step
        if not isinstance(step, STEPS):
            yield Problem(
                f"{step.kind} in each step",
                f"one of {', '.join(each.kind for each in STEPS)}",
            )
            return
        if step.key or step.role or step.presence or augment_of(step):
            yield Problem(
                "key, role, presence or augment in the kind of one step",
                "key, role and presence of Steps itself, and no augment",
            )
        if isinstance(step, Scalar) and step.decoder:
            yield Problem("a decoder in each step", "Scalar('bytes') without a decoder")
        if further := [part.key for part in step.bound("").parts[1:]]:
            yield Problem(
                f"further keys in each step: {', '.join(further)}",
                "one value in each step; fields of their own for the others",
            )
        if isinstance(step, Image) and None in (step.resize or step.shape):
            yield Problem(
                f"shape={step.shape!r} in each step without resize",
                "a fixed size, or resize=(height, width)",
            )
        if isinstance(step, VarLen) and (
            given := [
                name
                for name in _NOT_OF_LISTS
                if getattr(step, name) not in (0, "", None, -1 if step.classes else 0)
            ]
        ):
            yield Problem(
                f"{', '.join(given)} in the VarLen of each step",
                "padding_value, ragged and group of Steps itself, and no pad_on_disk or "
                "box",
            )
        yield from padding_problems(self._dtype, self._padding)

    @property
    def _dtype(self) -> str:
        """The dtype of what is delivered; "string" and "bytes" as in VarLen."""
        opaque = self.step.dtype == "bytes"
        return "bytes" if opaque else self.step.delivered.dtype

    @property
    def _padding(self) -> bool | int | float | str | bytes:
        unset = type(self.padding_value) is int and self.padding_value == 0
        return -1 if unset and self._of_ids else self.padding_value

    @property
    def _of_ids(self) -> bool:
        """Whether steps hold classes."""
        step = self.step
        return isinstance(step, Label) or (
            isinstance(step, VarLen) and bool(step.classes)
        )

    def resolved(self, name: str) -> Self:
        padding: Any = padding_of(self._dtype, self._padding)
        step = replace(self.step.resolved(name), key=None, role=None)
        if isinstance(step, VarLen):
            step = replace(step, padding_value=0)
        return replace(super().resolved(name), step=step, padding_value=padding)

    def bind(self) -> None:
        step = replace(self.step, key="")
        self.step = self._of_each = step.bound(self.label)
        if isinstance(step, VarLen):  # the lists of a batch are padded at once
            self._of_each = replace(step, ragged=True).bound(self.label)
        self.dtype = self.step.dtype
        super().bind()

    def make_parts(self) -> tuple[Part, ...]:
        return tuple(
            replace(part, key=self.key, item_size=1, in_list=True)
            for part in self.step.parts
        )

    @property
    def list_shape(self) -> tuple[int, ...]:
        """The shape of what is stored in one step, as TensorFlow parses it."""
        (part,) = self.step.parts
        return () if part.stored == BYTES else part.shape

    def list_feature(self) -> Any:
        """Return the description for `tf.io.parse_sequence_example`."""
        (part,) = self.step.parts
        if part.count is None:
            return part.feature()
        stored = part.stored
        dtype = tf.string if stored == BYTES else tf.as_dtype(stored)
        return tf.io.FixedLenSequenceFeature(
            self.list_shape, dtype, allow_missing=self.optional
        )

    @cached_property
    def delivered(self) -> Delivered:
        step = self.step.delivered
        dtype, shape = step.decoded
        decoded = dtype, (None, *shape)
        return self._delivers_items((None, *step.shape), step.dtype, decoded)

    def convert(self, value: Any) -> Any:
        """Return all steps as they will be stored: an array of numbers, or a list."""
        steps = self._checked(value)
        self._limit.check(len(steps))  # before any picture is encoded
        if not len(steps):
            return self._no_steps(steps)
        converted = convert_each(self.step.convert, steps, "{} in step {}")
        if isinstance(converted[0], np.ndarray) and not isinstance(self.step, VarLen):
            alike = {np.shape(step) for step in converted}
            return np.stack(converted) if len(alike) == 1 else converted
        return converted

    def _no_steps(self, steps: Sequence[Any]) -> Any:
        """Return an empty sequence in the form of others."""
        (part,), (_, sizes) = self.step.parts, self.step.delivered.decoded
        if isinstance(self.step, VarLen):
            return []
        if self.step.of_classes or part.dtype not in DTYPES or part.is_media:
            return []
        array = Numbers(part.dtype).convert(steps)
        shape = (0, *(size or 0 for size in sizes))
        if array.ndim == 1:  # [] has no step to tell a shape
            array = array.reshape(shape)
        check_shape(array, shape)
        return array

    def _checked(self, value: Any) -> Sequence[Any]:
        """Return the steps of a row.

        Raises:
            Problem: they are not steps.
        """
        is_array = isinstance(value, np.ndarray) and value.ndim > 0
        if isinstance(value, np.ma.MaskedArray):
            raise Problem("a masked array", "an array without mask")
        if not is_array and not isinstance(value, (list, tuple)):
            raise Problem(described(value), "a list or an array with an item a step")
        steps: Sequence[Any] = value
        return steps

    def store(self, value: Any) -> Sequence[Stored]:
        """Return what each part holds of a row: what each of its steps holds."""
        steps = self._checked(value)
        if not len(steps):
            self._no_steps(steps)
        # What is cut off has to be right as well.
        stored = convert_each(self.step.store, steps, "{} in step {}")
        return (self._limit.cut(stored),)

    def pack(self, values: Any, rows: int) -> Sequence[Written]:
        checked = [self._checked(value) for value in values]
        steps = _joined(checked)
        if steps is None or any(self._limit.cut(row) is not row for row in checked):
            return super().pack(values, rows)
        written = self.step.pack(steps, len(steps))
        lengths = np.fromiter(map(len, checked), np.int64, rows)
        return [replace(each, steps=lengths) for each in written]

    def join(self, rows: Sequence[Sequence[Stored]]) -> Sequence[Written]:
        lengths = np.fromiter((len(steps) for (steps,) in rows), np.int64, len(rows))
        steps = [step for (row,) in rows for step in row]
        return [replace(each, steps=lengths) for each in self.step.join(steps)]

    @property
    def checks(self) -> Checks:
        return self._limit.checks()

    def read(self, source: Source) -> Read:
        steps, inside = source.steps(self.parts[0], self._limit)
        found, values = self._of_each.read(inside)
        steps = source.complete(steps, inside)
        (steps,) = source.checked((steps,), *self.checked)

        def lists() -> Any:
            kept = self._limit.kept(steps.of_steps(found, values()))
            if self.ragged:
                return kept
            return steps.padded(kept, self.delivered.filler)

        return steps, lists

    def in_form(self, values: Values, form: Form) -> Values:
        if not len(values) or type(self.step).in_form is Kind.in_form:
            return values
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        if isinstance(values[0], np.ndarray):
            steps: Values = np.concatenate(values)
        else:
            steps = list(chain.from_iterable(values))
        try:
            return split_rows(self.step.in_form(steps, form), lengths)
        except UndecodableError as error:
            raise error.in_rows(lengths) from None

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        return parsed.list_present(self.key)


def _joined(rows: list[Sequence[Any]]) -> Sequence[Any] | None:
    """Return the steps of all rows in one sequence; None if they are not alike."""
    kinds = set(map(type, rows))
    if kinds <= {list, tuple}:
        return list(chain.from_iterable(rows))
    # An array without steps may still be of a wrong shape: it is looked at alone.
    if kinds != {np.ndarray} or not all(map(len, rows)):
        return None
    arrays: list[Any] = list(rows)
    if len({(array.dtype, array.shape[1:]) for array in arrays}) > 1:
        return None
    return cast("Sequence[Any]", np.concatenate(arrays))
