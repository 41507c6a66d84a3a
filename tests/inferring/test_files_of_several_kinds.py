"""Files of several kinds of records under one name, and files that hold none."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemagen
from command_line import run
from data.messages import write_file

from .inference import infer, many


def users(number: int = 4) -> list[bytes]:
    """Return records of one kind."""
    return many(lambda i: {"user": i, "age": i, "city": "a"}, number)


def films(number: int = 4) -> list[bytes]:
    """Return records of another kind."""
    return many(lambda i: {"film": i, "year": i, "title": "b", "city": "a"}, number)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three files of users, one of films."""
    for name in ("user-0", "user-1", "user-2"):
        write_file(tmp_path / "data" / f"{name}.tfrecord", users())
    write_file(tmp_path / "data" / "films.tfrecord", films())
    return tmp_path / "data"


def test_files_that_share_few_keys_are_refused_with_their_groups(data: Path) -> None:
    """By a file and the keys of each; nothing is written."""
    out = data.parent / "x.py"
    refused = run("infer", data, "--out", out)
    assert refused.exit_code == 2
    for part in (
        *(" SG442 ", f"{data}/films.tfrecord", f"{data}/user-0.tfrecord"),
        "'age', 'city'",
    ):
        assert part in refused.output
    assert not out.exists()
    assert infer(f"{data}/user-*.tfrecord", out).read == "12 records of 3 files"


def test_merging_declares_all_keys_and_names_the_file_of_each(data: Path) -> None:
    """A key that only one file has is a doubt."""
    out = data.parent / "x.py"
    found = infer(data, out, merge=True)
    assert "film: int | None = None" in found.text
    assert "'films.tfrecord'" in found.text


# The further keys of files, and the doubt, which is a warning if `train` lacks them.
LACKING: list[tuple[dict[str, str], str]] = [
    ({"train": "a", "test": ""}, "'a': only in records of 'train.tfrecord'"),
    (
        {"train-0": "ab", "train-1": "ab", "train-2": "", "test-0": ""},
        "'a', 'b': only in records of 'train-0.tfrecord' and 1 other file",
    ),
    ({"train": "", "test": "a", "val": "a"}, "'a': in no record of 'train.tfrecord'"),
]


@pytest.mark.parametrize(("files", "doubt"), LACKING)
def test_keys_that_whole_files_lack_are_one_doubt(
    tmp_path: Path, files: dict[str, str], doubt: str
) -> None:
    """In however many files; a key that few records have may be absent by chance."""
    for name, keys in files.items():
        rows = many(lambda i, k=keys: dict.fromkeys((*"xyz", *k, *"r" * (i == 29)), i))
        write_file(tmp_path / f"{name}.tfrecord", rows[: 10 if name == "test" else 30])
    found = infer(tmp_path, tmp_path / "x.py")
    assert (found.prose.count(doubt), found.prose.count("'r'")) == (1, 0)
    assert (f"warning: {doubt}" in found.output) == (files.get("train") == "")


# Names of shards, the keys of every fourth row and of the others, and the doubts.
WHOLE = "train-0000{}-of-00004.tfrecord"
DEALT: list[tuple[str, str, str, list[str]]] = [
    (WHOLE, "xyza", "xyz", []),
    (WHOLE, "xyz", "xyza", []),
    (WHOLE, "xyza", "xyzb", ["'a': only in records of", "'b': in no record of"]),
    ("train-{}.tfrecord", "xyza", "xyz", ["'a': only in records of"]),
]


@pytest.mark.parametrize(("name", "fourth", "others", "doubts"), DEALT)
def test_a_field_in_some_shards_alone_says_how_rows_were_dealt(
    tmp_path: Path, name: str, fourth: str, others: str, doubts: list[str]
) -> None:
    """In turn, say. Other keys instead, or files that may be of several writes, are doubts."""
    rows = many(lambda i: dict.fromkeys(others if i % 4 else fourth, i), 120)
    for shard in range(4):
        write_file(tmp_path / name.format(shard), rows[shard::4])
    text = infer(tmp_path, tmp_path / "x.py").prose
    assert text.count("of one kind?") == len(doubts)
    assert all(doubt in text for doubt in doubts)


def test_keys_with_the_name_of_a_split_are_one_record(tmp_path: Path) -> None:
    """The finding pairs them; the schema of one split has plain names."""
    for split in ("train", "test"):
        keys = (f"{split}/image", f"{split}/label", *"xyz")
        rows = many(lambda i, keys=keys: dict.fromkeys(keys, i))
        write_file(tmp_path / f"{split}.tfrecord", rows)
    done = run("infer", tmp_path, "--out", tmp_path / "x.py")
    assert done.exit_code == 2
    assert "'test/image' is 'train/image', 'test/label' is 'train/label'" in done.output
    found = infer(tmp_path, tmp_path / "x.py", split="train").spec.fields
    assert {"image", "label"} <= {field.name for field in found}


def test_empty_shards_among_others_are_normal(tmp_path: Path) -> None:
    """They hold no wrong records; a split that has none at all is a finding."""
    for number, rows in enumerate(([], users(), [])):
        write_file(tmp_path / f"train-0000{number}-of-00003.tfrecord", rows)
    assert infer(tmp_path, tmp_path / "x.py").read == "4 records of 3 files"
    assert schemagen.verify(tmp_path).clean
    write_file(tmp_path / "test-00000-of-00001.tfrecord", [])
    [finding] = schemagen.verify(tmp_path).findings
    assert finding.rule == "SG505"


def test_files_without_a_key_are_named_among_others(data: Path, tmp_path: Path) -> None:
    """The schema is written all the same, with exit code 1."""
    (data / "films.tfrecord").unlink()
    write_file(data / "other.tfrecord", [b"some text", b"more of it"])
    done = run("infer", data, "--out", tmp_path / "x.py")
    assert done.exit_code == 1
    assert f"{data}/other.tfrecord" in done.output
    assert (tmp_path / "x.py").exists()
