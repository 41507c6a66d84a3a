"""Records that differ from nearly all others: left out, and named by a doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...runtime.reading.columns import Columns
from ...runtime.reading.decoding import decode
from ..formatting import listed, plural
from .draft import odd_doubt
from .evidence import Evidence, KeyEvidence, gather, is_rare

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
