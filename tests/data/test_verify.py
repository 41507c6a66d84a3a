"""`schemagen verify` on files: what it finds, counts, and leaves alone."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
import schemagen
from command_line import make_project, run
from damaged_files import flip_bit
from digit_rows import rows as digits
from jsonschema import Draft202012Validator
from schemagen import Label
from tfrecord_files import frame, frames

from generated import DatasetError
from generated.digit.serializer import write_dataset

from .conftest import Limits
from .messages import (
    FIELDS,
    PACK,
    Mixed,
    example,
    mixed,
    record,
    write_data,
    write_file,
)

ROOT = Path(__file__).parents[2]

SCHEMA = """\
from typing import Annotated

from schemagen import Label, Record, Text


class Pet(Record):
    \"\"\"A pet.\"\"\"

    breed: Annotated[int, Label(num_classes=3)]
    name: Annotated[str, Text()]
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory of two shards."""
    messages = [mixed(at // 2) for at in range(10)]
    return write_data(tmp_path / "data", Mixed, {"train": messages}, shards=2)


def rules(source: Path | str, **options: Any) -> list[str]:
    """Return the rules of what is found."""
    return [each.rule for each in schemagen.verify(source, **options).findings]


def test_whole_data_has_no_findings(data: Path) -> None:
    """The counts say what was looked at, and with whose schema."""
    found = schemagen.verify(data)
    assert found.clean
    [split] = found.splits
    assert (split.split, split.files, split.records, split.wrong) == ("train", 2, 10, 0)
    assert (split.record, split.spec_from, split.whole) == ("mixed", "manifest", True)
    assert split.bytes == sum(path.stat().st_size for path in data.glob("*.tfrecord"))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("train", b"", ["SG505"]),
        ("train", gzip.compress(b"", mtime=0), ["SG505"]),
        *[
            (f"train.tfrecord.{suffix}", pack(frame(mixed(0))), rules)
            for suffix, right in (("gz", "GZIP"), ("zlib", "ZLIB"), ("zst", "ZSTD"))
            for compression, pack in PACK.items()
            for rules in [[] if compression == right else ["SG509"]]
        ],
    ],
)
def test_empty_and_wrongly_compressed_files_are_findings(
    tmp_path: Path, name: str, data: bytes, expected: list[str]
) -> None:
    """Programs that go by the name would not read them."""
    path = tmp_path / name
    path.write_bytes(data)
    found = schemagen.verify(path, record=Mixed).findings
    assert [each.rule for each in found] == expected
    assert all(each.examples[0].cause for each in found)


def _unlisted(first: Path, second: Path) -> None:
    write_file(first.parent / "old-00000-of-00001.tfrecord", [mixed(0)])


def _edited(first: Path, second: Path) -> None:
    path = first.parent / "manifest.json"
    path.write_text(path.read_text().replace("train", "trair"))


LONGER = frames(mixed(at) for at in (0, 1, 2, 3, 4, 1))
# What is done to the first of two files, and the rules of what is found.
CHANGES: dict[str, tuple[Callable[[Path, Path], object], list[str]]] = {
    "missing": (lambda first, second: first.unlink(), ["SG502"]),
    "compressed": (
        lambda first, second: first.write_bytes(gzip.compress(second.read_bytes())),
        ["SG503", "SG509"],
    ),
    "longer": (lambda first, second: first.write_bytes(LONGER), ["SG503", "SG503"]),
    "no records": (
        lambda first, second: first.write_bytes(second.read_bytes()[::-1]),
        ["SG503", "SG503", "SG508"],
    ),
    "unlisted": (_unlisted, ["SG504"]),
    "manifest": (_edited, ["SG501"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_files_are_compared_with_the_manifest(data: Path, change: str) -> None:
    """And checked all the same where it cannot be read."""
    make, expected = CHANGES[change]
    first, second = sorted(data.glob("*.tfrecord"))
    make(first, second)
    found = schemagen.verify(data)
    assert [each.rule for each in found.findings] == expected
    assert found.records >= 5


def test_another_whole_file_is_told_from_a_broken_copy(data: Path) -> None:
    """By whether it ends with a whole record."""
    second = sorted(data.glob("*.tfrecord"))[1]
    long = second.read_bytes()
    causes = []
    for content in (frame(mixed(1)), b"", long[:-3], long[:-1] + b"?"):
        second.write_bytes(content)
        found = schemagen.verify(data).findings
        some = [each.examples[0].cause for each in found if each.rule == "SG503"]
        causes.append(next(filter(None, some)))
    whole, empty, cut, changed = causes
    assert empty == cut
    assert len({whole, cut, changed}) == 3


def test_an_unreadable_file_is_a_finding(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are read."""
    real = Path.open

    def fails(self: Path, *arguments: Any, **options: Any) -> Any:
        if "00000" in self.name:
            raise PermissionError(13, "Permission denied")
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", fails)
    found = schemagen.verify(data)
    assert [each.rule for each in found.findings] == ["SG510"]
    assert found.records == 5


