"""What a record has under a key, in a line."""

from __future__ import annotations

from ...kinds.field import FieldSpec
from ...kinds.label import Label
from ...kinds.multilabel import MultiLabel
from ...runtime.shared.images import sniff
from ...spec.model import FieldSpec, LabelSpec, MultiLabelSpec
from ..formatting import decoded, hexadecimal, number, one_line, plural, size
from ..message import BYTES, Feature
from .columns import Subject
from .features import Features

MISSING = "not there"

_MOST_NUMBERS = 12
_MOST_TEXT = 400
_MOST_STEPS = 4


def value_text(subject: Subject, features: Features) -> str:
    """Return what a record has under a key; MISSING if it does not have it."""
    if subject.steps:
        steps = features.steps(subject.key)
        if steps is None:
            return MISSING
        lines = [
            f"{index}: {_feature_text(subject.field, step, features)}"
            for index, step in enumerate(steps[:_MOST_STEPS])
        ]
        more = len(steps) - len(lines)
        lines += [f"… {plural(more, 'more step')}"] if more else []
        return "\n".join([plural(len(steps), "step"), *lines])
    feature = features.feature(subject.key)
    if feature is None:
        return MISSING
    return _feature_text(subject.field, feature, features)


def _feature_text(field: FieldSpec | None, feature: Feature, features: Features) -> str:
    if not feature.values:
        return "an empty list"
    if field is not None and isinstance(field.kind, Label | MultiLabel):
        return ", ".join(_class_words(field, feature, features))
    if feature.kind == BYTES:
        return _bytes_text(features.bytes_of(feature))
    values = [number(value) for value in feature.values[:_MOST_NUMBERS]]
    if len(feature.values) > len(values):
        values.append(f"… ({plural(len(feature.values), 'value')})")
    return "  ".join(values)


def _bytes_text(values: list[bytes]) -> str:
    if len(values) == 1:
        return _value(values[0])
    lines = [_value(value, 80) for value in values[:_MOST_NUMBERS]]
    if len(values) > len(lines):
        lines.append(f"… ({plural(len(values), 'value')})")
    return "\n".join(lines)


def _value(value: bytes, limit: int = _MOST_TEXT) -> str:
    form = sniff(value)
    text = decoded(value, limit)
    if form is not None and text is None:
        return f"{form.upper()} image, {size(len(value))}"
    if text is not None:
        return text or '""'
    return hexadecimal(value)


def class_words(field: FieldSpec[Label | MultiLabel], features: Features) -> list[str]:
    """Return the names of a record's classes; none if it does not have the field."""
    feature = features.feature(field.key)
    return _class_words(field, feature, features) if feature is not None else []


def _class_words(
    field: FieldSpec[Label | MultiLabel], feature: Feature, features: Features
) -> list[str]:
    values = feature.values[:_MOST_NUMBERS]
    if feature.kind == BYTES:
        return [
            one_line(decoded(value) or hexadecimal(value), 60)
            for value in features.bytes_of(feature)[:_MOST_NUMBERS]
        ]
    found = []
    for value in values:
        id_ = value - field.kind.offset if isinstance(value, int) else -1
        known = 0 <= id_ < len(field.kind.class_names)
        found.append(
            one_line(field.kind.class_names[id_], 60) if known else number(value)
        )
    return found
