"""Benchmark of splits of many shards: the time of each step, by the number of shards.

    python -m benchmarks.scale_shards [--quick] [--parts shards,records] [--rounds 3]
        [--json FILE] [--document FILE]

Shards are as small as they can be, and `TMPDIR=/dev/shm` leaves out the disk: what is left is
processor time of programs and of the system, which should be the same for each shard of any
split.
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from schemagen.data.verify.verifying import verify
from schemagen.runtime.sources.finding import find_shards
from schemagen.runtime.sources.generation import Generation
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.integrity import check_files

from .measure import Way, by_clocks, empty, figure, microseconds
from .program import Part, Program, Setting
from .records import WRITTEN, Repeated, batches_of
from .report import number, table
from .writing import Ours

SHARDS = (1_000, 10_000, 100_000)

RECORDS = 100_000
DEALT = (1, 16, 256, 900)
_ROUNDS = 3

VERIFY = "`verify`, 2 processes"
_SPLIT = "train"


class _Split:
    """A split of shards of one record each, in a directory.

    Args:
        setting: of the benchmark.
        shards: how many.
    """

    def __init__(self, setting: Setting, shards: int) -> None:
        shape = WRITTEN["tabular"]
        generated = setting.generated
        self.directory = setting.scratch / "data"
        self._serializer = generated.module(f"{shape.record}.serializer")
        self._reader = generated.module(f"{shape.record}.reader")
        self._pipeline = generated.module(f"{shape.record}.pipeline")
        self._rows = shape.rows(64)
        self._shards = shards
        self._plan: Any = None

    @property
    def path(self) -> Path:
        """The manifest."""
        return self.directory / manifest.FILE_NAME

    def write_parts(self) -> None:
        """Write the shards of a new run."""
        self._plan = self._serializer.plan_dataset(
            self.directory,
            _SPLIT,
            shards=self._shards,
            rows=self._shards,
            overwrite=True,
        )
        source = Repeated(self._rows, self._shards)
        self._serializer.write_parts(source, self._plan, part=(0, 1))

    def publish(self) -> None:
        """Publish what `write_parts` has written."""
        self._serializer.publish(self._plan)

    def steps(self) -> dict[str, Way]:
        """Return what readers and checks do, by name."""
        text, where = self.path.read_bytes(), str(self.directory)
        loaded = manifest.loads(text, "manifest")
        shards = find_shards(where, _SPLIT)
        middle = self._shards // 2
        other = (manifest.Shard("other", 0, 0, "0" * 8, ""),)
        empty_split = manifest.SplitEntry("", other)
        more = replace(loaded, splits=loaded.splits | {"other": empty_split})
        text_of_more = manifest.dumps(more).encode()

        def open_split() -> Any:
            return self._reader.open_split(where, _SPLIT)

        def make_dataset() -> None:
            self._pipeline.make_dataset(where, _SPLIT, batch_size=64, training=False)

        def compare() -> None:
            self.path.write_bytes(text_of_more)
            Generation(shards).check()
            self.path.write_bytes(text)

        return {
            "read the manifest": lambda: manifest.loads(text, "manifest"),
            "write the manifest": lambda: manifest.dumps(loaded),
            "`open_split`": open_split,
            "`open_split`, and a record": lambda: open_split()[middle],
            "`make_dataset`": make_dataset,
            "compare the manifest, which is the same": lambda: Generation(
                shards
            ).check(),
            "compare the manifest, which has another split": compare,
            "`check_files`": lambda: _found_none(check_files(where)),
            VERIFY: lambda: _found_none(verify(where, workers=2).findings),
        }


def _found_none(problems: Any) -> None:
    assert not problems, problems


def _processor_seconds() -> float:
    """Return the processor time so far, which other programs do not change much."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def _seconds(way: Way) -> float:
    start = _processor_seconds()
    way()
    return _processor_seconds() - start


