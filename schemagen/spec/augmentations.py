"""What is wrong with augmentation: a mask that would not move with its picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..findings import Finding
from ..kinds.augment import Augment, delivered_size
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
    sizes = {
        name: delivered_size(kind.shape, kind.resize)
        for name, field in fields.items()
        if isinstance(kind := field.kind, (Image, Images, Mask))
    }
    masks = [name for name in sizes if isinstance(fields[name].kind, Mask)]
    pictures = [name for name in sizes if name not in masks]
    for mask in masks:
        alike = [name for name in pictures if sizes[name] == sizes[mask]]
        moves = _moves(fields[mask])
        for picture in alike or pictures:
            others = _moves(fields[picture])
            if moves == others and (alike or not moves.get("crop")):
                continue
            label, other = fields[mask].label, fields[picture].label
            where = f"{record.name}.{label}"
            if moves == others:
                yield Finding(
                    record.fields[mask],
                    "SG121",
                    f"{where}: its crop is not that of {other!r}, which has another size",
                    found=f"crop={moves['crop']} of both",
                    expected="no crop, or one size",
                    advice="bring both to one size with resize=; flips go with any size",
                )
            else:
                yield Finding(
                    record.fields[mask],
                    "SG121",
                    f"{where}: in training it would not move with {other!r}",
                    found=f"{_text(others)} of {other!r}, {_text(moves)} of {label!r}",
                    expected="the same flips and the same crop",
                    advice=_advice(moves, others, label, other),
                )
            break


def _moves(field: Declaration) -> dict[str, bool | int]:
    """Return the flips and the crop of a field, by name; those that it has."""
    augment = getattr(field.kind, "augment", None)
    return augment.said() if isinstance(augment, Augment) else {}


def _text(moves: Mapping[str, bool | int]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in moves.items()) or "nothing"


def _advice(
    moves: Mapping[str, bool | int],
    others: Mapping[str, bool | int],
    mask: str,
    picture: str,
) -> str:
    """Say what to declare: of the mask what the picture has, or the reverse."""
    if others:
        return f"give {mask!r} augment=Augment({_text(others)})"
    return f"give {picture!r} augment=Augment({_text(moves)}) too, or take it out here"
