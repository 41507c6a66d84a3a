"""Sizes that are stored under keys of their own: as one list, one by one, or as a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ...runtime.reading.columns import Rows
from .draft import Scene, quoted
from .evidence import KeyEvidence
from .words import (
    AXES,
    counts_key,
    digits_of,
    extends,
    item_size,
    nearest,
    parent_of,
    says,
    says_count,
    says_shape,
    stem_of_shape,
)

CHANNELS = (1, 3, 4, 2)
"""How many numbers a pixel may have, if that is not stored."""

# Fewer items are as many as others by chance, in one part of a record and in all.
_FEWEST_ITEMS, _FEWEST_ITEMS_OF_ALL = 16, 1000


class Sizes(NamedTuple):
    """The stored sizes of the numbers under another key.

    Attributes:
        keys: the key of all of them, or one for each dimension.
        shapes: int64 [records, rank], the sizes.
        contents: of each key, in words that fields sharing it have to agree on.
    """

    keys: str | tuple[str, ...]
    shapes: Rows
    contents: tuple[str, ...]

    @property
    def is_count(self) -> bool:
        """Whether only the first size is stored."""
        return not isinstance(self.keys, str) and len(self.keys) == 1

    @property
    def shown(self) -> str:
        """The keys, for a comment."""
        keys = (self.keys,) if isinstance(self.keys, str) else self.keys
        return ", ".join(map(quoted, keys))


def size_candidates(scene: Scene, seen: KeyEvidence) -> Iterator[Sizes]:
    """Yield the stored sizes that may be those of a key, the likeliest first."""
    numbers = {
        other.key: other
        for other in scene.evidence.keys.values()
        if other.kind == "int64"
        and other.is_with(seen)
        and is_near(other.key, seen.key)
    }
    for key in nearest(list(filter(says_shape, numbers)), seen.key):
        shapes = numbers[key].numbers.shapes(scene.records)
        if shapes is None:
            continue
        contents = f"the {shapes.shape[1]} sizes of a tensor"
        if scene.may_share(key, contents):
            yield Sizes(key, shapes, (contents,))
    singles = [key for key, other in numbers.items() if other.is_single]
    found = [
        next(iter(nearest([k for k in singles if says(k, axis)], seen.key)), None)
        for axis in AXES
    ]
    for rank in (3, 2):
        keys = tuple(key for key in found[:rank] if key is not None)
        if len(keys) == rank:
            sizes = [numbers[key].numbers.firsts.array(scene.records) for key in keys]
            yield Sizes(keys, np.stack(sizes, 1), AXES[:rank])
    for key in nearest([k for k in singles if says_count(k)], seen.key):
        if (numbers[key].numbers.low or 0) > 1 or numbers[key].numbers.high != 1:
            counts = numbers[key].numbers.firsts.array(scene.records)
            yield Sizes((key,), counts[:, np.newaxis], ("one size",))


def are_of(scene: Scene, sizes: Sizes, seen: KeyEvidence) -> bool | None:
    """Return whether sizes are those of a key, by names or by records of several sizes.

    Returns:
        False if only their numbers agree; None if they are of another key, or if the
        only size is the same in all records, which divides many numbers.
    """
    if not isinstance(sizes.keys, str) and len(sizes.keys) > 1:
        return True
    there = sizes.shapes[seen.lengths >= 0]
    differ = bool((there != there[0]).any())
    if not isinstance(sizes.keys, str):
        return True if differ or counts_key(sizes.keys[0], seen.key) else None
    if digits_of(sizes.keys) and digits_of(sizes.keys) == digits_of(seen.key):
        return True
    stem = stem_of_shape(sizes.keys)
    if stem and extends(seen.key, stem):
        return True
    others = (key for key in scene.evidence.keys if key != sizes.keys)
    of_another = stem and any(extends(key, stem) for key in others)
    return None if of_another or not (differ or there.shape[1] > 1) else False


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
        if 1 < length < count
        and count % length == 0
        and (not nested or other.startswith(f"{above}/"))
    )
    size, least = item_size(key), _FEWEST_ITEMS if nested else _FEWEST_ITEMS_OF_ALL
    likely = [
        items
        for items, keys in near.items()
        if items * size == count
        # Lengths of features that have nothing in common are powers of two.
        or (items >= least and keys > 1 and (nested or count // items % 2))
        or (items >= _FEWEST_ITEMS_OF_ALL and items * 3 == count)
    ]
    named = {count // size} if size and count % size == 0 else set()
    possible = [each for each in {*near, *named} if each >= _FEWEST_ITEMS // 2]
    return sorted(likely), sorted(possible)
