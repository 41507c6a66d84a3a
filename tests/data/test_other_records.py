"""Files of other messages and formats: what they are, by all three verbs."""

from __future__ import annotations

import base64
import gzip
import io
import json
import pickle
import zlib
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from hypothesis import given, settings
from hypothesis import strategies as st
from schemagen.data.decoding import decode
from schemagen.data.foreign import keyed_of, keyed_rows, recognize
from schemagen.data.formats import describe_start
from schemagen.data.records import records_of
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
SHAPE = sized(2, sized(2, number(1, 2)))
ELWC = sized(1, EXAMPLE) * 3 + sized(2, EXAMPLE)
FEATURES = EXAMPLE[2:]
EVENT = b"\x09" + bytes(8) + sized(3, b"brain.Event:2")
TENSOR = number(1, 1) + SHAPE + sized(4, bytes(8))

# What records are that no reader of Examples finds a value in.
RECORDS: dict[str, tuple[bytes, str]] = {
    "lists of Examples": (
        ELWC,
        "an ExampleListWithContext (ELWC) of TensorFlow Ranking: 3 Examples and a "
        "context",
    ),
    "lists without a context": (
        sized(1, EXAMPLE),
        "an ExampleListWithContext (ELWC) of TensorFlow Ranking: 1 Example",
    ),
    "features": (
        FEATURES,
        "a tf.train.Features without the tf.train.Example around it",
    ),
    "events": (EVENT, "a tensorflow.Event, as TensorBoard reads it"),
    "tensors": (TENSOR, "a serialized TensorProto: float32 [2]"),
    "datums": (
        b"".join(number(field, 8) for field in (1, 2, 3)) + sized(4, b"pixels"),
        "a Datum of Caffe",
    ),
    "frames": (
        sized(1, b"c") + number(2, 9) + sized(3, b"p") + sized(4, b"i"),
        "a Frame of the Waymo Open Dataset",
    ),
    "scenarios": (
        b"\x09" + bytes(8) + sized(2, b"t") + sized(5, b"id") + number(10, 9),
        "a Scenario of the Waymo Open Motion Dataset",
    ),
    "notes": (
        sized(1, b"/id/a")
        + number(4, 220)
        + sized(8, number(1, 60) + b"\x21" + bytes(8))
        + b"\x49"
        + bytes(8),
        "a NoteSequence of Magenta",
    ),
    "JSON": (json.dumps({"a": [1, 2]}).encode(), "text: JSON"),
    "text": ("Zoë\n".encode(), "text: 'Zoë\\n'"),
    "tables": (b"a,b\n1,2\n3,4\n", "text: CSV: 'a,b'"),
    "Examples in base64": (
        base64.b64encode(EXAMPLE),
        "base64 text of a tf.train.Example",
    ),
    "JSON in base64": (base64.b64encode(b'{"a": 1, "b": 2}'), "base64 text of JSON"),
    "Examples in GZIP": (gzip.compress(EXAMPLE), "GZIP data of a tf.train.Example"),
    "pickles in ZLIB": (zlib.compress(pickle.dumps([1])), "ZLIB data of a pickle"),
    "old pickles": (pickle.dumps({"a": 1}, protocol=2), "a pickle"),
    "pickles": (pickle.dumps(np.zeros(4), protocol=5), "a pickle"),
    "arrays": (saved(np.zeros(3)), "an array of numpy (.npy)"),
    "archives": (
        saved(np.zeros(3), np.zeros(3)),
        "a ZIP archive, as .npz files are",
    ),
    "Arrow files": (b"ARROW1\0\0" + bytes(20), "an Arrow file (Feather)"),
    "Arrow streams": (
        b"\xff\xff\xff\xff\x90\x00\x00\x00\x10\x00\x00\x00" + bytes(20),
        "an Arrow stream",
    ),
    "Parquet files": (b"PAR1" + bytes(20), "a Parquet file"),
    "JPEG images": (b"\xff\xd8\xff\xe0" + bytes(20), "a JPEG image"),
    "other messages": (
        number(1, 1) + sized(7, b"\x08\x01") + b"\x4d" + bytes(4),
        "another protobuf, with the fields 1 (varint), 7 (bytes), 9 (32 bits)",
    ),
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
    assert recognize(record).what == what
    path = tmp_path / "train.tfrecord"
    path.write_bytes(frame(record) * 2)
    [finding] = [each for each in verify(path).findings if each.rule == "SG513"]
    assert finding.what == "no record has a key of a tf.train.Example"
    assert [each.found for each in finding.examples] == [what]
    assert finding.examples[0].cause == recognize(record).advice
    shown = run("inspect", path)
    assert shown.exit_code == 1
    said = " ".join(shown.stdout.split())
    assert f"train.tfrecord: {finding.what}: found " in said
    as_json = json.loads(run("inspect", path, "--format", "json").stdout)
    assert (as_json["files"][0]["foreign"], as_json["sound"]) == (what, False)
    refused = run("infer", path, "--out", tmp_path / "x.py")
    assert refused.exit_code == 2
    assert f"SG442 {finding.what}\n    found:    {what}\n" in refused.output
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
def test_records_with_a_key_are_examples(record: bytes) -> None:
    """With a list or without, of Examples and SequenceExamples."""
    columns = decode(records_of([record]))
    assert keyed_rows(columns).tolist() == [True]
    assert keyed_of(columns).other is None


@pytest.mark.parametrize("record", [ELWC, FEATURES, EVENT, number(7, 1) * 4])
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
    assert f"no tf.train.Example in {bad}: " in done.output
    assert (tmp_path / "x.py").exists()


def test_other_messages_in_a_good_file_are_findings(tmp_path: Path) -> None:
    """Those that parse as an Example without a key, too."""
    path = tmp_path / "train.tfrecord"
    records = [mixed(0), number(7, 1) * 4, b"", mixed(1)]
    path.write_bytes(b"".join(map(frame, records)))
    [finding] = verify(path).findings
    assert (finding.rule, finding.what) == ("SG521", "record has no key")
    assert [each.record for each in finding.examples] == [1]
    shown = run("inspect", path)
    assert shown.exit_code == 1
    assert "2 records without a key: found another protobuf" in " ".join(
        shown.stdout.split()
    )


def test_an_empty_record_among_good_ones_is_no_finding(tmp_path: Path) -> None:
    """It is an Example whose features are all missing."""
    path = tmp_path / "train.tfrecord"
    path.write_bytes(frame(mixed(0)) + frame(b""))
    assert verify(path).clean
    assert run("inspect", path).exit_code == 0


def test_records_of_millions_of_fields_are_recognized_soon() -> None:
    """A hostile record does not keep the verbs busy."""
    data = b"\x0a\x00" * 2_000_000 + b"\x08\x01"
    assert recognize(data).what.startswith("an ExampleListWithContext") is False
    assert recognize(data).what.startswith("another protobuf")


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([record for record, _ in RECORDS.values()]),
    st.integers(0, 400),
    st.binary(max_size=12),
)
def test_any_bytes_are_recognized_as_something(
    record: bytes, at: int, some: bytes
) -> None:
    """Damaged messages, too, and by one line of text."""
    found = recognize(record[:at] + some + record[at + len(some) :])
    assert found.what
    assert found.advice
    assert found.what.isprintable()


