"""Splits that change while they are read, and what readers may deliver of them.

`test_reader_faults.py` runs this as a program, without tensorflow, so that forking is cheap:

    python reader_cases.py <scratch> <form> <ways> <changes> <steps>

Ways and changes are joined by commas, or "all"; 0 steps are all of them. The program
prints one line of JSON for each way and change: how often each outcome was found, and an
example of each that is not allowed.

What is claimed: a reader delivers the records of one generation, each once and all of
them; or it raises a DatasetError that names a file or directory of the split. Where a
publication is settled meanwhile, it delivers them all. Nothing else happens, and it takes
no more than ten seconds.
"""

from __future__ import annotations

import gc
import json
import multiprocessing.pool  # noqa: F401, so that forked processes need not import it
import os
import shutil
import sys
import zlib
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS.parent), str(_TESTS / "net")]

# Before schemagen.
from reader_faults import (  # noqa: E402  isort: skip
    SECONDS,
    Read,
    fault_injector,
    read_while,
)

import fsspec  # noqa: E402
from careless_readers import CARELESS  # noqa: E402
from numbered_records import SHARDS, SPLIT, WAYS, Facts, generations_of, write  # noqa: E402

from generated import DatasetError  # noqa: E402
from generated.digit.reader import open_split  # noqa: E402

URL = "memory://bucket/data"


@dataclass(frozen=True)
class Form:
    """How a split is stored, and where.

    Attributes:
        options: of its writer.
        has_manifest: whether its files have one next to them.
        is_remote: whether it is in fsspec's file system in memory.
    """

    options: dict[str, Any] = field(default_factory=dict)
    has_manifest: bool = True
    is_remote: bool = False


FORMS = {
    "plain": Form(),
    "no index": Form({"index": False}),
    "gzip": Form({"compression": "GZIP"}),
    "files": Form(has_manifest=False),
    "gzip files": Form({"compression": "GZIP"}, has_manifest=False),
    "remote": Form(is_remote=True),
    "remote no index": Form({"index": False}, is_remote=True),
    "remote gzip": Form({"compression": "GZIP"}, is_remote=True),
    "careless": Form(),
}


class Place(ABC):
    """A split somewhere, which changes.

    Args:
        form: how it is stored.
        count: how many records its first generation has.
    """

    where: str

    def __init__(self, form: Form, count: int) -> None:
        self.form = form
        self.count = count

    def open(self) -> Any:
        """Open the split."""
        if self.form.has_manifest:
            return open_split(self.where, SPLIT)
        return open_split(f"{self.where}/{SPLIT}-*")

    @abstractmethod
    def reset(self, *, unsettled: bool) -> None:
        """Bring back the first generation, or one that is published but not settled."""

    def overwrite(self, count: int) -> None:
        """Write the second generation over it."""
        write(self.where, 1, count, shards=SHARDS, **self.form.options)

    def settle(self) -> None:
        """Write another split, which settles what others have published."""
        write(self.where, 2, 3, split="val")

    @abstractmethod
    def resize(self, share: Callable[[int], int]) -> None:
        """Cut each shard to a share of its size."""

    @abstractmethod
    def delete(self) -> None:
        """Delete the shards."""


