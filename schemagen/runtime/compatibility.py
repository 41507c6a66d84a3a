"""Whether data that was written with one spec may be read with another.

Specs are compared as the JSON of `spec.json`, so that generated code needs no more
than the two texts. Fields are matched by their wire key. A difference that cannot
change what old bytes mean passes; every other one is named, with the rule that
`schemagen explain` tells more about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from .cells.part import INT, Part
from .kinds.changes import Judgement, StoredField
from .kinds.numbers import FixedNumbers
from .kinds.spec_json import judged_of, stored_field
from .shared.errors import SchemaMismatchError
from .shared.json_entries import ELSEWHERE

Spec = dict[str, Any]
FieldJson = dict[str, Any]
"""A whole spec, and one field of it, as `spec.json` has them."""


@dataclass(frozen=True)
class OwnedKey:
    """A key of a field.

    Attributes:
        key: the feature's key in the Example.
        field: the JSON of the field.
        part: what is stored under the key; None of a kind that only a later version
            knows.
    """

    key: str
    field: FieldJson
    part: Part | None = None

    @property
    def attribute(self) -> str:
        """The attribute of the field that names the key."""
        return self.part.parameter if self.part else "key"

    def __str__(self) -> str:
        name = repr(self.field["name"])
        if self.attribute == "key":
            return f"the {self.field['kind']} {name}"
        word = self.attribute.removesuffix("_key").replace("_", " ")
        return f"the {word} of {name}"

    @property
    def integers(self) -> int | None:
        """How many integers it always holds, such as sizes; None for anything else."""
        part = self.part
        if part is None or part.stored != INT or part.dtype == "bool":
            return None
        own = part.holds == "value"
        if own and not isinstance(stored_field(self.field).codec, FixedNumbers):
            return None
        return None if own and len(part.shape) > 1 else part.count

    def reads(self, other: OwnedKey) -> bool:
        """Return whether what another field wrote can be read here."""
        return self.integers is not None and self.integers == other.integers


def owned_keys(spec: dict[str, Any]) -> Iterator[OwnedKey]:
    """Yield the keys of all fields, those of a field's values first."""
    for field in spec["fields"]:
        parts = stored_field(field).parts
        if not parts:
            yield OwnedKey(field["key"], field)
        for part in parts:
            yield OwnedKey(part.key, field, part)


@dataclass(frozen=True)
class Change:
    """A difference between two specs, because of which data is not read alike.

    Attributes:
        rule: the id of the rule that it comes under.
        field: the name of the field, as it is expected; empty for a whole record.
        attribute: the attribute that differs.
        written: its value in the spec that wrote the data.
        expected: its value in the reader's spec.
        words: the change in words, for those that an attribute does not tell; or "".
        hint: a possible cause, for people who can change the reader's schema; or "".
        record_by_record: data may be opened, since each record tells whether it is
            read alike, or what is stored is read alike and used otherwise.
    """

    rule: str
    field: str
    attribute: str
    written: Any = None
    expected: Any = None
    words: str = ""
    hint: str = ""
    record_by_record: bool = False

    def __str__(self) -> str:
        hint = f"; {self.hint}" if self.hint else ""
        return self.plain + hint

    @property
    def plain(self) -> str:
        """The change in words, without the hint."""
        subject = f"field {self.field!r}: " if self.field else ""
        words = self.words or (
            f"{self.attribute}: written {_shown(self.written)}, "
            f"expected {_shown(self.expected)}"
        )
        return subject + words


DataCheck = Callable[[Spec, Spec], Iterator[Change]]


def other_record(written: Spec, expected: Spec) -> Iterator[Change]:
    """Find out whether the records are of another name."""
    before, after = written["record"], expected["record"]
    if before != after:
        yield Change("SG220", "", "record", before, after)


def other_message(written: Spec, expected: Spec) -> Iterator[Change]:
    """Find out whether records are stored as another message."""
    before, after = map(_message, (written, expected))
    if before != after:
        words = f"message: written tf.train.{before}, expected tf.train.{after}"
        yield Change("SG201", "", "message", before, after, words)


def never_written(written: Spec, expected: Spec) -> Iterator[Change]:
    """Find the required fields of which the data has nothing under any name."""
    for field in _without_data(written, expected):
        if not field["optional"]:
            former = former_fields(field, written, expected)
            words = f"the field is required, and the data has no key {field['key']!r}"
            hint = _renamed(field, former) if former else ""
            key = field["key"]
            yield Change("SG202", field["name"], "key", None, key, words, hint)


