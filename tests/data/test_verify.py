"""`schemagen verify` on files: what is told apart, counted, and left alone."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import make_project, run
from google_crc32c import value as crc32c
from jsonschema import Draft202012Validator
from schemagen.data.parallel import parts_of
from schemagen.data.verify import verify
from schemagen.data.verify.checksums import combined
from schemagen.data.verify.verification import EXAMPLES
from schemagen.findings import printable
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.manifest import Manifest, Shard, Split
from schemagen.spec.serial import from_data

from .messages import MIXED, example, mixed

ROOT = Path(__file__).parents[2]
SPEC = from_data(MIXED)

SCHEMA = """\
from typing import Annotated

from schemagen import Label, Record, Text


class Pet(Record):
    \"\"\"A pet.\"\"\"

    breed: Annotated[int, Label(num_classes=3)]
    name: Annotated[str, Text()]
"""


def write(root: Path, contents: dict[str, list[bytes]], compression: str = "") -> Path:
    """Write a data directory: the records of each file, all of the split train."""
    root.mkdir(exist_ok=True)
    shards = []
    for name, messages in contents.items():
        data = b"".join(map(frame, messages))
        if compression == "GZIP":
            data = gzip.compress(data, mtime=0)
        (root / name).write_bytes(data)
        shards.append(Shard(name, len(messages), len(data), f"{crc32c(data):08x}"))
    split = Split(compression, tuple(shards))
    text = manifest.dumps(Manifest("mixed", "0" * 16, MIXED, {"train": split}))
    (root / manifest.FILE_NAME).write_text(text)
    return root


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory of two shards."""
    names = [f"train-0000{number}-of-00002.tfrecord" for number in range(2)]
    return write(tmp_path / "data", {n: [mixed(at) for at in range(5)] for n in names})


def rules(source: Path | str, **options: Any) -> list[str]:
    """Return the rules of what is found."""
    return [each.rule for each in verify(source, **options).findings]


def test_whole_data_has_no_findings(data: Path) -> None:
    """The counts say what was looked at, and with whose schema."""
    found = verify(data)
    assert found.clean
    [split] = found.splits
    assert (split.split, split.files, split.records, split.wrong) == ("train", 2, 10, 0)
    assert (split.record, split.spec_from, split.whole) == ("mixed", "manifest", True)
    assert split.bytes == sum(path.stat().st_size for path in data.glob("*.tfrecord"))


