"""What a change of schemas breaks: the rules of the table, over two sets of specs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..runtime.codecs.compatibility import DATA_CHECKS, Change, Spec
from .interface import interface_changes, record_gone
from .tables import AXES, BREAKING_RULES, Axis, BreakingRule

# An acceptance is the facts of one exact break, and a reason: when the field changes
# again, that is another break. Each is a line of JSON by itself: git joins the lines of
# two branches (`merge=union`), and the file is still whole.
Acceptance = dict[str, Any]


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

    def is_accepted(self, accepted: Iterable[Acceptance]) -> bool:
        """Tell whether it is one of the breaks that were accepted."""
        return any(each == self.accepted(each["reason"]) for each in accepted)

    def accepted(self, reason: str) -> Acceptance:
        """Return its acceptance: what makes it this break and no other, as JSON."""
        return {
            "rule": self.change.rule,
            "record": self.record,
            "field": self.change.field,
            "attribute": self.change.attribute,
            "written": self.change.written,
            "expected": self.change.expected,
            "reason": reason,
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
        axes: the axes to look at; without "api", old is the specs of data,
            which is read alike or not, whether its record is a draft or not.

    Returns:
        By record, in the order of the rules.
    """
    found: list[Break] = []
    for record, before in sorted(old.items()):
        draft = "api" in axes and bool(before.get("draft", False))
        after = new.get(record)
        if after is None and "api" not in axes:
            found.append(Break(record, _unread(record)))
        elif after is None and mode is not Mode.FORWARD:
            found.append(Break(record, record_gone(before), draft=draft))
        elif after is not None:
            if mode is not Mode.FORWARD:
                changes = _changes(before, after, axes)
                found += [Break(record, each, False, draft) for each in changes]
            if mode is not Mode.BACKWARD:
                changes = _changes(after, before, {*axes} - {"api"})
                found += [Break(record, each, True, draft) for each in changes]
    return tuple(found)


def _unread(record: str) -> Change:
    """Return that data exists for a record that is not declared."""
    words = f"record: written {record!r}, and no record of this name is declared"
    return Change("SG220", "", "record", record, None, words)


def _changes(written: Spec, expected: Spec, axes: Collection[Axis]) -> Iterator[Change]:
    """Yield what comes under the rules of some axes, in the order of the rules."""
    found = [c for check in DATA_CHECKS for c in check(written, expected)]
    if "api" in axes:
        found += interface_changes(written, expected)
    for change in sorted(found, key=lambda change: change.rule):
        if BREAKING_RULES[change.rule].axis in axes:
            yield change


def load_acceptances(text: str) -> tuple[Acceptance, ...]:
    """Read the file's text.

    Raises:
        ValueError: it is not what `dump_acceptances` writes, and in which line.
    """
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                entry = json.loads(line)
            except ValueError:
                entry = None
            if not (isinstance(entry, dict) and "reason" in entry):
                raise ValueError(f"line {number} is not an accepted break")
            found.append(entry)
    return tuple(found)


def dump_acceptances(accepted: Iterable[Acceptance]) -> str:
    """Return the file's text: sorted, a break a line, so that branches merge."""
    lines = {json.dumps(each, ensure_ascii=False) for each in accepted}
    return "".join(f"{line}\n" for line in sorted(lines))
