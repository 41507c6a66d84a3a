"""Pieces of columns, found in any order, and what they make together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import Column, StepColumn
from .message import BYTES, FLOAT, INT64, NOTHING, Feature, Message
from .records import Records

Rows = NDArray[np.int64]


class Piece(NamedTuple):
    """Features of one kind, as in Column; the rows in any order."""

    rows: Rows
    lengths: Rows
    values: NDArray[Any]


def add_message(
    message: Message,
    row: int,
    start: int,
    pieces: dict[tuple[str, str], list[Piece]],
    steps: dict[str, list[tuple[Rows, Rows]]],
    step_pieces: dict[tuple[str, str], list[Piece]],
) -> None:
    """Add a record that was read by itself, and begins at `start` of the memory."""
    for key, feature in message.features.items():
        piece = _piece_of(feature, row, start)
        pieces.setdefault((key, feature.kind), []).append(piece)
    for key, features in message.lists.items():
        counts = np.array([row], np.int64), np.array([len(features)], np.int64)
        steps.setdefault(key, []).append(counts)
        for number, feature in enumerate(features):
            piece = _piece_of(feature, (row << 32) + number, start)
            step_pieces.setdefault((key, feature.kind), []).append(piece)


def _piece_of(feature: Feature, row: int, start: int) -> Piece:
    values: NDArray[Any]
    if feature.kind == BYTES:
        values = np.array(feature.values, np.int64).reshape(-1, 2) + start
    else:
        values = np.array(feature.values, "<f4" if feature.kind == FLOAT else np.int64)
    return Piece(
        np.array([row], np.int64), np.array([len(feature.values)], np.int64), values
    )


def column_of(records: Records, key: str, kind: str, pieces: Sequence[Piece]) -> Column:
    """Join the pieces of one key and kind, sorted by their rows."""
    rows, lengths, values = pieces[0]
    if len(pieces) > 1:
        rows, lengths, values = map(np.concatenate, zip(*pieces, strict=True))
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        starts = np.cumsum(lengths) - lengths
        rows, lengths, starts = rows[order], lengths[order], starts[order]
        firsts = np.cumsum(lengths) - lengths
        values = values[
            np.repeat(starts - firsts, lengths) + np.arange(int(lengths.sum()))
        ]
    return Column(key, kind, rows, lengths, values, records.data)


def step_column(
    records: Records,
    key: str,
    counted: Sequence[tuple[Rows, Rows]],
    pieces: dict[tuple[str, str], list[Piece]],
) -> StepColumn:
    """Join the pieces of feature lists of one key; rows are row * 2 ** 32 + step."""
    rows, steps = map(np.concatenate, zip(*counted, strict=True))
    order = np.argsort(rows, kind="stable")
    rows, steps = rows[order], steps[order]
    firsts = np.cumsum(steps) - steps
    columns = []
    for kind in (BYTES, FLOAT, INT64, NOTHING):
        if (key, kind) not in pieces:
            continue
        column = column_of(records, key, kind, pieces[key, kind])
        owners, numbers = column.rows >> 32, column.rows & 0xFFFF_FFFF
        numbers = firsts[np.searchsorted(rows, owners)] + numbers
        columns.append(
            Column(key, kind, numbers, column.lengths, column.values, column.data)
        )
    return StepColumn(key, rows, steps, tuple(columns))
