"""Files of data that are damaged after they were written."""

from __future__ import annotations

from pathlib import Path


def flip_bit(path: Path, at: int) -> None:
    """Flip the lowest bit of a byte of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
