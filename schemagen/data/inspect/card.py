"""The dataset card: what people publish with a dataset, as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath

from ...display.blocks import (
    Block,
    Cell,
    Code,
    Heading,
    Items,
    Listing,
    Paragraph,
    Table,
    prose,
)
from ...display.markdown import markdown
from ...runtime.cells.part import BYTES, FLOAT, INT
from ...runtime.interface import installed_version
from ...runtime.shared.compression import in_tensorflow
from ...spec.model import RecordSpec
from ..formatting import plural
from ..profile.classes import ClassCounts
from ..profile.columns import SplitProfile, title_of
from ..profile.facts import data_facts
from ..profile.notes import troubles_of
from ..profile.profile import Profile
from ..statistics.model import KeyStatistics, RecordStatistics
from ..statistics.numbers import summed
from .text import OF_SPLIT, columns_table, marked_blocks, splits_blocks

# So many fields are listed, and so many classes of each of so many fields.
_FIELDS = 200
_CLASSES = 30
_CLASS_TABLES = 12

_OF_FIELD = ("declared as", "in a batch", "role", "key", "description")
_OF_KEY = ("kind", "declared as")
_OF_VALUES = ("missing", "steps", "length", "values")

_AUTHORS = (
    "The licence of the data.",
    "The citation, and whom to contact.",
    "The origin of the data: who collected it, when, where and how.",
    "How the splits were made, and whether a group is in one split only.",
    "What the data is meant for, and what it should not be used for.",
    "Known errors and biases, and personal or sensitive data.",
)


def card(profile: Profile) -> str:
    """Return the card of data. Cards of equal data are equal."""
    return markdown([*_blocks(profile)])


def _blocks(profile: Profile) -> Iterator[Block]:
    yield from _head(profile)
    yield Heading("Splits")
    written = profile.statistics.written_by.values()
    differ = len({each.fingerprint for each in written}) > 1
    yield from splits_blocks(profile, (*OF_SPLIT, *["fingerprint"] * differ))
    yield Heading("Fields" if profile.spec else "Keys")
    yield columns_table(profile, _OF_FIELD if profile.spec else _OF_KEY, _FIELDS)
    if len(profile.columns) > _FIELDS:
        yield Paragraph(f"{len(profile.columns) - _FIELDS:,} more are not listed.")
    yield Heading("Values")
    yield columns_table(profile, _OF_VALUES, _FIELDS)
    yield from _classes(profile)
    yield from marked_blocks(profile, level=2)
    yield from _origin(profile)
    if troubles := troubles_of(profile.statistics):
        yield Heading("What is wrong")
        yield Items(troubles)
    yield from _programs(profile)
    yield Heading("To be filled in")
    yield Paragraph("The files do not contain the following. The author must add it:")
    yield Items(_AUTHORS)


def _head(profile: Profile) -> Iterator[Block]:
    spec = profile.spec
    yield Heading(title_of(profile.statistics, spec), 1)
    if spec is not None:
        yield from prose(spec.doc)
    known = {fact.measure: fact for fact in data_facts(profile)}
    records = plural(known["records"].count, "record")
    fields = plural(len(spec.fields), "field") if spec else ""
    what = fields or plural(len(profile.columns), "key")
    splits = plural(len(profile.splits), "split")
    yield Paragraph(
        f"{records} with {what}, in {splits} of {known['on disk'].text}, as TFRecord "
        "files."
    )
    if profile.statistics.limit is not None:
        limit = plural(profile.statistics.limit, "record")
        yield Paragraph(f"Counted in the first {limit} of each split only.")


def _classes(profile: Profile) -> Iterator[Block]:
    """Yield the frequencies of declared classes, or of what looks like classes."""
    classes = profile.likely_classes
    if classes:
        yield Heading("Classes")
    for counted in classes[:_CLASS_TABLES]:
        guessed = "" if counted.declared else ", values that look like classes"
        yield Heading(f"`{counted.name.replace('`', '?')}`{guessed}", 3)
        yield _class_table(profile, counted)
        if len(counted.classes) > _CLASSES:
            yield Paragraph(
                f"{len(counted.classes) - _CLASSES:,} other classes are not listed; "
                "these are the most frequent ones."
            )
    if len(classes) > _CLASS_TABLES:
        more = plural(len(classes) - _CLASS_TABLES, "field")
        yield Paragraph(f"The classes of {more} more are not listed.")


def _class_table(profile: Profile, counted: ClassCounts) -> Table:
    splits = [split for split in profile.splits if counted.counts.get(split.name)]
    shown = list(counted.classes)
    if len(shown) > _CLASSES:
        total = summed(counted.counts.values())
        shown = sorted(shown, key=lambda name: -total.get(name, 0))[:_CLASSES]
    rows: list[tuple[Cell, ...]] = []
    for name in shown:
        counts = [counted.counts[split.name].get(name, 0) for split in splits]
        rows.append((Code(name), *(f"{count:,}" for count in counts)))
    headings = ("class", *(split.name or "records" for split in splits))
    return Table(headings, rows, range(1, len(headings)))


def _origin(profile: Profile) -> Iterator[Block]:
    rows: list[tuple[Cell, Cell]] = []
    if profile.manifest is not None:
        rows += [
            ("record", Code(profile.manifest.record)),
            ("fingerprint of the record", Code(profile.manifest.fingerprint)),
            ("format of `manifest.json`", str(profile.manifest.format)),
            ("SHA-256 of `manifest.json`", Code(profile.manifest.sha256)),
        ]
    read = [split.found for split in profile.splits if split.found.read]
    if read:
        messages = dict.fromkeys(found.message for found in read)
        rows.append(
            ("a record is", " or ".join(f"tf.train.{name}" for name in messages))
        )
    rows.append(("described by", f"schemagen {installed_version()}"))
    yield Heading("Files and versions")
    yield Table(("", ""), rows)


def _programs(profile: Profile) -> Iterator[Block]:
    yield Heading("How to read the data")
    yield Paragraph("`DIRECTORY` is the directory with the files.")
    if profile.spec is not None:
        yield Paragraph("With the code that schemagen generates from the record:")
        yield Listing(schemagen_program(profile), "python")
    else:
        yield Paragraph(
            "`schemagen infer DIRECTORY --out schemas/data.py` writes a schema, from which "
            "schemagen generates code that reads the files."
        )
    program = plain_program(profile)
    if program:
        yield Paragraph(
            "With TensorFlow alone, as stored: images are not decoded, and texts are bytes."
        )
        yield Listing(program, "python")


_DTYPES = {
    INT: "tf.int64",
    FLOAT: "tf.float32",
    BYTES: "tf.string",
    "float": "tf.float32",
}

_SHARD = re.compile(r"\d{5,}-of-\d{5,}")

# With more keys a program is not readable.
_MOST_KEYS = 60


def schemagen_program(profile: Profile) -> str:
    """Return a program that reads a split with generated code."""
    assert profile.spec is not None
    split = profile.splits[0].name
    delivered = (each for each in profile.spec.fields if each.role != "info")
    size = 32 if all(each.codec.delivered.batchable for each in delivered) else 1
    package = f"generated.{profile.spec.record}"
    place = f'"DIRECTORY", {_literal(split)}'
    return (
        f"from {package}.pipeline import make_dataset  # TensorFlow\n"
        f"from {package}.reader import open_split  # PyTorch, JAX, numpy\n\n"
        f"dataset = make_dataset({place}, batch_size={size})\n"
        f"records = open_split({place})\n"
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


def _files(profile: Profile, split: SplitProfile) -> tuple[str, set[str]]:
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
        in_steps = field.parts[0].in_list
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
