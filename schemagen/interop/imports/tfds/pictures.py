"""Pictures, masks and classes."""

from __future__ import annotations

from ....kinds.field import FieldSpec
from ....kinds.image import Image
from ....kinds.images import Images
from ....kinds.label import Label
from ....kinds.mask import Mask
from ..outcome import Outcome
from . import table
from .connectors import Connector
from .here import Here, refused
from .lists import bytes_outcome, list_outcome

_CHANNELS = {"jpeg": (1, 3), "png": (1, 3, 4), "any": (1, 3, 4)}


def image_outcome(feature: Connector, here: Here) -> Outcome:
    shape = feature.shape or (None, None, 3)
    form = str(feature.says.get("encodingFormat") or "any")
    if len(shape) != 3 or form not in _CHANNELS:
        return refused(table.ANIMATION, here, f"shape {shape}, encoding {form}")
    if feature.kind == "LabeledImage" and not here.rank:
        return _mask(feature, shape, here)
    dtype, said = feature.dtype or "uint8", ""
    if dtype == "float32":
        dtype, form, shape = "uint8", "png", (*shape[:2], 4)
        row, said = table.FLOAT_IMAGE, "four channels are the bytes of one float32"
    elif form == "any":
        row = table.ANY_IMAGE
    else:
        row = table.IMAGE
        said = f'TFDS keeps files as they are: "any" if not all of them are {form}'
    if dtype == "uint16":
        form = "png"
    if shape[2] not in _CHANNELS[form]:
        return refused(table.ANIMATION, here, f"{shape[2]} channels")
    if not here.rank:
        role = "info" if row is table.FLOAT_IMAGE else "input"
        if None in shape:
            said += (
                "; " if said else ""
            ) + "sizes vary: resize=(height, width) for batches"
        field: FieldSpec = FieldSpec.of(
            Image, **here.place.common(role), shape=shape, encoding=form, dtype=dtype
        )
        return Outcome(here.part, row, (field,), said)
    if here.rank > 1 or None in shape or dtype != "uint8" or feature.kind != "Image":
        what = "x".join("any" if size is None else str(size) for size in shape)
        return bytes_outcome(
            table.OTHER_FRAMES, f"encoded pictures, {what}, {dtype}", here
        )
    length = here.lengths[0]
    role = "info" if row is table.FLOAT_IMAGE else "input"
    common = here.place.common(role)
    field = FieldSpec.of(
        Images, **common, shape=shape, encoding=form, count=length or None
    )
    row = row if row is table.FLOAT_IMAGE else table.FRAMES
    return Outcome(here.part, row, (field,), said)


def _mask(feature: Connector, shape: tuple[int | None, ...], here: Here) -> Outcome:
    given = feature.says.get("label") or {}
    count = int(given.get("numClasses") or 0)
    names, problem = _names(here, count)
    if feature.says.get("encodingFormat") == "jpeg":
        return refused(table.JPEG_MASK, here, "class ids that JPEG has changed")
    role = "target" if count and shape[:2] in here.inputs else "info"
    field = FieldSpec.of(
        Mask,
        **here.place.common(role),
        shape=shape[:2],
        num_classes=count or None,
        classes=names,
        encoding="png",
        dtype="uint16" if feature.dtype == "uint16" else "uint8",
    )
    return Outcome(here.part, table.LABELED_IMAGE, (field,), problem)


def _names(here: Here, count: int) -> tuple[tuple[str, ...], str]:
    """Return the names of classes out of their file, and what is doubtful about it."""
    path = here.directory / f"{here.stem}.labels.txt"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return (), ""
    names = tuple(line.strip() for line in lines if line.strip())
    if len(names) != count or len(set(names)) < len(names):
        return (), f"{path.name} has {len(set(names))} names for {count} classes"
    return names, ""


def label_outcome(feature: Connector, here: Here) -> Outcome:
    count = feature.number("numClasses")
    names, problem = _names(here, count)
    if here.rank:
        said = f"class ids from 0 to {count - 1}" if count else "class ids"
        said += f", in the order of {_few(names)}" if names else ""
        return list_outcome("int64", (), here, table.LISTED_LABEL, said, role="info")
    if not count:
        said = "a class id; no one says how many classes there are"
        return list_outcome("int64", (), here, table.UNCOUNTED_LABEL, said, role="info")
    field = FieldSpec.of(
        Label, **here.place.common("target"), num_classes=count, classes=names
    )
    return Outcome(here.part, table.LABEL, (field,), problem)


def _few(names: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
