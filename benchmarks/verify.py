"""Looking at data: `verify` and `inspect` against parsing it, on one core.

`make bench-verify` runs all of it; see docs/benchmarks.md for what is measured and how.

    python -m benchmarks.verify [--quick] [--parts speed,memory] [--shapes mix,jpeg]
        [--rounds 7] [--bytes 1e8] [--json FILE] [--document FILE]
    python -m benchmarks.verify --profile mix
"""

from __future__ import annotations

from .machine import keep_to_cores
from .program import Part, Program
from .reading.shapes import SHAPES
from .verifying import memory, profiling, speed

PROGRAM = Program(
    "verify",
    "Measure verify and inspect against tensorflow's parsers, and memory.",
    {
        "speed": Part(speed.measure, speed.markdown),
        "memory": Part(memory.measure, memory.markdown),
        "profile": Part(profiling.measure, profiling.markdown),
    },
    [shape.name for shape in SHAPES],
    bytes=1e8,
)

if __name__ == "__main__":
    keep_to_cores(1)
    PROGRAM.run()
