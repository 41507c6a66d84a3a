"""Files are cut into records, and what is damaged is told and passed over."""

from __future__ import annotations

import gzip
import random
import struct
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from schemagen.data import scanner
from schemagen.data.framing import scan, scan_pieces
from schemagen.data.records import Damage, Records
from schemagen.runtime.shared.tfrecord import frame, masked_crc32c

MESSAGES = [bytes([65 + n]) * (20 + 7 * n) for n in range(8)]
FRAMES = [frame(message) for message in MESSAGES]
FILE = b"".join(FRAMES)


def offset_of(number: int) -> int:
    """Return where a record's frame begins."""
    return sum(map(len, FRAMES[:number]))


def read(
    pieces: Iterable[bytes], size: int | None = None
) -> tuple[list[tuple[int, bytes]], list[Damage]]:
    """Return the records with their numbers, and the damages."""
    found: list[tuple[int, bytes]] = []
    damages: list[Damage] = []
    for each in scan_pieces(pieces, "file", size):
        if isinstance(each, Damage):
            damages.append(each)
        else:
            rows = range(len(each))
            found += [(int(each.numbers[row]), each[row]) for row in rows]
    return found, damages


def facts(damage: Damage) -> tuple[str, int, int, int | None]:
    return damage.kind, damage.record, damage.offset, damage.skipped


def changed(at: int, by: bytes) -> bytes:
    return FILE[:at] + by + FILE[at + len(by) :]


@pytest.mark.parametrize("size", [1, 5, 100, 1 << 20])
@pytest.mark.parametrize("run", [16, 64, 1 << 20])
def test_records_in_pieces_of_any_size(
    size: int, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the bytes come, the records are those that were written."""
    monkeypatch.setattr(scanner, "RUN_BYTES", run)
    pieces = [FILE[at : at + size] for at in range(0, len(FILE), size)]
    assert read(pieces, len(FILE)) == (list(enumerate(MESSAGES)), [])


def test_offsets_are_those_of_the_bytes() -> None:
    """`offsets` say where in the file a record's own bytes begin."""
    (run,) = scan_pieces([FILE], "file", len(FILE))
    assert isinstance(run, Records)
    assert run.offsets.tolist() == [offset_of(number) + 12 for number in range(8)]
    part = list(
        scan_pieces([FILE[offset_of(3) :]], "file", first=3, offset=offset_of(3))
    )
    assert isinstance(part[0], Records)
    assert part[0].numbers.tolist() == [3, 4, 5, 6, 7]
    assert part[0].offsets.tolist() == run.offsets.tolist()[3:]


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_compression_is_told_by_content(tmp_path: Path, compress: object) -> None:
    """Whatever the file is called, in one stream or in two."""
    path = tmp_path / "records.tfrecord"
    half = offset_of(4) + 3
    path.write_bytes(compress(FILE[:half]) + compress(FILE[half:]))  # type: ignore[operator]
    (run,) = scan(path)
    assert isinstance(run, Records)
    assert [run[row] for row in range(len(run))] == MESSAGES


def test_a_flipped_byte_in_a_record_costs_that_record() -> None:
    """The others are read."""
    found, damages = read([changed(offset_of(2) + 12, b"?")], len(FILE))
    assert [number for number, _ in found] == [0, 1, 3, 4, 5, 6, 7]
    assert [*map(facts, damages)] == [("checksum", 2, offset_of(2), 0)]
    assert damages[0].expected == "the 34 bytes that were written"


@pytest.mark.parametrize("number", [0, 3, 7])
def test_behind_a_flipped_byte_in_a_length_the_next_record_is_found(
    number: int,
) -> None:
    """Wherever it is."""
    at = offset_of(number)
    found, damages = read([changed(at + 1, b"\x01")], len(FILE))
    assert [each for _, each in found] == MESSAGES[:number] + MESSAGES[number + 1 :]
    skipped = None if number == 7 else len(FRAMES[number])
    assert facts(damages[0]) == ("length", number, at, skipped)


@pytest.mark.parametrize("sized", [False, True])
def test_a_length_of_2_to_the_60_is_damage(sized: bool) -> None:
    """Its checksum is right, and no bytes are waited for."""
    length = struct.pack("<Q", 1 << 60)
    header = length + struct.pack("<I", masked_crc32c(length))
    found, damages = read([changed(offset_of(4), header)], len(FILE) if sized else None)
    assert len(found) == 7
    assert facts(damages[0]) == ("length", 4, offset_of(4), len(FRAMES[4]))
    assert damages[0].found == (
        "a length of 1152921504606846976 bytes, with its checksum"
    )


CUTS = {
    1: "the file ends 1 bytes into a record's length",
    11: "the file ends 11 bytes into a record's length",
    12: "the file ends 0 bytes into a record of 69 bytes",
    13: "the file ends 1 bytes into a record of 69 bytes",
    len(FRAMES[7]) - 2: "the file ends 2 bytes into the checksum of a record",
    len(FRAMES[7]) - 1: "the file ends 3 bytes into the checksum of a record",
}


@pytest.mark.parametrize("sized", [False, True])
@pytest.mark.parametrize("cut", CUTS)
def test_a_file_that_ends_too_early_is_read_up_to_its_end(
    cut: int, sized: bool
) -> None:
    """It is truncated, which is not damage of another kind."""
    data = FILE[: offset_of(7) + cut]
    found, [damage] = read([data], len(data) if sized else None)
    assert len(found) == 7
    assert facts(damage) == ("truncated", 7, offset_of(7), None)
    assert damage.found == CUTS[cut]


def test_a_part_that_was_lost() -> None:
    """A record that goes on as another one is torn; those behind it are read."""
    data = FILE[: offset_of(2) + 20] + FILE[offset_of(5) :]
    for size in (None, len(data)):
        found, damages = read([data], size)
        assert [message for _, message in found] == MESSAGES[:2] + MESSAGES[5:]
        assert [*map(facts, damages)] == [("torn", 2, offset_of(2), 20)]


def test_a_torn_gzip_file(tmp_path: Path) -> None:
    """What could be inflated is read; the rest is told."""
    random.seed(0)
    whole = b"".join(frame(random.randbytes(500)) for _ in range(40))
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(whole)[:-4000])
    *runs, damage = scan(path)
    assert sum(len(run) for run in runs if isinstance(run, Records)) == 32
    assert isinstance(damage, Damage)
    assert (damage.kind, damage.record) == ("truncated", 32)
    assert damage.found == "the file ends before the end of its GZIP stream"