CLASSES = ("a", "b", "c")


@pytest.mark.parametrize(
    ("field", "label", "advice"),
    [
        ("label", Label(classes=CLASSES, key="class"), "SG204"),
        ("class_id", Label(classes=CLASSES, key="class_id"), "key='label'"),
    ],
)
def test_another_schema_than_that_of_the_data_is_a_finding(
    data: Path, field: str, label: Label, advice: str
) -> None:
    """As generated readers refuse it; a field that was renamed needs its old key."""
    others = {name: each for name, each in FIELDS.items() if name != "label"}
    other = record("Mixed", {field: Annotated[int, label], **others}, age=None)
    found = schemagen.verify(data, record=other)
    assert [each.rule for each in found.findings] == ["SG511", "SG522"]
    assert advice in found.findings[0].examples[0].cause
    assert found.splits[0].spec_from == "project"


def test_a_limit_is_of_records_of_a_split(data: Path) -> None:
    """Whole files are then not compared, which the counts say."""
    write_file(sorted(data.glob("*.tfrecord"))[1], [mixed(0)] * 3 + [b"wrong"])
    found = schemagen.verify(data, limit=7)
    assert (found.records, found.clean, found.splits[0].whole) == (7, True, False)
    assert schemagen.verify(data, limit=9).findings[-1].rule == "SG521"


@pytest.mark.parametrize("place", [3, 3000, 40_000])
def test_results_do_not_depend_on_parts_or_workers(
    tmp_path: Path, limits: Limits, place: int
) -> None:
    """One file or ten parts, one process or two: the same findings, the same places."""
    messages = [
        example({"label": at % 9}) if at % 7 == 0 else mixed(at % 5)
        for at in range(400)
    ]
    data = write_data(tmp_path / "data", Mixed, {"train": messages})
    [path] = data.glob("*.tfrecord")
    flip_bit(path, place)
    expected = schemagen.verify(data, examples=5)
    assert len({each.rule for each in expected.findings}) > 2
    limits.part(4000)
    assert schemagen.verify(data, examples=5) == expected
    assert schemagen.verify(data, examples=5, workers=2) == expected


def test_the_command_prints_what_was_found_and_read(data: Path) -> None:
    """Exit code 0 without findings, 1 with some; findings to stderr, escaped."""
    clean = run("verify", data)
    assert (clean.exit_code, clean.stderr) == (0, "")
    assert "train: 10 records in 2 files" in clean.stdout
    path = sorted(data.glob("*.tfrecord"))[0]
    write_file(path, [example({"label": 7})] * 2 + [b"\x1b[2J"])
    result = run("verify", data)
    assert result.exit_code == 1
    assert "record 2, byte " in result.stderr
    assert "2 of 8 records (25.0 %), 1 file\n" in result.stderr
    assert "in 3 records\n" in result.stdout
    assert "\x1b" not in result.output
    shown = run("verify", data, "--format", "github").stdout
    assert "title=SG527::" in shown
    assert ": record 0, byte 0" in shown
    assert "in all: 2 of 8 records" in shown


def test_the_command_compares_with_a_record_of_the_project(tmp_path: Path) -> None:
    """Without a manifest: by the class's name or the record's."""
    root = make_project(tmp_path, {"pets.py": SCHEMA})
    messages = [example({"breed": breed, "name": "Ada"}) for breed in (1, 3)]
    path = write_file(tmp_path / "old.tfrecord", messages)
    for name in ("Pet", "pet"):
        result = run("verify", path, "--record", name, "--project", root)
        assert result.exit_code == 1
        assert "SG527 field 'breed'" in result.stderr
        assert "schema of pet" in result.stdout
    plain = run("verify", path)
    assert plain.exit_code == 0
    assert "--record" in plain.stdout
    unknown = run("verify", path, "--record", "Pat", "--project", root)
    assert unknown.exit_code == 2
    assert "SG405" in unknown.stderr


@pytest.mark.parametrize("where", ["nothing.tfrecord", "*.none"])
@pytest.mark.parametrize("verb", ["verify", "inspect", "infer"])
def test_data_that_does_not_exist_is_refused(
    tmp_path: Path, where: str, verb: str
) -> None:
    """With exit code 2, and by the name that was asked for."""
    out = ["--out", tmp_path / "x.py"] if verb == "infer" else []
    result = run(verb, tmp_path / where, *out)
    assert result.exit_code == 2
    assert where in result.stderr
    assert "SG441" in result.stderr


