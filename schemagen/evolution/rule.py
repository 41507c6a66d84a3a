"""What a row of the table of breaking changes holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ..rules import Rule
from ..runtime.codecs.compatibility import Change

Axis = Literal["wire", "meaning", "api"]
Direction = Literal["backward", "forward", "both"]
Check = Callable[[Any, Any], Iterator[Change]]


@dataclass(frozen=True, kw_only=True)
class BreakingRule(Rule):
    """One way in which a change of a schema breaks something.

    Attributes:
        axis: wire: data does not parse; meaning: it parses and says something else;
            api: programs that use the generated code have to change.
        direction: of the example: backward if new code is at odds with old data and
            old programs, forward if old code is with new data, or both.
        check: yields what comes under the rule, of the spec that data was written with
            and the spec that shall read it.
        before: an example: the line of a schema, or a class, before the change.
        after: and after it; empty if it is taken out.
        to_do: how to make the change all the same.
        level: "error", or "warning" for what fails no run.
    """

    axis: Axis
    direction: Direction
    check: Check
    before: str
    after: str
    to_do: str
    level: Literal["error", "warning"] = "error"


# What to do about most changes of what bytes mean.
LATER = (
    "write the data again into another directory, or declare a new field for it with a "
    "key of its own"
)
