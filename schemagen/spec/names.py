"""Names that generated code can bear."""

from __future__ import annotations

import keyword
import re


def snake_case(name: str) -> str:
    """Return a class name as a package name: PetPhoto is pet_photo, HTTPLog http_log."""
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text)
    return text.lower()


def is_package_name(name: str) -> bool:
    """Tell whether a name works as a folder and an import on every system."""
    return bool(re.fullmatch(r"[a-z][a-z0-9_]*", name)) and not keyword.iskeyword(name)


# What the bodies of the generated writer's functions use in addition to their keywords.
RESERVED_FIELDS = frozenset(
    {
        "self",
        "columns_by_key",
        "serialize",
        "check_column_lengths",
        "check_lengths",
        "encode_example",
        "encode_examples",
        "encode_fields",
        "encode_sequence_example",
        "encode_sequence_examples",
        "frame_examples",
        "frame_sequence_examples",
        "nested_members",
    }
)
