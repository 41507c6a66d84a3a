"""Reading records: ours against what one would otherwise use, side by side.

`make bench-read` runs all of it in an environment that has the peers; see
docs/benchmarks.md for what is measured and how.

    python -m benchmarks.read [--quick] [--parts speed,memory] [--shapes mix,jpeg]
        [--rounds 7] [--bytes 1e8] [--json FILE] [--document FILE]
    python -m benchmarks.read --profile mix
"""

from __future__ import annotations

from .machine import keep_to_cores
from .program import Part, Program
from .reading import memory, profiling, speed
from .reading.shapes import CORES, SHAPES

PROGRAM = Program(
    "read",
    "Measure reading: ours against the peers, and memory.",
    {
        "speed": Part(speed.measure, speed.markdown),
        "memory": Part(memory.measure, memory.markdown),
        "profile": Part(profiling.measure, profiling.markdown),
    },
    [shape.name for shape in SHAPES],
    bytes=1e8,
)

if __name__ == "__main__":
    keep_to_cores(CORES)  # which threads are made for, too
    PROGRAM.run()
