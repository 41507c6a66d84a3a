"""What is left when all rules have been asked: numbers, text, bytes, lists of them."""

from __future__ import annotations

from math import isqrt
from typing import Any

from .byte_values import BytesLook
from .draft import Draft, Scene, counted
from .evidence import KeyEvidence
from .lists import follows_another, is_bool, list_draft
from .pictures import say_what_is_broken
from .tensors import looks_like_floats
from .words import is_info, is_weight

_ENOUGH = 20
_SMALLEST_IMAGE = 8
_FLOATS = (("float32", 4), ("float64", 8), ("float16", 2))


def take_rest(scene: Scene) -> None:
    """Make a field of every key that has one kind and is in no field yet."""
    for seen in list(scene.open()):
        draft = list_draft if follows_another(scene, seen) else plain_draft
        made = scene.add(draft(seen))
        made.doubts += scene.possible.get(seen.key, ())


def plain_draft(seen: KeyEvidence) -> Draft:
    """Return the field that says no more than what was seen of one key."""
    if seen.kind == "bytes":
        return _bytes_draft(seen)
    if seen.is_single:
        return _number(seen)
    if seen.is_fixed:
        return _vector(seen)
    return list_draft(seen)


def _number(seen: KeyEvidence) -> Draft:
    draft = Draft(seen.key, "Scalar", {"dtype": "int64"})
    if seen.kind == "float":
        draft.facts = {"dtype": "float32", **_finite(seen)}
        if is_weight(seen.key) and not seen.missing and "finite" not in draft.facts:
            draft.role = "weight"
            draft.doubts.append("the weight of a record, by its name?")
    elif is_bool(seen):
        draft.facts["dtype"] = "bool"
        draft.doubts.append(f"only 0 and 1 in {counted(len(seen.there), seen.unit)}")
    elif is_info(seen.key):
        draft.role = "info"
    elif _is_zero_or_one(seen):
        draft.doubts.append(
            f"only 0 and 1 in {counted(len(seen.there), seen.unit)}: a bool, or a class?"
        )
    if seen.kind == "float":
        _say_whole(draft, seen)
    return draft


def _is_zero_or_one(seen: KeyEvidence) -> bool:
    enough = len(seen.there) >= _ENOUGH
    return enough and (seen.numbers.low, seen.numbers.high) == (0, 1)


def _vector(seen: KeyEvidence) -> Draft:
    draft = Draft(seen.key, "Vector", {"shape": (seen.longest,), "dtype": "int64"})
    if seen.kind == "float":
        draft.facts |= {"dtype": "float32", **_finite(seen)}
        _say_whole(draft, seen)
    elif is_bool(seen):
        draft.facts["dtype"] = "bool"
        draft.doubts.append("only 0 and 1 were seen")
    return draft


def _finite(seen: KeyEvidence) -> dict[str, Any]:
    return {"finite": False} if seen.numbers.unusual else {}


def _say_whole(draft: Draft, seen: KeyEvidence) -> None:
    several = seen.numbers.distinct is None or len(seen.numbers.distinct) > 2
    if seen.numbers.whole and several and len(seen.there) >= _ENOUGH:
        draft.notes.append("floats that are whole numbers, all of them")


def _bytes_draft(seen: KeyEvidence) -> Draft:
    look = seen.values
    if not seen.is_single:
        draft = list_draft(seen)
        if seen.is_fixed:
            draft.notes.append(f"always {seen.longest:,} values")
        if look.formats or look.damaged:
            say_what_is_broken(draft, look)
        return draft
    if look.text:
        draft = Draft(seen.key, "Text", role="info" if is_info(seen.key) else "")
        if not look.most:
            draft.doubts.append("empty wherever it is: text, or other bytes?")
        return draft
    draft = Draft(seen.key, "Scalar", {"dtype": "bytes"})
    if look.formats or look.damaged:
        say_what_is_broken(draft, look)
    else:
        _say_bytes(draft, look)
    return draft


def _say_bytes(draft: Draft, look: BytesLook) -> None:
    """Say what opaque bytes could be, by their number and by what they look like."""
    if look.tensors and look.tensors.total() == look.values:
        draft.doubts.append(_mixed_tensors(look))
        return
    size = look.most if look.least == look.most else 0
    if not size:
        floats = [dtype for dtype, item in _FLOATS if _are(look, dtype, item)]
        seen = f"{look.least or 0:,} to {look.most:,} bytes, no text"
        if floats and look.most >= 32:
            draft.doubts.append(f"{seen}: {floats[0]} numbers?")
        else:
            draft.notes.append(seen)
        return
    guesses = [
        f"{size // item:,} {dtype} numbers"
        for dtype, item in _FLOATS
        if _are(look, dtype, item)
    ]
    guesses += [
        f"{side}x{side}x{channels} uint8 pixels"
        for channels in (3, 1)
        if (side := _side(size, channels)) >= _SMALLEST_IMAGE
    ]
    guesses.append(f"{size:,} uint8 numbers")
    draft.doubts.append(f"always {size:,} bytes, no text: {' or '.join(guesses)}?")


def _mixed_tensors(look: BytesLook) -> str:
    """Say why serialized tensors are no Tensor."""
    dtypes = sorted({head.dtype for head in look.tensors})
    said = f"serialized tensors of {' and '.join(dtypes)}"
    ranks = sorted({len(head.shape) for head in look.tensors})
    if len(dtypes) == 1:
        said += f" with {' and '.join(map(str, ranks))} dimensions"
    return f"{said}, so that no Tensor can be declared"


def _side(size: int, channels: int) -> int:
    """Return the side of a square picture of so many bytes; 0 if it is not one."""
    side = isqrt(size // channels)
    return side if side * side * channels == size else 0


def _are(look: BytesLook, dtype: str, item: int) -> bool:
    whole = all(len(sample) % item == 0 for sample in look.samples)
    return whole and looks_like_floats(look.samples, dtype)
