"""Checks of what JSON from a disk holds: the entries of manifests and of specs.

All comparisons of specs rely on these checks. What a later schemagen may add, kinds and
attributes of fields that this one does not know, passes: comparisons refuse that by
rules of their own.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from .values import FLOATS, INTEGERS

Holds = Callable[[Any], bool]

# No spec is nested so deep; comparing and printing values takes a stack.
_DEEPEST = 40
_SHOWN = 60

ELSEWHERE = "read this data with schemagen 0.2, or with the version that wrote it"
"""What to do about an attribute, an option or a dtype that this version does not have."""

# Sizes and offsets are added to each other as int64.
_TOO_LARGE = 1 << 62


class Entry(NamedTuple):
    """What an entry holds, in words and as a check."""

    words: str
    holds: Holds


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _is_integer(value: Any) -> bool:
    return type(value) is int and abs(value) < 1 << 64


def _is_int64(value: Any) -> bool:
    return _is_integer(value) and abs(value) < _TOO_LARGE


def _is_size(value: Any) -> bool:
    return _is_int64(value) and value >= 0


def _is_number(value: Any) -> bool:
    return _is_integer(value) or type(value) is float


def _is_item(value: Any) -> bool:
    """Tell whether a value is one of a field, as `spec.json` writes it."""
    if isinstance(value, dict):
        ((name, held),) = value.items() if len(value) == 1 else ((None, None),)
        if name == "float":
            return held in ("nan", "inf", "-inf")
        return name == "bytes" and _is_base64(held)
    return isinstance(value, bool) or _is_number(value) or _is_text(value)


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_value, value))
    return _is_item(value)


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and b64decode(value, validate=True) is not None
    except (binascii.Error, ValueError):
        return False


def _each(holds: Holds) -> Holds:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def _is_pair(value: Any) -> bool:
    return _each(_is_text)(value) and len(value) == 2


def _optional(entry: Entry) -> Entry:
    return Entry(
        f"{entry.words} or null", lambda value: value is None or entry.holds(value)
    )


_TEXT = Entry("a string", _is_text)
_TEXTS = Entry("a list of strings", _each(_is_text))
_FLAG = Entry("true or false", lambda value: isinstance(value, bool))
_INTEGER = Entry("an integer", _is_int64)
_SIZE = Entry("an integer from 0 on", _is_size)
_SIZES = Entry("a list of integers from 0 on", _each(_is_size))
_NUMBERS = Entry("a list of numbers", _each(_is_number))
_SHAPE = Entry(
    "a list of sizes, null where one may vary",
    _each(lambda value: value is None or _is_size(value)),
)
_VALUE = Entry("a value of the field", _is_value)
_ITEM = Entry("a single value", _is_item)
_OBJECT = Entry("an object", lambda value: isinstance(value, dict))
_LIST = Entry("a list", lambda value: isinstance(value, list))

_DTYPES = ("bool", "string", "bytes", *INTEGERS, *FLOATS)
_DTYPE = Entry(
    f"the name of a supported dtype: {ELSEWHERE}", lambda value: value in _DTYPES
)

_SPEC = {"record": _TEXT, "fields": _LIST}
_SPEC_SELDOM = {
    "format": _INTEGER,
    "class_name": _TEXT,
    "source": _TEXT,
    "doc": _TEXT,
    "message": _TEXT,
    "reserved": _TEXTS,
    "draft": _FLAG,
}

# What every field has; a step has a kind only.
_STEP = {"kind": _TEXT}
_FIELD = {
    **_STEP,
    "name": _TEXT,
    "key": _TEXT,
    "role": _TEXT,
    "optional": _FLAG,
    "default": Entry(
        "a value of the field or null", lambda v: v is None or _is_value(v)
    ),
}

_ENCODED = {"shape": _SHAPE, "encoding": _TEXT}
_NUMBER = {"dtype": _DTYPE, "finite": _FLAG, "exact": _FLAG}
_LENGTH = {"max_length": _optional(_SIZE)}
_CLASSES = {"num_classes": _SIZE, "classes": _TEXTS}

KINDS: Mapping[str, Mapping[str, Entry]] = {
    "Image": {**_ENCODED, "dtype": _DTYPE},
    "Images": _ENCODED,
    "Label": _CLASSES,
    "Mask": {**_ENCODED, "dtype": _DTYPE, "num_classes": _optional(_SIZE)},
    "MultiLabel": _CLASSES,
    "Ragged": {**_NUMBER, **_LENGTH, "row_lengths_key": _TEXT},
    "Scalar": {**_NUMBER, "encoding": _TEXT},
    "Sparse": {**_NUMBER, "shape": _SIZES, "index_key": _TEXTS},
    "Steps": {**_LENGTH, "step": _OBJECT},
    "Tensor": {**_NUMBER, **_ENCODED},
    "Text": {},
    "VarLen": {**_NUMBER, **_LENGTH, "item_shape": _SIZES},
    "Vector": {**_NUMBER, "shape": _SIZES, "encoding": _TEXT},
}
"""What the JSON of a field of each kind has in any case."""

SELDOM: Mapping[str, Entry] = {
    "antialias": _FLAG,
    "augment": _optional(_OBJECT),
    "channels_key": _optional(_TEXT),
    "classes": _TEXTS,
    "count": _optional(_SIZE),
    "default": _optional(_VALUE),
    "dense": _FLAG,
    "dequantize": _optional(_NUMBERS),
    "doc": _TEXT,
    "dtype": _DTYPE,
    "format_key": _optional(_TEXT),
    "format_text": _optional(_TEXT),
    "group": _optional(_TEXT),
    "height_key": _optional(_TEXT),
    "ignore": _optional(_INTEGER),
    "interpolation": _TEXT,
    "max_count": _optional(_SIZE),
    "offset": _INTEGER,
    "pad_on_disk": _FLAG,
    "padding_value": _ITEM,
    "path": _TEXTS,
    "presence": _FLAG,
    "ragged": _FLAG,
    "renamed": Entry("a list of pairs of strings", _each(_is_pair)),
    "resize": _optional(_SIZES),
    "scaled_decoding": _FLAG,
    "shape_key": Entry(
        "a string, a list of strings and nulls, or null",
        lambda value: (
            value is None
            or _is_text(value)
            or _each(lambda each: each is None or _is_text(each))(value)
        ),
    ),
    "stored": _TEXT,
    "too_long": _TEXT,
    "transfer_encoding": _optional(_TEXT),
    "width_key": _optional(_TEXT),
}
"""What a field's JSON may have, of any kind that has it."""

