"""What a change of schemas breaks: the rules of the table, over two sets of specs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..runtime.codecs.compatibility import DATA_CHECKS, Change, Spec
from . import BREAKING_RULES
from .interface import interface_changes, record_gone
from .rule import AXES, Axis, BreakingRule


class Mode(Enum):
    """Who has to get along with whom.

    Backward: new code with old data and old programs. Forward: old code with new data.
    """

    BACKWARD = "backward"
    FORWARD = "forward"
    FULL = "full"


@dataclass(frozen=True)
class Break:
    """One thing that a change breaks.

    Attributes:
        record: the record's name.
        change: what differs, of what is written and what is expected.
        forward: whether it is old code that is at odds with new data.
        draft: whether the record was a draft.
    """

    record: str
    change: Change
    forward: bool = False
    draft: bool = False

    @property
    def rule(self) -> BreakingRule:
        """The rule that it comes under."""
        return BREAKING_RULES[self.change.rule]

    @property
    def is_error(self) -> bool:
        """Whether it is more than a warning."""
        return self.rule.level == "error" and not self.draft

    def facts(self) -> dict[str, Any]:
        """Return what makes it this break and no other, as values that JSON knows."""
        return {
            "rule": self.change.rule,
            "record": self.record,
            "field": self.change.field,
            "attribute": self.change.attribute,
            "written": self.change.written,
            "expected": self.change.expected,
        }


def compare(
    old: Mapping[str, Spec],
    new: Mapping[str, Spec],
    mode: Mode = Mode.BACKWARD,
    axes: Collection[Axis] = AXES,
) -> tuple[Break, ...]:
    """Find what a change breaks.

    Args:
        old: the specs before it, as their JSON, by the names of the records.
        new: the specs after it.
        mode: who has to get along with whom.
        axes: which of the axes to look at; without "api", old is the specs of data,
            which is read alike or not, whether its record is a draft or not.

    Returns:
        By record, in the order of the rules.
    """
    added = {name: spec for name, spec in new.items() if name not in old}
    found: list[Break] = []
    for record, before in sorted(old.items()):
        draft = "api" in axes and bool(before.get("draft", False))
        after = new.get(record)
        if after is None and "api" not in axes:
            found.append(Break(record, _unread(record)))
        elif after is None and mode is not Mode.FORWARD:
            found.append(Break(record, record_gone(before, added), draft=draft))
        elif after is not None:
            found += _breaks(record, before, after, mode, axes, draft)
    return tuple(found)


def _unread(record: str) -> Change:
    """Return that there is data of a record that is not declared."""
    words = f"record: written {record!r}, and no record of this name is declared"
    return Change("SG220", "", "record", record, None, words)


def _breaks(
    record: str,
    old: Spec,
    new: Spec,
    mode: Mode,
    axes: Collection[Axis],
    draft: bool,
) -> Iterator[Break]:
    """Yield what is broken between two specs of a record."""
    if mode is not Mode.FORWARD:
        for change in _changes(old, new, axes):
            yield Break(record, change, False, draft)
    if mode is not Mode.BACKWARD:
        for change in _changes(new, old, {*axes} - {"api"}):
            yield Break(record, change, True, draft)


def _changes(written: Spec, expected: Spec, axes: Collection[Axis]) -> Iterator[Change]:
    """Yield what comes under the rules of some axes, in the order of the rules."""
    found = [c for check in DATA_CHECKS.values() for c in check(written, expected)]
    if "api" in axes:
        found += interface_changes(written, expected)
    for change in sorted(found, key=lambda change: change.rule):
        if BREAKING_RULES[change.rule].axis in axes:
            yield change
