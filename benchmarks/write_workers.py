"""The gain from a second worker, for rows whose images have to be encoded."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .measure import Way, empty, figure, ratio, side_by_side
from .program import Part, Setting
from .records import photograph
from .report import number, spread, table

TARGET = 1.6

# The most that the machine can gain: the programs share nothing.
CEILING = "two programs with half of the rows each"

_PHOTOGRAPHS = 1024
_PICTURES = 16
_SHARDS = 4


class Photographs:
    """A sequence of rows with images, uint8 [480, 640, 3], out of a memory-mapped file."""

    def __init__(self, path: Path, count: int) -> None:
        self._path = path
        self._count = count

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return a row."""
        pictures = _pictures(self._path)
        return {"image": pictures[index % len(pictures)], "label": index % 1000}

    def part(self, number: int, of: int) -> Iterator[dict[str, Any]]:
        """Yield one of several parts of equal size."""
        start, stop = (self._count * at // of for at in (number, number + 1))
        return (self[at] for at in range(start, stop))


@lru_cache(maxsize=1)
def _pictures(path: Path) -> NDArray[np.uint8]:
    """Open a file of pictures, once in each process."""
    pictures: NDArray[np.uint8] = np.load(path, mmap_mode="r")
    return pictures


def measure(setting: Setting) -> dict[str, Any]:
    """Return seconds in each round, by the form of the source and the workers."""
    count = setting.count(_PHOTOGRAPHS)
    random = np.random.default_rng(0)
    path = setting.generated.root / "pictures.npy"
    np.save(path, np.stack([photograph(random) for _ in range(_PICTURES)]))
    rows = Photographs(path, count)
    serializer = setting.generated.module("photograph.serializer")

    def parts() -> list[Callable[[], Iterator[dict[str, Any]]]]:
        return [partial(rows.part, number, _SHARDS) for number in range(_SHARDS)]

    sources: dict[str, Callable[[], Any]] = {
        "rows with an index": lambda: rows,
        "a source for each shard": parts,
    }

    def way(source: Callable[[], Any], workers: int) -> Way:
        directory = setting.scratch / "data"
        # The number of sources is the number of shards.
        shards = None if source is parts else _SHARDS
        return lambda: serializer.write_dataset(
            source(), directory, "train", shards=shards, workers=workers
        )

    found = {}
    for name, source in sources.items():
        setting.say(f"{count} photographs, {name}: one worker and two")
        ways = {str(workers): way(source, workers) for workers in (1, 2)}
        times = side_by_side(ways, setting.rounds, lambda: empty(setting.scratch))
        found[name] = times

    def half(number: int) -> None:
        directory = setting.scratch / f"data-{number}"
        half = Photographs(path, count // 2)
        serializer.write_dataset(half, directory, "train", shards=_SHARDS // 2)

    def two_programs() -> None:
        programs = [multiprocessing.Process(target=half, args=(n,)) for n in (0, 1)]
        for program in programs:
            program.start()
        for program in programs:
            program.join()

    setting.say(f"{count} photographs, two programs")
    ways = {"1": way(lambda: rows, 1), "2": two_programs}
    found[CEILING] = side_by_side(ways, setting.rounds, lambda: empty(setting.scratch))
    return {"photographs": count, "seconds": found}


def markdown(found: dict[str, Any]) -> str:
    """Return a table by the form of the source."""
    count = found["photographs"]
    rows = []
    for name, times in found["seconds"].items():
        gain = ratio(times["1"], times["2"])
        cells = [number(count / figure(times[workers]).median) for workers in "12"]
        verdict = ": reached" if gain.median >= TARGET else ": **missed**"
        rows.append([name, *cells, spread(gain) + verdict * (name != CEILING)])
    head = ["source", "photographs/s, one worker", "two workers"]
    return table([*head, f"how many times faster: at least {TARGET}"], rows)


WORKERS = Part(measure, markdown)
