"""Programs that `fault_injector` breaks off, and what they may leave.

`test_fault_injection.py` runs this as a program, without tensorflow, so that forking is cheap:

    python fault_cases.py <scratch> <case> <before> <fault> <every> <first>

A failed check ends it with an AssertionError; otherwise it prints a summary as JSON.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import struct
import sys
import zlib
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [
    str(_TESTS.parent),
    *(str(_TESTS / name) for name in ("net", "distributed", ".")),
]

# Before schemagen.
from fault_injector import (  # noqa: E402
    Case,
    Ended,
    Tree,
    break_off_each,
    command,
    restore,
    run,
    tree,
)

import schemagen  # noqa: E402  isort: skip
from command_line import make_project  # noqa: E402
from digit_rows import rows  # noqa: E402

from generated import check_files  # noqa: E402
from generated.digit import serializer as digit  # noqa: E402
from generated.digit.reader import open_split  # noqa: E402

Files = dict[str, bytes]

_ROWS, _OLD, _OTHERS = 60, 40, 5
_BY_SIZE = {"shard_bytes": 2500}  # makes about five of them

# What writers are asked for. Sources have an index, or are an iterable.
WRITES: dict[str, dict[str, Any]] = {
    "blocks": {"shards": 4},
    "in turn": {"shards": 3, "iterable": True},
    "by size": {**_BY_SIZE, "iterable": True},
    "workers": {"shards": 4, "workers": 2},
    "workers by size": {**_BY_SIZE, "workers": 2},
    "shuffled": {**_BY_SIZE, "shuffle_seed": 7},
    "shuffled by workers": {"shards": 4, "shuffle_seed": 7, "workers": 2},
    "gzip": {**_BY_SIZE, "compression": "GZIP"},
    "writer": {**_BY_SIZE, "writer": True},
}
CASES = [*WRITES, "two writers", "ranks", "publishers", "generate", "seal"]


def records_in(data: bytes) -> list[bytes]:
    """Return the records of a file, by the description of the format."""
    if data[:2] == b"\x1f\x8b":
        data = zlib.decompress(data, 31)
    found, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        found.append(data[at + 12 : at + 12 + size])
        at += 16 + size
    assert at == len(data)
    return found


class _SplitCase(Case):
    """A program that writes split `train`, of 60 new records in place of 40 or none.

    Args:
        scratch: a directory of its own.
        before: "old" for a directory with other splits, this one among them, or
            "fresh" for no directory.
    """

    def __init__(self, scratch: Path, before: str) -> None:
        self.directory = scratch / "data"
        self._scratch = scratch
        self._is_old = before == "old"
        self._generations: dict[str, Files] = {"none": {}}
        self._others: dict[str, Files] = {}
        self._verified: set[tuple[str, ...]] = set()

    def before(self) -> None:
        if self._is_old:
            digit.write_dataset(rows(_OTHERS), self.directory, "test")
            digit.write_dataset(rows(_OLD), self.directory, "train", shards=4)
            self._has("old", _OLD)
            self._others = {"test": self._visible("test")}

    def _has(self, state: str, count: int) -> None:
        """Note that the directory has a split of so many records now."""
        files = self._visible("train")
        records = [record for data in files.values() for record in records_in(data)]
        assert sorted(records) == sorted(digit.serialize(**row) for row in rows(count))
        self._generations[state] = files

    def _visible(self, split: str) -> Files:
        """Return what a glob finds of a split."""
        found = sorted(self.directory.glob(f"{split}-*-of-*.tfrecord*"))
        return {path.name: path.read_bytes() for path in found}

    def _listed(self, split: str) -> Files:
        """Return the files of a split by the manifest, which are as it says."""
        path = self.directory / "manifest.json"
        if not path.exists():
            assert not self._others, "the manifest of the other split is gone"
            return {}
        assert list(check_files(self.directory)) == []
        entry = json.loads(path.read_bytes())["splits"].get(split, {"shards": []})
        found = {}
        for shard in entry["shards"]:
            place = self.directory / shard.get("hidden", shard["file"])
            if not place.exists():
                place = self.directory / shard["file"]
            found[shard["file"]] = place.read_bytes()
        return found

    def _is_settled(self, split: str) -> bool:
        """Tell whether all files of a split have their names."""
        found = json.loads((self.directory / "manifest.json").read_bytes())["splits"]
        return not any("hidden" in shard for shard in found[split]["shards"])

    def _state(self) -> str:
        """Tell which of the possible splits there is; there is no other."""
        for other, files in self._others.items():
            assert self._listed(other) == self._visible(other) == files
        found, visible = self._listed("train"), self._visible("train")
        generations = self._generations
        states = [state for state, files in generations.items() if files == found]
        assert states, f"a mixture: {sorted(found)}"
        assert any(
            visible.items() <= files.items() for files in generations.values()
        ), f"of two generations: {sorted(visible)}"
        if found:
            count = sum(len(records_in(data)) for data in found.values())
            assert sum(1 for _ in open_split(self.directory, "train")) == count
        if found and self._is_settled("train"):
            assert visible == found
            self._verify()
        return states[0]

    def _verify(self) -> None:
        """See that `schemagen verify` finds nothing wrong, once for the same files."""
        files = tuple(sorted(os.listdir(self.directory)))
        if files not in self._verified:
            run(command("verify", self.directory, "--workers", "1"))
            self._verified.add(files)

    def judge(self, ended: Ended, fault: str) -> str:
        failed = check_code(ended, fault)
        state = self._state()
        if failed and fault in ("fail", "full"):
            self._check_error(ended, fault, state)
        return state

    def _check_error(self, ended: Ended, fault: str, state: str) -> None:
        """See that the error names a file, and says what became of the split."""
        assert ended.error is not None
        number, path, text = ended.error
        assert number == (errno.ENOSPC if fault == "full" else errno.EIO)
        # The directory above is made durable too, where there is a new one in it.
        assert Path(path).is_relative_to(self._scratch), path
        (said,) = [states for words, states in _SAID.items() if words in text]
        assert state in said, f"{text}, and the state is {state}"

    def _settled(self, state: str) -> str:
        """Write another split, which gives the files of this one their names.

        Returns:
            The state of the split after that, which is the same.
        """
        left = tree(self.directory)
        run(lambda: digit.write_dataset(rows(3), self.directory, "val"))
        found = self._state()
        assert found == state
        assert self._visible("train") == self._generations[found]
        restore(self.directory, left)
        return found


# What an error says of the split, and the states in which that is so.
_SAID = {
    "nothing of split": {"none"},
    "nothing new of split": {"old"},
    "is complete, but": {"new"},
    "is published, but": {"new"},
}


def check_code(ended: Ended, fault: str, failed: int = 1) -> bool:
    """See that a program has ended as its fault lets it; return whether it failed."""
    expected = {"kill": -9, "interrupt": 130}.get(fault, failed) * ended.happened
    # Errors are passed over where nothing depends on them, as of a file of no use.
    assert ended.code == expected or (ended.code == 0 and fault != "kill")
    return ended.code != 0


class Writing(_SplitCase):
    """A writer of the split, which another run begins again, or goes on with."""

    def __init__(self, scratch: Path, before: str, case: str) -> None:
        super().__init__(scratch, before)
        self._options = dict(WRITES[case])
        self._is_iterable = self._options.pop("iterable", False)
        self._by_writer = self._options.pop("writer", False)

    def program(self) -> None:
        self._write(overwrite=self._is_old)

    def _write(self, **options: Any) -> None:
        options = {**self._options, **options}
        if self._by_writer:
            with digit.Writer(self.directory, "train", **options) as writer:
                for row in rows(_ROWS):
                    writer.write(**row)
            return
        source: Any = iter(rows(_ROWS)) if self._is_iterable else rows(_ROWS)
        digit.write_dataset(source, self.directory, "train", **options)

    def whole(self) -> None:
        run(self.program)
        self._has("new", _ROWS)

    def onwards(self) -> list[Callable[[str], object]]:
        return [self._again] if self._by_writer else [self._again, self._resumed]

    def _again(self, state: str, **more: Any) -> None:
        is_new = self._settled(state) == "new"
        overwrite = self._is_old or is_new
        run(lambda: self._write(overwrite=overwrite, **more))

    def _resumed(self, state: str) -> None:
        self._again(state, resume=True)


class TwoWriters(_SplitCase):
    """A writer of this split and one of another, which are at work at the same time."""

    def program(self) -> None:
        options = {**_BY_SIZE, "overwrite": self._is_old}
        with (
            digit.Writer(self.directory, "train", **options) as train,
            digit.Writer(self.directory, "val", **options) as val,
        ):
            for row in rows(_ROWS):
                train.write(**row)
                val.write(**row)

    def whole(self) -> None:
        run(self.program)
        self._has("new", _ROWS)
        self._val = self._visible("val")

    def judge(self, ended: Ended, fault: str) -> str:
        check_code(ended, fault)
        self._others.pop("val", None)
        assert self._listed("val") in ({}, self._val)
        if self._listed("val") and self._is_settled("val"):
            self._others["val"] = self._val
        else:
            assert self._visible("val").items() <= self._val.items()
        return self._state()

    def _verify(self) -> None:
        if "val" in self._others:
            super()._verify()

    def onwards(self) -> list[Callable[[str], object]]:
        return [self._one_after_the_other]

    def _one_after_the_other(self, state: str) -> None:
        options = {**_BY_SIZE, "overwrite": True}
        for split in ("val", "train"):
            run(
                lambda split=split: digit.write_dataset(  # type: ignore[misc]
                    iter(rows(_ROWS)), self.directory, split, **options
                )
            )


class _RunCase(_SplitCase):
    """One of several processes that write the split."""

    def _plan(self) -> Any:
        return digit.plan_dataset(
            *(self.directory, "train"),
            **{"shards": 3, "rows": _ROWS, "run": "job", "overwrite": self._is_old},
        )

    def _rank(self, number: int, ranks: int = 2) -> list[Any]:
        return digit.write_parts(rows(_ROWS), self._plan(), part=(number, ranks))

    def found(self) -> Tree:
        """The claim says when and by which process the run was begun."""
        found = tree(self.directory)
        for name, data in found.items():
            if ".run." in name and data is not None:
                claim = json.loads(data)
                del claim["since"], claim["process"]
                found[name] = json.dumps(claim).encode()
        return found

    def whole(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)
        super().before()
        self._rank(0, 1)
        assert digit.publish(self._plan()) == _ROWS
        self._has("new", _ROWS)


class Ranks(_RunCase):
    """A rank; it is started again, twice at once, and its run is published."""

    def program(self) -> None:
        self._rank(0)

    def judge(self, ended: Ended, fault: str) -> str:
        check_code(ended, fault)
        state = self._state()
        assert state == ("old" if self._is_old else "none")
        return state

    def onwards(self) -> list[Callable[[str], object]]:
        return [self._publish]

    def _publish(self, state: str) -> None:
        run(lambda: self._rank(1))
        run(*[lambda: self._rank(0)] * 2)
        assert digit.publish(self._plan()) == _ROWS


class Publishers(_RunCase):
    """A publisher; three others publish then, or a writer of another split does."""

    def before(self) -> None:
        super().before()
        self._rank(0, 1)

    def program(self) -> None:
        assert digit.publish(self._plan()) == _ROWS

    def judge(self, ended: Ended, fault: str) -> str:
        check_code(ended, fault)
        return self._state()

    def onwards(self) -> list[Callable[[str], object]]:
        return [self._three_at_once]

    def _three_at_once(self, state: str) -> None:
        self._settled(state)
        run(*[self.program] * 3)


_SCHEMA = """\
from schemagen import Record


