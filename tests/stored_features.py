"""Features and Examples as other programs store them, and what parsers say of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import tensorflow as tf


def ints(*values: int) -> tf.train.Feature:
    """Return a feature that holds integers."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(*values: float) -> tf.train.Feature:
    """Return a feature that holds floats."""
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def blobs(*values: bytes) -> tf.train.Feature:
    """Return a feature that holds bytes."""
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def example(features: Mapping[str, tf.train.Feature]) -> bytes:
    """Return an Example as protobuf writes it, one entry after the other by key.

    Its own order puts a key that another begins with now before, now after that one.
    An Example is written like a BytesList: both hold bytes as their field 1.
    """
    entries = [
        tf.train.Features(feature={key: features[key]}).SerializeToString()
        for key in sorted(features, key=str.encode)
    ]
    whole = tf.train.BytesList(value=[b"".join(entries)])
    data: bytes = whole.SerializeToString()
    return data


def stored(data: bytes) -> Any:
    """Return the features of an Example by key."""
    return tf.train.Example.FromString(data).features.feature


def changed(data: bytes, **features: tf.train.Feature | None) -> bytes:
    """Return an Example with other features; None takes one out."""
    message = tf.train.Example.FromString(data)
    for key, feature in features.items():
        if feature is None:
            del message.features.feature[key]
        else:
            message.features.feature[key].CopyFrom(feature)
    found: bytes = message.SerializeToString()
    return found


def refusal(function: Callable[..., Any], *args: Any) -> str:
    """Return what a parser raises; a graph puts it in brackets and escapes quotes."""
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        function(*args)
    return said(caught)


def said(caught: Any) -> str:
    """Return the text of an error that was caught."""
    return str(caught.value).replace("\\'", "'").replace("] [", " ")
