"""A program that is not schemagen changes the shards of a split while others read it.

    python foreign_soak.py <scratch> <seconds> <seed>

One process makes one change after the other: it copies another file over a shard, gives
its name to another file, edits it in place, or cuts it off and restores it; now and then
schemagen writes the whole split again. What comes in place of a shard has its size and its
last record, so a manifest does not tell them apart. Two processes read by `open_split`, and
one by `make_dataset`. The program prints its figures as one line of JSON.

What is claimed: each record that is delivered is of the file that was there when the split
was opened, or there is an error; `make_dataset` may raise it at the end of an epoch. The
times before and after each change are noted, which tells what was there. A split that was
opened while a file was edited may have a part of each.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS.parent), str(_TESTS), str(_TESTS / "net")]

from numbered_records import (  # noqa: E402
    COMMON,
    SPLIT,
    WAYS,
    Facts,
    facts_of,
    row,
    write,
)
from tfrecord_files import frame  # noqa: E402

from generated import DatasetError  # noqa: E402
from generated.digit import serializer as digit  # noqa: E402
from generated.digit.reader import open_split  # noqa: E402

SECONDS = 30
"""How long a reader may take for an item."""

# How many records, in how many files: those that stay open, and more than stay open.
_SIZES = ((2400, 4), (600, 150))
_SCENE_SECONDS = 60.0

# So far apart are changes that their times differ in most file systems.
_BETWEEN = 0.02

# After how many seconds more the next one comes.
_MORE = (0.0, 0.1, 0.3, 0.6, 1.0, 5.0)

# How long a file is half of one and half of another.
_PAUSE = 0.1

# Readers pause for up to so many seconds in all, so that changes come in between.
_PAUSES = 0.5


@dataclass(frozen=True)
class Scene:
    """A split that is changed.

    Attributes:
        directory: where it is.
        count: how many records it has.
        shards: in how many files.
        listed: whether it has a manifest.
        ends: when it is changed no more, on the clock of `time.monotonic`.
        seed: of all that is random.
    """

    directory: str
    count: int
    shards: int
    listed: bool
    ends: float
    seed: int

    @property
    def paths(self) -> list[Path]:
        """The files in their order."""
        return sorted(Path(self.directory).glob(f"{SPLIT}-*"))

    @property
    def source(self) -> tuple[str, ...]:
        """What a reader is given."""
        glob = f"{self.directory}/{SPLIT}-*"
        return (self.directory, SPLIT) if self.listed else (glob,)

    def beside(self, name: str) -> Path:
        """Return a file about the split."""
        return Path(f"{self.directory}.{name}")


@dataclass(frozen=True)
class Change:
    """A change of one file or of all.

    Attributes:
        shard: the number of the file; -1 for all.
        generation: of the records that were there afterwards.
        in_place: whether the bytes of a file were changed.
        began: when it began.
        ended: when it had ended; None if it has not.
    """

    shard: int
    generation: int
    in_place: bool
    began: float
    ended: float | None = None


def noted(scene: Scene) -> list[Change]:
    """Return the changes that have begun, in order."""
    found: dict[float, Change] = {}
    for line in scene.beside("changes").read_text().splitlines():
        change = Change(*json.loads(line))
        found[change.began] = change
    return [*found.values()]


def there(
    changes: Iterable[Change], shard: int, began: float, ended: float
) -> tuple[set[int], bool]:
    """Return which generations a file had between two times, and whether it was edited."""
    found, edited = {0}, False
    for change in changes:
        if change.shard not in (-1, shard) or change.began > ended:
            continue
        if change.ended is not None and change.ended < began:
            found, edited = {change.generation}, False
        else:
            found, edited = found | {change.generation}, edited or change.in_place
    return found, edited


class Changer:
    """Changes the files of a split, one after the other.

    Args:
        scene: the split, which is written.
    """

    def __init__(self, scene: Scene) -> None:
        self.done: Counter[str] = Counter()
        self._scene = scene
        self._chance = random.Random(scene.seed)
        self._generation = 0
        write(scene.directory, 0, scene.count, shards=scene.shards)
        if not scene.listed:
            Path(scene.directory, "manifest.json").unlink()
        scene.beside("changes").touch()
        self._numbers = [
            [number for _, number, _ in facts_of(open_split([path])[:])]
            for path in scene.paths
        ]
        last = {own[-1] for own in self._numbers}  # these stay
        shard_of = {
            number: shard
            for shard, own in enumerate(self._numbers)
            for number in own
            if number not in last
        }
        scene.beside("shards").write_text(json.dumps([*shard_of.items()]))
        self._look()

    def _look(self) -> None:
        """Note what is there, all of one generation."""
        self._now = [self._generation] * self._scene.shards
        self._size = len(self._made(0, [0]))
        self._ends = [path.read_bytes()[-self._size :] for path in self._scene.paths]

    def _made(self, generation: int, numbers: Sequence[int]) -> bytes:
        rows = [row(generation, number, self._scene.count) for number in numbers]
        columns: Any = {name: [each[name] for each in rows] for name in rows[0]}
        return b"".join(map(frame, digit.serialize_batch(**columns)))

    def run(self) -> None:
        """Change files until the scene has ended."""
        ways = {
            "copied": self._copy,
            "renamed": self._rename,
            "edited": self._edit,
            "restored": self._restore,
            "cut and edited": self._cut_and_edit,
        }
        while time.monotonic() < self._scene.ends:
            time.sleep(_BETWEEN + self._chance.choice(_MORE))
            if self._scene.listed and self._chance.random() < 0.02:
                self._write_again()
                continue
            name, shard = (
                self._chance.choice([*ways]),
                self._chance.randrange(len(self._now)),
            )
            path, generation = self._scene.paths[shard], self._now[shard]
            data = path.read_bytes()
            if name != "restored":
                generation = self._generation = self._generation + 1
                data = (
                    self._made(generation, self._numbers[shard][:-1])
                    + self._ends[shard]
                )
            assert len(data) == path.stat().st_size
            self._now[shard] = generation
            change = Change(shard, generation, name != "renamed", time.monotonic())
            self._note(change)
            ways[name](path, data)
            self._note(change, time.monotonic())
            self.done[name] += 1

    def _note(self, change: Change, ended: float | None = None) -> None:
        facts = [*asdict(change).values()][:-1]
        with self._scene.beside("changes").open("a") as file:
            file.write(f"{json.dumps([*facts, ended])}\n")

    def _other(self, data: bytes) -> Path:
        other = self._scene.beside("other")
        other.write_bytes(data)
        return other

    def _copy(self, path: Path, data: bytes) -> None:
        shutil.copyfile(self._other(data), path)

    def _rename(self, path: Path, data: bytes) -> None:
        self._other(data).replace(path)

    def _edit(self, path: Path, data: bytes) -> None:
        half = len(data) // 2
        with path.open("r+b", buffering=0) as file:
            file.write(data[:half])
            time.sleep(self._chance.random() * _PAUSE)
            file.write(data[half:])

    def _restore(self, path: Path, data: bytes) -> None:
        os.truncate(path, self._chance.randrange(len(data)))
        time.sleep(self._chance.random() * _PAUSE)
        path.write_bytes(data)

    def _cut_and_edit(self, path: Path, data: bytes) -> None:
        os.truncate(path, self._chance.randrange(len(data)))
        self._edit(path, data)

    def _write_again(self) -> None:
        scene = self._scene
        self._generation += 1
        change = Change(-1, self._generation, False, time.monotonic())
        self._note(change)
        write(scene.directory, self._generation, scene.count, shards=scene.shards)
        self._note(change, time.monotonic())
        self._look()
        self.done["written again"] += 1


@dataclass
class Opened:
    """What was delivered of a split.

    Attributes:
        began: when opening it began.
        ended: when that had ended.
        facts: of the records.
    """

    began: float
    ended: float = 0.0
    facts: Facts = field(default_factory=list)


def wrong(scene: Scene, reads: Iterable[Opened]) -> str:
    """Say which records are not of the files that were opened, or return ""."""
    changes = noted(scene)
    shard_of = dict(json.loads(scene.beside("shards").read_text()))
    for read in reads:
        found: dict[int, set[int]] = defaultdict(set)
        for generation, number, _ in read.facts:
            if number in shard_of and generation != COMMON:
                found[shard_of[number]].add(generation)
        for shard, delivered in found.items():
            right, edited = there(changes, shard, read.began, read.ended)
            if delivered - right or (len(delivered) > 1 and not edited):
                return f"shard {shard}: delivered {delivered}, opened {right}"
    return ""


def was_cut(scene: Scene, reads: Iterable[Opened]) -> bool:
    """Return whether a file without a manifest may have had fewer records when opened."""
    changes = noted(scene)
    return not scene.listed and any(
        there(changes, shard, read.began, read.ended)[1]
        for read in reads
        for shard in range(scene.shards)
    )


def _read_split(scene: Scene, chance: random.Random, reads: list[Opened]) -> str:
    """Read a split in one of the ways, and return how that ends."""

    def open_it() -> Any:
        reads.append(Opened(time.monotonic()))
        split = open_split(*scene.source)
        reads[-1].ended = time.monotonic()
        if chance.random() < 0.3:  # as loaders give it to their workers
            split = pickle.loads(pickle.dumps(split))
        time.sleep(chance.random() * _PAUSE)
        return split

    lengths = set[int]()
    for item in WAYS[chance.choice([*WAYS])].read(open_it):
        signal.alarm(SECONDS)
        if isinstance(item, int):
            lengths.add(item)
        else:
            reads[-1].facts += item
            time.sleep(chance.random() * _PAUSES * len(item) / scene.count)
    numbers = {number for read in reads for _, number, _ in read.facts}
    records = sum(len(read.facts) for read in reads)
    whole = lengths == {scene.count} and len(numbers) == records == scene.count
    return (
        "complete" if whole else f"lost: {records} of {scene.count}, lengths {lengths}"
    )


def _read_dataset(scene: Scene, chance: random.Random, reads: list[Opened]) -> str:
    """Read epochs of a dataset, which are judged as soon as they end."""
    from generated.digit.pipeline import make_dataset

    began = time.monotonic()
    dataset = make_dataset(
        *scene.source,
        batch_size=100,
        info=True,
        training=chance.random() < 0.5,
        on_corrupt=chance.choice(["raise", "skip"]),
    )
    ended = time.monotonic()
    for _ in range(chance.randint(1, 3)):
        signal.alarm(SECONDS)
        facts: Facts = []
        for features, _, info in dataset:
            columns = {**features, **info}
            facts += facts_of({name: each.numpy() for name, each in columns.items()})
            time.sleep(chance.random() * _PAUSES / 100)
        if len({*facts}) != len(facts) or len(facts) != scene.count:
            return f"lost: {len(facts)} of {scene.count}"
        reads.append(Opened(began, ended, facts))
    return "complete"


def read_on(scene: Scene, name: str, seed: int) -> None:
    """Read until a scene has ended, and write how each time ends to a file.

    Args:
        scene: the split.
        name: "split" or "dataset".
        seed: of all that is random.
    """
    refusals: tuple[type[Exception], ...] = (DatasetError,)
    function = _read_split
    if name == "dataset":
        import tensorflow as tf

        function, refusals = _read_dataset, (DatasetError, tf.errors.OpError)
    warnings.simplefilter("ignore")
    chance = random.Random(seed)
    while time.monotonic() < scene.ends:
        signal.alarm(SECONDS)
        reads: list[Opened] = []
        try:
            said = function(scene, chance, reads)
        except refusals as error:
            said = f"refused: {error}"
            if any(read.facts for read in reads):
                said = "stopped" + said.removeprefix("refused")
            if scene.directory not in said:
                said = f"raw: {error}"
        except BaseException:
            said = f"raw: {traceback.format_exc()}"
        signal.alarm(0)
        if said.startswith("lost") and was_cut(scene, reads):
            said = "complete"
        if problem := wrong(scene, [read for read in reads if read.ended]):
            said = f"wrong: {problem}"
        with scene.beside(f"{name}-{seed}").open("a") as file:
            file.write(f"{json.dumps(said)}\n")


@dataclass
class Figures:
    """What has happened.

    Attributes:
        seed: of all that is random.
        seconds: how long it was.
        changes: how many of each kind there were.
        reads: by reader, how many were "complete", "refused" before a record was
            delivered, "stopped" after that, "wrong" (with records of files that were not
            opened), "lost" (with records missing or twice), or "raw" (other errors); and
            how many readers died by a "signal" (SIGALRM is a hang).
        wrong: an example of each that must not be.
    """

    seed: int
    seconds: float
    changes: Counter[str] = field(default_factory=Counter)
    reads: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: dict[str, str] = field(default_factory=dict)

    def note(self, reader: str, said: str) -> None:
        """Count how a read has ended."""
        outcome, _, example = said.partition(":")
        self.reads[reader][outcome] += 1
        if outcome not in ("complete", "refused", "stopped"):
            self.wrong.setdefault(outcome, f"{reader}: {example}")


def play(scene: Scene, figures: Figures) -> None:
    """Change a split while others read it."""
    changer = Changer(scene)
    script, facts = str(Path(__file__)), json.dumps(asdict(scene))
    processes = {
        (name, seed): subprocess.Popen([sys.executable, script, facts, name, str(seed)])
        for seed, name in enumerate(("split", "split", "dataset"))
    }
    changer.run()
    figures.changes += changer.done
    for (name, seed), process in processes.items():
        if code := process.wait():
            figures.note(name, f"signal: {code}")
        with suppress(FileNotFoundError):
            for line in scene.beside(f"{name}-{seed}").read_text().splitlines():
                figures.note(name, json.loads(line))


def main(arguments: Sequence[str]) -> None:
    """Run what the command line says."""
    if arguments[0].startswith("{"):
        facts, name, seed = arguments
        read_on(Scene(**json.loads(facts)), name, int(seed))
        return
    scratch, seconds, seed = arguments
    chance, figures = random.Random(int(seed)), Figures(int(seed), float(seconds))
    end, number = time.monotonic() + float(seconds), 0
    while (now := time.monotonic()) < end:
        count, shards = _SIZES[number % 2]
        directory = Path(scratch, f"scene-{number}")
        directory.mkdir(parents=True)
        play(
            Scene(
                str(directory / "data"),
                count,
                shards,
                listed=number // 2 % 2 == 0,
                ends=min(end, now + _SCENE_SECONDS),
                seed=chance.randrange(2**32),
            ),
            figures,
        )
        shutil.rmtree(directory)
        number += 1
    print(json.dumps(vars(figures)))


if __name__ == "__main__":
    main(sys.argv[1:])
