"""Boxes: which lists are their sides, in which order, and in pixels of which image.

Names alone do not tell. The records are read once more, and each form that the numbers
could have is compared with what boxes are: they end after they begin, within 0 to 1 or
within an image.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.columns import Columns, Rows
from ...runtime.cells.faults import Features
from ...runtime.kinds.box_sides import XYWH, XYXY, YXYX
from ...runtime.kinds.images import Image
from ...runtime.records.relations import ROUNDED, Boxes
from ...runtime.shared.errors import Problem
from ...spec.model import FieldSpec
from ..formatting import plural
from .deciding import Drafted
from .draft import DOUBT, odd_doubt, quoted, with_commas
from .evidence import is_rare
from .key_words import words_of

Sides = tuple[str, ...]

# Sides that no field declares: readers would have to calculate with them.
CENTERS: Sides = ("xcenter", "ycenter", "width", "height")

_CENTER_OF = {"xmin": "xcenter", "ymin": "ycenter"}
_FORMS = (YXYX, XYXY, XYWH, CENTERS)

# What keys of items of four are called, and what tells the order of their numbers.
_BOXES = {"box", "boxes", "bbox", "bboxes", "bndbox", "bndboxes", "rois"}
_ORDERS = {
    **dict.fromkeys(("xyxy", "ltrb"), XYXY),
    **dict.fromkeys(("yxyx", "tlbr"), YXYX),
    **dict.fromkeys(("xywh", "ltwh", "coco"), XYWH),
    "cxcywh": CENTERS,
}

# How sides are called at the ends of keys, all four of one convention.
_NAMED: tuple[Mapping[str, str], ...] = (
    {"xmin": "xmin", "ymin": "ymin", "xmax": "xmax", "ymax": "ymax"},
    {"minx": "xmin", "miny": "ymin", "maxx": "xmax", "maxy": "ymax"},
    {"x1": "xmin", "y1": "ymin", "x2": "xmax", "y2": "ymax"},
    {"x0": "xmin", "y0": "ymin", "x1": "xmax", "y1": "ymax"},
    {"left": "xmin", "top": "ymin", "right": "xmax", "bottom": "ymax"},
    {"xmin": "xmin", "ymin": "ymin", "width": "width", "height": "height"},
    {"left": "xmin", "top": "ymin", "width": "width", "height": "height"},
    {"x": "xmin", "y": "ymin", "width": "width", "height": "height"},
    {"x": "xmin", "y": "ymin", "w": "width", "h": "height"},
)

# A box that ends beyond it is in pixels; shares are at most a little above 1.
_PIXELS = 2.0
# So many records that are no boxes in another order are no chance.
_SURE = 20


@dataclass
class BoxTally:
    """How the boxes of records are in one form.

    Attributes:
        records: how many have a box.
        broken: in how many a box ends before it begins.
        shares: in how many all are within 0 to 1.
        pixels: in how many one ends far above 1.
        sized: in how many an image has a size, by its label.
        outside: in how many of these a box is outside of it.
    """

    records: int = 0
    broken: int = 0
    shares: int = 0
    pixels: int = 0
    sized: Counter[str] = field(default_factory=Counter)
    outside: Counter[str] = field(default_factory=Counter)

    def add(self, boxes: _BoxValues, sides: Sides, images: Mapping[str, Rows]) -> None:
        """Add the boxes of some records, and the sizes of their images."""
        begins, ends, sizes = boxes.corners(sides)
        not_before = np.asarray((begins >= 0).all(axis=1))
        records = boxes.count()
        self.records += records
        self.broken += boxes.count((sizes < 0).any(axis=1))
        within = not_before & (ends <= ROUNDED).all(axis=1)
        self.shares += records - boxes.count(~within)
        self.pixels += boxes.count((ends > _PIXELS).any(axis=1))
        for label, table in images.items():
            known = table[boxes.owners]
            there = (known > 0).all(axis=1)
            inside = not_before & (ends <= known * ROUNDED).all(axis=1)
            self.sized[label] += boxes.count(there)
            self.outside[label] += boxes.count(there & ~inside)

    @property
    def are_shares(self) -> bool:
        """Whether the numbers are shares of a height and a width."""
        return 2 * self.shares >= self.records

    @property
    def ordered(self) -> bool:
        """Whether no box, or one in few records, ends before it begins."""
        return _few(self.broken, self.records)

    def holding(self) -> list[str]:
        """Return the images inside of which nearly all boxes are, if in pixels."""
        if self.are_shares or 2 * self.pixels < self.records:
            return []
        return [
            label
            for label, count in self.sized.items()
            if count and _few(self.outside[label], count)
        ]

    @property
    def fits(self) -> bool:
        """Whether the numbers can be boxes of this form."""
        inside = self.are_shares and _few(self.records - self.shares, self.records)
        return bool(self.records) and self.ordered and (inside or bool(self.holding()))


class _BoxValues(NamedTuple):
    """The boxes of some records.

    Attributes:
        numbers: float64 [boxes, 4].
        owners: int64 [boxes], the record of each.
    """

    numbers: NDArray[np.float64]
    owners: Rows

    def count(self, some: Any = ...) -> int:
        """Return how many records have some of the boxes: bool [boxes], or all."""
        return len(np.unique(self.owners[some]))

    def corners(self, sides: Sides) -> tuple[Any, Any, Any]:
        """Return where boxes begin and end, and their sizes: [boxes, (y, x)]."""
        named = dict(zip(sides, self.numbers.T, strict=True))
        if "xcenter" in named:
            sizes = np.stack([named["height"], named["width"]], axis=1)
            begins = np.stack([named["ycenter"], named["xcenter"]], axis=1) - sizes / 2
            return begins, begins + sizes, sizes
        begins = np.stack([named["ymin"], named["xmin"]], axis=1)
        if "width" in named:
            sizes = np.stack([named["height"], named["width"]], axis=1)
            return begins, begins + sizes, sizes
        ends = np.stack([named["ymax"], named["xmax"]], axis=1)
        return begins, ends, ends - begins


def _few(count: int, of: int) -> bool:
    return not count or is_rare(count, of)


@dataclass(frozen=True)
class Candidate:
    """Fields that may be boxes.

    Attributes:
        fields: the four lists of a group, or one field of items of four.
        forms: the sides that they can be, in the order of the fields or numbers.
        named: whether a name tells the form.
    """

    fields: tuple[FieldSpec, ...]
    forms: tuple[Sides, ...]
    named: bool

    @property
    def keys(self) -> str:
        """The keys, for a comment."""
        return with_commas(quoted(each.key) for each in self.fields)

    def boxes(self, columns: Columns) -> _BoxValues:
        """Return the boxes in some records, of those that have all sides."""
        relation = Boxes(
            tuple(each.codec for each in self.fields), ("0", "1", "2", "3")
        )
        live = np.ones(len(columns.records), np.bool_)
        stored = relation.stored(Features(live, columns.by_key))
        numbers = np.stack([*relation.values(stored).values()], axis=1)
        column = stored[0].column
        counts = column.lengths // (4 // len(self.fields))
        return _BoxValues(numbers.astype(np.float64), np.repeat(column.rows, counts))

    def declared(self, sides: Sides, **facts: Any) -> list[FieldSpec]:
        """Return the fields with the sides that they are, and further facts.

        Raises:
            Problem: a field of this kind cannot have them.
        """
        if len(self.fields) == 1:
            return [self.fields[0].replaced(box=sides, **facts)]
        pairs = zip(self.fields, sides, strict=True)
        return [each.replaced(box=side, **facts) for each, side in pairs]

    def offers(self, forms: Sequence[Sides]) -> str:
        """Return how some forms are declared, for a comment."""
        declarable = [sides for sides in forms if "xcenter" not in sides]
        code = [", ".join(f'"{side}"' for side in sides) for sides in declarable]
        if len(self.fields) == 1:
            offers = " or ".join(f"box=({each})" for each in code)
        else:
            offers = " or ".join(
                f"box={each} in this order of {self.keys}" for each in code
            )
        centers = any("xcenter" in sides for sides in forms)
        return offers + ", unless these are centers and sizes" * centers


def with_boxes(drafted: Drafted, again: Callable[[], Iterable[Columns]]) -> Drafted:
    """Return a record with the boxes that its fields are, and doubts about others.

    Args:
        drafted: the record.
        again: reads the records that it was inferred from.
    """
    fields = drafted.spec.fields
    candidates = [*_in_groups(fields), *_items_of_four(fields)]
    if not candidates:
        return drafted
    images = {f.label: f.codec for f in fields if isinstance(f.kind, Image)}
    tallies = [{form: BoxTally() for form in each.forms} for each in candidates]
    uneven: set[str] = set()
    for columns in again():
        features = Features(np.ones(len(columns.records), np.bool_), columns.by_key)
        sizes = {label: _sizes_in(codec, features) for label, codec in images.items()}
        for candidate, of_forms in zip(candidates, tallies, strict=True):
            uneven |= _uneven(candidate.fields[0], features)
            boxes = candidate.boxes(columns)
            for form, tally in of_forms.items():
                tally.add(boxes, form, sizes)
    found = {each.name: each for each in fields}
    comments = {name: [*texts] for name, texts in drafted.comments.items()}
    for candidate, of_forms in zip(candidates, tallies, strict=True):
        first = candidate.fields[0].name
        if first in uneven:
            continue
        declared, said = _decided(candidate, of_forms)
        found |= {each.name: each for each in declared}
        if said:
            comments[first] = [*comments.get(first, ()), *said]
    spec = replace(drafted.spec, fields=tuple(found.values()))
    return replace(drafted, spec=spec, comments=comments)


def _sizes_in(image: Any, features: Features) -> Rows:
    """Return the height and width of each record's image: int64 [records, 2]; or 0."""
    table = np.zeros((len(features.live), 2), np.int64)
    rows, sizes = image.sizes_in(features)
    table[rows] = sizes
    return table


