"""What are other records: formats of other bytes, messages without a key, and other keys."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from ..runtime.audio.formats import DECODED as AUDIO
from ..runtime.cells.columns import Columns, keyed_rows, other_rows
from ..runtime.cells.message import MalformedError, tagged
from ..runtime.images.formats import DECODED, UNDECODED, recognised

# Where the bytes are that tell a format other than those of images.
_FORMATS = (
    (0, b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (0, b"\xfd7zXZ\0", "compressed with xz"),
    (0, b"BZh9", "compressed with bzip2"),
    (0, b"\x1f\x8b", "compressed with gzip"),
    (0, b"\x78\x9c", "compressed with zlib"),
    (0, b"\x78\xda", "compressed with zlib"),
    (0, b"PK\x03\x04", "a ZIP archive, as .npz files are"),
    (257, b"ustar", "a tar archive"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"ARROW1", "an Arrow file (Feather)"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (0, b"\x93NUMPY", "an array of numpy (.npy)"),
    (0, b"\x80\x04\x95", "a pickle"),
    (0, b"\x80\x05\x95", "a pickle"),
    (16, b"\xde\xc0\xef\xbe", "an LMDB database"),
    (8, b"WAVE", "a WAV file"),
    (0, b"fLaC", "a FLAC file"),
    (0, b"OggS", "an Ogg file"),
    (0, b"ID3", "an MP3 file"),
    (4, b"ftyp", "an MP4 file"),
    (0, b"%PDF-", "a PDF file"),
    (0, b"version https://git-lfs.github.com/", "a pointer of Git LFS, not the file"),
)
# How much of a text, and how many bytes, are shown.
_SHOWN, _SHOWN_BYTES = 40, 12

# What becomes of the bytes of files that no kind reads.
_ADVICE = {
    **{each.image: f": {each.advice()}" for each in UNDECODED.values()},
}

# What some kind reads, or may read: other bytes.
_READ = {
    "",
    *(each.image for each in DECODED.values()),
    *(f"a {each.title} file" for each in AUDIO.values()),
}

_Decoder = codecs.getincrementaldecoder("utf-8")

# A record's length may begin with one or two bytes of another format's.
_SURE_BYTES = 3


def other_format(start: bytes, sure_bytes: int = _SURE_BYTES) -> str:
    """Return the name of another format that begins like this; "" if none is known.

    Args:
        start: the first bytes of a file or a value.
        sure_bytes: the fewest bytes that tell a format.
    """
    image = recognised(start)
    # Words begin with the two letters of a BMP, too.
    fewest = _SURE_BYTES if image and image.like_text else sure_bytes
    if image and image.matched_bytes(start) >= fewest:
        return image.image
    for at, magic, name in _FORMATS:
        if len(magic) >= sure_bytes and start.startswith(magic, at):
            return name
    return ""


def unread_content(samples: Iterable[bytes]) -> str:
    """Say what all values are that no kind reads; "" if one may be anything else."""
    found = {other_format(sample, 1) for sample in samples}
    if not found or found & _READ:
        return ""
    advice = _ADVICE.get(" or ".join(found), "")
    return f"{' or '.join(sorted(found))}, which no kind reads{advice}"


def describe_start(start: bytes) -> str:
    """Describe a file that is not a TFRecord file by its first bytes."""
    known = other_format(start, 1)
    if known:
        return known
    if not start.strip(b"\0"):
        return "only zeros, as in a file that was allocated and never written"
    text = _text_of(start)
    if text:
        return f"text: {text[:_SHOWN]!r}"
    return f"bytes that begin with {start[:_SHOWN_BYTES].hex(' ')}"


def _text_of(start: bytes) -> str:
    """Return the beginning of a text; "" for other bytes."""
    try:
        text = _Decoder().decode(start)  # a character may be cut at the end
    except UnicodeDecodeError:
        return ""
    return text if all(each.isprintable() or each in "\t\n\r" for each in text) else ""


NO_KEY = "no record has a key of a tf.train.Example"
"""What is wrong with a file whose records are something else."""

EXPECTED = "tf.train.Examples or SequenceExamples with at least one feature"

WITHOUT_FEATURE = "an Example without a feature"

# How much of a record is looked at: a hostile one has millions of fields.
_START_BYTES, _MOST_FIELDS, _SHOWN_FIELDS = 512, 1000, 8

_WIRE_NAMES = {0: "varint", 1: "64 bits", 2: "bytes", 5: "32 bits"}


def describe_record(data: bytes) -> str:
    """Return what a record is that has no key of an Example."""
    fields: dict[str, None] = {}
    try:
        for number, wire, _, _ in islice(tagged(data, 0, len(data)), _MOST_FIELDS):
            fields[f"{number} ({_WIRE_NAMES[wire]})"] = None
    except MalformedError:
        return describe_start(data[:_START_BYTES])
    shown = ", ".join(list(fields)[:_SHOWN_FIELDS])
    more = ", ..." if len(fields) > _SHOWN_FIELDS else ""
    noun = "field" if len(fields) == 1 else "fields"
    return f"another protobuf message, with {noun} {shown}{more}"


@dataclass(frozen=True)
class Keyed:
    """How many of some records have a key.

    Attributes:
        records: how many have one.
        other: the contents of the first record without one; empty if every record
            has one, or if those without one are Examples without a feature.
    """

    records: int = 0
    other: str = ""

    def merged(self, following: Keyed) -> Keyed:
        """Return what is true of these records and of those behind them."""
        return Keyed(self.records + following.records, self.other or following.other)


def keyed_of(columns: Columns) -> Keyed:
    """Return how many records have a key, and what the first one without is."""
    keyed = keyed_rows(columns)
    if keyed.all():
        return Keyed(len(keyed))
    malformed = [each.row for each in columns.malformed]
    rows = sorted({*other_rows(columns).tolist(), *malformed})
    other = describe_record(columns.records[rows[0]]) if rows else ""
    return Keyed(int(keyed.sum()), other)


# Records of one kind have so large a share of the keys of either in common.
_COMMON = 0.5

# A file lacks a key by chance if that is likelier than this.
_CHANCE = 0.001


def are_of_one_kind(shared: int, one: int, other: int) -> bool:
    """Return whether records are of one kind, by how many keys they share and have."""
    return shared >= _COMMON * min(one, other)


def lacked_by_chance(share: float, records: int) -> bool:
    """Return whether so many records may lack a key that a share of others have."""
    return (1 - share) ** records > _CHANCE