class Local(Place):
    """A split in a directory of this machine."""

    def __init__(self, scratch: Path, form: Form, count: int) -> None:
        super().__init__(form, count)
        self.directory = scratch / "data"
        self.where = str(self.directory)
        self._tree = cache(partial(_made, scratch, form, count))
        # Those that are copied, or that replace files without a manifest.
        self._others = scratch / "others"
        if self._others.exists():
            shutil.rmtree(self._others)
        for number in counts_of(count):
            options = {"shards": SHARDS, **form.options}
            write(self._others / str(number), 1, number, **options)

    def reset(self, *, unsettled: bool) -> None:
        fault_injector.restore(self.directory, self._tree(unsettled))
        # Nobody writes a file twice within one tick of the clock of the file system.
        for path in self.directory.iterdir():
            os.utime(path, (1e9, 1e9))

    def _shards(self, directory: Path) -> list[Path]:
        return sorted(directory.glob(f"{SPLIT}-*"))

    def overwrite(self, count: int) -> None:
        if self.form.has_manifest:
            super().overwrite(count)
            return
        for path in self._shards(self._others / str(count)):
            shutil.copyfile(path, self.directory / ".new")
            os.replace(self.directory / ".new", self.directory / path.name)

    def copy(self, *, manifest: bool) -> None:
        """Copy the files of the second generation over those of the first, in place."""
        source = self._others / str(self.count)
        names = ["manifest.json"] * (manifest and self.form.has_manifest)
        for name in [*names, *(path.name for path in self._shards(source))]:
            shutil.copyfile(source / name, self.directory / name)

    def rename(self) -> None:
        """Give the names of the shards to those of the second generation."""
        for path in self._shards(self._others / str(self.count)):
            shutil.copyfile(path, self.directory / ".new")
            os.replace(self.directory / ".new", self.directory / path.name)

    def resize(self, share: Callable[[int], int]) -> None:
        for path in self._shards(self.directory):
            os.truncate(path, share(path.stat().st_size))

    def delete(self) -> None:
        for path in self._shards(self.directory):
            path.unlink()


class Careless(Local):
    """The same for careless readers, which are given the paths of the shards."""

    def open(self) -> Any:
        return self._shards(self.directory)


class Remote(Place):
    """A split in fsspec's file system in memory; the process of a reader has its own."""

    where = URL

    def __init__(self, scratch: Path, form: Form, count: int) -> None:
        super().__init__(form, count)
        self._system = fsspec.filesystem("memory")
        self._tree = cache(partial(_made, scratch, form, count))

    def reset(self, *, unsettled: bool) -> None:
        self._system.store.clear()
        for name, data in self._tree(unsettled).items():
            # Locks of stores have contents: a file without any is waited for.
            if data is not None and not name.endswith(".lock"):
                self._system.pipe_file(f"{URL}/{name}", data)

    def _shards(self) -> list[str]:
        return sorted(self._system.glob(f"{URL}/{SPLIT}-*"))

    def resize(self, share: Callable[[int], int]) -> None:
        for path in self._shards():
            data = self._system.cat_file(path)
            self._system.pipe_file(path, data[: share(len(data))])

    def delete(self) -> None:
        for path in self._shards():
            self._system.rm_file(path)


def counts_of(count: int) -> tuple[int, int, int]:
    """Return how many records other generations have: as many, fewer, more."""
    return count, count * 2 // 3, count * 3 // 2


@dataclass(frozen=True)
class Change:
    """What happens to a split.

    Attributes:
        happens: how.
        unsettled: whether the split was published, but not settled, before.
        of_local: whether it happens to files of this machine alone.
        empties: whether files without a manifest are there and hold nothing after it.
        keeps_manifest: whether files are replaced below their manifest: what is opened
            again is of others, and nothing tells.
    """

    happens: Callable[[Any], object]
    unsettled: bool = False
    of_local: bool = False
    empties: bool = False
    keeps_manifest: bool = False


