"""What is odd: records that differ from nearly all others, content that is not what its key says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.columns import Columns
from ...runtime.cells.decoding import decode
from ...schema_source import annotation_source
from ..formatting import listed, plural
from .draft import Draft, Drafts, odd_doubt, quoted, with_commas
from .evidence import Evidence, KeyEvidence, gather, is_rare
from .guesses import item_bytes
from .key_words import meaning_of

Flags = NDArray[np.bool_]

_MOST_FORMS = 3


def without_odd(evidence: Evidence, again: Callable[[], Iterable[Columns]]) -> Evidence:
    """Return the evidence of the records that are like nearly all others in each key.

    Others have another kind or number of values, or bytes of another format or size;
    `evidence.odd` says how many. `again` reads the same records, if there are any.
    """
    keep = np.ones(evidence.records, np.bool_)
    said: dict[str, list[str]] = {}
    every = [
        (key, each, np.arange(each.records)) for key, each in evidence.keys.items()
    ]
    every += [(key, steps.each, steps.owners) for key, steps in evidence.steps.items()]
    for key, data, owners in every:
        for has, differs, names in _differing(data):
            rows, of = np.unique(owners[differs]), len(np.unique(owners[has]))
            if is_rare(len(rows), of):
                keep[rows] = False
                what = listed([*names], _MOST_FORMS)
                doubt = odd_doubt(len(rows), plural(of, "record"), what)
                said.setdefault(key, []).append(doubt)
    if not said:
        return evidence
    found = gather(_only(again(), keep))
    for key, data, owners in every:
        count = len(np.unique(owners[data.lengths >= 0]))
        if count and key not in found.keys.keys() | found.steps.keys():
            records = plural(evidence.records, "record")
            said[key] = [odd_doubt(count, records, "the key")]
    return replace(found, odd=said)


def _differing(data: KeyEvidence) -> Iterator[tuple[Flags, Flags, Iterator[str]]]:
    """Yield which rows have a form, which have not the most frequent one, and theirs."""
    for forms, name in data.forms():
        has = forms >= 0
        found, counts = np.unique(forms[has], return_counts=True)
        if len(found) > 1:
            others = np.delete(found, counts.argmax())
            yield has, np.isin(forms, others), map(name, others.tolist())


def _only(batches: Iterable[Columns], keep: Flags) -> Iterator[Columns]:
    """Yield the records to keep: bool [N], of those that are not malformed."""
    start = 0
    for batch in batches:
        bad = [each.row for each in batch.malformed]
        good = np.delete(np.arange(len(batch.records)), bad)
        kept = np.ones(len(batch.records), np.bool_)
        kept[good] = keep[start : start + len(good)]
        start += len(good)
        yield batch if kept.all() else decode(batch.records.only(kept))


Judge = Callable[[KeyEvidence], Draft | None]

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
        text = "" if data.values.text else samples.unread
        return replace(draft, doubts=(f"each value is {text}",)) if text else draft
    if data.decoded is not None:
        return draft.with_doubts(*_base64_doubts(draft, data.decoded, drafts, judge))
    if not samples.are_paths or meaning_of(data.key) == "info":
        return draft
    return draft.with_role("info").with_doubts(
        f"paths of files such as {quoted(samples.first)}, and not images: "
        "write the bytes of the files in their place"
    )


def _base64_doubts(
    draft: Draft, decoded: KeyEvidence, drafts: Drafts, judge: Judge
) -> tuple[str, ...]:
    """Say what base64 text holds, if it is more than any bytes, and how it is read."""
    text = decoded.values.samples.unread
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
        text += f", and leave out the fields of {with_commas(map(quoted, taken))}"
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
