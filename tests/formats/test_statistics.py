"""What is measured of every format is what tensorflow reads from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.data.statistics.bytes_values import IMAGES, content_of
from schemagen.data.statistics.model import KeyStatistics, RecordStatistics

from .test_formats import NAMES, format_of

Features = list[tf.train.Feature]


def records_of(name: str) -> list[bytes]:
    original = format_of(name)
    return [original.write(row) for row in original.rows]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """The statistics of all formats: of files of TensorFlow's own writer."""
    root: Path = tmp_path_factory.mktemp("formats")
    for name in NAMES:
        options = tf.io.TFRecordOptions(format_of(name).compression)
        with tf.io.TFRecordWriter(str(root / f"{name}.tfrecord"), options) as writer:
            for record in records_of(name):
                writer.write(record)
    found = inspect_data(root, workers=1)
    assert found.sound
    return found.splits


def kinds_of(features: Iterable[tf.train.Feature]) -> dict[str, list[list[Any]]]:
    """Return the lists of each kind that occurs."""
    found: dict[str, list[list[Any]]] = {}
    for feature in features:
        kind = (feature.WhichOneof("kind") or "_list")[:-5]
        values = list(getattr(feature, f"{kind}_list").value) if kind else []
        found.setdefault(kind, []).append(values)
    return found


def check_key(found: KeyStatistics, features: Features) -> None:
    expected = kinds_of(features)
    assert set(found.by_kind) == set(expected)
    assert found.present == sum(len(lists) for kind, lists in expected.items() if kind)
    for kind, lists in expected.items():
        held = found.by_kind[kind]
        assert held.present == len(lists)
        assert held.lengths.distinct == Counter(map(len, lists))
        values = [value for some in lists for value in some]
        if kind == "bytes":
            check_bytes(held.bytes, values)
        elif kind:
            check_numbers(held.numbers, values)


def check_numbers(found: Any, values: list[Any]) -> None:
    assert found.count == len(values)
    if values:
        assert (found.minimum, found.maximum) == (min(values), max(values))
        np.testing.assert_allclose(found.mean, np.mean(values), rtol=1e-9, atol=1e-12)
    assert found.distinct in (None, Counter(values))
    assert (found.distinct is None) == (len(set(values)) > 1024)


def check_bytes(found: Any, values: list[bytes]) -> None:
    assert found.sizes.distinct == Counter(map(len, values))
    assert found.formats == Counter(content_of(value).format for value in values)
    for value in values:
        if content_of(value).format not in IMAGES:
            continue
        pixels = tf.io.decode_image(value, expand_animations=False).shape
        held = [each[1:4] for each in found.pictures]
        assert tuple(pixels) in held
    if all(len(value) <= 256 for value in values):
        assert found.distinct == Counter(values)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_of_a_format(measured: Mapping[str, Any], name: str) -> None:
    """Keys, kinds, presence, lengths, extremes, means, images' sizes; steps, too."""
    records = records_of(name)
    found: RecordStatistics = measured[name]
    assert found.records == len(records)
    assert found.sizes.distinct == Counter(map(len, records))
    parsed = [tf.train.SequenceExample.FromString(record) for record in records]
    if found.message == "Example":
        contexts = [tf.train.Example.FromString(record).features for record in records]
        assert not found.steps
    else:
        contexts = [each.context for each in parsed]
    columns: dict[str, Features] = {}
    for context in contexts:
        for key, feature in context.feature.items():
            columns.setdefault(key, []).append(feature)
    assert list(found.keys) == sorted(columns)
    for key, features in columns.items():
        check_key(found.keys[key], features)
    for key, steps in found.steps.items():
        lists = [
            each.feature_lists.feature_list[key].feature
            for each in parsed
            if key in each.feature_lists.feature_list
        ]
        assert steps.present == len(lists)
        assert steps.steps.distinct == Counter(map(len, lists))
        check_key(steps.values, [step for some in lists for step in some])


def test_tensors_of_tensorflow_are_known() -> None:
    """`tf.io.serialize_tensor` of every dtype and several shapes."""
    for dtype in ("float32", "float64", "int8", "uint16", "int64", "bool", "bfloat16"):
        for shape in ((), (0,), (3,), (2, 3, 4)):
            data = tf.io.serialize_tensor(tf.zeros(shape, dtype)).numpy()
            head = content_of(data).tensor
            assert head is not None
            assert head == (dtype, shape)
