"""`manifest.json`: what a data directory holds, and the schema that wrote it.

The file is sealed: its first entry is the CRC-32C of its own text, with zeros in the
place of that checksum. A manifest that was edited by hand without it is read all the same.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..native import crc32c
from ..shared.errors import DatasetError
from ..shared.json_entries import check_manifest
from .directory import Directory, open_directory
from .local import NotRegularError
from .schema import Schema, Spec

if TYPE_CHECKING:
    from ..cells.columns import Rows

FILE_NAME = "manifest.json"
FORMAT = 3
"""What is written."""

# Version 0.4.0 has written the one before, without indexes.
_READABLE = (2, FORMAT)

TAIL_BYTES = 16
"""How many of a shard's last bytes its `tail` holds."""

_AGAIN = "restore it from a copy, or write the split again"

_ENTRIES = {"format", "record", "fingerprint", "spec", "splits"}

# The beginning of a sealed text. Its name sorts before those of all other entries.
_SEAL = re.compile(rb'\{\n  "crc32c": "(.{8})"', re.DOTALL)
_ZEROS = "0" * 8

# Entries of shards are ten characters deep in the text, one a line.
_SHARDS = json.JSONEncoder(sort_keys=True, separators=(",\n" + " " * 10, ": "))


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a split.

    Attributes:
        file: its name in the directory.
        records: how many records it holds.
        bytes: its size on disk.
        crc32c: the CRC-32C of its bytes on disk, eight hex digits.
        tail: its last bytes on disk, up to TAIL_BYTES, in hex. In a plain file they hold
            the checksum of the last record, in a compressed one that of the whole contents.
        hidden: its name until the split is settled; None afterwards.
        index: the CRC-32C of its part of the split's index, eight hex digits; None if
            there is none, or if version 0.4.0 has written it.
    """

    file: str
    records: int
    bytes: int
    crc32c: str
    tail: str
    hidden: str | None = None
    index: str | None = None


@dataclass(frozen=True)
class CheckedFile:
    """A file, each record of which was compared with a schema, to become a shard.

    Attributes:
        path: where it is.
        split: which it is a part of.
        records: how many records it holds.
        bytes: its size on disk.
        crc32c: the CRC-32C of its bytes on disk.
        compression: its name; "" for none.
        lengths: those of the frames of its records in order, int64 [N] each.
    """

    path: str
    split: str
    records: int
    bytes: int
    crc32c: int
    compression: str
    lengths: Sequence[Rows]

    @property
    def name(self) -> str:
        """Its name in its directory."""
        return os.path.basename(self.path)


@dataclass(frozen=True)
class SplitEntry:
    """A part of a dataset, such as train or test.

    Attributes:
        compression: its name; "" for none.
        shards: its files, in order.
        fingerprint: of the spec that wrote it, if that is not the directory's.
        spec: the spec that wrote it, likewise.
        shuffled: True if its records were shuffled as a whole; None if they were not,
            or no one has said.
        index: the CRC-32C of its index, eight hex digits; None if it has none.
        adopted: True if another program wrote its files, under names of its own, and
            they were sealed later; None otherwise.
        run: the token of the run that wrote it, if the names of its files have it, as in
            remote directories; None otherwise.
    """

    compression: str
    shards: tuple[Shard, ...]
    fingerprint: str | None = None
    spec: Spec | None = None
    shuffled: bool | None = None
    index: str | None = None
    adopted: bool | None = None
    run: str | None = None

    @property
    def records(self) -> int:
        """How many records the split holds."""
        return sum(shard.records for shard in self.shards)

    @cached_property
    def is_unsettled(self) -> bool:
        """Whether it is published, and its files do not all have their names."""
        return any(shard.hidden for shard in self.shards)

    @property
    def settled(self) -> SplitEntry:
        """The split when its files have their names."""
        if not self.is_unsettled:
            return self
        return self.hidden_as([None] * len(self.shards))

    def hidden_as(self, names: Sequence[str | None]) -> SplitEntry:
        """Return the split while its files have other names, which are hidden."""
        shards = tuple(
            replace(shard, hidden=None if name == shard.file else name)
            for shard, name in zip(self.shards, names, strict=True)
        )
        return replace(self, shards=shards)


@dataclass(frozen=True)
class Manifest:
    """What a data directory holds.

    Attributes:
        record: the record's name.
        fingerprint: a short name of what the spec says about the data.
        spec: the spec that wrote all of it, as in `spec.json`, but for splits that
            have their own.
        splits: its splits by name.
    """

    record: str
    fingerprint: str
    spec: Spec
    splits: dict[str, SplitEntry]

    @property
    def unsettled(self) -> dict[str, SplitEntry]:
        """The splits that are published, and whose files do not all have their names."""
        return {
            name: split for name, split in self.splits.items() if split.is_unsettled
        }

    def spec_of(self, split: str) -> Spec:
        """Return the spec that wrote a split."""
        return self.splits[split].spec or self.spec

    def fingerprint_of(self, split: str) -> str:
        """Return the fingerprint of the spec that wrote a split."""
        return self.splits[split].fingerprint or self.fingerprint


def dumps(manifest: Manifest) -> str:
    """Return a manifest as JSON text, one fact a line, sealed with its checksum."""
    splits = {name: _split_text(split) for name, split in manifest.splits.items()}
    entries = {
        "crc32c": _ZEROS,
        "format": FORMAT,
        "record": manifest.record,
        "fingerprint": manifest.fingerprint,
        "spec": manifest.spec,
    }
    texts = {name: _text(value, 1) for name, value in entries.items()}
    text = _joined(texts | {"splits": _joined(splits, 1)}, 0) + "\n"
    return text.replace(_ZEROS, checksum_of(text.encode()), 1)


def _split_text(split: SplitEntry) -> str:
    entries = {each.name: getattr(split, each.name) for each in fields(split)}
    shards, entries["records"] = entries.pop("shards"), split.records
    texts = {
        name: _text(value, 3) for name, value in entries.items() if value is not None
    }
    return _joined(texts | {"shards": _shards_text(shards)}, 2)


def _shards_text(shards: Sequence[Shard]) -> str:
    """Return the list of shards as text, in one call of the encoder in C.

    Its separators do not tell entries of a shard from shards. No text in JSON has a line end,
    so that what is between two shards is found by it.
    """
    names = Shard.__slots__
    facts = [
        {name: value for name in names if (value := getattr(shard, name)) is not None}
        for shard in shards
    ]
    text = _SHARDS.encode(facts)
    outer, inner = "\n" + " " * 8, "\n" + " " * 10
    text = text[2:-2].replace(f"}},{inner}{{", f"{outer}}},{outer}{{{inner}")
    return f"[{outer}{{{inner}{text}{outer}}}\n      ]"


def _text(value: Any, depth: int) -> str:
    """Return a value as JSON that stands at a depth; no text in it has a line end."""
    text = json.dumps(value, indent=2, sort_keys=True)
    return text.replace("\n", "\n" + "  " * depth)


def _joined(entries: Mapping[str, str], depth: int) -> str:
    """Return an object at a depth, whose values are JSON already."""
    if not entries:
        return "{}"
    outer = "\n" + "  " * depth
    lines = (
        f"{outer}  {json.dumps(name)}: {entries[name]}" for name in sorted(entries)
    )
    return "{" + ",".join(lines) + outer + "}"


def checksum_of(contents: bytes) -> str:
    """Return the CRC-32C of a file's contents, eight hex digits."""
    return f"{crc32c(contents):08x}"


