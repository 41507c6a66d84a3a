"""Templates: where they are, and text out of them. Nothing else knows Jinja."""

from __future__ import annotations

from .blocks import idle_blocks
from .catalogue import Entry, changed_originals, ejected, entries, our_names, strays
from .environment import Templates, templates_directory

__all__ = [
    "Entry",
    "Templates",
    "changed_originals",
    "ejected",
    "entries",
    "idle_blocks",
    "our_names",
    "strays",
    "templates_directory",
]
