"""What records are that are not Examples with a feature.

Messages are told by their structure, the numbers and types of their fields, in a table.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import Columns
from .formats import describe_start, other_format, text_of
from .message import NO_VALUE, MalformedError, parse_message, tagged
from .tensor_proto import tensor_head

NO_KEY = "no record has a key of a tf.train.Example"
"""What is wrong with a file whose records are something else."""

EXPECTED = "tf.train.Examples or SequenceExamples with at least one feature"

# An Example without a feature takes no more bytes, with or without its empty maps.
_EMPTY_BYTES = 4

# How much of a record is looked at as text, and how many fields are shown.
_TEXT_BYTES, _SHOWN_FIELDS = 1 << 16, 8

# How much of a compressed record is inflated.
_PACKED_BYTES = 1 << 22

# So many fields of a message are looked at, and so many of the messages in one: a
# hostile record has millions.
_MOST_FIELDS, _MOST_PARTS = 1000, 10

_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}\s*")
_LONG_BASE64 = 64


class Foreign(NamedTuple):
    """What a record is that is no Example with a feature.

    Attributes:
        what: a description, such as "a tensorflow.Event".
        advice: what to do about records like it.
    """

    what: str
    advice: str


WITHOUT_FEATURE = Foreign(
    "an Example without a feature",
    "its writer had no values, or none that it knew how to write",
)


class _Message(NamedTuple):
    """A message as its definition has it.

    Attributes:
        fields: the type of each field, by its number: "varint", "fixed32", "fixed64",
            "bytes", "text", "numbers" (one, or packed), or a key of `_MESSAGES`.
        needs: of each of these, one field is in every message.
        what: a description; "" for parts of others.
        advice: what to do about records like it.
    """

    fields: Mapping[int, str]
    needs: tuple[tuple[int, ...], ...] = ()
    what: str = ""
    advice: str = ""


_REWRITE = (
    "schemagen reads no other records: write a tf.train.Example of what each one holds"
)

_MESSAGES: Mapping[str, _Message] = {
    "list": _Message({1: "any"}),
    "Feature": _Message({1: "list", 2: "list", 3: "list"}),
    "entry": _Message({1: "text", 2: "Feature"}, ((1,), (2,))),
    "Example": _Message({1: "Features"}),
    "filled Example": _Message({1: "Features"}, ((1,),)),
    "ELWC": _Message(
        {1: "filled Example", 2: "Example"},
        ((1,),),
        "an ExampleListWithContext (ELWC) of TensorFlow Ranking",
        "TensorFlow Ranking's tfr.data.parse_from_example_list reads these records; for "
        "schemagen, write each Example of the list as a record of its own, with the "
        "features of its context",
    ),
    "Features": _Message(
        {1: "entry"},
        ((1,),),
        "a tf.train.Features without the tf.train.Example around it",
        "write each record as tf.train.Example(features="
        "tf.train.Features.FromString(record)).SerializeToString()",
    ),
    "Event": _Message(
        {
            1: "fixed64",
            2: "varint",
            3: "text",
            **dict.fromkeys(range(4, 11), "bytes"),
        },
        ((1,), tuple(range(3, 11))),
        "a tensorflow.Event, as TensorBoard reads it",
        "these are logs of a training and no data: name files that hold Examples",
    ),
    "dimension": _Message({1: "varint", 2: "text"}),
    "TensorShape": _Message({2: "dimension", 3: "varint"}),
    "TensorProto": _Message(
        {
            1: "varint",
            2: "TensorShape",
            3: "varint",
            4: "bytes",
            **dict.fromkeys(range(5, 19), "any"),
        },
        ((1,), (2,)),
        "a serialized TensorProto",
        "tf.io.parse_tensor reads these records; for schemagen, write each tensor as a "
        "feature of a tf.train.Example",
    ),
    "Datum": _Message(
        {
            **dict.fromkeys((1, 2, 3, 5), "varint"),
            4: "bytes",
            6: "numbers",
            7: "varint",
        },
        ((1,), (2,), (3,), (4, 6)),
        "a Datum of Caffe",
        _REWRITE,
    ),
    "note": _Message(
        {
            **dict.fromkeys((1, 2, *range(5, 15)), "varint"),
            **dict.fromkeys((3, 4), "fixed64"),
        },
        ((4,),),
    ),
    "NoteSequence": _Message(
        {
            **dict.fromkeys((1, 2, 3), "text"),
            **dict.fromkeys((4, 16, 18, 24), "varint"),
            **dict.fromkeys(
                (*range(5, 8), *range(10, 16), 17, *range(19, 24)), "bytes"
            ),
            8: "note",
            9: "fixed64",
        },
        ((8,),),
        "a NoteSequence of Magenta",
        _REWRITE,
    ),
    "Frame": _Message(
        {2: "varint", **dict.fromkeys((1, *range(3, 12)), "bytes")},
        ((1,), (2,), (3,), (4, 5)),
        "a Frame of the Waymo Open Dataset",
        _REWRITE,
    ),
    "Scenario": _Message(
        {
            1: "numbers",
            2: "bytes",
            4: "numbers",
            5: "text",
            6: "varint",
            7: "bytes",
            8: "bytes",
            10: "varint",
            **dict.fromkeys((11, 12, 13), "bytes"),
        },
        ((1,), (2,), (5,)),
        "a Scenario of the Waymo Open Motion Dataset",
        _REWRITE,
    ),
}

_WIRES = {"varint": (0,), "fixed64": (1,), "fixed32": (5,), "numbers": (0, 1, 2, 5)}
_WIRE_NAMES = {0: "varint", 1: "64 bits", 2: "bytes", 5: "32 bits"}
_SIZED = 2


def _fits(data: bytes, name: str, start: int, stop: int) -> bool:
    """Return whether bytes are a message, by the numbers and types of its fields."""
    message = _MESSAGES[name]
    seen: Counter[int] = Counter()
    for number, wire, at, until in _fields(data, start, stop):
        held = message.fields.get(number)
        if held is None:
            return False
        if held in _WIRES:
            if wire not in _WIRES[held]:
                return False
        elif (held != "any" and wire != _SIZED) or (
            held == "text" and not _is_utf8(data[at:until])
        ):
            return False
        elif held in _MESSAGES:
            within = seen[number] >= _MOST_PARTS or _fits(data, held, at, until)
            if not within:
                return False
        seen[number] += 1
    return all(any(seen[number] for number in some) for some in message.needs)


def _fields(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the first fields of a message, as `tagged` does."""
    return islice(tagged(data, start, stop), _MOST_FIELDS)


