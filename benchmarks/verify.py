"""Benchmark of `verify` and `inspect`: next to parsing, on all cores.

`make bench-verify` runs it, and not as a module, which the processes of `verify` would import
again, with TensorFlow:

    python -c "from benchmarks.verify import PROGRAM; PROGRAM.run()" [--quick] [--parts speed,memory] [--shapes mix,jpeg]
        [--rounds 7] [--bytes 1e8] [--json FILE] [--document FILE]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import schemagen.data.verify
import tensorflow as tf
from schemagen.data.framing import Damage, scan
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.runtime.cells.decoding import decode

from . import memory
from .measure import Different, empty, side_by_side
from .program import Part, Program, Setting
from .reading import SHAPES, ReadShape
from .records import write_shards
from .report import Target, targets_table, times_table

VERIFY = "verify"
INSPECT = "inspect"
COLUMNS = "columns alone, nothing checked, in one thread"
PARSE = "(a) parse_example of batches"
PARSE_SINGLE = "(b) parse_single_example"
MESSAGES = "(c) Example.FromString of each"
UNPARSED = "(d) TFRecordDataset.batch, nothing parsed"

TARGETS = (
    Target(PARSE, VERIFY, {"mix": 1, "jpeg": 1, "tokens": 1}),
    Target(PARSE_SINGLE, VERIFY, {}),
    Target(MESSAGES, VERIFY, {}),
    Target(VERIFY, UNPARSED, {}, at_most=True),
    Target(PARSE, INSPECT, {}),
)


def verified(directory: Path) -> int:
    """`schemagen verify` of a data directory.

    Raises:
        Different: it has findings.
    """
    found = schemagen.data.verify.verify(directory)
    if not found.clean:
        raise Different(f"verify: {found.records} records, {found.findings[:1]}")
    return found.records


def inspected(directory: Path) -> int:
    """`schemagen inspect` of a data directory."""
    return inspect_data(directory).whole.records


def columns(files: Sequence[str]) -> int:
    """Framing, checksums and decoding into columns, in one thread; no look at values."""
    count = 0
    for file in files:
        for chunk in scan(Path(file)):
            if isinstance(chunk, Damage):
                raise Different(f"scan: {chunk}")
            decode(chunk)
            count += len(chunk)
    return count


def parsed(files: Sequence[str], shape: ReadShape) -> int:
    """`parse_example` of batches, TensorFlow's fastest parser; decodes no images."""
    ragged = {
        key: tf.io.RaggedFeature(feature.dtype, row_splits_dtype=tf.int64)
        if isinstance(feature, tf.io.VarLenFeature)
        else feature
        for key, feature in shape.description.items()
    }
    parse = tf.function(lambda records: tf.io.parse_example(records, ragged))
    batches = tf.data.TFRecordDataset(files).batch(shape.batch)
    return _count(batches.map(parse, num_parallel_calls=tf.data.AUTOTUNE))


def parsed_one_by_one(files: Sequence[str], shape: ReadShape) -> int:
    """`parse_single_example` of each record, as tutorials do; decodes no images."""
    description = shape.description
    # Sequences of different lengths cannot be batched, so one dense value is kept.
    dense = next(key for key, each in description.items() if hasattr(each, "shape"))

    def parse(record: tf.Tensor) -> tf.Tensor:
        return tf.io.parse_single_example(record, description)[dense]

    records = tf.data.TFRecordDataset(files)
    parsed = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return _count(parsed.batch(shape.batch))


def unparsed(files: Sequence[str], shape: ReadShape) -> int:
    """Batches of serialized records: framing and checksums alone."""
    return _count(tf.data.TFRecordDataset(files).batch(shape.batch))


def messages(files: Sequence[str]) -> int:
    """`tf.train.Example.FromString` of each record, as a checker by hand does."""
    count = 0
    for record in tf.data.TFRecordDataset(files).as_numpy_iterator():
        tf.train.Example.FromString(record)
        count += 1
    return count


def _count(dataset: tf.data.Dataset) -> int:
    count = 0
    for batch in dataset:
        first = next(iter(batch.values())) if isinstance(batch, dict) else batch
        count += int(first.shape[0])
    return count


def ways_of(files: Sequence[str], shape: ReadShape) -> dict[str, Any]:
    """Return all ways to look at some files; each returns the number of records."""
    directory = Path(files[0]).parent
    return {
        VERIFY: partial(verified, directory),
        INSPECT: partial(inspected, directory),
        COLUMNS: partial(columns, files),
        PARSE: partial(parsed, files, shape),
        PARSE_SINGLE: partial(parsed_one_by_one, files, shape),
        MESSAGES: partial(messages, files),
        UNPARSED: partial(unparsed, files, shape),
    }


def all_seen(name: str, way: Any, records: int) -> None:
    """Run a way.

    Raises:
        Different: it has not seen all records.
    """
    found = way()
    if found != records:
        raise Different(f"{name}: {found} records, expected {records}")


def measure(setting: Setting) -> dict[str, Any]:
    """Look at the records of each shape in all ways.

    Raises:
        Different: a way has not seen all records.
    """
    found = {}
    for name in setting.shapes:
        setting.say(f"{name}: all ways, {setting.rounds} rounds")
        empty(setting.scratch)
        shape = SHAPES[name]
        count = setting.count(shape.count)
        directory = setting.scratch / "data"
        files = write_shards(setting.generated, shape, shape.rows(count), directory)
        ways = {
            way: partial(all_seen, way, run, count)
            for way, run in ways_of(files, shape).items()
        }
        found[name] = {
            "records": count,
            "facts": {"records": f"{count:,}"},
            "seconds": side_by_side(ways, setting.rounds),
        }
        empty(setting.scratch)
    return found


def markdown(found: dict[str, Any]) -> str:
    """Return tables of the times and of the ratios."""
    times = times_table("a pass: microseconds a record", found, "seconds")
    return f"{times}\n{targets_table('how many times', found, 'seconds', TARGETS)}"


PROGRAM = Program(
    "verify",
    "Measure verify and inspect, and the memory of verify, next to parsing.",
    {"speed": Part(measure, markdown), "memory": memory.VERIFY},
    tuple(SHAPES),
    bytes=1e8,
)
