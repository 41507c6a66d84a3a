"""A small file cannot fill the memory, whatever it inflates or decodes to."""

from __future__ import annotations

import functools
import gzip
import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import schemagen
from command_line import findings_of, make_project, run
from tfrecord_files import frame, header

from .messages import PACK, example, number, sized, write_file

MB = 1 << 20
GOOD = example({"a": [1, 2]})


def blob(size: int) -> bytes:
    """Return a record of so many bytes."""
    spare = size
    while len(found := example({"b": bytes(spare)})) > size:
        spare -= 1
    return found


@pytest.fixture
def limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the limit of the project that commands run in."""
    monkeypatch.chdir(tmp_path)

    def limited(value: str) -> None:
        text = f"[tool.schemagen]\nmax-record-bytes = {value}\n"
        Path("pyproject.toml").write_text(text)

    return limited


@pytest.mark.parametrize(
    ("limit", "size"), [("4096", 4096), ('"1KiB"', 1024), ('"2MiB"', 2 * MB)]
)
def test_the_limit_is_a_setting(
    tmp_path: Path, limited: Callable[[str], None], limit: str, size: int
) -> None:
    """Units are powers of 1,024; a record of exactly the limit is read."""
    path = write_file(tmp_path / "train.tfrecord", [blob(size), blob(size + 1)])
    assert run("verify", path).exit_code == 0
    limited(limit)
    [finding] = findings_of("verify", path, code=1)
    assert (finding["rule"], finding["data"]["record"]) == ("SG512", 1)
    (tmp_path / "below").mkdir()
    assert run("verify", path, "--project", tmp_path / "below").exit_code == 1


@pytest.mark.parametrize(
    "limit", ['""', '"0MiB"', "0", "-1", '"1MB"', '"1.5GiB"', '"ten"', "1.5", "true"]
)
def test_a_limit_that_is_not_a_size_is_refused(
    tmp_path: Path, limited: Callable[[str], None], limit: str
) -> None:
    """The message has an example of a size."""
    path = write_file(tmp_path / "train.tfrecord", [GOOD])
    limited(limit)
    result = run("verify", path)
    assert result.exit_code == 2
    assert "pyproject.toml:2:1: SG401 setting 'max-record-bytes'" in result.stderr
    assert '"256MiB"' in result.stderr


@pytest.mark.usefixtures("adopt_in_process")
@pytest.mark.parametrize("compression", PACK)
def test_every_verb_reports_a_record_over_the_limit(
    tmp_path: Path, limited: Callable[[str], None], compression: str
) -> None:
    """The rest of a compressed file is not read; all of it with the default limit."""
    messages = [GOOD, example({"a": [1, 2], "b": bytes(3 * MB)}), GOOD]
    path = write_file(tmp_path / "train", messages, compression)
    limited('"1MiB"')
    found = schemagen.verify(path, max_record_bytes=MB)
    assert [each.rule for each in found.findings] == ["SG512"]
    assert found.records == (1 if compression else 2)
    document = json.loads(run("inspect", path, "--format", "json").stdout)
    [damage] = document["files"][0]["damages"]
    place = (damage["kind"], damage["record"], damage["offset"], damage["skipped"])
    skipped = None if compression else len(messages[1]) + 16
    assert place == ("limit", 1, len(frame(GOOD)), skipped)
    verbs = [
        ("verify", path),
        ("inspect", path),
        ("infer", path, "--out", "schemas/infer.py", "--force"),
        ("adopt", path, "--out", "schemas/adopt.py", "--force"),
    ]
    for verb in verbs:
        result = run(*verb)
        assert result.exit_code == 1, result.output
        assert "record-bytes" in result.output, verb
    Path("pyproject.toml").write_text("[tool.schemagen]\n")
    assert [run(*verb).exit_code for verb in verbs[:3]] == [0] * 3
    assert schemagen.verify(path).clean


@pytest.mark.parametrize("compression", PACK)
def test_a_long_record_is_decided_by_its_header(
    tmp_path: Path, compression: str
) -> None:
    """64 MB are not held."""
    data = header(64 * MB) + bytes(64 * MB) + b"crc."
    path = tmp_path / "train.tfrecord"
    path.write_bytes(PACK[compression](data))
    del data
    tracemalloc.start()
    [file] = schemagen.inspect(path, max_record_bytes=MB).files
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [each.kind for each in file.damages] == ["limit"]
    assert peak < 16 * MB


CLAIM = 1900 * MB


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (header(CLAIM)[:8] + b"crc.", "length"),
        (header(CLAIM), "truncated"),
        (header(CLAIM) + frame(GOOD), "torn"),
    ],
    ids=["a damaged length", "a long record", "a record within one"],
)
@pytest.mark.parametrize("compression", PACK)
def test_a_length_takes_no_memory(
    tmp_path: Path, compression: str, start: bytes, kind: str
) -> None:
    """Only what is there is held, also by default."""
    path = tmp_path / "train.tfrecord"
    path.write_bytes(PACK[compression](frame(GOOD) + start + bytes(2 * MB)))
    tracemalloc.start()
    [file] = schemagen.inspect(path).files
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [each.kind for each in file.damages][:1] == [kind]
    assert peak < 32 * MB


def test_a_record_that_inflates_is_held_once(tmp_path: Path) -> None:
    """A record with a wrong checksum, a thousand times as large as its file."""
    path = tmp_path / "train.tfrecord.gz"
    path.write_bytes(gzip.compress(header(130 * MB) + bytes(200 * MB), 1))
    tracemalloc.start()
    [file] = schemagen.inspect(path).files
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert file.records == 0
    assert file.damages
    assert peak < 1.6 * 130 * MB


CLAIMS = b"".join(header(900_000) + b"?" for _ in range(50_000))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (frame(GOOD) + header(3 * MB) + bytes(100), "truncated"),
        (gzip.compress(frame(GOOD) + bytes(8 * MB) + frame(GOOD)), "length"),
        (frame(GOOD) + b"torn" * 8 + CLAIMS + bytes(2 * MB) + frame(GOOD), "length"),
    ],
    ids=["a length beyond the end", "a hole in a compressed file", "many lengths"],
)
def test_a_search_for_the_next_record_ends(
    tmp_path: Path, data: bytes, kind: str
) -> None:
    """No further than a record may be long, and not for each length that is claimed."""
    path = tmp_path / "train.tfrecord"
    path.write_bytes(data)
    found = schemagen.inspect(path, max_record_bytes=MB)
    [damage] = found.files[0].damages
    assert (damage.kind, damage.skipped) == (kind, None)
    assert found.splits["train"].records == 1


_MEASURED = """
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
    """Whatever it inflates to, in a project that limits its records."""
    text = '[tool.schemagen]\nmax-record-bytes = "256MiB"\n'
    (tmp_path / "pyproject.toml").write_text(text)
    more: list[Any] = ["--out", tmp_path / "s.py"] if verb == "infer" else []
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, verb, str(small_file), *map(str, more)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    *_, last = done.stderr.splitlines()
    assert done.returncode in (1, 2), done.stderr
    assert int(last) < 1000


