"""Fields of single keys: labels, then numbers, text, bytes and lists that are left."""

from __future__ import annotations

from typing import Any

from ..formatting import plural
from .draft import Draft, Scene, listed, quoted
from .dtypes import guess_dtype
from .evidence import KeyEvidence
from .lists import is_bool, list_draft
from .pictures import say_what_is_broken
from .values import Contents
from .words import (
    last_word,
    names_class,
    names_object,
    names_text_of,
    parent_of,
)

_MOST_CLASSES, _MOST_SEVERAL = 100_000, 10_000
_MOST_NAMES = _MOST_TEXTS = 100
_ENOUGH_FOR_EACH = 3
_ENOUGH = 20
_MOST_LISTED = 4


def take_labels(scene: Scene) -> None:
    """Make labels of keys that are named so and hold few small integers, or few texts."""
    for data in list(scene.open()):
        if not names_class(data.key) or names_object(data.key):
            continue
        if not data.is_single:
            _take_several(scene, data)
        elif data.kind == "int64":
            _take_ids(scene, data)
        elif data.kind == "bytes":
            _take_texts(scene, data)
    if not any(draft.is_label for draft in scene.drafts.values()):
        for data in list(scene.open()):
            named = names_text_of(data.key, data.key) and not names_object(data.key)
            if named and data.is_single and data.kind == "bytes":
                _take_texts(scene, data)


def _take_several(scene: Scene, data: KeyEvidence) -> None:
    """Make classes of lists of different ids that no other list is as long as."""
    low, high = data.numbers.minimum, int(data.numbers.maximum or 0)
    ids = data.kind == "int64" and low is not None and low >= 0 and high < _MOST_SEVERAL
    others = (
        (data.lengths == other.lengths).all()
        for other in scene.open()
        if other is not data and not other.is_single
    )
    few = len(data.present) < _ENOUGH or data.longest < 2 or not high
    if not ids or few or data.is_fixed or data.lists.repeats or any(others):
        return
    draft = Draft(data.key, "MultiLabel", {"num_classes": high + 1, "classes": ()})
    draft.doubts.append(
        f"each once in a record, up to {high:,}: classes, and is {high:,} the highest id? "
        "Or a list in an order of its own"
    )
    scene.add(draft)


def _take_ids(scene: Scene, data: KeyEvidence) -> None:
    low, high = (
        int(each or 0) for each in (data.numbers.minimum, data.numbers.maximum)
    )
    if low < -1 or not 0 <= high < _MOST_CLASSES:
        return
    found = sorted(int(value) for value in data.numbers.distinct or ())
    offset = int(low == 1 and high > 1)
    number = max(high + 1 - offset, 2 - offset)
    facts = {"num_classes": number, "classes": (), "offset": offset}
    draft = Draft(data.key, "Label", facts, optional=low == -1)
    companion = _names_of(scene, data, found)
    shown = listed(map(str, found), _MOST_LISTED) or f"{low:,} to {high:,}"
    question = f"is {high:,} the highest id?"
    if len(found) == 1:
        question = "there are two classes at least: which is the other?"
    if offset:
        start = "counted from 1" + ", or did 0 not occur" * (len(found) < high)
        question = f"{start}, and {question}"
    draft.doubts.append(f"{shown} in {plural(len(data.present), 'record')}: {question}")
    if low == -1:
        draft.notes.append("-1 for no class")
    scene.add(draft)
    if companion is None:
        return
    key, names = companion
    complete = sorted(names) == list(range(offset, high + 1)) and low >= offset
    if complete and 1 < len(names) <= _MOST_NAMES:
        facts["classes"] = tuple(names[index] for index in sorted(names))
        facts["num_classes"] = len(names)
        draft.notes.append(f"the names are those of {quoted(key)}")
    else:
        draft.notes.append(f"the names of classes are in {quoted(key)}")
    scene.add(Draft(key, "Text", role="info"))


