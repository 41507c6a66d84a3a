"""What of the generated code's interface has changed: keywords, batches and models.

Specs are compared as their JSON: the one that programs were written against, and the
one that they should run with.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..runtime.codecs.compatibility import (
    Change,
    FieldJson,
    Spec,
    differences,
    former_fields,
    new_fields,
)
from ..runtime.codecs.spec_json import codec_of_json, stored_field

# What decides what the tensors of a batch look like.
_TENSOR = ("dense", "dtype", "presence", "ragged", "resize", "shape")


def interface_changes(before: Spec, after: Spec) -> Iterator[Change]:
    """Yield what programs and saved models notice of a change."""
    refused = {
        (change.field, change.attribute)
        for change in differences(before, after)
        if not change.record_by_record
    }
    for field in new_fields(after, before):
        yield _removed(field, before, after)
    for field in new_fields(before, after):
        yield from _added(field, before, after)
    for old, new in _pairs(before, after):
        yield from _renamed_or_moved(old, new)
        if old["kind"] == new["kind"]:
            yield from _stricter(old, new)
            for attribute in _TENSOR:
                was, now = (stored_field(each)[attribute] for each in (old, new))
                if was != now and (new["name"], attribute) not in refused:
                    yield Change("SG245", new["name"], attribute, was, now)
    yield from _of_record(before, after)


def record_gone(before: Spec) -> Change:
    """Return that a record is gone."""
    name = before["record"]
    words = f"record {name!r} and its package were removed"
    return Change("SG249", "", "record", name, None, words)


def _delivers_mask(field: FieldJson) -> bool:
    """Tell whether batches have a `<name>_present` for a field."""
    codec = codec_of_json(field)  # None of a kind that only a later version knows
    return codec.masked if codec else bool(field.get("presence"))


def _removed(field: FieldJson, before: Spec, after: Spec) -> Change:
    """Return that a field is gone, as planned if it is reserved."""
    name, kind = field["name"], field["kind"]
    if {field["key"], name} & set(after.get("reserved", ())):
        return Change("SG252", name, "kind", kind, None, "removed, and reserved")
    heirs = (
        new
        for new in new_fields(before, after)
        if field in former_fields(new, before, after) and len(new.get("path", ())) < 2
    )
    heir = next(heirs, None)
    hint = (
        f"if it is now {heir['name']!r}, give that key={field['key']!r}" if heir else ""
    )
    words = "removed, and not reserved"
    return Change("SG242", name, "kind", kind, None, words, hint)


def _added(field: FieldJson, before: Spec, after: Spec) -> Iterator[Change]:
    """Yield what a new field requires of writers and of models."""
    name = field["name"]
    if not field["optional"]:
        words = f"`serialize` requires a value for the new {field['kind']}"
        yield Change("SG243", name, "name", None, name, words)
    elif field["role"] == "input" and not former_fields(field, before, after):
        yield _input(name, "name", name)  # of a former field, SG204 says it


def _input(field: str, attribute: str, name: str) -> Change:
    words = f"batches and models have a new input, {name!r}"
    return Change("SG246", field, attribute, None, name, words)


def _renamed_or_moved(old: FieldJson, new: FieldJson) -> Iterator[Change]:
    """Yield what names the field, or says where it is in batches and models."""
    name = new["name"]
    if _label(old) != _label(new):
        yield Change("SG241", name, "name", _label(old), _label(new))
    if old["role"] != new["role"]:
        yield Change("SG244", name, "role", old["role"], new["role"])
    if _delivers_mask(new) and not _delivers_mask(old) and new["role"] == "input":
        yield _input(name, "presence", f"{name}_present")
    was, now = old.get("num_classes"), new.get("num_classes")
    if was is not None and now is not None and was < now:
        yield Change("SG247", name, "num_classes", was, now)


def _stricter(old: FieldJson, new: FieldJson) -> Iterator[Change]:
    """Yield what the writer refuses, and has taken so far.

    Numbers that it has rounded, and names of classes that have none any more, after
    which no one could tell whether they come back in another order.
    """
    if new.get("exact") and not old.get("exact"):
        yield Change("SG248", new["name"], "exact", False, True)
    if old.get("classes") and not new.get("classes"):
        yield Change("SG248", new["name"], "classes", old["classes"], [])


def _of_record(before: Spec, after: Spec) -> Iterator[Change]:
    """Yield what changes for the record as a whole."""
    kept = set(after.get("reserved", ()))
    for name in before.get("reserved", ()):
        if name not in kept:
            words = f"{name!r} is no longer reserved"
            yield Change("SG250", "", "reserved", name, None, words)
    was, now = _form(before), _form(after)
    if was != now:
        words = f"elements of datasets are now {now} instead of {was}"
        yield Change("SG251", "", "elements", was, now, words)
    if after.get("draft") and not before.get("draft"):
        words = "the record is now declared a draft"
        yield Change("SG253", "", "draft", False, True, words)


def _pairs(before: Spec, after: Spec) -> Iterator[tuple[FieldJson, FieldJson]]:
    """Yield the fields that are the same by their key, or else by their name."""
    by_key = {field["key"]: field for field in before["fields"]}
    by_name = {field["name"]: field for field in before["fields"]}
    for new in after["fields"]:
        old = by_key.get(new["key"]) or by_name.get(new["name"])
        if old is not None:
            yield old, new


def _form(spec: Spec) -> str:
    """Return what the elements of a record's datasets are, as they are unpacked."""
    roles = [field["role"] for field in spec["fields"]]
    targets = roles.count("target")
    if not targets:
        return "features"
    parts = ["features", "a target" if targets == 1 else "a dict of targets"]
    parts += ["weights"] if "weight" in roles else []
    return f"({', '.join(parts)})"


def _label(field: FieldJson) -> str:
    """Return what a field is called in rows: `steps.observation.state`."""
    return ".".join(field.get("path", ())) or str(field["name"])
