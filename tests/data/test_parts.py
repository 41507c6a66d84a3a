"""`--part`, `--out` and `--merge`: parts of a run merge to what one run says."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest import mock

import pytest
from click.testing import Result
from command_line import make_project, run
from google_crc32c import value as crc32c
from hypothesis import example as with_example
from hypothesis import given
from hypothesis import strategies as st
from schemagen.data import part_files
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.data.inspect.parts import inspect_part, merged_statistics
from schemagen.data.listing import list_data, listing_from_json, listing_to_json
from schemagen.data.parallel import parts_of
from schemagen.data.shares import Share
from schemagen.data.verify import verify
from schemagen.data.verify.parts import merged_verification, verify_part
from schemagen.findings import SchemagenError
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.manifest import Manifest, Shard, Split
from tiers import examples

from .messages import MIXED, example, mixed

NUMBERS = (1, 2, 3, 8)
"""Into how many parts data is divided."""

PART_BYTES = 4000
"""How large the parts of a file are in these tests."""


@contextmanager
def small_parts() -> Iterator[None]:
    """Divide small files as if they were large."""
    cut = partial(parts_of, part_bytes=PART_BYTES)
    inspecting = "schemagen.data.inspect.inspecting"
    with (
        mock.patch("schemagen.data.verify.verification.parts_of", cut),
        mock.patch(f"{inspecting}.parts_of", cut),
        mock.patch(f"{inspecting}.PART_BYTES", PART_BYTES),
        mock.patch(f"{inspecting}._TASK_BYTES", PART_BYTES // 2),
    ):
        yield


def write(root: Path, chance: random.Random, *, listed: bool = True) -> Path:
    """Write a data directory of two splits, with files of different sizes."""
    root.mkdir()
    splits = {}
    for name, counts in {"train": (90, 3, 0, 40), "val": (1, 20)}.items():
        shards = []
        compression = chance.choice(["", "", "GZIP"])
        for at, count in enumerate(counts):
            data = b"".join(frame(_message(chance, number)) for number in range(count))
            if compression:
                data = gzip.compress(data, mtime=0)
            file = f"{name}-{at:05}-of-{len(counts):05}.tfrecord"
            (root / file).write_bytes(data)
            shards.append(Shard(file, count, len(data), f"{crc32c(data):08x}"))
        splits[name] = Split(compression, tuple(shards))
    if listed:
        text = manifest.dumps(Manifest("mixed", "0" * 16, MIXED, splits))
        (root / manifest.FILE_NAME).write_text(text)
    return root


def _message(chance: random.Random, number: int) -> bytes:
    if chance.random() < 0.9:
        return mixed(number % 5)
    extra: list[float] = [chance.gauss(0, 1e6) for _ in range(3)]
    return example({"label": [number], "stats": extra, f"key {number}": [b"a"]})


def _flip(path: Path, chance: random.Random) -> None:
    contents = bytearray(path.read_bytes())
    if contents:
        contents[chance.randrange(len(contents))] ^= 1 << chance.randrange(8)
        path.write_bytes(contents)


def _cut(path: Path, chance: random.Random) -> None:
    contents = path.read_bytes()
    path.write_bytes(contents[: chance.randrange(len(contents) + 1)])


def _remove(path: Path, chance: random.Random) -> None:
    path.unlink()


def _grow(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + frame(_message(chance, 99)))


def _compress(path: Path, chance: random.Random) -> None:
    path.write_bytes(gzip.compress(path.read_bytes()))


def _copy_in(path: Path, chance: random.Random) -> None:
    shutil.copy(
        path, path.with_name(f"old-0000{chance.randrange(4)}-of-00009.tfrecord")
    )


def _link(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nothing"))


def _replace(path: Path, chance: random.Random) -> None:
    path.write_bytes(b"\xff\xd8\xff\xe0" + bytes(900))


DAMAGES = (_flip, _flip, _cut, _remove, _grow, _compress, _copy_in, _link, _replace)


def divided(command: str, root: Path, of: int, *options: str | Path) -> list[Path]:
    """Run each part, and return the part files in another order."""
    outs = [root.parent / f"{command}-{of}-{at}.json" for at in range(1, of + 1)]
    for at, out in enumerate(outs, 1):
        result = run(command, root, "--part", f"{at}/{of}", "--out", out, *options)
        assert result.exit_code == 0, result.output
        assert result.stdout == ""
        assert result.stderr.startswith(f"wrote {out}: part {at}/{of}, ")
    return outs[::-1]


def same(one: Result, other: Result) -> bool:
    """Compare all that two runs said and ended with."""
    return (one.exit_code, one.stdout, one.stderr) == (
        other.exit_code,
        other.stdout,
        other.stderr,
    )


Damages = list[Callable[[Path, random.Random], None] | None]

DAMAGED = {
    "seed": st.integers(0, 2**32),
    "listed": st.booleans(),
    "damages": st.lists(st.sampled_from([*DAMAGES, None]), max_size=4),
    "of": st.sampled_from(NUMBERS),
}
"""Any data, with or without a manifest; None damages the manifest."""


@examples(9)
@given(**DAMAGED)
def test_merged_parts_of_a_few_cases_say_what_one_run_says(
    seed: int, listed: bool, damages: Damages, of: int
) -> None:
    """Findings, statistics, their order, and the exit code, to the last byte."""
    check_merged(seed, listed, damages, of)


@pytest.mark.slow
@examples(80)
@given(**DAMAGED)
def test_merged_parts_say_what_one_run_says_whatever_is_damaged(
    seed: int, listed: bool, damages: Damages, of: int
) -> None:
    """Findings, statistics, their order, and the exit code, to the last byte."""
    check_merged(seed, listed, damages, of)


def check_merged(seed: int, listed: bool, damages: Damages, of: int) -> None:
    """Compare what merged parts print with what one run prints."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as temporary, small_parts():
        root = write(Path(temporary) / "data", chance, listed=listed)
        for damage in damages:
            files = sorted(each for each in root.glob("*.tfrecord") if each.exists())
            if damage is not None:
                damage(chance.choice(files), chance)
            elif listed:
                _flip(root / manifest.FILE_NAME, chance)
        for command, styles in (
            ("verify", ("text", "json", "github")),
            ("inspect", ("text", "json")),
        ):
            expected = {
                style: run(command, root, "--format", style) for style in styles
            }
            parts = divided(command, root, of)
            moved = root.rename(root.with_name("elsewhere"))  # merging needs no data
            for style in styles:
                merged = run(command, "--merge", *parts, "--format", style)
                assert same(merged, expected[style]), merged.output
            moved.rename(root)


