"""A field as it is drafted, and the fields that are drafted of some evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from ...runtime.kinds.kind import Kind
from ...runtime.kinds.numbering import numbering_of
from ...runtime.kinds.registry import KINDS
from ...spec.model import FieldSpec
from .evidence import Evidence

DOUBT = "doubt: "
"""The beginning of a comment that the user has to decide upon."""

_LONGEST_QUOTE = 60

# What stands between a word and a number.
_BETWEEN = "/_-. "


@dataclass(frozen=True)
class Draft:
    """A field as one stage leaves it to the next.

    Attributes:
        key: its wire key.
        kind: the name of its kind.
        facts: the parameters of its kind, and what else its spec has.
        optional: whether records lack it.
        role: its role in a model; "" for the usual one of its kind.
        doubts: what the data does not tell.
        notes: what the data tells, and is not doubtful.
        counted_by: the key that counts its items, which stays a field of its own.
    """

    key: str
    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False
    role: str = ""
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counted_by: str = ""

    def with_facts(self, **facts: Any) -> Draft:
        """Return the draft with other values of some facts."""
        return replace(self, facts={**self.facts, **facts})

    def with_doubts(self, *doubts: str) -> Draft:
        """Return the draft with further doubts."""
        return replace(self, doubts=(*self.doubts, *doubts))

    def with_notes(self, *notes: str) -> Draft:
        """Return the draft with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def with_role(self, role: str) -> Draft:
        """Return the draft with another role."""
        return replace(self, role=role)

    @property
    def comments(self) -> list[str]:
        """The comments above the field."""
        return [*self.notes, *(DOUBT + doubt for doubt in self.doubts)]

    @cached_property
    def declared(self) -> FieldSpec:
        """The field under some name."""
        return self.spec("field")

    @property
    def codec(self) -> Kind:
        """What stores and reads the field."""
        return self.declared.codec

    @property
    def model_role(self) -> str:
        """The role that the field has."""
        return self.declared.role

    @property
    def is_plain(self) -> bool:
        """Whether it is one number, text or bytes value that is stored as it is."""
        codec = self.codec
        as_it_is = codec.parts[0].encoding == "list" and not codec.of_classes
        return as_it_is and codec.delivered.shape == ()

    @property
    def is_text(self) -> bool:
        """Whether it is one text."""
        return self.is_plain and self.codec.dtype == "string"

    @property
    def is_number(self) -> bool:
        """Whether it is one number, or opaque bytes."""
        return self.is_plain and self.codec.dtype != "string"

    @property
    def is_quantity(self) -> bool:
        """Whether the generated model can predict numbers of it, and no classes."""
        codec = self.codec
        return self.can_be_target and not (codec.of_classes or codec.of_pixels)

    @property
    def is_array(self) -> bool:
        """Whether it has numbers of a fixed shape, which a model can predict."""
        return self.is_quantity and not self.is_plain

    @property
    def is_label(self) -> bool:
        """Whether it is one class."""
        return self.codec.of_classes and self.codec.delivered.shape == ()

    @property
    def can_be_target(self) -> bool:
        """Whether the generated model has a head for it."""
        return KINDS[self.kind].has_head

    @property
    def is_picture(self) -> bool:
        """Whether it has pixels that are no classes, as those of masks are."""
        return self.codec.of_pixels and not self.can_be_target

    @property
    def further_keys(self) -> set[str]:
        """The keys that it has besides its own."""
        return {part.key for part in self.codec.parts} - {self.key}

    @property
    def key_without_number(self) -> str:
        """Its key; of numbered keys what all of them have."""
        numbering = numbering_of(self.facts.get("keys"))
        if numbering is None:
            return self.key
        head, tail = numbering.head.rstrip(_BETWEEN), numbering.tail
        return f"{head}{tail}" if head else tail.lstrip(_BETWEEN) or "images"

    def spec(self, name: str, path: tuple[str, ...] = ()) -> FieldSpec:
        """Return the field's spec."""
        return FieldSpec.of(
            KINDS[self.kind],
            name=name,
            key=self.key,
            role=self.role or None,
            optional=self.optional,
            path=path if len(path) > 1 else (),
            **self.facts,
        )


@dataclass(frozen=True)
class Drafts:
    """The fields that are drafted of some evidence.

    Attributes:
        evidence: all keys.
        fields: the drafts, by key.
        shared: the contents of the further keys that these name, such as sizes.
    """

    evidence: Evidence
    fields: Mapping[str, Draft] = field(default_factory=dict)
    shared: Mapping[str, str] = field(default_factory=dict)

    def is_open(self, key: str) -> bool:
        """Return whether a key may still become a field of its own."""
        return key not in self.fields and key not in self.shared

    def admits(self, draft: Draft) -> bool:
        """Return whether the further keys of a draft are free, or hold what it says."""
        return all(
            part.key not in self.fields
            and self.shared.get(part.key, part.content) == part.content
            for part in draft.codec.parts[1:]
        )

    def with_field(self, draft: Draft) -> Drafts:
        """Return the drafts with a further one, which records may lack."""
        missing = bool(self.evidence.keys[draft.key].missing)
        draft = replace(draft, optional=draft.optional or missing)
        further = {part.key: part.content for part in draft.codec.parts[1:]}
        return Drafts(
            self.evidence,
            {**self.fields, draft.key: draft},
            {**self.shared, **further},
        )


def odd_doubt(count: int, of: str, what: str) -> str:
    """Say that a few of so many records, such as "200 records", are not as declared."""
    have = "has" if count == 1 else "have"
    return (
        f"{count:,} of {of} {have} {what}, unlike the others: `schemagen verify` names "
        "them"
    )


def quoted(text: str) -> str:
    """Return a key or another text of the data for a comment: short, and one line."""
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 3] + "..."
    return repr(text)


def with_commas(items: Iterable[str], most: int = 5) -> str:
    """Return some items with commas, and how many more there are."""
    found = list(items)
    more = len(found) - most
    return ", ".join(found[:most]) + (f" and {more:,} more" if more > 0 else "")


def ranges(ids: Sequence[int]) -> list[str]:
    """Return ascending ids as text, three or more without a gap as a range."""
    found: list[str] = []
    for _, pairs in groupby(enumerate(ids), lambda each: each[1] - each[0]):
        run = [number for _, number in pairs]
        found += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    return found
