"""Content that is not what its key says: base64, paths, pickles, compressed bytes.

Fields stay what the data safely is, text or bytes. Doubts name the content, and offer the
declaration that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ...schema_source import annotation_source
from ..foreign import unread_content
from .draft import Draft, Drafts, listed, quoted
from .dtypes import item_bytes
from .evidence import KeyEvidence
from .words import meaning_of

Judge = Callable[[KeyEvidence], Draft | None]

_PATH = re.compile(
    r"[^\x00-\x1f]*[^\x00-\x1f/\\]\.(jpe?g|png|gif|bmp|webp|tiff?|npy|npz|exr|dcm)"
    r"(\?[^\s]*)?",
    re.IGNORECASE,
)
# Dtypes that other bytes hardly ever seem to have, if there are four numbers or more.
_SURE = ("float32", "float64", "int64", "int32")
_FEWEST_NUMBERS = 4


def with_content(drafts: Drafts, judge: Judge) -> dict[str, Draft]:
    """Return the fields, with doubts about text or bytes that hold something else.

    Args:
        drafts: all fields.
        judge: drafts a field of other evidence under one of the keys.
    """
    return {
        key: _with_content(draft, drafts, judge) for key, draft in drafts.fields.items()
    }


def _with_content(draft: Draft, drafts: Drafts, judge: Judge) -> Draft:
    data, codec = drafts.evidence.keys[draft.key], draft.codec
    is_list = len(codec.parts) == 1 and codec.parts[0].encoding == "list"
    if data.kind != "bytes" or not is_list or codec.of_classes:
        return draft
    samples = data.values.samples
    if not draft.is_text:
        text = "" if data.values.text else unread_content(samples)
        return replace(draft, doubts=(f"each value is {text}",)) if text else draft
    if data.decoded is not None:
        return draft.with_doubts(*_base64_doubts(draft, data.decoded, drafts, judge))
    # Long samples may end within a letter.
    paths = [_PATH.fullmatch(sample.decode(errors="replace")) for sample in samples]
    if not samples or not all(paths) or meaning_of(data.key) == "info":
        return draft
    return draft.with_role("info").with_doubts(
        f"paths of files such as {quoted(samples[0].decode())}, and not images: "
        "write the bytes of the files in their place"
    )


def _base64_doubts(
    draft: Draft, decoded: KeyEvidence, drafts: Drafts, judge: Judge
) -> tuple[str, ...]:
    """Say what base64 text holds, if it is more than any bytes, and how it is read."""
    text = unread_content(decoded.values.samples)
    if text:
        return (f"each value is base64 text of {text}",)
    inner = judge(decoded)
    content = _content(inner, decoded) if inner is not None else ""
    if inner is None or not content:
        return ()
    declared = replace(inner, optional=draft.optional)
    offer = annotation_source(
        declared.with_facts(transfer_encoding="base64").spec("field")
    )
    text = f"base64 text of {content}: declare it as {offer}"
    taken = sorted(inner.further_keys & drafts.fields.keys())
    if taken:
        text += f", and leave out the fields of {listed(map(quoted, taken))}"
    return (text, *(f"if it is declared so: {doubt}" for doubt in inner.doubts))


def _content(inner: Draft, decoded: KeyEvidence) -> str:
    """Name decoded content; "" if it may be any bytes."""
    dtype, encoding = inner.facts.get("dtype"), inner.facts.get("encoding")
    if "transfer_encoding" not in inner.declared.facts():
        return ""
    if inner.codec.of_pixels:
        form = "" if encoding == "any" else f"{encoding} "
        return "raw pixels" if encoding == "raw" else f"{form}images"
    sure = dtype in _SURE and decoded.values.most >= _FEWEST_NUMBERS * item_bytes(dtype)
    measured = encoding == "proto" or (encoding == "raw" and inner.further_keys)
    return f"{dtype} numbers" if measured or (encoding == "raw" and sure) else ""
