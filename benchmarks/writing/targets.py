"""What the writer is to reach, by what is compared and by shape."""

from __future__ import annotations

from dataclasses import replace

from ..targets import Target

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


def without_fsync(target: Target) -> Target:
    """Return the same with our time without fsync, which peers do not wait for."""
    if target.at_most:
        return replace(target, slow=target.slow + UNSYNCED)
    return replace(target, fast=target.fast + UNSYNCED)


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
