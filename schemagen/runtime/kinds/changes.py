"""What a change of a parameter means for data that was written before.

Each parameter of a kind states, where it is declared, which rules judge a change of it. Of
an attribute that no parameter states nothing is known: a later schemagen may have given it
a meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

from ..cells.part import INT, Part
from ..shared.dtypes import DTYPES

_SIZES = ("height_key", "width_key", "channels_key")


@dataclass(frozen=True)
class StoredField:
    """A field as a spec states it.

    Attributes:
        facts: its JSON in `spec.json`, which is all that old data knows of its schema.
        codec: of the field; None of a kind that only a later version knows.
    """

    facts: dict[str, Any]
    codec: Any

    @property
    def parts(self) -> tuple[Part, ...]:
        """What it is stored as, as far as that is known."""
        return self.codec.parts if self.codec else ()

    def __getitem__(self, attribute: str) -> Any:
        """Return what it says, or means where its JSON leaves an attribute out."""
        if attribute in self.facts:
            return self.facts[attribute]
        known = self.codec.by_name() if self.codec else {}
        if attribute not in (*known, "optional", "default"):
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

    @property
    def of_any_length(self) -> bool:
        """Whether it is a list of any length."""
        return any(part.item_size is not None for part in self.parts)

    def reads(self, attribute: str) -> bool:
        """Return whether readers look at the key that an attribute names."""
        return any(part.read and part.parameter == attribute for part in self.parts)


Old: TypeAlias = StoredField
New: TypeAlias = StoredField


@dataclass(frozen=True)
class Judgement:
    """A rule that a change of a parameter may come under.

    Attributes:
        rule: the rule's id.
        applies: whether the change is what the rule is about: of the field as it was
            written, as it is expected, and the parameter.
        record_by_record: data may be opened, since each record tells whether it is
            read alike, or since what is stored is read alike and used otherwise.
        words: the change in words; "" for both values of the parameter.
    """

    rule: str
    applies: Callable[[Old, New, str], Any] = lambda old, new, name: True
    record_by_record: bool = False
    words: Callable[[Old, New], str] = lambda old, new: ""


# Wire: what was written does not parse.


def other_list(old: Old, new: New, _: str = "") -> bool:
    """Return whether the values of a field are in another list than before."""
    return old.list != new.list and bool(old.list and new.list)


def _other_dtype_size(old: Old, new: New, _: str) -> bool:
    alike = _read_as_float(old, new) or _is_reinterpreted(old, new)
    return new.raw and not other_list(old, new) and not alike


def _other_count(old: Old, new: New, _: str) -> bool:
    if other_list(old, new):
        return False
    return not _is_wider(old, new) and not _is_reshaped(old, new)


def _other_encoding(old: Old, new: New, name: str) -> bool:
    if name == "dtype":
        return new.encoded and not _read_as_float(old, new)
    if name == "encoding" and new["encoding"] == "any" and old["encoding"] != "raw":
        return False
    return not other_list(old, new)


def _less(after: int | None, before: int | None) -> bool:
    """Compare limits; None means no limit."""
    return after is not None and (before is None or after < before)


def _lower(old: Old, new: New, name: str) -> bool:
    if name == "max_length" and (_filled_up(old, new) or new.cuts):
        return False
    return _less(new[name], old[name])


def _fewer_images(old: Old, new: New, name: str) -> bool:
    return (
        new["count"] is not None
        if name == "count"
        else _less(new["max_count"], old["count"] or old["max_count"])
    )


def _fewer_classes(old: Old, new: New, name: str) -> bool:
    before, after = old["classes"], new["classes"]
    if name == "num_classes":  # names say it by themselves
        return not (before and after) and _less(new[name], old[name])
    if new["stored"] == "text":  # then any order will do
        return not set(before) <= set(after)
    return bool(after) and _first_renamed(old, new) == len(after) < len(before)


def _of_classes_now(old: Old, new: New, _: str) -> bool:
    """Return whether the items of a list are classes, and were any integers."""
    return new["num_classes"] is None and not old["classes"]


def _narrower(old: Old, new: New, _: str) -> bool:
    inner, outer = old.range, new.range
    if inner is None or outer is None:
        return False
    return not (outer[0] <= inner[0] and inner[1] <= outer[1])


def _closer(old: Old, new: New, name: str) -> bool:
    """Return whether a range begins later than before, or ends sooner."""
    before, after = old[name], new[name]
    if before is None or after is None:
        return after is not None
    return bool(after > before if name == "min" else after < before)


def _other_key(old: Old, new: New, name: str) -> bool:
    """Return whether another key is read. Encoded pictures contain their sizes."""
    if name in _SIZES and not new.reads(name):
        return False
    if name == "shape_key" and new.raw and new[name] is None:
        return False  # the size follows from the bytes
    return name != "index_key" or not _swapped(old, new, name)


# Meaning: it parses, and says something else.


def _swapped(old: Old, new: New, _: str) -> bool:
    return sorted(old["index_key"]) == sorted(new["index_key"])


def _other_classes(old: Old, new: New, _: str) -> bool:
    if new["stored"] == "text":
        return False
    shorter = min(len(each["classes"]) for each in (old, new))
    return _first_renamed(old, new) < shorter


def _other_values(old: Old, new: New, _: str) -> bool:
    """Return whether a class is stored as another integer than before."""
    before, after = (
        each["values"] or range(each["offset"], each["offset"] + _count(each))
        for each in (old, new)
    )
    return any(was != now for was, now in zip(before, after, strict=False))


def _count(field: StoredField) -> int:
    """Return how many classes there are; a list without classes has any id."""
    return len(field["classes"] or ()) or field["num_classes"] or 2**62


def _other_class(old: Old, new: New) -> str:
    """Return the first class id with another name, in words."""
    at = _first_renamed(old, new)
    written, expected = old["classes"][at], new["classes"][at]
    return f"class id {at}: written {written!r}, expected {expected!r}"


def _other_shape(old: Old, new: New, _: str) -> bool:
    return not _is_wider(old, new) and _is_reshaped(old, new)


def _other_number(old: Old, new: New, _: str) -> bool:
    if other_list(old, new) or new.encoded or _read_as_float(old, new):
        return False
    return not (old.range and new.range) and _is_reinterpreted(old, new)


def _filled_up(old: Old, new: New, _: str = "") -> bool:
    """Return whether rows are filled up to `max_length` on disk, before and after."""
    return bool(old["pad_on_disk"] and new["pad_on_disk"])


def _cut_shorter(old: Old, new: New, _: str) -> bool:
    shorter = _less(new["max_length"], old["max_length"])
    return shorter and new.cuts and not _filled_up(old, new)


def _read_as_float(old: Old, new: New, _: str = "dtype") -> bool:
    """Return whether one dtype is that of the pixels stored, and one of resized pixels."""
    return bool(new.parts) and old.stored_dtype == new.stored_dtype


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
    if {before, after} & {"string", "bytes"} or new.of_any_length:
        return True
    return DTYPES[before].size == DTYPES[after].size


def _first_renamed(old: Old, new: New) -> int:
    """Return the first class id with another name, or else how many have the same."""
    today = dict(new["renamed"] or ())
    before = [today.get(name, name) for name in old["classes"]]
    pairs = enumerate(zip(before, new["classes"], strict=False))
    shorter = min(len(before), len(new["classes"]))
    return next((at for at, (was, now) in pairs if was != now), shorter)


_LIST = Judgement("SG205", other_list)
_ENCODING = Judgement("SG207", _other_encoding)

OPTIONAL = (Judgement("SG203", lambda old, new, _: not new["optional"]),)
DEFAULT = (Judgement("SG226", lambda old, new, _: old["optional"] and new["optional"]),)
DTYPE = (
    _LIST,
    Judgement("SG206", _other_dtype_size),
    _ENCODING,
    Judgement("SG208", _narrower),
    Judgement("SG224", _other_number),
    Judgement("SG232", _read_as_float, record_by_record=True),
)
ENCODING = (_LIST, _ENCODING)
FORM = (_LIST,)
SHAPE = (Judgement("SG206", _other_count), Judgement("SG223", _other_shape))
ITEM_SHAPE = (Judgement("SG223"),)
KEY = (Judgement("SG209", _other_key),)
INDEX_KEYS = (*KEY, Judgement("SG231", _swapped))
TRANSFER = (_ENCODING,)

RATE = (Judgement("SG228"),)
CHANNELS = ITEM_SHAPE
SAMPLES = (
    Judgement("SG206", lambda old, new, _: old.raw and new.raw),
    Judgement("SG232", lambda old, new, _: not new.raw, record_by_record=True),
)
"""Of the dtype of sound: encoded sound is stored as integers of 16 bits in any case."""
LIMIT = (
    Judgement("SG206", _filled_up),
    Judgement("SG208", _lower),
    Judgement("SG234", _cut_shorter, record_by_record=True),
)
IMAGES = (Judgement("SG208", _fewer_images),)
TOO_LONG = (
    Judgement(
        "SG234", lambda old, new, _: old.cuts and new.cuts, record_by_record=True
    ),
)
PAD_ON_DISK = (
    Judgement("SG206", lambda old, new, _: new["pad_on_disk"]),
    Judgement("SG227", lambda old, new, _: old["pad_on_disk"]),
)
PADDING = (
    Judgement("SG227", _filled_up),
    Judgement("SG233", lambda *pair: not _filled_up(*pair), record_by_record=True),
)
GROUP = (
    Judgement(
        "SG210", lambda old, new, _: new["group"] is not None, record_by_record=True
    ),
)
CLASSES = (
    Judgement("SG208", _fewer_classes),
    Judgement("SG208", _of_classes_now, record_by_record=True),
    Judgement("SG221", _other_classes, words=_other_class),
)
NUM_CLASSES = (Judgement("SG208", _fewer_classes),)
OFFSET = (Judgement("SG222", lambda old, new, _: old["values"] == new["values"]),)
VALUES = (Judgement("SG222", _other_values),)
# Where it was not declared, it is not in the data.
IGNORE = (Judgement("SG230", lambda old, new, _: old["ignore"] is not None),)
DEQUANTIZE = (Judgement("SG228"),)
RANGE = (Judgement("SG208", _closer, record_by_record=True),)
UNIT = (Judgement("SG228", lambda old, new, _: old["unit"] and new["unit"]),)
FINITE = (Judgement("SG229", lambda old, new, _: new["finite"]),)
RESIZING = (Judgement("SG232", record_by_record=True),)
"""Of resized images: other pixels, of the same ones in a file."""
BOX = (
    Judgement("SG208", lambda old, new, _: old["box"] is None),
    Judgement("SG223", lambda old, new, _: old["box"] and new["box"]),
)
BOX_IMAGE = (
    Judgement(
        "SG232",
        lambda old, new, _: old["box_scaled"] and new["box_scaled"],
        record_by_record=True,
    ),
)
BOX_SCALED = (
    Judgement(
        "SG232",
        lambda old, new, _: bool(old["box_scaled"]) != bool(new["box_scaled"]),
        record_by_record=True,
    ),
)
ORIENTATION = (
    Judgement("SG208", lambda old, new, _: new["orientation"] == "refuse"),
    Judgement(
        "SG232",
        lambda old, new, _: "refuse" not in (old["orientation"], new["orientation"]),
        record_by_record=True,
    ),
)
