"""A field as templates see it: its facts, its codec, and source code made of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, cached_property
from itertools import zip_longest
from math import prod
from types import SimpleNamespace
from typing import Any

from ..runtime.cells.delivered import Delivered
from ..runtime.cells.part import BYTES, FLOAT, Part
from ..runtime.kinds.augment import augment_of, variation_of
from ..runtime.kinds.classes import names_of
from ..runtime.kinds.images import Resized, size_name
from ..runtime.kinds.kind import Kind
from ..runtime.kinds.parameters import parameters_of
from ..spec.model import FieldSpec
from ..spec.training import (
    is_picture,
    per_pixel,
    predicted_shape,
    step_block,
    uses_vocabulary,
)
from ..spec.words import delivers_or_missing, takes_or_none, words_of
from .python_source import Code, identifier, literal
from .templates import templates_directory


@dataclass(frozen=True)
class FieldView:
    """A field of a record.

    Attributes:
        field: the field.
        pictures: of a target that is predicted from pictures, these inputs.
    """

    field: FieldSpec
    pictures: tuple[FieldView, ...] = ()

    @property
    def kind(self) -> Kind:
        found: Kind = self.field.kind
        return found

    @property
    def codec(self) -> Kind:
        return self.field.codec

    @property
    def delivered(self) -> Delivered:
        """What readers deliver: dtype, shape, layout, and what a missing value is."""
        return self.codec.delivered

    @cached_property
    def spec(self) -> SimpleNamespace:
        """All facts of the field, those of its kind included, by their names."""
        return SimpleNamespace(**self.field.facts())

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def label(self) -> str:
        """Its name in texts: `steps.observation.state`."""
        return self.field.label

    @property
    def path(self) -> tuple[str, ...]:
        """The names from the outermost of a nested row to its own."""
        return self.field.path or (self.name,)

    @property
    def optional(self) -> bool:
        return self.field.optional

    @property
    def value(self) -> Code:
        """The expression for the value that the writer was given."""
        return value_at(self.path)

    @property
    def macros(self) -> str:
        """The template of this kind's macros, or of the kind that it derives from."""
        return _macros_of(type(self.kind))  # type: ignore[arg-type]

    @property
    def takes(self) -> Code:
        """The type of the writer's keyword."""
        named = words_of(self.codec).annotation
        return Code(f"{named} | None" if self.optional else named)

    @property
    def takes_text(self) -> str:
        """The values that the writer takes, in words."""
        return takes_or_none(self.codec)

    @property
    def delivers_text(self) -> str:
        """The tensor of a batch and the value of a missing one, in words."""
        return delivers_or_missing(self.codec)

    @property
    def takes_column(self) -> Code:
        """The type of the batch writer's keyword."""
        return Code("Column | None" if self.optional else "Column")

    @property
    def mask_name(self) -> str:
        return f"{self.name}_present"

    @property
    def mask_label(self) -> str:
        return f"{self.label}_present"

    @property
    def size_name(self) -> str:
        """The name of the stored size of an image; "" if it is not delivered."""
        return size_name(self.codec)

    @property
    def size_label(self) -> str:
        return f"{self.label}_size"

    @property
    def augmented(self) -> tuple[tuple[str, Any], ...]:
        """Its variation in training: options of the runtime's `augmentation`."""
        augment, kind = augment_of(self.kind), self.kind
        options = variation_of(kind)
        if augment and augment.recolors and isinstance(kind, Resized):
            if kind.encoding != "raw" and kind.shape[2] == 4:
                options["alpha"] = True
            if kind.stored_dtype != kind.dtype:
                options["white"] = kind.largest
        return tuple(options.items())

    @property
    def size(self) -> int:
        """The number of values in a row, of a field of fixed shape."""
        return prod(size or 0 for size in self.delivered.shape)

    @property
    def batch_shape(self) -> str:
        return f"[{', '.join(map(str, ('B', *self.delivered.shape)))}]"

    @property
    def predicted_shape(self) -> tuple[int | None, ...]:
        """The shape of one record's predictions."""
        return predicted_shape(self.kind, self.delivered.shape)

    @property
    def per_pixel(self) -> bool:
        """Whether it has a value for each pixel of an image."""
        return per_pixel(self.kind)

    @property
    def uses_vocabulary(self) -> bool:
        """Whether the model looks up its ids or words in a vocabulary."""
        return uses_vocabulary(self.kind)

    @property
    def step_block(self) -> str:
        """The block of the model that encodes its steps."""
        return step_block(self.kind.of_step)

    @property
    def tail_size(self) -> int:
        """The number of values in the fixed dimensions after those that vary."""
        size = 1
        for length in reversed(self.delivered.shape):
            if length is None:
                break
            size *= length
        return size

    @property
    def pixel_scale(self) -> Code:
        """What brings a pixel to about [0, 1]."""
        step: Any = self.codec.of_step
        largest = step.largest
        return Code("1.0" if largest is None else f"1 / {largest}")

    def with_pictures(self, inputs: Iterable[FieldView]) -> FieldView:
        """Return the view of a target that knows the pictures among the inputs."""
        shape = self.delivered.shape
        if not self.per_pixel:
            return self
        same = [
            other
            for other in inputs
            if is_picture(other.kind) and other.delivered.shape[:2] == shape
        ]
        if None in shape:  # then only one can be the picture of this mask
            same = sorted(same, key=self._steps_to)[:1]
        return replace(self, pictures=tuple(same))

    def _steps_to(self, other: FieldView) -> int:
        """Count the steps of a field's path that are not those to this one."""
        pairs = zip_longest(self.path[:-1], other.path[:-1])
        return sum(mine != theirs for mine, theirs in pairs)


