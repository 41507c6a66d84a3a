"""A spec as JSON, and its fingerprint."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import fields, replace
from typing import Any

from ..runtime.kinds.augment import Augment
from ..runtime.kinds.kind import Kind
from ..runtime.kinds.parameters import parameters_of
from ..runtime.kinds.registry import KINDS
from ..runtime.kinds.spec_json import check_spec
from ..runtime.shared.json_entries import ELSEWHERE
from .model import FieldSpec, RecordSpec, facts_left_out, facts_of

FORMAT = 1

# What only people read: it changes no byte and no tensor.
_PROSE = ("doc", "source", "class_name")

# What becomes of data after it was read, and of a schema after it was written: it says
# nothing about data itself.
_USE = ("augment", "reserved", "draft")


def to_data(spec: RecordSpec) -> dict[str, Any]:
    """Return a spec as values that JSON knows."""
    given = {each.name: getattr(spec, each.name) for each in fields(spec)}
    usual = {e.name: e.default for e in fields(spec) if e.metadata.get("omit_default")}
    return {
        "format": FORMAT,
        **_without(usual, given),
        "fields": [_field_to_data(field) for field in spec.fields],
    }


def from_data(data: dict[str, Any]) -> RecordSpec:
    """Return the spec that `to_data` gave.

    Raises:
        ValueError: data of another format, or not a spec.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"spec format {data.get('format')!r}, expected {FORMAT}")
    check_spec(data)
    if data.get("message", "Example") not in ("Example", "SequenceExample"):
        raise ValueError("the spec: message is not Example or SequenceExample")
    given = {e.name: data[e.name] for e in fields(RecordSpec) if e.name in data}
    given["fields"] = tuple(map(field_from_data, data["fields"]))
    given["reserved"] = tuple(data.get("reserved", ()))
    try:
        return RecordSpec(**given)
    except TypeError as error:
        raise ValueError(f"the spec: {error}") from None


def to_json(spec: RecordSpec) -> str:
    """Return a spec as JSON text: sorted, one fact a line."""
    return dumps(to_data(spec))


def dumps(data: dict[str, Any]) -> str:
    """Write JSON the one way in which schemagen writes it."""
    return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def fingerprint(spec: RecordSpec) -> str:
    """Return a short name for what a spec says about data, and nothing else."""
    data = _about_data(to_data(spec))
    data["fields"] = sorted(map(_about_data, data["fields"]), key=_key)
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _key(field: dict[str, Any]) -> str:
    return str(field["key"])


def _about_data(data: dict[str, Any]) -> dict[str, Any]:
    left_out = (*_PROSE, *_USE)
    return {name: value for name, value in data.items() if name not in left_out}


def _field_to_data(field: FieldSpec) -> dict[str, Any]:
    return _without(facts_left_out(type(field.kind)), field.facts())


def _without(usual: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts as values that JSON knows, without those that are as usual."""
    return {
        name: _to_json_value(value)
        for name, value in facts.items()
        if name not in usual or value != usual[name]
    }


def field_from_data(data: dict[str, Any]) -> FieldSpec:
    """Return the field of an entry of `fields`.

    Raises:
        ValueError: it has not just the facts of its kind.
    """
    field = _field(data)
    written = _field_to_data(field)
    odd = [n for n in written if n not in data or written[n] != data[n]]
    if odd:
        raise ValueError(f"field {field.name!r}: unlike {sorted(odd)}")
    return field


def _field(data: dict[str, Any]) -> FieldSpec:
    """Return a field, or a step of one."""
    facts = dict(data)
    try:
        kind = KINDS[facts.pop("kind")]
        return FieldSpec.of(kind, **{n: _fact(n, v) for n, v in facts.items()})
    except (KeyError, TypeError, ValueError) as error:  # a Problem is a ValueError
        name, kind_name = data.get("name", "step"), data.get("kind")
        raise ValueError(
            f"field {name!r}: this {kind_name} is not supported ({error}): {ELSEWHERE}"
        ) from None


def _fact(name: str, value: Any) -> Any:
    if name == "step":
        return replace(_field({"name": "", **value}).kind, key=None, role=None)
    if name == "augment":
        return Augment(**value) if value else None
    return _from_json_value(value)


def _to_json_value(value: Any) -> Any:
    """JSON has no bytes and no non-finite floats: those are written as objects."""
    if isinstance(value, Kind):  # of one step, which has no key and no role
        facts = {"kind": value.kind, **facts_of(value)}
        for shared in parameters_of(Kind):
            del facts[shared]
        return _without(facts_left_out(type(value)), facts)
    if isinstance(value, Augment):
        return {name: _to_json_value(each) for name, each in value.stated().items()}
    if isinstance(value, tuple):
        return [_to_json_value(item) for item in value]
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, float) and (value != value or value in (1e999, -1e999)):
        return {"float": repr(value)}
    return value


def _from_json_value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_json_value(item) for item in value)
    if isinstance(value, dict):
        if "bytes" in value:
            return base64.b64decode(value["bytes"])
        return float(value["float"])
    return value
