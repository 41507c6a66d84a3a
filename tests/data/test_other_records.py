"""Files of other messages and formats: what they are, by all three verbs."""

from __future__ import annotations

import gzip
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from hypothesis import given, settings
from hypothesis import strategies as st
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.data.verify import verify
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.shared.wire import varint

from .messages import example, mixed, sized


def number(field: int, value: int) -> bytes:
    """Return a field of a message that holds a varint."""
    return varint(field << 3) + varint(value)


def saved(*arrays: np.ndarray) -> bytes:
    """Return an .npy file of one array, or an .npz file of several."""
    out = io.BytesIO()
    np.save(out, arrays[0]) if len(arrays) == 1 else np.savez(out, *arrays)
    return out.getvalue()


EXAMPLE = example({"a": [1, 2], "text": [b"some"]})
OTHER = "another protobuf message, with "
LISTS = sized(1, EXAMPLE) * 3 + sized(2, EXAMPLE)
EVENT = b"\x09" + bytes(8) + sized(3, b"brain.Event:2")

# What records are that no reader of Examples finds a value in.
RECORDS: dict[str, tuple[bytes, str]] = {
    "lists of Examples": (LISTS, OTHER + "fields 1 (bytes), 2 (bytes)"),
    "features": (EXAMPLE[2:], OTHER + "field 1 (bytes)"),
    "events": (EVENT, OTHER + "fields 1 (64 bits), 3 (bytes)"),
    "all wire types": (
        number(1, 1) + sized(7, b"\x08\x01") + b"\x4d" + bytes(4),
        OTHER + "fields 1 (varint), 7 (bytes), 9 (32 bits)",
    ),
    "many fields": (
        b"".join(number(at, 1) for at in range(3, 20)),
        OTHER
        + "fields "
        + ", ".join(f"{at} (varint)" for at in range(3, 11))
        + ", ...",
    ),
    "100,000 fields": (
        b"\x0a\x00" * 100_000 + b"\x08\x01",
        OTHER + "field 1 (bytes)",
    ),
    "text": ("Zoë".encode(), "text: 'Zoë'"),
    "pickles": (pickle.dumps(np.zeros(4), protocol=5), "a pickle"),
    "Parquet files": (b"PAR1" + bytes(20), "a Parquet file"),
    "JPEG images": (b"\xff\xd8\xff\xe0" + bytes(20), "a JPEG image"),
    "bytes": (b"\xff\x00\x80\x91", "bytes that begin with ff 00 80 91"),
    "empty records": (b"", "an Example without a feature"),
    "empty maps": (b"\x0a\x00\x12\x00", "an Example without a feature"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_without_a_key_are_named_by_every_verb(
    tmp_path: Path, name: str
) -> None:
    """Verify and inspect end with exit code 1, infer with 2 and the same words."""
    record, what = RECORDS[name]
    path = tmp_path / "train.tfrecord"
    path.write_bytes(frame(record) * 2)
    [finding] = [each for each in verify(path).findings if each.rule == "SG513"]
    assert [each.found for each in finding.examples] == [what]
    assert finding.examples[0].cause
    shown = run("inspect", path)
    assert shown.exit_code == 1
    assert what in " ".join(shown.stdout.split())
    as_json = json.loads(run("inspect", path, "--format", "json").stdout)
    assert (as_json["files"][0]["foreign"], as_json["sound"]) == (what, False)
    refused = run("infer", path, "--out", tmp_path / "x.py")
    assert refused.exit_code == 2
    assert f"found:    {what}\n" in refused.output
    assert not (tmp_path / "x.py").exists()


@pytest.mark.parametrize(
    "record",
    [
        EXAMPLE,
        example({"a": None}),
        example({"": [1]}),
        sized(2, sized(1, sized(1, b"steps") + sized(2, sized(1, b"")))),
        EXAMPLE + sized(7, b"unknown"),
    ],
)
def test_records_with_a_key_are_examples(tmp_path: Path, record: bytes) -> None:
    """With a list or without, of Examples and SequenceExamples."""
    path = tmp_path / "train.tfrecord"
    path.write_bytes(frame(record))
    found = inspect_data(path)
    assert found.sound
    assert verify(path).clean


@pytest.mark.parametrize("record", [LISTS, EXAMPLE[2:], EVENT, number(7, 1) * 4])
def test_files_of_another_message_among_good_ones_are_named(
    tmp_path: Path, record: bytes
) -> None:
    """Verify, inspect and infer end with exit code 1; the schema is of the others."""
    for at in range(3):
        name = f"train-0000{at}-of-00003.tfrecord"
        (tmp_path / name).write_bytes(frame(record if at == 1 else mixed(at)) * 2)
    [finding] = [each for each in verify(tmp_path).findings if each.rule == "SG513"]
    bad = tmp_path / "train-00001-of-00003.tfrecord"
    assert [each.file for each in finding.examples] == [str(bad)]
    shown = run("inspect", tmp_path)
    assert shown.exit_code == 1
    assert f"\n{bad.name}: no record has a key" in shown.stdout
    assert "split train: " in shown.stdout
    done = run("infer", tmp_path, "--out", tmp_path / "x.py")
    assert done.exit_code == 1
    assert str(bad) in done.output
    assert (tmp_path / "x.py").exists()


def test_other_messages_in_a_good_file_are_findings(tmp_path: Path) -> None:
    """Those that parse as an Example without a key, too; an empty record is none."""
    path = tmp_path / "train.tfrecord"
    records = [mixed(0), number(7, 1) * 4, b"", mixed(1)]
    path.write_bytes(b"".join(map(frame, records)))
    [finding] = verify(path).findings
    assert (finding.rule, finding.what) == ("SG521", "record has no key")
    assert [each.record for each in finding.examples] == [1]
    assert run("inspect", path).exit_code == 1
    path.write_bytes(frame(mixed(0)) + frame(b""))
    assert verify(path).clean
    assert inspect_data(path).sound


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
    path.write_bytes(frame(record[:at] + some + record[at + len(some) :]))
    for finding in verify(path).findings:
        for each in finding.examples:
            assert each.found
            assert each.found.isprintable()


FILES: dict[str, tuple[bytes, str]] = {
    "npy": (saved(np.zeros(30)), "an array of numpy (.npy)"),
    "npz": (saved(np.zeros(3), np.zeros(3)), "a ZIP archive, as .npz files are"),
    "parquet": (b"PAR1" + bytes(99), "a Parquet file"),
    "arrow": (b"ARROW1\0\0" + bytes(99), "an Arrow file (Feather)"),
    "Arrow stream": (
        b"\xff\xff\xff\xff\x90\x00\x00\x00\x10\x00\x00\x00" + bytes(20),
        "an Arrow stream",
    ),
    "pickle": (pickle.dumps(list(range(99))), "a pickle"),
    "lmdb": (bytes(16) + b"\xde\xc0\xef\xbe" + bytes(99), "an LMDB database"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file"),
    "text": ("Größe der Stadt".encode(), "text: 'Größe der Stadt'"),
    "zeros": (bytes(100), "nothing but zeros, as a file that was set aside and never"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(90), "compressed with zstd"),
    "short": (b"\x01\x02\x03", "bytes that begin with 01 02 03"),
    "text in GZIP": (
        gzip.compress(b"id, name"),
        "text: 'id, name', compressed with GZIP",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_formats_are_named(tmp_path: Path, name: str) -> None:
    """Whatever their own name says."""
    data, what = FILES[name]
    path = tmp_path / "train.tfrecord"
    path.write_bytes(data)
    [finding] = verify(path).findings
    assert finding.rule == "SG508"
    assert finding.examples[0].found.startswith(what)
    refused = run("infer", path, "--out", tmp_path / "x.py")
    assert f"found:    {what}" in refused.output
    shown = run("inspect", path)
    assert shown.exit_code == 1
    assert what in " ".join(shown.stdout.split())