def _entries(*contents: bytes) -> bytes:
    """Return the entries of a map of features."""
    return b"".join(sized(1, each) for each in contents)


def _keys(size: int) -> list[bytes]:
    """Return so many different keys."""
    return [f"{number:04x}".encode() for number in range(65_536, 65_536 + size)]


_OWN = sized(1, b"x") + sized(2, sized(3, sized(1, b"\1")))
_BARE = [sized(1, key) for key in _keys(20_000)]
_EMPTY = [sized(1, key) + sized(2, b"") for key in _keys(20_000)]
_UNKNOWN = b"".join(number(20 + each, 0) for each in range(100_000))
_X = sized(1, _entries(_OWN))

SHAPES = {
    "many empty features": [sized(1, _entries(_OWN, *_EMPTY))],
    "the same key": [sized(1, _entries(_OWN, *[sized(1, b"k")] * 100_000))],
    "odd features": [
        sized(1, _entries(_OWN, *[each[:-1] + b"\2\x48\0" for each in _EMPTY]))
    ],
    "many unknown fields": [_X + _UNKNOWN],
    "nested unknown fields": [
        _X + functools.reduce(lambda inner, _: sized(4, inner), range(2000), b"") * 100
    ],
    "many integers": [
        sized(
            1, _entries(_OWN, sized(1, b"k") + sized(2, sized(3, sized(1, bytes(MB)))))
        )
    ],
    "many steps": [
        _X + sized(2, _entries(sized(1, b"k") + sized(2, sized(1, b"") * 200_000)))
    ],
    "a hundred other keys each": [
        sized(1, _entries(_OWN, *_EMPTY[at : at + 100])) for at in range(0, 20_000, 100)
    ],
    "many bare keys": [sized(1, _entries(_OWN, *_BARE))],
    "empty entries": [sized(1, _entries(_OWN, *[b""] * 200_000))],
    "unknown fields in the map": [sized(1, _entries(_OWN) + _UNKNOWN)],
    "unknown fields in a list": [
        sized(1, _entries(_OWN, sized(1, b"k") + sized(2, sized(3, _UNKNOWN))))
    ],
    "groups": [_X + b"\x23" * 500_000],
    "many empty texts": [
        sized(
            1,
            _entries(
                _OWN, sized(1, b"k") + sized(2, sized(1, sized(1, b"") * 200_000))
            ),
        )
    ],
    "many feature lists": [_X + sized(2, _entries(*_EMPTY))],
}
"""Records that take the most memory for their bytes."""

