"""The fields of any protobuf message, read one by one."""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _SIZED = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}
_LONGEST_VARINT = 10


class MalformedError(Exception):
    """Bytes that are not a protobuf message, or not a tf.train.Example.

    Attributes:
        at: the position at which they stop being one.
    """

    def __init__(self, at: int, reason: str) -> None:
        self.at = at
        super().__init__(reason)


def tagged(
    data: bytes | memoryview, start: int, stop: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the fields of a message: number, wire type, and extent.

    Raises:
        MalformedError: the bytes are not a message.
    """
    at = start
    while at < stop:
        tag_at = at
        tag, at = read_varint(data, at, stop)
        number, wire = tag >> 3, tag & 7
        if not number or number >= 1 << 29:
            raise MalformedError(tag_at, f"the field number {number}")
        if wire == _SIZED:
            size, at = read_varint(data, at, stop)
            until = at + size
        elif wire == _VARINT:
            until = read_varint(data, at, stop)[1]
        elif wire in _FIXED_SIZES:
            until = at + _FIXED_SIZES[wire]
        else:
            raise MalformedError(tag_at, f"the wire type {wire}")
        if until > stop:
            raise MalformedError(
                tag_at,
                f"a field that ends {until - stop} bytes after the end of its message",
            )
        yield number, wire, at, until
        at = until


def read_varint(data: bytes | memoryview, at: int, stop: int) -> tuple[int, int]:
    """Return a number and where it ends.

    Raises:
        MalformedError: it has no end.
    """
    value = shift = 0
    for position in range(at, min(stop, at + _LONGEST_VARINT)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position + 1
        shift += 7
    raise MalformedError(at, "an unterminated number")