def test_a_file_is_divided_among_parts_that_are_balanced(tmp_path: Path) -> None:
    """One file is read by eight machines, each of which reads about an eighth."""
    path = tmp_path / "train.tfrecord"
    path.write_bytes(b"".join(frame(mixed(n % 5)) for n in range(500)))
    size = path.stat().st_size
    with small_parts():
        sizes = [
            verify_part(path, Share(at, 8), tmp_path / f"{at}.json").bytes
            for at in range(1, 9)
        ]
    assert sum(sizes) == size > 100_000
    assert max(sizes) < size / 8 + 2 * PART_BYTES
    assert min(sizes) > size / 8 - 2 * PART_BYTES


def test_more_parts_than_files_leave_some_parts_empty(tmp_path: Path) -> None:
    """Small files are not divided; an empty part is a part like any other."""
    root = write(tmp_path / "data", random.Random(1))
    parts = divided("verify", root, 50)
    assert same(run("verify", "--merge", *parts), run("verify", root))


def test_parts_have_the_options_of_one_run(tmp_path: Path) -> None:
    """Split, number of examples, limits and the record of a project."""
    schema = '''
from schemagen import Record


class Other(Record):
    """A record that others than the data have."""

    label: int
    age: float
'''
    project = make_project(tmp_path / "project", {"other.py": schema})
    root = write(tmp_path / "data", random.Random(2))
    for options in (
        ("--split", "val"),
        ("--examples", "1"),
        ("--max-record-bytes", "200"),
        ("--record", "other", "--project", project),
    ):
        parts = divided("verify", root, 3, *options)
        for style in ("text", "json"):
            expected = run("verify", root, *options, "--format", style)
            assert not same(expected, run("verify", root, "--format", style))
            assert same(run("verify", "--merge", *parts, "--format", style), expected)
    parts = divided("inspect", root, 3, "--split", "val")
    shown = ("--records", "1", "--format", "json")
    expected = run("inspect", root, "--split", "val", *shown)
    assert same(run("inspect", "--merge", *parts, *shown), expected)


