"""How much memory it takes to write much: the system's own figure for the process."""

from __future__ import annotations

from typing import Any

from ..jobs import done_alone
from ..report import number, table
from ..setting import Setting, empty
from .one_job import MODES

LIMIT = 300e6
"""Bytes that may be resident, in the process and its workers together."""

_SMALL = 0.1


def measure(setting: Setting) -> dict[str, Any]:
    """Write the same bytes in each mode, and a tenth of them for comparison.

    Returns:
        By mode and size in bytes, what the process says of itself.

    Raises:
        RuntimeError: the process failed, with what it printed.
    """
    found: dict[str, Any] = {}
    for mode in MODES:
        found[mode] = {}
        for size in (int(setting.bytes * _SMALL), setting.bytes):
            setting.say(f"{mode}: {size / 1e9:.2g} GB")
            empty(setting.scratch)
            found[mode][str(size)] = _job(setting, mode, size)
            empty(setting.scratch)
    return found


def _job(setting: Setting, mode: str, size: int) -> dict[str, float]:
    generated = setting.generated
    directory = str(setting.scratch / "data")
    arguments = [generated.package, mode, str(size), directory]
    return done_alone("benchmarks.writing.one_job", arguments, generated.root)


def resident(mode: str, job: dict[str, float]) -> float:
    """Return the most bytes that can have been resident: all processes together."""
    workers = MODES[mode].get("workers", 0)
    return job["process"] + float(workers) * job["largest worker"]


def markdown(found: dict[str, Any]) -> str:
    """Return a table: for each mode the memory at both sizes, and the speed."""
    rows = []
    for mode, jobs in found.items():
        (small, _), (large, _) = ((job, size) for size, job in jobs.items())
        size = float(list(jobs)[-1])
        most = resident(mode, large)
        rows.append(
            [
                mode,
                f"{resident(mode, small) / 1e6:.0f} MB",
                f"{most / 1e6:.0f} MB: {'reached' if most < LIMIT else '**missed**'}",
                number(large["seconds"]),
                f"{size / large['seconds'] / 1e6:.0f} MB/s",
            ]
        )
    sizes = [f"{int(size) / 1e9:g} GB" for size in next(iter(found.values()))]
    return table(
        [
            "written in mode",
            f"resident, {sizes[0]}",
            f"resident, {sizes[1]}: under {LIMIT / 1e6:.0f} MB",
            "seconds",
            "speed",
        ],
        rows,
    )