def _uneven(field: FieldSpec, features: Features) -> set[str]:
    """Return the name of a field of items with other than four numbers."""
    if not field.facts().get("item_shape"):
        return set()
    column = features.column(field.key, field.parts[0].kind)
    return {field.name} if (column.lengths % 4).any() else set()


def _in_groups(fields: Sequence[FieldSpec]) -> Iterator[Candidate]:
    """Yield the four lists of each group that are named as the sides of boxes."""
    grouped = [each for each in fields if each.facts().get("group")]
    grouped.sort(key=lambda each: str(each.facts()["group"]))
    for _, members in groupby(grouped, lambda each: each.facts()["group"]):
        lists = [each for each in members if _holds_numbers(each, ())]
        named = [*_named_sides(lists)]
        if len(named) == 1:  # a group has the sides of one box
            sides, certain = named[0]
            chosen = tuple(each for each in lists if each.name in sides)
            order = tuple(sides[each.name] for each in chosen)
            centers = tuple(_CENTER_OF.get(side, side) for side in order)
            yield Candidate(chosen, (order,) if certain else (order, centers), certain)


def _named_sides(lists: Sequence[FieldSpec]) -> Iterator[tuple[dict[str, str], bool]]:
    """Yield the sides that four fields are named as, and whether the names are certain.

    x and y may be a corner or the center.
    """
    plain = {each.name: re.sub(r"[^a-z0-9/]", "", each.key.lower()) for each in lists}
    taken: set[str] = set()
    words = {each.name: words_of(each.key)[-1:] for each in lists}
    for convention in _NAMED:
        stems: dict[str, dict[str, str]] = {}
        for name, key in plain.items():
            for word, side in convention.items():
                is_word = words[name] == [word] or len(word) > 1
                if name not in taken and key.endswith(word) and is_word:
                    stems.setdefault(key.removesuffix(word), {})[name] = side
        for sides in stems.values():
            if len(sides) == len({*sides.values()}) == 4:
                taken |= sides.keys()
                yield sides, "x" not in convention


