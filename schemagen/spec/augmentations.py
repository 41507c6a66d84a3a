"""What is wrong with augmentation: a mask that would not move with its picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..findings import Finding
from ..kinds.image import Image
from ..kinds.images import Images
from ..kinds.mask import Mask
from ..schema.declaration import Declaration
from ..schema.loading import LoadedRecord


def augmentation_findings(
    fields: Mapping[str, Declaration], record: LoadedRecord
) -> Iterator[Finding]:
    """Yield the masks whose pixels would come to be those of other places.

    A mask is of all pictures of its size; of all there are, if none has its size.
    """
    kinds = {
        name: field.kind
        for name, field in fields.items()
        if isinstance(field.kind, (Image, Images, Mask))
    }
    pictures = [name for name, kind in kinds.items() if not isinstance(kind, Mask)]
    for name, kind in kinds.items():
        alike = [each for each in pictures if _size(kinds[each]) == _size(kind)]
        for other in (alike or pictures) if isinstance(kind, Mask) else ():
            picture = kinds[other]
            crop = kind.augment and kind.augment.crop
            if picture.augment != kind.augment or (crop and not alike):
                yield record.wrong(
                    "SG121",
                    f"in training it would not move with {fields[other].label!r}",
                    fields[name],
                    found=f"{_text(kind)}, and {_text(picture)} of the picture",
                    expected="the same flips, and the same crop of one size",
                    advice="give both the same augment=; resize= brings both to one size",
                )
                break


def _size(kind: Image | Images | Mask) -> tuple[int | None, ...]:
    return kind.resize or kind.shape[:2]


def _text(kind: Image | Images | Mask) -> str:
    moves = kind.augment.said() if kind.augment else {}
    given = ", ".join(f"{name}={value!r}" for name, value in moves.items())
    return f"augment=Augment({given})" if given else "augment=None"
