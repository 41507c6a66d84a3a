"""Records that are too long for TensorFlow: refused by writers, verify and readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import schemagen
import tensorflow as tf
from tfrecord_files import frame, header, write_records

from generated import DatasetError, RecordError

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated, Any
from schemagen import Label, Record, Scalar, SequenceRecord, Steps, VarLen

class Plain(Record):
    size: float | None = None
    label: Annotated[int | None, Label(num_classes=3)] = None
    blob: Annotated[bytes | None, Scalar("bytes")] = None

class Grouped(Record):
    label: Annotated[int | None, Label(num_classes=3)] = None
    names: Annotated[list[int], VarLen(dtype="int64", group="g")]
    blob: Annotated[list[bytes], VarLen(dtype="bytes", group="g")]

class Clip(SequenceRecord):
    label: Annotated[int | None, Label(num_classes=3)] = None
    blob: Annotated[list[bytes], Steps(Scalar("bytes"))]
"""

MOST_RECORD_BYTES = 2**31 - 1
"""The most bytes of a protobuf message."""

LIMIT = 1000
"""What stands for 2 GiB, so that the tests take little memory."""

_MODULES = (
    *("records.codec", "records.checking", "records.parsing"),
    "schemagen.data.framing",
)


def _row(record: str, size: int) -> dict[str, Any]:
    blob = bytes(size)
    values = {
        "plain": {"size": 1.0, "blob": blob},
        "grouped": {"names": [1], "blob": [blob]},
        "clip": {"blob": [blob]},
    }
    return {"label": 2, **values[record]}


def _longest(serialize: Callable[..., bytes], record: str) -> int:
    """Return the most bytes of a value whose record is within the limit."""
    size = LIMIT
    while len(serialize(**_row(record, size))) > LIMIT:
        size -= 1
    return size


@pytest.fixture
def lower(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what lowers the limit of records."""

    def lower() -> None:
        for name in _MODULES:
            module = name if name.startswith("s") else f"schemagen.runtime.{name}"
            monkeypatch.setattr(f"{module}.MOST_RECORD_BYTES", LIMIT)

    return lower


@pytest.mark.parametrize("record", ["plain", "grouped", "clip"])
def test_every_way_of_writing_refuses_a_record_over_the_limit(
    package: Workspace, lower: Callable[[], None], tmp_path: Path, record: str
) -> None:
    """The error names the largest field and the row; a record of the limit is written."""
    serializer = package.module(record, "serializer")
    size = _longest(serializer.serialize, record)
    lower()
    good, long = _row(record, size), _row(record, size + 1)
    columns = {name: [good[name], long[name]] for name in good}

    def write() -> None:
        with serializer.Writer(tmp_path / "a", "train") as writer:
            writer.write(**good)
            writer.write(**long)

    def write_batch() -> None:
        with serializer.Writer(tmp_path / "b", "train") as writer:
            writer.write_batch(**columns)

    ways: list[tuple[Callable[[], object], int | None]] = [
        (lambda: serializer.serialize(**long), None),
        (lambda: serializer.serialize_batch(**columns), 1),
        (write, None),
        (write_batch, 1),
        (lambda: serializer.write_dataset([good, long], tmp_path / "c", "train"), 1),
    ]
    for way, row in ways:
        with pytest.raises(RecordError) as error:
            way()
        assert (error.value.field, error.value.row) == ("blob", row)
        assert f"a record of {LIMIT + 1} bytes" in error.value.found
        assert str(MOST_RECORD_BYTES) in error.value.expected
    assert len(serializer.serialize(**good)) == LIMIT


def test_a_long_record_is_refused_by_each_reader_and_never_read_as_defaults(
    package: Workspace, lower: Callable[[], None], tmp_path: Path
) -> None:
    """`verify`, `parse_batch`, `make_dataset` and `open_split` report it."""
    serializer = package.module("plain", "serializer")
    records = [serializer.serialize(**_row("plain", size)) for size in (1, LIMIT)]
    path = write_records(tmp_path / "train.tfrecord", records)
    lower()

    found = schemagen.verify(path, max_record_bytes=10 * LIMIT)
    assert [each.rule for each in found.findings] == ["SG512"]
    [example] = found.findings[0].examples
    assert (example.record, found.records) == (1, 1)
    assert "max-record-bytes" not in example.cause

    with pytest.raises(tf.errors.InvalidArgumentError, match=str(MOST_RECORD_BYTES)):
        package.module("plain", "parser").parse_batch(tf.constant(records))

    make_dataset = package.module("plain", "pipeline").make_dataset
    open_split = package.module("plain", "reader").open_split
    with pytest.raises((DatasetError, tf.errors.OpError), match="record 1"):
        list(make_dataset(str(path), batch_size=2))
    with pytest.raises(DatasetError, match="record 1"):
        open_split(path)[:2]
    kept = list(make_dataset(str(path), batch_size=2, on_corrupt="skip"))
    labels = [label for batch in kept for label in batch[1].numpy().tolist()]
    assert labels == [2]


def test_verify_reports_a_record_of_2_gib(tmp_path: Path) -> None:
    """No option makes it readable, and the records behind it are checked."""
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.append(1)
    path = tmp_path / "train.tfrecord"
    with path.open("wb") as file:
        file.write(header(MOST_RECORD_BYTES + 1))
        file.seek(MOST_RECORD_BYTES + 1 + 4, 1)
        file.write(frame(example.SerializeToString()))
    found = schemagen.verify(path, max_record_bytes=1 << 40)
    [finding] = found.findings
    assert (finding.rule, found.records) == ("SG512", 1)
    assert f"{MOST_RECORD_BYTES}" in finding.expected
