"""What the words of a key say of what stands under it."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

LABELS = frozenset(
    ("label", "class", "category", "target", "species", "breed", "diagnosis", "synset")
)
_SEVERAL = frozenset(("labels", "classes", "categories", "tags", "topics"))
_PLURALS = _SEVERAL | {"targets"}
_IDS = frozenset(("id", "ids", "index", "idx", "num", "number"))
_TEXTS = frozenset(("text", "texts", "name", "names", "str", "string", "title"))
_INFO = frozenset(
    (
        *("id", "uid", "uuid", "guid", "key", "sha256", "sha1", "md5", "hash"),
        *("filename", "file", "path", "filepath", "uri", "url", "source", "colorspace"),
    )
)
_FLAGS = ("is", "has", "was", "can")
_FLAG_WORDS = frozenset(("valid", "difficult", "truncated", "occluded", "flag"))
_WEIGHTS = frozenset(("weight", "sample_weight", "example_weight"))
_MASKS = frozenset(("mask", "masks", "segmentation", "seg", "annotation", "labels"))
_CORNERS = frozenset(("xmin", "xmax", "ymin", "ymax"))
SIZES = {
    "height": frozenset(("height", "rows", "h", "h0")),
    "width": frozenset(("width", "columns", "cols", "w")),
    "channels": frozenset(("channels", "depth", "channel", "c")),
}
_SHAPES = frozenset(("shape", "shapes", "size", "sizes", "dims", "dim", "dimensions"))
_FORMATS = frozenset(("format", "encoding", "fmt"))


def words_of(key: str) -> list[str]:
    """Return the words of a key, in small letters: imageHeight is image and height."""
    return [word.lower() for word in _WORDS.findall(key)]


def last_word(key: str) -> str:
    """Return the last word of a key; "" if it has none."""
    return next(iter(words_of(key)[::-1]), "")


def names_class(key: str) -> bool:
    """Tell whether a key speaks of a class: label, class_id, image/class/label."""
    found = words_of(key)
    if not found:
        return False
    if found == ["y"] or found[-1] in LABELS | _PLURALS:
        return True
    return found[-1] in _IDS and len(found) > 1 and found[-2] in LABELS


def names_classes(key: str) -> bool:
    """Tell whether a key speaks of several classes: labels, tags."""
    return last_word(key) in _SEVERAL


def names_text_of(key: str, label: str) -> bool:
    """Tell whether a key seems to hold the names of what stands under another."""
    found = words_of(key)
    if not found or found[-1] not in _TEXTS:
        return False
    return bool(set(found[:-1]) & set(words_of(label)) & (LABELS | _PLURALS))


def is_info(key: str) -> bool:
    """Tell whether a key names the record rather than saying something of it."""
    found = words_of(key)
    name = found[-1:] == ["name"] and found[-2:-1] in (["file"], ["image"], ["video"])
    last = re.split(r"[/.]", key)[-1].lower()
    return name or last in _INFO or last_word(key) in _INFO


def is_flag(key: str) -> bool:
    """Tell whether a key asks for yes or no."""
    found = words_of(re.split(r"[/.]", key)[-1])
    if not found:
        return False
    asks = found[0] in _FLAGS and len(found) > 1
    return asks or found[-1] in _FLAG_WORDS or found[-2:] == ["group", "of"]


def is_weight(key: str) -> bool:
    """Tell whether a key is the weight of a record."""
    return key.lower() in _WEIGHTS


def names_mask(key: str) -> bool:
    """Tell whether a key speaks of classes of pixels."""
    return bool(set(words_of(key)) & (_MASKS | LABELS))


def is_corner(key: str) -> bool:
    """Tell whether a key holds a side of boxes."""
    return last_word(key) in _CORNERS


def says_size(key: str, axis: str) -> bool:
    """Tell whether a key names the height, width or channels of something."""
    return last_word(key) in SIZES[axis]


def says_shape(key: str) -> bool:
    """Tell whether a key names sizes."""
    return last_word(key) in _SHAPES


def stem_of_shape(key: str) -> str:
    """Return what a key names the sizes of: `arr` of arr_shape, `x` of x/shape."""
    return key[: -len(last_word(key))].rstrip("/._-") if says_shape(key) else ""


def extends(key: str, stem: str) -> bool:
    """Tell whether a key is a stem or goes on with words behind it."""
    rest = key[len(stem) :]
    return key.startswith(stem) and (not rest or not rest[0].islower())


def says_format(key: str) -> bool:
    """Tell whether a key names a format."""
    return last_word(key) in _FORMATS


def parent_of(key: str) -> str:
    """Return what stands before the last separator of a key; "" without one."""
    return key.rpartition("/")[0]


def nearest(keys: list[str], key: str) -> list[str]:
    """Sort keys by how much of their beginning they share with another."""

    def shared(other: str) -> int:
        pairs = zip(other.split("/"), key.split("/"), strict=False)
        same = 0
        for one, two in pairs:
            if one != two:
                break
            same += 1
        return same

    return sorted(keys, key=lambda other: (-shared(other), len(other), other))
