"""Kills writers at chosen moments, or fails their disk, and looks at what they leave.

`test_kills.py` runs this as a program, without tensorflow, so that forking is cheap:

    python killed_runs.py <root> <package> <scratch> <case> <before> <mode> <number>

The package is one that schemagen has generated. A failed check ends the program with an
AssertionError; otherwise it prints a summary as JSON.
"""

from __future__ import annotations

import errno
import importlib
import json
import mmap
import os
import random
import shutil
import signal
import struct
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Files = dict[str, bytes]

# What writers are asked for. Sources have an index, or are an iterable.
CASES: dict[str, dict[str, Any]] = {
    "blocks": {"shards": 4},
    "in turn": {"shards": 3, "iterable": True},
    "by size": {"by_size": True, "iterable": True},
    "workers": {"shards": 4, "workers": 2},
    "workers of a stream": {"by_size": True, "workers": 2, "iterable": True},
    "shuffled": {"by_size": True, "shuffle_seed": 7},
    "shuffled by workers": {"shards": 4, "shuffle_seed": 7, "workers": 2},
    "gzip": {"by_size": True, "compression": "GZIP"},
    "writer": {"by_size": True, "writer": True},
}

PHASES = ["start", "row", "open", "write", "fsync", "rename", "remove", "mkdir"]

_EVENTS = {
    "os.rename": "rename",
    "os.remove": "remove",
    "os.rmdir": "remove",
    "os.mkdir": "mkdir",
}


class Watch:
    """Counts the steps of a process on a directory, and lets it fail at one of them.

    Args:
        directory: whose files are meant.
        failure: "kill"; "fault" for a disk that fails once; "full" for one that
            takes no more bytes from then on.

    Attributes:
        last: the number of steps and the latest phase, where the parent sees them.
    """

    def __init__(self, directory: Path, failure: str) -> None:
        self._directory = str(directory)
        self._failure = failure
        self.last = mmap.mmap(-1, 8)
        self._stop = 0
        self._steps = 0
        self._has_failed = False
        self._process = 0

    def begin(self, stop: int, files: Any) -> None:
        """Watch this process from now on; at step number `stop` it fails."""
        self._stop, self._process = stop, os.getpid()
        sys.addaudithook(self._audit)
        fsync, watch = os.fsync, self

        def watched_fsync(handle: int) -> None:
            if watch._process == os.getpid():
                watch.step("fsync")
            fsync(handle)

        class WatchedFile(FileIO):
            def write(self, data: Any, /) -> int:
                # It fails in the midst of it: half of the bytes are there.
                half = memoryview(data)[: len(data) // 2]
                watch.step("write", lambda: super(WatchedFile, self).write(half))
                return super().write(data)

        os.fsync = watched_fsync
        files.FileIO = WatchedFile

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._process != os.getpid():
            return
        phase = _EVENTS.get(event, "")
        if event == "open" and isinstance(arguments[2], int):
            phase = "open" if arguments[2] & (os.O_WRONLY | os.O_RDWR) else ""
        if phase and str(arguments[0]).startswith(self._directory):
            self.step(phase, path=str(arguments[0]))

    def step(
        self, phase: str, before: Callable[[], object] | None = None, path: str = ""
    ) -> None:
        """Count one step, or do no more than what is `before` it, and fail."""
        self._steps += 1
        self.note(phase)
        if self._failure == "full":
            fails = 0 < self._stop <= self._steps and phase in ("write", "fsync")
        else:
            fails = self._stop == self._steps
        if not fails:
            return
        self._has_failed = True
        if before is not None:
            before()
        if self._failure == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        number = errno.ENOSPC if self._failure == "full" else errno.EIO
        raise OSError(number, os.strerror(number), *[path] * bool(path))

    def note(self, phase: str) -> None:
        """Say what is going on, without counting it, up to the failure."""
        if self._process == os.getpid() and not self._has_failed:
            self.last[:] = struct.pack("<II", self._steps, PHASES.index(phase))

    @property
    def steps(self) -> int:
        """How many steps there have been in the watched process."""
        return int(struct.unpack("<II", self.last)[0])

    @property
    def phase(self) -> str:
        """What was going on last in the watched process."""
        return PHASES[struct.unpack("<II", self.last)[1]]


class WatchedRows:
    """Rows with an index, which tell the watch when one is asked for."""

    def __init__(self, rows: list[Row], watch: Watch | None) -> None:
        self._rows = rows
        self._watch = watch

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Row:
        if self._watch is not None:
            self._watch.note("row")
        return self._rows[index]


def rows_of(kind: str, count: int) -> list[Row]:
    """Return rows that are the same each time, and others for each kind."""
    return [
        {"word": f"{kind} {number} " * (number % 7 + 1), "seeds": [number] * 20}
        for number in range(count)
    ]


@dataclass
class Summary:
    """What all runs have shown that were ended before they were done."""

    ended: int = 0
    resumable: int = 0
    completed: int = 0
    states: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)


