"""What `verify` says of single records, next to what the generated parser does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tensorflow as tf
from hypothesis import strategies as st
from schemagen import Steps
from schemagen.data.checks import check_of
from schemagen.runtime.cells.decoded import Form
from schemagen.runtime.cells.decoding import decode
from schemagen.runtime.cells.serialized import records_of
from schemagen.runtime.records.codec import RecordCodec
from schemagen.runtime.records.decoder import CorruptError, Decoder
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.storage.schema import load_spec
from schemagen.spec.model import FieldSpec, RecordSpec
from schemagen.spec.serial import from_data

Message = tf.train.Example | tf.train.SequenceExample

# What verify finds and parsers do not look at; docs/verify.md lists it.
ONLY_VERIFY = {
    "SG530",  # sizes and formats under keys that readers do not need
    "SG531",  # UTF-8
    "SG532",  # NaN
}
# Kinds whose bytes parsers decode, and verify does not.
DECODED = ("Image", "Images", "Mask")

_NUMBERS = [-(2**63), -(2**31) - 1, -2, -1, 0, 1, 2, 3, 7, 127, 128, 255, 256, 65536]
_FLOATS = [0.0, -1.5, float("nan"), float("inf")]
_BYTES = [b"", b"\0", b"\xff\xfe", b"abc", b"12", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"]


def spec_beside(module: ModuleType) -> RecordSpec:
    """Return the spec of a generated module's record."""
    assert module.__file__ is not None
    return from_data(load_spec(str(Path(module.__file__))))


def faults_of(spec: RecordSpec, messages: Sequence[bytes]) -> list[list[Any]]:
    """Return what is wrong with each record: (field, rule, key, found)."""
    check = check_of(spec)
    found: list[list[Any]] = [[] for _ in messages]
    for field, fault in check.faults(decode(records_of(list(messages)))):
        for at, row in enumerate(fault.rows.tolist()):
            text = fault.found(at)
            assert text
            assert isinstance(fault.cause(at), str)
            found[row].append((field, fault.rule, fault.key, text))
    return found


def values_of(spec: RecordSpec, messages: Sequence[bytes]) -> dict[str, Any]:
    """Return the values of each field of records in which nothing is wrong."""
    faults = check_of(spec).faults(decode(records_of(list(messages))))
    with pytest.raises(StopIteration) as stopped:
        next(faults)
    found: dict[str, Any] = stopped.value.value
    return found


def is_refused(parse: Any, message: bytes) -> bool:
    """Tell whether a parser refuses a record."""
    try:
        parse(tf.constant([message]))
    except (tf.errors.InvalidArgumentError, tf.errors.DataLossError, ValueError):
        return True
    return False


def mutated(data: st.DataObject, message: bytes, *, steps: bool) -> bytes:
    """Return a record of which one feature was changed."""
    kind = tf.train.SequenceExample if steps else tf.train.Example
    found = kind.FromString(message)
    features = (found.context if steps else found.features).feature
    lists = found.feature_lists.feature_list if steps else {}
    places = [("feature", key) for key in sorted(features)]
    places += [("list", key) for key in sorted(lists)]
    if not places:
        return message
    what, key = data.draw(st.sampled_from(places))
    if what == "feature":
        if data.draw(st.integers(0, 5)) == 0:
            del features[key]
        else:
            _change(data, features[key])
    else:
        several = lists[key].feature
        choice = data.draw(st.integers(0, 3))
        if choice == 0 or not several:
            if data.draw(st.booleans()):
                del lists[key]
            else:
                several.add()
        elif choice == 1:
            several.append(several[0])
        else:
            _change(data, several[data.draw(st.integers(0, len(several) - 1))])
    out: bytes = found.SerializeToString()
    return out


def _change(data: st.DataObject, feature: Any) -> None:
    """Change the values of a feature, their number or their type."""
    name = feature.WhichOneof("kind")
    how = data.draw(st.sampled_from(["clear", "type", "count", "value", "value"]))
    if name is None or how == "clear":
        feature.Clear()
        return
    values = getattr(feature, name).value
    if how == "type":
        feature.Clear()
        others = {"int64_list": [1], "float_list": [1.0], "bytes_list": [b"1"]}
        other = data.draw(st.sampled_from(sorted(set(others) - {name})))
        some = data.draw(st.sampled_from([0, 1, len(values)]))
        getattr(feature, other).value.extend(others[other] * some)
        feature_list = getattr(feature, other)
        feature_list.SetInParent()
    elif how == "count":
        kept = list(values)
        times = data.draw(st.sampled_from([0, 2]))
        shorter = kept[:-1] if times and data.draw(st.booleans()) else kept * times
        del values[:]
        values.extend(shorter)
        getattr(feature, name).SetInParent()
    elif len(values):
        at = data.draw(st.integers(0, len(values) - 1))
        if name == "int64_list":
            values[at] = data.draw(st.sampled_from(_NUMBERS))
        elif name == "float_list":
            values[at] = data.draw(st.sampled_from(_FLOATS))
        else:
            old = values[at]
            changes = [
                *_BYTES,
                old[:-1],
                old + b"\0",
                old[1:],
                old + old[:2],
                b"\xc3" + old,
            ]
            values[at] = data.draw(st.sampled_from(changes))


def check_agreement(spec: RecordSpec, parse: Any, message: bytes) -> None:
    """Assert that verify refuses what the parser refuses, and nothing else.

    `open_split` refuses what verify does; images may still turn out to be damaged.
    """
    (faults,) = faults_of(spec, [message])
    kinds = {field.label: field.codec for field in spec.fields}
    record = RecordCodec(kinds, message=spec.message)
    decoder = Decoder(record, tuple(record.fields), Form(), "padded")
    try:
        decoder.batch(records_of([message]))
    except (CorruptError, DatasetError):
        assert faults or any(map(_is_decoded, spec.fields))
    else:
        assert not faults
    refused = is_refused(parse, message)
    if refused and not faults:
        decoded = [field.name for field in spec.fields if _is_decoded(field)]
        assert decoded, "the parser refuses a record that verify passes"
    if faults and not refused:
        names = {".".join(f.path or (f.name,)): f for f in spec.fields}
        for field, rule, key, found in faults:
            strict = rule in ONLY_VERIFY or (
                rule == "SG528" and _is_decoded(names[field])
            )
            assert strict, f"verify refuses {field!r}: {rule} {key!r} {found}"


def _is_decoded(field: FieldSpec) -> bool:
    inner = field.step if isinstance(field.kind, Steps) else field
    raw = getattr(inner.kind, "encoding", "raw") == "raw"
    return inner.kind.kind in DECODED and not raw
