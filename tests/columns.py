"""Rows as columns, as `serialize_batch` takes them."""

from __future__ import annotations

from typing import Any


def columns_of(*rows: dict[str, Any]) -> dict[str, Any]:
    """Return rows as columns by field, those of nested models in dicts."""
    return {
        name: columns_of(*(row[name] for row in rows))
        if isinstance(rows[0][name], dict)
        else [row[name] for row in rows]
        for name in rows[0]
    }