class Runs:
    """Runs of one case, killed and continued.

    Args:
        package: the name of the generated package.
        scratch: a directory of its own.
        case: one of CASES.
        before: "old" for a directory with other splits, this one among them, or
            "fresh" for no directory.
        rows: how many there are to write.
    """

    def __init__(
        self, package: str, scratch: Path, case: str, before: str, rows: int
    ) -> None:
        self._serializer = importlib.import_module(f"{package}.note.serializer")
        self._options = dict(CASES[case])
        self._by_writer = self._options.pop("writer", False)
        self._iterable = self._options.pop("iterable", False)
        self._is_old = before == "old"
        if self._options.pop("by_size", False):
            self._options["shard_bytes"] = rows * 30  # makes about five of them
        self._rows = rows_of("new", rows)
        self._scratch = scratch
        self._initial = scratch / "initial"
        self._directory = scratch / "data"
        self._error = scratch / "error"
        self.summary = Summary()
        self._others: Files = {}
        self._old: Files = {}
        if self._is_old:
            write = self._serializer.write_dataset
            write(rows_of("test", 5), self._initial, "test")
            write(rows_of("old", 40), self._initial, "train", shards=4)
            self._others = self.shards(self._initial, "test")
            self._old = self.shards(self._initial, "train")
        self._start_over()
        watch = self.run(overwrite=self._is_old)
        self.steps = watch.steps
        self._new = self.shards(self._directory, "train")
        assert len(self._new) > 1

    def _start_over(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)
        if self._is_old:
            shutil.copytree(self._initial, self._directory)

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"schemagen.runtime.storage.{name}")

    def shards(self, directory: Path, split: str) -> Files:
        """Return the bytes of a split's files, which are as the manifest says."""
        found = self._module("manifest").load(directory)
        if found is None:
            assert not self._others, "the manifest of the other split is gone"
            return {}
        assert self._module("integrity").check_files(directory) == []
        if split not in found.splits:
            return {}
        names = [shard.file for shard in found.splits[split].shards]
        return {name: (directory / name).read_bytes() for name in names}

    def _fork(
        self, stop: int, failure: str = "kill", **options: Any
    ) -> tuple[int, Watch]:
        watch = Watch(self._directory, failure)
        process = os.fork()
        if not process:
            try:
                os.setsid()
                warnings.simplefilter("ignore")
                watch.begin(stop, self._module("local"))
                self._write(watch, **options)
                os._exit(0)
            except OSError as error:
                if failure == "kill":
                    traceback.print_exc()
                self._error.write_text(
                    json.dumps([error.errno, str(error.filename), str(error.strerror)])
                )
                os._exit(1)
            except BaseException:
                traceback.print_exc()
                os._exit(2)
        return process, watch

    def _write(self, watch: Watch, **options: Any) -> None:
        options = self._options | options
        rows = WatchedRows(self._rows, watch)
        if self._by_writer:
            writer = self._serializer.Writer(self._directory, "train", **options)
            with writer:
                for number in range(len(rows)):
                    writer.write(**rows[number])
            return
        source: Any = rows
        if self._iterable:
            source = (rows[number] for number in range(len(rows)))
        self._serializer.write_dataset(source, self._directory, "train", **options)

    def run(self, **options: Any) -> Watch:
        """Write the split to its end."""
        process, watch = self._fork(0, **options)
        status = os.waitpid(process, 0)[1]
        assert status == 0, f"a run with {options} ended with {status}"
        return watch

    def seconds(self) -> float:
        """Return how long an uninterrupted run takes."""
        taken = []
        for _ in range(3):
            self._start_over()
            start = time.perf_counter()
            self.run(overwrite=self._is_old)
            taken.append(time.perf_counter() - start)
        return min(taken)

    def kill_at(self, step: int) -> None:
        """Kill a run at one of its steps, and look at it and at what follows."""
        self._start_over()
        process, watch = self._fork(step, overwrite=self._is_old)
        self._ended(process, watch)

    def kill_after(self, seconds: float) -> None:
        """Kill a run after some time, and look at it and at what follows."""
        self._start_over()
        process, watch = self._fork(0, overwrite=self._is_old)
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
        self._ended(process, watch)

    def fail_at(self, step: int, failure: str) -> None:
        """Let the disk fail at a step, and look at the error and at what follows."""
        self._start_over()
        process, watch = self._fork(step, failure, overwrite=self._is_old)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        assert status in (0, 1), f"a run ended with {status}"
        state = self._state()
        if status == 1:
            self.summary.ended += 1
            self.summary.states[state] += 1
            self.summary.phases[watch.phase] += 1
            self.summary.said[self._said(state, failure)] += 1
        self._check_final_names()
        self._follow(state)
        _wait_for_session(process)

    def _said(self, state: str, failure: str) -> str:
        """Return what an error says of the split, which is so."""
        number, path, text = json.loads(self._error.read_text())
        assert number == (errno.ENOSPC if failure == "full" else errno.EIO)
        # The directory above is made durable too, where there is a new one in it.
        assert Path(path).is_relative_to(self._scratch)
        strerror, _, said = text.partition("; ")
        assert strerror == os.strerror(number)
        states = {
            "nothing of split 'train' was published": {"none"},
            "nothing new of split 'train' was published, and the 40 records that it had "
            "before are still there": {"old"},
            "split 'train' is complete, but not all of it has its name; the next run "
            f"that writes to {self._directory} publishes it": {"old", "none"},
            "split 'train' is published, but may be lost in a power cut": {"new"},
        }
        assert state in states[said], f"{said}, and the state is {state}"
        return said.replace(str(self._directory), "DIRECTORY")

    def _check_final_names(self) -> None:
        """See that files with a shard's name are complete and of one generation."""
        found = {
            (path.name, path.read_bytes()) for path in self._directory.glob("train-*")
        }
        generations = (self._old.items(), self._new.items())
        assert any(found <= generation for generation in generations), found
        if not self._is_committed():
            assert found in generations

    def _ended(self, process: int, watch: Watch) -> None:
        status = os.waitpid(process, 0)[1]
        assert status in (0, signal.SIGKILL), f"a run ended with {status}"
        state = self._state()
        if status == signal.SIGKILL:
            self.summary.ended += 1
            self.summary.states[state] += 1
            self.summary.phases[watch.phase] += 1
        self._check_final_names()
        self._follow(state)
        _wait_for_session(process)

    def _is_committed(self) -> bool:
        """Whether an interrupted publication will be completed by the next run."""
        journal = self._module("journal").read_journal
        directory = self._module("opening").open_directory(self._directory)
        run = journal(directory, "train")
        return run is not None and run.publication is not None

    def _follow(self, state: str) -> None:
        """Write the split after all, beginning again and going on."""
        left = self._scratch / "left"
        shutil.rmtree(left, ignore_errors=True)
        if self._directory.exists():
            shutil.copytree(self._directory, left)
        if self._is_committed():
            self._write_another(left)
            state = "new"
        self._continue(overwrite=self._is_old or state == "new")
        if self._by_writer:
            return
        self._return_to(left)
        journal = self._directory / ".train.journal"
        if journal.exists():
            self.summary.resumable += b'"shard"' in journal.read_bytes()
        self._continue(overwrite=self._is_old or state == "new", resume=True)

    def _write_another(self, left: Path) -> None:
        """See that a run of another split completes what is committed of this one."""
        write = self._serializer.write_dataset
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write(rows_of("test", 5), self._directory, "val")
        assert self._state() == "new"
        # Locks of killed processes are free; their files go with the next lock.
        (self._directory / ".train.lock").unlink(missing_ok=True)
        self._check_files({*self.shards(self._directory, "val")})
        self._return_to(left)
        self.summary.completed += 1

    def _return_to(self, left: Path) -> None:
        shutil.rmtree(self._directory)
        if left.exists():
            shutil.copytree(left, self._directory)

    def _continue(self, **options: Any) -> None:
        # An interrupted run's own leftovers are nothing that anybody has to allow.
        self.run(**options)
        assert self._state() == "new"
        self._check_files(set())

    def _check_files(self, more: set[str]) -> None:
        names = {"manifest.json", *self._others, *self._new, *more}
        found = set(os.listdir(self._directory))
        assert found == names, sorted(found ^ names)

    def _state(self) -> str:
        """Tell which of the possible datasets there is; there is no other."""
        found = self.shards(self._directory, "train")
        if self._others:
            assert self.shards(self._directory, "test") == self._others
        states = {"old": self._old, "new": self._new, "none": {}}
        (state, *_) = [name for name, files in states.items() if files == found] or [""]
        assert state, f"a mixture: {sorted(found)}"
        return "none" if not found else state


def _wait_for_session(session: int) -> None:
    """See that workers end when their parent is gone."""
    deadline = time.monotonic() + 120
    while living := list(_members(session)):
        assert time.monotonic() < deadline, f"workers {living} go on without a parent"
        time.sleep(0.005)


def _members(session: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = path.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_session) == session and state != "Z":
            yield int(path.parent.name)


def main(arguments: list[str]) -> None:
    """Run what the command line says."""
    root, package, scratch, case, before, mode, number = arguments
    sys.path.insert(0, root)
    rows = 2_000 if mode == "moments" else 60
    runs = Runs(package, Path(scratch), case, before, rows)
    # Threads make files durable, so that the number of steps is not always the same.
    every = range(1, runs.steps + 1, int(number))
    if mode == "steps":
        for step in every:
            runs.kill_at(step)
    elif mode in ("fault", "full"):
        for step in every:
            runs.fail_at(step, mode)
    else:
        moments = random.Random(f"{case} {before}")
        seconds = runs.seconds()
        while runs.summary.ended < int(number):
            runs.kill_after(moments.uniform(0, seconds))
    print(json.dumps(vars(runs.summary) | {"steps": runs.steps}))


if __name__ == "__main__":
    main(sys.argv[1:])
