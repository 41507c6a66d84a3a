"""Masks: class ids by pixel, as layers of one colour each over a picture."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.mask import Mask
from ...runtime.shared.image_headers import png_header
from ...spec.model import MaskSpec
from ..formatting import one_line
from .features import Features, shaped
from .palette import OTHERS, shade
from .pictures import MOST_PIXELS, Budget, data_url

MOST_LAYERS = 16


@dataclass(frozen=True)
class MaskPixels:
    """The mask of one sample: `ids` [H, W]."""

    field: FieldSpec[Mask]
    ids: NDArray[Any]


def mask_of(field: FieldSpec[Mask], features: Features) -> MaskPixels | None:
    """Read a sample's mask; None if it is missing, or not what the schema says."""
    data = features.single_bytes(field.key)
    if data is None:
        return None
    if field.kind.encoding == "png":
        ids = _png(data)
    else:
        sizes = {
            0: features.integer(field.kind.height_key),
            1: features.integer(field.kind.width_key),
        }
        ids = shaped(data, field.kind.dtype, field.kind.shape[:2], sizes)
    if ids is None or ids.ndim != 2 or not ids.size or ids.size > MOST_PIXELS:
        return None
    return MaskPixels(field, ids)


def _png(data: bytes) -> NDArray[Any] | None:
    """Return the ids of a PNG: grey values, or the indices of a palette."""
    from PIL import Image

    header = png_header(data) if data.startswith(b"\x89PNG\r\n\x1a\n") else None
    if header is None or header.height * header.width > MOST_PIXELS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
                if image.width * image.height > MOST_PIXELS:
                    return None
                return np.asarray(image)
    except Exception:  # whatever a decoder thinks of hostile bytes
        return None


def areas(mask: MaskPixels) -> dict[int, int]:
    """Return how many pixels each id has."""
    ids, counts = np.unique(mask.ids, return_counts=True)
    return dict(zip(ids.tolist(), counts.tolist(), strict=True))


def class_word(field: FieldSpec[Mask], id_: int) -> str:
    """Return what an id is called."""
    if id_ == field.kind.ignore:
        return f"ignored ({id_})"
    if 0 <= id_ < len(field.kind.class_names):
        return one_line(field.kind.class_names[id_], 40) or f"{id_}"
    return f"{id_}"


def layers(
    mask: MaskPixels, slots: Mapping[int, tuple[int, int]], budget: Budget
) -> list[tuple[int, str]]:
    """Return the mask as a picture for each slot: (slot, data URL).

    Args:
        mask: the ids.
        slots: slot and colour of the ids that have them; the others share one.
        budget: what pictures may take.
    """
    step = max(1, -(-max(mask.ids.shape) // budget.side))
    ids = mask.ids[::step, ::step]
    found: list[tuple[int, str]] = []
    by_slot: dict[tuple[int, int], list[int]] = {}
    for id_ in np.unique(ids).tolist():
        by_slot.setdefault(slots.get(id_, (OTHERS, OTHERS)), []).append(id_)
    for (slot, color), some in sorted(by_slot.items()):
        url = _layer(np.isin(ids, some), shade(color))
        if budget.spend(url):
            found.append((slot, url))
    return found


def _layer(here: NDArray[np.bool_], color: tuple[int, int, int]) -> str:
    """Return a PNG of one bit a pixel: nothing, or the colour."""
    from PIL import Image

    image = Image.fromarray(here.astype(np.uint8), "P")
    image.putpalette((0, 0, 0, *color))
    out = io.BytesIO()
    image.save(out, "PNG", bits=1, transparency=0, optimize=False)
    return data_url(out.getvalue(), "png")
