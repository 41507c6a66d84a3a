"""What a change of schemas breaks: the rules of the table, over two sets of specs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ..runtime.codecs.compatibility import Change, Spec
from .rule import Axis, BreakingRule
from .table import BREAKING_RULES

AXES: tuple[Axis, ...] = ("wire", "meaning", "api")


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
        rule: the rule that it comes under.
        record: the record's name.
        change: what differs, of what is written and what is expected.
        forward: whether it is old code that is at odds with new data.
        draft: whether the record was a draft.
    """

    rule: BreakingRule
    record: str
    change: Change
    forward: bool = False
    draft: bool = False

    @property
    def is_error(self) -> bool:
        """Whether it is more than a warning."""
        return self.rule.level == "error" and not self.draft

    def facts(self) -> dict[str, Any]:
        """Return what makes it this break and no other, as values that JSON knows."""
        return {
            "rule": self.rule.id,
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
        axes: which of the axes to look at.

    Returns:
        By record, in the order of the rules.
    """
    found: list[Break] = []
    for record, before in sorted(old.items()):
        after = new.get(record)
        if after is None and "api" not in axes:
            found.append(_unread(record, before))
        elif after is None and mode is not Mode.FORWARD:
            heirs = [name for name in new if name not in old]
            found += _gone(record, before, {name: new[name] for name in heirs})
        elif after is not None and mode is not Mode.FORWARD:
            found += _breaks(record, before, after, axes)
        if mode is not Mode.BACKWARD and after is not None:
            data = [axis for axis in axes if axis != "api"]
            found += _breaks(record, after, before, data, forward=True)
    if "api" not in axes:  # data is read alike or it is not, regardless of who wrote it
        found = [replace(each, draft=False) for each in found]
    return tuple(found)


def _unread(record: str, written: Spec) -> Break:
    """Return the break that there is data of a record which is declared no more."""
    words = f"record: written {record!r}, and no record of this name is declared"
    change = Change("SG220", "", "record", record, None, words)
    return Break(BREAKING_RULES["SG220"], record, change)


def _gone(record: str, before: Spec, added: Mapping[str, Spec]) -> Iterator[Break]:
    """Yield the break that a record is gone, with the one that it may be now."""
    keys = {field["key"] for field in before["fields"]}
    heirs = [
        name
        for name, spec in added.items()
        if len(keys & {field["key"] for field in spec["fields"]}) * 2 > len(keys)
    ]
    hint = (
        f"if it is {heirs[0]!r} now, its data is not read under the new name, and what "
        "else has changed is not compared: keep the name of the class"
        if heirs
        else ""
    )
    rule = BREAKING_RULES["SG249"]
    for change in rule.check(before, None):
        draft = bool(before.get("draft", False))
        yield Break(rule, record, replace(change, hint=hint), draft=draft)


def _breaks(
    record: str,
    written: Spec,
    expected: Spec,
    axes: Collection[Axis],
    *,
    forward: bool = False,
) -> Iterator[Break]:
    """Apply the rules of some axes to what writes and what reads."""
    old = expected if forward else written
    draft = bool(old.get("draft", False))
    for rule in BREAKING_RULES.values():
        if rule.axis in axes and rule.id != "SG249":
            for change in rule.check(written, expected):
                yield Break(rule, record, change, forward, draft)
