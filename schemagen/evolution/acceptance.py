"""Breaks that were accepted: recorded beside the specs, so that the gate stays on.

An acceptance is of one exact break: the rule, the field, and what it was and is. When
the field changes again, that is another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .comparison import Break

FILE_NAME = "accepted_breaks.json"

FORMAT = 1

_ABOUT = "Breaks of schemas that were accepted: `schemagen breaking --accept`."


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
        ValueError: it is not what `dump_acceptances` writes.
    """
    data = json.loads(text)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"expected an object with the format {FORMAT}")
    found = []
    for entry in data.get("accepted", ()):
        if not isinstance(entry, dict) or not isinstance(entry.get("reason"), str):
            raise ValueError(f"expected a break with its reason, found {entry!r}")
        facts = {name: value for name, value in entry.items() if name != "reason"}
        found.append(Acceptance(facts, entry["reason"]))
    return tuple(found)


def dump_acceptances(accepted: Iterable[Acceptance]) -> str:
    """Return the file's text: sorted, a break a line, so that branches merge."""
    lines = sorted(
        json.dumps({**each.facts, "reason": each.reason}, ensure_ascii=False)
        for each in accepted
    )
    listed = ",\n".join(f"    {line}" for line in lines)
    opening = f'{{\n  "//": {json.dumps(_ABOUT)},\n  "format": {FORMAT},\n'
    return f'{opening}  "accepted": [\n{listed}\n  ]\n}}\n'


def is_accepted(found: Break, accepted: Iterable[Acceptance]) -> bool:
    """Tell whether a break is one of those that were accepted."""
    facts = found.facts()
    return any(each.facts == facts for each in accepted)
