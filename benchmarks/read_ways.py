"""The shapes that the benchmark of reading reads, and the ways to read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from . import reading
from .program import Setting
from .reading import Reading, ReadShape
from .records import Row, write_shards

OURS = "ours"
OURS_IN_ORDER = "ours, not shuffled"
SPLIT = "open_split, shuffled"
A = "(a) the tutorials' pipeline"
A_FLOATS = "(a) with pixels left as float32"
B = "(b) make_batched_features_dataset"
C = "(c) TFRecordDataset.batch, nothing parsed"
C_SHUFFLED = "(c) with shuffle"
D = "(d) TFDS"
E = "(e) keras.utils.PyDataset in memory"
PLAIN = "(f) plain, with our parse_batch"
PLAIN_IN_ORDER = "(f) plain, not shuffled"
DECODING = "decoding alone, from memory"

_MIX = reading.SHAPES["mix"]

SHAPES = {
    "mix": _MIX,
    "mix-16k": replace(_MIX, name="mix-16k", count=16_000),
    "mix-1k": replace(_MIX, name="mix-1k", count=1_000),
    **reading.SHAPES,
}
"""The shapes that are read, by name."""


def makers(
    setting: Setting, shape: ReadShape, rows: list[Row]
) -> dict[str, Callable[[], Reading]]:
    """Write rows, and return functions that prepare the ways to read them."""
    directory = setting.scratch / "data"
    files = write_shards(setting.generated, shape, rows, directory)
    ours = partial(reading.generated, setting.generated, shape, directory)
    plain = partial(reading.plain, setting.generated, files, shape)
    ways: dict[str, Callable[[], Reading]] = {
        OURS: partial(ours, training=True),
        OURS_IN_ORDER: partial(ours, training=False),
        SPLIT: partial(reading.opened, setting.generated, shape, directory),
        A: partial(reading.tutorials, files, shape),
        PLAIN: partial(plain, training=True),
        PLAIN_IN_ORDER: partial(plain, training=False),
    }
    if shape.name == "jpeg":
        return ways | {
            A_FLOATS: partial(reading.tutorials_with_floats, files, shape),
            DECODING: partial(reading.decoding, rows),
        }
    return ways | {
        B: partial(reading.batched_features, files, shape),
        C: partial(reading.records, files, shape),
        C_SHUFFLED: partial(reading.records, files, shape, shuffle=True),
        D: partial(reading.tfds, files, rows, shape),
        E: partial(reading.in_memory, rows, shape),
    }
