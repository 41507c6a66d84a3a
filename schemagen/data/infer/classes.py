"""Integers and texts that stand for classes."""

from __future__ import annotations

from .draft import Draft, Scene, counted, listed, quoted
from .evidence import KeyEvidence
from .words import last_word, names_class, names_text_of, parent_of

_MOST_CLASSES = 100_000
_MOST_NAMES = 100
_MOST_TEXTS = 100
_ENOUGH_FOR_EACH = 3


def take_labels(scene: Scene) -> None:
    """Make labels of what is called so and holds few small integers, or few texts."""
    for seen in list(scene.open()):
        if not seen.is_single or not names_class(seen.key):
            continue
        if seen.kind == "int64":
            _take_ids(scene, seen)
        elif seen.kind == "bytes":
            _take_texts(scene, seen)


def _take_ids(scene: Scene, seen: KeyEvidence) -> None:
    low, high = int(seen.numbers.low or 0), int(seen.numbers.high or 0)
    if low < -1 or high >= _MOST_CLASSES or high < 0:
        return
    found = sorted(int(value) for value in seen.numbers.distinct or ())
    classes = [value for value in found if value >= 0]
    offset = int(low == 1 and high > 1)
    draft = Draft(seen.key, "Label", optional=low == -1)
    number = max(high + 1 - offset, 2 - offset)
    draft.facts = {"num_classes": number, "classes": (), "offset": offset}
    companion = _names_of(scene, seen, found)
    several = f"{low:,} to {high:,}" if low < high else f"only {high:,}"
    if seen.numbers.distinct is not None:
        several = f"{counted(len(found), 'value')}, {several},"
        if 1 < len(found) <= 4:
            several = listed(map(str, found))
    where = f"in {counted(len(seen.there), 'record')}"
    if low == -1:
        draft.notes.append("-1 where there is no class")
    if offset:
        dense = classes == list(range(1, high + 1))
        how = "counted from 1" if dense else "counted from 1, or did 0 not occur"
        draft.doubts.append(f"{several} {where}: {how}, and is {high:,} the highest?")
    else:
        draft.doubts.append(f"{several} {where}: is {high:,} the highest?")
    scene.add(draft)
    if companion is None:
        return
    key, names = companion
    beside = scene.evidence.keys[key]
    complete = sorted(names) == list(range(offset, high + 1)) and low >= offset
    if complete and 1 < len(names) <= _MOST_NAMES:
        draft.facts["classes"] = tuple(names[index] for index in sorted(names))
        draft.facts["num_classes"] = len(names)
        draft.notes.append(f"the names are those of {quoted(key)}")
    else:
        draft.notes.append(f"the names of classes are in {quoted(key)}")
    scene.add(text_draft(beside, role="info"))


def _names_of(
    scene: Scene, seen: KeyEvidence, found: list[int]
) -> tuple[str, dict[int, str]] | None:
    """Find a key that holds one text for each id, and another for another."""
    ids = seen.numbers.singles(scene.records)
    for other in scene.open():
        if other.kind != "bytes" or not other.is_single or not other.values.text:
            continue
        near = parent_of(other.key) == parent_of(seen.key)
        if not (names_text_of(other.key, seen.key) or _is_text_beside(other, near)):
            continue
        texts = other.values.single_texts()
        if texts is None or (seen.lengths[list(texts)] < 0).any():
            continue
        names: dict[int, str] = {}
        same = all(
            names.setdefault(int(ids[row]), text) == text for row, text in texts.items()
        )
        distinct = len(set(names.values())) == len(names)
        if same and distinct and all(names.values()) and set(names) <= set(found):
            return other.key, names
    return None


def _is_text_beside(other: KeyEvidence, near: bool) -> bool:
    return near and "/" in other.key and last_word(other.key) in ("text", "name")


def _take_texts(scene: Scene, seen: KeyEvidence) -> None:
    texts = seen.values.texts
    if not seen.values.text or not texts or len(texts) > _MOST_TEXTS:
        return
    draft = text_draft(seen)
    what = f"{counted(len(texts), 'text')} in {counted(seen.values.values, 'record')}"
    enough = seen.values.values >= _ENOUGH_FOR_EACH * len(texts) and len(texts) > 1
    if not enough or "" in texts:
        draft.doubts.append(f'{what}: classes? Label(classes=(...), stored="text")')
    else:
        names = tuple(sorted(texts))
        draft = Draft(seen.key, "Label")
        draft.facts = {
            "num_classes": len(names),
            "classes": names,
            "stored": "text",
        }
        draft.doubts.append(f"{what}: are these all, and in this order?")
    scene.add(draft)


def text_draft(seen: KeyEvidence, role: str = "") -> Draft:
    """Return the field of a key that holds one text."""
    return Draft(seen.key, "Text", role=role)
