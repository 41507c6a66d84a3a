"""Sizes that are stored under keys of their own: as one list, one by one, or as a count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...runtime.cells.columns import Rows
from .draft import quoted
from .evidence import Evidence, KeyEvidence
from .key_words import (
    AXES,
    counts_key,
    extends,
    item_size,
    nearest,
    parent_of,
    says,
    says_count,
    says_one_size,
    says_shape,
    stem_of_shape,
)

# Fewer items, or points of three numbers, are as many as others by chance.
_FEWEST_ITEMS, _FEWEST_POINTS = 16, 1000


class Sizes(NamedTuple):
    """The stored sizes of the numbers under another key.

    Attributes:
        keys: the key of all of them, or one for each dimension.
        shapes: int64 [N, rank], the sizes in each record that has the numbers.
        certain: whether names or several sizes tell that they are those of the key.
    """

    keys: str | tuple[str, ...]
    shapes: Rows
    certain: bool = True

    @property
    def is_count(self) -> bool:
        """Whether only the first size is stored."""
        return not isinstance(self.keys, str) and len(self.keys) == 1

    @property
    def of_pixels(self) -> bool:
        """Whether they are stored as the height and the width of a picture."""
        return not isinstance(self.keys, str) and says(self.keys[0], "height")

    @property
    def shown(self) -> str:
        """The keys, for a comment."""
        keys = (self.keys,) if isinstance(self.keys, str) else self.keys
        return ", ".join(map(quoted, keys))

    def row_doubts(self, each: int) -> tuple[str, ...]:
        """Doubt that a count which never varies is one of items of several numbers."""
        if not self.is_count or each == 1 or _varies(self.shapes):
            return ()
        count = int(self.shapes[0, 0])
        return (
            f"{self.shown} is always {count:,}: {each:,} numbers for each of these, or a "
            f"row of {count * each:,}?",
        )


def size_candidates(evidence: Evidence, data: KeyEvidence) -> Iterator[Sizes]:
    """Yield the stored sizes that may be those of a key, the likeliest first.

    A single size that is the same in all records divides many numbers, and needs a name.
    """
    present = data.lengths >= 0
    near = {
        other.key: other
        for other in evidence.keys.values()
        if other.kind == "int64" and is_near(other.key, data.key)
        if other.is_with(data)
    }
    for key in nearest(filter(says_shape, near), data.key):
        table = near[key].lists.table(data.records)
        if table is not None:
            shapes, stem = table[present], stem_of_shape(key)
            named = bool(stem) and extends(data.key, stem)
            if named or shapes.shape[1] > 1 or _varies(shapes):
                yield Sizes(key, shapes, named)
    singles = {key: other for key, other in near.items() if other.is_single}
    first_values = {
        key: each.lists.first_values(data.records) for key, each in singles.items()
    }
    axes = [next(iter(keys_of_axis(evidence, data, axis)), None) for axis in AXES]
    for rank in (3, 2):
        keys = tuple(key for key in axes[:rank] if key is not None)
        if len(keys) == rank:
            yield Sizes(keys, np.stack([first_values[key][present] for key in keys], 1))
    numbered = _numbered(singles, data.key)
    if numbered:
        yield Sizes(
            numbered, np.stack([first_values[key][present] for key in numbered], 1)
        )
    for key in nearest(filter(says_count, singles), data.key):
        counts = first_values[key][present, np.newaxis]
        if near[key].numbers.maximum != 1 and (
            counts_key(key, data.key) or _varies(counts)
        ):
            yield Sizes((key,), counts)


def _numbered(keys: Iterable[str], of: str) -> tuple[str, ...]:
    """Return the keys of all sizes of another key, from x_size_0 on; none without them."""
    own = {key for key in keys if says_one_size(key) and stem_of_shape(key) == of}
    found = sorted(own, key=lambda key: int(re.findall(r"\d+$", key)[0]))
    return tuple(found)


def _varies(shapes: Rows) -> bool:
    return bool((shapes != shapes[0]).any())


def keys_of_axis(evidence: Evidence, data: KeyEvidence, axis: str) -> list[str]:
    """Return keys of single numbers that are named as the size of a key, nearest first."""
    near = [
        other.key
        for other in evidence.keys.values()
        if other.kind == "int64" and other.is_single and says(other.key, axis)
        if is_near(other.key, data.key) and other.is_with(data)
    ]
    return nearest(near, data.key)


def is_near(key: str, other: str) -> bool:
    """Return whether a key is next to another, below or above it."""
    above = parent_of(key)
    return not above or f"{other}/".startswith(f"{above}/")


def each_of(measured: Rows, shapes: Rows) -> int:
    """Return how many there are for each element of a shape, in all records; or 0.

    Args:
        measured: int64 [records], how many values or bytes there are.
        shapes: int64 [records, rank].
    """
    if not len(shapes) or (shapes < 1).any():
        return 0
    each = measured / np.prod(shapes.astype(np.float64), axis=1)
    return int(each[0]) if (each == each[0]).all() and each[0] == int(each[0]) else 0


def sized_facts(
    sizes: Sizes, each: int, dtype: str, encoding: str
) -> dict[str, Any] | None:
    """Return the parameters of a Tensor whose sizes other keys hold.

    Args:
        sizes: the stored sizes.
        each: how many numbers there are for each element of these.
        dtype: of the numbers.
        encoding: of the Tensor.

    Returns:
        None if it cannot be declared.
    """
    keys: Any = sizes.keys
    shape = common_shape(sizes.shapes)
    if each > 1 and isinstance(keys, str):
        return None
    if each > 1:
        shape, keys = (*shape, each), (*keys, None)
    return {"shape": shape, "dtype": dtype, "encoding": encoding, "shape_key": keys}


def common_shape(shapes: Rows) -> tuple[int | None, ...]:
    """Return each size that is the same in all rows; None for others, and for 0."""
    same = (shapes == shapes[0]).all(axis=0) & (shapes[0] > 0)
    pairs = zip(shapes[0].tolist(), same.tolist(), strict=True)
    return tuple(size if is_same else None for size, is_same in pairs)


def items_of(
    key: str, count: int, lengths: Mapping[str, int]
) -> tuple[list[int], list[int]]:
    """Return of how many items so many numbers may be, as others have one for each.

    Args:
        key: the key of the numbers.
        count: how many there are in every record.
        lengths: how many numbers other keys always have.

    Returns:
        The likely numbers of items, and the possible ones.
    """
    above, nested = key.partition("/")[::2]
    near = Counter(
        length
        for other, length in lengths.items()
        if 1 < length < count and count % length == 0
        if not nested or other.startswith(f"{above}/")
    )
    size = item_size(key)
    likely = [
        items
        for items, keys in near.items()
        if items * size == count
        or (nested and keys > 1 and items >= _FEWEST_ITEMS)
        or (items * 3 == count and items >= _FEWEST_POINTS)
    ]
    named = {count // size} if size and count % size == 0 else set()
    possible = [each for each in {*near, *named} if each >= _FEWEST_ITEMS // 2]
    return sorted(likely), sorted(possible)
