"""Benchmark of `open_split` by numbers of records and shards.

    python -m benchmarks.scale_reading [--quick] [--parts shards,size] [--rounds 7]
        [--json FILE] [--document FILE]

Large splits are simulated: their files have holes, and bytes only where they are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from schemagen.runtime.arrays.order import Epoch
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.index import ENTRY_BYTES, index_name
from schemagen.runtime.storage.manifest import Manifest, Shard, SplitEntry, checksum_of

from .jobs import run_job
from .measure import empty, side_by_side
from .program import Part, Program, Setting
from .records import Shape, numbers
from .report import Target, number, table, targets_table, times_table

FEW, MANY = 40, 4_000
"""Shards of the same records."""

ORDERS: dict[str, dict[str, Any]] = {
    "in order": {},
    "shuffled": {"shuffle_seed": 1},
    "blocks": {"shuffle_seed": 1, "block": 32},
}
"""Options of `batches`."""

GOALS = {"in order": 2, "shuffled": 2, "blocks": 1.5}

SHAPE = Shape("tabular", "tabular", 200_000, 1_024, numbers)


def shards(setting: Setting) -> dict[str, Any]:
    """Read the same records from few shards and from many, in each order."""
    count = setting.count(SHAPE.count)
    rows = SHAPE.rows(count)
    serializer = setting.generated.module("tabular.serializer")
    open_split = setting.generated.module("tabular.reader").open_split
    directories = {}
    for shards in (FEW, MANY):
        setting.say(f"writing {shards} shards")
        directories[shards] = setting.root / f"{shards} shards"
        serializer.write_dataset(rows, directories[shards], "train", shards=shards)

    def epoch(shards: int, options: dict[str, Any]) -> None:
        split = open_split(directories[shards], "train", fields=["f0"])
        batches = split.batches(SHAPE.batch, **options)
        assert sum(len(each["f0"]) for each in batches) == count

    found = {}
    for order, options in ORDERS.items():
        setting.say(order)
        ways = {_shards(each): partial(epoch, each, options) for each in directories}
        found[order] = {
            "records": count,
            "facts": {"records": f"{count:,}"},
            "seconds": side_by_side(ways, setting.rounds),
        }
    return found


def _shards(count: int) -> str:
    return f"{count:,} shards"


def _shards_tables(found: dict[str, Any]) -> str:
    target = Target(_shards(MANY), _shards(FEW), GOALS, at_most=True)
    times = times_table("microseconds a record", found, "seconds")
    return f"{times}\n{targets_table('how many times', found, 'seconds', [target])}"


@dataclass(frozen=True)
class Size:
    """The size of a simulated split.

    Attributes:
        records: how many it has.
        shards: how many files.
        read: how many of the records are read, in batches of 1,024.
    """

    records: int
    shards: int
    read: int = 1_024

    @property
    def name(self) -> str:
        """What to call it."""
        return f"{self.records:,} records, {self.shards:,} shards"


SIZES = (
    Size(1_000_000, 10),
    Size(10_000_000, 100, 1_000_000),
    Size(100_000_000, 1_000),
    Size(100_000_000, 10_000),
    Size(1_000_000_000, 20_000),
)

MEMORY_GOALS = {
    (10_000_000, "shuffled"): 30,
    (10_000_000, "blocks"): 60,
    (1_000_000_000, "shuffled"): 100,
    (1_000_000_000, "blocks"): 100,
}
"""The most megabytes above those of the program without a split."""


def size(setting: Setting) -> dict[str, Any]:
    """Open simulated splits and read some of their records, each in a new process."""
    found: dict[str, Any] = {}
    for each in SIZES:
        for order in ("shuffled", "blocks"):
            options = dict(ORDERS[order])
            if order == "blocks":
                options["block"] = 1_024
            read = each.read if order == "blocks" else SHAPE.batch
            setting.say(f"{each.name}, {order}")
            empty(setting.scratch)
            epoch = Epoch(options["shuffle_seed"], block=options.get("block"))
            # As many as are read ahead of the last batch.
            needed = epoch.order(each.records).at(np.arange(read + 32 * SHAPE.batch))
            simulate(setting, each, needed.tolist())
            arguments = (setting.generated.package, str(setting.scratch), str(read))
            job = run_job(
                setting.generated.root, "open", *arguments, json.dumps(options)
            )
            found.setdefault(each.name, {"records": each.records})[order] = job
    empty(setting.scratch)
    return found


def simulate(setting: Setting, size: Size, needed: Sequence[int]) -> None:
    """Write a split with holes, of which some records can be read.

    Args:
        setting: of the run; the split is in its `scratch`.
        size: how many records and shards.
        needed: the numbers of the records.
    """
    encode = setting.generated.module("tabular.serializer")
    sample = setting.root / "sample"
    encode.write_dataset(SHAPE.rows(1), sample, "train", shards=1, overwrite=True)
    written = manifest.load(sample)
    assert written
    frame = next(sample.glob("*.tfrecord")).read_bytes()
    in_shard = size.records // size.shards
    names = [
        f"train-{at:05d}-of-{size.shards:05d}.tfrecord" for at in range(size.shards)
    ]
    for name in names:
        with open(setting.scratch / name, "wb") as file:
            file.truncate(in_shard * len(frame))
    checksums = ["0" * 8] * size.shards
    shown = SplitEntry("", (), index=checksums[0])
    with open(setting.scratch / index_name("train", shown), "wb") as index:
        index.truncate(size.records * ENTRY_BYTES)
        owners, counts = np.unique(np.sort(needed) // in_shard, return_counts=True)
        groups = np.split(np.sort(needed) % in_shard, np.cumsum(counts)[:-1])
        # A piece has some shards before and behind.
        near = max(1, (1 << 18) // (in_shard * ENTRY_BYTES))
        for owner in np.unique(owners[:, None] + np.arange(-near, near + 1)).tolist():
            if 0 <= owner < size.shards:
                first = owner * in_shard
                ends = np.arange(first + 1, first + in_shard + 1) * len(frame)
                contents = ends.astype("<u8").tobytes()
                checksums[owner] = checksum_of(contents)
                os.pwrite(index.fileno(), contents, first * ENTRY_BYTES)
    for owner, places in zip(owners.tolist(), groups, strict=True):
        handle = os.open(setting.scratch / names[owner], os.O_WRONLY)
        for run in np.split(places, np.flatnonzero(np.diff(places) != 1) + 1):
            os.pwrite(handle, frame * len(run), int(run[0]) * len(frame))
        os.close(handle)
    listed = tuple(
        Shard(name, in_shard, in_shard * len(frame), "0" * 8, "", index=checksum)
        for name, checksum in zip(names, checksums, strict=True)
    )
    split = SplitEntry("", listed, index=shown.index)
    manifest.save(
        setting.scratch,
        Manifest(written.record, written.fingerprint, written.spec, {"train": split}),
    )


def _size_tables(found: dict[str, Any]) -> str:
    rows = []
    for name, orders in found.items():
        for order in ("shuffled", "blocks"):
            job = orders[order]
            memory = (job["process"] - job["before"]) / 1e6
            cell = f"{memory:.0f} MB"
            goal = MEMORY_GOALS.get((orders["records"], order))
            if goal:
                reached = "reached" if memory <= goal else "**missed**"
                cell += f", at most {goal}: {reached}"
            times = [number(job[key]) for key in ("opening", "first batch")]
            rows.append([name, order, f"{job['records']:,.0f}", *times, cell])
    head = ["split", "order", "read", "opening, s", "first batch, s", "memory"]
    return table(head, rows)


PROGRAM = Program(
    "scale_reading",
    "Measure reading by numbers of records and shards.",
    {"shards": Part(shards, _shards_tables), "size": Part(size, _size_tables)},
    ("tabular",),
    libraries=("numpy",),
)

if __name__ == "__main__":
    PROGRAM.run()
