"""Fields as `spec.json` has them: their checks, and their codecs."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, get_type_hints

from ..shared.dtypes import DTYPES, STRINGS
from ..shared.json_entries import ELSEWHERE, check_depth, check_entries, shown
from .changes import DEFAULT, ENCODING, OPTIONAL, Judgement, StoredField
from .kind import Kind, optional
from .parameters import parameters_of
from .registry import KINDS

_SPEC = {"record": str, "fields": list[dict[str, Any]]}
_SPEC_SELDOM = {
    "format": int,
    "class_name": str,
    "source": str,
    "doc": str,
    "message": str,
    "reserved": list[str],
    "draft": bool,
}

# What a field of any kind has; a step has a kind only.
_FIELD = {
    "kind": str,
    "name": str,
    "key": str,
    "role": str,
    "optional": bool,
    "default": Any,
}

# The attributes of a field that say nothing about its values.
_APART = {
    "augment": dict | None,
    "doc": str,
    "path": list[str],
    "renamed": list[list[str]],
    "vocabulary": str | None,
}
# What specs of some kinds say in addition to parameters, and where they have other types.
_DERIVED = {"encoding": str}
_OTHER_TYPES = {
    "padding_value": Any,
    "classes": list[str],
    "min": Any,
    "max": Any,
}


def check_spec(spec: Any, where: str = "the spec") -> None:
    """Check that the JSON of a spec has what comparisons need.

    Kinds and attributes that only a later version knows pass: comparisons refuse them.

    Raises:
        ValueError: naming the entry, what it is and what it should be.
    """
    check_entries(where, spec, _SPEC, _SPEC_SELDOM)
    check_depth(spec, where)
    for number, field in enumerate(spec["fields"]):
        place = f"{where}.fields[{number}]"
        check_entries(place, field, _FIELD, {})
        place = f"{place} ({shown(field['name'])})"
        _check_attributes(place, field)
        try:
            codec_of_json(field)
        except Exception as error:  # of any kind: a codec takes its parameters as given
            words = f"{place}: no {field['kind']} has these attributes: {error}"
            raise ValueError(words) from None
    for entry in ("name", "key"):
        given = [field[entry] for field in spec["fields"]]
        for value in given:
            if given.count(value) > 1:
                raise ValueError(f"{where}: several fields with the {entry} {value!r}")


def _check_attributes(place: str, field: Mapping[str, Any]) -> None:
    """Check the attributes of a field or a step of a known kind."""
    if field["kind"] not in KINDS:
        return
    if field.get("dtype", "bool") not in (*DTYPES, *STRINGS):
        raise ValueError(f"{place}: dtype is {shown(field['dtype'])}: {ELSEWHERE}")
    if "step" in field:
        step = field["step"]
        check_entries(f"{place}.step", step, {"kind": str}, {})
        if step["kind"] == "Steps":
            raise ValueError(f"{place}.step: kind is 'Steps', expected another kind")
        _check_attributes(f"{place}.step", step)
    own = attributes_of(field["kind"])
    given = {name: value for name, value in field.items() if name != "step"}
    check_entries(place, given, {}, own)
    known = {name for kind in KINDS for name in attributes_of(kind)}
    foreign = sorted((field.keys() & known) - own.keys())
    if foreign:
        raise ValueError(
            f"{place}: {foreign[0]} is not an attribute of {field['kind']}"
        )


@cache
def attributes_of(kind: str) -> dict[str, Any]:
    """Return the types of the attributes that a field of a kind may have, by name."""
    cls = KINDS[kind]
    hints = get_type_hints(cls)
    found = {name: _OTHER_TYPES.get(name, hints[name]) for name in parameters_of(cls)}
    return {**_DERIVED, **found, **_APART, **_FIELD}


def codec_of_json(field: Mapping[str, Any]) -> Kind | None:
    """Return the kind of a field; None of one that only a later version knows."""
    step = field.get("step", field)
    if field["kind"] not in KINDS or step["kind"] not in KINDS:
        return None
    facts = {name: _from_json(value) for name, value in field.items()}
    kind = _declared(facts)
    if facts.get("optional"):
        kind = optional(kind, facts.get("default"))
    return kind.bound(".".join(facts.get("path", ())) or facts["name"])


def _declared(facts: Mapping[str, Any]) -> Kind:
    cls = KINDS[facts["kind"]]
    names = [n for n in parameters_of(cls) if n in facts and n not in _APART]
    given = {name: facts[name] for name in names}
    if "step" in given:
        given["step"] = _declared(given["step"])
    return cls(**given)


def _from_json(value: Any) -> Any:
    """Return a value with tuples for lists, and bytes and floats that JSON lacks."""
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    if isinstance(value, dict) and value.keys() == {"bytes"}:
        return base64.b64decode(value["bytes"])
    if isinstance(value, dict) and value.keys() == {"float"}:
        return float(value["float"])
    if isinstance(value, dict):
        return {name: _from_json(each) for name, each in value.items()}
    return value


def stored_field(field: Mapping[str, Any]) -> StoredField:
    """Return a field as comparisons see it."""
    facts = dict(field)
    return StoredField(facts, codec_of_json({"name": "", "key": "", **facts}))


def judged_of(kind: str) -> dict[str, tuple[Judgement, ...]]:
    """Return what judges a change of each attribute that a field of a kind may have."""
    stated = {
        each.name: each.metadata["judged"] for each in fields(KINDS.get(kind, Kind))
    }
    # What no kind declares cannot change values.
    apart = (*_APART, "kind", "name", "step")
    return {
        **dict.fromkeys(apart, ()),
        "encoding": ENCODING,
        "optional": OPTIONAL,
        "default": DEFAULT,
        **stated,
    }
