"""The manifest: what it says, and that a damaged one is never believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import google_crc32c
import pytest
from digit_rows import rows

from generated import DatasetError, check_files
from generated.digit.pipeline import make_dataset
from generated.digit.serializer import Writer, write_dataset


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The manifest of a directory with two splits."""
    write_dataset(rows(7), tmp_path, "train", shards=2)
    write_dataset(rows(1), tmp_path, "test", compression="GZIP")
    return tmp_path / "manifest.json"


def test_a_manifest_states_one_fact_a_line_and_its_checksum(path: Path) -> None:
    """Sorted; the first entry is the checksum of the text with zeros in its place."""
    text = path.read_text()
    data = json.loads(text)
    assert text == json.dumps(data, indent=2, sort_keys=True) + "\n"
    assert text.startswith(f'{{\n  "crc32c": "{data["crc32c"]}",\n')
    zeros = text.replace(data["crc32c"], "00000000", 1)
    assert data["crc32c"] == f"{google_crc32c.value(zeros.encode()):08x}"
    assert data["format"] == 3
    assert {name: split["records"] for name, split in data["splits"].items()} == {
        "test": 1,
        "train": 7,
    }
    for shard in data["splits"]["train"]["shards"]:
        end = (path.parent / shard["file"]).read_bytes()[-16:]
        assert shard["tail"] == end.hex()


def test_no_changed_byte_is_believed(path: Path) -> None:
    """Of facts, names, white space, or the checksum itself."""
    text = path.read_bytes()
    unseen = []
    for position in range(len(text)):
        damaged = bytearray(text)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        try:
            check_files(path.parent)
        except DatasetError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017
        else:
            unseen.append(position)
    assert unseen == []


def _changed(text: bytes, *entry: Any, to: Any = ...) -> bytes:
    """A manifest's text with one fact changed, or taken out, and without a checksum."""
    data = json.loads(text)
    data.pop("crc32c", None)
    inner = data
    for step in entry[:-1]:
        inner = inner[step]
    if to is ...:
        del inner[entry[-1]]
    else:
        inner[entry[-1]] = to
    return json.dumps(data).encode()


_SHARD = ("splits", "train", "shards", 0)
_WRONG: list[tuple[tuple[Any, ...], Any]] = [
    (("colour",), "red"),
    (("crc32c",), "00000000"),
    (("format",), ...),
    (("format",), 0),
    (("format",), 4),
    (("format",), "1"),
    (("record",), ...),
    (("fingerprint",), ...),
    (("spec",), ...),
    (("spec",), {}),
    (("spec", "fields"), None),
    (("spec", "fields", 0, "key"), ...),
    (("spec", "fields", 0, "kind"), ...),
    (("spec", "fields", 0, "optional"), ...),
    (("spec", "fields", 0), "word"),
    (("splits",), ...),
    (("splits",), []),
    (("splits", "train"), None),
    (("splits", "train", "shards"), ...),
    (("splits", "train", "shards"), []),
    (("splits", "train", "compression"), ...),
    (("splits", "train", "compression"), "LZ4"),
    (("splits", "train", "records"), 8),
    (_SHARD, None),
    ((*_SHARD, "bytes"), ...),
    ((*_SHARD, "bytes"), 120.5),
    ((*_SHARD, "colour"), "red"),
    ((*_SHARD, "records"), "4"),
    ((*_SHARD, "tail"), 7),
    ((*_SHARD, "tail"), ...),
    (("format",), 1),
    ((*_SHARD, "file"), None),
    ((*_SHARD, "file"), ""),
    ((*_SHARD, "file"), "../train-00000-of-00002.tfrecord"),
    ((*_SHARD, "file"), "/etc/passwd"),
    ((*_SHARD, "file"), "train\ud800"),
    ((*_SHARD, "file"), "."),
    ((*_SHARD, "records"), True),
    ((*_SHARD, "bytes"), -1),
    ((*_SHARD, "bytes"), 1 << 62),
    ((*_SHARD, "hidden"), "a/b"),
    ((*_SHARD, "hidden"), "x" * 256),
    ((*_SHARD, "file"), "test-00000-of-00001.tfrecord.gz"),
]
_NO_JSON = [
    b"",
    b"not json",
    b'{"a": "\xff\xfe"}',
    b"[" * 100_000,
    b"[]",
    b"null",
    b"7",
]


@pytest.mark.parametrize("damage", [*_WRONG, *_NO_JSON], ids=repr)
def test_a_damaged_manifest_is_refused(path: Path, damage: Any) -> None:
    """Whatever is wrong with it, readers and writers name the file, and go no further."""
    is_text = isinstance(damage, bytes)
    path.write_bytes(
        damage if is_text else _changed(path.read_bytes(), *damage[0], to=damage[1])
    )
    for use in (
        lambda: make_dataset(path.parent, "train", batch_size=2),
        lambda: Writer(path.parent, "val"),
        lambda: check_files(path.parent),
    ):
        with pytest.raises(DatasetError) as caught:
            use()
        assert str(caught.value).startswith(f"{path}: ")


def test_a_manifest_without_a_checksum_is_read(path: Path) -> None:
    """Those that were edited by hand."""
    path.write_bytes(_changed(path.read_bytes(), "format", to=3))
    assert check_files(path.parent) == []
    assert len(list(make_dataset(path.parent, "train", batch_size=7))) == 1


def test_unusual_entries_of_a_shard_are_read(path: Path) -> None:
    """Names in any script, with spaces or line ends; null in place of no entry."""
    for name in ("donn\u00e9es 1", "a\nb", '},\n          {"'):
        text = _changed(path.read_bytes(), *_SHARD, "file", to=name)
        path.write_bytes(_changed(text, *_SHARD, "hidden", to=None))
        old = next(path.parent.glob("train-00000*"))
        (path.parent / name).write_bytes(old.read_bytes())
        assert check_files(path.parent) == []
        # A writer of another split writes the manifest again.
        write_dataset(rows(1), path.parent, "val", overwrite=True)
        shard = json.loads(path.read_bytes())["splits"]["train"]["shards"][0]
        assert shard["file"] == name
        assert "hidden" not in shard
        assert check_files(path.parent) == []
