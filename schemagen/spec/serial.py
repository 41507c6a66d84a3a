"""A spec as JSON, and its fingerprint."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import Field, fields
from typing import Any

from .known import check_known
from .model import KINDS, AugmentSpec, FieldSpec, RecordSpec

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
        and not _left_out(attribute, getattr(spec, attribute.name))
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
    check_known(data)
    return RecordSpec(
        record=data["record"],
        class_name=data["class_name"],
        source=data["source"],
        doc=data["doc"],
        fields=tuple(map(_field_from_data, data["fields"])),
        message=data.get("message", "Example"),
        reserved=tuple(data.get("reserved", ())),
        draft=data.get("draft", False),
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
    data = {
        attribute.name: _to_json_value(getattr(field, attribute.name))
        for attribute in fields(field)
        if not _left_out(attribute, getattr(field, attribute.name))
    }
    return {"kind": field.kind, **data}


def _left_out(attribute: Field[Any], value: Any) -> bool:
    """Tell whether an attribute goes without saying."""
    return bool(attribute.metadata.get("seldom")) and value == attribute.default


def _field_from_data(data: dict[str, Any]) -> FieldSpec:
    kind = KINDS[data["kind"]]
    known = {field.name for field in fields(kind)}
    needed = {f.name for f in fields(kind) if not f.metadata.get("seldom")}
    given: dict[str, Any] = {
        name: _step_from_data(value, data)
        if name == "step"
        else _augment_from_data(value)
        if name == "augment"
        else _from_json_value(value)
        for name, value in data.items()
        if name != "kind"
    }
    if not needed <= set(given) <= known:
        odd = (set(given) - known) | (needed - set(given))
        raise ValueError(f"{data['kind']}: unlike {sorted(odd)}")
    return kind(**given)


def _step_to_data(step: FieldSpec) -> dict[str, Any]:
    """Return what the spec of one step says beyond the field that it is a step of."""
    shared = {attribute.name for attribute in fields(FieldSpec)}
    data = _field_to_data(step)
    return {name: value for name, value in data.items() if name not in shared}


def _step_from_data(data: dict[str, Any], field: dict[str, Any]) -> FieldSpec:
    shared = {"key": "", "optional": False, "default": None, "doc": ""}
    return _field_from_data(
        {**shared, "name": field["name"], "role": field["role"], **data}
    )


def _augment_from_data(data: dict[str, Any] | None) -> AugmentSpec | None:
    if not data:
        return None
    known = {attribute.name: attribute.default for attribute in fields(AugmentSpec)}
    for name, value in data.items():
        if name not in known:
            raise ValueError(f"augment: unknown entry {name!r}")
        likes = int if name == "crop" else type(known[name])
        numbers = isinstance(value, list) and len(value) == 2
        if name == "value_range":
            fits = numbers and all(type(each) in (int, float) for each in value)
        elif likes is float:
            fits = type(value) in (int, float)
        else:
            fits = type(value) is likes
        if not fits:
            raise ValueError(f"augment: {name} is {value!r}")
    return AugmentSpec(**{name: _from_json_value(each) for name, each in data.items()})


def _to_json_value(value: Any) -> Any:
    """JSON has no bytes and no non-finite floats: those are written as objects."""
    if isinstance(value, FieldSpec):
        return _step_to_data(value)
    if isinstance(value, AugmentSpec):
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
