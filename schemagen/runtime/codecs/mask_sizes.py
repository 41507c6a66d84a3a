"""Masks that are as large as the images of their record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    """A mask has the height and width of the image of its record, as both are stored.

    Attributes:
        mask: the mask.
        image: the image. A record without it is not compared.
    """

    mask: Mask
    image: Image

    @property
    def fields(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return (self.mask, self.image)

    def faults(self, features: Features) -> Iterator[FieldFault]:
        tables = []
        for picture in (self.mask, self.image):
            table = np.zeros((len(features.live), 2), np.int64)
            rows, sizes = picture.sizes_in(features)
            table[rows] = sizes
            tables.append(table)
        own, other = tables
        there = (own > 0).all(axis=1) & (other > 0).all(axis=1)
        wrong = np.flatnonzero(there & (own != other).any(axis=1))

        def found(at: int) -> str:
            mask, image = (shape_text(tuple(t[wrong[at]].tolist())) for t in tables)
            return f"a mask of {mask}, and an image of {image}"

        if len(wrong):
            fault = Fault(
                "SG534",
                "mask has another size than its image",
                f"the height and width of {self.image.label!r}",
                wrong,
                found,
                lambda at: "declare own_size=True if it has a size of its own",
                self.mask.key,
            )
            yield FieldFault(self.mask.label, fault)


def image_of(mask: Mask, codecs: Iterable[Kind]) -> Image | None:
    """Return the image that a mask of a record has to be as large as.

    It is the only one, of those whose declared size the mask can have.
    """
    images = [
        codec
        for codec in codecs
        if isinstance(codec, Image)
        and all(
            None in pair or pair[0] == pair[1]
            for pair in zip(mask.shape, codec.shape[:2], strict=True)
        )
    ]
    return images[0] if len(images) == 1 and not mask.own_size else None


def masks_of_images(codecs: Sequence[Kind]) -> Iterator[MaskOfImage]:
    """Yield the masks of a record that have to be as large as an image."""
    for mask in codecs:
        if not isinstance(mask, Mask):
            continue
        image = image_of(mask, codecs)
        if image is not None and None in (*mask.shape, *image.shape[:2]):
            yield MaskOfImage(mask, image)