def measure(setting: Setting) -> dict[str, Any]:
    """Write, publish, read and check splits; return seconds by step and number of shards."""
    numbers = [setting.count(full) for full in SHARDS]
    _steps(setting, 2, 1)  # imports
    by_number = {str(many): _steps(setting, many, _ROUNDS) for many in numbers}
    steps = next(iter(by_number.values()))
    found = {
        step: {many: times[step] for many, times in by_number.items()} for step in steps
    }
    return {"seconds": found}


def _steps(setting: Setting, many: int, most: int) -> dict[str, list[float]]:
    """Return the seconds of each step in each round, for one number of shards."""
    setting.say(f"{many:,} shards")
    empty(setting.scratch)
    split, times = _Split(setting, many), dict[str, list[float]]()
    for over in ("", ", over a split"):
        times[f"`write_parts`{over}"] = [_seconds(split.write_parts)]
        times[f"`publish`{over}"] = [_seconds(split.publish)]
    for name, step in split.steps().items():
        rounds = 1 if name == VERIFY else min(most, setting.rounds)
        times[name] = [_seconds(step) for _ in range(rounds)]
    for name, taken in times.items():
        setting.say(f"{name}: {number(microseconds(taken, many).median)}")
    empty(setting.scratch)
    return times


def markdown(found: dict[str, Any]) -> str:
    """Return a table of the microseconds a shard."""
    steps = found["seconds"]
    numbers = list(dict.fromkeys(many for times in steps.values() for many in times))
    rows = [
        [
            name,
            *(number(microseconds(times[many], int(many)).median) for many in numbers),
            number(figure(times[numbers[-1]]).median),
        ]
        for name, times in steps.items()
    ]
    most = f"seconds for {int(numbers[-1]):,}"
    head = [
        "microseconds a shard",
        *(f"{int(many):,} shards" for many in numbers),
        most,
    ]
    return table(head, rows)


def measure_records(setting: Setting) -> dict[str, Any]:
    """Deal records out to shards in turn; return seconds by way and number of shards."""
    shape, count = WRITTEN["tabular"], setting.count(RECORDS)
    rows, ours = shape.rows(count), Ours(setting.generated, shape.record)
    directory = setting.scratch / "data"

    def write_rows(many: int) -> None:
        ours.serializer.write_dataset(
            iter(rows), directory, _SPLIT, shards=many, progress=False
        )

    ways: dict[str, Way] = {}
    for many in DEALT:
        for size in (shape.batch, 10_000):
            ways[f"batches of {size:,} {many}"] = partial(
                ours.write_batches, batches_of(rows, size), directory, shards=many
            )
        ways[f"rows {many}"] = partial(write_rows, many)
    setting.say(f"{count:,} records, in {', '.join(map(str, DEALT))} shards")
    rounds = min(_ROUNDS, setting.rounds)
    clocks = [_processor_seconds]
    (times,) = by_clocks(ways, rounds, clocks, lambda: empty(setting.scratch))
    found: dict[str, dict[str, list[float]]] = {}
    for name, taken in times.items():
        way, _, shards = name.rpartition(" ")
        found.setdefault(way, {})[shards] = taken
    return {"records": count, "seconds": found}


def records_markdown(found: dict[str, Any]) -> str:
    """Return a table of the microseconds a record."""
    rows = [
        [
            name,
            *(
                number(microseconds(taken, found["records"]).median)
                for taken in times.values()
            ),
        ]
        for name, times in found["seconds"].items()
    ]
    head = ["microseconds a record", *(f"{many:,} shards" for many in DEALT)]
    return table(head, rows)


PROGRAM = Program(
    "scale_shards",
    "Measure each step of splits of many shards.",
    {
        "shards": Part(measure, markdown),
        "records": Part(measure_records, records_markdown),
    },
    (),
    libraries=("numpy", "tensorflow"),
)

if __name__ == "__main__":
    PROGRAM.run()
