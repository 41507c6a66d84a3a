"""Masks and boxes over pictures, in the colors of their classes."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runtime.images.headers import MOST_PIXELS
from ...runtime.kinds.box_sides import XYXY
from ..formatting import decoded, one_line, record_value
from ..profile.columns import class_names
from ..profile.record_values import DecodedFeatures
from ..thumbnails import Box, Budget, Thumbnail, opened, palette_url, shown

if TYPE_CHECKING:
    from ...spec.model import FieldSpec, RecordSpec

# The colors of ids, again and again; id 0 is black, and transparent over pictures.
_COLORS = (
    *("#8c1478", "#e6550d", "#1f78dc", "#14a05a", "#d72878", "#f5be14", "#7850dc"),
    *("#00afc8", "#aa5f1e", "#96c828", "#f06ea0", "#5a6e82", "#c81e28", "#3c3cb4"),
    *("#006e50", "#fa8c5a"),
)
_PALETTE = bytes(3) + bytes.fromhex("".join(_COLORS * 16).replace("#", ""))[3:]

_MASK_OPACITY = 140  # of 255
_MOST_BOXES = 100
_MOST_CLASSES = 40

_NAMES = re.compile(r"label|class|category|name|text", re.IGNORECASE)


class Key(NamedTuple):
    """A class in a legend."""

    color: str
    name: str


class Legend(NamedTuple):
    """The first classes of the masks or the boxes of a field, and how many more."""

    field: str
    kind: str
    classes: Sequence[Key]
    more: int


class BoxFields(NamedTuple):
    """Lists of xmin, ymin, xmax and ymax, and of the name or the id of each box."""

    name: str
    keys: tuple[str, ...]
    label: FieldSpec | None


@dataclass(frozen=True)
class Overlays:
    """The masks and boxes of a schema, and the classes that have been drawn.

    Attributes:
        masks: the fields that are masks.
        boxes: the fields that are boxes.
        drawn: the classes and their ids, by "Masks" or "Boxes" and name of the field.
        pixels: how many pixels of masks have which id, by key of the field and split.
        counted: of how many masks these are, likewise.
    """

    masks: Sequence[FieldSpec]
    boxes: Sequence[BoxFields]
    drawn: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    pixels: dict[tuple[str, str], Counter[int]] = field(default_factory=dict)
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, mask: FieldSpec, ids: NDArray[Any], split: str) -> None:
        """Count the pixels of a mask of a split."""
        place = mask.key, split
        found = zip(
            *(each.tolist() for each in np.unique(ids, return_counts=True)), strict=True
        )
        self.pixels.setdefault(place, Counter()).update(dict(found))
        self.counted[place] += 1

    def mask(
        self, mask: FieldSpec, ids: NDArray[Any], budget: Budget, opacity: int
    ) -> str:
        """Return the URL of a mask; id 0 is transparent unless the others are opaque."""
        step = max(1, -(-max(ids.shape) // budget.side))
        shown = ids[::step, ::step]
        drawn = self.drawn.setdefault(("Masks", one_line(mask.label, 80)), {})
        for id_ in map(int, np.unique(shown)):
            if id_ % 256:
                drawn.setdefault(mask_class_name(mask, id_), id_)
        alpha = bytes([255 if opacity == 255 else 0, *[opacity] * 255])
        return palette_url(shown.astype(np.uint8), _PALETTE, alpha)  # modulo 256

    def picture(self, mask: FieldSpec, ids: NDArray[Any], budget: Budget) -> Thumbnail:
        """Return a mask of which a record has no picture of the same proportions."""
        height, width = ids.shape
        url = self.mask(mask, ids, budget, 255)
        picture = shown(url, f"{width} × {height}, a mask", height, width, budget)
        return replace(picture, coarse=True, name=one_line(mask.label, 80))

    def over(self, mask: FieldSpec, ids: NDArray[Any], budget: Budget) -> str:
        """Return the URL of a mask over a picture; empty if no bytes are left."""
        url = self.mask(mask, ids, budget, _MASK_OPACITY)
        return url if budget.spend(url) else ""

    def boxes_over(
        self, features: DecodedFeatures, height: int, width: int
    ) -> list[Box]:
        """Return the boxes of a record over a picture of this size."""
        found = []
        for some in self.boxes:
            drawn = self.drawn.setdefault(("Boxes", some.name), {})
            for box in boxes_in(some, features, height, width):
                color = _color(drawn.setdefault(box.label or "box", len(drawn) + 1))
                found.append(box._replace(color=color))
        return found

    def legends(self) -> list[Legend]:
        """Return the colors of the classes that have been drawn."""
        found = []
        for (kind, name), drawn in self.drawn.items():
            ids = sorted(drawn.items(), key=operator.itemgetter(1))
            keys = [Key(_color(id_), label) for label, id_ in ids]
            more = len(keys[_MOST_CLASSES:])
            found.append(Legend(name, kind, keys[:_MOST_CLASSES], more))
        return [legend for legend in found if legend.classes]


def overlays_of(spec: RecordSpec | None) -> Overlays:
    """Return the masks and boxes of a schema."""
    if spec is None:
        return Overlays((), ())
    from ...spec.training import per_pixel

    masks = [field for field in spec.fields if per_pixel(field.kind)]
    return Overlays(masks, box_fields(spec))


def ids_of(field: FieldSpec, features: DecodedFeatures) -> NDArray[Any] | None:
    """Read the ids of a mask [H, W]; None if it is missing, or not as the schema says.

    Those of a PNG are grey values, or the indices of a palette.
    """
    if field.parts[0].encoding == "raw":
        ids = features.pixels(field)
    else:
        try:
            [data] = features.bytes_of(features.feature(field.key))
            with opened(data, "png") as image:
                ids = np.asarray(image)
        except Exception:  # of any type, as the bytes can be hostile
            return None
    if ids is None or ids.ndim != 2 or not 0 < ids.size <= MOST_PIXELS:
        return None
    return ids


def _color(id_: int) -> str:
    return _COLORS[id_ % len(_COLORS)]


def mask_class_name(field: FieldSpec, id_: int) -> str:
    """Return the name of a class id."""
    if id_ == field.kind.ignore:
        return f"ignored ({id_})"
    known = 0 <= id_ < len(field.kind.classes)
    return (one_line(field.kind.classes[id_], 40) if known else "") or f"{id_}"


def box_fields(spec: RecordSpec) -> tuple[BoxFields, ...]:
    """Return the boxes of a schema.

    Boxes are four lists of numbers in a VarLen group, or in no group, whose names or
    keys differ in their ends only: xmin, ymin, xmax and ymax.
    """
    lists = list(filter(_is_list, spec.fields))
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in lists:
        name = next((n for n in (each.name, each.key) if n[-4:] in XYXY), None)
        if name is not None:
            sides = found.setdefault((each.facts()["group"] or "", name[:-4]), {})
            sides.setdefault(name[-4:], each.key)
    return tuple(
        BoxFields(
            one_line(stem.rstrip("/_.") or group or "boxes", 40),
            tuple(sides[side] for side in XYXY),
            next((each for each in lists if _names(each, group, sides)), None),
        )
        for (group, stem), sides in found.items()
        if set(sides) == set(XYXY)
    )


def _is_list(field: FieldSpec) -> bool:
    """Tell lists of single values, which may be in a group."""
    shape, (part, *_) = field.codec.delivered.shape, field.parts
    single = len(shape) == 1 and not part.in_list
    return single and "group" in field.facts()


def _names(field: FieldSpec, group: str, sides: dict[str, str]) -> bool:
    """Return whether a list of a group names its boxes."""
    if not group or field.facts()["group"] != group or field.key in sides.values():
        return False
    return bool(_NAMES.search(field.name) or _NAMES.search(field.key))


def boxes_in(
    fields: BoxFields, features: DecodedFeatures, height: int, width: int
) -> Iterator[Box]:
    """Yield the boxes of a record.

    If all numbers are from 0 to 1 they are shares of the picture's size, and else
    pixels. Boxes that are not finite or outside of the picture are left out.
    """
    sides = [features.numbers(key) for key in fields.keys]
    if len({len(side) for side in sides}) != 1:
        return
    corners = np.array(sides, np.float64).T
    if ((corners >= 0) & (corners <= 1)).all():
        corners = corners * (width, height, width, height)
    labels = _labels(fields.label, features, len(corners))
    inside = corners.clip(0, (width, height, width, height)).tolist()
    for box, label in zip(inside[:_MOST_BOXES], labels, strict=False):
        left, top, right, bottom = box
        if left < right and top < bottom:
            yield Box(left, top, right, bottom, label)


def _labels(
    field: FieldSpec | None, features: DecodedFeatures, count: int
) -> list[str]:
    feature = features.feature(field.key) if field is not None else None
    if field is None or feature is None or len(feature.values) != count:
        return [""] * count
    texts = [one_line(decoded(text) or "", 40) for text in features.bytes_of(feature)]
    names = class_names(field)
    return texts or [names.get(v) or record_value(v) for v in feature.values]