def _check_seal(text: bytes) -> bool:
    """See that a sealed text is what was written, and tell whether it has a seal."""
    seal = _SEAL.match(text)
    if seal is None:
        return False
    start, end = seal.span(1)
    found = checksum_of(text[:start] + _ZEROS.encode() + text[end:])
    written = seal[1].decode("ascii", "backslashreplace")
    if found != written:
        raise ValueError(
            f"its text has the CRC-32C {found}, and not the {written} of its own entry"
        )
    return True


def loads(text: str | bytes, where: str) -> Manifest:
    """Read a manifest from its JSON text.

    Args:
        text: the contents of a `manifest.json`; bytes are UTF-8.
        where: what to call it in errors.

    Raises:
        DatasetError: damaged, or of a format that this code does not know.
    """
    from ..kinds.spec_json import check_spec

    try:
        text = text.encode() if isinstance(text, str) else text
        sealed = _check_seal(text)
        data = json.loads(text)
        if isinstance(data, dict) and data.get("format", FORMAT) not in _READABLE:
            raise DatasetError(
                f"{where}: a manifest of format {data['format']}, and this code reads "
                f"formats {_READABLE[0]} and {FORMAT}; read it with the version of "
                "schemagen that wrote the data, or write the splits again with this one"
            )
        check_manifest(data)
        check_spec(data["spec"], "spec")
        for name, split in data["splits"].items():
            if split.get("spec") is not None:
                check_spec(split["spec"], f"splits[{name!r}].spec")
        if not sealed and "crc32c" in data:
            raise ValueError(
                "its text was reformatted after it was sealed with the CRC-32C in it"
            )
        unknown = set(data) - _ENTRIES - {"crc32c"}
        if unknown:
            raise ValueError(f"unknown entries {sorted(unknown)}")
        splits = {name: _split(name, split) for name, split in data["splits"].items()}
        return Manifest(data["record"], data["fingerprint"], data["spec"], splits)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{where}: not a complete manifest ({_plain(error)}); restore it from a copy, "
            "or else remove it and then either write all splits again with "
            "overwrite=True, or seal files of another program with "
            "`schemagen verify DATA --record NAME --seal`"
        ) from None


