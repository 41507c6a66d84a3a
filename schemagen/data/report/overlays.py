"""Masks and boxes over pictures, and the colors of their classes."""

from __future__ import annotations

import io
import itertools
import math
import operator
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import PIL.Image
import PIL.ImageDraw
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.mask import Mask
from ...kinds.multilabel import MultiLabel
from ...kinds.varlen import VarLen
from ...spec.model import RecordSpec
from ..formatting import decoded, one_line, record_value
from ..infer.words import names_mask
from .columns import Column, name_of
from .pictures import FULL, MOST_PIXELS, Budget, Picture, data_url, has_palette, opened
from .records import Features, class_name

# Colors of classes, distinct on photographs and on paper; further classes are grey.
_COLORS = (
    *("#e6550d", "#1f78dc", "#14a05a", "#d72878", "#f5be14", "#7850dc", "#00afc8"),
    *("#aa5f1e", "#96c828", "#f06ea0", "#5a6e82", "#c81e28", "#3c3cb4", "#006e50"),
    *("#fa8c5a", "#8c1478"),
)
_GREY = "#808080"

_MASK_OPACITY = 140  # of 255
_MOST_BOXES = 200

# A class that covers more of the masks than this would hide the pictures.
_GROUND = 0.5

_SIDES = ("xmin", "ymin", "xmax", "ymax")
_SIDE = re.compile(
    r"(?P<stem>.*?)(?P<side>[xy]_?(?:min|max))", re.DOTALL | re.IGNORECASE
)
_NAMES = re.compile(r"label|class|category|name|text", re.IGNORECASE)


class Key(NamedTuple):
    """A class in a legend."""

    color: str
    name: str


class Legend(NamedTuple):
    """The classes of the masks or the boxes of a field."""

    field: str
    kind: str
    classes: tuple[Key, ...]


class Colors:
    """The colors of classes: equal names have equal colors in all fields."""

    def __init__(self) -> None:
        self._by_name: dict[str, str] = {}
        self._of: dict[tuple[str, int | str], str | None] = {}

    def of(self, field_name: str, class_: int | str) -> str | None:
        """Return the color of a class; None if it is not drawn."""
        return self._of[field_name, class_]

    def add(
        self,
        field_name: str,
        counts: Mapping[int | str, int],
        names: Mapping[int | str, str],
        most: float = math.inf,
    ) -> tuple[Key, ...]:
        """Give each class of a field the color of its name, the frequent ones first.

        Those with a greater count than `most` are not drawn.
        """
        keys = {}
        others = 0
        for class_ in sorted(counts, key=lambda each: (-counts[each], str(each))):
            name = names[class_]
            if counts[class_] > most:
                self._of[field_name, class_] = None
                continue
            if name not in self._by_name and len(self._by_name) < len(_COLORS):
                self._by_name[name] = _COLORS[len(self._by_name)]
            color = self._by_name.get(name, _GREY)
            self._of[field_name, class_] = color
            if color == _GREY:
                others += 1
            else:
                keys[class_] = Key(color, name)
        shown = [keys[class_] for class_ in sorted(keys, key=_by_id)]
        if others:
            shown.append(Key(_GREY, f"{others:,} others"))
        return tuple(shown)


def _by_id(class_: int | str) -> tuple[int, str]:
    return (class_, "") if isinstance(class_, int) else (0, class_)


class MaskPixels(NamedTuple):
    """The mask of one record: class ids [H, W]."""

    field: FieldSpec[Mask]
    ids: NDArray[Any]


def guessed_masks(
    columns: Sequence[Column], records: Sequence[Features]
) -> list[FieldSpec[Mask]]:
    """Return the columns without a field that are masks by their key and their values.

    These are PNGs with a palette, whose indices are the classes.
    """
    found = []
    for column in columns:
        if column.field is not None or column.steps or not names_mask(column.key):
            continue
        held = [record.bytes_of(record.feature(column.key)) for record in records]
        values = [some for some in held if some]
        if values and all(len(some) == 1 and has_palette(some[0]) for some in values):
            mask = Mask(key=column.key, shape=(None, None))
            found.append(FieldSpec(column.name, mask))
    return found


