"""A hundred thousand damaged files: none goes unnoticed, none ends or stops a run.

The damages are flipped bits, cuts, and bytes spliced in: of the same file, of another,
at random. What is right by framing and checksums alone cannot be told from what was
written: whole records that were added, taken away or moved are found by the manifest
only, and records that are changed together with their checksums by the spec only, if
what they say is wrong.
"""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from schemagen.data.decoding import decode
from schemagen.data.framing import scan_pieces
from schemagen.data.records import Damage, Records, records_of
from schemagen.data.verify import verify
from schemagen.data.verify.record import RecordCheck
from schemagen.data.verify.tally import Tally
from schemagen.runtime.shared.tfrecord import frame, masked_crc32c
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.manifest import Manifest, Shard, Split
from schemagen.spec.serial import from_data

from .messages import MIXED, mixed

FRAMED, MESSAGES, WHOLE = 70_000, 30_000, 200

Change = Callable[[random.Random, bytes], bytes]


def flip(chance: random.Random, data: bytes) -> bytes:
    """Flip one bit, or a few."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 4, 32))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(chance: random.Random, data: bytes) -> bytes:
    """Take out what stands at one place: often the end."""
    start = chance.randrange(len(data))
    stop = len(data) if chance.random() < 0.5 else chance.randrange(start, len(data))
    return data[:start] + data[stop:]


def splice(chance: random.Random, data: bytes) -> bytes:
    """Put some bytes in, in place of others or between them."""
    size = chance.choice((1, 2, 8, 12, 40))
    start = chance.randrange(len(data))
    source = chance.randrange(3)
    if source == 0:
        some = chance.randbytes(size)
    elif source == 1:
        at = chance.randrange(len(data))
        some = data[at : at + size]
    else:
        some = chance.choice((b"\xff", b"\x00", b"\x80", b"\x0a")) * size
    return data[:start] + some + data[start + chance.choice((0, len(some))) :]


CHANGES: tuple[Change, ...] = (flip, cut, splice)


def frames(data: bytes) -> list[bytes] | None:
    """Return the frames that bytes consist of, by the letter; None if of none."""
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


def looked_at(data: bytes) -> tuple[list[Damage], int]:
    """Return the damages and the number of good records of a file."""
    damages, records = [], 0
    for each in scan_pieces([data], "fuzzed", len(data)):
        if isinstance(each, Damage):
            damages.append(each)
            assert each.found
            assert each.record >= 0
        else:
            records += len(each)
    return damages, records


@pytest.mark.slow
def test_no_damage_of_a_file_goes_unnoticed() -> None:
    """Framing and both checksums tell, wherever a whole record was not the unit."""
    chance = random.Random(1)
    small = [mixed(number) for number in range(3)]
    files = [
        b"".join(map(frame, small)),
        b"".join(map(frame, [b"", small[0], b"", b"x"])),
        frame(small[1]),
    ]
    for _ in range(FRAMED):
        data = chance.choice(files)
        changed = chance.choice(CHANGES)(chance, data)
        damages, records = looked_at(changed)
        right = frames(changed)
        assert bool(damages) == (right is None)
        if right is not None:
            assert records == len(right)


@pytest.mark.slow
def test_no_message_ends_a_run() -> None:
    """Records that were changed together with their checksums: each is read or refused.

    Whoever is told that a record is well-formed gets one from protobuf, too.
    """
    chance = random.Random(2)
    check = RecordCheck(from_data(MIXED))
    at_once = 500
    for _ in range(MESSAGES // at_once):
        messages = [
            chance.choice(CHANGES)(chance, mixed(number % 5))
            for number in range(at_once)
        ]
        tally = Tally(3)
        tally.add_records(check, decode(records_of(messages)))
        assert tally.records == at_once
        assert tally.wrong <= at_once
        for finding in tally.findings(None, []):
            assert len(finding.examples) <= 3


def written(root: Path, compression: str = "") -> Path:
    """Write a data directory with a manifest and two small files."""
    shards = []
    for number in range(2):
        messages = [mixed(number + each) for each in range(3)]
        data = b"".join(map(frame, messages))
        if compression == "ZLIB":
            data = zlib.compress(data)
        name = f"train-0000{number}-of-00002.tfrecord"
        (root / name).write_bytes(data)
        crc = _crc32c(data)
        shards.append(Shard(name, len(messages), len(data), f"{crc:08x}"))
    split = Split(compression, tuple(shards))
    text = manifest.dumps(Manifest("mixed", "0" * 16, MIXED, {"train": split}))
    (root / manifest.FILE_NAME).write_text(text)
    return root


def _crc32c(data: bytes) -> int:
    rotated = (masked_crc32c(data) - 0xA282EAD8) & 0xFFFFFFFF
    return (rotated << 15 | rotated >> 17) & 0xFFFFFFFF


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("compression", ["", "ZLIB"])
def test_nothing_goes_unnoticed_beside_a_manifest(
    tmp_path: Path, compression: str
) -> None:
    """Any change of any byte of any file, through the whole use case."""
    root = written(tmp_path, compression)
    assert verify(root).clean
    chance = random.Random(3)
    files = sorted(root.iterdir())
    for _ in range(WHOLE):
        path = chance.choice(files)
        data = path.read_bytes()
        changed = chance.choice(CHANGES)(chance, data)
        path.write_bytes(changed)
        found = verify(root)
        assert found.clean == (changed == data), changed
        for each in found.findings:
            assert each.examples[0].found
            json.dumps(each.finding().message)
        path.write_bytes(data)
    assert verify(root).clean


def test_whole_records_that_were_moved_are_noticed_beside_a_manifest_only(
    tmp_path: Path,
) -> None:
    """Framing cannot tell: each record is whole."""
    root = written(tmp_path)
    path = root / "train-00000-of-00002.tfrecord"
    parts = frames(path.read_bytes())
    assert parts is not None
    path.write_bytes(b"".join(reversed(parts)))
    assert not verify(root).clean
    (root / manifest.FILE_NAME).unlink()
    assert verify(root).clean


@pytest.mark.parametrize("length", [1 << 60, (1 << 64) - 1, 1 << 31, 1 << 20])
def test_a_length_that_asks_for_anything_is_a_finding(
    tmp_path: Path, length: int
) -> None:
    """With its checksum right; no memory is asked for, and what follows is found."""
    head = struct.pack("<Q", length)
    liar = head + struct.pack("<I", masked_crc32c(head)) + b"few bytes"
    path = tmp_path / "train.tfrecord"
    path.write_bytes(frame(mixed(1)) + liar + frame(mixed(2)))
    found = verify(path)
    assert [each.rule for each in found.findings] == ["SG507"]
    assert found.records == 2
    path.write_bytes(frame(mixed(1)) + liar)
    assert verify(path).findings[0].rule in ("SG506", "SG507")


def test_a_fuzzed_file_is_no_bug_of_the_verb(tmp_path: Path) -> None:
    """The command ends with 0 or 1, and prints nothing that acts on a terminal."""
    chance = random.Random(4)
    path = tmp_path / "train.tfrecord"
    for number in range(30):
        message = chance.choice(CHANGES)(chance, mixed(number))
        path.write_bytes(frame(message) + frame(b"\x1b[31m"))
        result = run("verify", path)
        assert result.exit_code == 1, result.output
        assert "\x1b" not in result.output


def test_the_changes_change_something() -> None:
    """Most of them; otherwise the tests above would test nothing."""
    chance = random.Random(5)
    data = frame(mixed(3))
    for change in CHANGES:
        same = sum(change(chance, data) == data for _ in range(200))
        assert same < 40


def test_runs_of_records_stay_as_they_are() -> None:
    """What is checked is not changed: two checks of the same columns say the same."""
    check = RecordCheck(from_data(MIXED))
    records: Records = records_of([mixed(1), mixed(2)[:-1]])
    columns = decode(records)
    before = columns.records.data.copy()
    first = [(each.field, each.fault.what) for each in check.faults(columns)]
    assert first == [(each.field, each.fault.what) for each in check.faults(columns)]
    np.testing.assert_array_equal(columns.records.data, before)
