"""How much memory it takes to verify much: the system's own figure for the process."""

from __future__ import annotations

from typing import Any

from ..jobs import done_alone
from ..reading import ours
from ..reading.memory import LIMIT, growth
from ..reading.shapes import SHAPES
from ..report import number, table
from ..setting import Setting, empty

_MORE = 4
_MIX = next(shape for shape in SHAPES if shape.name == "mix")
_RECORD_BYTES = 3_257


def measure(setting: Setting) -> dict[str, Any]:
    """Verify data of some size, and of four times that.

    Returns:
        By size in bytes, what the process says of itself.

    Raises:
        RuntimeError: the process failed, with what it printed.
    """
    rows = _MIX.rows(max(1, setting.bytes // _RECORD_BYTES))
    found: dict[str, Any] = {}
    for times in (1, _MORE):
        setting.say(f"{times * setting.bytes / 1e9:.2g} GB")
        empty(setting.scratch)
        directory = setting.scratch / "data"
        ours.write(setting.generated, _MIX, rows * times, directory)
        root = setting.generated.root
        job = done_alone("benchmarks.verifying.one_job", [str(directory)], root)
        found[str(times * setting.bytes)] = job
    empty(setting.scratch)
    return found


def markdown(found: dict[str, Any]) -> str:
    """Return a table of the memory at both sizes."""
    grown = growth(found)
    verdict = "reached" if grown <= LIMIT else "**missed**"
    rows = [
        [
            f"{int(size) / 1e9:g} GB",
            f"{job['records']:,}",
            f"{job['before'] / 1e6:.0f} MB",
            f"{job['process'] / 1e6:.0f} MB",
            number(job["seconds"]),
        ]
        for size, job in found.items()
    ]
    head = ["data", "records", "resident before", "at most", "seconds"]
    return (
        table(head, rows)
        + f"\nGrowth as a share of the data's: {grown:.1%}, at most {LIMIT:.0%}: "
        f"{verdict}.\n"
    )
