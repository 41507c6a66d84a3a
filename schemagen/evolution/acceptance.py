"""Breaks that were accepted: recorded next to the specs, so that the gate stays on.

An acceptance is the facts of one exact break, and a reason: when the field changes
again, that is another break. Each is a line of JSON by itself: git joins the lines of
two branches (`merge=union`), and the file is still whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .comparison import Break

Acceptance = dict[str, Any]


def acceptance_of(found: Break, reason: str) -> Acceptance:
    """Return the acceptance of a break."""
    return {**found.facts(), "reason": reason}


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


def is_accepted(found: Break, accepted: Iterable[Acceptance]) -> bool:
    """Tell whether a break is one of those that were accepted."""
    return any(each == acceptance_of(found, each["reason"]) for each in accepted)