CHANGES = {
    "overwritten": Change(lambda place: place.overwrite(counts_of(place.count)[0])),
    "by fewer": Change(lambda place: place.overwrite(counts_of(place.count)[1])),
    "by more": Change(lambda place: place.overwrite(counts_of(place.count)[2])),
    # One byte less, so that it is not the end of a record.
    "cut": Change(lambda place: place.resize(lambda size: size // 2 - 1)),
    "emptied": Change(lambda place: place.resize(lambda size: 0), empties=True),
    "copied over": Change(lambda place: place.copy(manifest=True), of_local=True),
    "shards copied": Change(
        lambda place: place.copy(manifest=False), of_local=True, keeps_manifest=True
    ),
    "shards renamed": Change(
        lambda place: place.rename(), of_local=True, keeps_manifest=True
    ),
    "deleted": Change(lambda place: place.delete()),
    "settled": Change(lambda place: place.settle(), unsettled=True),
}


def changes_of(form: Form) -> list[str]:
    """Return what can happen to a split of a form."""
    return [
        name
        for name, change in CHANGES.items()
        if not (change.of_local and form.is_remote)
        and not (change.unsettled and not form.has_manifest)
        and not (change.keeps_manifest and not form.has_manifest)
    ]


def _made(
    scratch: Path, form: Form, count: int, unsettled: bool
) -> fault_injector.Tree:
    """Return the files of a split, or of one that was published and not settled.

    Its publisher has written over another generation, and was killed after its commit.
    """
    directory = scratch / "made"
    shutil.rmtree(directory, ignore_errors=True)
    options: dict[str, Any] = {"shards": SHARDS, **form.options}
    write(directory, 0, count, **options)
    files = fault_injector.tree(directory)
    if not form.has_manifest:
        return {name: files[name] for name in files if name.startswith((".", SPLIT))}
    if not unsettled:
        return files

    def publish() -> None:
        write(directory, 3, count, **options)

    def is_committed(step: int) -> bool:
        fault_injector.restore(directory, files)
        fault_injector.broken_off(directory, publish, step=step).wait()
        return (directory / "manifest.json").read_bytes() != files["manifest.json"]

    fault_injector.restore(directory, files)
    total = fault_injector.broken_off(directory, publish)
    total.wait()
    steps = range(1, total.steps + 1)
    step = steps[bisect_left(steps, True, key=is_committed)]
    assert is_committed(step)
    left = fault_injector.tree(directory)
    assert b'"hidden"' in (left["manifest.json"] or b"")
    return left


def outcome_of(read: Read, where: str, *, apart: bool = False) -> str:
    """Return in one word how a read has ended.

    Args:
        read: the read.
        where: the split.
        apart: whether what was opened twice may be of two generations.

    "whole" and "refused" are right: the records of one generation, or an error that names
    what it is about, which is a file or directory of the split, or the state of other
    data. "empty" is a split without records.
    """
    if read.fault:
        return read.fault
    lengths, openings = set[int](), list[Facts]()
    for item in read.delivered:
        if isinstance(item, int):
            lengths.add(item)
            if apart or not openings:
                openings.append([])
        else:
            openings[-1] += map(tuple, item)
    if any(len(generations_of(each)) > 1 for each in openings):
        return "mixed"
    found = [facts for each in openings for facts in each]
    generations = generations_of(found)
    if len({*found}) < len(found):
        return "twice"
    if read.error is not None:
        is_named = where in read.error or read.error.startswith("resume=")
        return "refused" if is_named else "unnamed"
    if lengths == {0} and not found:
        return "empty"
    (whole,) = {count for _, count in generations} or {-1}
    return "whole" if {len(found), whole} == lengths else "lost"


def allowed(form: Form, change: Change) -> set[str]:
    """Return the outcomes that a reader may have."""
    if change.unsettled:
        return {"whole"}
    # A file without a manifest may hold nothing when it is opened.
    can_be_empty = change.empties and not form.has_manifest
    return {"whole", "refused", "empty"} if can_be_empty else {"whole", "refused"}


@dataclass
class Found:
    """The outcomes of one way to read while one change happens.

    Attributes:
        form: how the split is stored.
        way: how it is read.
        change: what happened.
        outcomes: how often each outcome was found.
        wrong: an example of each that is not allowed: its step, and what it says.
    """

    form: str
    way: str
    change: str
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, str] = field(default_factory=dict)


class Reading:
    """A way to read a split, which changes meanwhile.

    Args:
        place: the split.
        form: the name of its form.
        way: how it is read, of `WAYS`, or of `CARELESS` for that form.
    """

    def __init__(self, place: Place, form: str, way: str) -> None:
        self._place = place
        self._form = form
        self._way = way
        self._directory = Path(os.devnull if place.form.is_remote else place.where)
        is_careless = form == "careless"
        self._reader = (CARELESS if is_careless else WAYS)[way].read
        self._seconds = 1.0 if is_careless else SECONDS
        self._steps = cache(self._count)

    def _once(self, change: Change, step: int) -> Read:
        self._place.reset(unsettled=change.unsettled)
        return read_while(
            *(self._directory, lambda: self._reader(self._place.open), DatasetError),
            change=lambda: change.happens(self._place),
            step=step,
            seconds=self._seconds,
        )

    def _count(self, unsettled: bool) -> int:
        """Return how many steps a reader has to whom nothing happens."""
        change = Change(lambda place: None, unsettled)
        read = self._once(change, 0)
        assert outcome_of(read, self._place.where) == "whole", read
        return read.steps

    def while_it(self, name: str, most: int = 0) -> Found:
        """Read the split, which changes before each step or before some of them.

        Args:
            name: of the change.
            most: how many steps are tried; 0 for all.
        """
        change = CHANGES[name]
        found = Found(self._form, self._way, name)
        total = self._steps(change.unsettled)
        for step in _steps(total, most, f"{self._form} {self._way} {name}"):
            read = self._once(change, step)
            self._note(read, step, change, found)
            if read.fault == "hang":
                break  # each one takes as long
        return found

    def _note(self, read: Read, step: int, change: Change, found: Found) -> None:
        outcome = outcome_of(read, self._place.where, apart=change.keeps_manifest)
        found.outcomes[outcome] += 1
        if outcome not in allowed(self._place.form, change):
            says = read.error or read.says or _differing(read)
            example = f"before step {step}, {read.changed!r}: {says}"
            found.wrong.setdefault(outcome, example)


def _steps(total: int, most: int, case: str) -> list[int]:
    """Return the steps to try of so many: all, or `most` of them, others in each case."""
    if not 0 < most < total:
        return [*range(1, total + 1)]
    first = zlib.crc32(case.encode()) / 2**32
    return [1 + int(total * (first + number) / most) for number in range(most)]


def _differing(read: Read) -> str:
    """Describe what was delivered: how many records of each generation."""
    lists = [item for item in read.delivered if not isinstance(item, int)]
    counted = Counter(facts[0] for item in lists for facts in item)
    return f"records by generation {dict(counted)}, lengths {read.delivered[:1]}"


def run(
    arguments: Sequence[str],
    ways: Mapping[str, int],
    reading: Callable[[Place, str, str], Reading],
) -> None:
    """Run what a command line says.

    Args:
        arguments: of the command line.
        ways: how many records are read in each.
        reading: makes one of a split, its form and a way.
    """
    scratch, name, chosen, changes, most = arguments
    form = FORMS[name]

    @cache
    def place_of(count: int) -> Place:
        directory = Path(scratch, str(count))
        directory.mkdir()
        kind = Careless if name == "careless" else Remote if form.is_remote else Local
        return kind(directory, form, count)

    for way in ways if chosen == "all" else chosen.split(","):
        each = reading(place_of(ways[way]), name, way)
        for change in changes_of(form) if changes == "all" else changes.split(","):
            found = each.while_it(change, int(most))
            print(json.dumps(vars(found)), flush=True)


def main() -> None:
    """Run what the command line says."""
    name = sys.argv[2]
    ways = CARELESS if name == "careless" else WAYS
    in_order = "compression" in FORMS[name].options
    gc.freeze()  # forked processes share what they leave alone
    run(
        sys.argv[1:],
        {
            name: way.records
            for name, way in ways.items()
            if not (in_order and way.needs_any_order)
        },
        Reading,
    )


if __name__ == "__main__":
    main()