def test_a_report_of_merged_parts_is_that_of_one_run(tmp_path: Path) -> None:
    """With the parts of verify, which have findings and schemas."""
    root = write(tmp_path / "data", random.Random(3))
    first, merged = tmp_path / "first.html", tmp_path / "merged.html"
    code = run("inspect", root).exit_code
    assert run("inspect", root, "--html", first).exit_code == code
    inspected, verified = divided("inspect", root, 2), divided("verify", root, 3)
    result = run("inspect", "--merge", *verified, *inspected, "--html", merged)
    assert result.exit_code == code, result.output
    assert merged.read_bytes() == first.read_bytes()
    result = run("inspect", "--merge", *inspected, "--html", merged)
    assert result.exit_code == 2
    assert "no file is a part of `schemagen verify`" in result.stderr


def test_only_the_examples_that_a_report_shows_are_in_part_files(
    tmp_path: Path,
) -> None:
    """A part file does not grow with the number of wrong records."""
    path = tmp_path / "train.tfrecord"
    path.write_bytes(b"".join(frame(b"\x08\x01" * 50) for _ in range(2000)))
    with small_parts():
        verify_part(path, Share(1, 1), tmp_path / "part.json", examples=2)
        expected = verify(path, examples=2)
    data = json.loads((tmp_path / "part.json").read_text())
    tallies = [each[1] for each in data["results"]]
    assert len(tallies) > 20
    assert sum(len(group[2]) for each in tallies for _, group in each[4]) == 2
    assert merged_verification([tmp_path / "part.json"]) == expected


# What is done to the part files of two runs, "a" and "b" of other data, and what is said.
REFUSED: dict[str, tuple[Callable[[list[Path], list[Path]], list[Path]], str]] = {
    "a missing part": (
        lambda a, b: [a[0], a[2]],
        "not all parts of this run are there: 2/3 missing",
    ),
    "a part twice": (
        lambda a, b: [*a, a[1]],
        "part 2/3 is in this file and in {1}",
    ),
    "a part of other data": (
        lambda a, b: [a[0], b[1], a[2]],
        "the part is of other data than {0}",
    ),
    "a truncated file": (
        lambda a, b: [a[0], _edited(a[1], lambda text: text[:-40]), a[2]],
        "the part file is damaged or truncated",
    ),
    "an empty file": (
        lambda a, b: [a[0], _edited(a[1], lambda text: b""), a[2]],
        "this is not a whole part file",
    ),
    "a flipped bit": (
        lambda a, b: [
            a[0],
            _edited(a[1], lambda t: t.replace(b'"part":2', b'"part":3')),
        ],
        "the part file is damaged or truncated",
    ),
    "another file": (
        lambda a, b: [_edited(a[0], lambda text: b'{"findings": []}')],
        "this is not a whole part file",
    ),
    "no file": (
        lambda a, b: [*a[:2], a[2].with_name("part-9.json")],
        "the file cannot be read: No such file or directory",
    ),
}


def _edited(path: Path, edit: Callable[[bytes], bytes]) -> Path:
    path.write_bytes(edit(path.read_bytes()))
    return path


@pytest.mark.parametrize("name", REFUSED)
def test_parts_that_are_not_one_run_are_refused(tmp_path: Path, name: str) -> None:
    """With exit code 2, the file, and what to do."""
    change, words = REFUSED[name]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    runs = [
        divided("verify", write(tmp_path / each / "data", random.Random(4)), 3)[::-1]
        for each in "ab"
    ]
    expected = words.format(*runs[0])
    paths = change(*runs)
    result = run("verify", "--merge", *paths, "--format", "json")
    assert result.exit_code == 2, result.output
    [finding] = json.loads(result.stdout)["findings"]
    assert finding["rule"] == "SG443"
    assert finding["message"].startswith(expected)
    assert finding["location"]["path"] in map(str, paths)
    assert finding["advice"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--examples", "7"), "a different --examples"),
        (("--split", "train"), "a different --split"),
        (("--max-record-bytes", "1KB"), "a different --max-record-bytes"),
    ],
)
def test_parts_with_other_options_are_refused(
    tmp_path: Path, options: tuple[str, str], words: str
) -> None:
    """The message names the option, and both values."""
    root = write(tmp_path / "data", random.Random(5))
    second, first = divided("verify", root, 2)
    run("verify", root, "--part", "2/2", "--out", second, *options)
    result = run("verify", "--merge", first, second)
    assert result.exit_code == 2
    assert words in result.stderr
    assert f"{second}:1:1: SG443" in result.stderr


