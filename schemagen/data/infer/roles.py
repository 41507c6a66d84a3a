"""Roles: what a model learns from, what it learns to say, and what it never sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...spec.training import marks_missing, missing_beside, opaque
from .draft import Draft, quoted, with_commas
from .evidence import Evidence, KeyEvidence
from .key_words import (
    Meaning,
    is_seldom_answer,
    meaning_of,
    names_class,
    names_event,
    names_object,
    names_tokens,
    parent_of,
    says,
    says_axis,
    says_one_size,
    says_shape,
    speaks_of,
    stem_of_shape,
    target_rank,
)

Fields = Mapping[str, Draft]

Rank = tuple[int, int]

# Candidates before these have a last word, or a word, that names a target.
_NAMED, _UNNAMED = (3, 0), (4, 0)

_MOST_CANDIDATES = 5
_MOST_CLASSES = 20


def with_roles(evidence: Evidence, fields: Fields) -> Fields:
    """Return fields with the roles that their names and the other fields tell."""
    record = _RecordFields.of(evidence, fields)
    given = {
        key: draft if draft.role else record.with_role(draft)
        for key, draft in fields.items()
    }
    return _without_lone_masks(_without_places(_with_named_target(evidence, given)))


@dataclass(frozen=True)
class _RecordFields:
    """What the role of one field depends on in all fields.

    Attributes:
        evidence: all keys.
        keys: of all fields, in small letters.
        answers: those that name an answer.
        labels: the parents of the keys of classes.
        counts: keys that count the items of others.
        boxes: groups of lists with corners.
        pictures: whether one field holds images.
        scenes: whether one of these is not called a mask.
        weight: the key of the first field that can weigh a record; "" for none.
    """

    evidence: Evidence
    keys: frozenset[str]
    answers: frozenset[str]
    labels: frozenset[str]
    counts: frozenset[str]
    boxes: frozenset[str]
    pictures: bool
    scenes: bool
    weight: str

    @classmethod
    def of(cls, evidence: Evidence, fields: Fields) -> _RecordFields:
        """Return what roles depend on in some fields."""
        classes = (
            key
            for key, draft in fields.items()
            if draft.is_label or (draft.is_array and names_class(key))
        )
        return cls(
            evidence,
            keys=frozenset(map(str.lower, fields)),
            answers=frozenset(key for key in fields if meaning_of(key) == "answer"),
            labels=frozenset(map(parent_of, classes)) - {""},
            counts=frozenset(draft.counted_by for draft in fields.values()),
            boxes=frozenset(
                draft.facts["group"]
                for key, draft in fields.items()
                if says(key, "corner") and "group" in draft.facts
            ),
            pictures=any(
                rank_of(draft) == 0 or evidence.of(key).values.images
                for key, draft in fields.items()
            ),
            scenes=any(
                draft.is_picture and not speaks_of(key, "mask")
                for key, draft in fields.items()
            ),
            weight=next(filter(None, map(_weight, fields.values())), ""),
        )

    def with_role(self, draft: Draft) -> Draft:
        """Return a field with the role of the first rule that knows it."""
        meaning = self._meaning(draft)
        in_boxes = draft.facts.get("group") in self.boxes or names_object(draft.key)
        if self._describes_another(draft):
            return draft.with_role("info")
        if draft.key == self.weight:
            doubt = "the weight of a record, by its name?"
            return draft.with_role("weight").with_doubts(doubt)
        if self.scenes and draft.is_picture and speaks_of(draft.key, "mask"):
            return draft.with_role("info").with_doubts(
                f"{quoted(draft.key)} holds pictures of answers, by its name: declare a "
                "Mask to make it a target"
            )
        if meaning in ("weight", "info"):
            media = draft.codec.of_pixels or draft.kind == "Audio"
            learned = media or draft.codec.of_classes
            return draft if learned and meaning == "info" else draft.with_role("info")
        if meaning == "answer" or in_boxes:
            single = not in_boxes or draft.is_quantity
            return _answer(draft, self.evidence.of(draft.key), single=single)
        return draft

    def _meaning(self, draft: Draft) -> Meaning:
        if draft.key.lower() == "y" and (
            self.answers - {draft.key} or "z" in self.keys
        ):
            return ""  # a coordinate
        found = meaning_of(draft.key, several=not draft.is_plain)
        numbers = self.evidence.of(draft.key).numbers
        measured = numbers.floats and numbers.whole < numbers.finite
        alone = draft.kind != "Steps" and not (draft.is_plain or draft.further_keys)
        return "" if found == "info" and measured and alone else found

    def _describes_another(self, draft: Draft) -> bool:
        """Return whether a field counts, names or measures what another one holds."""
        key = draft.key
        of_picture = self.pictures or speaks_of(key, "image")
        if draft.is_array:
            return says_shape(key)
        if draft.is_text:
            named = parent_of(key) in self.labels
            return named or (says(key, "format") and of_picture)
        whole = draft.is_number and self.evidence.of(key).kind == "int64"
        size = whole and says_axis(key)
        stem = stem_of_shape(key) if whole and says_one_size(key) else ""
        numbered = stem in self.evidence.keys
        return key in self.counts or numbered or (size and of_picture)


def _weight(draft: Draft) -> str:
    """Return the key of a field if it can weigh a record; "" if it cannot."""
    named = meaning_of(draft.key, several=not draft.is_plain) == "weight"
    plain = draft.is_number and draft.facts["dtype"] == "float32"
    sure = plain and not draft.optional and draft.facts.get("finite", True)
    return draft.key if named and sure and not draft.role else ""


def _answer(draft: Draft, data: KeyEvidence, *, single: bool = True) -> Draft:
    """Return what a model learns to say, a target if the generated one has a head."""
    codec = draft.codec
    if draft.is_picture or draft.model_role == "target":
        return draft
    if not single or not draft.can_be_target or draft.model_role == "info":
        return draft.with_role("info")
    # The loss leaves out classes that are missing.
    if draft.optional and not codec.of_classes:
        note = "not a target: records lack it, and a target is required"
        return draft.with_role("info").with_notes(note)
    target = draft.with_role("target")
    if not draft.is_quantity:
        return target
    if draft.is_array and draft.facts["dtype"] == "int64" and names_tokens(draft.key):
        return draft.with_role("info").with_doubts(
            f"the ids of {quoted(draft.key)} are a target by their name, which the "
            "generated model would learn as quantities: give them to a model of your own"
        )
    if draft.is_array and draft.facts["dtype"] == "int64" and data.is_binary:
        note = "only 0 and 1: a probability for each is learned"
        return target.with_facts(dtype="bool").with_notes(note)
    if data.kind == "int64" and data.is_single and data.is_binary:
        return target  # whose doubt asks for classes
    numbers, number = data.numbers, len(data.numbers.distinct or ())
    whole = data.kind == "float" and numbers.whole == numbers.finite
    few = whole and 1 < number <= _MOST_CLASSES
    if not few and draft.facts["dtype"] != "int64":
        return target
    if few:
        return target.with_doubts(
            "whole numbers that a model learns as quantities: or ids of classes? Then "
            "write them again as int64, which a Label stores"
        )
    return target.with_doubts(
        "whole numbers that a model learns as quantities: or ids of classes?"
    )


def _with_named_target(evidence: Evidence, fields: Fields) -> Fields:
    """Make a target of the likeliest field that is named like one, if nothing is."""
    if any(draft.model_role == "target" for draft in fields.values()):
        return fields
    named = [each for each in _candidates(evidence, fields) if each[0] < _NAMED]
    ranks = [rank for rank, _ in named]
    if not named or fields[named[0][1]].is_text or ranks.count(ranks[0]) > 1:
        return fields
    first, *others = [key for _, key in named]
    question = f", or {with_commas(map(quoted, others))}" if others else ""
    target = _answer(fields[first], evidence.of(first))
    target = target.with_doubts(f"the target, by its name{question}?")
    return {**fields, first: target}


def _without_places(fields: Fields) -> Fields:
    """Let labels be the targets, and not the places of what they are of."""
    targets = [key for key, draft in fields.items() if draft.model_role == "target"]
    if not any(map(names_class, targets)):
        return fields
    places = [
        key
        for key in targets
        if fields[key].role and names_object(key) and not names_class(key)
    ]
    return {**fields, **{key: fields[key].with_role("info") for key in places}}


def _without_lone_masks(fields: Fields) -> Fields:
    """Keep masks from being targets that no picture of their size can be asked for."""
    kinds = {key: draft.declared.kind for key, draft in fields.items()}
    inputs = [kind for kind in kinds.values() if kind.role == "input"]
    found = dict(fields)
    for key, draft in fields.items():
        if not draft.codec.of_pixels or draft.model_role != "target":
            continue
        lacks = draft.optional and not marks_missing(kinds[key])
        if lacks or missing_beside(kinds[key], inputs):
            reason = "records lack it" if lacks else "no picture has its size"
            found[key] = draft.with_role("info").with_notes(f"not a target: {reason}")
    return found


def rank_of(draft: Draft) -> int:
    """Order fields as people do: pictures, other inputs, targets, the rest."""
    field = draft.declared
    if (field.step if draft.kind == "Steps" else field).codec.of_pixels:
        return 0
    return {"input": 1, "target": 2}.get(draft.model_role, 3)


def lacking_roles(evidence: Evidence, fields: Fields) -> list[str]:
    """Say that a record has no target or no input, and which fields could be one."""
    roles = {draft.model_role for draft in fields.values()}
    doubts = []
    if "target" not in roles:
        doubts.append(f"no field is a target{_possible_targets(evidence, fields)}")
    labels = [
        key
        for key, draft in fields.items()
        if draft.is_label and draft.model_role == "target"
    ]
    events = [
        key
        for key, draft in fields.items()
        if draft.model_role == "input" and names_event(key)
    ]
    targets = [key for key, draft in fields.items() if draft.model_role == "target"]
    if events and targets:
        doubts.append(
            f"{with_commas(map(quoted, events))}: a target, by its name? It is an input "
            f"next to the target {with_commas(map(quoted, targets))}"
        )
    if len(labels) > 1:
        doubts.append(
            f"{len(labels)} targets, {with_commas(map(quoted, labels))}: is one of them an "
            'input or info? Give it role="input" or role="info"'
        )
    if "input" not in roles:
        others = [
            key
            for key, draft in fields.items()
            if not (draft.model_role == "target" or names_object(key))
            and meaning_of(key) != "answer"
        ]
        usable = [key for key in others if not opaque(fields[key].declared.kind)]
        unread = [key for key in others if key not in usable and not meaning_of(key)]
        most = {
            key: max(evidence.of(key).longest, evidence.of(key).values.most)
            for key in usable
        }
        # Numbers before text, and those with the most values before others.
        usable.sort(key=lambda key: (fields[key].is_text, -most[key]))
        if unread:
            doubts.append(
                f"no field is an input: it may be {with_commas(map(quoted, unread))}, whose "
                "bytes are not understood"
            )
        elif usable:
            doubts.append(
                f"no field is an input: is it {with_commas(map(quoted, usable))}? Give it "
                'role="input"'
            )
        else:
            doubts.append(
                "no field is an input, and no other field has values that a model can use"
            )
    return doubts


def _possible_targets(evidence: Evidence, fields: Fields) -> str:
    """Name what could be the target, or the answers that no generated model predicts."""
    ranked = _candidates(evidence, fields)
    likely = sum(rank < _UNNAMED for rank, _ in ranked)
    answers = [key for key in fields if meaning_of(key) == "answer"]
    if ranked and (not answers or likely):
        found = [
            f"{quoted(key)} as a Label" if fields[key].is_text else quoted(key)
            for _, key in ranked
        ]
        return f': is it {with_commas(found, max(likely, _MOST_CANDIDATES))}? Give it role="target"'
    answers = answers or [key for key in fields if speaks_of(key, "target")]
    if not answers:
        return (
            ", and no key looks like one: a model cannot learn from these records alone"
        )
    lacked = [fields[key].optional and fields[key].can_be_target for key in answers]
    why = "some records lack" if all(lacked) else "generated models do not predict"
    text = f": the targets may be {with_commas(map(quoted, answers))}, which {why}"
    inputs = {key for key, draft in fields.items() if draft.model_role == "input"}
    if inputs and inputs.isdisjoint(answers):
        text += "; make_dataset(info=True) delivers them to a model of your own"
    return text


def _candidates(evidence: Evidence, fields: Fields) -> list[tuple[Rank, str]]:
    """Return keys that a person may know to be the target, the likeliest first.

    With the ranks of its name and of how many values it has.
    """
    inputs = [key for key, draft in fields.items() if draft.model_role == "input"]
    ranked: list[tuple[Rank, str]] = []
    for key in inputs:
        draft, data = fields[key], evidence.of(key)
        if draft.optional or is_seldom_answer(key) or inputs == [key]:
            continue
        if not draft.is_text and (draft.codec.of_pixels or not draft.can_be_target):
            continue
        distinct = data.values.texts if draft.is_text else data.numbers.distinct
        classes = len(distinct or ())
        few = 1 < classes <= _MOST_CLASSES and 2 * classes <= len(data.present)
        if draft.is_text and not few:
            continue
        rank = target_rank(key), (0 if classes == 2 else 1) if few else 2
        if rank < _UNNAMED or few or draft.is_quantity:
            ranked.append((rank, key))
    return sorted(ranked, key=lambda each: each[0])
