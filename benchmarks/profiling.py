"""Where the time of our own code goes, line by line."""

from __future__ import annotations

import linecache
import signal
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from .measure import Way
from .report import number, table

_INTERVAL = 0.001
_LINES = 8
SECONDS = 2.0
"""For how long a way is looked at in a full run."""

Line = tuple[str, int, str]
"""A file, a line's number in it, and the function around it."""

_OUTSIDE: Line = ("the benchmark", 0, "itself")


def sampled(way: Way, code: Path, seconds: float) -> tuple[Counter[Line], int]:
    """Run something again and again, and look every millisecond at what it does.

    This costs the same wherever the time goes. A profiler that hooks into each call
    would make code of many small calls look slow.

    Args:
        way: what is run.
        code: the directory of the code whose lines are asked for. What it calls
            outside, such as numpy, counts as the line that calls.
        seconds: for how long, at least.

    Returns:
        How often each line was found at work; and how often `way` ran.
    """
    found: Counter[Line] = Counter()
    inside = str(code)

    def look(_: int, frame: FrameType | None) -> None:
        # Python looks for signals when it enters a function, too: what was at work
        # until then is the line that calls it.
        while frame is not None and (
            not frame.f_code.co_filename.startswith(inside)
            or frame.f_lineno in (None, frame.f_code.co_firstlineno)
        ):
            frame = frame.f_back
        if frame is None:
            found[_OUTSIDE] += 1
        else:
            line = frame.f_lineno
            found[frame.f_code.co_filename, line, frame.f_code.co_qualname] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
    runs = 0
    start = time.perf_counter()
    try:
        while time.perf_counter() - start < seconds:
            way()
            runs += 1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return found, runs


def lines_of(way: Way, code: Path, records: int, seconds: float) -> dict[str, Any]:
    """Return microseconds a record, and the lines that take most of them.

    Args:
        way: what is run.
        code: the directory of the code whose lines are asked for.
        records: how many of them a run takes.
        seconds: for how long, at least.

    Returns:
        Lines are [share, file, function, text].
    """
    way()
    start = time.process_time()
    samples, runs = sampled(way, code, seconds)
    taken = (time.process_time() - start) / runs / records * 1e6
    total = samples.total()
    lines = [
        [
            count / total,
            "/".join(Path(file).parts[-2:]),
            function,
            linecache.getline(file, line).strip(),
        ]
        for (file, line, function), count in samples.most_common(_LINES)
    ]
    return {"microseconds a record": taken, "lines": lines}


def markdown(found: dict[str, Any]) -> str:
    """Return a table for each shape and way."""
    parts = []
    for shape, ways in found.items():
        for name, profile in ways.items():
            taken = profile["microseconds a record"]
            head = [f"{shape}: {name}", "share", "µs a record"]
            rows = [
                [
                    f"{file} `{function}`: {_code(text)}",
                    f"{share:.0%}",
                    number(share * taken),
                ]
                for share, file, function, text in profile["lines"]
            ]
            rest = 1 - sum(line[0] for line in profile["lines"])
            rows.append(["everything else", f"{rest:.0%}", number(rest * taken)])
            parts.append(table(head, rows))
    return "\n".join(parts)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", r"\|") if text else ""
