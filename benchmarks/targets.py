"""Ratios that are to be reached."""

from __future__ import annotations

from dataclasses import dataclass

from .measure import Figure
from .report import spread


@dataclass(frozen=True)
class Target:
    """A ratio to reach.

    Attributes:
        measurement: the one it belongs to.
        slow: the way whose time stands above the line.
        fast: the way whose time stands below it.
        at_most: whether the ratio is a limit, rather than the least to reach.
        goals: by shape; a shape that is not there has no goal.
    """

    measurement: str
    slow: str
    fast: str
    goals: dict[str, float]
    at_most: bool = False

    @property
    def words(self) -> str:
        """What the ratio says."""
        if self.at_most:
            return f"{self.slow}: time over that of {self.fast}"
        return f"{self.fast}, against {self.slow}"

    def reached(self, shape: str, found: float) -> bool | None:
        """Tell whether a ratio is good enough; None where there is no goal."""
        if shape not in self.goals:
            return None
        goal = self.goals[shape]
        return found <= goal if self.at_most else found >= goal

    def verdict(self, shape: str, found: Figure) -> str:
        """Return a ratio with its goal, if there is one, and whether it is reached."""
        reached = self.reached(shape, found.median)
        if reached is None:
            return spread(found)
        goal = f"{'at most' if self.at_most else 'at least'} {self.goals[shape]:g}"
        return f"{spread(found)}, {goal}: {'reached' if reached else '**missed**'}"