def test_an_archive_of_records_is_not_a_damaged_file(tmp_path: Path) -> None:
    """Though whole records are in it."""
    path = tmp_path / "old.tfrecord"
    (tmp_path / "a").write_bytes(FILE)
    with tarfile.open(path, "w") as archive:
        archive.add(tmp_path / "a", "a")
    (damage,) = scan(path)
    assert isinstance(damage, Damage)
    assert (damage.kind, damage.found) == ("foreign", "a tar archive")


def test_zeros_behind_records() -> None:
    """They are called so, with how many bytes are lost."""
    found, [damage] = read([FILE + bytes(5000)], len(FILE) + 5000)
    assert len(found) == 8
    assert damage.found == (
        "zeros, and no record in the 5,000 bytes from there to the end"
    )
    assert damage.cause.startswith("space that was set aside and never written")


def test_a_flipped_bit_of_a_gzip_file(tmp_path: Path) -> None:
    """It is GZIP all the same, and damaged."""
    data = bytearray(gzip.compress(FILE))
    data[-6] ^= 1
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    *_, damage = scan(path)
    assert isinstance(damage, Damage)
    assert damage.found == "damaged GZIP data: incorrect data check"


def test_any_change_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each single byte, in runs of any size; what is read is what was written."""
    for run in (16, 1 << 20):
        monkeypatch.setattr(scanner, "RUN_BYTES", run)
        for at in range(len(FILE)):
            found, damages = read([changed(at, bytes([FILE[at] ^ 0x10]))], len(FILE))
            assert damages, at
            assert len(found) == 7
            assert {message for _, message in found} < set(MESSAGES)
