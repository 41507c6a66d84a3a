"""Runs random cases with one version of schemagen, for `diff_head.py`.

python one_side.py <directory> <seed> <numbers, separated by commas> <left> [--tensorflow]

`PYTHONPATH` says which version. Each case has a directory of its own; `outcomes.jsonl` says
what happened in each. `left` is a directory in which a version has run the same cases:
its data is read, resumed and overwritten. With `--tensorflow`, datasets read what is written,
too.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import sys
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import schemagen
from random_schemas import Drawing, Row, Schema

sys.path.append(str(Path(__file__).parents[1]))  # not first: a version comes before

from baseline.damage import feature, framed, records, with_entry
from baseline.documents import run
from baseline.values import read_by_arrays, stated

Outcome = dict[str, Any]

# What a feature of a damaged record may be instead.
_INTEGERS = tuple(
    feature("int", each)
    for each in ([0], [1], [3], [-1], [-2], [9], [300], [2, 2], [1 << 40])
)
_FEATURES = (
    *(None, b"", *_INTEGERS, feature("int", [])),
    *(feature("float", each) for each in ([], [0.5], [float("nan")], [1.0, 2.0])),
    *(
        feature("bytes", each)
        for each in ([], [b""], [b"\xff"], [bytes(8)], [b"a", b"b"])
    ),
)

_SETTINGS = '[tool.schemagen]\nschemas = "schemas"\noutput = "{output}"\n'


class _Broken(Exception):
    """What a source raises to break a run off."""


class _Breaking:
    """A sequence of rows that breaks off before one of them."""

    def __init__(self, rows: list[Row], at: int) -> None:
        self.rows, self.at = rows, at

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        if index == self.at:
            raise _Broken
        return self.rows[index]


def _project(root: Path, schema: Schema, output: str) -> None:
    (root / "schemas").mkdir(parents=True)
    (root / "pyproject.toml").write_text(_SETTINGS.format(output=output), "utf-8")
    (root / "schemas" / "records.py").write_text(schema.text, "utf-8")


def _tried(action: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the outcome of a call: a value, or its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _hashed(action(*args, **options))
    except Exception as error:  # errors are outcomes
        places = {
            name: getattr(error, name)
            for name in ("field", "row", "shard")
            if hasattr(error, name)
        }
        return {"error": type(error).__name__, "message": str(error), **places}


def _columns(rows: list[Row]) -> Row:
    """Return rows as columns, those of nested models as columns of their fields."""
    found: Row = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        column = [row.get(name) for row in rows]
        found[name] = _columns(column) if name == "inner" else column
    return found


def _hashed(value: Any) -> Any:
    if isinstance(value, bytes):
        return [len(value), hashlib.sha256(value).hexdigest()[:16]]
    return [_hashed(each) for each in value] if isinstance(value, list) else value


def _files(directory: Path) -> list[Path]:
    found = directory.glob("*") if directory.exists() else ()
    return sorted(p for p in found if not p.name.startswith(".") and p.is_file())


def _contents(directory: Path) -> Outcome:
    """Return the visible files of a data directory: records, and the manifest."""
    found: Outcome = {}
    for path in _files(directory):
        data = path.read_bytes()
        if path.suffix in (".gz", ".zlib"):
            data = zlib.decompress(data, zlib.MAX_WBITS | 32)
        if path.name == "manifest.json":
            found[path.name] = json.loads(data)
        else:
            found[path.name] = _hashed(list(records(data)))
    return found


def _without_sizes(value: Any) -> Any:
    """Return a document without what depends on how zlib compresses."""
    if isinstance(value, dict):
        gone = ("bytes", "crc32c", "tail", "sha256")
        return {k: _without_sizes(each) for k, each in value.items() if k not in gone}
    return (
        [_without_sizes(each) for each in value] if isinstance(value, list) else value
    )


def _ran(*arguments: str) -> Any:
    return _tried(run, *arguments)


def _code(package: Path) -> dict[str, str]:
    """Return the generated files of a package by name."""
    return {path.name: path.read_text("utf-8") for path in sorted(package.iterdir())}


def _read_dataset(make_dataset: Callable[..., Any]) -> list[Any]:
    """Return the batches of a dataset: features, targets, weights and the rest."""
    batches = make_dataset("data", "train", batch_size=2, info=True)
    return [
        [stated(part if isinstance(part, dict) else {"": part}) for part in batch]
        for batch in batches
    ]


class _Case:
    def __init__(self, seed: str, number: int, left: Path, *, tensorflow: bool) -> None:
        self.tensorflow = tensorflow
        self.name, self.left = f"case_{number}", left / f"case_{number}"
        self.drawing = Drawing(f"{seed}/{number}")
        self.chance = self.drawing.chance
        # All is drawn before anything is done: no outcome changes what is drawn.
        self.schema = self.drawing.schema()
        self.changed = self.drawing.changed(self.schema)
        self.rows = self.drawing.rows(self.schema, self.chance.randint(0, 9))
        self.wrong = list(self.drawing.spoiled(self.schema, self.rows * 2))
        self.options = self._options()
        self.source = self.chance.choice(("list", "list", "generator", "functions"))
        self.damages = [self.chance.getrandbits(64) for _ in range(5)]

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.chance.random() < 0.5:
            options["shards"] = self.chance.randint(1, 4)
        elif self.chance.random() < 0.5:
            options["shard_bytes"] = self.chance.randint(200, 2000)
        if self.chance.random() < 0.3:
            options["shuffle_seed"] = self.chance.randint(0, 9)
            if self.chance.random() < 0.5:
                options["key_field"] = "number"
        if self.chance.random() < 0.2:
            options["compression"] = self.chance.choice(("GZIP", "ZLIB"))
        return options

    def outcome(self) -> Outcome:
        """Do everything, and say what happened."""
        _project(Path("."), self.schema, self.name)
        found: Outcome = {"generate": _ran("generate")}
        if found["generate"].get("exit") != 0:
            return found
        importlib.invalidate_caches()
        record = f"{self.name}.{self.schema.record}"
        serializer = importlib.import_module(f"{record}.serializer")
        found["check"] = _ran("check")
        found["code"] = _code(Path(*record.split(".")))
        found["serialized"] = [_tried(serializer.serialize, **row) for row in self.rows]
        found["wrong"] = [_tried(serializer.serialize, **row) for row in self.wrong]
        good = [
            row
            for row, bytes_or_error in zip(self.rows, found["serialized"], strict=True)
            if isinstance(bytes_or_error, list)
        ]
        found["batch"] = _tried(serializer.serialize_batch, **_columns(good))
        found["written"] = self._write(serializer, good)
        found["read"] = self._read(record)
        found |= self._looked_at()
        found["breaking"] = self._compared()
        found["left"] = self._taken_over(serializer, good)
        return _without_sizes(found) if "compression" in self.options else found

    def _write(self, serializer: ModuleType, rows: list[Row]) -> Outcome:
        """Write a split, one with refused rows, and one that breaks off."""
        options = dict(self.options)
        source: Any = rows
        if self.source == "generator":
            source = iter(rows)
        elif self.source == "functions":
            options.pop("shards", None)
            options.pop("shard_bytes", None)
            source = [lambda part=rows[at::2]: iter(part) for at in range(2)]
        write = partial(serializer.write_dataset, allow_empty=True)
        found = {"train": _tried(write, source, "data", "train", **options)}
        skipping = {"on_error": "skip", "refused": "refused.jsonl"}
        mixed = [
            row for pair in zip(self.wrong, self.rows * 2, strict=True) for row in pair
        ]
        found["mixed"] = _tried(write, mixed, "mixed", "train", shards=2, **skipping)
        if Path("refused.jsonl").exists():
            lines = Path("refused.jsonl").read_text("utf-8").splitlines()
            refused = map(json.loads, lines)
            found["refused"] = [[each["row"], each["field"]] for each in refused]
        broken = _Breaking(rows * 3, len(rows) * 2)
        found["broken"] = _tried(write, broken, "data", "broken", shards=4)
        return {
            **found,
            "data": _contents(Path("data")),
            "in mixed": _contents(Path("mixed")),
        }

    def _read(self, record: str) -> Outcome:
        """Read the split with both readers."""
        reader = importlib.import_module(f"{record}.reader")
        found = {
            "open_split": _tried(read_by_arrays, reader.open_split, "data", "train")
        }
        if self.tensorflow:
            pipeline = importlib.import_module(f"{record}.pipeline")
            found["make_dataset"] = _tried(_read_dataset, pipeline.make_dataset)
        return found

    def _looked_at(self) -> Iterator[tuple[str, Outcome]] | Outcome:
        """Verify, inspect and describe the data, and copies with damage."""
        found = {
            "verify": _ran("verify", "data"),
            "verify --record": _ran("verify", "mixed", "--record", "subject"),
            "inspect": _ran("inspect", "data"),
            "describe": _ran("describe", "subject"),
        }
        for damage in self.damages:
            shutil.copytree("data", "damaged")
            self._damage(Path("damaged"), Drawing(str(damage)).chance)
            found[f"damage {damage}"] = {
                "verify": _ran("verify", "damaged"),
                "inspect": _ran("inspect", "damaged"),
            }
            shutil.rmtree("damaged")
        return found

    def _damage(self, directory: Path, chance: Any) -> None:
        files = _files(directory)
        if not files:
            return
        path = chance.choice(files)
        data = path.read_bytes()
        plain = path.suffix == ".tfrecord"
        way = chance.randrange(12)
        at = chance.randrange(len(data)) if data else 0
        if way == 0 and plain and data:
            path.write_bytes(
                data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
            )
        elif way == 1 and plain:
            path.write_bytes(data[:at])
        elif way == 2:
            path.unlink()
        elif way == 3 and plain:
            path.write_bytes(data + data[:at])
        elif (
            plain and data and way < 6
        ):  # a record that is wrong, under a right checksum
            stored = list(records(data))
            place = chance.randrange(len(stored))
            changed = bytearray(stored[place])
            for _ in range(min(chance.randint(1, 2), len(changed))):
                changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
            stored[place] = bytes(changed)
            path.write_bytes(b"".join(map(framed, stored)))
        elif plain:  # records with features of other types, counts and values
            some = chance.choice((_FEATURES, _INTEGERS))
            stored = [
                with_entry(record, chance.randrange(20), chance.choice(some))
                for record in records(data)
            ]
            path.write_bytes(b"".join(map(framed, stored)))
        elif path.name == "manifest.json":
            path.unlink()

    def _compared(self) -> Outcome:
        """Compare a changed schema with the spec and the data of the first."""
        root = Path("changed")
        _project(root, self.changed, f"{self.name}_changed")
        os.chdir(root)
        try:
            spec = f"../{self.name}/{self.schema.record}/spec.json"
            modes = ("backward", "forward", "full")
            found = {
                mode: _ran("breaking", "--against", spec, "--mode", mode)
                for mode in modes
            }
            found["data"] = _ran("breaking", "--against", "../data")
            found["verify"] = _ran("verify", "../data", "--record", "subject")
            return found
        finally:
            os.chdir("..")

    def _taken_over(self, serializer: ModuleType, rows: list[Row]) -> Outcome:
        """Read, resume and overwrite what a version left."""
        if not (self.left / "data").exists():
            return {}
        shutil.copytree(self.left / "data", "left")
        write = partial(serializer.write_dataset, allow_empty=True)
        shards = {"shards": 4}
        found = {
            "verify": _ran("verify", "left"),
            "resume": _tried(write, rows * 3, "left", "broken", resume=True, **shards),
            "again": _tried(write, rows, "left", "train", **self.options),
        }
        found["resumed"] = _contents(Path("left"))
        found["more"] = _tried(write, rows, "left", "more")
        found["overwrite"] = _tried(write, rows[::-1], "left", "train", overwrite=True)
        found["overwritten"] = _contents(Path("left"))
        found["problems"] = _ran("verify", "left")
        return found


def main(
    directory: str, seed: str, numbers: str, left: str, tensorflow: str = ""
) -> None:
    """Run the cases, and write the outcome of each."""
    root, left_at = Path(directory).absolute(), Path(left).absolute()
    root.mkdir()
    with open(root / "outcomes.jsonl", "w", encoding="utf-8") as file:
        for number in map(int, numbers.split(",")):
            case = _Case(seed, number, left_at, tensorflow=bool(tensorflow))
            place = root / case.name
            place.mkdir()
            os.chdir(place)
            sys.path.insert(0, str(place))
            try:
                outcome = case.outcome()
            except Exception:  # which the other side has not
                outcome = {"generate": {}, "crash": traceback.format_exc()}
            sys.path.remove(str(place))
            file.write(json.dumps([number, outcome]) + "\n")
    assert tensorflow or "tensorflow" not in sys.modules
    print(schemagen.__file__)


if __name__ == "__main__":
    main(*sys.argv[1:])
