"""What a format's module says: how its original code writes and reads records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf

Row = Mapping[str, Any]
Tensors = Mapping[str, Any]
Features = Mapping[str, tf.train.Feature]


def _as_delivered(tensors: Tensors) -> Tensors:
    return tensors


@dataclass(frozen=True)
class Format:
    """One public format.

    Attributes:
        record: the record's name, declared in `schemas/<module>.py`.
        rows: records as keywords of the generated writer.
        write: the original's serialization of a row, with tf.train.Example.
        read: the original's hand-written parser of one serialized record.
        ours: from what `parse_example` delivers to what `read` returns, where names
            or forms differ.
        compression: of the original's files, as tf.io.TFRecordOptions takes it.
        same_bytes: whether a row has one encoding; not where an encoder of images
            has a say in it.
    """

    record: str
    rows: Sequence[Row]
    write: Callable[[Row], bytes]
    read: Callable[[Any], Tensors]
    ours: Callable[[Tensors], Tensors] = _as_delivered
    compression: str = ""
    same_bytes: bool = True


def as_numpy(value: Any) -> Any:
    """Return a tensor of any sort as numpy arrays or nested lists."""
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if isinstance(value, tf.sparse.SparseTensor):
        return tf.sparse.to_dense(value).numpy()
    if isinstance(value, Mapping):
        return {name: as_numpy(item) for name, item in value.items()}
    return np.asarray(value)


def by_key(
    values: Mapping[str, Any],
    names: Mapping[str, str] = MappingProxyType({}),
    prefix: str = "",
) -> Iterator[tuple[str, Any]]:
    """Yield nested values by their keys, in which some models have other names."""
    for name, value in values.items():
        key = prefix + names.get(name, name)
        if isinstance(value, Mapping):
            yield from by_key(value, names, f"{key}/")
        else:
            yield key, value


def sequence_example(context: Features, lists: Mapping[str, Sequence[Any]]) -> bytes:
    """Serialize a tf.train.SequenceExample: a context and feature lists."""
    steps = {key: tf.train.FeatureList(feature=each) for key, each in lists.items()}
    message = tf.train.SequenceExample(
        context=tf.train.Features(feature=context),
        feature_lists=tf.train.FeatureLists(feature_list=steps),
    )
    data: bytes = message.SerializeToString(deterministic=True)
    return data