_OF_KINDS: Mapping[str, str] = {
    "antialias": "Image Images",
    "augment": "Image Images Mask",
    "channels_key": "Image",
    "classes": "Mask",
    "count": "Images",
    "dense": "Sparse",
    "dequantize": "Vector",
    "dtype": "Images",
    "format_key": "Image Mask",
    "format_text": "Image",
    "group": "Images Ragged Steps VarLen",
    "height_key": "Image Mask",
    "ignore": "Mask",
    "interpolation": "Image Images",
    "max_count": "Images",
    "offset": "Label MultiLabel",
    "pad_on_disk": "VarLen",
    "padding_value": "Ragged Steps Tensor VarLen",
    "ragged": "Ragged Steps VarLen",
    "renamed": "Label Mask MultiLabel",
    "resize": "Image Images Mask",
    "scaled_decoding": "Image Images",
    "shape_key": "Tensor",
    "stored": "Label MultiLabel",
    "too_long": "Steps VarLen",
    "transfer_encoding": "Image Scalar Tensor Vector",
    "width_key": "Image Mask",
}

_KNOWN = {*SELDOM, *(name for entries in KINDS.values() for name in entries)}
_SHARED = {*_FIELD, "doc", "path", "presence"}


def attributes_of(kind: str) -> set[str]:
    """Return the attributes that the JSON of a field of a kind may have."""
    own = {name for name, kinds in _OF_KINDS.items() if kind in kinds.split()}
    return own | _SHARED | KINDS[kind].keys()


_MANIFEST = {
    "format": _INTEGER,
    "record": _TEXT,
    "fingerprint": _TEXT,
    "spec": _OBJECT,
    "splits": _OBJECT,
}
_SPLIT = {
    "compression": Entry(
        "'', 'GZIP' or 'ZLIB'", lambda value: value in ("", "GZIP", "ZLIB")
    ),
    "records": _SIZE,
    "shards": Entry(
        "a list with an object for each file",
        lambda value: bool(value) and _each(_OBJECT.holds)(value),
    ),
}
_SPLIT_SELDOM = {
    "fingerprint": _optional(_TEXT),
    "spec": _optional(_OBJECT),
    "shuffled": _optional(_FLAG),
}
_SHARD = {
    "file": Entry(
        "the name of a file",
        lambda value: (
            _is_text(value)
            and value not in ("", ".", "..")
            and "\0" not in value
            and PurePath(value).name == value
        ),
    ),
    "records": _SIZE,
    "bytes": _SIZE,
    "crc32c": _TEXT,
}
_SHARD_SELDOM = {"tail": _optional(_TEXT)}


