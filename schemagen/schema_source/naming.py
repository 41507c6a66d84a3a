"""Names for fields that are called otherwise where they come from."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection

from ..schema.record import Record
from ..spec.names import RESERVED_FIELDS


def field_name(text: str, taken: Collection[str] = ()) -> str:
    """Return the name of a field that is called this in its source.

    Args:
        text: what it is called there: any text.
        taken: names that others bear already.
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^0-9A-Za-z_]+", "_", ascii_text).strip("_") or "field"
    if name[0].isdigit():
        name = f"f_{name}"
    if keyword.iskeyword(name) or name in RESERVED_FIELDS or hasattr(Record, name):
        name = f"{name}_"
    number, first = 2, name
    while name in taken:
        name = f"{first.rstrip('_')}_{number}"
        number += 1
    return name