class {name}(Record):
    {field}: str
"""


class Generating(Case):
    """`schemagen generate`, with files to create, to update and to delete."""

    reads = True

    def __init__(self, scratch: Path) -> None:
        texts = {
            f"{name.lower()}.py": _SCHEMA.format(name=name, field="a")
            for name in ("Pet", "Dog")
        }
        self._root = make_project(scratch / "project", texts)
        self.directory = self._root / "generated"

    def before(self) -> None:
        self._generate()
        cache = self.directory / "dog/__pycache__"
        cache.mkdir()
        (cache / "model.cpython-311.pyc").write_bytes(b"bytecode")
        schemas = self._root / "schemas"
        (schemas / "dog.py").unlink()
        (schemas / "cat.py").write_text(_SCHEMA.format(name="Cat", field="a"))
        (schemas / "pet.py").write_text(_SCHEMA.format(name="Pet", field="b"))
        self._before = tree(self.directory)

    def program(self) -> None:
        command("generate", "--project", self._root)()

    def whole(self) -> None:
        self._generate()
        self._after = tree(self.directory)

    def judge(self, ended: Ended, fault: str) -> str:
        check_code(ended, fault, failed=2)
        found = tree(self.directory)
        for path, data in found.items():
            if Path(path).name.startswith(".") and path != ".":
                assert fault not in ("fail", "full"), path
            elif data is not None:
                assert data in (self._before.get(path), self._after.get(path)), path
        return {True: "old", False: "partly"}[found == self._before]

    def onwards(self) -> list[Callable[[str], object]]:
        return [self._generate]

    def _generate(self, state: str = "") -> None:
        schemagen.generate(self._root)


class Sealing(Case):
    """`schemagen verify --add` of a file in a directory that was sealed."""

    def __init__(self, scratch: Path) -> None:
        self.directory = scratch / "old"

    def before(self) -> None:
        for number in (1, 2):
            digit.write_dataset(rows(8), self.directory / "new", f"train_{number}")
            [written] = (self.directory / "new").glob("train_*-of-*")
            written.rename(self.directory / f"train_{number}.tfrecord")
            shutil.rmtree(self.directory / "new")
            if number == 1:
                options = ("--record", "digit", "--project", _TESTS.parent, "--seal")
                self._verify(*options)
        self._data = self._files()

    def program(self) -> None:
        command("verify", self.directory, "--add", "--workers", "1")()

    def whole(self) -> None:
        self._verify("--add")

    def judge(self, ended: Ended, fault: str) -> str:
        check_code(ended, fault, failed=2)
        assert self._files() == self._data
        found = len(open_split(self.directory, "train"))
        assert not check_files(self.directory)
        return {8: "old", 16: "new"}[found]

    def found(self) -> Tree:
        # Hidden files that a killed run leaves go with the next one that has files to add.
        found = tree(self.directory)
        return {
            name: data for name, data in found.items() if name[1:] and name[0] != "."
        }

    def onwards(self) -> list[Callable[[str], object]]:
        return [lambda state: self._verify("--add")]

    def _verify(self, *options: object) -> None:
        with suppress(SystemExit), redirect_stdout(None):
            command("verify", self.directory, "--workers", "1", *map(str, options))()

    def _files(self) -> Files:
        return {
            path.name: path.read_bytes() for path in self.directory.glob("*.tfrecord")
        }


class Careless(Case):
    """Two files that belong together, which are written as if nothing ever happened."""

    def __init__(self, scratch: Path) -> None:
        self.directory = scratch

    def before(self) -> None:
        self._write("old")

    def program(self) -> None:
        self._write("new")

    def _write(self, text: str) -> None:
        for name in "ab":
            (self.directory / name).write_text(text)

    whole = program

    def judge(self, ended: Ended, fault: str) -> str:
        check_code(ended, fault)
        a, b = ((self.directory / name).read_text() for name in "ab")
        assert a == b
        assert a in ("old", "new")
        return a

    def onwards(self) -> list[Callable[[str], object]]:
        return [lambda state: self.program()]


def case_of(scratch: Path, case: str, before: str) -> Case:
    """Return one of `CASES`."""
    if case == "generate":
        return Generating(scratch)
    if case == "seal":
        return Sealing(scratch)
    if case in WRITES:
        return Writing(scratch, before, case)
    if case == "careless":
        return Careless(scratch)
    others = {"two writers": TwoWriters, "ranks": Ranks, "publishers": Publishers}
    return others[case](scratch, before)


def import_all(scratch: Path) -> None:
    """Import what forked processes would import again and again."""
    for options in ({"shuffle_seed": 1}, {"compression": "GZIP"}):
        digit.write_dataset(rows(2), scratch, "train", overwrite=True, **options)
    with suppress(SystemExit), redirect_stdout(None):
        command("verify", scratch, "--workers", "1")()


def main(arguments: list[str]) -> None:
    """Run what the command line says."""
    scratch, case, before, fault, every, first = arguments
    import_all(Path(scratch, "imported"))
    broken = case_of(Path(scratch), case, before)
    found = break_off_each(broken, fault, int(every), int(first))
    print(json.dumps(vars(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
