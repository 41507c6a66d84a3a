"""What is to be known of records: what verification checks, and what it counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.native import BYTES
from ...runtime.reading.columns import Columns, column_of
from ...runtime.shared.images import jpeg_header
from ..keyed import describe_record

if TYPE_CHECKING:
    from ...runtime.codecs.checking import RecordCheck
    from ...spec.model import RecordSpec


def check_of(spec: RecordSpec | None) -> RecordCheck:
    """Return the check of a spec's records; None sees only whether they are Examples."""
    from ...runtime.codecs.checking import RecordCheck  # which statistics do not need

    record = None
    if spec is not None:
        from ...runtime.codecs.records import RecordCodec  # which imports all kinds

        kinds = {field.label: field.codec for field in spec.fields}
        record = RecordCodec(kinds, message=spec.message)
    return RecordCheck(record, describe=describe_record)


def facts_of(check: RecordCheck, columns: Columns) -> Iterator[tuple[str, str, int]]:
    """Yield what readers skip silently: what, of which key, and in how many records."""
    if check.known:
        for key, some in columns.by_key.items():
            if key not in check.known or key in check.lists:
                rows = sum(len(column) for column in some)
                yield "a key that the schema does not have", key, rows
        for key, lists in columns.steps.items():
            if key not in check.lists:
                rows = len(lists.rows)
                yield "a feature list that the schema does not have", key, rows
    for key in check.kept:
        column = column_of(columns.by_key, key, BYTES)
        turned = [*map(_is_turned, column.bytes_values())]
        if any(turned):
            owners = np.repeat(column.rows, column.lengths)[turned]
            yield "an EXIF orientation that is kept", key, len(np.unique(owners))
    for key, repeated in columns.repeated.items():
        yield "a key that occurs twice; the last one counts", key, len(repeated)
    for what, unknown in columns.unknown.items():
        yield "a field that tf.train.Example does not have", what, len(unknown)


def _is_turned(data: bytes) -> bool:
    header = jpeg_header(data)
    return header is not None and header.orientation != 1
