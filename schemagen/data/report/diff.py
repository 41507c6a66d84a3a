"""The sections of a page about two datasets."""

from __future__ import annotations

from ..inspect.diff import diff_tables
from ..profile.diff import Diff
from .charts import Figure, Table


def diff_figures(found: Diff) -> list[Figure]:
    """Return what differs in schemas and records."""
    notes, (titles, rows) = diff_tables(found)
    table = Table("Records of both datasets", titles, rows, (1, 2, 3, 4, 5))
    return [Figure(notes=notes, table=table, folded=False, wide=True)]
