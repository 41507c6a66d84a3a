"""Fields of classes: ids, texts and sets of ids under keys that are named so."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ...runtime.kinds.classes import FEW_MISSING
from ..formatting import plural
from .draft import Draft, Drafts, quoted, ranges, with_commas
from .evidence import Evidence, KeyEvidence
from .key_words import (
    last_word,
    meaning_of,
    names_class,
    names_event,
    names_object,
    names_text_of,
    parent_of,
)
from .lists import list_draft
from .relations import Pairs

_MOST_CLASSES, _MOST_SEVERAL = 100_000, 10_000
_MOST_NAMES = _MOST_TEXTS = 100
_ENOUGH_FOR_EACH = 3
_ENOUGH = 20
_MOST_LISTED = 4
LONGEST_NAME = 60
_MOST_SIGNED = 20

_NO_AND_YES = ((0, 1), (-1, 1), (1, 2))
_NO_OR_YES = [
    *({b"no", b"yes"}, {b"n", b"y"}, {b"false", b"true"}, {b"f", b"t"}),
    *({b"negative", b"positive"}, {b"neg", b"pos"}),
    *({b"0", b"1"}, {b"-1", b"1"}, {b"1", b"2"}),
]


def label(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a label of a key that is named so and holds few integers or few texts."""
    if names_object(data.key):
        return None
    if not names_class(data.key):
        return _outcome(drafts.evidence, data)
    if not data.is_single:
        return _several(drafts, data)
    if data.kind == "int64":
        return _ids(drafts.evidence, data)
    return _texts(drafts.evidence, data) if data.kind == "bytes" else None


