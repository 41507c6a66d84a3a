"""Formats of bytes that are not TFRecords or tf.train.Examples, by how they begin."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

# Where the bytes are that tell a format: first those that a kind reads.
_READ = (
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"\x89PNG", "a PNG image"),
    (0, b"GIF8", "a GIF image"),
)
_FORMATS = (
    *_READ,
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
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
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

# What becomes of the bytes of audio files.
_DECODERS = {
    "a WAV file": ": decode with tf.audio.decode_wav in a map",
    "a FLAC file": ": decode with soundfile or tensorflow_io in a map",
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
    for at, magic, name in _FORMATS:
        if len(magic) >= sure_bytes and start.startswith(magic, at):
            return name
    return ""


def unread_content(samples: Iterable[bytes]) -> str:
    """Say what all values are that no kind reads; "" if one may be anything else."""
    found = {other_format(sample, 1) for sample in samples}
    if not found or found & {"", *(name for _, _, name in _READ)}:
        return ""
    decoder = _DECODERS.get(" or ".join(found), "")
    return f"{' or '.join(sorted(found))}, which no kind reads{decoder}"


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