# What becomes of a file, its rules, and what is said first.
FILES: dict[str, tuple[bytes, list[str], str]] = {
    "empty": (b"", ["SG505"], "a file of 0 bytes"),
    "an empty gzip": (gzip.compress(b""), ["SG505"], "GZIP data without a record"),
    "truncated": (
        frame(mixed(0)) + frame(mixed(1))[:-9],
        ["SG506"],
        "the file ends",
    ),
    "a length cut": (frame(mixed(0)) + b"\x01\x02", ["SG506"], "the file ends 2 bytes"),
    "torn": (
        frame(mixed(0)) + frame(mixed(1))[:40] + frame(mixed(2)) * 3,
        ["SG507"],
        "other bytes within a record",
    ),
    "a flipped bit": (
        frame(mixed(0)).replace(b"one", b"onf") + frame(mixed(1)),
        ["SG507"],
        "bytes that do not have the checksum",
    ),
    "cut gzip": (
        gzip.compress(frame(mixed(0)) * 9)[:-9],
        ["SG506"],
        "the file ends before the end of its GZIP stream",
    ),
    "gzip twice": (
        gzip.compress(gzip.compress(frame(mixed(0)))),
        ["SG509"],
        "GZIP data inside of GZIP data",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_are_told_apart_in_plain_words(tmp_path: Path, name: str) -> None:
    """Truncated, torn, wrongly compressed, empty and foreign ones."""
    contents, expected, words = FILES[name]
    path = tmp_path / "train.tfrecord"
    path.write_bytes(contents)
    found = verify(path, spec=SPEC)
    assert [each.rule for each in found.findings] == expected
    assert found.findings[0].examples[0].found.startswith(words)
    assert found.findings[0].examples[0].cause


@pytest.mark.parametrize("suffix", [".gz", ".zlib"])
def test_a_name_that_is_wrong_about_compression_is_a_finding(
    tmp_path: Path, suffix: str
) -> None:
    """Programs that go by the name would not read it."""
    path = tmp_path / f"train.tfrecord{suffix}"
    path.write_bytes(frame(mixed(0)))
    [finding] = verify(path, spec=SPEC).findings
    assert finding.rule == "SG509"
    assert finding.examples[0].found == "uncompressed records"
    path.write_bytes(
        gzip.compress(frame(mixed(0)))
        if suffix == ".gz"
        else zlib.compress(frame(mixed(0)))
    )
    assert verify(path, spec=SPEC).clean


def test_the_manifest_tells_what_files_should_be(data: Path) -> None:
    """Missing, changed, longer, recompressed and further files."""
    first, second = sorted(data.glob("*.tfrecord"))
    whole = first.read_bytes()
    first.unlink()
    assert rules(data) == ["SG502"]
    first.write_bytes(gzip.compress(whole))
    found = verify(data)
    assert [each.rule for each in found.findings] == ["SG503", "SG509"]
    first.write_bytes(whole + frame(mixed(1)))
    [size, records] = verify(data).findings
    assert records.examples[0].found == "6 good records, and the manifest lists 5"
    assert size.rule == "SG503"
    first.write_bytes(second.read_bytes()[::-1])
    assert "SG508" in rules(data)
    first.write_bytes(whole)
    (data / "old-00000-of-00001.tfrecord").write_bytes(whole)
    [unlisted] = verify(data).findings
    assert unlisted.rule == "SG504"
    assert unlisted.examples[0].file.endswith("old-00000-of-00001.tfrecord")


def test_another_whole_file_is_told_from_a_broken_copy(data: Path) -> None:
    """By whether it ends with a whole record."""
    first, second = sorted(data.glob("*.tfrecord"))
    write(data, {first.name: [mixed(0)] * 3, second.name: [mixed(1)] * 5})
    long = second.read_bytes()

    def causes() -> list[str]:
        return [
            finding.examples[0].cause
            for finding in verify(data).findings
            if finding.rule == "SG503" and "bytes" in finding.expected
        ]

    second.write_bytes(frame(mixed(1)))
    [whole] = causes()
    assert "it ends with a whole record" in whole
    for broken in (b"", long[:-3]):
        second.write_bytes(broken)
        [cut] = causes()
        assert cut.startswith("the copy was broken off")
    second.write_bytes(long[:-1] + b"?")
    [changed] = causes()
    assert changed == "copy it again"


def test_a_damaged_manifest_is_a_finding_and_files_are_checked_all_the_same(
    data: Path,
) -> None:
    """Framing and messages need no manifest; with a record, nor do the fields."""
    path = data / manifest.FILE_NAME
    path.write_text(path.read_text().replace("train", "trair"))
    found = verify(data, spec=SPEC)
    [finding] = found.findings
    assert finding.rule == "SG501"
    assert re.fullmatch(
        r"not a whole manifest \(its text has the CRC-32C \w{8}, and not the \w{8} of "
        r"its own entry\)",
        finding.examples[0].found,
    )
    assert finding.examples[0].cause == (
        "restore it from a copy, or else remove it and write all splits again"
    )
    assert found.records == 10


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
    found = verify(data, workers=1)
    assert [each.rule for each in found.findings] == ["SG510"]
    assert found.records == 5


def test_another_schema_than_that_of_the_data_is_a_finding(data: Path) -> None:
    """As generated readers refuse it, before the first record."""
    label, *others = (SPEC.fields[1], SPEC.fields[0], *SPEC.fields[2:])
    changed = replace(
        SPEC,
        fields=(label.replaced(key="class"), *others),  # type: ignore[arg-type]
    )
    found = verify(data, spec=changed)
    assert [each.rule for each in found.findings] == ["SG511", "SG522"]
    assert "`schemagen explain SG204`" in found.findings[0].examples[0].cause
    assert found.splits[0].spec_from == "project"


def test_a_renamed_field_is_told_its_key(data: Path) -> None:
    """As generated readers say it."""
    label, *others = SPEC.fields
    new = label.replaced(name="class_id", key="class_id")
    found = verify(data, spec=replace(SPEC, fields=(new, *others)))
    assert found.findings[0].rule == "SG511"
    assert found.findings[0].examples[0].cause == (
        f"if it is {label.name!r} renamed, give it key={label.key!r}; "
        "`schemagen explain SG202` says more"
    )


def test_a_limit_is_of_records_of_a_split(data: Path) -> None:
    """Whole files are then not compared, which the counts say."""
    path = sorted(data.glob("*.tfrecord"))[1]
    path.write_bytes(b"".join(map(frame, [mixed(0)] * 3 + [b"wrong"])))
    found = verify(data, limit=7)
    assert (found.records, found.clean, found.splits[0].whole) == (7, True, False)
    assert verify(data, limit=9).findings[-1].rule == "SG521"


def test_results_do_not_depend_on_parts_or_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file or ten parts, one process or two: the same findings, the same places."""
    messages = [
        example({"label": [at % 9]}) if at % 7 == 0 else mixed(at % 5)
        for at in range(400)
    ]
    data = write(tmp_path / "data", {"train-00000-of-00001.tfrecord": messages})
    path = data / "train-00000-of-00001.tfrecord"
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 3] ^= 1
    path.write_bytes(contents)
    expected = verify(data, examples=5)
    assert len({each.rule for each in expected.findings}) > 3
    assert len(list(parts_of(path, 4000))) > 5
    monkeypatch.setattr(
        "schemagen.data.verify.verification.parts_of", lambda p: parts_of(p, 4000)
    )
    assert verify(data, examples=5) == expected
    assert verify(data, examples=5, workers=2) == expected


@pytest.mark.parametrize("at", [3, 1000, 20_000])
def test_a_damaged_length_leaves_the_rest_in_one_part(tmp_path: Path, at: int) -> None:
    """Wherever it is, the parts together hold all records that one part does."""
    contents = bytearray(b"".join(frame(mixed(n % 5)) for n in range(100)))
    contents[at] ^= 0xFF
    path = tmp_path / "train.tfrecord"
    path.write_bytes(contents)
    parts = list(parts_of(path, 2000))
    assert parts[0].start == 0
    assert parts[-1].stop is None
    assert [part.stop for part in parts[:-1]] == [part.start for part in parts[1:]]
    assert verify(path, spec=SPEC).findings


def test_checksums_of_parts_make_that_of_the_whole() -> None:
    """For any sizes, zero included."""
    first, second = os.urandom(1000), os.urandom(777)
    for size in (0, 1, 2, 255, 256, 777):
        whole = crc32c(first + second[:size])
        assert combined(crc32c(first), crc32c(second[:size]), size) == whole


def test_the_verb_says_what_was_found_and_what_was_looked_at(data: Path) -> None:
    """Exit code 0 without findings, 1 with some; findings to stderr."""
    clean = run("verify", data)
    assert (clean.exit_code, clean.stderr) == (0, "")
    assert re.fullmatch(
        r"train: 10 records in 2 files, [\d.]+ kB read: no findings\n"
        r"    compared with the schema of mixed in the manifest\n",
        clean.stdout,
    )
    path = sorted(data.glob("*.tfrecord"))[0]
    path.write_bytes(frame(example({"label": [7]})) * 2 + frame(b"\x1b[2J"))
    result = run("verify", data, "--examples", "1")
    assert result.exit_code == 1
    assert "record 2, byte " in result.stderr
    assert "    in all:   2 of 8 records (25.0 %), 1 file\n" in result.stderr
    assert "\x1b" not in result.output
    assert "in 3 records\n" in result.stdout


def test_the_verb_compares_with_a_record_of_the_project(tmp_path: Path) -> None:
    """Without a manifest: by the class's name or the record's."""
    root = make_project(tmp_path, {"pets.py": SCHEMA})
    good = example({"breed": [1], "name": [b"Ada"]})
    wrong = example({"breed": [3], "name": [b"Ada"]})
    path = tmp_path / "old.tfrecord"
    path.write_bytes(frame(good) + frame(wrong))
    for name in ("Pet", "pet"):
        result = run("verify", path, "--record", name, "--project", root)
        assert result.exit_code == 1
        assert "SG527 field 'breed': class id out of range" in result.stderr
        assert "compared with the schema of pet in this project" in result.stdout
    plain = run("verify", path)
    assert plain.exit_code == 0
    assert "name the record with --record" in plain.stdout
    unknown = run("verify", path, "--record", "Pat", "--project", root)
    assert unknown.exit_code == 2
    assert "SG405" in unknown.stderr


@pytest.mark.parametrize("where", ["nothing.tfrecord", "*.none"])
def test_data_that_is_not_there_cannot_be_checked(tmp_path: Path, where: str) -> None:
    """Exit code 2, and once what was asked for."""
    result = run("verify", tmp_path / where)
    assert result.exit_code == 2
    assert result.stderr.count(where) == 1
    assert "SG441" in result.stderr


def test_findings_as_json_have_the_documented_shape(data: Path) -> None:
    """Each with its place in the data; and the counts of the splits."""
    path = sorted(data.glob("*.tfrecord"))[0]
    path.write_bytes(frame(example({"label": [7]})) * 2)
    result = run("verify", data, "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    schema = json.loads((ROOT / "docs/findings.schema.json").read_text())
    Draft202012Validator(schema).validate(found)
    names = schema["$defs"]
    for finding in found["findings"]:
        assert set(finding["data"]) == set(names["in_data"]["properties"])
        shown = finding["data"]["examples"]
        assert 1 <= len(shown) <= EXAMPLES
    assert set(found["splits"][0]) == set(names["split"]["properties"])
    page = (ROOT / "docs/inspecting.md").read_text(encoding="utf-8")
    for name in ("in_data", "split"):
        for key in names[name]["properties"]:
            assert f"`{key}`" in page, key


def test_findings_for_github_say_where_in_the_file(data: Path) -> None:
    """An annotation has a line and a column; records have neither."""
    path = sorted(data.glob("*.tfrecord"))[0]
    path.write_bytes(frame(example({"label": [7]})) * 2)
    result = run("verify", data, "--format", "github")
    assert result.exit_code == 1
    assert "title=SG527::" in result.stdout
    assert "%0Aat: " in result.stdout
    assert ": record 0, byte 0; in all 2 of 7 records" in result.stdout


def test_control_characters_are_escaped() -> None:
    """What would act on a terminal is shown; other letters stay."""
    assert printable("a\x1b[31m\r\u202eé") == r"a\x1b[31m\r\u202eé"


def test_progress_adds_up_to_all_bytes(data: Path) -> None:
    """Each byte once, with the total next to it."""
    seen: list[tuple[int, int]] = []
    verify(data, progress=lambda read, total: seen.append((read, total)))
    assert {total for _, total in seen} == {sum(read for read, _ in seen)}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_all_processes_quietly(tmp_path: Path) -> None:
    """Exit code 130, no traceback, and no one left behind."""
    path = tmp_path / "data"
    records = {f"train-{n:05}-of-00099.tfrecord": [mixed(1)] * 4000 for n in range(99)}
    write(path, records)
    process = subprocess.Popen(
        [sys.executable, "-m", "schemagen", "verify", str(path), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        # Shells let what runs in the background ignore it.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children.read_text().split()) < 2:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert stdout == ""
