"""What can have happened to a field that data holds under the same key.

Each check is one rule: which attributes it judges, and when a difference of one is
what the rule is about. A field is its JSON in `spec.json`, since that is all that old
data knows of the schema that wrote it. Attributes that no check judges and that are
not known to be harmless are refused: a later schemagen may have given them a meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from .field_keys import FURTHER_KEYS, is_read
from .json_entries import KINDS
from .values import INTEGERS, RAW_ONLY, item_size

FieldSpec = dict[str, Any]

# What an attribute means where the JSON leaves it out.
_UNSAID: dict[str, Any] = {
    "antialias": False,
    "classes": [],
    "dtype": "uint8",
    "interpolation": "bilinear",
    "offset": 0,
    "renamed": [],
    "scaled_decoding": False,
    "stored": "id",
    "too_long": "error",
}

# What cannot change the values that records hold: only what becomes of them.
HARMLESS = frozenset(
    {
        "augment",
        "dense",
        "doc",
        "exact",
        "format_key",
        "format_text",
        "key",
        "kind",
        "name",
        "path",
        "presence",
        "ragged",
        "renamed",
        "role",
    }
)

# Of resized images: other pixels, of the same ones in a file.
_RESIZING = ("antialias", "interpolation", "resize", "scaled_decoding")

_LIMITED = ("classes", "count", "dtype", "max_count", "max_length", "num_classes")


def said(field: FieldSpec, attribute: str) -> Any:
    """Return what a field says, or means where its JSON leaves it out."""
    return field.get(attribute, _UNSAID.get(attribute))


def stored_list(field: FieldSpec) -> str:
    """Return the list of tf.train.Feature that holds a field's values.

    "" for a kind that only a later version knows, if its attributes do not tell.
    """
    if field["kind"] not in KINDS and "dtype" not in field:
        return ""
    if field["kind"] == "Steps":
        return stored_list(field["step"])
    if field["kind"] in ("Label", "MultiLabel"):
        return "bytes_list" if said(field, "stored") == "text" else "int64_list"
    if field["kind"] in ("Image", "Images", "Mask", "Text"):
        return "bytes_list"
    dtype = field.get("dtype")
    if field.get("encoding", "list") != "list":
        return "bytes_list"
    if dtype in (*INTEGERS, "bool"):
        return "bytes_list" if dtype in RAW_ONLY else "int64_list"
    return "float_list" if dtype == "float32" else "bytes_list"


@dataclass(frozen=True)
class FieldCheck:
    """One rule for what has become of a field.

    Attributes:
        rule: the rule's id.
        attributes: what it judges, of fields of one kind.
        applies: whether it is what the rule is about: of the field as it was written,
            as it is expected, and the attribute in which they differ.
        record_by_record: data may be opened, since each record tells whether it is
            read alike, or since what is stored is read alike and used otherwise.
        words: the change in words; "" for both values of the attribute.
    """

    rule: str
    attributes: tuple[str, ...]
    applies: Callable[[FieldSpec, FieldSpec, str], bool]
    record_by_record: bool = False
    words: Callable[[FieldSpec, FieldSpec], str] = lambda old, new: ""


def _required(old: FieldSpec, new: FieldSpec, _: str) -> bool:
    return not new["optional"]


def _other_list(old: FieldSpec, new: FieldSpec, _: str) -> bool:
    before, after = stored_list(old), stored_list(new)
    return before != after and bool(before and after)


def _other_count(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    if attribute == "pad_on_disk":
        return bool(new.get("pad_on_disk"))
    if attribute == "max_length":
        return _filled_up(old, new)
    if _other_list(old, new, attribute):
        return False
    if attribute == "dtype":
        alike = _read_as_float(old, new) or _is_reinterpreted(old, new)
        return _raw(new) and not alike
    return not _is_wider(old, new) and not _is_reshaped(old, new)


def _other_encoding(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    if attribute == "dtype":
        return _encoded(new) and not _read_as_float(old, new)
    if _other_list(old, new, attribute):
        return False
    if attribute == "transfer_encoding":
        return True
    return not (new["encoding"] == "any" and old["encoding"] != "raw")


def _narrower(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    before, after = said(old, attribute), said(new, attribute)
    if attribute == "max_length":
        return not _filled_up(old, new) and not _cuts(new) and _less(after, before)
    if attribute == "classes":
        if said(new, "stored") == "text":  # then any order will do
            return not set(before) <= set(after)
        return bool(after) and _first_renamed(old, new) == len(after) < len(before)
    if attribute == "num_classes":  # names say it by themselves
        named = old.get("classes") and new.get("classes")
        return not named and _less(after, before)
    if attribute == "dtype":
        ranges = _range(old), _range(new)
        return all(ranges) and not _within(*ranges)
    if attribute == "count":
        return after is not None
    return _less(after, old.get("count") or before)  # max_count


def _further_key(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    if not is_read(new, attribute):
        return False
    return attribute != "index_key" or not _swapped(old, new)


def _other_classes(old: FieldSpec, new: FieldSpec, _: str) -> bool:
    if said(new, "stored") == "text":
        return False
    shorter = min(len(said(each, "classes")) for each in (old, new))
    return _first_renamed(old, new) < shorter


def _other_class(old: FieldSpec, new: FieldSpec) -> str:
    """Return the first class id with another name, in words."""
    at = _first_renamed(old, new)
    written, expected = old["classes"][at], new["classes"][at]
    return f"class id {at}: written {written!r}, expected {expected!r}"


def _other_shape(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    if attribute == "item_shape":
        return True
    return not _is_wider(old, new) and _is_reshaped(old, new)


def _other_number(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    if _other_list(old, new, attribute) or _encoded(new):
        return False
    if _read_as_float(old, new):
        return False
    if _range(old) and _range(new):
        return False
    return _is_reinterpreted(old, new)


def _was_optional(old: FieldSpec, new: FieldSpec, _: str) -> bool:
    return bool(old["optional"] and new["optional"])


def _filled_up(old: FieldSpec, new: FieldSpec) -> bool:
    """Tell whether rows are filled up to `max_length` on disk, before and after."""
    return bool(old.get("pad_on_disk") and new.get("pad_on_disk"))


def _padding_on_disk(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    if attribute == "pad_on_disk":
        return bool(old.get("pad_on_disk"))
    return _filled_up(old, new)


def _padding(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    return not _padding_on_disk(old, new, attribute)


def _cut_otherwise(old: FieldSpec, new: FieldSpec, attribute: str) -> bool:
    if attribute == "too_long":
        return "error" not in (said(old, attribute), said(new, attribute))
    shorter = _less(new["max_length"], old["max_length"])
    return shorter and _cuts(new) and not _filled_up(old, new)


def _read_as_float(old: FieldSpec, new: FieldSpec, _: str = "dtype") -> bool:
    """Tell whether one dtype is that of the pixels stored, and one of resized pixels."""
    if new["kind"] not in ("Image", "Images"):
        return False
    return bool(_stored_dtype(old) == _stored_dtype(new))


def _always(old: FieldSpec, new: FieldSpec, _: str) -> bool:
    return True


def _ignored_before(old: FieldSpec, new: FieldSpec, _: str) -> bool:
    return old.get("ignore") is not None  # else it does not stand in the data


def _finite_now(old: FieldSpec, new: FieldSpec, _: str) -> bool:
    return bool(new["finite"])


def _joined_group(old: FieldSpec, new: FieldSpec, _: str) -> bool:
    return new.get("group") is not None


def _swapped(old: FieldSpec, new: FieldSpec, _: str = "index_key") -> bool:
    return sorted(old["index_key"]) == sorted(new["index_key"])


# Wire: what was written does not parse. Meaning: it parses, and says something else.
# No difference of an attribute is judged by more than one.
FIELD_CHECKS = (
    FieldCheck("SG203", ("optional",), _required),
    FieldCheck("SG205", ("dtype", "encoding", "stored"), _other_list),
    FieldCheck("SG206", ("dtype", "max_length", "pad_on_disk", "shape"), _other_count),
    FieldCheck("SG207", ("dtype", "encoding", "transfer_encoding"), _other_encoding),
    FieldCheck("SG208", _LIMITED, _narrower),
    FieldCheck(
        "SG209",
        tuple(name for name in FURTHER_KEYS if name not in HARMLESS),
        _further_key,
    ),
    FieldCheck("SG210", ("group",), _joined_group, record_by_record=True),
    FieldCheck("SG221", ("classes",), _other_classes, words=_other_class),
    FieldCheck("SG222", ("offset",), _always),
    FieldCheck("SG223", ("item_shape", "shape"), _other_shape),
    FieldCheck("SG224", ("dtype",), _other_number),
    FieldCheck("SG226", ("default",), _was_optional),
    FieldCheck("SG227", ("pad_on_disk", "padding_value"), _padding_on_disk),
    FieldCheck("SG228", ("dequantize",), _always),
    FieldCheck("SG229", ("finite",), _finite_now),
    FieldCheck("SG230", ("ignore",), _ignored_before),
    FieldCheck("SG231", ("index_key",), _swapped),
    FieldCheck("SG232", _RESIZING, _always, record_by_record=True),
    FieldCheck("SG232", ("dtype",), _read_as_float, record_by_record=True),
    FieldCheck("SG233", ("padding_value",), _padding, record_by_record=True),
    FieldCheck(
        "SG234", ("max_length", "too_long"), _cut_otherwise, record_by_record=True
    ),
)

JUDGED = HARMLESS.union(*(check.attributes for check in FIELD_CHECKS), {"step"})


def _encoded(field: FieldSpec) -> bool:
    """Tell whether a field holds values in a format that has a header."""
    if field["kind"] in ("Image", "Images", "Mask"):
        return bool(field["encoding"] != "raw")
    return bool(field.get("encoding") == "proto")


def _stored_dtype(field: FieldSpec) -> Any:
    """Return the dtype of stored values; resized pixels may be read as float32."""
    dtype = said(field, "dtype")
    pixels = field["kind"] in ("Image", "Images") and _encoded(field)
    return "uint8" if pixels and dtype == "float32" else dtype


def _raw(field: FieldSpec) -> bool:
    """Tell whether a field's numbers are raw bytes."""
    if _encoded(field) or field.get("dtype") in ("string", "bytes"):
        return False
    return stored_list(field) == "bytes_list" and "dtype" in field