def _items_of_four(fields: Sequence[FieldSpec]) -> Iterator[Candidate]:
    """Yield the fields of items of four numbers that are named as boxes."""
    for each in fields:
        words = words_of(each.key)
        if _BOXES.isdisjoint(words):
            continue
        facts = each.facts()
        if _holds_numbers(each, ()) and not (facts["group"] or facts["max_length"]):
            each = each.replaced(item_shape=(4,))
        if not _holds_numbers(each, (4,)):
            continue
        orders = [_ORDERS[word] for word in words if word in _ORDERS]
        yield Candidate((each,), tuple(orders[:1]) or _FORMS, named=bool(orders))


def _holds_numbers(field: FieldSpec, shape: tuple[int, ...]) -> bool:
    """Return whether a field holds lists of numbers in a list, of items of a shape."""
    facts = field.facts()
    own = facts.get("item_shape") if field.kind.kind == "VarLen" else facts.get("shape")
    if field.kind.kind not in ("VarLen", "Vector" if shape else "VarLen"):
        return False
    return (
        own is not None and own[-1:] == shape and facts["dtype"] in ("float32", "int64")
    )


Said = list[str]


def _decided(
    candidate: Candidate, tallies: Mapping[Sides, BoxTally]
) -> tuple[list[FieldSpec], Said]:
    """Return the fields of a candidate as they are declared, and what is said of them."""
    records = max(tally.records for tally in tallies.values())
    if not records:
        return [], []
    if candidate.named:
        ((sides, tally),) = tallies.items()
        if "xcenter" in sides:
            return [], [DOUBT + _OF_CENTERS]
        if not tally.ordered:
            return [], [DOUBT + _broken(tally, candidate)]
        return _declared(candidate, sides, tally)
    fitting = [sides for sides, tally in tallies.items() if tally.fits]
    if fitting and all("xcenter" in sides for sides in fitting):
        return [], [DOUBT + _OF_CENTERS]
    if set(fitting) == {YXYX, XYXY} and _is_of_tfds(candidate):
        declared, said = _declared(candidate, YXYX, tallies[YXYX])
        doubt = "taken as TFDS stores boxes, ymin, xmin, ymax, xmax: or is xmin first?"
        return declared, [DOUBT + doubt, *said]
    if len(fitting) != 1:
        return [], [DOUBT + _unclear(candidate, fitting)]
    (sides,) = fitting
    others = [tally for form, tally in tallies.items() if form != sides]
    wrong = min(_refuted(tally) for tally in others)
    if not wrong:
        return [], [DOUBT + _unclear(candidate, fitting)]
    declared, said = _declared(candidate, sides, tallies[sides])
    text = (
        f"{', '.join(sides)}: in another order, {wrong:,} or more of "
        f"{plural(records, 'record')} have no boxes"
    )
    return declared, [text if wrong >= _SURE else DOUBT + text, *said]


