"""Masks that are as large as the images of their record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..shared.values import shape_text
from .between import FieldFault, Relation
from .faults import Fault, Features
from .images import Image
from .kind import Kind
from .masks import Mask


@dataclass(frozen=True)
class MaskOfImage(Relation):
    """A mask has the height and width of an image of its record, as both are stored.

    Attributes:
        mask: the mask.
        images: the images of the record; missing ones do not count.
    """

    mask: Mask
    images: tuple[Image, ...]

    @property
    def fields(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return (self.mask, *self.images)

    def faults(self, features: Features) -> Iterator[FieldFault]:
        count = len(features.live)
        sizes = np.full((count, 2), -1, np.int64)
        rows, sizes[rows] = self.mask.sizes_in(features)
        found: dict[int, list[str]] = {row: [] for row in rows.tolist()}
        fits = np.zeros(count, np.bool_)
        for image in self.images:
            rows, own = image.sizes_in(features)
            fits[rows] |= (own == sizes[rows]).all(axis=1)
            for row, size in zip(rows.tolist(), own.tolist(), strict=True):
                found.get(row, []).append(shape_text(tuple(size)))
        wrong = [row for row, shown in found.items() if shown and not fits[row]]

        def words(at: int) -> str:
            shown = shape_text(tuple(sizes[wrong[at]].tolist()))
            return (
                f"a mask of {shown}, and an image of {' and '.join(found[wrong[at]])}"
            )

        if wrong:
            names = " or ".join(repr(image.label) for image in self.images)
            fault = Fault(
                "SG534",
                "mask has another size than its image",
                f"the height and width of {names}",
                np.array(wrong, np.int64),
                words,
                lambda at: "declare own_size=True if it has a size of its own",
                self.mask.key,
            )
            yield FieldFault(self.mask.label, fault)


def masks_of_images(codecs: Sequence[Kind]) -> Iterator[MaskOfImage]:
    """Yield the masks of a record that have to be as large as an image.

    An image of a declared size that the mask cannot have is not what it is the mask of.
    """
    for mask in codecs:
        if not isinstance(mask, Mask) or mask.own_size:
            continue
        images = tuple(
            codec
            for codec in codecs
            if isinstance(codec, Image)
            and all(
                None in pair or pair[0] == pair[1]
                for pair in zip(mask.shape, codec.shape[:2], strict=True)
            )
        )
        if any(None in (*mask.shape, *image.shape[:2]) for image in images):
            yield MaskOfImage(mask, images)
