"""Fields of classes: ids, texts and sets of ids under keys that are named so."""

from __future__ import annotations

from collections.abc import Collection

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
from .relations import Pairs

_MOST_CLASSES, _MOST_SEVERAL = 100_000, 10_000
_MOST_NAMES = _MOST_TEXTS = 100
_ENOUGH_FOR_EACH = 3
_ENOUGH = 20
_MOST_LISTED = 4
_LONGEST_NAME = 60


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


def _outcome(evidence: Evidence, data: KeyEvidence) -> Draft | None:
    """Return the label of an answer of 0 and 1, or of an event without such a key."""
    if not (data.kind == "int64" and data.is_single and data.is_binary):
        return None
    if meaning_of(data.key) == "answer":
        return _ids(evidence, data)
    if not names_event(data.key) or any(map(_is_answer, evidence.keys)):
        return None
    draft = Draft(data.key, "Label", {"num_classes": 2, "classes": ()})
    return draft.with_doubts("0 and 1: the target, by its name?")


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
    numbers = data.numbers
    low, high = int(numbers.minimum or 0), int(numbers.maximum or 0)
    # Rows count from 0, and have no -1: only files are stored in other ways.
    least = 0 if evidence.is_table else -1
    if low < least or not 0 <= high < _MOST_CLASSES:
        return None
    found = sorted(int(value) for value in numbers.distinct or ())
    offset = int(low == 1 and high > 1 and not evidence.is_table)
    facts = {"num_classes": max(high + 1, 2) - offset, "classes": (), "offset": offset}
    shown = with_commas(ranges(found), _MOST_LISTED) or f"{low:,} to {high:,}"
    question = f"is {high:,} the highest id?"
    if len(found) == 1:
        question = "there are two classes at least: which is the other?"
    elif offset:
        absent = ", or did 0 not occur" if len(found) < high else ""
        question = f"counted from 1{absent}, and {question}"
    elif low > 0 and evidence.is_table:
        question = f"ids count from 0, which does not occur, and {question}"
    draft = Draft(data.key, "Label", facts, optional=low == -1).with_doubts(
        f"{shown} in {plural(len(data.present), 'record')}: {question}"
    )
    draft = draft.with_notes("-1 for no class") if low == -1 else draft
    for other in evidence.keys.values():
        names = _names(data, other, found)
        if names is None:
            continue
        complete = sorted(names) == list(range(offset, high + 1)) and low >= offset
        if not complete or not 1 < len(names) <= _MOST_NAMES:
            return draft.with_notes(f"the names of classes are in {quoted(other.key)}")
        classes = tuple(names[index] for index in sorted(names))
        return draft.with_facts(classes=classes, num_classes=len(classes)).with_notes(
            f"the names are those of {quoted(other.key)}"
        )
    return draft


def _names(
    data: KeyEvidence, other: KeyEvidence, found: list[int]
) -> dict[int, str] | None:
    """Return the text that another key has for each id, if two ids have different ones."""
    if other.kind != "bytes" or not other.is_single or other.values.texts is None:
        return None
    is_text = "/" in other.key and last_word(other.key) in ("text", "name")
    near = is_text and parent_of(other.key) == parent_of(data.key)
    texts = other.values.single_texts
    named = near or names_text_of(other.key, data.key)
    if not (named or _are_names(texts.values(), Pairs.of(data.codes, other.codes))):
        return None
    if (data.lengths[list(texts)] < 0).any():
        return None
    ids = data.lists.firsts(data.records)
    names: dict[int, str] = {}
    same = all(
        names.setdefault(int(ids[row]), text) == text for row, text in texts.items()
    )
    distinct = len(set(names.values())) == len(names)
    fits = same and distinct and all(names.values()) and set(names) <= set(found)
    return names if fits else None


def _are_names(texts: Collection[str], pairs: Pairs) -> bool:
    """Return whether texts under any key are the names of ids."""
    short = all(len(text) <= _LONGEST_NAME and not text.isdecimal() for text in texts)
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
    names = tuple(sorted(map(bytes.decode, texts)))
    facts = {"num_classes": len(names), "classes": names, **stored}
    return Draft(data.key, "Label", facts).with_doubts(
        f"{what}: are these all, and in this order?"
    )
