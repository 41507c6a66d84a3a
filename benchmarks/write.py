"""Writing records: ours against what one would otherwise use, side by side.

`make bench-write` runs all of it in an environment that has the peers; see
docs/benchmarks.md for what is measured and how.

    python -m benchmarks.write [--quick] [--parts speed,scaling] [--shapes mix,jpeg]
        [--rounds 7] [--bytes 4e9] [--json FILE] [--document FILE]
    python -m benchmarks.write --profile mix
"""

from __future__ import annotations

from .program import Part, Program
from .writing import compressed, memory, processes, profiling, scaling, speed
from .writing.shapes import SHAPES

PROGRAM = Program(
    "write",
    "Measure writing: ours against the peers, scaling, memory, workers.",
    {
        "speed": Part(speed.measure, speed.markdown),
        "scaling": Part(scaling.measure, scaling.markdown),
        "workers": Part(processes.measure, processes.markdown),
        "compression": Part(compressed.measure, compressed.markdown),
        "memory": Part(memory.measure, memory.markdown),
        "profile": Part(profiling.measure, profiling.markdown),
    },
    [shape.name for shape in SHAPES],
    bytes=4e9,
)

if __name__ == "__main__":
    PROGRAM.run()
