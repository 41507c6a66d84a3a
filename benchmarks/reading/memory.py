"""How much memory it takes to read much: the system's own figure for the process."""

from __future__ import annotations

from typing import Any

from ..jobs import done_alone
from ..report import number, table
from ..setting import Setting, empty
from . import ours
from .one_job import MODES
from .shapes import SHAPES

LIMIT = 0.1
"""The most that the memory may grow by, as a share of what the data grows by."""

_MORE = 4
_MIX = next(shape for shape in SHAPES if shape.name == "mix")
_RECORD_BYTES = 3_257


def measure(setting: Setting) -> dict[str, Any]:
    """Read an epoch in each mode, and one of four times the records.

    Returns:
        By mode and size in bytes, what the process says of itself.

    Raises:
        RuntimeError: the process failed, with what it printed.
    """
    rows = _MIX.rows(max(1, setting.bytes // _RECORD_BYTES))
    found: dict[str, Any] = {mode: {} for mode in MODES}
    for times in (1, _MORE):
        setting.say(f"{times * setting.bytes / 1e9:.2g} GB")
        empty(setting.scratch)
        directory = setting.scratch / "data"
        ours.write(setting.generated, _MIX, rows * times, directory)
        generated = setting.generated
        for mode in MODES:
            arguments = [generated.package, mode, str(directory)]
            job = done_alone("benchmarks.reading.one_job", arguments, generated.root)
            found[mode][str(times * setting.bytes)] = job
    empty(setting.scratch)
    return found


def growth(jobs: dict[str, dict[str, float]]) -> float:
    """Return how much more memory more data took, as a share of that data."""
    (small, less), (large, more) = jobs.items()
    return (more["process"] - less["process"]) / (float(large) - float(small))


def markdown(found: dict[str, Any]) -> str:
    """Return a table: for each mode the memory at both sizes."""
    rows = []
    for mode, jobs in found.items():
        less, more = jobs.values()
        grown = growth(jobs)
        verdict = "reached" if grown <= LIMIT else "**missed**"
        rows.append(
            [
                mode,
                f"{less['before'] / 1e6:.0f} MB",
                f"{less['process'] / 1e6:.0f} MB",
                f"{more['process'] / 1e6:.0f} MB",
                f"{grown:.1%}, at most {LIMIT:.0%}: {verdict}",
                number(more["seconds"]),
            ]
        )
    sizes = [f"{int(size) / 1e9:g} GB" for size in next(iter(found.values()))]
    return table(
        [
            "read",
            "resident with tensorflow imported",
            *(f"after an epoch of {size}" for size in sizes),
            "growth, as a share of the data's",
            "seconds",
        ],
        rows,
    )