def _is_utf8(data: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        data.decode()
        return True
    return False


def recognize(data: bytes) -> Foreign:
    """Return what a record is that has no key of an Example."""
    return _recognize(data, nested=False)


def _recognize(data: bytes, *, nested: bool) -> Foreign:
    if not data:
        return WITHOUT_FEATURE
    for recognized in (_of_table, _of_content, _of_text):
        found = recognized(data, nested)
        if found is not None:
            return found
    fields: dict[str, None] = {}
    try:
        for number, wire, _, _ in _fields(data, 0, len(data)):
            fields[f"{number} ({_WIRE_NAMES[wire]})"] = None
    except MalformedError:
        return Foreign(describe_start(data[:_TEXT_BYTES]), _REWRITE)
    shown = ", ".join(list(fields)[:_SHOWN_FIELDS])
    more = ", ..." if len(fields) > _SHOWN_FIELDS else ""
    noun = "field" if len(fields) == 1 else "fields"
    return Foreign(f"another protobuf, with the {noun} {shown}{more}", _REWRITE)


def _of_table(data: bytes, nested: bool) -> Foreign | None:
    """Return what a record is by the table of messages."""
    if len(data) <= _EMPTY_BYTES:
        with suppress(MalformedError):
            message = parse_message(data)
            if not (message.unknown or message.divergent):
                return WITHOUT_FEATURE
    for name, listed in _MESSAGES.items():
        if not listed.what:
            continue
        with suppress(MalformedError):
            if _fits(data, name, 0, len(data)):
                about = _about(name, data)
                return Foreign(listed.what + about, listed.advice)
    return None


def _about(name: str, data: bytes) -> str:
    """Return what else is known of a message of the table."""
    if name == "ELWC":
        numbers = [number for number, *_ in _fields(data, 0, len(data))]
        examples, context = numbers.count(1), 2 in numbers
        noun = "Example" if examples == 1 else "Examples"
        return f": {examples:,} {noun}{' and a context' if context else ''}"
    head = tensor_head(data) if name == "TensorProto" else None
    if head is not None:
        shape = "unknown shape" if head.shape is None else str(list(head.shape))
        return f": {head.dtype} {shape}"
    return ""


def _of_content(data: bytes, nested: bool) -> Foreign | None:
    """Return what a record is by its first bytes, and what it holds if compressed."""
    for bits, name in ((16 + zlib.MAX_WBITS, "GZIP"), (zlib.MAX_WBITS, "ZLIB")):
        stream = zlib.decompressobj(bits)
        with suppress(zlib.error):
            inner = stream.decompress(data, _PACKED_BYTES)
            if inner and (stream.eof or len(inner) == _PACKED_BYTES):
                return _packed(f"{name} data", inner, nested)
    known = other_format(data)
    return Foreign(known, _REWRITE) if known else None


def _of_text(data: bytes, nested: bool) -> Foreign | None:
    """Return what a record of text holds."""
    text = "" if data[:1].isspace() else text_of(data[:_TEXT_BYTES])
    if not text:
        return None
    if _BASE64.fullmatch(data) and not nested:
        with suppress(binascii.Error, ValueError):
            inner = base64.b64decode(
                data.strip(), altchars=b"-_" if _url(data) else None
            )
            found = _packed("base64 text", inner, nested)
            if " of " in found.what or _is_mixed(data):
                return found
    return Foreign(describe_start(data[:_TEXT_BYTES]), _REWRITE)


def _url(data: bytes) -> bool:
    return b"-" in data or b"_" in data


def _is_mixed(data: bytes) -> bool:
    """Return whether a long word has letters of both cases and digits."""
    classes = (rb"[a-z]", rb"[A-Z]", rb"[0-9]")
    return len(data) >= _LONG_BASE64 and all(re.search(some, data) for some in classes)


def _packed(form: str, inner: bytes, nested: bool) -> Foreign:
    """Return what is said of data that is packed into a record."""
    advice = "unpack each record before it is written"
    with suppress(MalformedError):
        if parse_message(inner).features:
            return Foreign(f"{form} of a tf.train.Example", advice)
    if nested:
        return Foreign(form, advice)
    found = _recognize(inner, nested=True).what
    known = not found.startswith(("bytes that", "nothing", "another protobuf"))
    return Foreign(
        f"{form} of {found.removeprefix('text: ')}" if known else form, advice
    )


@dataclass(frozen=True)
class Keyed:
    """How many of some records have a key.

    Attributes:
        records: how many have one.
        other: what the first record without one is; None if there is none, or if
            those without one are Examples without a feature.
    """

    records: int = 0
    other: Foreign | None = None

    def merged(self, following: Keyed) -> Keyed:
        """Return what is true of these records and of those behind them."""
        return Keyed(self.records + following.records, self.other or following.other)


def keyed_rows(columns: Columns) -> NDArray[np.bool_]:
    """Return which records have a key: bool [N].

    Other messages may happen to be read as entries without a value.
    """
    found = np.zeros(len(columns.records), np.bool_)
    no_value = list(columns.divergent.get(("", NO_VALUE), ()))
    for some in columns.by_key.values():
        for column in some:
            if column.kind:
                found[column.rows] = True
            else:
                found[column.rows[~np.isin(column.rows, no_value)]] = True
        if found.all():
            return found
    for lists in columns.steps.values():
        sure = any(column.kind for column in lists.columns)
        rows = lists.rows if sure else lists.rows[~np.isin(lists.rows, no_value)]
        found[rows] = True
    return found


def other_rows(columns: Columns) -> NDArray[np.intp]:
    """Return the rows without a key that are more than an Example without a feature."""
    records = columns.records
    sizes = records.stops - records.starts
    return np.flatnonzero(~keyed_rows(columns) & (sizes > _EMPTY_BYTES))


def keyed_of(columns: Columns) -> Keyed:
    """Return how many records have a key, and what the first one without is."""
    keyed = keyed_rows(columns)
    if keyed.all():
        return Keyed(len(keyed))
    malformed = [each.row for each in columns.malformed]
    rows = sorted({*other_rows(columns).tolist(), *malformed})
    other = recognize(columns.records[rows[0]]) if rows else None
    return Keyed(int(keyed.sum()), other)
