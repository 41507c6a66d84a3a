"""Sequences that are cut to a limit or filled up on disk, and lists of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from stored_features import blobs, floats, ints

from .case import Drawn, KindCase, Value, declared, under_one_key

# For each dtype: the Python type of an item, what it is stored as, and some items.
_ITEMS: dict[str, tuple[str, list[Any]]] = {
    "int64": ("int", [0, 1, -1, 2**63 - 1, -(2**63)]),
    "int16": ("int", [0, 5, -(2**15)]),
    "uint64": ("int", [0, 2**64 - 1]),
    "bool": ("bool", [True, False]),
    "float32": ("float", [0.0, 0.1, -1.7]),
    "float64": ("float", [0.0, 0.1, 1e300]),
    "string": ("str", ["", "é", "two words"]),
    "bytes": ("bytes", [b"", b"\xff"]),
}


def _encoded(item: Any) -> bytes:
    return item.encode() if isinstance(item, str) else bytes(item)


def _stored(dtype: str, items: Sequence[Any]) -> tf.train.Feature:
    if dtype in ("string", "bytes"):
        return blobs(*map(_encoded, items))
    if dtype in ("uint64", "float64"):
        return blobs(np.array(items, dtype).astype(f"<{dtype[0]}8").tobytes())
    return floats(*items) if dtype == "float32" else ints(*map(int, items))


def _delivered(dtype: str, items: Sequence[Any]) -> Any:
    if dtype in ("string", "bytes"):
        return list(map(_encoded, items))
    return np.array(items, dtype)


def _lists(dtype: str, most: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(_ITEMS[dtype][1]), max_size=most)


def _role(dtype: str) -> str:
    return ', role="info"' if dtype == "bytes" else ""


def _cut(dtype: str, too_long: str, *, ragged: bool) -> KindCase:
    """Four items at most: the others are not stored."""
    kept = slice(4) if too_long == "keep_head" else slice(-4, None)

    def value(items: list[Any]) -> Value:
        found = _delivered(dtype, items[kept])
        found = _plain(found) if ragged else _array_of_bytes(found)
        return Value(items, _stored(dtype, items[kept]), found)

    return under_one_key(
        f"Annotated[list[{_ITEMS[dtype][0]}], VarLen({dtype!r}, max_length=4, "
        f"too_long={too_long!r}, ragged={ragged}{_role(dtype)})]",
        _lists(dtype, 7).map(value),
        padding=b"" if dtype in ("string", "bytes") else 0,
    )


NAMES = ("car", 'a "person"', "łoś")


def _classes(
    options: str,
    store: Callable[[list[int]], tf.train.Feature],
    *,
    ragged: bool = False,
) -> KindCase:
    """Ids and names in any order, which may come again, as ids from 0."""

    def value(drawn: list[tuple[int, bool]]) -> Value:
        ids = [index for index, _ in drawn]
        given = [NAMES[index] if named else index for index, named in drawn]
        found = ids if ragged else np.array(ids, np.int64)
        return Value(given, store(ids), found)

    drawn = st.tuples(st.integers(0, len(NAMES) - 1), st.booleans())
    return under_one_key(
        f'Annotated[list[int | str], VarLen("int64", classes={NAMES!r}, '
        f"ragged={ragged}{options})]",
        st.lists(drawn, max_size=4).map(value),
        padding=-1,
    )


def _lists_of_classes() -> Iterator[KindCase]:
    def names(ids: list[int]) -> tf.train.Feature:
        return blobs(*(NAMES[index].encode() for index in ids))

    plain = _classes("", lambda ids: ints(*ids))
    yield plain
    yield plain.optional(np.array([], np.int64), default="[]")
    yield plain.optional(np.array([], np.int64))
    yield _classes(
        ", offset=1, max_length=4", lambda ids: ints(*(index + 1 for index in ids))
    )
    yield _classes(
        ", values=(18, 1, -1)", lambda ids: ints(*((18, 1, -1)[index] for index in ids))
    )
    yield _classes(', stored="text", role="input"', names)
    yield _classes(', stored="text"', names, ragged=True)


def _filled_up(
    dtype: str, padding: Any, *, default: str = "", presence: bool = False
) -> KindCase:
    """Three items, always: `padding` stands for those that a row does not have."""
    options = f", padding_value={padding!r}, presence={presence}{_role(dtype)}"
    filler = padding if dtype != "bytes" else padding.encode()

    def full(given: list[Any]) -> Value:
        items = [*given, *[filler] * (3 - len(given))]
        delivered = _array_of_bytes(_delivered(dtype, items))
        return Value(given, _stored(dtype, items), delivered)

    case = under_one_key(
        f"Annotated[list[{_ITEMS[dtype][0]}], "
        f"VarLen({dtype!r}, max_length=3, pad_on_disk=True{options})]",
        _lists(dtype, 3).map(full),
    )
    if not default:
        return case
    return case.optional(full([]).delivered, default=default, masked=presence or None)


def _array_of_bytes(found: Any) -> Any:
    """A dense row of strings is compared as an array, for its shape."""
    return np.array(found, object) if isinstance(found, list) else found


def _lists_of_lists(
    dtype: str, *, row_lengths: str = "/row_lengths", options: str = "", most: int = 3
) -> KindCase:
    """Lists of lists, which are ragged."""

    def drawn(name: str, rows: list[list[Any]]) -> Drawn:
        flat = [item for row in rows for item in row]
        stored = {
            name: _stored(dtype, flat),
            f"{name}{row_lengths}": ints(*map(len, rows)),
        }
        found = [_plain(_delivered(dtype, row)) for row in rows]
        return Drawn(rows, stored, {name: found})

    key = ""
    if row_lengths != "/row_lengths":
        key = f", row_lengths_key='NAME{row_lengths}'"
    kind = f"Ragged({dtype!r}{key}{options}{_role(dtype)})"
    rows = st.lists(_lists(dtype, 3), max_size=most)
    return declared(
        f"Annotated[list[list[{_ITEMS[dtype][0]}]], {kind}]",
        lambda name: rows.map(lambda given: drawn(name, given)),
    )


def _plain(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _padded_lists() -> Iterator[KindCase]:
    """Of two rows of two: what is not there is padding, in the row's own sizes too."""

    def drawn(name: str, rows: list[list[int]]) -> Drawn:
        width = max(map(len, rows), default=0)
        dense = np.full((len(rows), width), -7, np.int32)
        for at, row in enumerate(rows):
            dense[at, : len(row)] = row
        flat = [item for row in rows for item in row]
        stored = {
            name: ints(*flat),
            f"{name}/row_lengths": ints(*map(len, rows)),
        }
        return Drawn(rows, stored, {name: dense})

    rows = st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3)
    yield declared(
        "Annotated[list[list[int]], Ragged('int32', ragged=False, padding_value=-7)]",
        lambda name: rows.map(lambda given: drawn(name, given)),
        padding={"": -7},
    )


