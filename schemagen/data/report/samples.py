"""A few whole records: pictures with masks and boxes over them, and all values."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...progress import Bar
from ...runtime.shared.images import sniff
from ...spec.model import RecordSpec
from ..formatting import listed, one_line, plural
from ..statistics.samples import Sample as Kept
from .columns import Column, Split, shape_text
from .overlays import (
    Box,
    BoxFields,
    Colors,
    Legend,
    MaskPixels,
    box_fields,
    boxes_in,
    guessed_masks,
    legends_of,
    mask_of,
    mask_picture,
    overlay,
)
from .pictures import Budget, Picture, copy_of, copy_of_pixels
from .records import MISSING, Features, class_names, read, value_text

_MOST_SPLITS = 8
_MOST_VALUES = 60
_MOST_PICTURES = 4
_SHARD = re.compile(r"-(?P<shard>\d{5})-of-(?P<of>\d{5})(?!\d)")

# The number of samples of each split, by the number of splits.
_PER_SPLIT = {1: 24, 2: 24, 3: 16, 4: 12, 5: 12, 6: 8}
_PER_SPLIT_OF_MORE = 6


class Value(NamedTuple):
    """The values of a record in one column."""

    name: str
    type: str
    text: str
    missing: bool = False


@dataclass(frozen=True)
class Sample:
    """A record as the page shows it; `headline` has its labels."""

    id: str
    title: str
    file: str
    headline: str
    pictures: Sequence[Picture]
    values: Sequence[Value]


@dataclass(frozen=True)
class Samples:
    """The samples of one split; `of` says how many of how many."""

    split: Split
    of: str
    samples: Sequence[Sample]


def samples_of(
    splits: Sequence[Split], columns: Sequence[Column], spec: RecordSpec | None
) -> tuple[list[Samples], list[Legend]]:
    """Return samples of each split, and legends for the colors in them."""
    fields = spec.fields if spec else ()
    masks = [field for field in fields if isinstance(field.kind, Mask)]
    boxes = box_fields(spec) if spec else ()
    most = _PER_SPLIT.get(len(splits), _PER_SPLIT_OF_MORE)
    chosen: list[list[_Record]] = []
    records = []
    for split in splits[:_MOST_SPLITS]:
        kept = split.found.samples[:most]
        in_order = sorted(kept, key=lambda sample: (sample.file, sample.number))
        records.append([(sample, read(sample.data)) for sample in in_order])
    masks += guessed_masks(columns, [each for some in records for _, each in some])
    chosen += [[_record(*each, masks) for each in some] for some in records]
    every = [(record.features, record.masks) for some in chosen for record in some]
    colors, legends = legends_of(every, masks, boxes)
    painter = _Painter(columns, spec, boxes, colors, Budget(), {m.key for m in masks})
    painted: list[list[Sample]] = [[] for _ in chosen]
    # One of each split in turn, so that the budget is shared fairly.
    with Bar("drawing records", sum(map(len, chosen)), "record") as bar:
        for rank in range(most):
            for index, some in enumerate(chosen):
                if rank < len(some):
                    id_ = f"record-{index + 1}-{rank + 1}"
                    painted[index].append(painter.sample(some[rank], id_))
                    bar()
    return [
        Samples(
            split, f"{len(shown):,} of {plural(split.found.records, 'record')}", shown
        )
        for split, shown in zip(splits, painted, strict=False)
        if shown
    ], legends


class _Record(NamedTuple):
    kept: Kept
    features: Features
    masks: list[MaskPixels]


def _record(
    kept: Kept, features: Features, masks: Sequence[FieldSpec[Mask]]
) -> _Record:
    found = [mask_of(field, features) for field in masks]
    return _Record(kept, features, [mask for mask in found if mask is not None])


@dataclass(frozen=True)
class _Painter:
    """Makes what the page shows of records."""

    columns: Sequence[Column]
    spec: RecordSpec | None
    boxes: Sequence[BoxFields]
    colors: Colors
    budget: Budget
    masks: Collection[str]

    def sample(self, record: _Record, id_: str) -> Sample:
        """Return a record as the page shows it."""
        file = os.path.basename(record.kept.file)
        title = f"record {record.kept.number:,}"
        # Records of several shards have the same numbers.
        shard = _SHARD.search(file)
        if shard is not None and int(shard["of"]) > 1:
            title += f", shard {int(shard['shard'])}"
        return Sample(
            id=id_,
            title=title,
            file=one_line(file, 80),
            headline=self._headline(record.features),
            pictures=self._pictures(record),
            values=self._values(record.features),
        )

    def _headline(self, features: Features) -> str:
        if features.trouble:
            return "malformed"
        fields = self.spec.fields if self.spec else ()
        labels = [field for field in fields if isinstance(field.kind, Label)]
        targets = [field for field in labels if field.role == "target"]
        return listed(
            [
                name
                for field in targets or labels
                for name in class_names(field, features.feature(field.key), features)
            ],
            3,
        )

    def _values(self, features: Features) -> list[Value]:
        if features.trouble:
            return [Value("malformed", "", features.trouble)]
        found = []
        for column in self.columns[:_MOST_VALUES]:
            text = value_text(column, features)
            found.append(Value(column.name, column.type, text, text == MISSING))
        if len(self.columns) > _MOST_VALUES:
            more = plural(len(self.columns) - _MOST_VALUES, "more key")
            found.append(Value("…", "", f"{more}, not shown", missing=True))
        return found

    def _pictures(self, record: _Record) -> list[Picture]:
        features = record.features
        pictures: list[Picture] = []
        for column in self.columns:
            room = _MOST_PICTURES - len(pictures)
            copies = self._copies(column, features) if room else []
            for index, copy in enumerate(copies[:room]):
                several = f" {index + 1} of {len(copies)}" if len(copies) > 1 else ""
                copy.name = column.name + several
                pictures.append(copy)
        copies = [picture for picture in pictures if picture.url]
        over: list[list[MaskPixels]] = [[] for _ in copies]
        for mask in record.masks:
            alike = (at for at, copy in enumerate(copies) if _alike(copy, mask))
            place = next(alike, None)
            if place is None:
                pictures.append(mask_picture(mask, self.colors, self.budget))
            else:
                over[place].append(mask)
        for index, (copy, masks) in enumerate(zip(copies, over, strict=True)):
            boxes = self._boxes(features, copy) if index == 0 else []
            copy.overlay = overlay(copy, masks, boxes, self.colors, self.budget)
        return pictures

    def _boxes(self, features: Features, picture: Picture) -> list[tuple[str, Box]]:
        """Return the boxes over a picture, with their colors."""
        return [
            (color, box)
            for fields in self.boxes
            for box in boxes_in(fields, features, picture.height, picture.width)
            if (color := self.colors.of(fields.name, box.label))
        ]

    def _copies(self, column: Column, features: Features) -> list[Picture]:
        """Return copies of the images of a record in one column."""
        field = column.field
        kind = field and field.kind
        if not isinstance(kind, Image | Images | None) or column.key in self.masks:
            return []
        if column.steps:
            steps = features.message.lists.get(column.key, [])[:_MOST_PICTURES]
            held = [features.bytes_of(step) for step in steps]
            values = [some[0] for some in held if len(some) == 1 and sniff(some[0])]
        else:
            values = features.contents_of(field, column.key)
            raw = isinstance(kind, Image) and kind.encoding == "raw"
            if values and field is not None and raw:
                return [self._raw(field, features)]
            values = values[:_MOST_PICTURES]
        if field is not None:
            return [copy_of(value, self.budget) for value in values]
        # Without a schema, texts may begin like an image.
        if not all(map(sniff, values)):
            return []
        copies = [copy_of(value, self.budget) for value in values]
        return [copy for copy in copies if copy.about or "pixels" in copy.trouble]

    def _raw(self, field: FieldSpec[Image], features: Features) -> Picture:
        pixels = features.pixels(field)
        if pixels is None or pixels.ndim != 3:
            wanted = f"{shape_text(field.kind.shape)} {field.kind.dtype} pixels"
            return Picture(trouble=f"not the bytes of {wanted}")
        return copy_of_pixels(pixels, self.budget)


def _alike(picture: Picture, mask: MaskPixels) -> bool:
    """Tell the same proportions, but for one pixel."""
    height, width = mask.ids.shape
    gap: int = abs(picture.width * height - picture.height * width)
    return gap <= max(picture.width, picture.height)
