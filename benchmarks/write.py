"""Writing records: ours against what one would otherwise use, side by side.

`make bench` runs all of it in an environment that has the peers; see
docs/benchmarks.md for what is measured and how.

    python -m benchmarks.write [--quick] [--parts speed,scaling] [--shapes mix,jpeg]
        [--rounds 7] [--bytes 4e9] [--json FILE] [--document FILE]
    python -m benchmarks.write --profile mix
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import compressed, memory, processes, profiling, scaling, speed
from .machine import machine
from .ours import Generated
from .report import replace_part, table
from .setting import Setting
from .shapes import SHAPES

_ALL_SHAPES = tuple(shape.name for shape in SHAPES)


@dataclass(frozen=True)
class Part:
    """One of the measurements.

    Attributes:
        measure: returns its results, as JSON can hold them.
        markdown: returns them as tables.
    """

    measure: Callable[[Setting], dict[str, Any]]
    markdown: Callable[[dict[str, Any]], str]


PARTS = {
    "speed": Part(speed.measure, speed.markdown),
    "scaling": Part(scaling.measure, scaling.markdown),
    "workers": Part(processes.measure, processes.markdown),
    "compression": Part(compressed.measure, compressed.markdown),
    "memory": Part(memory.measure, memory.markdown),
    "profile": Part(profiling.measure, profiling.markdown),
}


def some_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Return what turns an argument such as "mix,jpeg" into names that are known."""

    def names(text: str) -> tuple[str, ...]:
        chosen = tuple(text.split(","))
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(
                f"no {', '.join(unknown)}; there are {', '.join(known)}"
            )
        return chosen

    return names


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.write",
        description="Measure writing: ours against the peers, scaling, memory, workers.",
    )
    parser.add_argument(
        "--parts",
        type=some_of(list(PARTS)),
        default=tuple(PARTS),
        help=f"which measurements, of {','.join(PARTS)}",
    )
    parser.add_argument(
        "--shapes",
        type=some_of(_ALL_SHAPES),
        default=_ALL_SHAPES,
        help=f"which records, of {','.join(_ALL_SHAPES)}",
    )
    parser.add_argument("--rounds", type=int, help="how many count; 7")
    parser.add_argument(
        "--bytes", type=float, help="how much to write to see the memory; 4e9"
    )
    parser.add_argument(
        "--share",
        type=float,
        default=None,
        help="of the records that a full run writes; 1",
    )
    parser.add_argument(
        "--quick", action="store_true", help="3 rounds of a quarter; 4e8 bytes"
    )
    parser.add_argument(
        "--profile", choices=_ALL_SHAPES, help="only where the time of a shape goes"
    )
    parser.add_argument("--json", type=Path, help="write the results there")
    parser.add_argument(
        "--document", type=Path, help="put the tables between the marks in this file"
    )
    parser.add_argument(
        "--scratch",
        type=Path,
        help="where to write files, for a moment; else where "
        "the system keeps temporary files",
    )
    options = parser.parse_args(arguments)
    quick = options.quick
    options.rounds = options.rounds or (3 if quick else 7)
    options.bytes = int(options.bytes or (4e8 if quick else 4e9))
    options.share = options.share or (0.25 if quick else 1.0)
    if options.profile:
        options.parts, options.shapes = ("profile",), (options.profile,)
    return options


def conditions(options: argparse.Namespace, seconds: float) -> dict[str, str]:
    """Return when, where and how much was measured."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        **machine(),
        "run": f"{options.rounds} rounds, {options.share:g} of the records, "
        f"{seconds / 60:.0f} minutes",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print tables; with --json write the numbers to a file too."""
    options = options_of(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    start = time.perf_counter()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as directory:
        root = Path(directory)
        setting = Setting(
            Generated(root / "project"),
            root / "scratch",
            options.rounds,
            options.shapes,
            options.share,
            options.bytes,
        )
        for part in options.parts:
            setting.say(part)
            results[part] = PARTS[part].measure(setting)
    found = conditions(options, time.perf_counter() - start)
    texts = {"conditions": table(["", ""], found.items())}
    texts |= {part: PARTS[part].markdown(result) for part, result in results.items()}
    print("\n".join(texts.values()))
    if options.document:
        for part, text in texts.items():
            replace_part(options.document, part, text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"conditions": found, **results}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
