"""A model of packing, in which each row is looked at for each piece."""

from __future__ import annotations


def best_fit(
    lengths: list[int], size: int, *, drop: bool = False
) -> list[list[tuple[int, int]]]:
    """Pack lists piece by piece, the longest first, into the fullest row that has room.

    Args:
        lengths: how many items each list has.
        size: how many items a row has.
        drop: leave out longer lists, in place of cutting them.

    Returns:
        The pieces of each row: the list of each, and where it begins in the list.
    """
    pieces = [
        (at, start, min(size, length - start))
        for at, length in enumerate(lengths)
        if not (drop and length > size)
        for start in range(0, length, size)
    ]
    rows: list[list[tuple[int, int]]] = []
    rooms: list[int] = []
    changed: list[int] = []  # when a row got its last piece
    for turn, (at, start, length) in enumerate(sorted(pieces, key=lambda p: -p[2])):
        fitting = [row for row, room in enumerate(rooms) if room >= length]
        if not fitting:
            fitting = [len(rows)]
            rows.append([])
            rooms.append(size)
            changed.append(0)
        row = min(fitting, key=lambda row: (rooms[row], -changed[row]))
        rows[row].append((at, start))
        rooms[row] -= length
        changed[row] = turn
    return sorted(sorted(row) for row in rows)
