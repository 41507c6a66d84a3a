"""Roles: what a model learns from, what it learns to say, and what it never sees."""

from __future__ import annotations

from collections.abc import Mapping

from .draft import Draft, Scene, listed, quoted
from .evidence import Evidence, KeyEvidence
from .words import (
    AXES,
    Meaning,
    is_seldom_answer,
    meaning_of,
    names_class,
    names_object,
    parent_of,
    says,
    says_shape,
    speaks_of,
    words_of,
)

_MOST_CANDIDATES = 5
_MOST_CLASSES = 20


def give_roles(scene: Scene, drafts: Mapping[str, Draft]) -> None:
    """Give fields the roles that their names and what is next to them tell."""
    roles = _Roles(scene, drafts)
    for draft in drafts.values():
        if not draft.role:
            roles.give(draft)
    roles.settle_named()
    _settle(drafts)
    _settle_masks(drafts)


class _Roles:
    """The rules for the role of a field, and what they know of all fields."""

    def __init__(self, scene: Scene, drafts: Mapping[str, Draft]) -> None:
        self._drafts = drafts
        self._counts = scene.counts
        self._evidence = scene.evidence
        self._boxes = {
            draft.facts["group"]
            for key, draft in drafts.items()
            if says(key, "corner") and "group" in draft.facts
        }
        self._labels = {
            parent_of(key)
            for key, draft in drafts.items()
            if draft.is_label or (draft.is_array and names_class(key))
        }
        self._pictures = any(
            rank_of(draft) == 0 or self._evidence.of(key).values.images
            for key, draft in drafts.items()
        )
        self._weighted = False
        self._answers = {key for key in drafts if meaning_of(key) == "answer"}

    def give(self, draft: Draft) -> None:
        """Give a field the role of the first rule that knows it."""
        meaning = self._meaning(draft)
        group = draft.facts.get("group")
        in_boxes = group in self._boxes or names_object(draft.key)
        if self._describes_another(draft):
            draft.role = "info"
        elif meaning == "weight":
            self._weigh(draft)
        elif meaning == "info":
            learned = draft.codec.of_pixels or draft.codec.of_classes
            draft.role = "" if learned else "info"
        elif meaning == "answer" or in_boxes:
            self._answer(draft, single=not in_boxes or draft.is_quantity)

    def _meaning(self, draft: Draft) -> Meaning:
        if draft.key.lower() == "y" and (
            self._answers - {draft.key} or "z" in map(str.lower, self._drafts)
        ):
            return ""  # a coordinate
        found = meaning_of(draft.key, several=not draft.is_plain)
        numbers = self._evidence.of(draft.key).numbers
        alone = not (draft.step or draft.is_plain or draft.further_keys)
        has_fractions = numbers.floats and numbers.whole < numbers.finite
        return "" if found == "info" and alone and has_fractions else found

    def _describes_another(self, draft: Draft) -> bool:
        """Return whether a field counts, names or measures what another one holds."""
        key, above = draft.key, parent_of(draft.key)
        if draft.is_array:
            return says_shape(key)
        if draft.is_text:
            names = above in self._labels - {""}
            return names or (says(key, "format") and self._is_of_picture(key))
        size = draft.is_number and any(says(key, axis) for axis in AXES)
        return key in self._counts or (size and self._is_of_picture(key))

    def _is_of_picture(self, key: str) -> bool:
        return self._pictures or speaks_of(key, "image")

    def _weigh(self, draft: Draft) -> None:
        plain = draft.is_number and draft.facts["dtype"] == "float32"
        sure = plain and not draft.optional and draft.facts.get("finite", True)
        draft.role = "weight" if sure and not self._weighted else "info"
        if draft.role == "weight":
            self._weighted = True
            draft.doubts.append("the weight of a record, by its name?")

    def _answer(self, draft: Draft, *, single: bool) -> None:
        """Make a target of what a model learns to say, if the generated one has a head."""
        codec = draft.codec
        picture = codec.of_pixels and not draft.can_be_target
        if picture or draft.model_role == "target":
            return
        able = single and draft.can_be_target
        # The loss leaves out classes that are missing.
        lacks = draft.optional and not codec.of_classes
        if able and not lacks and draft.model_role != "info":
            draft.role = "target"
            data = self._evidence.of(draft.key)
            if draft.is_array and draft.facts["dtype"] == "int64" and data.is_binary:
                draft.facts["dtype"] = "bool"
                draft.notes.append("only 0 and 1: a probability for each is learned")
            else:
                _ask_for_classes(draft, data)
            return
        draft.role = "info"
        if lacks and able:
            draft.notes.append(
                "not a target: records lack it, and a target is required"
            )

    def settle_named(self) -> None:
        """Make a target of the only field that is named like one, if nothing is."""
        if any(draft.model_role == "target" for draft in self._drafts.values()):
            return
        ranked = _candidates(self._evidence, self._drafts)
        named = [self._drafts[key] for rank, key in ranked if rank == 0]
        alone = len(named) == 1 and len(words_of(named[0].key)) == 1
        if alone and not named[0].is_text:
            self._answer(named[0], single=True)
            named[0].doubts.append("the target, by its name?")


