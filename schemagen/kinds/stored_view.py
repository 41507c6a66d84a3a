"""A field in files as templates see it: its features and their descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from types import SimpleNamespace
from typing import Any, ClassVar, Generic

import numpy as np

from ..runtime.shared.base64_text import encoded
from ..runtime.shared.values import FLOATS, Numbers
from .field import FieldSpec, K
from .literals import Code, identifier, literal
from .storage import Entry

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class DeclaredView(Generic[K]):
    """A field as its schema declares it."""

    field: FieldSpec[K]

    @property
    def kind(self) -> K:
        return self.field.kind

    @cached_property
    def spec(self) -> SimpleNamespace:
        """All facts of the field, those of its kind included, by their names."""
        return SimpleNamespace(**self.field.facts())

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def path(self) -> tuple[str, ...]:
        """The names from the outermost of a nested row to its own."""
        return self.field.path or (self.name,)

    @property
    def label(self) -> str:
        """Its name in texts: `steps.observation.state`."""
        return self.field.label

    @property
    def optional(self) -> bool:
        return self.field.optional

    @property
    def value(self) -> Code:
        """The expression for the value that the writer was given."""
        return value_at(self.path)

    @property
    def macros(self) -> str:
        """The template of this kind's macros."""
        return f"kinds/{self.kind.name.lower()}.jinja"

    @property
    def group(self) -> str | None:
        """The group of fields that are equally long, if it is in one."""
        found: str | None = getattr(self.kind, "group", None)
        return found

    @property
    def missing(self) -> bool:
        """Whether a missing value has no default that stands for it."""
        return self.field.optional and self.field.default is None

    @property
    def dtype(self) -> str:
        """The dtype of the parsed tensor, by its TensorFlow name."""
        found = str(getattr(self.kind, "dtype"))  # noqa: B009
        return "string" if found == "bytes" else found

    @property
    def shape(self) -> Shape:
        """The static shape of one record's tensor; None varies."""
        return ()

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


