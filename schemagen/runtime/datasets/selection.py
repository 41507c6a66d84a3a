"""Which features a dataset delivers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from ..codecs.records import RecordCodec
from ..shared.errors import DatasetError, did_you_mean

_MOST_CANDIDATES = 3
_LONG = 1000


def select(
    fields: Collection[str] | None,
    features: Mapping[str, str],
    record: RecordCodec,
    *,
    targets: Collection[str] = (),
    info: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the names of the features that some fields are delivered as.

    Args:
        fields: names of input fields; None for all.
        features: the field of each feature, by the feature's name.
        record: the codecs of all fields.
        targets: the fields that only training needs.
        info: the fields that are not modelled.

    Raises:
        TypeError: one name in place of several.
        ValueError: no name at all, or a name that is not an input field.
        DatasetError: the record has no input field.
    """
    if not features:
        usable = [name for name in _candidates(record) if name not in targets]
        candidates = " or ".join(map(repr, usable[:_MOST_CANDIDATES]))
        opaque = any(codec.dtype == "bytes" for codec in record.fields.values())
        raise DatasetError(
            "the record has no field of the role input, so that a dataset would have no "
            "features; declare one with role='input'"
            + (f", such as {candidates}" if candidates else "")
            + ", or read all fields with "
            "parse_batch: tf.data.TFRecordDataset(files).batch(32).map(parse_batch)"
            + ("; audio files: decode with tf.audio.decode_wav in a map" * opaque)
        )
    if fields is None:
        return tuple(features)
    known = tuple(dict.fromkeys(features.values()))
    if isinstance(fields, str):
        raise TypeError(f"fields={fields!r}: expected a collection of names")
    for name in fields:
        if name not in known:
            advice = did_you_mean(name, known)
            if name in targets:
                advice = (
                    "targets and weights always come with make_dataset and are not "
                    "listed in fields"
                )
            elif name in info:
                advice = "make_dataset(info=True) delivers the fields with role info"
            raise ValueError(
                f"no input field {name!r}: expected names out of "
                f"{', '.join(known) or 'none'}{advice and f'; {advice}'}"
            )
    if not fields:
        raise ValueError(f"fields={fields!r}: expected names out of {', '.join(known)}")
    return tuple(name for name, field in features.items() if field in fields)


def _candidates(record: RecordCodec) -> list[str]:
    """Return the names of fields that could be inputs, those with most values first.

    Single texts come last, and sizes that vary count as large ones.
    """
    sizes: dict[str, tuple[bool, int]] = {}
    for name, codec in record.fields.items():
        shape = codec.delivered_shape
        if codec.parts[0].dtype != "bytes":
            size = math.prod(_LONG if size is None else size for size in shape)
            sizes[name] = codec.dtype == "string" and not shape, -size
    return sorted(sizes, key=lambda name: sizes[name])
