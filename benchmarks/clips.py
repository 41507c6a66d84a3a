"""How long clips take of which a few frames are selected, next to whole ones.

    python -m benchmarks.clips [--rounds 7] [--clips 24]

Clips have 64 JPEGs of 224x224. Each is read in batches of four, by both readers.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import schemagen
from PIL import Image

from .measure import Way, exhausting, side_by_side

FRAMES, SIZE, BATCH = 64, 224, 4

SCHEMA = """
from typing import Annotated
from schemagen import *

class Clip(Record):
    frames: Annotated[list[bytes], Images((224, 224, 3), max_count=64)]
    answer: Annotated[int, Label(num_classes=2)]
"""

SELECTIONS: dict[str, Any] = {
    "all": None,
    "first 8": {"first": 8},
    "every 8th": {"every": 8},
    "random 8": {"random": 8},
    "a function": lambda length: range(0, length, 8),
}


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Yield clips of soft random pictures, of some 10,000 bytes a frame."""
    generator = np.random.default_rng(0)
    for number in range(count):
        small = generator.integers(0, 256, (FRAMES, 28, 28, 3), np.uint8)
        frames = []
        for pixels in small:
            out = BytesIO()
            large = Image.fromarray(pixels).resize((SIZE, SIZE))
            large.save(out, "JPEG", quality=90)
            frames.append(out.getvalue())
        yield {"frames": frames, "answer": number % 2}


def main(arguments: list[str] | None = None) -> None:
    """Print the milliseconds of a clip, and the ratio to a whole one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--clips", type=int, default=24)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "schemas").mkdir()
        (root / "schemas" / "clip.py").write_text(SCHEMA, encoding="utf-8")
        settings = '[tool.schemagen]\noutput = "bench_clips"\n'
        (root / "pyproject.toml").write_text(settings, encoding="utf-8")
        schemagen.generate(root)
        sys.path.insert(0, str(root))
        part = "bench_clips.clip"
        write = importlib.import_module(f"{part}.serializer").write_dataset
        write(rows(options.clips), root / "data", "train")
        open_split = importlib.import_module(f"{part}.reader").open_split
        make_dataset = importlib.import_module(f"{part}.pipeline").make_dataset
        by_reader: dict[str, dict[str, Way]] = {"open_split": {}, "make_dataset": {}}
        for name, selection in SELECTIONS.items():
            select = None if selection is None else {"frames": selection}
            split = open_split(root / "data", "train", select=select)
            found = make_dataset(
                root / "data", "train", batch_size=BATCH, select=select
            )
            own = exhausting(lambda split=split: split.batches(BATCH))  # type: ignore[misc]
            by_reader["open_split"][name] = own
            by_reader["make_dataset"][name] = exhausting(lambda found=found: found)  # type: ignore[misc]
        for reader, ways in by_reader.items():
            times = side_by_side(ways, options.rounds)
            for name, seconds in times.items():
                each = 1000 * statistics.median(seconds) / options.clips
                pairs = zip(times["all"], seconds, strict=True)
                faster = statistics.median(whole / some for whole, some in pairs)
                print(f"{reader:13} {name:10} {each:7.2f} ms  {faster:5.1f} x")


if __name__ == "__main__":
    main()
