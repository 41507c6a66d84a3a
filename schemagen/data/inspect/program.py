"""Programs that read a dataset: with generated code, and with TensorFlow alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath

from ...runtime.codecs.part import BYTES, FLOAT, INT
from ...runtime.shared.compression import in_tensorflow
from ...spec.model import RecordSpec
from ..profile.columns import Split
from ..profile.profile import Profile
from ..statistics.model import KeyStatistics, RecordStatistics

_DTYPES = {
    INT: "tf.int64",
    FLOAT: "tf.float32",
    BYTES: "tf.string",
    "float": "tf.float32",
}

_SHARD = re.compile(r"\d{5}-of-\d{5}")

# With more keys a program is not readable.
_MOST_KEYS = 60


def schemagen_program(profile: Profile) -> str:
    """Return a program that reads a split with generated code."""
    assert profile.spec is not None
    split = profile.splits[0].name
    delivered = (each for each in profile.spec.fields if each.role != "info")
    size = 32 if all(each.codec.batchable for each in delivered) else 1
    return (
        f"from generated.{profile.spec.record}.pipeline import make_dataset\n\n"
        f'dataset = make_dataset("DIRECTORY", {_literal(split)}, batch_size={size})\n'
    )


def plain_program(profile: Profile) -> str:
    """Return a program that reads a split with TensorFlow alone; "" for many keys."""
    split = profile.splits[0]
    pattern, compressions = _files(profile, split)
    statistics = split.found
    mixed = statistics.message == "mixed" or len(compressions) > 1
    if profile.spec is not None:
        features = list(_of_spec(profile.spec))
        sequence = profile.spec.message == "SequenceExample"
    else:
        features = list(_of_statistics(statistics))
        sequence = statistics.message == "SequenceExample"
    if not features or len(features) > _MOST_KEYS or mixed:
        return ""
    (compression,) = compressions
    if not in_tensorflow(compression):
        return ""
    options = f", compression_type={_literal(compression)}" if compression else ""
    context = _dict("context" if sequence else "features", features, in_steps=False)
    lists = _dict("sequences", features, in_steps=True) if sequence else ""
    parse = (
        "tf.io.parse_single_sequence_example(record, context, sequences)"
        if sequence
        else "tf.io.parse_single_example(record, features)"
    )
    return (
        f"import tensorflow as tf\n\n{context}{lists}"
        f"files = sorted(tf.io.gfile.glob({_literal('DIRECTORY/' + pattern)}))\n"
        f"dataset = tf.data.TFRecordDataset(files{options}).map(\n"
        f"    lambda record: {parse}\n)\n"
    )


def _files(profile: Profile, split: Split) -> tuple[str, set[str]]:
    """Return a pattern of the names of a split's files, and their compressions."""
    files = profile.statistics.files_of(split.name)
    names = {_SHARD.sub("*", PurePath(file.path).name) for file in files}
    pattern = min(names, default="*") if len(names) < 2 else "*"
    return pattern, {file.compression for file in files}


_Feature = tuple[str, str, bool]
"""A key, the expression of its feature, and whether it is a feature list."""


def _literal(text: str) -> str:
    """Return text as a Python literal; what is left unprintable is escaped later."""
    return json.dumps(text, ensure_ascii=False)


def _dict(name: str, features: list[_Feature], *, in_steps: bool) -> str:
    lines = [
        f"    {_literal(key)}: {text},\n"
        for key, text, steps in features
        if steps == in_steps
    ]
    return f"{name} = {{\n{''.join(lines)}}}\n" if lines else f"{name} = {{}}\n"


def _of_spec(spec: RecordSpec) -> Iterator[_Feature]:
    for key, (part, field, optional) in spec.parts().items():
        in_steps = field.codec.in_list
        count = None if optional and not in_steps else part.count
        yield key, _feature(_DTYPES[part.stored], count, in_steps), in_steps


def _of_statistics(found: RecordStatistics) -> Iterator[_Feature]:
    for key, held in found.keys.items():
        yield from _of_key(key, held, found.read, in_steps=False)
    for key, lists in found.steps.items():
        total = sum(each.present for each in lists.values.by_kind.values())
        yield from _of_key(key, lists.values, total, in_steps=True)


def _of_key(
    key: str, found: KeyStatistics, whole: int, *, in_steps: bool
) -> Iterator[_Feature]:
    if not found.kinds:
        return
    kind = found.kinds[0]
    lengths = found.by_kind[kind].lengths
    always = found.present == whole and len(found.kinds) == 1
    count = lengths.constant if always else None
    fixed = None if count is None else int(count)
    yield key, _feature(_DTYPES[kind], fixed, in_steps), in_steps


def _feature(dtype: str, count: int | None, in_steps: bool) -> str:
    if count is None or count == 0:
        return f"tf.io.VarLenFeature({dtype})"
    kind = "FixedLenSequenceFeature" if in_steps else "FixedLenFeature"
    return f"tf.io.{kind}({[] if count == 1 else [count]}, {dtype})"
