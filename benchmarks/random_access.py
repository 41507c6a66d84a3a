"""Benchmark of random access: `open_split` and its alternatives, on all cores.

`make bench-random-access` runs it in an environment that has the alternatives:

    python -m benchmarks.random_access [--quick] [--shapes mix] [--rounds 7]
        [--json FILE] [--document FILE]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from schemagen.runtime.arrays.mix import mix as mix_splits
from schemagen.runtime.shared.tfrecord import read_records

from .measure import Different, Way, available, empty, library, side_by_side
from .program import Part, Program, Setting
from .records import Row, Shape, mix, write_shards
from .report import Target, missing_lines, targets_table, times_table

OURS = "ours, batches"
OURS_BY_NUMBERS = "ours, split[numbers]"
MIXED = "ours, batches of a mixture"
BATCHED = "ours, batches through a function"
MAPPED = "ours, records through a function"
ARRAY_RECORD = "(a) ArrayRecord, nothing parsed"
GRAIN = "(b) Grain with ArrayRecord, parsed by protobuf"
MDS = "(c) MDS of mosaicml-streaming, by number"
TFRECORD = "(d) tfrecord, in sequence"

SHAPES = {
    f"batches of {size}": Shape("mix", "mix", 32_768, size, mix) for size in (128, 512)
}

TARGETS = (
    Target(ARRAY_RECORD, OURS, dict.fromkeys(SHAPES, 4)),
    Target(MDS, OURS, dict.fromkeys(SHAPES, 12)),
    Target(TFRECORD, OURS, dict.fromkeys(SHAPES, 7)),
    Target(GRAIN, OURS, {}),
    Target(ARRAY_RECORD, OURS_BY_NUMBERS, {}),
    Target(MIXED, OURS, dict.fromkeys(SHAPES, 1.15), at_most=True),
    Target(BATCHED, OURS, dict.fromkeys(SHAPES, 1.15), at_most=True),
    Target(MAPPED, OURS, {}, at_most=True),
)

Numbers = Sequence[list[int]]


def ours(split: Any, batch: int) -> int:
    """Batches in shuffled order, checked and parsed."""
    return sum(len(each["label"]) for each in split.batches(batch, shuffle_seed=1))


def same(values: Any) -> Any:
    """A function that changes nothing."""
    return values


def ours_by_numbers(split: Any, order: Numbers) -> int:
    """Batches by their numbers, as the data loaders of others ask for them."""
    return sum(len(split[numbers]["label"]) for numbers in order)


def array_records(files: Sequence[str], target: Path) -> Any:
    """Write the records as ArrayRecord, one a group, and open them."""
    module = library("array_record.python.array_record_module", "array_record")
    sources = library("array_record.python.array_record_data_source", "array_record")
    paths = []
    for file in files:
        paths.append(str(target / f"{Path(file).stem}.arrayrecord"))
        writer = module.ArrayRecordWriter(paths[-1], "group_size:1")
        for record in read_records(Path(file)):
            writer.write(record)
        writer.close()
    return sources.ArrayRecordDataSource(paths)


def array_record_way(files: Sequence[str], target: Path, order: Numbers) -> Way:
    """(a) The bytes of records, which nothing parses."""
    source = array_records(files, target)

    def way() -> int:
        return sum(len(source.__getitems__(numbers)) for numbers in order)

    return way


def grain_way(files: Sequence[str], target: Path, order: Numbers) -> Way:
    """(b) A `MapDataset` that parses each record to numpy values."""
    grain = library("grain", "grain")
    parse = _parser()
    numbers = np.concatenate(order).tolist()
    dataset = grain.MapDataset.source(array_records(files, target)).map(parse)

    def way() -> int:
        return sum(1 for number in numbers if dataset[number])

    return way


def _parser() -> Callable[[bytes], dict[str, Any]]:
    example = library("tfrecord.example_pb2", "tfrecord").Example

    def parse(record: bytes) -> dict[str, Any]:
        feature = example.FromString(record).features.feature
        pixels = np.frombuffer(feature["image"].bytes_list.value[0], np.uint8)
        return {
            "image": pixels.reshape(32, 32, 3),
            "label": feature["label"].int64_list.value[0],
            "floats": np.array(feature["floats"].float_list.value, np.float32),
            "tokens": np.array(feature["tokens"].int64_list.value, np.int64),
        }

    return parse


def mds_way(rows: Sequence[Row], target: Path, order: Numbers) -> Way:
    """(c) Records of MDS by their numbers."""
    streaming = library("streaming", "mosaicml-streaming")
    columns = {
        "image": "ndarray:uint8",
        "label": "int",
        "floats": "ndarray:float32",
        "tokens": "ndarray:int64",
    }
    with streaming.MDSWriter(out=str(target / "mds"), columns=columns) as writer:
        for row in rows:
            writer.write(row)
    source = streaming.LocalDataset(local=str(target / "mds"))

    def way() -> int:
        return sum(1 for numbers in order for number in numbers if source[number])

    return way


def tfrecord_way(files: Sequence[str]) -> Way:
    """(d) The package `tfrecord`, which has no access by number."""
    reader = library("tfrecord", "tfrecord").reader
    kinds = {"image": "byte", "label": "int", "floats": "float", "tokens": "int"}

    def way() -> int:
        return sum(
            1 for file in files for _ in reader.tfrecord_loader(file, None, kinds)
        )

    return way


def ways_of(
    setting: Setting, shape: Shape, rows: Sequence[Row], files: Sequence[str]
) -> dict[str, Callable[[], Way]]:
    """Return functions that prepare the ways to read some files."""
    directory = Path(files[0]).parent
    target = setting.scratch / "others"
    target.mkdir(exist_ok=True)
    shuffled = np.random.default_rng(1).permutation(len(rows))
    order = [
        shuffled[at : at + shape.batch].tolist()
        for at in range(0, len(rows), shape.batch)
    ]
    reader = setting.generated.module(f"{shape.record}.reader")
    split = reader.open_split(directory, "train")
    halves = [split.select(slice(None, None, 2)), split.select(slice(1, None, 2))]
    views = {
        OURS: split,
        MIXED: mix_splits(halves),
        BATCHED: split.map(same, batched=True),
        MAPPED: split.map(same),
    }
    own = {name: partial(ours, view, shape.batch) for name, view in views.items()}
    return {
        **{name: partial(lambda way: way, way) for name, way in own.items()},
        OURS_BY_NUMBERS: lambda: partial(ours_by_numbers, split, order),
        ARRAY_RECORD: partial(array_record_way, files, target, order),
        GRAIN: partial(grain_way, files, target, order),
        MDS: partial(mds_way, rows, target, order),
        TFRECORD: partial(tfrecord_way, files),
    }


def all_read(name: str, way: Any, records: int) -> None:
    """Run a way.

    Raises:
        Different: it has not read all records.
    """
    found = way()
    if found != records:
        raise Different(f"{name}: {found} records, expected {records}")


def measure(setting: Setting) -> dict[str, Any]:
    """Read the same records in random order, in batches of each size."""
    found = {}
    for name in setting.shapes:
        setting.say(f"{name}: all ways, {setting.rounds} rounds")
        empty(setting.scratch)
        shape = SHAPES[name]
        count = setting.count(shape.count)
        rows = shape.rows(count)
        files = write_shards(setting.generated, shape, rows, setting.scratch / "data")
        ways, missing = available(ways_of(setting, shape, rows, files))
        checked = {way: partial(all_read, way, run, count) for way, run in ways.items()}
        found[name] = {
            "records": count,
            "facts": {"records": f"{count:,}"},
            "missing": missing,
            "seconds": side_by_side(checked, setting.rounds),
        }
    empty(setting.scratch)
    return found


def markdown(found: dict[str, Any]) -> str:
    """Return tables of the times and of the ratios."""
    times = times_table("microseconds a record", found, "seconds")
    ratios = targets_table("how many times", found, "seconds", TARGETS)
    return f"{times}\n{ratios}\n{missing_lines(found)}"


PROGRAM = Program(
    "random_access",
    "Measure reading records in random order, next to other formats.",
    {"speed": Part(measure, markdown)},
    tuple(SHAPES),
    libraries=(
        *("numpy", "array_record", "grain"),
        *("mosaicml-streaming", "tfrecord", "protobuf"),
    ),
)

if __name__ == "__main__":
    PROGRAM.run()