def test_parts_of_another_number_or_command_are_refused(tmp_path: Path) -> None:
    """Halves and thirds do not make a whole."""
    root = write(tmp_path / "data", random.Random(5))
    halves, thirds = divided("verify", root, 2), divided("verify", root, 3)
    result = run("verify", "--merge", *halves, *thirds)
    assert result.exit_code == 2
    assert "the number of parts differs from that of" in result.stderr
    result = run("inspect", "--merge", *halves)
    assert result.exit_code == 2
    assert "merge it with `schemagen verify --merge`" in result.stderr


def test_parts_of_another_version_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its checks may be others."""
    root = write(tmp_path / "data", random.Random(5))
    second, first = divided("verify", root, 2)
    monkeypatch.setattr(part_files, "package_version", lambda: "99.0")
    run("verify", root, "--part", "2/2", "--out", second)
    monkeypatch.undo()
    result = run("verify", "--merge", first, second)
    assert result.exit_code == 2
    assert "a different version of schemagen wrote this part" in result.stderr
    assert "found:    schemagen 99.0, format 1" in result.stderr


def _touch(root: Path) -> None:
    os.utime(next(root.glob("train-*")), ns=(0, 0))


def _rewrite(root: Path) -> None:
    """Change a byte; the size stays."""
    _flip(next(root.glob("train-*")), random.Random(0))


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a file is modified": (_touch, "modified at 0.000000"),
    "a byte of a file changes": (_rewrite, "modified at"),
    "a file is removed": (
        lambda root: (root / "val-00001-of-00002.tfrecord").unlink(),
        "val-00001-of-00002.tfrecord: no such file",
    ),
    "a file is added": (
        lambda root: (root / "old.tfrecord").touch(),
        "found:    another list of files that the manifest does not list",
    ),
    "the manifest is removed": (
        lambda root: (root / manifest.FILE_NAME).unlink(),
        "found:    another manifest",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("command", ["verify", "inspect"])
def test_data_that_changes_between_parts_is_refused(
    tmp_path: Path, name: str, command: str
) -> None:
    """A report of two states would look like one of either."""
    change, words = CHANGES[name]
    root = write(tmp_path / "data", random.Random(6))
    second, first = divided(command, root, 2)
    change(root)
    run(command, root, "--part", "2/2", "--out", second)
    result = run(command, "--merge", first, second)
    assert result.exit_code == 2, result.output
    assert "or the data changed in between" in result.stderr
    assert words in result.stderr


@pytest.mark.parametrize("read_part", [verify_part, inspect_part])
def test_data_that_changes_while_a_part_is_read_is_refused(
    tmp_path: Path, read_part: Callable[..., object]
) -> None:
    """And no part file is written."""
    root = write(tmp_path / "data", random.Random(6))
    before = listing_to_json(list_data(root))
    _grow(root / "val-00001-of-00002.tfrecord", random.Random(0))
    old = listing_from_json(before)
    name = read_part.__module__
    with (
        mock.patch(f"{name}.list_data", return_value=old),
        pytest.raises(DatasetError, match="the data changed while it was read: before"),
    ):
        read_part(root, Share(1, 2), tmp_path / "part.json")
    assert not (tmp_path / "part.json").exists()


def test_a_file_that_one_machine_divides_otherwise_is_refused(tmp_path: Path) -> None:
    """No record may be left out, or read twice."""
    path = tmp_path / "train.tfrecord"
    path.write_bytes(b"".join(frame(mixed(n % 5)) for n in range(200)))
    for read_part, merged in (
        (verify_part, merged_verification),
        (inspect_part, merged_statistics),
    ):
        outs = [tmp_path / f"{at}.json" for at in (1, 2)]
        with small_parts():
            read_part(path, Share(1, 2), outs[0])
        read_part(path, Share(2, 2), outs[1])
        with pytest.raises(DatasetError, match="do not make the whole file"):
            merged(outs)


def test_an_existing_file_is_kept_unless_it_is_a_part(tmp_path: Path) -> None:
    """It is refused before data is read."""
    root = write(tmp_path / "data", random.Random(7))
    out = tmp_path / "notes.json"
    out.write_text("{}")
    with pytest.raises(SchemagenError, match="not a part that schemagen wrote"):
        verify_part(root / "no such data", Share(1, 1), out)
    assert out.read_text() == "{}"
    out.unlink()
    verify_part(root, Share(1, 2), out)
    verify_part(root, Share(1, 1), out)
    assert merged_verification([out]) == verify(root)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--part", "0/3", "--out", "p"), "'0/3' is not a part; expected i/n"),
        (("--part", "4/3", "--out", "p"), "'4/3' is not a part; expected i/n"),
        (("--part", "1", "--out", "p"), "'1' is not a part; expected i/n"),
        (("--part", "1/3"), "--part and --out go together"),
        (("--out", "p"), "--part and --out go together"),
        (("--part", "1/3", "--out", "p", "--limit", "9"), "--limit does not go with"),
        (("--part", "1/3", "--out", "p", "--format", "json"), "--format does not go"),
        (("--merge", "--split", "train"), "--split does not go with --merge"),
        (("--merge", "--part", "1/3"), "--part does not go with --merge"),
        (("another",), "DATA is one directory, one file or one glob, not 2 arguments"),
    ],
)
@pytest.mark.parametrize("command", ["verify", "inspect"])
def test_options_that_exclude_each_other_are_refused(
    tmp_path: Path, command: str, arguments: tuple[str, ...], words: str
) -> None:
    """With exit code 2, before anything is read."""
    result = run(command, tmp_path / "data", *arguments)
    assert result.exit_code == 2
    text = " ".join((result.stderr + result.stdout).split())
    assert words in text


@examples(100)
@given(seed=st.integers(0, 2**32), listed=st.booleans())
@with_example(seed=0, listed=True)
def test_a_listing_is_the_same_after_json(seed: int, listed: bool) -> None:
    """With files that the manifest does not list, missing files, and gaps."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as temporary:
        root = write(Path(temporary) / "data", chance, listed=listed)
        for damage in chance.sample(DAMAGES, 2):
            files = sorted(each for each in root.glob("*.tfrecord") if each.exists())
            damage(chance.choice(files), chance)
        for source in (
            root,
            f"{root}/*.tfrecord",
            root / "train-00000-of-00004.tfrecord",
        ):
            if (
                not Path(source).exists()
                and source is not root
                and "*" not in str(source)
            ):
                continue
            listing = list_data(source)
            text = json.dumps(listing_to_json(listing))
            assert listing_from_json(json.loads(text)) == listing


