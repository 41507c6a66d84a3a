"""Processes of their own, and the system's own figure for the memory they take."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent


def done_alone(module: str, arguments: list[str], path: Path) -> dict[str, Any]:
    """Run a module in a new process.

    Args:
        module: which prints an object as JSON.
        arguments: of its command line.
        path: to import generated code from.

    Returns:
        What it printed.

    Raises:
        RuntimeError: the process failed, with what it said.
    """
    paths = [str(_ROOT), str(path), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=environment() | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def environment() -> dict[str, str]:
    """Return the environment of processes that keep bytecode, as those of users do."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def peak() -> float:
    """Return the most memory that was resident since this program was started.

    Linux counts what the parent had before it started this program, too, in what
    getrusage returns; its own page about the process does not.

    Returns:
        Bytes.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return _in_bytes(resource.getrusage(resource.RUSAGE_SELF))
    return next(float(line.split()[1]) * 1024 for line in lines if "VmHWM" in line)


def peak_of_children() -> float:
    """Return the most bytes that were resident in any process that this one began."""
    return _in_bytes(resource.getrusage(resource.RUSAGE_CHILDREN))


def _in_bytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss * (1.0 if sys.platform == "darwin" else 1024.0)