def value_at(path: tuple[str, ...]) -> Code:
    """Return the expression for a value: a keyword, or a member of a nested value."""
    if len(path) == 1:
        return identifier(path[0])
    return Code(f"_{identifier('_'.join(path[:-1]))}[{literal(path[-1])}]")


# The parameters that neither writing nor reading looks at.
_APART = ("role", "augment", "crop", "renamed", "vocabulary")


def constructor(kind: Kind) -> Code:
    """Write a bound kind as the call that makes it, without defaults."""
    keywords = {each.name: each.kw_only for each in fields(kind)}
    usual = {each.name: each.default for each in fields(kind)}
    usual["key"] = kind.default_key(kind.label.replace(".", "/"))
    arguments: list[str] = []
    # Those of every kind come last.
    shared = parameters_of(Kind)
    for name in sorted(usual, key=lambda name: (keywords[name], name in shared)):
        value = getattr(kind, name)
        # 0 is the padding of each dtype, and names state their number.
        padding = name == "padding_value" and not value
        counted = name == "num_classes" and bool(names_of(kind))
        if name in _APART or value == usual[name] or padding or counted:
            continue
        source = constructor(value) if isinstance(value, Kind) else literal(value)
        first = usual[name] is MISSING and not arguments
        arguments.append(source if first else f"{name}={source}")
    made = f"{kind.kind}({', '.join(arguments)})"
    if not kind.optional:
        return Code(made)
    default = "" if kind.default is None else f", default={literal(kind.default)}"
    return Code(f"optional({made}{default})")


def description(part: Part) -> Code:
    """Write the description of a feature for `tf.io.parse_example`."""
    dtype = _tf_dtype(part)
    if part.count is None:
        return Code(f"tf.io.RaggedFeature({dtype}, row_splits_dtype=tf.int64)")
    default = "" if part.missing is None else f", default_value={_default(part)}"
    return Code(f"tf.io.FixedLenFeature({literal(part.shape)}, {dtype}{default})")


def list_description(codec: Any) -> Code:
    """Write the description of a feature list for `tf.io.parse_sequence_example`."""
    part = codec.parts[0]
    if part.count is None:
        return description(part)
    dtype = _tf_dtype(part)
    missing = ", allow_missing=True" if codec.optional else ""
    shape = literal(codec.list_shape)
    return Code(f"tf.io.FixedLenSequenceFeature({shape}, {dtype}{missing})")


def _tf_dtype(part: Part) -> str:
    return "tf.string" if part.stored == BYTES else f"tf.{part.stored}"


def _default(part: Part) -> Code:
    """Write the value that TensorFlow parses where a feature is missing."""
    item = literal(part.missing)
    if part.transfer_encoding or isinstance(part.missing, tuple):
        return literal(part.default())
    if part.shape:
        if isinstance(part.missing, bytes):
            return Code(f"[{item}] * {prod(part.shape)}")
        filler = "np.nan" if part.missing != part.missing else item
        dtype = "np.float32" if part.stored == FLOAT else "np.int64"
        return Code(f"np.full({literal(part.shape)}, {filler}, {dtype})")
    if part.repeats == 1:
        return item
    if not any(part.missing):
        return Code(f"bytes({len(part.missing) * part.repeats})")
    return Code(f"{item} * {part.repeats}")


@cache
def _macros_of(declared: type[Kind]) -> str:
    """Return the template of a kind's macros, or of the kind that it derives from."""
    kinds = [vars(cls).get("kind") for cls in declared.__mro__]
    names = [f"kinds/{kind.lower()}.jinja" for kind in kinds if kind]
    directory = templates_directory()
    return next(name for name in names if (directory / name).is_file())