def test_findings_as_json_have_the_documented_shape(data: Path) -> None:
    """Each with its place in the data; and the counts of the splits."""
    path = sorted(data.glob("*.tfrecord"))[0]
    write_file(path, [example({"label": 7})] * 5)
    result = run("verify", data, "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    schema = json.loads((ROOT / "docs/findings.schema.json").read_text())
    Draft202012Validator(schema).validate(found)
    names = schema["$defs"]
    for finding in found["findings"]:
        assert set(finding["data"]) == set(names["in_data"]["properties"])
        assert 1 <= len(finding["data"]["examples"]) <= 3
    assert set(found["splits"][0]) == set(names["split"]["properties"])


def runs(process: str) -> bool:
    """Return whether a process is there and has not ended."""
    path = Path(f"/proc/{process}/stat")
    return path.exists() and ") Z " not in path.read_text()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("sent", "to", "code"), [("SIGINT", "all", 130), ("SIGKILL", "worker", 2)]
)
def test_ctrl_c_and_a_killed_worker_end_all_processes(
    tmp_path: Path, sent: str, to: str, code: int
) -> None:
    """With the exit code for it, no traceback, and no process left behind."""
    data = tmp_path / "data"
    first = write_file(data / "train-00000-of-00099.tfrecord", [mixed(1)] * 4000)
    for number in range(1, 99):
        os.link(first, data / f"train-{number:05}-of-00099.tfrecord")
    process = subprocess.Popen(
        [sys.executable, "-m", "schemagen", "verify", str(data), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        # Shells let what runs in the background ignore it.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers: list[str] = []
    while process.poll() is None and len(workers) < 2:
        workers = children.read_text().split()
        time.sleep(0.02)
    if to == "all":
        os.killpg(process.pid, signal.Signals[sent])
    else:
        os.kill(int(workers[-1]), signal.Signals[sent])
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == code, stderr
    assert "Traceback" not in stderr
    assert stdout == ""
    end = time.monotonic() + 20
    while any(map(runs, workers)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(runs, workers))


@pytest.fixture
def changing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Let something happen once, when the first piece of a file has been read."""

    def make(change: Callable[[], object]) -> None:
        waiting = [change]

        class Changing(io.FileIO):
            def readinto(self, buffer: Any, /) -> int | None:
                count = super().readinto(buffer)
                if waiting:
                    waiting.pop()()
                return count

        def opened(path: Path, mode: str, buffering: int = -1) -> io.FileIO:
            return Changing(path, mode)

        monkeypatch.setattr(Path, "open", opened)

    return make


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("limit", [None, 8])
@pytest.mark.parametrize(
    ("give", "number"),
    [(shutil.copyfile, 0), (shutil.copyfile, 1), (shutil.move, 1)],
)
def test_files_that_change_while_they_are_read_are_findings(
    tmp_path: Path,
    changing: Callable[[Callable[[], object]], None],
    give: Callable[[Path, Path], object],
    number: int,
    limit: int | None,
    listed: bool,
) -> None:
    """The one that is read, or the next one. No verdict is about files of two writes."""
    for name, first in ("data", 0), ("other", 1):
        messages = [mixed(first + at) for at in range(10)]
        write_data(tmp_path / name, Mixed, {"train": messages}, shards=2)
    path = sorted((tmp_path / "data").glob("train-*"))[number]
    changing(partial(give, tmp_path / "other" / path.name, path))
    if not listed:
        (tmp_path / "data" / "manifest.json").unlink()
    source, schema = str(tmp_path / "data"), None if listed else Mixed
    found = schemagen.verify(source, record=schema, workers=1, limit=limit)
    [unreadable] = [each for each in found.findings if each.rule == "SG510"]
    assert [each.file for each in unreadable.examples] == [str(path)]
    assert "it was replaced or changed" in unreadable.examples[0].found


def test_file_that_is_renamed_away_while_it_is_read_is_whole(
    data: Path, changing: Callable[[Callable[[], object]], None]
) -> None:
    """An open file stays the same one, whatever has its name."""
    first, second = sorted(data.glob("train-*"))
    shutil.copyfile(second, data.parent / "other")
    changing(partial(shutil.move, data.parent / "other", first))
    assert schemagen.verify(data, workers=1).clean


def test_split_that_is_written_again_while_it_is_read_is_refused(
    tmp_path: Path, changing: Callable[[Callable[[], object]], None]
) -> None:
    """What is found would be of both; another split may be written meanwhile."""
    for split in ("train", "val"):
        write_dataset(digits(10), tmp_path, split, shards=2)
    again = partial(write_dataset, digits(20), tmp_path, shards=2, overwrite=True)
    changing(partial(again, "val"))
    assert schemagen.verify(tmp_path, split="train", workers=1).clean
    changing(partial(again, "train"))
    with pytest.raises(DatasetError, match="'train' is not what it was"):
        schemagen.verify(tmp_path, split="train", workers=1)
