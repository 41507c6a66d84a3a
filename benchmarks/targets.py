"""What the writer is to reach, by what is compared and by shape."""

from __future__ import annotations

from dataclasses import dataclass, replace

A = "(a) tf.train.Example"
A_LISTS = "(a) with .tolist()"
B = "(b) tfx-bsl"
C = "(c) TFDS"
BATCHES = "ours, batches"
ROWS = "ours, rows"
FLOOR = "floor"
IN_MEMORY = "in memory"
TO_A_FILE = "to a closed file"
UNSYNCED = ", fsync left out"


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
            return f"{self.slow}: time over the {self.fast}"
        return f"{self.fast}, against {self.slow}"

    def without_fsync(self) -> Target:
        """Return the same with our time without fsync, which peers do not wait for."""
        if self.at_most:
            return replace(self, slow=self.slow + UNSYNCED)
        return replace(self, fast=self.fast + UNSYNCED)

    def reached(self, shape: str, found: float) -> bool | None:
        """Tell whether a ratio is good enough; None where there is no goal."""
        if shape not in self.goals:
            return None
        goal = self.goals[shape]
        return found <= goal if self.at_most else found >= goal


def _goals(*values: float) -> dict[str, float]:
    names = ("mix", "vector", "tabular", "tokens", "jpeg")
    return dict(zip(names, values, strict=True))


TARGETS = (
    Target(IN_MEMORY, A, BATCHES, _goals(5, 80, 8, 8, 4)),
    Target(IN_MEMORY, A, ROWS, _goals(2.5, 40, 2.5, 4, 2)),
    Target(IN_MEMORY, B, BATCHES, _goals(1.2, 2, 1.2, 1.2, 1.5)),
    Target(TO_A_FILE, A, BATCHES, _goals(3.5, 20, 6, 6, 1.3)),
    Target(TO_A_FILE, A, ROWS, _goals(2.5, 15, 2, 3, 1.2)),
    Target(
        TO_A_FILE,
        BATCHES,
        FLOOR,
        {"mix": 3, "vector": 1.8, "jpeg": 1.5},
        at_most=True,
    ),
)
