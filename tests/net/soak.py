"""Three processes write and read one split at random, and are killed at random.

    python soak.py <scratch> <seconds> <seed>

Each does one thing after the other: it writes the split in one of the ways that there are,
or reads it in one of them. Now and then it is killed with SIGKILL, and another takes its
place. The program prints its figures as one line of JSON.

What is claimed: a read is whole, of one generation, or it ends with a DatasetError, and it
never takes ten seconds for an item; a write ends, or is refused with a DatasetError.
"""

from __future__ import annotations

import gc
import json
import multiprocessing.pool  # noqa: F401, so that forked processes need not import it
import os
import random
import select
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS.parent), str(_TESTS / "net")]

from numbered_records import (  # noqa: E402
    SPLIT,
    WAYS,
    Facts,
    generations_of,
    records,
    row,
    write,
)

from generated import DatasetError  # noqa: E402
from generated.digit import serializer as digit  # noqa: E402
from generated.digit.reader import open_split  # noqa: E402

PROCESSES = 3
SECONDS = 10.0
"""How long a reader may take for an item."""

# How many things in a hundred are killed, and within how many seconds.
_KILLED, _WITHIN = 20, 0.2

# A writer may wait for others, and for a process that was stopped by the machine.
_WRITER_SECONDS = 60.0

# The same numbers again and again, so that files of generations have equal sizes.
_COUNTS = (48, 96, 96, 96, 2400)

# Readers pause for up to so many seconds in all, so that writers come in between.
_PAUSES = 0.6


@dataclass
class Figures:
    """What has happened.

    Attributes:
        seed: of all that is random.
        seconds: how long it was.
        reads: how many reads were "complete", "refused", "mixed" (of two generations, or
            with records missing, twice or invented), "raw" errors, "hangs", or "killed".
        writes: the same of writes, which are "complete", "refused", "raw", "hangs" or
            "killed".
        wrong: an example of each that must not be.
    """

    seed: int
    seconds: float
    reads: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, str] = field(default_factory=dict)


ENDS = ("complete", "refused", "mixed", "raw", "hangs", "killed")


def _rows(generation: int, count: int) -> list[dict[str, Any]]:
    return [row(generation, number, count) for number in range(count)]


def _dataset(directory: Path, generation: int, count: int, **options: Any) -> None:
    source = _rows(generation, count)
    again = {"overwrite": True, "take_over": True}
    digit.write_dataset(source, directory, SPLIT, **again, **options)


def _ranks(directory: Path, generation: int, count: int, **options: Any) -> None:
    plan = digit.plan_dataset(
        directory,
        SPLIT,
        rows=count,
        run=f"job-{generation}",
        overwrite=True,
        take_over=True,
        **options,
    )
    source = _rows(generation, count)
    for rank in range(2):
        digit.write_parts(source, plan, part=(rank, 2))
    digit.publish(plan)


Write = Callable[..., None]

WRITES: dict[str, tuple[Write, dict[str, Any]]] = {
    "plain": (_dataset, {"shards": 4}),
    "no index": (_dataset, {"shards": 4, "index": False}),
    "gzip": (_dataset, {"shards": 4, "compression": "GZIP"}),
    "shuffled": (_dataset, {"shards": 4, "shuffle_seed": 7}),
    "by size": (_dataset, {"shard_bytes": 5000}),
    "writer": (write, {"shards": 4}),
    "writer by size": (write, {"shard_bytes": 5000}),
    "ranks": (_ranks, {"shards": 4}),
}


def read_once(
    directory: Path,
    way: str,
    by_name: bool,
    chance: random.Random,
    tell: Callable[[], object],
) -> str:
    """Read the split, and return how that has ended: a word of `ENDS`, and an example.

    Args:
        directory: of the split.
        way: how to read it, of `WAYS`.
        by_name: name the files in place of the directory.
        chance: draws pauses.
        tell: called with each item.

    Raises:
        Exception: raised by the reader, a DatasetError or any other.
    """

    def open_it() -> Any:
        if by_name:
            return open_split(f"{directory}/{SPLIT}-*")
        return open_split(directory, SPLIT)

    lengths, found = set[int](), []
    try:
        for item in WAYS[way].read(open_it):
            tell()
            if isinstance(item, int):
                lengths.add(item)
            else:
                found += item
                time.sleep(chance.random() * _PAUSES * len(item) / max(lengths))
    except AssertionError as error:
        return f"mixed: {error}"
    except DatasetError:
        if len(generations_of(found)) < 2:
            raise
    return _judged(lengths, found)


def _judged(lengths: set[int], found: Facts) -> str:
    """Return "complete", or what is wrong with what was read."""
    generations = generations_of(found)
    if len(generations) == 1:
        ((_, count),) = generations
        if len({*found}) == len(found) == count and lengths == {count}:
            return "complete"
    return (
        f"mixed: lengths {lengths}, records by generation and its length {generations}"
    )


