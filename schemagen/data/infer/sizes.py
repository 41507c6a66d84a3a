"""Sizes that are stored under keys of their own: as one list, one by one, or as a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...runtime.reading.columns import Rows
from .draft import Scene, quoted
from .evidence import KeyEvidence
from .words import (
    AXES,
    counts_key,
    extends,
    item_size,
    nearest,
    parent_of,
    says,
    says_count,
    says_shape,
    stem_of_shape,
)

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


def size_candidates(scene: Scene, data: KeyEvidence) -> Iterator[Sizes]:
    """Yield the stored sizes that may be those of a key, the likeliest first."""
    numbers = {
        other.key: other
        for other in scene.evidence.keys.values()
        if other.kind == "int64"
        and other.is_with(data)
        and is_near(other.key, data.key)
    }
    for key in nearest(list(filter(says_shape, numbers)), data.key):
        shapes = numbers[key].lists.table(scene.records)
        if shapes is None:
            continue
        contents = f"the {shapes.shape[1]} sizes of a tensor"
        if scene.may_share(key, contents):
            yield Sizes(key, shapes, (contents,))
    singles = [key for key, other in numbers.items() if other.is_single]
    found = [next(iter(keys_of_axis(scene, data, axis)), None) for axis in AXES]
    for rank in (3, 2):
        keys = tuple(key for key in found[:rank] if key is not None)
        if len(keys) == rank:
            sizes = [numbers[key].lists.firsts(scene.records) for key in keys]
            yield Sizes(keys, np.stack(sizes, 1), AXES[:rank])
    for key in nearest([k for k in singles if says_count(k)], data.key):
        if numbers[key].numbers.maximum != 1:
            counts = numbers[key].lists.firsts(scene.records)
            yield Sizes((key,), counts[:, np.newaxis], ("one size",))


def keys_of_axis(scene: Scene, data: KeyEvidence, axis: str) -> list[str]:
    """Return keys of single numbers that are named as the size of a key, nearest first."""
    near = [
        other.key
        for other in scene.evidence.keys.values()
        if other.kind == "int64" and other.is_single and says(other.key, axis)
        if is_near(other.key, data.key) and other.is_with(data)
    ]
    return nearest(near, data.key)


def are_of(sizes: Sizes, data: KeyEvidence) -> bool | None:
    """Return whether sizes are those of a key, by names or by records of several sizes.

    Returns:
        False if only their numbers agree; None if the only size is the same in all
        records, which divides many numbers.
    """
    if isinstance(sizes.keys, str):
        stem = stem_of_shape(sizes.keys)
        named = bool(stem) and extends(data.key, stem)
    else:
        named = len(sizes.keys) > 1 or counts_key(sizes.keys[0], data.key)
    present = sizes.shapes[data.lengths >= 0]
    if not named and present.shape[1] == 1 and (present == present[0]).all():
        return None
    return named or sizes.is_count


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
    scene: Scene, data: KeyEvidence, sizes: Sizes, each: int, dtype: str, encoding: str
) -> dict[str, Any] | None:
    """Return the parameters of a Tensor whose sizes other keys hold, and take these keys.

    Args:
        scene: where the keys are taken.
        data: its numbers.
        sizes: the stored sizes.
        each: how many numbers there are for each element of these.
        dtype: of the numbers.
        encoding: of the Tensor.

    Returns:
        None if it cannot be declared, or if the keys are those of other fields.
    """
    keys: Any = sizes.keys
    shape = common_shape(sizes.shapes[data.lengths >= 0])
    alone = isinstance(keys, str)
    shared = list(zip((keys,) if alone else keys, sizes.contents, strict=True))
    if (alone and each > 1) or not scene.share_all(shared):
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
