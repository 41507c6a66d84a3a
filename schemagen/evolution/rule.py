"""What a row of the table of breaking changes holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..rules import Rule

Axis = Literal["wire", "meaning", "api"]

AXES: tuple[Axis, ...] = ("wire", "meaning", "api")

REWRITE = (
    "write the data again into another directory, or declare a new field for it with a "
    "key of its own"
)
"""What to do about most changes of what bytes mean."""


@dataclass(frozen=True, kw_only=True)
class BreakingRule(Rule):
    """One way in which a change of a schema breaks something.

    Attributes:
        before: an example: the line of a schema, or a class, before the change.
        after: and after it; empty if it is taken out.
        to_do: how to make the change all the same.
        one_way: whether the change back breaks nothing.
        level: "error", or "warning" for what fails no run.
    """

    before: str = ""
    after: str = ""
    to_do: str = REWRITE
    one_way: bool = False
    level: Literal["error", "warning"] = "error"

    @property
    def axis(self) -> Axis:
        """What breaks, by the rule's number.

        wire: data does not parse; meaning: it parses and says something else; api:
        programs that use the generated code have to change.
        """
        return (
            "wire" if self.id < "SG220" else "meaning" if self.id < "SG240" else "api"
        )

    @property
    def direction(self) -> Literal["backward", "both"]:
        """Who is at odds: new code with old data and programs, or old code too."""
        return "backward" if self.one_way or self.axis == "api" else "both"