def check_manifest(data: Any) -> None:
    """See that the JSON of a manifest has the entries of one, and that its specs do.

    Raises:
        ValueError: naming the entry that has not, what it is and what it should be.
    """
    _check("the manifest", data, _MANIFEST, {})
    check_spec(data["spec"], "spec")
    files: dict[str, str] = {}
    for name, split in data["splits"].items():
        if not _is_text(name):
            raise ValueError(f"splits: {_shown(name)} is not Unicode")
        if not name or PurePath(name).name != name:
            raise ValueError(f"splits: {_shown(name)} is not the name of a split")
        where = f"splits[{name!r}]"
        _check(where, split, _SPLIT, _SPLIT_SELDOM)
        for number, shard in enumerate(split["shards"]):
            _check(f"{where}.shards[{number}]", shard, _SHARD, _SHARD_SELDOM)
            unknown = sorted(set(shard) - {*_SHARD, *_SHARD_SELDOM})
            if unknown:
                raise ValueError(f"{where}.shards[{number}]: unknown entries {unknown}")
            other = files.setdefault(shard["file"], where)
            if other != where:
                raise ValueError(f"{where}: {shard['file']!r} is a file of {other} too")
        if split.get("spec") is not None:
            check_spec(split["spec"], f"{where}.spec")


def check_spec(spec: Any, where: str = "the spec") -> None:
    """See that the JSON of a spec has what comparisons ask of any spec.

    Raises:
        ValueError: naming the entry that has not, what it is and what it should be.
    """
    _check(where, spec, _SPEC, _SPEC_SELDOM)
    _check_depth(spec, where)
    for number, field in enumerate(spec["fields"]):
        place = f"{where}.fields[{number}]"
        _check(place, field, _FIELD, {})
        place = f"{place} ({_shown(field['name'])})"
        _check(place, field, KINDS.get(field["kind"], {}), SELDOM)
        _check_attributes(place, field)
        if field["kind"] == "Steps":
            step = field["step"]
            _check(f"{place}.step", step, _STEP, {**_FIELD, **SELDOM})
            if step["kind"] == "Steps":
                raise ValueError(
                    f"{place}.step: kind is 'Steps', expected another kind"
                )
            _check(f"{place}.step", step, KINDS.get(step["kind"], {}), {})
            _check_attributes(f"{place}.step", step)
    for entry in ("name", "key"):
        given = [field[entry] for field in spec["fields"]]
        for value in given:
            if given.count(value) > 1:
                raise ValueError(f"{where}: several fields with the {entry} {value!r}")


def _check_attributes(where: str, field: Mapping[str, Any]) -> None:
    """Check that a field has no attribute of other kinds; unknown ones are for rules."""
    kind = field["kind"]
    if kind not in KINDS:
        return
    foreign = sorted((field.keys() & _KNOWN) - attributes_of(kind))
    if foreign:
        raise ValueError(f"{where}: {foreign[0]} is no attribute of a {kind}")


def _check(
    where: str, data: Any, needed: Mapping[str, Entry], seldom: Mapping[str, Entry]
) -> None:
    """Check the entries of an object: those that it needs, and others if it has them."""
    entries = data if isinstance(data, dict) else None
    if entries is None:
        raise ValueError(f"{where} is {_shown(data)}, expected an object")
    for name, entry in needed.items():
        if name not in entries:
            raise ValueError(f"{where}: no entry {name!r}, expected {entry.words}")
    for name, value in entries.items():
        if not _is_text(name):
            raise ValueError(f"{where}: an entry {_shown(name)}, which is not Unicode")
        wanted = needed.get(name) or seldom.get(name)
        if wanted is not None and not wanted.holds(value):
            raise ValueError(
                f"{where}: {name} is {_shown(value)}, expected {wanted.words}"
            )


def _check_depth(data: Any, where: str) -> None:
    level = [data]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        level = inner
    if level:
        raise ValueError(f"{where}: entries within entries, {_DEEPEST} deep and more")


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