def label_text(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a label of the names of classes, where nothing else is a label."""
    named = names_text_of(data.key, data.key) and not names_object(data.key)
    if not named or not data.is_single or data.kind != "bytes":
        return None
    other = any(draft.is_label for draft in drafts.fields.values())
    return None if other else _texts(drafts.evidence, data)


def object_classes(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft the classes of objects in a picture: ids with names, or names alone."""
    if not names_object(data.key):
        return None
    if data.kind == "int64" and names_class(data.key):
        return _object_ids(drafts.evidence, data)
    alone = not any(
        _ids_and_names(other, data) for other in drafts.evidence.keys.values()
    )
    return _object_names(data) if data.kind == "bytes" and alone else None


def _ids_and_names(ids: KeyEvidence, names: KeyEvidence) -> bool:
    """Return whether the keys say that one has ids of objects, and one their names."""
    if ids.kind != "int64" or not names_class(ids.key) or names.kind != "bytes":
        return False
    return _is_text_beside(names, ids) or names_text_of(names.key, ids.key)


def _object_ids(evidence: Evidence, data: KeyEvidence) -> Draft | None:
    """Return the list of ids whose names another key has, one for each id."""
    for other in evidence.keys.values():
        ids, texts = data.items, other.items
        if not _ids_and_names(data, other):
            continue
        if not (ids.known and texts.known and other.values.texts):
            continue
        if (data.lengths != other.lengths).any():
            continue
        pairs = ids.pairs(texts)
        names = dict(sorted(pairs))
        if (
            not len({*names.values()}) == len(names) == len(pairs)
            or b"" in names.values()
        ):
            return None
        draft = list_draft(data)
        low, high = min(names), max(names)
        offset = int(low >= 1)
        if list(names) != list(range(offset, high + 1)):
            return draft.with_notes(f"the names of classes are in {quoted(other.key)}")
        classes = tuple(map(bytes.decode, names.values()))
        draft = draft.with_facts(classes=classes, offset=offset)
        return draft.with_notes(
            f"the names are those of {quoted(other.key)}"
        ).with_doubts(f"{low:,} to {high:,}: is {high:,} the highest id?")
    return None


def _object_names(data: KeyEvidence) -> Draft | None:
    """Return the list of a few names that come again."""
    texts, total = data.values.texts, data.values.all.count
    named = names_class(data.key) or last_word(data.key) in ("text", "name")
    if not (named and texts) or b"" in texts:
        return None
    if not 1 < len(texts) <= min(_MOST_TEXTS, total / _ENOUGH_FOR_EACH):
        return None
    names = tuple(map(bytes.decode, _in_order(texts)))
    facts = {"dtype": "int64", "classes": names, "stored": "text"}
    return Draft(data.key, "VarLen", facts).with_doubts(
        f"{plural(len(texts), 'text')} in {plural(total, 'value')}: are these all, and in "
        "this order?"
    )


def _outcome(evidence: Evidence, data: KeyEvidence) -> Draft | None:
    """Return the label of an answer of yes and no, or of an event without such a key."""
    if not (data.is_single and _is_answered(data)):
        return None
    draft = _texts(evidence, data) if data.kind == "bytes" else _ids(evidence, data)
    if draft is None or meaning_of(data.key) == "answer":
        return draft
    if not names_event(data.key) or any(map(_is_answer, evidence.keys)):
        return None
    texts = map(bytes.decode, _in_order(data.values.texts or ()))
    no, yes = _distinct(data) or texts
    return replace(draft, doubts=(f"{no} and {yes}: the target, by its name?",))


def _is_answered(data: KeyEvidence) -> bool:
    """Return whether the values stand for yes and no, or for minus, neither and plus."""
    if data.kind == "int64":
        found = tuple(_distinct(data))
        signs = found == (-1, 0, 1) and meaning_of(data.key) == "answer"
        return signs or found in _NO_AND_YES
    texts = data.values.texts or {}
    return {text.lower() for text in texts} in _NO_OR_YES


def _distinct(data: KeyEvidence) -> list[int]:
    """Return the integers that occur, in order; none if there are too many."""
    if data.kind != "int64":
        return []
    return sorted(int(value) for value in data.numbers.distinct or ())


def _is_answer(key: str) -> bool:
    return names_class(key) or meaning_of(key) == "answer"


def _several(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Return the classes of lists of different ids that no other list is as long as."""
    low, high = data.numbers.minimum, int(data.numbers.maximum or 0)
    ids = data.kind == "int64" and low is not None and low >= 0 and high < _MOST_SEVERAL
    few = len(data.present) < _ENOUGH or data.longest < 2 or not high
    if not ids or few or data.is_fixed or data.lists.repeats:
        return None
    for other in drafts.evidence.keys.values():
        varies = other is not data and drafts.is_open(other.key) and not other.is_single
        if varies and (data.lengths == other.lengths).all():
            return None
    draft = Draft(data.key, "MultiLabel", {"num_classes": high + 1, "classes": ()})
    return draft.with_doubts(
        f"each once in a record, up to {high:,}: classes, and is {high:,} the highest id? "
        "Or an ordered list"
    )


def _ids(evidence: Evidence, data: KeyEvidence) -> Draft | None:
    """Return the label of ids from 0 or 1 on, or from -1 for no class."""
    numbers, found = data.numbers, _distinct(data)
    low, high = int(numbers.minimum or 0), int(numbers.maximum or 0)
    # Rows count from 0, and have no -1: only files are stored in other ways.
    stored = not evidence.is_table
    values = _values(data, found) if stored else ()
    if not values and (low < -int(stored) or not 0 <= high < _MOST_CLASSES):
        return None
    offset = int(low == 1 and high > 1 and stored)
    count = len(values) or max(high + 1, 2) - offset
    facts = {"num_classes": count, "classes": (), "offset": offset}
    missing = low == -1 and not values
    shown = with_commas(ranges(found), _MOST_LISTED) or f"{low:,} to {high:,}"
    question = f"is {high:,} the highest id?"
    if values:
        facts = {"num_classes": count, "classes": (), "values": values}
        question = f"are these {plural(count, 'class', 'classes')}?"
        if count > 2:
            question = f"is -1 a class, or no class (None), and {question}"
    elif len(found) == 1:
        question = "there are two classes at least: which is the other?"
    elif missing:
        question = f"-1 in few of them: no class (None), or one? And {question}"
    elif offset:
        absent = ", or did 0 not occur" if len(found) < high else ""
        question = f"counted from 1{absent}, and {question}"
    elif low > 0 and evidence.is_table:
        question = f"ids count from 0, which does not occur, and {question}"
    draft = Draft(data.key, "Label", facts, optional=missing).with_doubts(
        f"{shown} in {plural(len(data.present), 'record')}: {question}"
    )
    draft = draft.with_notes("-1 for no class") if missing else draft
    others = evidence.keys.values()
    for other in sorted(others, key=lambda each: not _names_ids(each, data)):
        names = _names(data, other, found)
        if names is None:
            continue
        every = list(values or range(offset, high + 1))
        complete = sorted(names) == every and not missing
        if not complete or not 1 < len(names) <= _MOST_NAMES:
            return draft.with_notes(f"the names of classes are in {quoted(other.key)}")
        classes = tuple(names[index] for index in sorted(names))
        draft = draft.with_facts(classes=classes, num_classes=len(classes))
        said = f"the names are those of {quoted(other.key)}"
        if _names_ids(other, data):
            return draft.with_notes(said)
        return draft.with_doubts(f"{said}, which go one to one: are they its own?")
    return draft


def _names_ids(names: KeyEvidence, data: KeyEvidence) -> bool:
    """Return whether a key says that it holds the names of the classes of another."""
    near = "/" in names.key and _is_text_beside(names, data)
    return near or names_text_of(names.key, data.key)


def _is_text_beside(names: KeyEvidence, data: KeyEvidence) -> bool:
    beside = parent_of(names.key) == parent_of(data.key)
    return beside and last_word(names.key) in ("text", "name")


def _values(data: KeyEvidence, found: list[int]) -> tuple[int, ...]:
    """Return integers that are classes as they are; none for ids from 0 or 1."""
    if not found or found[0] >= 0 or max(-found[0], found[-1]) > _MOST_CLASSES:
        return ()
    negative = (data.numbers.distinct or {})[found[0]]
    # In a few records -1 is no class.
    some = found[0] == -1 and negative > len(data.present) * FEW_MISSING
    if len(found) == 2:
        return tuple(found)
    return tuple(range(-1, found[-1] + 1)) if some and found[-1] < _MOST_SIGNED else ()


def _names(
    data: KeyEvidence, other: KeyEvidence, found: list[int]
) -> dict[int, str] | None:
    """Return the text that another key has for each id, if two ids have different ones."""
    if other.kind != "bytes" or not other.is_single or other.values.texts is None:
        return None
    texts = other.values.single_texts
    named = _names_ids(other, data)
    if not (named or _are_names(texts.values(), Pairs.of(data.codes, other.codes))):
        return None
    if (data.lengths[list(texts)] < 0).any():
        return None
    ids = data.lists.first_values(data.records)
    names: dict[int, str] = {}
    same = all(
        names.setdefault(int(ids[row]), text) == text for row, text in texts.items()
    )
    distinct = len(set(names.values())) == len(names)
    fits = same and distinct and all(names.values()) and set(names) <= set(found)
    return names if fits else None


def _are_names(texts: Collection[str], pairs: Pairs) -> bool:
    """Return whether texts under any key are the names of ids."""
    short = all(len(text) <= LONGEST_NAME and not text.isdecimal() for text in texts)
    return short and pairs.is_copy


def _texts(evidence: Evidence, data: KeyEvidence) -> Draft | None:
    """Return the label of a few texts, or the text that may be one."""
    texts, total = data.values.texts, data.values.all.count
    if not texts or len(texts) > min(_MOST_TEXTS, total / 2):
        return None
    what = f"{plural(len(texts), 'text')} in {plural(total, 'record')}"
    stored = {} if evidence.is_table else {"stored": "text"}
    if b"" in texts or not 1 < len(texts) <= total / _ENOUGH_FOR_EACH:
        also = "".join(f', {name}="{value}"' for name, value in stored.items())
        return Draft(data.key, "Text").with_doubts(
            f"{what}: classes? Label(classes=(...){also})"
        )
    names = tuple(map(bytes.decode, _in_order(texts)))
    facts = {"num_classes": len(names), "classes": names, **stored}
    return Draft(data.key, "Label", facts).with_doubts(
        f"{what}: are these all, and in this order?"
    )


def _in_order(texts: Iterable[bytes]) -> list[bytes]:
    """Sort names of classes: numbers by their values, and no before yes."""
    found = sorted(texts)
    try:
        return sorted(found, key=int)
    except ValueError:
        return sorted(found, key=bytes.lower) if len(found) == 2 else found
