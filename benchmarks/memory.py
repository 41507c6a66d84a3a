"""The memory that it takes to write, read and verify much data."""

from __future__ import annotations

from typing import Any

from .jobs import READING, WRITING, run_job
from .measure import empty
from .program import Part, Setting
from .records import WRITTEN, write_shards
from .report import number, table

WRITE_LIMIT = 300e6
"""The most bytes resident in the writing process and its workers together."""

GROWTH_LIMIT = 0.1
"""The most growth of memory, as a share of the growth of the data."""

_MORE = 4
_RECORD_BYTES = 3_257


def write(setting: Setting) -> dict[str, Any]:
    """Write a tenth of the bytes, then all, in each mode; return jobs by mode and size."""
    found: dict[str, Any] = {}
    generated = setting.generated
    directory = str(setting.scratch / "data")
    for mode in WRITING:
        found[mode] = {}
        for size in (str(setting.bytes // 10), str(setting.bytes)):
            setting.say(f"{mode}: {size} bytes")
            empty(setting.scratch)
            arguments = (generated.package, mode, size, directory)
            found[mode][size] = run_job(generated.root, "write", *arguments)
    empty(setting.scratch)
    return found


def resident(mode: str, job: dict[str, float]) -> float:
    """Return an upper bound of the bytes resident in all processes together."""
    workers = WRITING[mode].get("workers", 0)
    return job["process"] + float(workers) * job["largest worker"]


def _write_tables(found: dict[str, Any]) -> str:
    rows = []
    for mode, jobs in found.items():
        small, large = (resident(mode, job) / 1e6 for job in jobs.values())
        reached = "reached" if large * 1e6 < WRITE_LIMIT else "**missed**"
        size, job = list(jobs.items())[-1]
        cells = [
            f"{small:.0f} MB",
            f"{large:.0f} MB: {reached}",
            number(job["seconds"]),
        ]
        rows.append([mode, *cells, f"{float(size) / job['seconds'] / 1e6:.0f} MB/s"])
    small_size, large_size = (f"{int(size) / 1e9:g} GB" for size in jobs)
    limit = f"resident, {large_size}: under {WRITE_LIMIT / 1e6:.0f} MB"
    head = ["written in mode", f"resident, {small_size}", limit, "seconds", "speed"]
    return table(head, rows)


def read(setting: Setting) -> dict[str, Any]:
    """Read an epoch of the shape mix, then four times as much; jobs by mode and size."""
    package = setting.generated.package
    return _jobs(setting, {mode: ("read", package, mode) for mode in READING})


def verify(setting: Setting) -> dict[str, Any]:
    """Verify data of the shape mix, then four times as much; return jobs by size."""
    return dict(_jobs(setting, {"verify": ("verify",)})["verify"])


def _jobs(setting: Setting, modes: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    shape = WRITTEN["mix"]
    rows = shape.rows(max(1, setting.bytes // _RECORD_BYTES))
    found: dict[str, Any] = {mode: {} for mode in modes}
    directory = setting.scratch / "data"
    for times in (1, _MORE):
        size = str(times * setting.bytes)
        setting.say(f"{size} bytes")
        empty(setting.scratch)
        write_shards(setting.generated, shape, rows * times, directory)
        for mode, job in modes.items():
            found[mode][size] = run_job(setting.generated.root, *job, str(directory))
    empty(setting.scratch)
    return found


def growth(jobs: dict[str, dict[str, float]]) -> float:
    """Return the growth of memory as a share of the growth of the data."""
    (small, less), (large, more) = jobs.items()
    return (more["process"] - less["process"]) / (float(large) - float(small))


def _growth_cell(jobs: dict[str, dict[str, float]]) -> str:
    grown = growth(jobs)
    reached = "reached" if grown <= GROWTH_LIMIT else "**missed**"
    return f"{grown:.1%}, at most {GROWTH_LIMIT:.0%}: {reached}"


def _read_tables(found: dict[str, Any]) -> str:
    rows = []
    for mode, jobs in found.items():
        less, more = jobs.values()
        resident = (less["before"], less["process"], more["process"])
        cells = [f"{size / 1e6:.0f} MB" for size in resident]
        rows.append([mode, *cells, _growth_cell(jobs), number(more["seconds"])])
    sizes = [f"after an epoch of {int(size) / 1e9:g} GB" for size in jobs]
    before = "resident with tensorflow imported"
    head = ["read", before, *sizes, "growth, as a share of the data's", "seconds"]
    return table(head, rows)


def _verify_tables(found: dict[str, Any]) -> str:
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
    growth_line = f"Growth as a share of the data's: {_growth_cell(found)}.\n"
    return f"{table(head, rows)}\n{growth_line}"


WRITE = Part(write, _write_tables)
READ = Part(read, _read_tables)
VERIFY = Part(verify, _verify_tables)