def _plain(error: Exception) -> str:
    """Say what is wrong with a manifest as a person would."""
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error}"
    if isinstance(error, UnicodeDecodeError):
        return f"no UTF-8 at byte {error.start}"
    if isinstance(error, RecursionError):
        return "entries nested too deep"
    return str(error)


def _split(name: str, data: dict[str, Any]) -> SplitEntry:
    shards = tuple(Shard(**shard) for shard in data["shards"])
    split = SplitEntry(
        data["compression"],
        shards,
        data.get("fingerprint"),
        data.get("spec"),
        data.get("shuffled"),
        data.get("index"),
        data.get("adopted"),
        data.get("run"),
    )
    if data["records"] != split.records:
        raise ValueError(
            f"splits[{name!r}]: {data['records']} records, and the shards have "
            f"{split.records}"
        )
    return split


def difference(
    path: str, shard: Shard, size: int, read: Callable[[int, int], bytes] | None
) -> str:
    """Say in what a file differs from a manifest's entry, or return "".

    Args:
        path: what to call it.
        shard: the entry.
        size: how many bytes it has.
        read: returns its bytes from a position to another one; None compares the sizes
            alone.
    """
    if size != shard.bytes:
        return not_as_listed(path, f"{size} bytes", shard.bytes)
    if read is None:
        return ""
    tail = read(max(0, size - TAIL_BYTES), size).hex()
    if tail == shard.tail:
        return ""
    return (
        f"{path}: found the last bytes {tail}, expected the {shard.tail} that the "
        "manifest lists: the file was replaced or changed; restore it, or write "
        "the split again (`schemagen verify` compares every byte)"
    )


def not_as_listed(path: str, found: str, listed: int | str) -> str:
    """Say in what a file as a whole differs from its entry."""
    return f"{path}: found {found}, expected the {listed} that the manifest lists; {_AGAIN}"


def missing_problem(path: str) -> str:
    """Say of a file that it does not exist."""
    return f"{path}: missing, and the manifest lists it; {_AGAIN}"


def wrong_count(path: str, found: int, listed: int) -> str:
    """Say that a file has not the records that its manifest lists."""
    return (
        f"{path}: found {found} records, expected the {listed} that the manifest lists"
    )


def unsettled_problem(directory: str, split: str) -> str:
    """Say of a split that its shards are being given their names."""
    return (
        f"{directory}: split {split!r} is being published, or its publication was "
        "interrupted; wait for its writer, or if none is running, run any writer for "
        "this directory again, which completes the publication"
    )


def load(directory: Directory | str | os.PathLike[str]) -> Manifest | None:
    """Read a directory's manifest, or return None if it has none.

    Args:
        directory: a directory, or its path or URL.

    Raises:
        DatasetError: there is one, but it cannot be read.
    """
    opened = _opened(directory)
    try:
        text = opened.read(FILE_NAME)
    except NotRegularError as error:
        raise DatasetError(f"{error.filename}: {error.strerror}") from None
    except NotADirectoryError:
        raise DatasetError(f"{opened.where}: a file, expected a directory") from None
    return None if text is None else loads(text, f"{opened.where}/{FILE_NAME}")


def save(directory: Directory | str | os.PathLike[str], manifest: Manifest) -> None:
    """Replace a directory's manifest in one step, safe against a crash.

    It is durable after the directory's `sync`.
    """
    _opened(directory).replace(FILE_NAME, dumps(manifest).encode())


def _opened(directory: Directory | str | os.PathLike[str]) -> Directory:
    if isinstance(directory, (str, os.PathLike)):
        return open_directory(directory)
    return directory


def of_schema(schema: Schema) -> Manifest:
    """Return the manifest of a directory that has no split yet."""
    return Manifest(schema.record, schema.fingerprint, schema.spec, {})
