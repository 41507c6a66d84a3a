"""TensorFlow Data Validation holds data against the exported schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exported_records import tool

from schemagen.exporting import export

tfdv = tool("tensorflow_data_validation")
tf = tool("tensorflow")


@pytest.fixture(scope="module")
def validated(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., dict[str, str]]:
    """Return the anomalies of files of a record, by their keys."""
    schemas: dict[str, Any] = {}

    def anomalies(record: str, *files: Path) -> dict[str, str]:
        if record not in schemas:
            out = tmp_path_factory.mktemp("schema") / "schema.pbtxt"
            export(record, "tfmd", out, project)
            schemas[record] = tfdv.load_schema_text(str(out))
        examples = [
            text.numpy()
            for file in files
            for text in tf.data.TFRecordDataset(str(file))
        ]
        path = tmp_path_factory.mktemp("one") / "data.tfrecord"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for text in examples:
                writer.write(text)
        statistics = tfdv.generate_statistics_from_tfrecord(str(path))
        found = tfdv.validate_statistics(statistics, schemas[record])
        return {key: info.description for key, info in found.anomaly_info.items()}

    return anomalies


@pytest.mark.parametrize("record", ["kept", "changed", "pair"])
def test_our_data_has_no_anomalies(
    data: dict[str, Path], validated: Callable[..., dict[str, str]], record: str
) -> None:
    """Of no kind and no parameter: with and without optional fields, empty lists too."""
    assert validated(record, *sorted(data[record].glob("train-*"))) == {}


def removed(example: Any, key: str) -> None:
    del example.features.feature[key]


def integers(*values: int) -> Callable[[Any, str], None]:
    def change(example: Any, key: str) -> None:
        example.features.feature[key].Clear()
        example.features.feature[key].int64_list.value.extend(values)

    return change


def texts(*values: bytes) -> Callable[[Any, str], None]:
    def change(example: Any, key: str) -> None:
        example.features.feature[key].Clear()
        example.features.feature[key].bytes_list.value.extend(values)

    return change


def floats(*values: float) -> Callable[[Any, str], None]:
    def change(example: Any, key: str) -> None:
        example.features.feature[key].Clear()
        example.features.feature[key].float_list.value.extend(values)

    return change


WRONG = {
    "missing": ("kept", "note", removed),
    "missing list": ("kept", "tokens", removed),
    "another list": ("kept", "kind", texts(b"cat")),
    "no such class": ("kept", "kind", integers(3)),
    "below the offset": ("changed", "late", integers(0)),
    "no such name": ("changed", "told", texts(b"c")),
    "too many": ("kept", "tokens", integers(*range(10))),
    "too few": ("changed", "full", integers(1, 2)),
    "another shape": ("kept", "vector", floats(1.0, 2.0)),
    "two values": ("kept", "byte", integers(1, 2)),
    "no int8": ("kept", "byte", integers(128)),
    "no bool": ("kept", "truth", integers(2)),
    "NaN": ("kept", "vector", floats(1, 2, 3, 4, 5, float("nan"))),
    "index out of range": ("changed", "bag/index", integers(9)),
    "another size": ("changed", "picture/height", integers(3)),
    "an unknown key": ("kept", "nobody", integers(1)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_has_an_anomaly(
    project: Path,
    data: dict[str, Path],
    tmp_path: Path,
    validated: Callable[..., dict[str, str]],
    name: str,
) -> None:
    """One wrong record among good ones is found, by its key and no other."""
    record, key, change = WRONG[name]
    shards = sorted(data[record].glob("train-*"))
    text = next(iter(tf.data.TFRecordDataset(str(shards[-1])))).numpy()
    example = tf.train.Example.FromString(text)
    change(example, key)
    wrong = tmp_path / "wrong.tfrecord"
    with tf.io.TFRecordWriter(str(wrong)) as writer:
        writer.write(example.SerializeToString())
    # What is stored differs from file to file alone: TFDV reads no file of both.
    good = [] if name == "another list" else shards
    assert list(validated(record, *good, wrong)) == [key]


def test_tensors_are_made_as_the_schema_says(
    project: Path, data: dict[str, Path], tmp_path: Path
) -> None:
    """TFX reads columns by the representations, and their values are those of a row."""
    tfx_bsl = tool("tfx_bsl.public.tfxio")
    out = tmp_path / "schema.pbtxt"
    export("pair", "tfmd", out, project)
    schema = tfdv.load_schema_text(str(out))
    factory = tfx_bsl.TensorFlowDatasetOptions(
        batch_size=7, num_epochs=1, shuffle=False
    )
    paths = [str(path) for path in sorted(data["pair"].glob("train-*"))]
    source = tfx_bsl.TFExampleRecord(
        paths, schema=schema, telemetry_descriptors=["test"]
    )
    batch = next(iter(source.TensorFlowDataset(factory)))
    assert set(batch) == {"pixels", "kind"}
    assert sorted(batch["kind"].numpy().tolist()) == sorted(n % 2 for n in range(7))