def mask_of(field: FieldSpec[Mask], features: Features) -> MaskPixels | None:
    """Read a mask; None if it is missing, or not as the schema says."""
    if field.kind.encoding == "png":
        ids = _png_ids(features.bytes_of(features.feature(field.key)))
    else:
        ids = features.pixels(field)
    if ids is None or ids.ndim != 2 or not 0 < ids.size <= MOST_PIXELS:
        return None
    return MaskPixels(field, ids)


def _png_ids(values: Sequence[bytes]) -> NDArray[Any] | None:
    """Return the ids of a PNG: grey values, or the indices of a palette."""
    try:
        [data] = values
        with opened(data, "png") as image:
            return np.asarray(image)
    except Exception:  # of any type, as the bytes can be hostile
        return None


def mask_class_name(field: FieldSpec[Mask], id_: int) -> str:
    """Return the name of a class id."""
    if id_ == field.kind.ignore:
        return f"ignored ({id_})"
    known = 0 <= id_ < len(field.kind.class_names)
    return (one_line(field.kind.class_names[id_], 40) if known else "") or f"{id_}"


def mask_picture(mask: MaskPixels, colors: Colors, budget: Budget) -> Picture:
    """Return a mask of which a record has no picture of the same proportions."""
    height, width = mask.ids.shape
    name = name_of(mask.field)
    url = _png(_mask_image(mask, colors, budget.side, 255))
    if not budget.spend(url):
        return Picture(trouble=FULL, name=name)
    about = f"{width} × {height}, a mask"
    return Picture(url, about, height, width, coarse=True, name=name)


def overlay(
    picture: Picture,
    masks: Sequence[MaskPixels],
    boxes: Sequence[tuple[str, Box]],
    colors: Colors,
    budget: Budget,
) -> str:
    """Return the URL of a transparent picture of masks, and of boxes and their colors.

    It is empty if there are none, or the report holds enough pictures.
    """
    if not masks and not boxes:
        return ""
    scale = budget.side / max(picture.height, picture.width)
    size = (
        max(1, round(picture.width * scale)),
        max(1, round(picture.height * scale)),
    )
    image = PIL.Image.new("RGBA", size)
    for mask in masks:
        drawn = _mask_image(mask, colors, budget.side, _MASK_OPACITY)
        image.alpha_composite(drawn.resize(size, PIL.Image.Resampling.NEAREST))
    draw = PIL.ImageDraw.Draw(image)
    for color, box in boxes:
        corners = [each * scale for each in (box.left, box.top, box.right, box.bottom)]
        draw.rectangle(corners, outline="#000000", width=4)
        draw.rectangle(corners, outline=color, width=2)
    url = _png(image)
    return url if budget.spend(url) else ""


