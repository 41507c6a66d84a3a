"""Content that is not what its key says: base64, paths, pickles, compressed bytes.

Fields stay what the data safely is, text or bytes. Doubts name the content, and offer the
declaration that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ...schema_source import annotation_source
from ..formats import unread_content
from .draft import Draft, Scene, listed, quoted
from .dtypes import item_bytes
from .evidence import Evidence, KeyEvidence
from .words import meaning_of

Rules = Callable[[Evidence], Scene]

_PATH = re.compile(
    r"[^\x00-\x1f]*[^\x00-\x1f/\\]\.(jpe?g|png|gif|bmp|webp|tiff?|npy|npz|exr|dcm)"
    r"(\?[^\s]*)?",
    re.IGNORECASE,
)
# Dtypes that other bytes hardly ever seem to have, if there are four numbers or more.
_SURE = ("float32", "float64", "int64", "int32")
_FEWEST_NUMBERS = 4


def say_wrapped(scene: Scene, rules: Rules) -> None:
    """Add doubts about fields of text or bytes that hold something else.

    Args:
        scene: after all rules.
        rules: returns the scene of other evidence, after all rules.
    """
    for key, draft in scene.drafts.items():
        data, codec = scene.evidence.keys[key], draft.codec
        is_list = len(codec.parts) == 1 and codec.parts[0].encoding == "list"
        if data.kind != "bytes" or not is_list or codec.of_classes:
            continue
        if draft.is_text:
            _say_text(scene, draft, data, rules)
        elif not data.values.text and (text := unread_content(data.values.samples)):
            draft.doubts[:] = [f"each value is {text}"]


def _say_text(scene: Scene, draft: Draft, data: KeyEvidence, rules: Rules) -> None:
    samples = data.values.samples
    if data.decoded is not None:
        _say_base64(scene, draft, data.decoded, rules)
        return
    # Long samples may end within a letter.
    paths = [_PATH.fullmatch(sample.decode(errors="replace")) for sample in samples]
    if samples and all(paths) and meaning_of(data.key) != "info":
        draft.role = "info"
        draft.doubts.append(
            f"paths of files such as {quoted(samples[0].decode())}, and not images: "
            "write the bytes of the files in their place"
        )


def _say_base64(scene: Scene, draft: Draft, decoded: KeyEvidence, rules: Rules) -> None:
    """Say what base64 text holds, if it is more than any bytes, and how it is read."""
    text = unread_content(decoded.values.samples)
    if text:
        draft.doubts.append(f"each value is base64 text of {text}")
        return
    keys = {**scene.evidence.keys, draft.key: decoded}
    inner = rules(replace(scene.evidence, keys=keys)).drafts.get(draft.key)
    content = _content(inner, decoded) if inner is not None else ""
    if inner is None or not content:
        return
    facts = {**inner.facts, "transfer_encoding": "base64"}
    declared = replace(inner, facts=facts, optional=draft.optional)
    offer = annotation_source(declared.spec("field"))
    text = f"base64 text of {content}: declare it as {offer}"
    taken = sorted(inner.further_keys & scene.drafts.keys())
    if taken:
        text += f", and leave out the fields of {listed(map(quoted, taken))}"
    draft.doubts.append(text)
    draft.doubts += (f"if it is declared so: {doubt}" for doubt in inner.doubts)


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
