"""Checks of JSON from a disk: the entries that a document has, and their types."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from .compression import COMPRESSIONS

# No spec is nested so deep; comparing and printing values takes a stack.
_DEEPEST = 40
_SHOWN = 60

# File systems take no longer names, in bytes.
_LONGEST_NAME = 255

# Sizes and offsets are added to each other as int64.
_TOO_LARGE = 1 << 62

ELSEWHERE = "read this data with the version of schemagen that wrote it"
"""What to do about an attribute, an option or a dtype that this version does not have."""

_WORDS = {
    str: "a string",
    Literal: "a string",
    bool: "true or false",
    int: "an integer",
    dict: "an object",
    list: "a list",
    NoneType: "null",
}

_MANIFEST = {
    "format": int,
    "record": str,
    "fingerprint": str,
    "spec": dict,
    "splits": dict,
}
_SPLIT = {"compression": str, "records": int, "shards": list}
_SPLIT_SELDOM = {
    "fingerprint": str | None,
    "spec": dict[str, Any] | None,
    "shuffled": bool | None,
    "index": str | None,
    "adopted": bool | None,
    "run": str | None,
}
_SHARD = {"file": str, "records": int, "bytes": int, "crc32c": str, "tail": str}
_SHARD_SELDOM = {"hidden": str | None, "index": str | None}
_SHARD_NAMES = ("file", "hidden")

# Names of files that are valid everywhere, as those that writers give.
_PLAIN_NAME = re.compile(r"\.?\w[\w.-]{0,200}", re.ASCII)


def check_manifest(data: Any) -> None:
    """Check the entries of a manifest, its specs apart.

    Raises:
        ValueError: naming the entry, what it is and what it should be.
    """
    check_entries("the manifest", data, _MANIFEST, {})
    owners: dict[str, str] = {}
    for name, split in data["splits"].items():
        _check_file_name(name, "splits")
        where = f"splits[{name!r}]"
        check_entries(where, split, _SPLIT, _SPLIT_SELDOM)
        if split["compression"] not in ("", *COMPRESSIONS):
            raise ValueError(f"{where}: compression is {shown(split['compression'])}")
        if not split["shards"]:
            raise ValueError(f"{where}: no shards")
        if split.get("index") is not None:
            _check_file_name(split["index"], where)
        _check_shards(where, split["shards"])
        for shard in split["shards"]:
            if shard["file"] in owners:
                other = owners[shard["file"]]
                raise ValueError(f"{where}: {shard['file']!r} is a file of {other} too")
            owners[shard["file"]] = where
        if split["records"] < 0:
            raise ValueError(f"{where}: a negative number of records or bytes")


def _check_shards(where: str, shards: list[Any]) -> None:
    """Check the shards of a split: all at once, and only if one is unusual one by one."""
    if _are_usual(shards):
        return
    for number, shard in enumerate(shards):
        place = f"{where}.shards[{number}]"
        check_entries(place, shard, _SHARD, _SHARD_SELDOM)
        for name in _SHARD_NAMES:
            if shard.get(name) is not None:
                _check_file_name(shard[name], place)
        unknown = sorted(set(shard) - {*_SHARD, *_SHARD_SELDOM})
        if unknown:
            raise ValueError(f"{place}: unknown entries {unknown}")
        if min(shard["records"], shard["bytes"]) < 0:
            raise ValueError(f"{where}: a negative number of records or bytes")


def _are_usual(shards: list[Any]) -> bool:
    """Whether shards are right beyond doubt; others may be right, too."""
    entries = {*_SHARD, *_SHARD_SELDOM}
    if {*map(type, shards)} != {dict} or not all(
        _SHARD.keys() <= names <= entries
        for names in map(frozenset, {*map(tuple, shards)})
    ):
        return False
    for name in entries:
        values = [shard[name] for shard in shards if name in shard]
        kinds = {*map(type, values)}
        if _SHARD.get(name) is int:
            usual = kinds == {int} and min(values) >= 0 and max(values) < _TOO_LARGE
        else:
            usual = kinds <= {str} and is_text("".join(values))
        if name in _SHARD_NAMES:
            usual = usual and all(map(_PLAIN_NAME.fullmatch, values))
        if not usual:
            return False
    return True


def _check_file_name(name: str, where: str) -> None:
    """Refuse what is not the name of a file in the same directory."""
    plain = is_text(name) and PurePath(name).name == name and "\0" not in name
    if not plain or name in ("", ".", "..") or len(name.encode()) > _LONGEST_NAME:
        raise ValueError(f"{where}: {shown(name)} is not a name of a file")


def check_entries(
    where: str, data: Any, needed: Mapping[str, Any], optional: Mapping[str, Any]
) -> None:
    """Check the entries of an object: those that it needs, and others if it has them.

    Args:
        where: what to call the object in errors.
        data: the object.
        needed: the type of each entry by name, as a type hint.
        optional: likewise.

    Raises:
        ValueError: naming the entry, what it is and what it should be.
    """
    if not isinstance(data, dict):
        raise ValueError(f"{where} is {shown(data)}, expected an object")
    for name, hint in needed.items():
        if name not in data:
            raise ValueError(f"{where}: no entry {name!r}, expected {_words(hint)}")
    for name, value in data.items():
        if not is_text(name):
            raise ValueError(f"{where}: an entry {shown(name)}, which is not Unicode")
        hint = needed.get(name, optional.get(name))
        if hint is not None and not fits(value, hint):
            raise ValueError(
                f"{where}: {name} is {shown(value)}, expected {_words(hint)}"
            )


def fits(value: Any, hint: Any) -> bool:
    """Return whether JSON holds a value of a type; a tuple is a list.

    `Any` is the value of a field: numbers, texts, and lists of them.
    """
    if hint is Any:
        return _is_value(value)
    origin, inside = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in inside)
    if origin in (tuple, list):
        items = [each for each in inside if each is not Ellipsis]
        return isinstance(value, list) and all(
            not items or any(fits(each, item) for item in items) for each in value
        )
    if origin in (str, Literal):  # a later version may know further words
        return is_text(value)
    if origin in (int, float):
        number = type(value) is int and abs(value) < _TOO_LARGE
        return number or (origin is float and type(value) is float)
    return isinstance(value, origin)


def is_text(value: Any) -> bool:
    """Return whether a value is text that UTF-8 can hold."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _is_value(value: Any) -> bool:
    """Return whether a value is one of a field, as `spec.json` writes it."""
    if isinstance(value, list):
        return all(map(_is_value, value))
    if isinstance(value, dict):
        ((name, held),) = value.items() if len(value) == 1 else ((None, None),)
        if name == "float":
            return held in ("nan", "inf", "-inf")
        return name == "bytes" and _is_base64(held)
    if type(value) is int:
        return abs(value) < 1 << 64
    return value is None or isinstance(value, bool | float) or is_text(value)


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and b64decode(value, validate=True) is not None
    except (binascii.Error, ValueError):
        return False


def check_depth(data: Any, where: str) -> None:
    """Refuse a document that is nested too deep.

    Raises:
        ValueError: it is.
    """
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


def _words(hint: Any) -> str:
    origin, inside = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(_words, inside))
    return _WORDS.get(origin, "a list" if origin is tuple else "a value of the field")


def shown(value: Any) -> str:
    """Write a value for an error, cut if it is long."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
