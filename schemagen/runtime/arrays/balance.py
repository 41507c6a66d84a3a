"""Records in which the classes of a label come equally often."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reading.columns import Rows
from ..shared.errors import DatasetError, with_suggestion
from .batches import threads
from .order import STORED
from .views import Chunk, View

# How many labels are read at a time.
_RUN = 1 << 12


def balanced_positions(view: View, field: str) -> Rows:
    """Return positions of records, in turns one of each class: int64 [N].

    Args:
        view: the records.
        field: the name of a Label.

    Raises:
        DatasetError: the label does not exist.
    """
    decoder = view.decoder
    labels = [
        name
        for name in decoder.fields
        if decoder.record[name].of_classes and not decoder.record[name].delivered_shape
    ]
    if field not in labels:
        known = ", ".join(labels) or "none"
        words = (
            f"no field {field!r} with a class for each record: expected one of {known}"
        )
        raise DatasetError(with_suggestion(words, field, labels))
    codec = decoder.record[field]
    missing = ("", None) if decoder.form.names and codec.classes else (-1, None)
    narrow, total = view.only((field,)), len(view)

    def labelled(asked: Rows, chunk: Chunk) -> tuple[Any, Any]:
        kept = np.isin(asked, chunk.numbers)
        batch = chunk.batch(0, len(chunk.numbers))
        column: Any = batch
        for name in codec.label.split("."):
            if name not in column:
                raise DatasetError(f"balanced: no field {field!r} is left after map")
            column = column[name]
        return kept, column

    runs = (
        np.arange(start, min(total, start + _RUN)) for start in range(0, total, _RUN)
    )
    found = [*narrow.chunks(map(narrow.numbers, runs), STORED, labelled, threads())]
    kept = np.concatenate([np.empty(0, bool), *(each for each, _ in found)])
    classes = [label for _, column in found for label in np.asarray(column).tolist()]
    members: dict[Any, list[int]] = {}
    for position, label in zip(np.flatnonzero(kept).tolist(), classes, strict=True):
        if label not in missing:
            members.setdefault(label, []).append(position)
    if not members:
        return np.empty(0, np.int64)
    most = max(map(len, members.values()))
    turns = [np.resize(members[label], most) for label in sorted(members)]
    return np.stack(turns, 1).ravel()
