"""Checks of stored pictures by the codec that writes them."""

from __future__ import annotations

from collections.abc import Callable

from ..shared.images import sniff
from .stored import Rule
from .stored_rows import StoredRows


def checked_pictures(found: StoredRows, check: Callable[[bytes], object]) -> StoredRows:
    """Refuse the rows with a value that a check raises a Problem for."""
    rule = Rule("SG528", "image does not match the schema", "")
    return found.check_each(check, rule, _cause)


def _cause(data: bytes) -> str:
    if not data:
        return "nothing was written"
    if sniff(data):
        return ""
    if data.startswith((b"/9j/", b"iVBOR")):
        return 'an image in base64: declare transfer_encoding="base64"'
    return "raw pixels, or a path?"
