"""A record as a table: as text, and as blocks for notebooks and Markdown."""

from __future__ import annotations

from ..display.blocks import (
    Block,
    Cell,
    Code,
    Heading,
    Listing,
    Table,
    prose,
    without_empty,
)
from ..display.markdown import markdown
from ..display.terminal import UNBOUNDED, terminal_text
from ..runtime.kinds.augment import variation_of
from ..runtime.kinds.numbers import time_of
from .model import FieldSpec, RecordSpec, facts_of
from .serial import fingerprint
from .words import delivers_or_missing, words_of

_HEADINGS = ("field", "kind", "role", "key", "stored as", "parsed as")


def describe_text(spec: RecordSpec, columns: int = UNBOUNDED) -> str:
    """Return a record's name, source and fields, one field a line if there is room.

    Args:
        spec: the record.
        columns: the width of the terminal.
    """
    title = f"{spec.class_name} ({spec.source}), fingerprint {fingerprint(spec)}"
    blocks: list[Block] = [
        Listing("\n".join([title, *spec.doc.split("\n")[:1]]).rstrip()),
        Table(_HEADINGS, [_row(field) for field in spec.fields]),
    ]
    varied = [_augmentation(field) for field in spec.fields if _given(field)]
    if varied:
        blocks.append(Listing("\n".join(varied)))
    return terminal_text(blocks, columns)


def _augmentation(field: FieldSpec) -> str:
    return f"augmented in training: {field.label} ({_given(field)})"


def _given(field: FieldSpec) -> str:
    given = variation_of(field.kind)
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _row(field: FieldSpec) -> tuple[str, ...]:
    key = field.key if field.key.isprintable() else repr(field.key)
    kind = f"{field.kind.kind}?" if field.optional else field.kind.kind
    codec = field.codec
    stored = words_of(codec).stored
    if codec.parts[0].transfer_encoding:
        stored += f" as {codec.parts[0].transfer_encoding} text"
    return (field.label, kind, field.role, key, stored, delivers_or_missing(codec))


def describe_markdown(spec: RecordSpec) -> str:
    """Return the same with the descriptions of the fields, as Markdown."""
    return markdown(record_blocks(spec))


def record_blocks(spec: RecordSpec, *, level: int = 2) -> list[Block]:
    """Return a record's name, docstring and fields, its fingerprint and source.

    Args:
        spec: the record.
        level: of its heading.
    """
    origin = [[Code(fingerprint(spec)), Code(spec.source), f"tf.train.{spec.message}"]]
    return [
        Heading(spec.class_name, level),
        *prose(spec.doc),
        fields_table(spec),
        Table(["fingerprint", "declared in", "stored as"], origin),
    ]


def fields_table(spec: RecordSpec) -> Table:
    """Return a table with a row for each field, without columns that say nothing."""
    headings = ("field", "kind", "in a batch", "role", "key", "optional", "description")
    rows = [_cells(field) for field in spec.fields]
    return without_empty(headings, rows, ("key", "optional", "description"))


def _cells(field: FieldSpec) -> tuple[Cell, ...]:
    given, words = _given(field), words_of(field.codec)
    augmented = f"Augmented in training: {given}." if given else ""
    return (
        Code(field.label),
        kind_text(field),
        Code(words.delivers),
        field.role,
        "" if field.key == field.label else Code(field.key),
        f"{words.missing} if missing" if field.optional else "",
        " ".join(filter(None, (field.doc, augmented))),
    )


def kind_text(field: FieldSpec) -> str:
    """Return a field's kind, with the number of classes, the unit of times and the format."""
    kind = field.kind.of_step
    text = kind.kind if kind is field.kind else f"{field.kind.kind} of {kind.kind}"
    facts, time = facts_of(kind), time_of(kind)
    if number := facts.get("num_classes") or len(facts.get("classes") or ()):
        text += f", {number:,} classes"
    if time:
        text += f", {'duration' if time.duration else 'time'} in {time.unit}"
    encoding = facts.get("encoding", "list")
    return text if encoding == "list" else f"{text}, {encoding}"
