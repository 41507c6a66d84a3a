"""A schema of TensorFlow Metadata, as the text of its protocol buffer.

The text format is printed here, so that no protobuf is needed; tests have protobuf's own
parser read it. TensorFlow Data Validation holds data against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...kinds.multilabel import MultiLabel
from ...kinds.ragged import Ragged
from ...kinds.sparse import Sparse
from ...kinds.storage import (
    BYTES,
    FLOAT,
    INT,
    Entry,
    count_of,
)
from ...kinds.tensor import Tensor
from ...kinds.text import Text
from ...kinds.vector import Vector
from ...spec.model import RecordSpec

_TYPES = {INT: "INT", FLOAT: "FLOAT", BYTES: "BYTES"}


@dataclass(frozen=True)
class Enumerator:
    """A name that stands for itself in the text format."""

    name: str


Value = str | int | float | bool | Enumerator | list["Entries"]
Entries = tuple[str, Value]

Message = list[Entries]


def schema_text(spec: RecordSpec) -> str:
    """Return the contents of a `schema.pbtxt`."""
    message: Message = []
    for entry, field, optional in spec.storage().values():
        message.append(("feature", _feature(entry, field, optional)))
    representations = [pair for field in spec.fields for pair in _represented(field)]
    if representations:
        group: Message = [
            ("key", ""),
            ("value", [("tensor_representation", each) for each in representations]),
        ]
        message.append(("tensor_representation_group", group))
    if spec.doc:
        message.append(("annotation", [("comment", spec.doc)]))
    return "".join(f"{line}\n" for line in _lines(message, ""))


def _feature(entry: Entry, field: FieldSpec, optional: bool) -> Message:
    feature: Message = [("name", entry.key), ("type", Enumerator(_TYPES[entry.stored]))]
    shape = None if optional else _shape(entry, field)
    if not optional:
        # min_count is of examples that have the feature, so that a file without
        # examples is found to be one.
        presence: Message = [("min_fraction", 1.0), ("min_count", 1)]
        feature.append(("presence", presence))
    if shape is not None:
        dims: Message = [("dim", [("size", size)]) for size in shape]
        feature.append(("shape", dims))
    else:
        least = 0 if entry.count is None else entry.count
        most = entry.most if entry.count is None else entry.count
        counts: Message = [("min", least)]
        counts += [("max", most)] if most is not None else []
        feature.append(("value_count", counts))
    feature += _domain(entry, field)
    feature.append(("annotation", _annotation(entry, field)))
    return feature


def _shape(entry: Entry, field: FieldSpec) -> tuple[int, ...] | None:
    """Return the shape of what is always there and always the same size."""
    if entry.count is None:
        return None
    if entry.part != "value" or entry.stored == BYTES:
        return () if entry.count == 1 else (entry.count,)
    if isinstance(field.kind, (Vector, Tensor)):
        sizes = tuple(size for size in field.kind.shape if size is not None)
        return sizes if count_of(field.kind.shape) == entry.count else (entry.count,)
    return () if entry.count == 1 else (entry.count,)


def _domain(entry: Entry, field: FieldSpec) -> Iterator[Entries]:
    """Yield what is known of the values under a key; one domain at most."""
    labels = isinstance(field.kind, (Label, MultiLabel))
    if entry.stored == INT:
        if getattr(field.kind, "dtype", None) == "bool" and entry.part == "value":
            yield "bool_domain", []
        elif entry.bounds is not None:
            least, most = entry.bounds
            if isinstance(field.kind, Label) and field.optional:
                least = min(least or 0, -1)  # what stands for a missing one is read too
            bounds: Message = [("min", least)] if least is not None else []
            bounds += [("max", most)] if most is not None else []
            bounds += [("is_categorical", True)] if labels else []
            yield "int_domain", bounds
    elif entry.stored == FLOAT:
        if getattr(field.kind, "finite", False):
            yield "float_domain", [("disallow_nan", True), ("disallow_inf", True)]
    elif entry.part == "format":
        return
    elif isinstance(field.kind, (Label, MultiLabel)):
        names = (
            ["", *field.kind.class_names]
            if field.optional
            else list(field.kind.class_names)
        )
        if isinstance(field.kind, MultiLabel):
            names = list(field.kind.class_names)
        values: Message = [("value", name) for name in names]
        yield "string_domain", [("name", entry.key), *values]
    elif isinstance(field.kind, Text):
        yield "natural_language_domain", []
    elif isinstance(field.kind, Images) or (
        isinstance(field.kind, (Image, Mask)) and field.kind.encoding != "raw"
    ):
        yield "image_domain", []


def _annotation(entry: Entry, field: FieldSpec) -> Message:
    tags = [f"schemagen:{field.kind.name}", f"role:{field.role}"]
    if entry.part != "value":
        tags = [f"schemagen:{field.kind.name}:{entry.part.replace(' ', '_')}"]
    elif entry.stored == BYTES:
        shape = getattr(field.kind, "shape", None)
        dtype = getattr(field.kind, "dtype", None)
        tags += [f"dtype:{dtype}"] if dtype else []
        if shape is not None:
            sizes = ",".join("?" if size is None else str(size) for size in shape)
            tags.append(f"shape:{sizes}")
    comments = [field.name] if field.name != field.key else []
    comments += [field.doc] if field.doc else []
    if isinstance(field.kind, (Label, MultiLabel)) and field.kind.stored == "id":
        names = enumerate(field.kind.class_names, field.kind.offset)
        comments += [f"{at} is {name}" for at, name in names]
    found: Message = [("tag", tag) for tag in tags]
    return found + [("comment", comment) for comment in comments]


def _represented(field: FieldSpec) -> Iterator[Message]:
    """Yield how TFX makes a tensor of a field, if its columns say all of it."""
    value, *_ = field.storage
    name: Value = field.name
    column: Entries = ("column_name", value.key)
    if isinstance(field.kind, Sparse):
        dims: Message = [("dim", [("size", size)]) for size in field.kind.shape]
        indices: Message = [
            ("index_column_names", key) for key in field.kind.index_keys
        ]
        tensor: Message = [
            ("dense_shape", dims),
            *indices,
            ("value_column_name", value.key),
        ]
        yield _named(name, "sparse_tensor", tensor)
    elif isinstance(field.kind, Ragged):
        path: Message = [("step", value.key)]
        partition: Message = [("row_length", field.kind.lengths_key)]
        raw = value.count == 1
        if raw or field.optional:
            yield _named(name, "varlen_sparse_tensor", [column])
        else:
            ragged: Message = [("feature_path", path), ("partition", partition)]
            yield _named(name, "ragged_tensor", ragged)
    elif value.count is None or field.optional:
        yield _named(name, "varlen_sparse_tensor", [column])
    else:
        shape = _shape(value, field) or ()
        sizes: Message = [("dim", [("size", size)]) for size in shape]
        yield _named(name, "dense_tensor", [column, ("shape", sizes)])


def _named(name: Value, sort: str, tensor: Message) -> Message:
    return [("key", name), ("value", [(sort, tensor)])]


def _lines(message: Message, indent: str) -> Iterator[str]:
    for name, value in message:
        if isinstance(value, list):
            yield f"{indent}{name} {{"
            yield from _lines(value, indent + "  ")
            yield indent + "}"
        else:
            yield f"{indent}{name}: {_literal(value)}"


def _literal(value: str | int | float | bool | Enumerator) -> str:
    if isinstance(value, Enumerator):
        return value.name
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return f'"{"".join(map(_escaped, value.encode()))}"'


def _escaped(byte: int) -> str:
    """Return a byte of a string so that the text is ASCII and one line."""
    if byte in b'"\\':
        return "\\" + chr(byte)
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
