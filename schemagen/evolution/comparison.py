"""What a change of schemas breaks: the rules of the table, over two sets of specs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..runtime.compatibility import (
    DATA_CHECKS,
    Change,
    FieldJson,
    Spec,
    differences,
    former_fields,
    new_fields,
)
from ..runtime.kinds.spec_json import codec_of_json, stored_field
from .tables import AXES, BREAKING_RULES, Axis, BreakingRule

# What decides what the tensors of a batch look like.
_TENSOR = ("dense", "dtype", "presence", "ragged", "resize", "shape", "sizes")


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
    return codec.delivered.absence.masked if codec else bool(field.get("presence"))


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
    was, now = _classes(old), _classes(new)
    if was and now and was < now:
        yield Change("SG247", name, "num_classes", was, now)


def _classes(field: FieldJson) -> int:
    """Return how many classes a field has; 0 if it has none, or any number."""
    return field.get("num_classes") or len(field.get("classes") or ())


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


# An acceptance is the facts of one exact break, and a reason: when the field changes
# again, that is another break. Each is a line of JSON by itself: git joins the lines of
# two branches (`merge=union`), and the file is still whole.
Acceptance = dict[str, Any]


class Mode(Enum):
    """Who has to get along with whom.

    Backward: new code with old data and old programs. Forward: old code with new data.
    """

    BACKWARD = "backward"
    FORWARD = "forward"
    FULL = "full"


@dataclass(frozen=True)
class Break:
    """One thing that a change breaks.

    Attributes:
        record: the record's name.
        change: what differs, of what is written and what is expected.
        forward: whether it is old code that is at odds with new data.
        draft: whether the record was a draft.
    """

    record: str
    change: Change
    forward: bool = False
    draft: bool = False

    @property
    def rule(self) -> BreakingRule:
        """The rule that it comes under."""
        return BREAKING_RULES[self.change.rule]

    @property
    def is_error(self) -> bool:
        """Whether it is more than a warning."""
        return self.rule.level == "error" and not self.draft

    def is_accepted(self, accepted: Iterable[Acceptance]) -> bool:
        """Tell whether it is one of the breaks that were accepted."""
        return any(each == self.accepted(each["reason"]) for each in accepted)

    def accepted(self, reason: str) -> Acceptance:
        """Return its acceptance: what makes it this break and no other, as JSON."""
        return {
            "rule": self.change.rule,
            "record": self.record,
            "field": self.change.field,
            "attribute": self.change.attribute,
            "written": self.change.written,
            "expected": self.change.expected,
            "reason": reason,
        }


def compare(
    old: Mapping[str, Spec],
    new: Mapping[str, Spec],
    mode: Mode = Mode.BACKWARD,
    axes: Collection[Axis] = AXES,
) -> tuple[Break, ...]:
    """Find what a change breaks.

    Args:
        old: the specs before it, as their JSON, by the names of the records.
        new: the specs after it.
        mode: who has to get along with whom.
        axes: the axes to look at; without "api", old is the specs of data,
            which is read alike or not, whether its record is a draft or not.

    Returns:
        By record, in the order of the rules.
    """
    found: list[Break] = []
    for record, before in sorted(old.items()):
        draft = "api" in axes and bool(before.get("draft", False))
        after = new.get(record)
        if after is None and "api" not in axes:
            found.append(Break(record, _unread(record)))
        elif after is None and mode is not Mode.FORWARD:
            found.append(Break(record, record_gone(before), draft=draft))
        elif after is not None:
            if mode is not Mode.FORWARD:
                changes = _changes(before, after, axes)
                found += [Break(record, each, False, draft) for each in changes]
            if mode is not Mode.BACKWARD:
                changes = _changes(after, before, {*axes} - {"api"})
                found += [Break(record, each, True, draft) for each in changes]
    return tuple(found)


def _unread(record: str) -> Change:
    """Return that data exists for a record that is not declared."""
    words = f"record: written {record!r}, and no record of this name is declared"
    return Change("SG220", "", "record", record, None, words)


def _changes(written: Spec, expected: Spec, axes: Collection[Axis]) -> Iterator[Change]:
    """Yield what comes under the rules of some axes, in the order of the rules."""
    found = [c for check in DATA_CHECKS for c in check(written, expected)]
    if "api" in axes:
        found += interface_changes(written, expected)
    for change in sorted(found, key=lambda change: change.rule):
        if BREAKING_RULES[change.rule].axis in axes:
            yield change


def load_acceptances(text: str) -> tuple[Acceptance, ...]:
    """Read the file's text.

    Raises:
        ValueError: it is not what `dump_acceptances` writes, and in which line.
    """
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                entry = json.loads(line)
            except ValueError:
                entry = None
            if not (isinstance(entry, dict) and "reason" in entry):
                raise ValueError(f"line {number} is not an accepted break")
            found.append(entry)
    return tuple(found)


def dump_acceptances(accepted: Iterable[Acceptance]) -> str:
    """Return the file's text: sorted, a break a line, so that branches merge."""
    lines = {json.dumps(each, ensure_ascii=False) for each in accepted}
    return "".join(f"{line}\n" for line in sorted(lines))
