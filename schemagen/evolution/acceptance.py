"""Breaks that were accepted: recorded next to the specs, so that the gate stays on.

An acceptance is of one exact break: the rule, the field, and what it was and is. When
the field changes again, that is another one. Each is a line of JSON by itself: git joins
the lines of two branches (`merge=union`), and the file is still whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .comparison import Break


@dataclass(frozen=True)
class Acceptance:
    """One break that somebody answers for.

    Attributes:
        facts: what makes it this break; see `Break.facts`.
        reason: why it may be.
    """

    facts: dict[str, Any]
    reason: str


def load_acceptances(text: str) -> tuple[Acceptance, ...]:
    """Read the file's text.

    Raises:
        ValueError: it is not what `dump_acceptances` writes, and in which line.
    """
    found: dict[str, Acceptance] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                entry = json.loads(line)
                reason = entry.pop("reason")
                found[line] = Acceptance(entry, str(reason))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise ValueError(f"line {number} is no accepted break") from None
    return tuple(found.values())


def dump_acceptances(accepted: Iterable[Acceptance]) -> str:
    """Return the file's text: sorted, a break a line, so that branches merge."""
    lines = {
        json.dumps({**each.facts, "reason": each.reason}, ensure_ascii=False)
        for each in accepted
    }
    return "".join(f"{line}\n" for line in sorted(lines))


def is_accepted(found: Break, accepted: Iterable[Acceptance]) -> bool:
    """Tell whether a break is one of those that were accepted."""
    facts = found.facts()
    return any(each.facts == facts for each in accepted)