def _names_of(
    scene: Scene, data: KeyEvidence, found: list[int]
) -> tuple[str, dict[int, str]] | None:
    """Find a key that holds one text for each id, and different ones for two."""
    ids = data.lists.firsts(scene.records)
    for other in scene.open():
        if other.kind != "bytes" or not other.is_single or other.values.texts is None:
            continue
        is_text = "/" in other.key and last_word(other.key) in ("text", "name")
        near = is_text and parent_of(other.key) == parent_of(data.key)
        if not (near or names_text_of(other.key, data.key)):
            continue
        texts = other.values.single_texts
        if (data.lengths[list(texts)] < 0).any():
            continue
        names: dict[int, str] = {}
        same = all(
            names.setdefault(int(ids[row]), text) == text for row, text in texts.items()
        )
        distinct = len(set(names.values())) == len(names)
        if same and distinct and all(names.values()) and set(names) <= set(found):
            return other.key, names
    return None


def _take_texts(scene: Scene, data: KeyEvidence) -> None:
    texts, total = data.values.texts, data.values.all.count
    if not texts or len(texts) > min(_MOST_TEXTS, total / 2):
        return
    draft = Draft(data.key, "Text")
    what = f"{plural(len(texts), 'text')} in {plural(total, 'record')}"
    if b"" in texts or not 1 < len(texts) <= total / _ENOUGH_FOR_EACH:
        draft.doubts.append(f'{what}: classes? Label(classes=(...), stored="text")')
    else:
        names = tuple(sorted(map(bytes.decode, texts)))
        facts = {"num_classes": len(names), "classes": names, "stored": "text"}
        draft = Draft(data.key, "Label", facts)
        draft.doubts.append(f"{what}: are these all, and in this order?")
    scene.add(draft)


def take_rest(scene: Scene) -> None:
    """Make a field of every key that has one kind and is in no field yet."""
    for data in list(scene.open()):
        scene.add(plain_draft(data))


def plain_draft(data: KeyEvidence) -> Draft:
    """Return the field that states no more than what was seen of one key."""
    if data.kind == "bytes":
        return _bytes_draft(data)
    if not data.is_single and not data.is_fixed:
        return list_draft(data)
    facts: dict[str, Any] = {"dtype": "int64"}
    if data.is_fixed:
        facts = {"shape": (data.longest,), "dtype": "int64"}
    draft = Draft(data.key, "Vector" if data.is_fixed else "Scalar", facts)
    if data.kind == "float":
        facts["dtype"] = "float32"
        if not data.is_finite:
            facts["finite"] = False
    elif is_bool(data):
        facts["dtype"] = "bool"
        draft.doubts.append("only 0 and 1 were seen")
    elif data.is_single and data.is_binary and len(data.present) >= _ENOUGH:
        draft.doubts.append("only 0 and 1 were seen: a bool, or a class?")
    return draft


def _bytes_draft(data: KeyEvidence) -> Draft:
    values = data.values
    if data.is_single and values.text:
        draft = Draft(data.key, "Text")
        if not values.most:
            draft.doubts.append("empty wherever it is: text, or other bytes?")
        return draft
    draft = Draft(data.key, "Scalar", {"dtype": "bytes"})
    if not data.is_single:
        draft = list_draft(data)
    if values.images:
        say_what_is_broken(draft, values)
    elif data.is_single:
        _say_bytes(draft, values)
    return draft


def _say_bytes(draft: Draft, values: Contents) -> None:
    """Say what opaque bytes could be, by their number and their values."""
    if values.tensors and values.tensors.total() == values.all.count:
        dtypes = " and ".join(sorted({head.dtype for head in values.tensors}))
        ranks = " and ".join(sorted({str(len(head.shape)) for head in values.tensors}))
        draft.doubts.append(
            f"serialized tensors of {dtypes} with {ranks} dimensions, so no Tensor "
            "can be declared"
        )
        return
    sizes = f"{values.least:,} to {values.most:,} bytes, no text"
    guess = guess_dtype(values.samples)
    if values.least == values.most:
        draft.doubts.append(
            f"always {values.most:,} bytes, no text: what do they hold?"
        )
    elif guess.clear:
        draft.doubts.append(f"{sizes}: {guess.dtype} numbers, of any shape?")
    else:
        draft.notes.append(sizes)