def test_a_large_example_in_gzip_is_recognized() -> None:
    """Larger than what is shown of a text."""
    data = example({"pixels": [np.random.default_rng(0).bytes(1 << 18)]})
    assert recognize(gzip.compress(data)).what == "GZIP data of a tf.train.Example"


FILES: dict[str, tuple[bytes, str]] = {
    "npy": (saved(np.zeros(30)), "an array of numpy (.npy)"),
    "npz": (saved(np.zeros(3), np.zeros(3)), "a ZIP archive, as .npz files are"),
    "parquet": (b"PAR1" + bytes(99), "a Parquet file"),
    "arrow": (b"ARROW1\0\0" + bytes(99), "an Arrow file (Feather)"),
    "pickle": (pickle.dumps(list(range(99))), "a pickle"),
    "lmdb": (bytes(16) + b"\xde\xc0\xef\xbe" + bytes(99), "an LMDB database"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file"),
    "tar": (bytes(257) + b"ustar" + bytes(250), "a tar archive"),
    "sqlite": (b"SQLite format 3\0" + bytes(99), "an SQLite database"),
    "csv": (b"id,name\n1,a\n2,b\n", "text: CSV: 'id,name'"),
    "json": (b'{"a": 1}\n{"a": 2}\n', "text: JSON"),
    "text": ("Größe der Stadt".encode(), "text: 'Größe der Stadt'"),
    "recordio": (b"\x0a\x23\xd7\xce" + bytes(99), "an MXNet RecordIO file"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_formats_are_named(tmp_path: Path, name: str) -> None:
    """Whatever their own name says."""
    data, what = FILES[name]
    assert describe_start(data[:512]) == what
    path = tmp_path / "train.tfrecord"
    path.write_bytes(data)
    [finding] = verify(path).findings
    assert (finding.rule, finding.examples[0].found) == ("SG508", what)
    refused = run("infer", path, "--out", tmp_path / "x.py")
    assert f"found:    {what}" in refused.output
    shown = run("inspect", path)
    assert shown.exit_code == 1
    assert what in " ".join(shown.stdout.split())