def moved_keys(written: Spec, expected: Spec) -> Iterator[Change]:
    """Find the fields that are expected under another key than they were written to.

    An optional one would read as its default throughout; and one that has the key of
    another field as that field's values.
    """
    by_name = {field["name"]: field for field in written["fields"]}
    for field in expected["fields"]:
        old = by_name.get(field["name"])
        if old is not None and field["key"] != old["key"]:
            yield Change("SG204", field["name"], "key", old["key"], field["key"])
    for field in _without_data(written, expected):
        former = former_fields(field, written, expected)
        if field["optional"] and former:
            keys = " or ".join(repr(each["key"]) for each in former)
            words = f"the data has no key {field['key']!r}, and no field reads its key {keys}"
            old = former[0]
            hint = f"if it is the same, {_same(field, former[:1])}; if not, reserve {old['name']!r}"
            yield Change(
                "SG204", field["name"], "key", old["key"], field["key"], words, hint
            )


def _is_of_field(old: OwnedKey, after: OwnedKey) -> bool:
    """Return whether a key belongs to the same field of both specs; its key may have changed."""
    same = old.field["name"] == after.field["name"]
    return same and old.attribute == after.attribute


def other_owners(written: Spec, expected: Spec) -> Iterator[Change]:
    """Find the keys that held something of another field, or are to hold it.

    Readers take what stands under a field's own key for its value, whatever wrote it;
    and what stands under its further keys even where the field itself is missing.
    """
    if _message(written) != _message(expected):
        return
    before = {owned.key: owned for owned in owned_keys(written)}
    fields = {field["key"] for field in written["fields"]}
    for after in owned_keys(expected):
        old = before.get(after.key)
        if old is None or _is_of_field(old, after):
            continue
        if after.attribute == "key":
            other = old.attribute != "key"
        else:
            other = after.field["key"] not in fields
            other = other and bool(after.part and after.part.read)
            other = other and not after.reads(old)
        if other:
            yield Change(
                "SG235",
                after.field["name"],
                after.attribute,
                str(old),
                str(after),
                f"key {after.key!r}: written {old}, expected {after}",
                "give it a key that no field had",
            )


def other_kinds(written: Spec, expected: Spec) -> Iterator[Change]:
    """Find the fields of another kind, whose values may be in another list."""
    for name, old, new in _pairs(written, expected):
        if old["kind"] != new["kind"]:
            known = {stored_field(old).list, stored_field(new).list} - {""}
            rule = "SG225" if len(known) < 2 else "SG205"
            words = f"kind: written {old['kind']}, expected {new['kind']}"
            yield Change(rule, name, "kind", old["kind"], new["kind"], words)


def changed_parameters(written: Spec, expected: Spec) -> Iterator[Change]:
    """Find what differs in fields of the same kind, as their parameters judge it."""
    for name, *pair in _pairs(written, expected):
        old, new = map(stored_field, pair)
        if old.kind == new.kind:
            judged = judged_of(new.kind)
            for attribute in sorted({*old.facts, *new.facts, *judged}):
                if old[attribute] != new[attribute]:
                    yield from _judged(name, old, new, attribute, judged.get(attribute))


def _judged(
    field: str,
    old: StoredField,
    new: StoredField,
    attribute: str,
    judged: tuple[Judgement, ...] | None,
) -> Iterator[Change]:
    """Yield the rules that a change comes under; of an unknown attribute it is always one."""
    values = old[attribute], new[attribute]
    if judged is None:
        yield Change("SG211", field, attribute, *values, hint=ELSEWHERE)
    for each in judged or ():
        if each.applies(old, new, attribute):
            yield Change(
                each.rule,
                field,
                attribute,
                *values,
                each.words(old, new),
                record_by_record=each.record_by_record,
            )


DATA_CHECKS: tuple[DataCheck, ...] = (
    other_message,
    never_written,
    moved_keys,
    other_record,
    other_kinds,
    other_owners,
    changed_parameters,
)


def differences(written: Spec, expected: Spec) -> list[Change]:
    """Return why data of one spec is not read alike with another; none if it is.

    Args:
        written: the spec that wrote the data.
        expected: the spec that should read it.

    Returns:
        In the order of the fields, those of the whole record first.
    """
    if other := list(other_record(written, expected)):
        return other  # whose fields have nothing to do with each other
    names = ["", *(field["name"] for field in expected["fields"])]
    found = [change for check in DATA_CHECKS for change in check(written, expected)]
    return sorted(found, key=lambda each: (names.index(each.field), each.rule))