def _boxes(dtype: str, sides: tuple[str, ...]) -> KindCase:
    """Lists of boxes, whose sides come in some order."""
    ends = [at for at, side in enumerate(sides) if side in ("xmax", "ymax")]

    def value(numbers: list[list[int]]) -> Value:
        boxes = np.array(numbers, dtype).reshape(-1, 4)
        boxes[:, ends] += 4
        return Value(boxes, _stored(dtype, boxes.reshape(-1).tolist()), boxes)

    box = st.lists(st.integers(0, 4), min_size=4, max_size=4)
    return under_one_key(
        f"Annotated[np.ndarray, VarLen({dtype!r}, item_shape=(4,), box={sides}, "
        "role='info')]",
        st.lists(box, max_size=3).map(value),
    )


def cases() -> Iterator[KindCase]:
    yield _boxes("float32", ("ymin", "xmin", "ymax", "xmax"))
    yield _boxes("int16", ("xmin", "ymin", "width", "height"))
    for at, dtype in enumerate(_ITEMS):
        yield _cut(dtype, ("keep_head", "keep_tail")[at % 2], ragged=at % 3 == 0)
    yield _filled_up("int64", -1)
    yield _filled_up("int16", 5, default="None")
    yield _filled_up("uint64", 2**64 - 1, default="[]")
    yield _filled_up("bool", True, default="[]", presence=True)
    yield _filled_up("float32", 0.25, default="None")
    yield _filled_up("float64", 0.1)
    yield _filled_up("string", "-", default="None")
    yield _filled_up("bytes", "x")
    for at, dtype in enumerate(_ITEMS):
        case = _lists_of_lists(dtype)
        yield case.optional([], default=("[]", "None")[at % 2]) if at % 3 else case
    yield _lists_of_lists("int64", row_lengths="/ragged_row_lengths_0")
    yield _lists_of_lists("float32", options=", exact=False, finite=False")
    yield _lists_of_lists("string", options=", max_length=2", most=2)
    yield declared("list[list[str]]", _lists_of_lists("string").draw)
    yield declared("list[list[int]]", _lists_of_lists("int64").draw)
    yield from _padded_lists()
    yield from _lists_of_classes()