_OF_CENTERS = (
    "boxes by their centers and sizes, which box= does not have: write corners for "
    "checks of boxes"
)


def _refuted(tally: BoxTally) -> int:
    """Return in how many records the numbers are no boxes of a form."""
    outside = min(tally.outside.values(), default=0)
    beyond = tally.records - tally.shares if tally.are_shares else outside
    return max(tally.broken, beyond)


def _is_of_tfds(candidate: Candidate) -> bool:
    return candidate.fields[0].key.split("/")[-2:] == ["objects", "bbox"]


def _broken(tally: BoxTally, candidate: Candidate) -> str:
    return (
        f"no box=, since {tally.broken:,} of {plural(tally.records, 'record')} have a box "
        f"of {candidate.keys} that ends before it begins: are the sides in another order?"
    )


def _unclear(candidate: Candidate, fitting: Sequence[Sides]) -> str:
    """Say which forms the numbers may have."""
    offers = candidate.offers(fitting or candidate.forms)
    if fitting:
        return f"boxes, in an order that the numbers do not tell: declare {offers}"
    return (
        "boxes? In no order they are within 0 to 1, or within an image of their record: "
        f"declare {offers}"
    )


def _declared(
    candidate: Candidate, sides: Sides, tally: BoxTally
) -> tuple[list[FieldSpec], Said]:
    """Return fields with their sides, and doubts about the records that break them."""
    doubts: list[str] = []
    of = plural(tally.records, "record")
    if tally.broken:
        doubts.append(odd_doubt(tally.broken, of, "a box that ends before it begins"))
    holding = tally.holding()
    image = holding[0] if len(holding) == 1 else None
    if image is not None:
        if outside := tally.outside[image]:
            of = plural(tally.sized[image], "record")
            doubts.append(odd_doubt(outside, of, f"a box outside of {quoted(image)}"))
    elif tally.are_shares:
        if beyond := tally.records - tally.shares:
            doubts.append(f"{beyond:,} of {of} have a box outside of 0 to 1")
    elif len(holding) > 1:
        names = with_commas(map(quoted, holding))
        doubts.append(f"in pixels of which image: {names}? Then say box_image=")
    elif tally.sized and 2 * tally.pixels >= tally.records:
        doubts.append(
            "neither within 0 to 1 nor within "
            + with_commas(
                f"{quoted(label)} ({tally.outside[label]:,} of "
                f"{plural(count, 'record')} are outside)"
                for label, count in tally.sized.items()
            )
            + ": in pixels of another size?"
        )
    elif not tally.sized and 2 * tally.pixels >= tally.records:
        doubts.append("in pixels: of which image? Then say box_image=")
    elif not tally.pixels or 2 * tally.pixels < tally.records:
        doubts.append(f"above 1 in many of {of}, and hardly in pixels: of which unit?")
    try:
        declared = candidate.declared(sides, box_image=image)
    except Problem:
        return [], []
    return declared, [DOUBT + each for each in doubts]
