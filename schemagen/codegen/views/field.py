"""What templates see of any field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from ...runtime.shared.values import FLOATS, Numbers
from ...spec.model import AugmentSpec, FieldSpec
from ..literals import Code, identifier, literal

Shape = tuple[int | None, ...]

# The kinds that hold lists.
_LISTS = ("Images", "Ragged", "Steps", "VarLen")


@dataclass(frozen=True)
class FieldView:
    """One field as templates see it; what its spec says is in `spec`."""

    spec: Any  # of the kind's own spec class

    in_band: ClassVar[bool] = False
    """Whether one of its own values stands for a missing one."""

    in_list: ClassVar[bool] = False
    """Whether it is a feature list of a SequenceExample."""

    def beside(self, inputs: Iterable[FieldView]) -> Self:
        """Return the view of a target that knows the record's inputs."""
        return self

    @property
    def declared(self) -> FieldSpec:
        """The spec, as far as all kinds have one."""
        spec: FieldSpec = self.spec
        return spec

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def path(self) -> tuple[str, ...]:
        """Where it stands in a nested row: from the outermost name to its own."""
        return self.declared.path or (self.name,)

    @property
    def label(self) -> str:
        """What it is called in texts: `steps.observation.state`."""
        return ".".join(self.path)

    @property
    def optional(self) -> bool:
        return self.declared.optional

    @property
    def value(self) -> Code:
        """The expression for what was given for it."""
        return value_at(self.path)

    @property
    def macros(self) -> str:
        """The template of this kind's macros."""
        return f"kinds/{self.spec.kind.lower()}.jinja"

    @property
    def dtype(self) -> str:
        """The dtype of the parsed tensor, by its TensorFlow name."""
        found: str = self.spec.dtype
        return found

    @property
    def shape(self) -> Shape:
        """The static shape of one record's tensor; None varies."""
        return ()

    @property
    def stored_shape(self) -> Shape:
        """The shape of what a row holds, which reading may bring to another."""
        return self.shape

    @property
    def row_dtype(self) -> str:
        """The dtype of what a row holds, which reading may turn into another."""
        return self.dtype

    @property
    def tf_dtype(self) -> Code:
        return Code(f"tf.{self.row_dtype}")

    @property
    def raw(self) -> bool:
        """Whether it is stored as raw little-endian bytes."""
        return False

    @property
    def stored_dtype(self) -> Code:
        """The dtype in which tensorflow parses the feature, before any cast."""
        if self.raw or self.row_dtype == "string":
            return Code("tf.string")
        return Code("tf.float32" if self.row_dtype == "float32" else "tf.int64")

    @property
    def stored_text(self) -> str:
        """Which list of an Example holds it, in words."""
        if self.raw:
            return f"raw {self.row_dtype} bytes"
        lists = {"tf.string": "bytes_list", "tf.float32": "float_list"}
        return lists.get(self.stored_dtype, "int64_list")

    @property
    def narrowed(self) -> bool:
        """Whether stored int64 values are cast to a narrower dtype."""
        return self.stored_dtype == "tf.int64" and self.row_dtype != "int64"

    @property
    def missing(self) -> bool:
        """Whether a missing value has no default that stands for it."""
        return self.declared.optional and self.declared.default is None

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def nan_if_missing(self) -> bool:
        """Whether a missing value reads as NaN, which no mask needs to explain."""
        return False

    @property
    def masked(self) -> bool:
        """Whether a mask of its own says which values are there."""
        unmarked = self.missing and not self.in_band and not self.nan_if_missing
        return unmarked or self.declared.presence

    @property
    def presence_key(self) -> str:
        """The key of the feature that is there if the field is."""
        return self.declared.key

    @property
    def mask_name(self) -> str:
        return f"{self.name}_present"

    @property
    def required_sequence(self) -> bool:
        """Whether tensorflow by itself would read it as empty where it is missing."""
        return False

    @property
    def required_keys(self) -> tuple[str, ...]:
        """The keys of its lists whose absence has to be looked for."""
        return (self.declared.key,) if self.required_sequence else ()

    @property
    def group(self) -> str | None:
        """The group of fields that are equally long, if it is in one."""
        found: str | None = getattr(self.spec, "group", None)
        return found

    @property
    def length_key(self) -> str:
        """The key of the feature whose length tells how many items it has."""
        return self.declared.key

    @property
    def item_size(self) -> int | None:
        """How many stored numbers, strings or raw bytes an item takes there.

        None if what is stored has one length, whatever the row's is.
        """
        return 1

    @property
    def is_list(self) -> bool:
        """Whether it holds any number of items."""
        return self.spec.kind in _LISTS and self.shape[:1] == (None,)

    @property
    def described_length(self) -> Code:
        """The description of the key that tells how many items it has."""
        name = "SEQUENCE_DESCRIPTION" if self.in_list else "FEATURE_DESCRIPTION"
        return Code(f"{name}[{literal(self.length_key)}]")

    @property
    def padded(self) -> bool:
        """Whether rows are filled up to the longest of their batch."""
        sparse = bool(getattr(self, "sparse", False))
        return None in self.shape and not (self.ragged or sparse)

    @property
    def ragged(self) -> bool:
        """Whether it is delivered as a tf.RaggedTensor."""
        return bool(getattr(self.spec, "ragged", False))

    @property
    def filler(self) -> Any:
        """What fills up rows that are shorter than others."""
        return getattr(self.spec, "padding_value", "" if self.dtype == "string" else 0)

    @property
    def stored_filler(self) -> int | float | bytes | None:
        """What stands, in a group, for each item of a missing one, as it is stored."""
        return None

    @property
    def mask_label(self) -> str:
        return f"{self.label}_present"

    @property
    def default_value(self) -> Code:
        """The `default_value` of the feature's description, as source code."""
        if self.raw:
            return self._raw_default()
        if self.stored_dtype == "tf.string":
            text = self.spec.default or ""
            return literal(text.encode() if isinstance(text, str) else text)
        return self._number_default()

    def _number_default(self) -> Code:
        default: Any = self.spec.default
        if default is None:
            return literal(float("nan") if self.is_float else 0)
        if self.stored_dtype == "tf.int64":  # a bool is stored as 0 or 1
            return literal(as_tuples(np.asarray(default, np.int64).tolist()))
        return literal(default)

    def _raw_default(self) -> Code:
        """Return the bytes that stand for a missing raw tensor."""
        shape = tuple(size or 0 for size in self.stored_shape)
        numbers = Numbers(self.spec.dtype, finite=False)
        if self.spec.default is not None:
            values = np.asarray(self.spec.default)
            return literal(numbers.raw(numbers.convert(values)).tobytes())
        floats = self.row_dtype in FLOATS
        filler = np.nan if self.nan_if_missing and floats else 0.0
        one = np.array([filler], "float64" if floats else self.row_dtype)
        item = numbers.raw(numbers.convert(one)).tobytes()
        if set(item) == {0}:
            return Code(f"bytes({len(item) * prod(shape)})")
        return Code(f"{literal(item)} * {prod(shape)}" if shape else literal(item))

    @property
    def size(self) -> int:
        """How many numbers a row holds, of a field of fixed shape."""
        return prod(size or 0 for size in self.shape)

    @property
    def batch_shape(self) -> str:
        return f"[{', '.join(map(str, ('B', *self.shape)))}]"

    @property
    def python_type(self) -> str:
        """The type of the writer's keyword, None apart."""
        return "ArrayLike"

    @property
    def takes(self) -> Code:
        """The type of the writer's keyword."""
        text = self.python_type
        return Code(f"{text} | None" if self.declared.optional else text)

    @property
    def takes_column(self) -> Code:
        """The type of the batch writer's keyword."""
        return Code("Column | None" if self.declared.optional else "Column")

    @property
    def wanted_value(self) -> str:
        """What the writer takes, in words, None apart."""
        raise NotImplementedError

    @property
    def wanted(self) -> str:
        """What the writer takes, in words."""
        text = self.wanted_value
        return f"{text}; None if missing" if self.declared.optional else text

    @property
    def delivers_value(self) -> str:
        """The parsed batch's tensor, in words."""
        return f"{self.dtype} {self.batch_shape}"

    @property
    def delivers(self) -> str:
        """The parsed batch's tensor, in words, with what stands for a missing one."""
        text = self.delivers_value
        return f"{text}; {self.missing_text} if missing" if self.spec.optional else text

    @property
    def missing_text(self) -> str:
        """What a missing value reads as, in words."""
        if self.spec.default is not None:
            return repr(self.spec.default)
        if self.nan_if_missing:
            return "NaN"
        return "''" if self.dtype == "string" else "0"

    @property
    def predicted_shape(self) -> Shape:
        """The shape of one record's predictions."""
        return self.shape

    @property
    def vocabulary(self) -> bool:
        """Whether its encoder in a model looks ids or words up in a vocabulary."""
        return False

    @property
    def pictured(self) -> bool:
        """Whether it is predicted from pictures, and not from the features alone."""
        return False

    @property
    def further(self) -> tuple[tuple[str, Code], ...]:
        """The further keys that it is read from, with their descriptions."""
        return ()

    @property
    def further_keys(self) -> tuple[str, ...]:
        """The further keys that it is read from."""
        return tuple(key for key, _ in self.further)

    @property
    def sparse(self) -> bool:
        """Whether it is delivered as a tf.SparseTensor."""
        return False

    @property
    def named_on_disk(self) -> bool:
        """Whether classes are stored by their names."""
        return False

    @property
    def missing_target(self) -> float | None:
        """The value of a missing target; None if the parser delivers it itself."""
        return None

    @property
    def layout(self) -> str:
        """How a batch of it is laid out: dense, ragged or sparse."""
        return "ragged" if self.ragged else "sparse" if self.sparse else "dense"

    @property
    def augmented(self) -> tuple[tuple[str, Any], ...]:
        """How it is varied in training: options of the runtime's `augmentation`."""
        augment: AugmentSpec | None = getattr(self.spec, "augment", None)
        return tuple(augment.said().items()) if augment else ()

    @property
    def recoloured(self) -> bool:
        """Whether that changes values, and not only their places."""
        return bool({"brightness", "contrast"} & dict(self.augmented).keys())

    @property
    def compound(self) -> bool:
        """Whether it is written under several keys."""
        return False

    @property
    def present(self) -> Code:
        """The expression for which records of a batch have it."""
        return Code(f"examples.present(serialized, {literal(self.presence_key)})")

    @property
    def filled(self) -> Code:
        """The same, of a field whose missing values and "" read alike."""
        return Code(f'tf.not_equal(stored[{literal(self.declared.key)}], "")')


def value_at(path: tuple[str, ...]) -> Code:
    """Return the expression for a value: a keyword, or a member of a nested value."""
    if len(path) == 1:
        return identifier(path[0])
    return Code(f"_{identifier('_'.join(path[:-1]))}[{literal(path[-1])}]")


def as_tuples(value: Any) -> Any:
    """Return nested lists as nested tuples."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value