def test_statistics_are_the_same_after_json(tmp_path: Path) -> None:
    """Values, samples, sizes of pictures, and sums, which equality leaves out."""
    from PIL import Image

    root = write(tmp_path / "data", random.Random(8))
    picture = tmp_path / "picture.png"
    Image.new("RGB", (7, 5)).save(picture)
    tensor = b"\x08\x01\x12\x04\x12\x02\x08\x01\x22\x04abcd"
    some = [
        example(
            {
                "png": [picture.read_bytes()],
                "tensor": [tensor],
                "float": [0.1, float("nan"), float("inf"), 3e38],
                "int": [-(2**63), 2**63 - 1],
                "raw": [b"\xff\x00"],
            }
        ),
        b"\x0a\x05hello",
    ]
    (root / "val-00000-of-00002.tfrecord").write_bytes(b"".join(map(frame, some)))
    inspect_part(root, Share(1, 1), tmp_path / "part.json")
    expected, found = inspect_data(root), merged_statistics([tmp_path / "part.json"])
    assert found == expected
    for split, values in expected.splits.items():
        for key, held in values.keys.items():
            for kind, numbers in held.by_kind.items():
                other = found.splits[split].keys[key].by_kind[kind].numbers
                if numbers.numbers is not None:
                    assert other is not None
                    assert other.total == numbers.numbers.total
                    assert other.squares == numbers.numbers.squares
