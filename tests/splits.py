"""Splits that tests write with a schema of their own, without a generated package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schemagen.runtime.storage.schema import Schema
from schemagen.runtime.writing.serializer import Serializer


def write_split(
    source: Any,
    serialize: Callable[..., bytes],
    directory: Any,
    split: Any,
    *,
    record: str,
    spec: dict[str, Any],
    fingerprint: str,
    **options: Any,
) -> int:
    """Write a whole split; options are those of `write_dataset`."""
    writer = Serializer(serialize, Schema(record, fingerprint, spec))
    return writer.write_dataset(source, directory, split, **options)
