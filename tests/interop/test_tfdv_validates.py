"""TensorFlow Data Validation holds data against the exported schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exported_records import export, tool

tfdv = tool("tensorflow_data_validation")
tf = tool("tensorflow")
stats = tool("tensorflow_data_validation.statistics.stats_impl")
decoding = tool("tfx_bsl.coders.example_coder")


Anomalies = Callable[..., dict[str, str]]


@pytest.fixture(scope="module")
def anomalies(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Anomalies:
    """Return the anomalies of statistics of a record's data, by their keys."""
    schemas: dict[str, Any] = {}

    def find(record: str, statistics: Any) -> dict[str, str]:
        if record not in schemas:
            out = tmp_path_factory.mktemp("schema") / "schema.pbtxt"
            export(project, record, "tfmd", out)
            schemas[record] = tfdv.load_schema_text(str(out))
        found = tfdv.validate_statistics(statistics, schemas[record])
        return {key: info.description for key, info in found.anomaly_info.items()}

    return find


def records(*files: Path) -> list[bytes]:
    return [text.numpy() for text in tf.data.TFRecordDataset(list(map(str, files)))]


@pytest.mark.parametrize("record", ["kept", "changed", "pair"])
def test_our_data_has_no_anomalies(
    data: dict[str, Path], anomalies: Anomalies, record: str
) -> None:
    """Of no kind and no parameter: with and without optional fields, empty lists too."""
    statistics = tfdv.generate_statistics_from_tfrecord(str(data[record] / "train-*"))
    assert statistics.datasets[0].num_examples == 7
    assert anomalies(record, statistics) == {}


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
    "an unknown key": ("kept", "other", integers(1)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_has_an_anomaly(
    data: dict[str, Path], anomalies: Anomalies, name: str
) -> None:
    """One wrong record among good ones is found, by its key and no other."""
    record, key, change = WRONG[name]
    good = records(*sorted(data[record].glob("train-*")))
    example = tf.train.Example.FromString(good[-1])
    change(example, key)
    # Data in which one key has two sorts of lists cannot even be decoded.
    others = [] if name == "another list" else good
    batch = decoding.ExamplesToRecordBatchDecoder().DecodeBatch(
        [*others, example.SerializeToString()]
    )
    statistics = stats.generate_statistics_in_memory(batch, tfdv.StatsOptions())
    assert list(anomalies(record, statistics)) == [key]


@pytest.mark.parametrize("record", ["kept", "changed", "pair"])
def test_tensors_are_made_as_the_schema_says(
    project: Path, data: dict[str, Path], tmp_path: Path, record: str
) -> None:
    """TFX reads columns by the representations, one for each field, by its name."""
    tfxio = tool("tfx_bsl.public.tfxio")
    out = tmp_path / "schema.pbtxt"
    export(project, record, "tfmd", out)
    schema = tfdv.load_schema_text(str(out))
    options = tfxio.TensorFlowDatasetOptions(batch_size=7, num_epochs=1, shuffle=False)
    paths = [str(path) for path in sorted(data[record].glob("train-*"))]
    source = tfxio.TFExampleRecord(paths, schema=schema, telemetry_descriptors=["test"])
    batch = next(iter(source.TensorFlowDataset(options)))
    group = schema.tensor_representation_group[""]
    assert set(group.tensor_representation) <= set(batch)
    if record == "pair":
        assert sorted(batch["kind"].numpy().tolist()) == [0, 0, 0, 0, 1, 1, 1]
        assert batch["pixels"].shape == (7,)