def _ask_for_classes(draft: Draft, data: KeyEvidence) -> None:
    """Ask whether a target of numbers is one of classes, which only a Label is."""
    if not draft.is_quantity:
        return
    numbers, number = data.numbers, len(data.numbers.distinct or ())
    whole = data.kind == "float" and numbers.whole == numbers.finite
    few = whole and 1 < number <= _MOST_CLASSES
    if not few and draft.facts["dtype"] != "int64":
        return
    stored = ", which a Label stores as int64" if few else ""
    draft.doubts.append(
        f"whole numbers that a model learns as quantities: or ids of classes{stored}?"
    )


def _settle(drafts: Mapping[str, Draft]) -> None:
    """Let a label be the target, and not what is next to it and tells where it is."""
    targets = [key for key, draft in drafts.items() if draft.model_role == "target"]
    if any(map(names_class, targets)):
        for key in targets:
            if drafts[key].role and names_object(key) and not names_class(key):
                drafts[key].role = "info"


def _settle_masks(drafts: Mapping[str, Draft]) -> None:
    """Keep masks from being targets that no picture of their size can be asked for."""
    fields = [draft.declared for draft in drafts.values()]
    inputs = [field.kind for field in fields if field.role == "input"]
    for draft, field in zip(drafts.values(), fields, strict=True):
        if not draft.codec.of_pixels or field.role != "target":
            continue
        lacks = draft.optional and not field.kind.marks_missing
        if lacks or field.kind.missing_beside(inputs):
            draft.role = "info"
            reason = "records lack it" if lacks else "no picture has its size"
            draft.notes.append(f"not a target: {reason}")


def rank_of(draft: Draft) -> int:
    """Order fields as people do: pictures, other inputs, targets, the rest."""
    if (draft.step or draft).codec.of_pixels:
        return 0
    return {"input": 1, "target": 2}.get(draft.model_role, 3)


def lacking_roles(evidence: Evidence, drafts: Mapping[str, Draft]) -> list[str]:
    """Say that a record has no target or no input, and which fields could be one."""
    roles = {draft.model_role for draft in drafts.values()}
    doubts = []
    if "target" not in roles:
        doubts.append(f"no field is a target{_possible_targets(evidence, drafts)}")
    if "input" not in roles:
        usable = [each for each in drafts.values() if not each.declared.kind.opaque]
        most = {
            each.key: max(
                evidence.of(each.key).longest, evidence.of(each.key).values.most
            )
            for each in usable
        }
        # Numbers before text, and those with the most values before others.
        usable.sort(key=lambda draft: (draft.is_text, -most[draft.key]))
        found = [quoted(draft.key) for draft in usable]
        doubts.append(
            f'no field is an input: is it {listed(found)}? Give it role="input"'
            if found
            else "no field is an input, and no field has values that a model can use"
        )
    return doubts


def _possible_targets(evidence: Evidence, drafts: Mapping[str, Draft]) -> str:
    """Name what could be the target, or the answers that no generated model predicts."""
    ranked = _candidates(evidence, drafts)
    likely = sum(rank == 0 for rank, _ in ranked)
    answers = [key for key in drafts if meaning_of(key) == "answer"]
    if ranked and (not answers or likely):
        found = [
            f"{quoted(key)} as a Label" if drafts[key].is_text else quoted(key)
            for _, key in ranked
        ]
        return f': is it {listed(found, max(likely, _MOST_CANDIDATES))}? Give it role="target"'
    answers = answers or [key for key in drafts if speaks_of(key, "target")]
    if not answers:
        return (
            ", and no key looks like one: a model cannot learn from these records alone"
        )
    text = f": the targets may be {listed(map(quoted, answers))}, for which "
    text += "generated models have no head"
    inputs = {key for key, draft in drafts.items() if draft.model_role == "input"}
    if inputs and inputs.isdisjoint(answers):
        text += "; make_dataset(info=True) delivers them to a model of your own"
    return text


def _candidates(
    evidence: Evidence, drafts: Mapping[str, Draft]
) -> list[tuple[int, str]]:
    """Return keys that a person may know to be the target, with a rank from 0."""
    inputs = [key for key, draft in drafts.items() if draft.model_role == "input"]
    ranked: list[tuple[int, str]] = []
    for key in inputs:
        draft, data = drafts[key], evidence.of(key)
        if draft.optional or is_seldom_answer(key) or inputs == [key]:
            continue
        if not draft.is_text and (draft.codec.of_pixels or not draft.can_be_target):
            continue
        distinct = data.values.texts if draft.is_text else data.numbers.distinct
        classes = len(distinct or ())
        few = 1 < classes <= _MOST_CLASSES and 2 * classes <= len(data.present)
        if draft.is_text and not few:
            continue
        if speaks_of(key, "target"):
            ranked.append((0, key))
        elif few:
            ranked.append((1 if classes == 2 else 2, key))
        elif draft.is_quantity:
            ranked.append((3, key))
    return sorted(ranked, key=lambda each: each[0])