WAYS = ("verify --record", "inspect", "infer", "batches")

_OTHER_WAYS = {
    "many empty features": ("verify", "open_split", "describe", "diff", "adopt")
}
"""Ways that do a part of what the others do, or are made of them, meet one shape."""

_STATISTICS = {"inspect": 32 * MB, "describe": 32 * MB, "diff": 64 * MB}
"""What statistics of 5,000 keys take; `diff` has those of two files."""

_SLOWEST = 15
"""CPU seconds for a megabyte, on a machine that other tests use too."""


@pytest.fixture(scope="module")
def measured(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str, Path], tuple[int, float]]]:
    """Return what a way to read a file takes: bytes of memory and CPU seconds.

    Memory is that in addition to what a small file takes.
    """
    root = tmp_path_factory.mktemp("measured")
    schema = "from schemagen import Record\n\n\nclass Small(Record):\n    x: int\n"
    make_project(root, {"small.py": schema}, output="measured_package")
    schemagen.generate(root)
    warm = write_file(root / "warm.tfrecord", [_X] * 10)
    checkout = Path(schemagen.__file__).parents[1]
    server = subprocess.Popen(
        [
            *(sys.executable, Path(__file__).with_name("measured.py")),
            *("measured_package", warm),
        ],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{checkout}{os.pathsep}{root}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    to, found = server.stdin, server.stdout
    assert to is not None
    assert found is not None

    def ask(way: str, path: Path) -> tuple[int, float]:
        print(json.dumps([way, str(path)]), file=to, flush=True)
        memory, seconds = json.loads(found.readline())
        return memory, seconds

    @functools.cache
    def usual(way: str) -> int:
        memory, _ = ask(way, warm)
        return memory

    def measured(way: str, path: Path) -> tuple[int, float]:
        memory, seconds = ask(way, path)
        return memory - usual(way), seconds

    yield measured
    to.close()
    assert server.wait() == 0


@pytest.mark.quick_cases(8)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_record_of_any_shape_takes_up_to_a_hundred_times_its_bytes(
    measured: Callable[[str, Path], tuple[int, float]], tmp_path: Path, shape: str
) -> None:
    """In all commands and readers, as SECURITY.md says, and time in proportion."""
    path = write_file(tmp_path / "large.tfrecord", SHAPES[shape])
    size = path.stat().st_size
    for way in (*WAYS, *_OTHER_WAYS.get(shape, ())):
        memory, seconds = measured(way, path)
        most = 100 * size + _STATISTICS.get(way, 0)
        assert memory < most, f"{way}: {memory / size:.0f} times"
        assert seconds < _SLOWEST * (size / MB + 1), way


def test_gzip_members_take_no_longer_than_in_python(tmp_path: Path) -> None:
    """Any number of short ones: what follows each is not copied."""
    path = tmp_path / "train.tfrecord.gz"
    path.write_bytes(gzip.compress(b"") * 100_000 + gzip.compress(frame(GOOD)))
    start = time.process_time()
    with gzip.open(path) as file:
        assert file.read() == frame(GOOD)
    python = time.process_time() - start
    start = time.process_time()
    assert schemagen.verify(path).records == 1
    assert time.process_time() - start < 1.5 * python


def test_infer_refuses_many_keys_before_it_looks_at_their_values(
    tmp_path: Path,
) -> None:
    """The message has some of them."""
    path = write_file(tmp_path / "a.tfrecord", SHAPES["a hundred other keys each"])
    result = run("infer", path, "--out", tmp_path / "schema.py")
    assert result.exit_code == 2
    assert "more than 2,000 keys" in result.output
    assert "keys such as '10000', '10001'" in result.output
