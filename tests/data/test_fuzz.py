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
from schemagen.spec.serial import from_data
from schemagen.support import manifest
from schemagen.support.manifest import Manifest, Shard, Split
from schemagen.support.tfrecord import frame, masked_crc32c

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
