"""What of the generated code's interface has changed: keywords, batches and models.

Each check takes two specs as their JSON: the one that programs were written against,
and the one whose code they are to run with.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..runtime.codecs.changes import StoredField
from ..runtime.codecs.compatibility import (
    Change,
    Spec,
    differences,
    former_fields,
    new_fields,
)
from ..runtime.codecs.owned_keys import FieldSpec
from ..spec.serial import field_from_data

# What decides what the tensors of a batch look like.
_TENSOR = ("dense", "dtype", "presence", "ragged", "resize", "shape")


def renamed(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the fields that have another name, under the same key."""
    for old, new in _pairs(before, after):
        if _label(old) != _label(new):
            yield Change("SG241", new["name"], "name", _label(old), _label(new))


def removed(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the fields that are there no more, and are not reserved."""
    reserved = set(after.get("reserved", ()))
    for field in _gone(before, after):
        if not reserved & {field["key"], field["name"]}:
            heirs = [
                new
                for new in new_fields(before, after)
                if field in former_fields(new, before, after)
            ]
            hint = (
                f"if it is {heirs[0]['name']!r} now, give that key={field['key']!r}"
                if heirs and len(heirs[0].get("path", ())) < 2
                else ""
            )
            words = "removed, and not reserved"
            kind = field["kind"]
            yield Change("SG242", field["name"], "kind", kind, None, words, hint)


def demanded(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the new fields for which the writer demands a value."""
    for field in new_fields(before, after):
        if not field["optional"]:
            words = f"`serialize` demands a value for the new {field['kind']}"
            yield Change("SG243", field["name"], "name", None, field["name"], words)


def another_role(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the fields that stand in another part of a dataset's elements."""
    for old, new in _pairs(before, after):
        if old["role"] != new["role"]:
            yield Change("SG244", new["name"], "role", old["role"], new["role"])


def another_tensor(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the fields whose data is read alike into tensors that look different."""
    refused = {
        (change.field, change.attribute)
        for change in differences(before, after)
        if not change.record_by_record
    }
    for old, new in _pairs(before, after):
        if old["kind"] == new["kind"]:
            for attribute in _TENSOR:
                was, now = (StoredField(each)[attribute] for each in (old, new))
                if was != now and (new["name"], attribute) not in refused:
                    yield Change("SG245", new["name"], attribute, was, now)


def another_input(before: Spec, after: Spec) -> Iterator[Change]:
    """Find what batches have in addition, which older models do not know."""
    for field in new_fields(before, after):
        known = former_fields(field, before, after)  # SG204 has said it
        if field["role"] == "input" and field["optional"] and not known:
            words = f"batches and models have a further input, {field['name']!r}"
            yield Change("SG246", field["name"], "name", None, field["name"], words)
    for old, new in _pairs(before, after):
        if delivers_mask(new) and not delivers_mask(old) and new["role"] == "input":
            mask = f"{new['name']}_present"
            words = f"batches and models have a further input, {mask!r}"
            yield Change("SG246", new["name"], "presence", None, mask, words)


def more_classes(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the fields with more classes than models were built for."""
    for old, new in _pairs(before, after):
        was, now = old.get("num_classes"), new.get("num_classes")
        if was is not None and now is not None and was < now:
            yield Change("SG247", new["name"], "num_classes", was, now)


def stricter(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the fields whose writer refuses what it has taken so far.

    Numbers that it has rounded, and names of classes that have none any more, after
    which no one could tell whether they come back in another order.
    """
    for old, new in _pairs(before, after):
        if old["kind"] == new["kind"] and new.get("exact") and not old.get("exact"):
            yield Change("SG248", new["name"], "exact", False, True)
        if old["kind"] == new["kind"] and old.get("classes") and not new.get("classes"):
            yield Change("SG248", new["name"], "classes", old["classes"], [])


def record_gone(before: Spec, after: Spec | None) -> Iterator[Change]:
    """Find out whether a record is there no more."""
    if after is None:
        name = before["record"]
        words = f"record {name!r} is gone, and its package with it"
        yield Change("SG249", "", "record", name, None, words)


def another_form(before: Spec, after: Spec) -> Iterator[Change]:
    """Find out whether a dataset's elements have another number of parts."""
    was, now = _form(before), _form(after)
    if was != now:
        words = f"elements of datasets are {now} now, and were {was}"
        yield Change("SG251", "", "elements", was, now, words)


def planned_removals(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the fields that are there no more, and are reserved."""
    reserved = set(after.get("reserved", ()))
    for field in _gone(before, after):
        if reserved & {field["key"], field["name"]}:
            kind, words = field["kind"], "removed, and reserved"
            yield Change("SG252", field["name"], "kind", kind, None, words)


def becomes_draft(before: Spec, after: Spec) -> Iterator[Change]:
    """Find out whether what was relied on is declared a draft."""
    if after.get("draft") and not before.get("draft"):
        words = "the record is declared a draft, and was not one before"
        yield Change("SG253", "", "draft", False, True, words)


def no_longer_reserved(before: Spec, after: Spec) -> Iterator[Change]:
    """Find the names and keys that were reserved and are free again."""
    kept = set(after.get("reserved", ()))
    for name in before.get("reserved", ()):
        if name not in kept:
            words = f"{name!r} was reserved and is no more"
            yield Change("SG250", "", "reserved", name, None, words)


def delivers_mask(field: FieldSpec) -> bool:
    """Tell whether batches have a `<name>_present` for a field."""
    try:
        return field_from_data(field).codec.masked
    except (KeyError, ValueError):  # of a kind that only a later version knows
        return bool(field.get("presence"))


def _pairs(before: Spec, after: Spec) -> Iterator[tuple[FieldSpec, FieldSpec]]:
    """Yield the fields that are the same by their key, or else by their name."""
    by_key = {field["key"]: field for field in before["fields"]}
    by_name = {field["name"]: field for field in before["fields"]}
    for new in after["fields"]:
        old = by_key.get(new["key"]) or by_name.get(new["name"])
        if old is not None:
            yield old, new


def _gone(before: Spec, after: Spec) -> Iterator[FieldSpec]:
    return new_fields(after, before)


def _form(spec: Spec) -> str:
    """Return what the elements of a record's datasets are, as they are unpacked."""
    roles = [field["role"] for field in spec["fields"]]
    targets = roles.count("target")
    if not targets:
        return "features"
    parts = ["features", "a target" if targets == 1 else "a dict of targets"]
    parts += ["weights"] if "weight" in roles else []
    return f"({', '.join(parts)})"


def _label(field: FieldSpec) -> str:
    """Return what a field is called in rows: `steps.observation.state`."""
    return ".".join(field.get("path", ())) or str(field["name"])
