"""Saying what is wrong with a record that a parser has refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from google.protobuf.message import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    DecodeError,
)

from ..cells.part import amount
from ..images.formats import sniff, undecoded, with_article
from ..kinds.numbers import other_dtype
from ..shared.errors import did_you_mean
from ..shared.requirements import tf
from ..tensorflow.graph import unframed

_KINDS = {tf.int64: "int64_list", tf.float32: "float_list", tf.string: "bytes_list"}
_WORDS = {"int64_list": "int64", "float_list": "float", "bytes_list": "bytes"}
_NUMPY_FILE = b"\x93NUMPY"
# What checks of images say of other bytes, and how checks of raw bytes begin; see
# `graph_images` and `graph.decode_raw`.
_NO_IMAGE = "found data that begins with the bytes"
_RAW_SIZE = re.compile(r"expected (\d+) bytes \((\w+) ")


@dataclass(frozen=True)
class Parser:
    """What a generated `parser.py` knows of its records.

    Attributes:
        parse: from string [B] and the names of fields to a batch.
        keys: the key of each field.
        description: how each key is stored, those of steps left out.
        fields: the names of those to parse.
    """

    parse: Callable[[tf.Tensor, Collection[str]], Any]
    keys: Mapping[str, str]
    description: Mapping[str, Any]
    fields: tuple[str, ...]


def refused(records: Sequence[bytes], parser: Parser) -> set[int]:
    """Return which records cannot be parsed, by halving until each stands alone."""
    if not records or not _refusal(records, parser, parser.fields):
        return set()
    if len(records) == 1:
        return {0}
    half = len(records) // 2
    later = refused(records[half:], parser)
    return refused(records[:half], parser) | {half + number for number in later}


def fault_of(record: bytes, parser: Parser) -> str:
    """Say what is wrong with a record that cannot be parsed.

    One field after the other, so that the field is known whatever it is that fails.
    """
    for name in parser.fields:
        message = _refusal([record], parser, (name,))
        if message:
            return _explained(record, parser, name, message)
    return _refusal([record], parser, parser.fields)  # what only all together violate


def fault_of_all(records: Sequence[bytes], parser: Parser) -> str:
    """Say why records cannot be parsed together, or return "" if they can."""
    message = _refusal(records, parser, parser.fields)
    return (
        f"a batch of {len(records)} records cannot be parsed: {message}"
        if message
        else ""
    )


def _refusal(records: Sequence[bytes], parser: Parser, fields: Collection[str]) -> str:
    """Return why records cannot be parsed, outside of a graph, or "" if they can."""
    try:
        with tf.device("CPU"):
            parser.parse(tf.constant(list(records)), fields)
    except tf.errors.OpError as error:
        return unframed(error.message) or type(error).__name__
    except UnicodeDecodeError:  # tensorflow's message shows the bytes
        return "its bytes cannot be parsed"
    return ""


def _explained(record: bytes, parser: Parser, name: str, message: str) -> str:
    """Put a refusal in words of the schema: field, found, expected, likely cause."""
    field = f"field {name!r}: "
    stored = _stored(record)
    if isinstance(stored, str):
        return stored
    key = parser.keys[name]
    found = stored.get(key)
    described = parser.description.get(key)
    if described is not None and not message.startswith("field "):
        wrong = _wrong_storage(key, found, described, stored)
        if wrong:
            return field + wrong
    text = message if message.startswith("field ") else field + message
    if found is not None and found.bytes_list.value:
        text += _likely_cause(found.bytes_list.value, message)
    return text


def _stored(record: bytes) -> Mapping[str, Any] | str:
    """Return the features of a record by key, or why it has none."""
    try:
        features = tf.train.Example.FromString(record).features.feature
    except DecodeError:
        return (
            "found bytes that are not a tf.train.Example: another protobuf, or records of "
            "another program"
        )
    return dict(features)


def _wrong_storage(
    key: str, found: Any, described: Any, stored: Mapping[str, Any]
) -> str:
    kind = _KINDS[described.dtype]
    shape = getattr(described, "shape", None)
    size = None if shape is None else prod(shape)
    expected = f"expected {_amount(size, kind)}"
    if found is not None and found.WhichOneof("kind") is None:
        return f"found no values, {expected}"
    if found is None:
        keys = ", ".join(sorted(stored)) or "none"
        near = did_you_mean(key, stored)
        return f"found no feature {key!r}, {expected}; there are: {keys}" + (
            f"; {near}" if near else ""
        )
    stored_as = found.WhichOneof("kind")
    count = len(getattr(found, stored_as).value)
    if stored_as == kind and size in (None, count):
        return ""
    return f"found {_amount(count, stored_as)}, {expected}"


def _amount(count: int | None, kind: str) -> str:
    return amount(count, _WORDS[kind])


def _likely_cause(values: Sequence[bytes], message: str) -> str:
    """Guess how bytes of another format or size came to be, or return ""."""
    if _NO_IMAGE in message:
        others = [undecoded(each, 1) for each in values]
        image = next(filter(None, others), None)
        return f"; they begin like {image.image}: {image.advice()}" if image else ""
    match = _RAW_SIZE.search(message)
    if match is None:
        return ""
    value = values[0]
    form = sniff(value)
    if form or value.startswith(_NUMPY_FILE):
        what = with_article(form.upper()) if form else "a file of numpy"
        return f"; they begin like {what}: declare its encoding in the schema"
    other = undecoded(value)
    if other:
        return f"; they begin like {other.image}: {other.advice('raw')}"
    expected, dtype = int(match[1]), match[2]
    guess = other_dtype(len(value), dtype, expected)
    return f"; {guess}" if guess else ""
