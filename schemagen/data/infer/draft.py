"""A field that is about to be: its kind, its keys, and what is doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.registry import KINDS
from ...runtime.codecs.base import Codec
from .evidence import Evidence, KeyEvidence

DOUBT = "doubt: "
"""The beginning of a comment that the user has to decide upon."""

_LONGEST_QUOTE = 60


@dataclass
class Draft:
    """A field, while rules decide upon it.

    Attributes:
        key: its wire key.
        kind: the name of its kind.
        facts: the parameters of its kind, and what else its spec has.
        optional: whether records lack it.
        role: its role in a model; "" for the usual one of its kind.
        doubts: what the data does not tell.
        notes: what was seen besides, and is not doubtful.
        step: of a feature list, the field of each step.
    """

    key: str
    kind: str
    facts: dict[str, Any] = field(default_factory=dict)
    optional: bool = False
    role: str = ""
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    step: Draft | None = None
    _known: tuple[Any, Codec] | None = field(default=None, init=False, repr=False)

    @property
    def comments(self) -> list[str]:
        """The comments above the field."""
        return [*self.notes, *(DOUBT + doubt for doubt in self.doubts)]

    @property
    def model_role(self) -> str:
        """The role that the field has."""
        return self.role or self.declared.role

    @property
    def declared(self) -> FieldSpec:
        """The field as it is now, under some name."""
        return self.spec("field")

    @property
    def codec(self) -> Codec:
        """What would store and read the field as it is now."""
        now = (self.kind, self.optional, {**self.facts})
        if self._known is None or self._known[0] != now:
            self._known = now, self.declared.codec
        return self._known[1]

    @property
    def is_plain(self) -> bool:
        """Whether it is one number, text or bytes value that is stored as it is."""
        codec = self.codec
        as_it_is = codec.parts[0].encoding == "list" and not codec.of_classes
        return as_it_is and codec.delivered_shape == ()

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
        return self.codec.of_classes and self.codec.delivered_shape == ()

    @property
    def can_be_target(self) -> bool:
        """Whether the generated model has a head for it."""
        return KINDS[self.kind].can_be_target

    @property
    def further_keys(self) -> set[str]:
        """The keys that it has besides its own."""
        return {part.key for part in self.codec.parts} - {self.key}

    def spec(self, name: str, path: tuple[str, ...] = ()) -> FieldSpec:
        """Return the field's spec."""
        facts = dict(self.facts)
        if self.step is not None:
            facts["step"] = KINDS[self.step.kind](**self.step.facts)
        spec = FieldSpec.of(
            KINDS[self.kind],
            name=name,
            key=self.key,
            role=self.role or None,
            optional=self.optional,
            path=path if len(path) > 1 else (),
            **facts,
        )
        return replace(spec, kind=spec.kind.settled(name))


class Scene:
    """All keys, those that rules have taken, and the fields made of them.

    Args:
        evidence: what was seen.

    Attributes:
        drafts: the fields, by key.
        possible: doubts about keys that are not taken yet.
        counts: keys that count the items of others.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.drafts: dict[str, Draft] = {}
        self.possible: dict[str, list[str]] = {}
        self.counts: set[str] = set()
        self._shared: dict[str, str] = {}

    @property
    def records(self) -> int:
        """How many records were looked at."""
        return self.evidence.records

    def open(self) -> Iterator[KeyEvidence]:
        """Yield the keys of one kind that no rule has taken."""
        for key, data in self.evidence.keys.items():
            if data.kind and self.is_open(key):
                yield data

    def is_open(self, key: str) -> bool:
        """Return whether a key may still become a field of its own."""
        return key not in self.drafts and key not in self._shared

    def may_share(self, key: str, holds: str) -> bool:
        """Return whether a field may name this key as a further one.

        Args:
            key: the further key.
            holds: its contents, which all fields that share it have to agree on.
        """
        return key not in self.drafts and self._shared.get(key, holds) == holds

    def share(self, key: str, holds: str) -> None:
        """Take a key as a further one of some field."""
        self._shared[key] = holds

    def share_all(self, held: Sequence[tuple[str, str]]) -> bool:
        """Take keys with their contents, if all may be shared."""
        if not all(self.may_share(key, holds) for key, holds in held):
            return False
        self._shared.update(held)
        return True

    def add(self, draft: Draft) -> Draft:
        """Make a field of a key, and take the further keys that it names."""
        data = self.evidence.keys[draft.key]
        draft.optional = draft.optional or bool(data.missing)
        draft.doubts += self.possible.pop(draft.key, ())
        self.drafts[draft.key] = draft
        _, *further = draft.codec.parts
        for part in further:
            self.share(part.key, part.content)
        return draft


def quoted(text: str) -> str:
    """Return a key or another text of the data for a comment: short, and one line."""
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 3] + "..."
    return repr(text)


def listed(items: Iterable[str], most: int = 5) -> str:
    """Return some items with commas, and how many more there are."""
    found = list(items)
    more = len(found) - most
    return ", ".join(found[:most]) + (f" and {more:,} more" if more > 0 else "")