class StoredView(DeclaredView[K]):
    """A field in files: its features and their descriptions."""

    in_list: ClassVar[bool] = False
    """Whether it is a feature list of a SequenceExample."""

    size_if_missing: ClassVar[int] = 0
    """The value that parsers read for a stored size of a missing value."""

    @property
    def row_dtype(self) -> str:
        """The dtype of the values in a row, which reading may convert."""
        return self.dtype

    @property
    def stored_shape(self) -> Shape:
        """The shape of the values in a row, which reading may change."""
        return self.shape

    @property
    def tf_dtype(self) -> Code:
        return Code(f"tf.{self.row_dtype}")

    @property
    def raw(self) -> bool:
        """Whether its numbers are stored as raw little-endian bytes."""
        return self.field.storage[0].encoding == "raw"

    @property
    def transfer_encoding(self) -> str | None:
        """Base64 if its bytes are stored as base64 text."""
        return self.field.storage[0].transfer_encoding

    @property
    def stored_dtype(self) -> Code:
        """The dtype in which TensorFlow parses the feature, before any cast."""
        stored = self.field.storage[0].stored
        return Code("tf.string" if stored == "bytes" else f"tf.{stored}")

    @property
    def narrowed(self) -> bool:
        """Whether stored int64 values are cast to a narrower dtype."""
        return self.stored_dtype == "tf.int64" and self.row_dtype != "int64"

    @property
    def compound(self) -> bool:
        """Whether it is written under several keys."""
        return len(self.field.storage) > 1

    @property
    def companions(self) -> tuple[tuple[str, str], ...]:
        """The further keys that it is written under, by the parameter that names each."""
        return tuple((each.parameter, each.key) for each in self.field.storage[1:])

    @property
    def read_sizes(self) -> tuple[tuple[str, str], ...]:
        """The sizes that readers look up, with their keys: ("height", "image/height")."""
        return tuple(
            (each.content, each.key)
            for each in self.field.storage
            if each.part == "size" and each.read
        )

    @property
    def further(self) -> tuple[tuple[str, Code], ...]:
        """The further keys that it is read from, with their descriptions."""
        entries = self.field.storage[1:]
        return tuple((each.key, self._described(each)) for each in entries if each.read)

    def _described(self, entry: Entry) -> Code:
        """Return the description of integers under a further key."""
        if entry.count is None:
            return Code("tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)")
        default = f", default_value={self.size_if_missing}" if self.optional else ""
        return Code(f"tf.io.FixedLenFeature((), tf.int64{default})")

    @property
    def required_sequence(self) -> bool:
        """Whether TensorFlow by itself reads its list as empty where it is missing."""
        return False

    @property
    def required_keys(self) -> tuple[str, ...]:
        """The keys of its lists whose absence parsers have to look for."""
        return (self.field.key,) if self.required_sequence else ()

    @property
    def length_key(self) -> str:
        """The key of the feature whose length tells how many items it has."""
        return self.field.key

    @property
    def item_size(self) -> int | None:
        """The number of stored values or raw bytes that an item takes.

        None if the stored list has one length for all rows.
        """
        return 1

    @property
    def described_length(self) -> Code:
        """The description of the key that tells how many items it has."""
        name = "SEQUENCE_DESCRIPTION" if self.in_list else "FEATURE_DESCRIPTION"
        return Code(f"{name}[{literal(self.length_key)}]")

    @property
    def named_on_disk(self) -> bool:
        """Whether classes are stored by their names."""
        return False

    @property
    def default_value(self) -> Code:
        """The `default_value` of the feature's description, as source code."""
        if self.raw:
            return self._raw_default()
        if self.stored_dtype == "tf.string":
            text: Any = self.field.default or ""
            content = text.encode() if isinstance(text, str) else text
            return literal(encoded(content) if self.transfer_encoding else content)
        return self._number_default()

    def _number_default(self) -> Code:
        default: Any = self.field.default
        if default is None:
            return literal(float("nan") if self.is_float else 0)
        if self.stored_dtype == "tf.int64":  # a bool is stored as 0 or 1
            return literal(as_tuples(np.asarray(default, np.int64).tolist()))
        return literal(default)

    def _raw_default(self) -> Code:
        """Return the bytes that stand for a missing raw tensor."""
        shape = tuple(size or 0 for size in self.stored_shape)
        numbers = Numbers(self.row_dtype, finite=False)
        if self.field.default is not None:
            values = np.asarray(self.field.default)
            content = numbers.raw(numbers.convert(values)).tobytes()
            return literal(encoded(content) if self.transfer_encoding else content)
        floats = self.row_dtype in FLOATS
        filler = np.nan if self.nan_if_missing and floats else 0.0
        one = np.array([filler], "float64" if floats else self.row_dtype)
        item = numbers.raw(numbers.convert(one)).tobytes()
        if self.transfer_encoding:
            # Three items take four characters for each of their bytes, without padding.
            threes, others = divmod(prod(shape), 3)
            parts = [f"{literal(encoded(item * 3))} * {threes}"] if threes else []
            parts += [literal(encoded(item * others))] if others else []
            return Code(" + ".join(parts))
        if set(item) == {0}:
            return Code(f"bytes({len(item) * prod(shape)})")
        return Code(f"{literal(item)} * {prod(shape)}" if shape else literal(item))

    @property
    def nan_if_missing(self) -> bool:
        """Whether a missing value reads as NaN, so that it needs no mask."""
        return False


def value_at(path: tuple[str, ...]) -> Code:
    """Return the expression for a value: a keyword, or a member of a nested value."""
    if len(path) == 1:
        return identifier(path[0])
    return Code(f"_{identifier('_'.join(path[:-1]))}[{literal(path[-1])}]")


def as_tuples(value: Any) -> Any:
    """Return nested lists as nested tuples."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value
