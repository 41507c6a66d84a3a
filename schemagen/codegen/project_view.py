"""What templates see that are rendered once for a project."""

from __future__ import annotations

from dataclasses import dataclass

from .record_view import RecordView


@dataclass(frozen=True)
class ProjectView:
    """All records, in the order of their names."""

    records: tuple[RecordView, ...]
