"""DeepVariant, as `make_examples` writes and `data_providers` reads its examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from stored_features import blobs, example, ints

from .original import Format, Row, Tensors

SHAPE = (100, 221, 6)


def write(row: Row) -> bytes:
    return example(
        {
            "locus": blobs(row["locus"]),
            "variant/encoded": blobs(row["variant"]),
            "variant_type": ints(row["variant_type"]),
            "alt_allele_indices/encoded": blobs(row["alt_allele_indices"]),
            "image/encoded": blobs(row["image"].tobytes()),
            "image/shape": ints(*row["image"].shape),
            "sequencing_type": ints(row["sequencing_type"]),
            "label": ints(row["label"]),
        }
    )


def read(serialized: Any) -> Tensors:
    text, number = (tf.io.FixedLenFeature((), each) for each in (tf.string, tf.int64))
    encoded = ("image/encoded", "variant/encoded", "alt_allele_indices/encoded")
    features = {
        **dict.fromkeys(("locus", *encoded), text),
        **dict.fromkeys(("variant_type", "sequencing_type"), number),
        "image/shape": tf.io.FixedLenFeature((3,), tf.int64),
        "label": tf.io.FixedLenFeature((1,), tf.int64),
    }
    parsed = tf.io.parse_single_example(serialized, features)
    image = tf.io.decode_raw(parsed["image/encoded"], tf.uint8)
    return {
        "image": tf.reshape(image, parsed["image/shape"]),
        **{name: parsed[name] for name in ("locus", "variant_type", "sequencing_type")},
        "variant": parsed["variant/encoded"],
        "alt_allele_indices": parsed["alt_allele_indices/encoded"],
        "label": parsed["label"][0],
    }


def rows() -> list[Row]:
    chance = np.random.default_rng(0)
    return [
        {
            "image": chance.integers(0, 255, SHAPE).astype(np.uint8),
            "locus": b"chr20:10001436-10001437",
            "variant": b"\x0a\x01A\x12\x01G" * number,
            "alt_allele_indices": bytes([10, 1, number]),
            "variant_type": 1,
            "sequencing_type": 2,
            "label": number,
        }
        for number in range(3)
    ]


FORMAT = Format("pileup", rows(), write, read)