@dataclass
class Running:
    """A process that reads or writes.

    Attributes:
        what: "read" or "write", and in which way.
        process: its number.
        pipe: a dot for each item comes through it, and what it says in the end.
        seconds: without a dot, after which it is taken for a hang.
        ends: when that is.
        killed: when it is killed, if it has not ended.
    """

    what: str
    process: int
    pipe: int
    seconds: float
    ends: float
    killed: float


def _begin(
    what: str, seconds: float, killed: float, work: Callable[[], str]
) -> Running:
    """Fork a process that does some work, and says how it has ended."""
    received, sent = os.pipe()
    process = os.fork()
    if not process:
        os.setsid()  # its process group is killed with it
        warnings.simplefilter("ignore")
        try:
            said = work(lambda: os.write(sent, b"."))
        except DatasetError as error:
            said = f"refused: {error}"
        except BaseException:
            said = f"raw: {traceback.format_exc()}"
        os.write(sent, said.encode()[: select.PIPE_BUF])
        os._exit(0)
    os.close(sent)
    now = time.monotonic()
    return Running(what, process, received, seconds, now + seconds, now + killed)


def _kill(running: Running) -> None:
    with suppress(ProcessLookupError):
        os.killpg(running.process, signal.SIGKILL)
    with suppress(ProcessLookupError):  # it has no group of its own yet
        os.kill(running.process, signal.SIGKILL)


def _works(directory: Path, chance: random.Random) -> Iterator[Running]:
    """Begin one thing after the other."""
    for generation in range(1, sys.maxsize):
        draws = random.Random(chance.random())
        killed = float("inf")
        if chance.randrange(100) < _KILLED:
            killed = chance.random() * _WITHIN
        if chance.random() < 0.5:
            name = chance.choice([*WRITES])
            function, options = WRITES[name]
            count = chance.choice(_COUNTS)

            def work(
                tell: Callable[[], object],
                function: Write = function,
                options: dict[str, Any] = options,
                generation: int = generation,
                count: int = count,
            ) -> str:
                function(directory, generation, count, **options)
                return "complete"

            yield _begin(f"write {name}", _WRITER_SECONDS, killed, work)
        else:
            way, by_name = chance.choice([*WAYS]), chance.random() < 0.25

            def work(
                tell: Callable[[], object],
                way: str = way,
                by_name: bool = by_name,
                draws: random.Random = draws,
            ) -> str:
                return read_once(directory, way, by_name, draws, tell)

            yield _begin(f"read {way}", SECONDS, killed, work)


def soak(directory: Path, seconds: float, seed: int) -> Figures:
    """Write and read for some seconds, and return what has happened."""
    chance = random.Random(seed)
    figures = Figures(seed, seconds)
    end = time.monotonic() + seconds
    write(directory, 0, _COUNTS[0], shards=4)
    works = _works(directory, chance)
    running: list[Running] = []
    while running or time.monotonic() < end:
        while len(running) < PROCESSES and time.monotonic() < end:
            running.append(next(works))
        wake = min(min(each.ends, each.killed) for each in running)
        pause = max(0.0, wake - time.monotonic())
        ready, _, _ = select.select([each.pipe for each in running], [], [], pause)
        now = time.monotonic()
        for each in [*running]:
            if each.pipe in ready:
                piece = os.read(each.pipe, 1 << 16)
                said = piece.decode(errors="replace").lstrip(".")
                if piece and not said:
                    each.ends = now + each.seconds
                    continue
                said = said or "raw: it died"
            elif now >= each.killed:
                said = "killed"
            elif now >= each.ends:
                said = f"hangs: {each.what}"
            else:
                continue
            _kill(each)
            os.waitpid(each.process, 0)
            os.close(each.pipe)
            running.remove(each)
            _note(figures, each.what, said)
    return figures


def _note(figures: Figures, what: str, said: str) -> None:
    outcome, _, example = said.partition(":")
    assert outcome in ENDS, said
    counted = figures.reads if what.startswith("read") else figures.writes
    counted[outcome] += 1
    if outcome not in ("complete", "refused", "killed"):
        figures.wrong.setdefault(outcome, f"{what}: {example}")


def main(arguments: Iterable[str]) -> None:
    """Run what the command line says."""
    scratch, seconds, seed = arguments
    gc.freeze()  # forked processes share what they leave alone
    records(0, _COUNTS[0])
    figures = soak(Path(scratch, "data"), float(seconds), int(seed))
    print(json.dumps(vars(figures)))


if __name__ == "__main__":
    main(sys.argv[1:])
