"""What can have happened to a field that data holds under the same key.

Each check is one rule: the attributes that it judges, and when a difference of one is what
the rule is about. Attributes that no check judges and that are not known to be harmless
are refused: a later schemagen may have given them a meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

from ..shared.dtypes import DTYPES
from .base import Codec
from .images import Resized
from .lists import Strings, VarLen
from .part import INT, Part
from .ragged import Ragged
from .spec_json import codec_of_json

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

# Encoded pictures contain their sizes.
_SIZE_KEYS = ("height_key", "width_key", "channels_key")
_FURTHER = (
    *_SIZE_KEYS,
    "row_lengths_key",
    "index_key",
    "shape_key",
)


@dataclass(frozen=True)
class StoredField:
    """A field as a spec states it.

    Attributes:
        facts: its JSON in `spec.json`, which is all that old data knows of its schema.
    """

    facts: dict[str, Any]

    @cached_property
    def codec(self) -> Codec | None:
        """Its codec; None of a kind that only a later version knows."""
        return codec_of_json({"name": "", "key": "", **self.facts})

    @property
    def parts(self) -> tuple[Part, ...]:
        """What it is stored as, as far as that is known."""
        return self.codec.parts if self.codec else ()

    def __getitem__(self, attribute: str) -> Any:
        """Return what it says, or means where its JSON leaves an attribute out."""
        if attribute in self.facts:
            return self.facts[attribute]
        known = fields(self.codec) if self.codec else ()
        if attribute not in {each.name for each in known if each.init}:
            return None
        found = getattr(self.codec, attribute)
        return list(found) if isinstance(found, tuple) else found

    @property
    def kind(self) -> str:
        return str(self.facts["kind"])

    @property
    def list(self) -> str:
        """The type of the list that holds its values; "" if that is not known."""
        return self.parts[0].stored if self.parts else ""

    @property
    def encoded(self) -> bool:
        """Whether its values are in a format that has a header."""
        return bool(self.parts) and self.parts[0].encoding not in ("list", "raw")

    @property
    def raw(self) -> bool:
        """Whether its numbers are raw bytes."""
        return bool(self.parts) and self.parts[0].encoding == "raw"

    @property
    def stored_dtype(self) -> str:
        """The dtype of stored values; resized pixels may be read as float32."""
        return self.parts[0].dtype if self.parts else str(self["dtype"])

    @property
    def range(self) -> tuple[int, int] | None:
        """The least and the greatest integer, if it is a list of integers."""
        dtype = self.stored_dtype
        return DTYPES[dtype].bounds if self.list == INT and dtype in DTYPES else None

    @property
    def cuts(self) -> bool:
        """Whether readers cut off what is too long."""
        return self["too_long"] not in (None, "error")

    def reads(self, attribute: str) -> bool:
        """Return whether readers look at the key that an attribute names."""
        return any(part.read and part.parameter == attribute for part in self.parts)


Old: TypeAlias = StoredField
New: TypeAlias = StoredField


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
    applies: Callable[[Old, New, str], Any]
    record_by_record: bool = False
    words: Callable[[Old, New], str] = lambda old, new: ""


def _always(old: Old, new: New, _: str) -> bool:
    return True


def other_list(old: Old, new: New) -> bool:
    """Return whether the values of a field are in another list than before."""
    return old.list != new.list and bool(old.list and new.list)


def _other_count(old: Old, new: New, attribute: str) -> bool:
    if attribute == "pad_on_disk":
        return bool(new["pad_on_disk"])
    if attribute == "max_length":
        return _filled_up(old, new)
    if other_list(old, new):
        return False
    if attribute == "dtype":
        alike = _read_as_float(old, new) or _is_reinterpreted(old, new)
        return new.raw and not alike
    return not _is_wider(old, new) and not _is_reshaped(old, new)


def _other_encoding(old: Old, new: New, attribute: str) -> bool:
    if attribute == "dtype":
        return new.encoded and not _read_as_float(old, new)
    if other_list(old, new):
        return False
    if attribute == "transfer_encoding":
        return True
    return not (new["encoding"] == "any" and old["encoding"] != "raw")


def _narrower(old: Old, new: New, attribute: str) -> bool:
    before, after = old[attribute], new[attribute]
    if attribute == "max_length":
        return not _filled_up(old, new) and not new.cuts and _less(after, before)
    if attribute == "classes":
        if new["stored"] == "text":  # then any order will do
            return not set(before) <= set(after)
        return bool(after) and _first_renamed(old, new) == len(after) < len(before)
    if attribute == "num_classes":  # names say it by themselves
        named = old["classes"] and new["classes"]
        return not named and _less(after, before)
    if attribute == "dtype":
        inner, outer = old.range, new.range
        return bool(inner and outer) and not (
            outer[0] <= inner[0] and inner[1] <= outer[1]  # type: ignore[index]
        )
    if attribute == "count":
        return after is not None
    return _less(after, old["count"] or before)  # max_count


def _further_key(old: Old, new: New, attribute: str) -> bool:
    if attribute in _SIZE_KEYS and not new.reads(attribute):
        return False
    return attribute != "index_key" or not _swapped(old, new)


def _swapped(old: Old, new: New, _: str = "") -> bool:
    return sorted(old["index_key"]) == sorted(new["index_key"])


def _other_classes(old: Old, new: New, _: str) -> bool:
    if new["stored"] == "text":
        return False
    shorter = min(len(each["classes"]) for each in (old, new))
    return _first_renamed(old, new) < shorter


def _other_class(old: Old, new: New) -> str:
    """Return the first class id with another name, in words."""
    at = _first_renamed(old, new)
    written, expected = old["classes"][at], new["classes"][at]
    return f"class id {at}: written {written!r}, expected {expected!r}"


def _other_shape(old: Old, new: New, attribute: str) -> bool:
    if attribute == "item_shape":
        return True
    return not _is_wider(old, new) and _is_reshaped(old, new)


def _other_number(old: Old, new: New, _: str) -> bool:
    if other_list(old, new) or new.encoded or _read_as_float(old, new):
        return False
    return not (old.range and new.range) and _is_reinterpreted(old, new)


def _filled_up(old: Old, new: New) -> bool:
    """Return whether rows are filled up to `max_length` on disk, before and after."""
    return bool(old["pad_on_disk"] and new["pad_on_disk"])


def _padding_on_disk(old: Old, new: New, attribute: str) -> bool:
    if attribute == "pad_on_disk":
        return bool(old["pad_on_disk"])
    return _filled_up(old, new)


def _padding(old: Old, new: New, attribute: str) -> bool:
    return not _padding_on_disk(old, new, attribute)


def _cut_otherwise(old: Old, new: New, attribute: str) -> bool:
    if attribute == "too_long":
        return old.cuts and new.cuts
    shorter = _less(new["max_length"], old["max_length"])
    return shorter and new.cuts and not _filled_up(old, new)


def _read_as_float(old: Old, new: New, _: str = "dtype") -> bool:
    """Return whether one dtype is that of the pixels stored, and one of resized pixels."""
    is_image = isinstance(new.codec, Resized)
    return is_image and old.stored_dtype == new.stored_dtype


# Wire: what was written does not parse. Meaning: it parses, and says something else.
# No difference of an attribute is judged by more than one.
FIELD_CHECKS = (
    FieldCheck("SG203", ("optional",), lambda old, new, _: not new["optional"]),
    FieldCheck(
        "SG205",
        ("dtype", "encoding", "stored"),
        lambda old, new, _: other_list(old, new),
    ),
    FieldCheck("SG206", ("dtype", "max_length", "pad_on_disk", "shape"), _other_count),
    FieldCheck("SG207", ("dtype", "encoding", "transfer_encoding"), _other_encoding),
    FieldCheck("SG208", _LIMITED, _narrower),
    FieldCheck("SG209", _FURTHER, _further_key),
    FieldCheck(
        "SG210",
        ("group",),
        lambda old, new, _: new["group"] is not None,
        record_by_record=True,
    ),
    FieldCheck("SG221", ("classes",), _other_classes, words=_other_class),
    FieldCheck("SG222", ("offset",), _always),
    FieldCheck("SG223", ("item_shape", "shape"), _other_shape),
    FieldCheck("SG224", ("dtype",), _other_number),
    FieldCheck(
        "SG226", ("default",), lambda old, new, _: old["optional"] and new["optional"]
    ),
    FieldCheck("SG227", ("pad_on_disk", "padding_value"), _padding_on_disk),
    FieldCheck("SG228", ("dequantize",), _always),
    FieldCheck("SG229", ("finite",), lambda old, new, _: new["finite"]),
    # Where it was not declared, it is not in the data.
    FieldCheck("SG230", ("ignore",), lambda old, new, _: old["ignore"] is not None),
    FieldCheck("SG231", ("index_key",), _swapped),
    FieldCheck("SG232", _RESIZING, _always, record_by_record=True),
    FieldCheck("SG232", ("dtype",), _read_as_float, record_by_record=True),
    FieldCheck("SG233", ("padding_value",), _padding, record_by_record=True),
    FieldCheck(
        "SG234", ("max_length", "too_long"), _cut_otherwise, record_by_record=True
    ),
)

JUDGED = HARMLESS.union(*(check.attributes for check in FIELD_CHECKS), {"step"})


def _is_wider(old: Old, new: New) -> bool:
    """Return whether a shape allows all that another one does."""
    before, after = old["shape"], new["shape"]
    return len(before) == len(after) and all(
        now in (None, was) for was, now in zip(before, after, strict=True)
    )


def _is_reshaped(old: Old, new: New) -> bool:
    """Return whether values of one shape can be taken for those of another."""
    if any(part.holds == "index" for part in new.parts):
        return len(old["shape"]) == len(new["shape"])
    if new.encoded or None in (*old["shape"], *new["shape"]):
        return False
    return bool(prod(old["shape"]) == prod(new["shape"]))


def _is_reinterpreted(old: Old, new: New) -> bool:
    """Return whether bytes of one dtype can be taken for those of another."""
    before, after = old.stored_dtype, new.stored_dtype
    if {before, after} & {"string", "bytes"}:
        return True
    if isinstance(new.codec, VarLen | Strings | Ragged):  # of any length
        return True
    return DTYPES[before].size == DTYPES[after].size


def _less(after: int | None, before: int | None) -> bool:
    """Compare limits; None means no limit."""
    return after is not None and (before is None or after < before)


def _first_renamed(old: Old, new: New) -> int:
    """Return the first class id with another name, or else how many have the same."""
    today = dict(new["renamed"] or ())
    before = [today.get(name, name) for name in old["classes"]]
    pairs = enumerate(zip(before, new["classes"], strict=False))
    shorter = min(len(before), len(new["classes"]))
    return next((at for at, (was, now) in pairs if was != now), shorter)
