"""Benchmark of splits of many shards: the time of each step, by the number of shards.

    python -m benchmarks.scale_shards [--quick] [--parts shards] [--rounds 3]
        [--json FILE] [--document FILE]

Shards are as small as they can be, and `TMPDIR=/dev/shm` leaves out the disk: what is left is
the work of programs and of the system, which should be the same for each shard of any split.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from schemagen.data.verify.verifying import verify
from schemagen.runtime.sources.finding import find_shards
from schemagen.runtime.sources.generation import Generation
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.integrity import check_files

from .measure import Way, empty, figure, microseconds
from .program import Part, Program, Setting
from .records import WRITTEN
from .report import number, table

SHARDS = (1_000, 10_000, 100_000)
_ROUNDS = 3
_SPLIT = "train"


class _Rows:
    """A few rows, again and again.

    Args:
        rows: the rows.
        length: how many there seem to be.
    """

    def __init__(self, rows: list[dict[str, Any]], length: int) -> None:
        self._rows = rows
        self._length = length

    def __len__(self) -> int:
        """Return how many rows there seem to be."""
        return self._length

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return a row."""
        return self._rows[index % len(self._rows)]


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
        source = _Rows(self._rows, self._shards)
        self._serializer.write_parts(source, self._plan, part=(0, 1))

    def publish(self) -> None:
        """Publish what `write_parts` has written."""
        self._serializer.publish(self._plan)

    def steps(self) -> dict[str, Way]:
        """Return what readers and checks do, by name."""
        text = self.path.read_bytes()
        loaded = manifest.loads(text, "manifest")
        shards = find_shards(self.directory, _SPLIT)
        split = self._reader.open_split(self.directory, _SPLIT)
        other = text.replace(b"\n", b" \n", 1)  # another text of the same splits
        where = str(self.directory)

        def changed() -> None:
            self.path.write_bytes(manifest.dumps(loaded).encode())
            Generation(shards).check()

        del other
        return {
            "read the manifest": lambda: manifest.loads(text, "manifest"),
            "write the manifest": lambda: manifest.dumps(loaded),
            "open_split": lambda: self._reader.open_split(where, _SPLIT),
            "open_split, and a record of the middle": lambda: self._reader.open_split(
                where, _SPLIT
            )[len(split) // 2],
            "make_dataset": lambda: self._pipeline.make_dataset(
                where, _SPLIT, batch_size=64, training=False
            ),
            "compare generations": lambda: Generation(shards).check(),
            "check_files": lambda: _found_none(check_files(where)),
            "verify, 2 processes": lambda: _found_none(
                verify(where, workers=2).findings
            ),
        }


def _found_none(problems: Any) -> None:
    assert not problems, problems


def _seconds(way: Way) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start


def measure(setting: Setting) -> dict[str, Any]:
    """Write, publish, read and check splits; return seconds by step and number of shards."""
    found: dict[str, dict[str, list[float]]] = {}
    for full in SHARDS:
        many = setting.count(full)
        setting.say(f"{many:,} shards")
        empty(setting.scratch)
        split = _Split(setting, many)
        for which in ("", ", over a split"):
            for name, step in {
                "write_parts": split.write_parts,
                "publish": split.publish,
            }.items():
                times = found.setdefault(name + which, {})
                times[str(many)] = [_seconds(step)]
                setting.say(f"{name + which}: {times[str(many)][0] / many * 1e6:.1f}")
        for name, step in split.steps().items():
            rounds = min(_ROUNDS, setting.rounds)
            times = found.setdefault(name, {})
            times[str(many)] = [_seconds(step) for _ in range(rounds)]
            setting.say(f"{name}: {figure(times[str(many)]).median / many * 1e6:.1f}")
    empty(setting.scratch)
    return {"seconds": found}


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


PROGRAM = Program(
    "scale_shards",
    "Measure each step of splits of many shards.",
    {"shards": Part(measure, markdown)},
    (),
    libraries=("numpy", "tensorflow"),
)

if __name__ == "__main__":
    PROGRAM.run()