def _mask_image(
    mask: MaskPixels, colors: Colors, side: int, opacity: int
) -> PIL.Image.Image:
    """Return a small copy of a mask in the colors of its classes."""
    step = max(1, -(-max(mask.ids.shape) // side))
    ids, places = np.unique(mask.ids[::step, ::step], return_inverse=True)
    shades = np.zeros((len(ids), 4), np.uint8)
    for row, id_ in enumerate(ids.tolist()):
        color = colors.of(mask.field.name, id_)
        if color is not None:
            shades[row] = *bytes.fromhex(color[1:]), opacity
    height, width = mask.ids[::step, ::step].shape
    return PIL.Image.fromarray(shades[places.reshape(height, width)])


def _png(image: PIL.Image.Image) -> str:
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return data_url(out.getvalue(), "png")


class BoxFields(NamedTuple):
    """Lists of xmin, ymin, xmax and ymax, and of the name or the id of each box."""

    name: str
    keys: tuple[str, ...]
    label: FieldSpec | None


class Box(NamedTuple):
    """A box in pixels of the picture; `label` may be empty."""

    left: float
    top: float
    right: float
    bottom: float
    label: str


def box_fields(spec: RecordSpec) -> tuple[BoxFields, ...]:
    """Return the boxes of a schema.

    Boxes are four lists of numbers in a VarLen group, or in no group, whose names or
    keys differ in their ends only: xmin, ymin, xmax and ymax.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    for field in spec.fields:
        if not isinstance(field.kind, VarLen) or field.kind.item_shape:
            continue
        matches = map(_SIDE.fullmatch, (field.name, field.key))
        if match := next(filter(None, matches), None):
            side = match["side"].lower().replace("_", "")
            sides = found.setdefault((field.kind.group or "", match["stem"]), {})
            sides.setdefault(side, field.key)
    return tuple(
        BoxFields(
            one_line(stem.rstrip("/_.") or group or "boxes", 40),
            tuple(sides[side] for side in _SIDES),
            _label_field(spec, group, sides.values()),
        )
        for (group, stem), sides in found.items()
        if set(sides) == set(_SIDES)
    )


def _label_field(
    spec: RecordSpec, group: str, taken: Collection[str]
) -> FieldSpec | None:
    """Return the field that names boxes: texts, or ids of the same group."""
    texts: list[FieldSpec] = []
    numbers: list[FieldSpec] = []
    for field in spec.fields:
        if field.key in taken:
            continue
        if isinstance(field.kind, VarLen) and group and field.kind.group == group:
            if _NAMES.search(field.name) or _NAMES.search(field.key):
                (texts if field.kind.dtype in ("string", "bytes") else numbers).append(
                    field
                )
        elif isinstance(field.kind, MultiLabel):
            numbers.append(field)
    return next(iter((*texts, *numbers)), None)


def boxes_in(
    fields: BoxFields, features: Features, height: int, width: int
) -> Iterator[Box]:
    """Yield the boxes of a record.

    If all numbers are from 0 to 1 they are shares of the picture's size, and else
    pixels. Boxes that are turned, not finite or outside of the picture are left out.
    """
    sides = [features.numbers(key) for key in fields.keys]
    if len({len(side) for side in sides}) != 1:
        return
    relative = all(0 <= value <= 1 for side in sides for value in side)
    scales = (width, height, width, height) if relative else (1, 1, 1, 1)
    labels = _labels(fields.label, features, len(sides[0]))
    corners = zip(*sides, labels, strict=True)
    for *numbers, label in itertools.islice(corners, _MOST_BOXES):
        if not all(map(math.isfinite, numbers)):
            continue
        left, top, right, bottom = map(operator.mul, map(float, numbers), scales)
        turned = right < left or bottom < top
        outside = left > width or top > height or right < 0 or bottom < 0
        if not (turned or outside):
            right, bottom = min(width, right), min(height, bottom)
            yield Box(max(0.0, left), max(0.0, top), right, bottom, label)


def _labels(field: FieldSpec | None, features: Features, count: int) -> list[str]:
    feature = features.feature(field.key) if field is not None else None
    if feature is None or len(feature.values) != count:
        return [""] * count
    if feature.kind == "bytes":
        texts = features.bytes_of(feature)
        return [one_line(decoded(text) or "", 40) for text in texts]
    if field is not None and isinstance(field.kind, MultiLabel):
        return [class_name(field, value, 40) for value in feature.values]
    return [record_value(value) for value in feature.values]


def legends_of(
    records: Sequence[tuple[Features, Sequence[MaskPixels]]],
    masks: Sequence[FieldSpec[Mask]],
    boxes: Sequence[BoxFields],
) -> tuple[Colors, list[Legend]]:
    """Return the colors of all classes, and legends for them."""
    colors = Colors()
    legends = []
    for field in masks:
        areas: Counter[int | str] = Counter()
        for mask in (mask for _, found in records for mask in found):
            if mask.field is field:
                ids, counts = np.unique(mask.ids, return_counts=True)
                areas.update(dict(zip(ids.tolist(), counts.tolist(), strict=True)))
        names = {id_: mask_class_name(field, int(id_)) for id_ in areas}
        keys = colors.add(field.name, areas, names, areas.total() * _GROUND)
        legends.append(Legend(name_of(field), "Masks", keys))
    for some in boxes:
        # Their names do not depend on the size of the picture.
        found = [
            box.label
            for features, _ in records
            for box in boxes_in(some, features, 1 << 30, 1 << 30)
        ]
        labels: Counter[int | str] = Counter(found)
        names = {label: str(label) or "box" for label in labels}
        keys = colors.add(some.name, labels, names)
        legends.append(Legend(some.name, "Boxes", keys))
    return colors, [legend for legend in legends if legend.classes]
