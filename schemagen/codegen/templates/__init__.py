"""Templates: where they are, and text out of them. Nothing else knows Jinja."""

from __future__ import annotations

from .environment import Templates, templates_directory

__all__ = ["Templates", "templates_directory"]
