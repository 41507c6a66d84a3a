"""Generating code: ours against what else makes code of schemas, side by side.

`make bench-generate` runs all of it in an environment that has the peers; see
docs/benchmarks.md for what is measured and how.

    python -m benchmarks.generate [--quick] [--parts speed,profile]
        [--shapes 10,100,300,1000] [--rounds 7] [--json FILE] [--document FILE]
    python -m benchmarks.generate --profile 100
"""

from __future__ import annotations

from .generating import profiling, speed
from .machine import keep_to_cores
from .program import Part, Program

PROGRAM = Program(
    "generate",
    "Measure generating and checking: ours against the peers, by number of schemas.",
    {
        "speed": Part(speed.measure, speed.markdown),
        "profile": Part(profiling.measure, profiling.markdown),
    },
    speed.SIZES,
    libraries=(
        "click",
        "jinja2",
        "numpy",
        "pydantic",
        "grpcio-tools",
        "datamodel-code-generator",
        "black",
        "isort",
    ),
)

if __name__ == "__main__":
    keep_to_cores(1)
    PROGRAM.run()
