"""Damaged files: each damage is found at its place, and all other records are read."""

from __future__ import annotations

import io
import json
import random
import struct
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemagen
from command_line import run
from damaged_files import flip_bit
from tfrecord_files import frame, header
from tfrecord_files import frames as joined

from .conftest import Limits
from .messages import PACK, Mixed, example, mixed, write_data, write_file

RECORDS = [example({"n": n, "text": "x" * (20 + 7 * n)}) for n in range(8)]
FRAMES = list(map(frame, RECORDS))
FILE = b"".join(FRAMES)
ALL = list(range(8))

Place = tuple[str, int, int, int | None]


def start(record: int) -> int:
    """Return where a record's frame begins."""
    return sum(map(len, FRAMES[:record]))


def changed(at: int, by: bytes) -> bytes:
    return FILE[:at] + by + FILE[at + len(by) :]


def without(*records: int) -> list[int]:
    return [each for each in ALL if each not in records]


def archive() -> bytes:
    """Return a tar archive with a file of records in it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        entry = tarfile.TarInfo("a")
        entry.size = len(FILE)
        file.addfile(entry, io.BytesIO(FILE))
    return out.getvalue()


def read(path: Path, *options: str) -> tuple[list[int], list[Place]]:
    """Return the numbers that records hold, and where there is damage."""
    result = run("inspect", path, "--format", "json", "--records", "16", *options)
    document = json.loads(result.stdout)
    [file] = document["files"]
    damages = file["damages"]
    assert result.exit_code == (1 if damages or file["foreign"] else 0)
    samples = document["samples"]
    samples.sort(key=lambda each: each["record"])
    return [each["features"][0]["values"][0] for each in samples], [
        (each["kind"], each["record"], each["offset"], each["skipped"])
        for each in damages
    ]


CUT = {
    f"cut {size} bytes into a frame": (
        FILE[: start(7) + size],
        ALL[:7],
        ("truncated", 7, start(7), None),
    )
    for size in (1, 11, 12, 13, len(FRAMES[7]) - 2, len(FRAMES[7]) - 1)
}
WRONG_LENGTHS = {
    f"a changed length of record {at}": (
        changed(start(at) + 1, b"\x01"),
        without(at),
        ("length", at, start(at), None if at == 7 else len(FRAMES[at])),
    )
    for at in (0, 3, 7)
}
LYING_LENGTHS = {
    f"a length of {length} with its checksum": (
        FILE[: start(4)] + header(length) + FILE[start(4) + 12 :],
        without(4),
        ("torn", 4, start(4), len(FRAMES[4])),
    )
    for length in (1 << 20, 1 << 31, 1 << 60, (1 << 64) - 1)
}
# The file, the records that are read, and the damage.
DAMAGES: dict[str, tuple[bytes, list[int], Place]] = {
    "a changed byte of a record": (
        changed(start(2) + 20, b"?"),
        without(2),
        ("checksum", 2, start(2), 0),
    ),
    "a lost part": (
        FILE[: start(2) + 20] + FILE[start(5) :],
        without(2, 3, 4),
        ("torn", 2, start(2), 20),
    ),
    "zeros behind records": (
        FILE + bytes(5000),
        ALL,
        ("length", 8, len(FILE), None),
    ),
    "an archive": (archive(), [], ("foreign", 0, 0, None)),
    **CUT,
    **WRONG_LENGTHS,
    **LYING_LENGTHS,
}
RULES = {
    "checksum": "SG507",
    "length": "SG507",
    "torn": "SG507",
    "truncated": "SG506",
    "compression": "SG509",
    "foreign": "SG508",
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("size", [16, 1 << 21], ids=["small", "large"])
def test_each_damage_is_found_at_its_place(
    tmp_path: Path, name: str, size: int, limits: Limits
) -> None:
    """Whatever the size of the pieces in which a file is read; others are read."""
    limits.piece(size)
    data, records, place = DAMAGES[name]
    path = tmp_path / "train.tfrecord"
    path.write_bytes(data)
    assert read(path) == (records, [place])
    found = schemagen.verify(path)
    [finding] = found.findings
    [shown] = finding.examples
    assert (finding.rule, found.records) == (RULES[place[0]], len(records))
    assert shown.found
    if place[0] != "foreign":
        assert (shown.record, shown.offset) == place[1:3]


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB", "ZSTD"])
def test_a_damaged_compressed_file_is_read_up_to_its_damage(
    tmp_path: Path, compression: str
) -> None:
    """Of several streams, each of which ends within a record, all are read."""
    chance = random.Random(0)
    rows = [example({"n": n, "noise": chance.randbytes(5000)}) for n in range(80)]
    path = write_file(tmp_path / "train", rows, compression)
    path.write_bytes(path.read_bytes()[:-4000])
    _, [damage] = read(path)
    assert damage[0] == "truncated"
    assert schemagen.verify(path).records == damage[1] > 25
    pack, half = PACK[compression], start(4) + 3
    path.write_bytes(pack(FILE[:half]) + pack(FILE[half:]))
    assert read(path) == (ALL, [])
    path.write_bytes(pack(FILE))
    flip_bit(path, -2)
    assert [each[0] for each in read(path)[1]] == ["compression"]


Change = Callable[[random.Random, bytes], bytes]


def flip(chance: random.Random, data: bytes) -> bytes:
    """Flip one bit, or a few."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 4, 32))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(chance: random.Random, data: bytes) -> bytes:
    """Take out what is at one place: often the end."""
    start = chance.randrange(len(data))
    stop = len(data) if chance.random() < 0.5 else chance.randrange(start, len(data))
    return data[:start] + data[stop:]