def _is_wider(old: FieldSpec, new: FieldSpec) -> bool:
    """Tell whether a shape allows all that another one does."""
    before, after = old["shape"], new["shape"]
    return len(before) == len(after) and all(
        now in (None, was) for was, now in zip(before, after, strict=True)
    )


def _is_reshaped(old: FieldSpec, new: FieldSpec) -> bool:
    """Tell whether values of one shape can be taken for those of another."""
    if new["kind"] == "Sparse":
        return len(old["shape"]) == len(new["shape"])
    sizes = (*old["shape"], *new["shape"])
    if _encoded(new) or None in sizes:
        return False
    return prod(old["shape"]) == prod(new["shape"])


def _is_reinterpreted(old: FieldSpec, new: FieldSpec) -> bool:
    """Tell whether bytes of one dtype can be taken for those of another."""
    before, after = _stored_dtype(old), _stored_dtype(new)
    if {before, after} & {"string", "bytes"}:
        return True
    if new["kind"] in ("VarLen", "Ragged"):  # of any length
        return True
    return item_size(before) == item_size(after)


def _range(field: FieldSpec) -> tuple[int, int] | None:
    """Return the least and the greatest integer, if a field holds an int64_list."""
    dtype = said(field, "dtype")
    if dtype not in (*INTEGERS, "bool") or stored_list(field) != "int64_list":
        return None
    if dtype == "bool":
        return 0, 1
    bits = 8 * item_size(dtype)
    return (
        (0, 2**bits - 1)
        if dtype[0] == "u"
        else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )


def _within(inner: Any, outer: Any) -> bool:
    return bool(outer[0] <= inner[0] and inner[1] <= outer[1])


def _cuts(field: FieldSpec) -> bool:
    return bool(said(field, "too_long") != "error")


def _less(after: int | None, before: int | None) -> bool:
    """Compare limits; None is no limit."""
    return after is not None and (before is None or after < before)


def _first_renamed(old: FieldSpec, new: FieldSpec) -> int:
    """Return the first class id with another name, or else how many have the same."""
    today = dict(said(new, "renamed"))
    before = [today.get(name, name) for name in said(old, "classes")]
    pairs = enumerate(zip(before, said(new, "classes"), strict=False))
    shorter = min(len(before), len(said(new, "classes")))
    return next((at for at, (was, now) in pairs if was != now), shorter)