def check_compatible(
    written: Spec,
    expected: Spec,
    where: str,
    directory: str = "",
    *,
    adopted: bool | None = None,
) -> None:
    """Refuse data that would be misread.

    Args:
        written: the spec that wrote the data.
        expected: the spec that should read it.
        where: what to call the data in the error.
        directory: the data's directory, if another split is to be written there; "" if
            the data is to be read.
        adopted: whether the data was sealed, so that its schema can be stated again.

    Raises:
        SchemaMismatchError: naming every field that differs, and the rule.
    """
    if written == expected:
        return
    found = [
        change
        for change in differences(written, expected)
        if not change.record_by_record
    ]
    if found:
        listed = "\n".join(f"  {change} ({change.rule})" for change in found)
        ways = (
            "Read it with code generated from that schema, which the manifest holds; or "
            "change the schema back; or write the data again into another directory."
        )
        if adopted:
            ways = (
                "If you have changed the schema on purpose, `schemagen verify DATA "
                "--record NAME --seal` compares every record with it and seals the files "
                "again; otherwise change the schema back."
            )
        elif directory:
            ways = (
                "Write to another directory; or change the schema back; or delete "
                f"{directory} if its other splits are no longer needed."
            )
        if {change.rule for change in found} == {"SG202"}:
            ways = (
                "Give a new field a default, such as `= None` for a type with `| None`, "
                f"which records without it then have. Or {ways[0].lower()}{ways[1:]}"
            )
        raise SchemaMismatchError(
            f"{where}: the data was written with another schema:\n{listed}\n{ways} "
            f"`schemagen explain {found[0].rule}` says more."
        )


def former_fields(field: FieldJson, written: Spec, expected: Spec) -> list[FieldJson]:
    """Return what a field may have been before it got its name and key.

    Those are the fields that are there no more and that hold the same, or failing
    these, one with nearly the same key. What the reader's schema reserves is gone
    on purpose.
    """
    kept = {each["name"] for each in expected["fields"]}
    kept |= {owned.key for owned in owned_keys(expected)}
    kept |= set(expected.get("reserved", ()))
    gone = [
        each for each in written["fields"] if not {each["name"], each["key"]} & kept
    ]
    alike = [each for each in gone if _value_facts(each) == _value_facts(field)]
    near = get_close_matches(field["key"], [each["key"] for each in gone], n=1)
    if field["optional"]:  # it need not have been anything
        return alike
    return alike or [each for each in gone if each["key"] in near]


def _value_facts(field: FieldJson) -> FieldJson:
    """Return what a field says about the values that it holds."""
    judged = {**judged_of(field["kind"]), "optional": (), "default": ()}
    return {
        name: value
        for name, value in field.items()
        if name == "kind" or judged.get(name) != ()
    }


def _without_data(written: Spec, expected: Spec) -> Iterator[FieldJson]:
    """Yield the expected fields of which nothing is known in the data."""
    if _message(written) == _message(expected):
        keys = {owned.key for owned in owned_keys(written)}
        for field in new_fields(written, expected):
            if field["key"] not in keys:
                yield field


def new_fields(before: Spec, after: Spec) -> Iterator[FieldJson]:
    """Yield the fields that have neither name nor key of a former one."""
    keys = {field["key"] for field in before["fields"]}
    names = {field["name"] for field in before["fields"]}
    for field in after["fields"]:
        if field["key"] not in keys and field["name"] not in names:
            yield field


def _renamed(field: FieldJson, former: list[FieldJson]) -> str:
    """Say what to do if a field had another name."""
    names = " or ".join(repr(each["name"]) for each in former)
    return f"if it is {names} renamed, {_same(field, former)}"


def _same(field: FieldJson, former: list[FieldJson]) -> str:
    """Say how a field becomes the same as one of its former ones."""
    if len(field.get("path", ())) > 1:
        return (
            "give its model the key that begins those of its fields, such as "
            "Annotated[Weather, Nested(key='weather')]; or write the data again"
        )
    return "give it " + " or ".join(f"key={each['key']!r}" for each in former)


def _message(spec: Spec) -> str:
    return str(spec.get("message", "Example"))


def _pairs(written: Spec, expected: Spec) -> Iterator[tuple[str, FieldJson, FieldJson]]:
    """Yield the fields of one key, by the expected name, and then their steps.

    Fields of one message are not where those of the other are.
    """
    if _message(written) != _message(expected):
        return
    by_key = {field["key"]: field for field in written["fields"]}
    for new in expected["fields"]:
        old = by_key.get(new["key"])
        if old is not None:
            yield new["name"], old, new
            if "step" in old and "step" in new:
                yield new["name"], old["step"], new["step"]


def _shown(value: object, limit: int = 200) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
