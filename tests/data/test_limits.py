"""A small file cannot fill the memory, whatever it inflates or decodes to."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import run
from schemagen.data.framing import scan, scan_pieces
from schemagen.data.infer.reading import Reading
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.data.limits import MAX_RECORD_BYTES, byte_count, size_text
from schemagen.data.records import Damage
from schemagen.data.verify import verify
from schemagen.runtime.shared.tfrecord import frame, masked_crc32c

from .messages import example

MB = 1 << 20
LIMIT = MB
GOOD = example({"a": [1, 2]})
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "GZIP": gzip.compress,
    "ZLIB": zlib.compress,
}


def header(length: int) -> bytes:
    """Return the length of a record and its right checksum."""
    packed = struct.pack("<Q", length)
    return packed + struct.pack("<I", masked_crc32c(packed))


def scanned(path: Path, limit: int = LIMIT) -> tuple[list[bytes], list[Damage]]:
    """Return the records and the damages of a file."""
    records: list[bytes] = []
    damages: list[Damage] = []
    for each in scan(path, max_record_bytes=limit):
        if isinstance(each, Damage):
            damages.append(each)
        else:
            records += [each[row] for row in range(len(each))]
    return records, damages


def written(tmp_path: Path, data: bytes, name: str = "train.tfrecord") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_a_size_is_read_and_written_with_its_unit() -> None:
    """Units are powers of 1,024, and what is written is never less than was meant."""
    sizes = {"4096": 4096, "1KB": 1024, "256MB": 1 << 28, "256MiB": 1 << 28}
    sizes |= {"1.5 g": 3 << 29, "2gib": 2 << 30}
    for text, size in sizes.items():
        assert byte_count(text) == size
        assert size <= byte_count(size_text(size)) <= 2 * size
    assert size_text(MAX_RECORD_BYTES) == "256MB"
    for text in ("", "0", "MB", "-1MB", "1TBB", "ten", "0.1"):
        with pytest.raises(ValueError, match="is not a size"):
            byte_count(text)


def test_a_record_over_the_limit_is_skipped_in_a_plain_file(tmp_path: Path) -> None:
    """The records before and behind it are read, with their numbers."""
    big = bytes(3 * MB)
    path = written(tmp_path, frame(GOOD) + frame(big) + frame(GOOD))
    records, (damage,) = scanned(path)
    assert records == [GOOD, GOOD]
    assert (damage.kind, damage.record) == ("limit", 1)
    assert (damage.offset, damage.skipped) == (len(frame(GOOD)), len(big) + 16)
    assert damage.found == f"a record of {3 * MB} bytes"
    assert "--max-record-bytes 3MB" in damage.cause
    assert scanned(path, 3 * MB) == ([GOOD, big, GOOD], [])


def test_a_limit_holds_for_records_that_stand_in_the_window(tmp_path: Path) -> None:
    """It does not depend on how much is read at a time."""
    path = written(tmp_path, frame(GOOD) + frame(bytes(100)) * 2 + frame(GOOD))
    records, damages = scanned(path, limit=50)
    assert records == [GOOD, GOOD]
    assert [damage.record for damage in damages] == [1, 2]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_rest_of_a_compressed_file_is_not_read(
    tmp_path: Path, compression: str
) -> None:
    """Behind record is over the limit: it may inflate to a thousand times as much."""
    data = COMPRESSIONS[compression](frame(GOOD) + frame(bytes(3 * MB)) + frame(GOOD))
    records, (damage,) = scanned(written(tmp_path, data))
    assert records == [GOOD]
    assert (damage.kind, damage.skipped) == ("limit", None)
    assert "the rest of this compressed file was not read" in damage.cause


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_scanning_a_long_record_takes_no_memory(
    tmp_path: Path, compression: str
) -> None:
    """64 MB of one record are decided by its header."""
    data = COMPRESSIONS[compression](header(64 * MB) + bytes(64 * MB) + b"crc.")
    path = written(tmp_path, data)
    tracemalloc.start()
    _, damages = scanned(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [damage.kind for damage in damages] == ["limit"]
    assert peak < 16 * MB


def test_a_long_record_that_a_file_cannot_hold_is_truncated(tmp_path: Path) -> None:
    """A length that goes beyond the end of the file is damage, and no reason to read."""
    path = written(tmp_path, frame(GOOD) + header(3 * MB) + bytes(100))
    records, (damage,) = scanned(path)
    assert (records, damage.kind) == ([GOOD], "truncated")


def test_a_compressed_file_is_searched_no_further_than_a_record_may_be_long() -> None:
    """A hole in it may be any size; what stands behind it is given up."""
    data = frame(GOOD) + bytes(8 * MB) + frame(GOOD)
    pieces = [gzip.compress(data)]
    good, damage = scan_pieces(pieces, "file", max_record_bytes=LIMIT)
    assert not isinstance(good, Damage)
    assert isinstance(damage, Damage)
    assert (damage.kind, damage.skipped) == ("length", None)
    assert "the rest of the file was not read" in damage.cause
    found = list(scan_pieces(pieces, "file", max_record_bytes=16 * MB))
    assert [isinstance(each, Damage) for each in found] == [False, True, False]


def test_lengths_without_records_are_not_followed_for_ever() -> None:
    """Each costs a checksum of as many bytes as it tells of."""
    claims = b"".join(header(900_000) + b"?" for _ in range(50_000))
    data = frame(GOOD) + b"torn" * 8 + claims + bytes(2 * MB) + frame(GOOD)
    found = list(scan_pieces([data], "file", len(data), max_record_bytes=LIMIT))
    (damage,) = (each for each in found if isinstance(each, Damage))
    assert damage.skipped is None
    assert "the rest of the file was not read" in damage.cause


def bomb(tmp_path: Path) -> Path:
    """Return a file of a record over 1 MB behind a good one."""
    data = frame(GOOD) + frame(bytes(3 * MB)) + frame(GOOD)
    return written(tmp_path, gzip.compress(data), "train-00000-of-00001.tfrecord.gz")


def test_verify_reports_a_record_over_the_limit(tmp_path: Path) -> None:
    """It is a finding, and exit code 1."""
    path = bomb(tmp_path)
    found = verify(path, workers=1, max_record_bytes=LIMIT)
    (finding,) = found.findings
    assert (finding.rule, finding.examples[0].record) == ("SG512", 1)
    assert found.records == 1
    shown = run("verify", path, "--workers", "1", "--max-record-bytes", "1MB")
    assert shown.exit_code == 1
    assert "raise the limit: --max-record-bytes 3MB" in shown.output
    assert run("verify", path, "--max-record-bytes", "little").exit_code == 2
    above = verify(path, workers=1)
    assert [each.rule for each in above.findings] == ["SG521"]  # zeros are no Example


def test_inspect_reports_a_record_over_the_limit(tmp_path: Path) -> None:
    """As damage of the file, with what to do, and exit code 1."""
    path = bomb(tmp_path)
    (file,) = inspect_data(path, max_record_bytes=LIMIT).files
    assert [damage.kind for damage in file.damages] == ["limit"]
    shown = run("inspect", path, "--max-record-bytes", "1MB")
    assert shown.exit_code == 1
    assert "--max-record-bytes 3MB" in " ".join(shown.output.split())
    data = json.loads(
        run("inspect", path, "--max-record-bytes", "1MB", "--format", "json").output
    )
    assert data["files"][0]["damages"][0]["kind"] == "limit"


def test_infer_reports_a_record_over_the_limit(tmp_path: Path) -> None:
    """The schema is that of the other records."""
    path = bomb(tmp_path)
    reading = Reading(LIMIT)
    assert sum(len(each.records) for each in reading.batches([path], None)) == 1
    assert [damage.kind for damage in reading.damages] == ["limit"]
    out = tmp_path / "schema.py"
    shown = run("infer", path, "--out", out, "--max-record-bytes", "1MB")
    assert shown.exit_code == 0, shown.output
    assert "raise the limit: --max-record-bytes 3MB" in shown.output


_LIMITED = """
import sys
from schemagen.cli import main
code = 0
try:
    main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
with open("/proc/self/status") as status:
    (line,) = (line for line in status if line.startswith("VmHWM"))
print(int(line.split()[1]) >> 10, file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def small_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file with one record of 1.5 GB."""
    path = tmp_path_factory.mktemp("small") / "one.tfrecord.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(header(1500 * MB))
        for _ in range(1500):
            file.write(bytes(MB))
    return path


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("verb", ["verify", "inspect", "infer"])
def test_no_verb_takes_a_gigabyte_for_a_small_file(
    small_file: Path, tmp_path: Path, verb: str
) -> None:
    """Whatever it inflates to."""
    more = ["--out", str(tmp_path / "s.py"), "--force"] if verb == "infer" else []
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, verb, str(small_file), *more],
        capture_output=True,
        text=True,
        timeout=300,
    )
    *_, last = done.stderr.splitlines()
    assert done.returncode in (1, 2), done.stderr
    assert int(last) < 1000
