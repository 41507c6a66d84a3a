"""What `diff --format json` prints, as models."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal

from ...findings import Finding, render_json
from ..profile.diff import Diff, SplitDiff
from .as_json import VERSION, compared
from .document import Compared, Part


class Change(Part):
    """What keeps the second schema from reading data of the first one."""

    rule: str
    field: str
    change: str


class Classes(Part):
    """A field whose classes differ between the schemas."""

    field: str
    only: tuple[list[str], list[str]]
    """The names of classes that the other schema lacks."""


class DiffDocument(Part):
    """What diff prints to stdout with --format json, unless it exits with 2."""

    version: Literal[1]
    data: tuple[str, str]
    """What the datasets are called."""
    key: str
    """The field whose values match records; empty for all of their bytes."""
    same: bool
    """Whether nothing differs, and all was read."""
    unread: tuple[list[str], list[str]]
    """What was not read of each dataset, or cannot be read."""
    changes: list[Change] | None
    """Of the schema; null if one of the two has none."""
    keys: tuple[list[str], list[str]]
    """The keys that are in one of them only."""
    classes: list[Classes]
    """The fields whose classes differ between the schemas."""
    splits: list[SplitDiff]
    differences: list[Compared]
    """Measures that differ by more than a medium effect."""
    identifying: list[str]
    """Fields whose values identify records, if no key was given and records differ."""
    findings: list[dict[str, Any]]
    """What --fail-on has found, as findings.schema.json describes them."""


def diff_document(found: Diff, findings: Iterable[Finding] = ()) -> DiffDocument:
    """Return what differs, and what was found to fail on."""
    return DiffDocument.taken(
        found,
        version=VERSION,
        data=found.names,
        changes=None
        if found.schema is None
        else [Change.taken(each, change=each.plain) for each in found.schema],
        classes=[
            Classes(field=name, only=both) for name, both in found.classes.items()
        ],
        differences=[*map(compared, found.profile.drifts)],
        findings=json.loads(render_json(findings))["findings"],
    )
