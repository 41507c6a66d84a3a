"""Whether data that was written with one spec may be read with another.

Specs are compared as the JSON of `spec.json`, so that generated code needs no more
than the two texts. Fields are matched by their wire key. A difference that cannot
change what old bytes mean passes; every other one is named.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from .errors import SchemaMismatchError

Spec = dict[str, Any]
FieldSpec = dict[str, Any]

# What only the reading side or a person cares for: the bytes mean the same.
_READING_ONLY = frozenset(
    {
        "augment",
        "doc",
        "name",
        "path",
        "presence",
        "role",
        "ragged",
        "resize",
        "exact",
        "format_key",
        "format_text",
        "interpolation",
        "group",
        "too_long",
        "dense",
    }
)

# The keys that tell readers of raw pixels a part of their shape, by its axis.
_SIZE_KEYS = {"height_key": 0, "width_key": 1, "channels_key": 2}

# What an attribute means where the JSON leaves it out.
_UNSAID: dict[str, Any] = {"offset": 0, "stored": "id"}


def differences(written: Spec, expected: Spec) -> list[str]:
    """Return why data of one spec cannot be read with another; none if it can.

    Args:
        written: the spec that wrote the data.
        expected: the spec that shall read it.
    """
    by_key = {field["key"]: field for field in written["fields"]}
    by_name = {field["name"]: field for field in written["fields"]}
    found: list[str] = []
    if written["record"] != expected["record"]:
        found.append(
            f"record: written {written['record']!r}, expected {expected['record']!r}"
        )
    messages = [spec.get("message", "Example") for spec in (written, expected)]
    if messages[0] != messages[1]:
        # Fields of the one are not where the other has them.
        text = "message: written tf.train.{}, expected tf.train.{}"
        return [*found, text.format(*messages)]
    for field in expected["fields"]:
        old = by_key.get(field["key"])
        if old is not None:
            found += _field_differences(old, field)
        elif field["name"] in by_name:
            # An optional field would read as its default throughout.
            found.append(
                f"field {field['name']!r}: key: written "
                f"{by_name[field['name']]['key']!r}, expected {field['key']!r}"
            )
        elif not field["optional"]:
            near = get_close_matches(field["key"], by_key, n=1)
            hint = f"; did it have the key {near[0]!r}?" if near else ""
            found.append(
                f"field {field['name']!r}: nothing was written under the key "
                f"{field['key']!r}, expected a {field['kind']}{hint}"
            )
    return found


def check_compatible(written: Spec, expected: Spec, where: str) -> None:
    """Refuse data that would be misread.

    Args:
        written: the spec that wrote the data.
        expected: the spec that shall read it.
        where: what to call the data in the error.

    Raises:
        SchemaMismatchError: naming every field that differs.
    """
    found = differences(written, expected)
    if found:
        listed = "\n".join(f"  {line}" for line in found)
        raise SchemaMismatchError(
            f"{where}: the data was written with another schema:\n{listed}\n"
            "Read it with code generated from that schema, which the manifest holds; or "
            "change the schema back; or write the data anew into another directory."
        )


def _field_differences(old: FieldSpec, new: FieldSpec) -> list[str]:
    name = new["name"]
    if old["kind"] != new["kind"]:
        return [f"field {name!r}: kind: written {old['kind']}, expected {new['kind']}"]
    found = []
    for attribute in sorted((set(old) | set(new)) - _READING_ONLY):
        unsaid = _UNSAID.get(attribute)
        before, after = old.get(attribute, unsaid), new.get(attribute, unsaid)
        if attribute == "step" and before and after:
            found += _field_differences(before, {**after, "name": name})
        elif before != after and not _passes(attribute, old, new):
            found.append(
                f"field {name!r}: {attribute}: written {_shown(before)}, "
                f"expected {_shown(after)}"
            )
    return found


def _passes(attribute: str, old: FieldSpec, new: FieldSpec) -> bool:
    """Tell whether old data means the same although an attribute has changed."""
    before: Any = old.get(attribute)
    after: Any = new.get(attribute)
    if attribute == "optional":
        return bool(after)  # what was always there may be declared optional
    if attribute == "default":
        return not old["optional"]  # then it is never used on old data
    if attribute == "finite":
        return bool(before) or not after
    if attribute == "padding_value":
        return not new.get("pad_on_disk")  # then it stands in the data
    if attribute == "fill_value":
        return not old["optional"]  # as for a default
    if attribute == "max_length":
        if new.get("pad_on_disk"):
            return False
        if new.get("too_long", "error") != "error":
            return True  # readers cut off what is too long
        return after is None or (before is not None and before <= after)
    if attribute == "classes":
        if new.get("stored") == "text":  # then any order will do
            return set(before) <= set(after)
        if not before or not after:  # names were added to ids, or dropped
            return True
        return bool(after[: len(before)] == before)  # new classes at the end
    if attribute == "shape":  # any size may be read where a fixed one was written
        return len(before) == len(after) and all(
            now in (None, was) for was, now in zip(before, after, strict=True)
        )
    if new["kind"] in ("Image", "Mask") and attribute in _SIZE_KEYS:
        known = new["shape"][_SIZE_KEYS[attribute]] is not None
        return known or new["encoding"] != "raw"  # then they are not looked at
    if attribute == "encoding":
        return bool(after == "any" and before != "raw")
    if attribute == "count":
        return after is None
    if attribute == "max_count":
        most = old.get("count") or before
        return after is None or (most is not None and most <= after)
    if attribute == "num_classes":  # of a mask, None stands for any id
        return after is None or (before is not None and before <= after)
    if attribute == "ignore":  # then it does not stand in the data
        return before is None
    return False


def _shown(value: object, limit: int = 200) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