def splice(chance: random.Random, data: bytes) -> bytes:
    """Put some bytes in, in place of others or between them."""
    size = chance.choice((1, 2, 8, 12, 40))
    start, at = chance.randrange(len(data)), chance.randrange(len(data))
    one = chance.choice((b"\xff", b"\x00", b"\x80", b"\x0a"))
    some = chance.choice((chance.randbytes(size), data[at : at + size], one * size))
    return data[:start] + some + data[start + chance.choice((0, len(some))) :]


CHANGES: tuple[Change, ...] = (flip, cut, splice)


def frames(data: bytes) -> list[bytes] | None:
    """Return the frames that bytes consist of; None if they are something else."""
    found, at = [], 0
    while at < len(data):
        if at + 12 > len(data):
            return None
        (length,) = struct.unpack_from("<Q", data, at)
        end = at + 16 + length
        if end > len(data) or data[at:end] != frame(data[at + 12 : end - 4]):
            return None
        found.append(data[at:end])
        at = end
    return found


@pytest.mark.parametrize(
    "number", [300, pytest.param(20_000, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_no_change_of_a_file_goes_unnoticed(tmp_path: Path, number: int) -> None:
    """Without a manifest all are found, unless whole records are left."""
    chance = random.Random(1)
    small = [mixed(each) for each in range(3)]
    files = [
        joined(small),
        joined([b"", small[0], b"", b"\x0a\x00"]),
        frame(small[1]),
    ]
    path = tmp_path / "train.tfrecord"
    for _ in range(number):
        path.write_bytes(chance.choice(CHANGES)(chance, chance.choice(files)))
        right = frames(path.read_bytes())
        found = schemagen.verify(path)
        damaged = {"SG506", "SG507", "SG508", "SG509"}
        damages = [each for each in found.findings if each.rule in damaged]
        assert bool(damages) == (right is None)
        if right is not None:
            assert found.records == len(right)
        assert all(each.found for every in damages for each in every.examples)


@pytest.mark.parametrize("compression", ["", "ZLIB"])
def test_no_change_goes_unnoticed_beside_a_manifest(
    tmp_path: Path, compression: str
) -> None:
    """Of any byte of any file, the manifest included; nor records that were moved."""
    messages = [mixed(each) for each in range(6)]
    root = write_data(tmp_path, Mixed, {"train": messages}, 2, compression)
    chance = random.Random(3)
    files = sorted(root.iterdir())
    for _ in range(100):
        path = chance.choice(files)
        data = path.read_bytes()
        path.write_bytes(chance.choice(CHANGES)(chance, data))
        assert schemagen.verify(root).clean == (path.read_bytes() == data)
        path.write_bytes(data)
    shard = files[1]
    parts = frames(zlib.decompress(data) if compression else shard.read_bytes())
    assert parts is not None
    shard.write_bytes(PACK[compression](b"".join(reversed(parts))))
    assert not schemagen.verify(root).clean


def test_changed_messages_never_stop_a_command(tmp_path: Path) -> None:
    """Their checksums are right; nothing of them acts on a terminal."""
    chance = random.Random(4)
    path = tmp_path / "train.tfrecord"
    for seed in range(30):
        message = chance.choice(CHANGES)(chance, mixed(seed))
        write_file(path, [message, b"\x1b[31m"])
        for verb in ("verify", "inspect"):
            result: Any = run(verb, path)
            assert result.exit_code == 1, result.output
            assert "\x1b" not in result.output
