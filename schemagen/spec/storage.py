"""The storage of a field in an Example: its keys, and the list under each.

A field may have several keys. The storage states the list's type, count and bounds; what its
values mean (ids, pixels, text) is a matter of the field's kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..runtime.shared.values import INTEGERS, RAW_ONLY
from .model import (
    FieldSpec,
    ImageSpec,
    ImagesSpec,
    LabelSpec,
    MaskSpec,
    MultiLabelSpec,
    RaggedSpec,
    ScalarSpec,
    SparseSpec,
    TensorSpec,
    TextSpec,
    VarLenSpec,
    VectorSpec,
)

INT, FLOAT, BYTES = "int64", "float32", "bytes"


@dataclass(frozen=True)
class Entry:
    """A key and the list under it.

    Attributes:
        key: the feature's key.
        stored: int64, float32 or bytes.
        count: how many values; None for any number, as far as `most` allows.
        most: the most values; None for any number.
        part: what of the field it is: "value", "size", "format", "row lengths" or
            "index".
        bounds: the least and the greatest integer, if they are known.
    """

    key: str
    stored: str
    count: int | None
    most: int | None = None
    part: str = "value"
    bounds: tuple[int | None, int | None] | None = None


def stored_as(dtype: str) -> str:
    """Return the list that numbers or strings of a dtype are stored in."""
    if dtype in ("string", "bytes", *RAW_ONLY):
        return BYTES
    return FLOAT if dtype == "float32" else INT


def bounds_of(dtype: str) -> tuple[int, int] | None:
    """Return the least and the greatest integer of a dtype; None if that says nothing."""
    if dtype == "bool":
        return (0, 1)
    if dtype not in INTEGERS or dtype in ("int64", "uint64"):
        return None
    bits = int(dtype.lstrip("uint"))
    if dtype.startswith("u"):
        return (0, 2**bits - 1)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def size_of(shape: tuple[int | None, ...]) -> int | None:
    """Return how many numbers a shape has; None if that varies."""
    size = 1
    for length in shape:
        if length is None:
            return None
        size *= length
    return size


def entries_of(field: FieldSpec) -> tuple[Entry, ...]:
    """Return what a field of an Example is stored as; its value comes first.

    Raises:
        TypeError: a field that has no place in an Example.
    """
    key = field.key
    match field:
        case ImageSpec():
            return (Entry(key, BYTES, 1), *_sizes(field), *_format(field.format_key))
        case MaskSpec():
            return (Entry(key, BYTES, 1), *_sizes(field), *_format(field.format_key))
        case ImagesSpec():
            return (Entry(key, BYTES, field.count, field.max_count),)
        case LabelSpec():
            return (Entry(key, *_ids(field), 1, bounds=_id_bounds(field)),)
        case MultiLabelSpec():
            return (Entry(key, *_ids(field), None, bounds=_id_bounds(field)),)
        case ScalarSpec() if field.encoding == "list":
            return (_numbers(key, field.dtype, 1),)
        case VectorSpec() if field.encoding == "list":
            return (_numbers(key, field.dtype, size_of(field.shape)),)
        case ScalarSpec() | VectorSpec() | TextSpec():
            return (Entry(key, BYTES, 1),)
        case TensorSpec():
            return _tensor(field)
        case VarLenSpec():
            return (_sequence(field),)
        case RaggedSpec():
            lengths = Entry(
                field.row_lengths_key,
                INT,
                None,
                field.max_length,
                "row lengths",
                (0, None),
            )
            return (_numbers(key, field.dtype, None), lengths)
        case SparseSpec():
            indices = (
                Entry(index, INT, None, part="index", bounds=(0, length - 1))
                for index, length in zip(field.index_key, field.shape, strict=True)
            )
            return (_numbers(key, field.dtype, None), *indices)
    raise TypeError(f"{field.kind} is no part of an Example")


def _ids(field: LabelSpec | MultiLabelSpec) -> tuple[str]:
    return (INT if field.stored == "id" else BYTES,)


def _id_bounds(field: LabelSpec | MultiLabelSpec) -> tuple[int, int] | None:
    if field.stored != "id":
        return None
    return (field.offset, field.offset + field.num_classes - 1)


def _numbers(key: str, dtype: str, count: int | None) -> Entry:
    stored = stored_as(dtype)
    raw = dtype in RAW_ONLY
    return Entry(key, stored, 1 if raw else count, bounds=bounds_of(dtype))


def _sequence(field: VarLenSpec) -> Entry:
    size = size_of(field.item_shape) or 1
    most = None if field.max_length is None else field.max_length * size
    if field.too_long != "error" and not field.pad_on_disk:
        most = None  # files may hold more, which is cut when read
    found = _numbers(field.key, field.dtype, most if field.pad_on_disk else None)
    if found.count is None:
        return Entry(found.key, found.stored, None, most, bounds=found.bounds)
    return found


def _tensor(field: TensorSpec) -> tuple[Entry, ...]:
    if field.encoding == "list":
        value = _numbers(field.key, field.dtype, size_of(field.shape))
    else:
        value = Entry(field.key, BYTES, 1)
    keys = field.shape_key
    if keys is None:
        return (value,)
    if isinstance(keys, str):
        rank = len(field.shape)
        return (value, Entry(keys, INT, rank, part="size", bounds=(0, None)))
    stored = zip(keys, field.shape, strict=True)
    return (value, *(_size(key, length) for key, length in stored if key))


def _size(key: str, length: int | None) -> Entry:
    bounds = (0, None) if length is None else (length, length)
    return Entry(key, INT, 1, part="size", bounds=bounds)


def _sizes(field: ImageSpec | MaskSpec) -> tuple[Entry, ...]:
    keys = [field.height_key, field.width_key, getattr(field, "channels_key", None)]
    lengths = [*field.shape, None][:3]
    pairs = zip(keys, lengths, strict=True)
    return tuple(_size(key, length) for key, length in pairs if key)


def _format(key: str | None) -> tuple[Entry, ...]:
    return (Entry(key, BYTES, 1, part="format"),) if key else ()


def entries_by_key(
    fields: tuple[FieldSpec, ...],
) -> dict[str, tuple[Entry, FieldSpec, bool]]:
    """Return what stands under each key of a record, its field, and whether it may miss.

    Fields may share the key of a size: it is there if one of them has to be.
    """
    found: dict[str, tuple[Entry, FieldSpec, bool]] = {}
    for field in fields:
        for entry in entries_of(field):
            before = found.get(entry.key)
            if before is None:
                found[entry.key] = (entry, field, field.optional)
            elif before[2] and not field.optional:
                found[entry.key] = (before[0], before[1], False)
    return dict(sorted(found.items(), key=lambda each: each[0].encode()))
