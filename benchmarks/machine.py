"""What was measured on, and with what."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

LIBRARIES = (
    "numpy",
    "google-crc32c",
    "keras",
    "pillow",
    "protobuf",
    "tensorflow",
    "tensorflow-datasets",
    "tfx-bsl",
    "pyarrow",
)
"""What both writing and reading are measured with."""


def machine(libraries: Sequence[str]) -> dict[str, str]:
    """Return the processor, the system and the versions of what is measured."""
    found = {
        "processor": f"{_processor()}, {_cores()}",
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
    }
    for library in libraries:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            found[library] = "not installed"
    return found


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [
        line.split(":", 1)[1].strip()
        for line in text.splitlines()
        if "model name" in line
    ]
    return names[0] if names else platform.machine()


def _cores() -> str:
    if not hasattr(os, "sched_getaffinity"):
        return f"{os.cpu_count()} cores"
    used, there = len(os.sched_getaffinity(0)), os.cpu_count()
    return f"{there} cores" if used == there else f"{used} of {there} cores"


def keep_to_cores(count: int) -> None:
    """Let this process, and those that it begins, have some cores only; on Linux."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def _memory() -> str:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 2**30:.0f} GiB"
