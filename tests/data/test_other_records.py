"""Files of other messages and formats: what they are, by all three verbs."""

from __future__ import annotations

import gzip
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import schemagen
from command_line import run
from hypothesis import given, settings
from hypothesis import strategies as st

from .messages import example, mixed, number, sized, write_file


def saved(*arrays: np.ndarray) -> bytes:
    """Return an .npy file of one array, or an .npz file of several."""
    out = io.BytesIO()
    np.save(out, arrays[0]) if len(arrays) == 1 else np.savez(out, *arrays)
    return out.getvalue()


EXAMPLE = example({"a": [1, 2], "text": "some"})
LISTS = sized(1, EXAMPLE) * 3 + sized(2, EXAMPLE)
EVENT = b"\x09" + bytes(8) + sized(3, b"brain.Event:2")

# What records are in which no reader of Examples finds a value, and words of it.
RECORDS: dict[str, tuple[bytes, str]] = {
    "lists of Examples": (LISTS, "1 (bytes), 2 (bytes)"),
    "features": (EXAMPLE[2:], "1 (bytes)"),
    "events": (EVENT, "1 (64 bits), 3 (bytes)"),
    "all wire types": (
        number(1, 1) + sized(7, b"\x08\x01") + b"\x4d" + bytes(4),
        "1 (varint), 7 (bytes), 9 (32 bits)",
    ),
    "many fields": (
        b"".join(number(at, 1) for at in range(3, 20)),
        ", ".join(f"{at} (varint)" for at in range(3, 11)) + ", ...",
    ),
    "10,000 fields": (b"\x0a\x00" * 10_000 + b"\x08\x01", "1 (bytes)"),
    "text": ("Zoë".encode(), "'Zoë'"),
    "pickles": (pickle.dumps(np.zeros(4), protocol=5), "pickle"),
    "Parquet files": (b"PAR1" + bytes(20), "Parquet"),
    "JPEG images": (b"\xff\xd8\xff\xe0" + bytes(20), "JPEG"),
    "bytes": (b"\xff\x00\x80\x91", "ff 00 80 91"),
    "empty records": (b"", "Example"),
    "empty maps": (b"\x0a\x00\x12\x00", "Example"),
}
FILES: dict[str, tuple[bytes, str]] = {
    "npy": (saved(np.zeros(30)), "numpy (.npy)"),
    "npz": (saved(np.zeros(3), np.zeros(3)), ".npz"),
    "parquet": (b"PAR1" + bytes(99), "Parquet"),
    "arrow": (b"ARROW1\0\0" + bytes(99), "Arrow file"),
    "pickle": (pickle.dumps(list(range(99))), "pickle"),
    "lmdb": (bytes(16) + b"\xde\xc0\xef\xbe" + bytes(99), "LMDB"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(99), "HDF5"),
    "webp": (b"RIFF\x30\0\0\0WEBPVP8L" + bytes(99), "a WebP image"),
    "heic": (b"\0\0\0\x18ftypheic" + bytes(99), "a HEIC image"),
    "text": ("Größe der Stadt".encode(), "'Größe der Stadt'"),
    "text like a bmp": (b"BMW 320i, sold in 1999", "'BMW 320i, sold in 1999'"),
    "zeros": (bytes(100), "zeros"),
    "short": (b"\x01\x02\x03", "01 02 03"),
    "text in GZIP": (gzip.compress(b"id, name"), "'id, name', compressed with GZIP"),
}


def check(path: Path, rule: str, words: str) -> None:
    """Assert that verify and inspect find it, and that infer refuses it."""
    [finding] = [each for each in schemagen.verify(path).findings if each.rule == rule]
    [shown] = finding.examples
    assert shown.cause
    assert words in shown.found
    for verb, code in (("verify", 1), ("inspect", 1), ("infer", 2)):
        out = ["--out", path.parent / "x.py"] if verb == "infer" else []
        result = run(verb, path, *out)
        assert result.exit_code == code
        assert shown.found in " ".join(result.output.split())
    assert not (path.parent / "x.py").exists()


@pytest.mark.parametrize("name", RECORDS)
def test_records_without_a_key_are_named_by_every_verb(
    tmp_path: Path, name: str
) -> None:
    """By the fields of another message, or by their format."""
    record, words = RECORDS[name]
    path = write_file(tmp_path / "train.tfrecord", [record, record])
    check(path, "SG513", words)
    document = json.loads(run("inspect", path, "--format", "json").stdout)
    assert words in document["files"][0]["foreign"]
    assert not document["sound"]


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_formats_are_named_by_every_verb(
    tmp_path: Path, name: str
) -> None:
    """Whatever their own name says."""
    data, words = FILES[name]
    path = tmp_path / "train.tfrecord"
    path.write_bytes(data)
    check(path, "SG508", words)


@pytest.mark.parametrize(
    "record",
    [
        EXAMPLE,
        example({"a": None}),
        example({"": 1}),
        sized(2, sized(1, sized(1, b"steps") + sized(2, sized(1, b"")))),
        EXAMPLE + sized(7, b"unknown"),
    ],
)
def test_records_with_a_key_are_examples(tmp_path: Path, record: bytes) -> None:
    """With a list or without, of Examples and SequenceExamples."""
    path = write_file(tmp_path / "train.tfrecord", [record])
    assert schemagen.verify(path).clean
    assert run("inspect", path).exit_code == 0


@pytest.mark.parametrize("record", [LISTS, EXAMPLE[2:], EVENT, number(7, 1) * 4])
def test_files_of_another_message_among_good_ones_are_named(
    tmp_path: Path, record: bytes
) -> None:
    """Verify, inspect and infer end with exit code 1; the schema is of the others."""
    files = [tmp_path / f"train-0000{at}-of-00003.tfrecord" for at in range(3)]
    for at, path in enumerate(files):
        write_file(path, [record if at == 1 else mixed(at)] * 2)
    found = schemagen.verify(tmp_path).findings
    [finding] = [each for each in found if each.rule == "SG513"]
    assert [each.file for each in finding.examples] == [str(files[1])]
    document = json.loads(run("inspect", tmp_path, "--format", "json").stdout)
    foreign = [bool(each["foreign"]) for each in document["files"]]
    assert (foreign, document["sound"]) == ([False, True, False], False)
    done = run("infer", tmp_path, "--out", tmp_path / "x.py")
    assert done.exit_code == 1
    assert str(files[1]) in done.output
    assert (tmp_path / "x.py").exists()


def test_other_messages_in_a_good_file_are_findings(tmp_path: Path) -> None:
    """Those that parse as an Example without a key, too; an empty record is none."""
    path = tmp_path / "train.tfrecord"
    write_file(path, [mixed(0), number(7, 1) * 4, b"", mixed(1)])
    [finding] = schemagen.verify(path).findings
    assert finding.rule == "SG521"
    assert [each.record for each in finding.examples] == [1]
    assert run("inspect", path).exit_code == 1
    write_file(path, [mixed(0), b""])
    assert schemagen.verify(path).clean
    assert run("inspect", path).exit_code == 0


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([record for record, _ in RECORDS.values() if len(record) < 1000]),
    st.integers(0, 400),
    st.binary(max_size=12),
)
def test_any_bytes_are_described_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, record: bytes, at: int, some: bytes
) -> None:
    """Damaged messages, too."""
    path = tmp_path_factory.mktemp("any") / "train.tfrecord"
    write_file(path, [record[:at] + some + record[at + len(some) :]])
    for finding in schemagen.verify(path).findings:
        for each in finding.examples:
            assert each.found
            assert each.found.isprintable()
