"""Runs ways to read files, each in a process of its own, and measures what it takes.

python measured.py PACKAGE WARM reads lines of JSON, [way, path], and prints for each the most
bytes of memory that it held in addition to those at its start, and its seconds of CPU. A
process is a copy of one that has run every way on the file WARM, so nothing is loaded then.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from schemagen.cli import main
from schemagen.runtime.shared.errors import DatasetError


def _command(*words: str) -> Callable[[str], None]:
    def run(path: str) -> None:
        arguments = [path if word == "PATH" else word for word in words]
        with contextlib.suppress(SystemExit):
            main(arguments)

    return run


def _open_split(read: Callable[[Any], Any]) -> Callable[[str], None]:
    def run(path: str) -> None:
        open_split = importlib.import_module(f"{sys.argv[1]}.small.reader").open_split
        with contextlib.suppress(DatasetError):
            read(open_split(path))

    return run


WAYS: dict[str, Callable[[str], None]] = {
    "verify": _command("verify", "PATH"),
    "verify --record": _command("verify", "PATH", "--record", "small"),
    "inspect": _command("inspect", "PATH"),
    "describe": _command("describe", "PATH"),
    "diff": _command("diff", "PATH", "PATH"),
    "infer": _command("infer", "PATH", "--out", "schemas/found.py", "--force"),
    "adopt": _command("adopt", "PATH", "--out", "schemas/found.py", "--force"),
    "open_split": _open_split(lambda split: split[0]),
    "batches": _open_split(lambda split: [*split.batches(4)]),
}


def _held(name: str) -> int:
    """Return a size that the system knows of this process: "VmHWM" or "VmRSS"."""
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith(name))
    return int(line.split()[1]) << 10


def _measure(way: str, path: str, results: int) -> None:
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is held now
    before = _held("VmRSS")
    WAYS[way](path)
    used = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    peak = max(_held("VmHWM"), children) - before
    found = [peak, used.ru_utime + used.ru_stime]
    os.write(results, f"{json.dumps(found)}\n".encode())


def _serve() -> None:
    results = os.dup(1)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    for run in WAYS.values():
        run(sys.argv[2])
    for line in sys.stdin:
        if not os.fork():
            way, path = json.loads(line)
            _measure(way, path, results)
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    _serve()
