"""A spec as JSON, and its fingerprint."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import MISSING, fields, replace
from typing import Any

from ..kinds.augment import Augment
from ..kinds.field import FieldSpec, seldom_facts
from ..kinds.kind import Kind
from ..kinds.registry import KINDS
from ..runtime.codecs.spec_json import check_spec
from ..runtime.shared.json_entries import ELSEWHERE
from .model import RecordSpec

FORMAT = 1

# What only people read: it changes no byte and no tensor.
_PROSE = ("doc", "source", "class_name")

# What becomes of data after it was read, and of a schema after it was written: it says
# nothing about data itself.
_USE = ("augment", "reserved", "draft")


def to_data(spec: RecordSpec) -> dict[str, Any]:
    """Return a spec as values that JSON knows."""
    seldom = {
        attribute.name: _to_json_value(getattr(spec, attribute.name))
        for attribute in fields(spec)
        if attribute.metadata.get("seldom")
        and getattr(spec, attribute.name) != attribute.default
    }
    return {
        "format": FORMAT,
        "record": spec.record,
        "class_name": spec.class_name,
        "source": spec.source,
        "doc": spec.doc,
        "fields": [_field_to_data(field) for field in spec.fields],
        **seldom,
    }


def from_data(data: dict[str, Any]) -> RecordSpec:
    """Return the spec that `to_data` gave.

    Raises:
        ValueError: data of another format, or not a spec.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"spec format {data.get('format')!r}, expected {FORMAT}")
    _check_known(data)
    return RecordSpec(
        record=data["record"],
        class_name=data["class_name"],
        source=data["source"],
        doc=data["doc"],
        fields=tuple(map(field_from_data, data["fields"])),
        message=data.get("message", "Example"),
        reserved=tuple(data.get("reserved", ())),
        draft=data.get("draft", False),
    )


def _check_known(data: dict[str, Any]) -> None:
    """Check that JSON has the entries of a spec, and kinds that this version knows.

    Raises:
        ValueError: naming the entry.
    """
    check_spec(data)
    for name in ("class_name", "source", "doc"):
        if name not in data:
            raise ValueError(f"the spec: no entry {name!r}")
    if data.get("message", "Example") not in ("Example", "SequenceExample"):
        raise ValueError("the spec: message is not Example or SequenceExample")
    for field in data["fields"]:
        for each in (field, field.get("step", field)):
            if each["kind"] not in KINDS:
                name = field["name"]
                raise ValueError(
                    f"field {name!r}: the kind {each['kind']!r} is not supported: "
                    f"{ELSEWHERE}"
                )


def to_json(spec: RecordSpec) -> str:
    """Return a spec as JSON text: sorted, one fact a line."""
    return dumps(to_data(spec))


def from_json(text: str) -> RecordSpec:
    """Return the spec that `to_json` gave.

    Raises:
        ValueError: not the JSON of a spec.
    """
    try:
        return from_data(json.loads(text))
    except RecursionError:
        raise ValueError("not a spec: entries within entries without end") from None


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
    return _facts_to_data(field.facts(), type(field.kind))


def _step_to_data(step: Kind) -> dict[str, Any]:
    """Return the facts of one step's kind, which has no key and no role."""
    return _facts_to_data({"kind": step.name, **step.facts()}, type(step))


def _facts_to_data(facts: dict[str, Any], kind: type[Kind]) -> dict[str, Any]:
    left_out = seldom_facts(kind)
    return {
        name: _to_json_value(value)
        for name, value in facts.items()
        if name not in left_out or value != left_out[name]
    }


def field_from_data(data: dict[str, Any]) -> FieldSpec:
    """Return the field of an entry of `fields`.

    Raises:
        ValueError: it has not just the facts of its kind.
    """
    kind = KINDS[data["kind"]]
    facts = {
        name: _fact_from_data(name, value)
        for name, value in data.items()
        if name != "kind"
    }
    known = {each.name for each in (*fields(FieldSpec), *fields(kind))}
    try:
        _check_names(facts, known | kind.derived.keys())
        field = FieldSpec.of(kind, **facts)
    except (TypeError, ValueError) as error:  # a Problem is a ValueError
        raise ValueError(f"{kind.name}: {error}") from None
    found, left_out = field.facts(), seldom_facts(kind)
    odd = [name for name in facts if not _equal(facts[name], found.get(name, MISSING))]
    odd += [name for name in found if name not in (*facts, *left_out, "kind")]
    if odd:
        raise ValueError(f"{kind.name}: unlike {sorted(odd)}")
    return field


def _check_names(facts: Iterable[str], known: Iterable[str]) -> None:
    """Check that this version knows all facts.

    Raises:
        ValueError: naming the first that it does not know.
    """
    if unknown := set(facts) - set(known):
        raise ValueError(f"{min(unknown)} is not supported: {ELSEWHERE}")


def _fact_from_data(name: str, value: Any) -> Any:
    if name == "step":
        shared = {"name": "", "key": "-", "optional": False, "default": None, "doc": ""}
        step = field_from_data({"role": "info", **shared, **value}).kind
        return replace(step, key=None, role=None)
    if name == "augment" and value:
        _check_names(value, (each.name for each in fields(Augment)))
        return Augment(**value)
    return None if name == "augment" else _from_json_value(value)


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other or (one != one and other != other))


def _to_json_value(value: Any) -> Any:
    """JSON has no bytes and no non-finite floats: those are written as objects."""
    if isinstance(value, Kind):
        return _step_to_data(value)
    if isinstance(value, Augment):
        return {name: _to_json_value(each) for name, each in value.said().items()}
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
