"""A schema of TensorFlow Metadata, as the text of its protocol buffer.

The text format is printed here, so that no protobuf is needed; tests have protobuf's own
parser read it. TensorFlow Data Validation holds data against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.images import Images
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...kinds.multilabel import MultiLabel
from ...kinds.ragged import Ragged
from ...kinds.sparse import Sparse
from ...kinds.storage import BYTES, FLOAT, INT, Entry, count_of
from ...kinds.tensor import Tensor
from ...kinds.text import Text
from ...kinds.varlen import VarLen
from ...kinds.vector import Vector
from ...spec.model import RecordSpec
from .notes import Notes
from .values import PICTURE, value_of

_TYPES = {INT: "INT", FLOAT: "FLOAT", BYTES: "BYTES"}


class Enumerator(str):
    """A name that stands for itself in the text format."""


Message = Mapping[str, Any]
"""A message by the names of its fields; those that are repeated are lists."""


def schema_text(spec: RecordSpec, notes: Notes) -> str:
    """Return the contents of a `schema.pbtxt`."""
    for field in spec.fields:
        if field.name != field.key:
            notes.add(field, f"named {field.key!r}")
        notes.leave_out(field, "default", "group", "format_text")
        if isinstance(field.kind, Mask):
            notes.leave_out(field, "num_classes", "classes", "ignore")
    message: dict[str, Any] = {
        "feature": [_feature(*each, notes) for each in spec.storage().values()]
    }
    representations = [
        {"key": field.name, "value": _tensor(field)} for field in spec.fields
    ]
    if representations:
        group = {"key": "", "value": {"tensor_representation": representations}}
        message["tensor_representation_group"] = group
    if spec.doc:
        message["annotation"] = {"comment": spec.doc}
    return "".join(f"{line}\n" for line in _lines(message, ""))


def _feature(entry: Entry, field: FieldSpec, optional: bool, notes: Notes) -> Message:
    feature: dict[str, Any] = {
        "name": entry.key,
        "type": Enumerator(_TYPES[entry.stored]),
    }
    if not optional:
        # min_count is of examples that have the feature, so that a file without
        # examples is found to be one.
        feature["presence"] = {"min_fraction": 1.0, "min_count": 1}
    if not optional and entry.count is not None:
        feature["shape"] = _shape(entry, field, entry.count)
    else:
        least = 0 if entry.count is None else entry.count
        most = entry.most if entry.count is None else entry.count
        feature["value_count"] = {"min": least, "max": most}
        if entry.part == "value" and entry.stored != BYTES:
            _note_shape(field, notes)
    annotation = _annotation(entry, field, notes)
    return {**feature, **_domain(entry, field), "annotation": annotation}


def _note_shape(field: FieldSpec, notes: Notes) -> None:
    """Note a shape of which only the number of values is said."""
    _, shape = value_of(field)
    if isinstance(field.kind, (Vector, Tensor, VarLen)) and len(shape) > 1:
        notes.leave_out(field, "shape", "item_shape")


def _shape(entry: Entry, field: FieldSpec, count: int) -> Message:
    """Return the shape of what always has the same size."""
    sizes: tuple[int | None, ...] = () if count == 1 else (count,)
    values = entry.part == "value" and entry.stored != BYTES
    if (
        values
        and isinstance(field.kind, (Vector, Tensor))
        and count_of(field.kind.shape) == count
    ):
        sizes = field.kind.shape
    return {"dim": [{"size": size} for size in sizes]}


def _domain(entry: Entry, field: FieldSpec) -> Message:
    """Return what is known of the values under a key; one domain at most."""
    label = isinstance(field.kind, (Label, MultiLabel))
    may_lack = isinstance(field.kind, Label) and field.optional
    if entry.stored == INT:
        if getattr(field.kind, "dtype", None) == "bool" and entry.part == "value":
            return {"bool_domain": {}}
        if entry.bounds is None:
            return {}
        least, most = entry.bounds
        if may_lack:
            least = min(least or 0, -1)  # what stands for a missing one is read too
        bounds = {"min": least, "max": most, "is_categorical": label or None}
        return {"int_domain": bounds}
    if entry.stored == FLOAT:
        if getattr(field.kind, "finite", False):
            return {"float_domain": {"disallow_nan": True, "disallow_inf": True}}
        return {}
    if entry.part != "value" or entry.transfer_encoding:
        return {}
    if isinstance(field.kind, (Label, MultiLabel)):
        names = (
            ["", *field.kind.class_names] if may_lack else list(field.kind.class_names)
        )
        return {"string_domain": {"name": entry.key, "value": names}}
    if isinstance(field.kind, Text):
        return {"natural_language_domain": {}}
    return {"image_domain": {}} if value_of(field)[0] == PICTURE else {}


def _annotation(entry: Entry, field: FieldSpec, notes: Notes) -> Message:
    """Return what only people read, of what TensorFlow Metadata has no words for."""
    tags = [f"schemagen:{field.kind.name}", f"role:{field.role}"]
    if entry.part != "value":
        tags = [f"schemagen:{field.kind.name}:{entry.part.replace(' ', '_')}"]
    elif entry.stored == BYTES:
        shape = getattr(field.kind, "shape", None)
        numeric = hasattr(field.kind, "dtype") and not isinstance(field.kind, Images)
        tags += [f"dtype:{entry.dtype}"] if numeric else []
        if entry.transfer_encoding:
            tags.append(f"transfer_encoding:{entry.transfer_encoding}")
        if shape is not None:
            sizes = ",".join("?" if size is None else str(size) for size in shape)
            tags.append(f"shape:{sizes}")
        if len(tags) > 2:
            words = [tag.partition(":")[0] for tag in tags[2:]]
            notes.add(field, f"{', '.join(words)} as tags")
    comments = [field.name] if field.name != field.key else []
    comments += [field.doc] if field.doc else []
    if isinstance(field.kind, (Label, MultiLabel)) and field.kind.stored == "id":
        names = enumerate(field.kind.class_names, field.kind.offset)
        if field.kind.class_names:
            notes.add(field, "classes as comments")
        comments += [f"{at} is {name}" for at, name in names]
    return {"tag": tags, "comment": comments}


def _tensor(field: FieldSpec) -> Message:
    """Return how TFX makes a tensor of a field, if its columns say all of it."""
    value, *_ = field.storage
    if isinstance(field.kind, Sparse):
        sparse = {
            "dense_shape": {"dim": [{"size": size} for size in field.kind.shape]},
            "index_column_names": field.kind.index_keys,
            "value_column_name": value.key,
        }
        return {"sparse_tensor": sparse}
    if isinstance(field.kind, Ragged) and value.count != 1 and not field.optional:
        partition = {"row_length": field.kind.lengths_key}
        path = {"step": value.key}
        return {"ragged_tensor": {"feature_path": path, "partition": partition}}
    column = {"column_name": value.key}
    if isinstance(field.kind, Ragged) or value.count is None or field.optional:
        return {"varlen_sparse_tensor": column}
    return {"dense_tensor": {**column, "shape": _shape(value, field, value.count)}}


def _lines(message: Message, indent: str) -> Iterator[str]:
    for name, given in message.items():
        for value in given if isinstance(given, (list, tuple)) else [given]:
            if isinstance(value, Mapping):
                yield f"{indent}{name} {{"
                yield from _lines(value, indent + "  ")
                yield indent + "}"
            elif value is not None:
                yield f"{indent}{name}: {_literal(value)}"


def _literal(value: str | int | float | bool) -> str:
    if isinstance(value, Enumerator):
        return value
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
