"""A few records whole: pictures with what is drawn over them, and all values."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...runtime.shared.images import sniff
from ...spec.model import ImageSpec, ImagesSpec, LabelSpec, MaskSpec, RecordSpec
from ..formatting import listed, one_line, plural
from ..message import BYTES
from ..statistics.samples import Sample as Kept
from .boxes import BoxFields, box_fields, boxes_in
from .colors import Colors, SampleRead, legends_of
from .columns import Part, Subject, name_of
from .features import Features, read, shaped
from .masks import MaskPixels, layers, mask_of
from .pictures import Budget, Copy, copy_of, copy_of_pixels
from .value_texts import MISSING, class_words, value_text
from .view import Box, Layer, Legend, Picture, Sample, Samples, Value

MOST_SPLITS = 8
_SHARD = re.compile(r"-(?P<shard>\d{5})-of-(?P<of>\d{5})(?!\d)")
_MOST_VALUES = 60
_MOST_PICTURES = 4

# How many samples of each split are shown, by the number of splits.
_PER_SPLIT = {1: 24, 2: 24, 3: 16, 4: 12, 5: 12, 6: 8}


def samples_of(
    parts: Sequence[Part],
    subjects: Sequence[Subject],
    spec: RecordSpec | None,
    budget: Budget,
) -> tuple[tuple[Samples, ...], tuple[Legend, ...]]:
    """Return samples of each split, and what the colours in them mean."""
    fields = spec.fields if spec else ()
    masks = [field for field in fields if isinstance(field.kind, Mask)]
    boxes = box_fields(spec) if spec else ()
    most = _PER_SPLIT.get(len(parts), 6)
    chosen = {
        part.split: [
            _read(kept, masks) for kept in _in_order(part.found.samples[:most])
        ]
        for part in parts[:MOST_SPLITS]
    }
    every = [each for some in chosen.values() for each in some]
    colors, legends = legends_of(every, masks, boxes)
    painter = _Painter(subjects, spec, boxes, colors, budget)
    groups = []
    # One of each split in turn, so that what pictures may take is shared fairly.
    painted: dict[str, list[Sample]] = {split: [] for split in chosen}
    for rank in range(most):
        for index, (split, some) in enumerate(chosen.items()):
            if rank < len(some):
                id_ = f"record-{index + 1}-{rank + 1}"
                painted[split].append(painter.sample(some[rank], id_))
    for part in parts[:MOST_SPLITS]:
        shown = painted[part.split]
        if shown:
            of = f"{len(shown):,} of {plural(part.found.records, 'record')}"
            groups.append(Samples(part.name, part.series, of, tuple(shown)))
    return tuple(groups), legends


def _in_order(samples: Sequence[Kept]) -> list[Kept]:
    return sorted(samples, key=lambda sample: (sample.file, sample.number))


def _title(kept: Kept) -> str:
    """Name a record; records of several shards have the same numbers."""
    shard = _SHARD.search(os.path.basename(kept.file))
    record = f"record {kept.number:,}"
    if shard is None or int(shard["of"]) < 2:
        return record
    return f"{record}, shard {int(shard['shard'])}"


def _read(kept: Kept, masks: Sequence[FieldSpec[Mask]]) -> SampleRead:
    features = read(kept.data)
    found = (mask_of(field, features) for field in masks)
    return SampleRead(kept, features, tuple(mask for mask in found if mask is not None))


@dataclass(frozen=True)
class _Painter:
    """Makes what the page shows of samples."""

    subjects: Sequence[Subject]
    spec: RecordSpec | None
    boxes: Sequence[BoxFields]
    colors: Colors
    budget: Budget

    def sample(self, each: SampleRead, id_: str) -> Sample:
        where = os.path.basename(each.kept.file)
        values = tuple(self._values(each.features))
        return Sample(
            id=id_,
            title=_title(each.kept),
            where=one_line(where, 80),
            headline=self._headline(each.features),
            pictures=tuple(self._pictures(each)),
            values=values,
        )

    def _headline(self, features: Features) -> str:
        if features.trouble:
            return "malformed"
        fields = self.spec.fields if self.spec else ()
        labels = [field for field in fields if isinstance(field.kind, Label)]
        targets = [field for field in labels if field.role == "target"]
        words = [
            word for field in targets or labels for word in class_words(field, features)
        ]
        return listed(words, 3)

    def _values(self, features: Features) -> list[Value]:
        if features.trouble:
            return [Value("malformed", "", features.trouble)]
        found = []
        for subject in self.subjects[:_MOST_VALUES]:
            text = value_text(subject, features)
            found.append(Value(subject.name, subject.words, text, text == MISSING))
        if len(self.subjects) > _MOST_VALUES:
            more = plural(len(self.subjects) - _MOST_VALUES, "more key")
            found.append(Value("…", "", f"{more}, not shown", missing=True))
        return found

    def _pictures(self, each: SampleRead) -> list[Picture]:
        found: list[tuple[Subject, Picture, Copy]] = []
        for subject in self.subjects:
            if len(found) == _MOST_PICTURES:
                break
            copies = self._copies(subject, each.features)
            for index, copy in enumerate(copies[: _MOST_PICTURES - len(found)]):
                name = subject.name
                if len(copies) > 1:
                    name += f" {index + 1} of {len(copies)}"
                found.append((subject, _picture(name, copy), copy))
        pictures = [picture for _, picture, _ in found]
        for mask in each.masks:
            self._lay(mask, pictures, found)
        for some in self.boxes:
            for index, (_, _, copy) in enumerate(found):
                if copy.url:
                    boxes = self._drawn(some, each.features, copy)
                    pictures[index] = replace(
                        pictures[index], boxes=(*pictures[index].boxes, *boxes)
                    )
                    break
        return pictures

    def _copies(self, subject: Subject, features: Features) -> list[Copy]:
        field = subject.field
        if subject.steps:
            return self._in_steps(subject, features)
        feature = features.feature(subject.key)
        if feature is None or feature.kind != BYTES or not feature.values:
            return []
        values = features.bytes_of(feature)
        kind = field and field.kind
        if (
            field is not None
            and isinstance(kind, Image)
            and field.kind.encoding == "raw"
        ):
            return [self._raw(field, features, values)]
        if isinstance(kind, Image | Images):
            return [copy_of(value, self.budget) for value in values[:_MOST_PICTURES]]
        if field is None and all(sniff(value) for value in values[:_MOST_PICTURES]):
            copies = [copy_of(value, self.budget) for value in values[:_MOST_PICTURES]]
            # Texts may begin like a picture: without a schema that is no trouble.
            return [copy for copy in copies if copy.about or "pixels" in copy.trouble]
        return []

    def _in_steps(self, subject: Subject, features: Features) -> list[Copy]:
        steps = features.steps(subject.key) or []
        found = []
        if subject.field is None or isinstance(subject.field.kind, Image):
            for step in steps[:_MOST_PICTURES]:
                values = features.bytes_of(step) if step.kind == BYTES else []
                if len(values) == 1 and sniff(values[0]):
                    found.append(copy_of(values[0], self.budget))
        return found

    def _raw(
        self, field: FieldSpec[Image], features: Features, values: list[bytes]
    ) -> Copy:
        sizes = {
            0: features.integer(field.kind.height_key),
            1: features.integer(field.kind.width_key),
            2: features.integer(field.kind.channels_key),
        }
        fits = len(values) == 1
        pixels = (
            shaped(values[0], field.kind.dtype, field.kind.shape, sizes)
            if fits
            else None
        )
        if pixels is None:
            wanted = "×".join(
                "?" if each is None else str(each) for each in field.kind.shape
            )
            return Copy(trouble=f"not the bytes of {wanted} {field.kind.dtype} pixels")
        return copy_of_pixels(pixels, self.budget)

    def _lay(
        self,
        mask: MaskPixels,
        pictures: list[Picture],
        found: Sequence[tuple[Subject, Picture, Copy]],
    ) -> None:
        """Lay a mask over the first picture of its proportions, or else show it alone."""
        height, width = mask.ids.shape
        slots = self.colors.of_ids(mask.field.name)
        drawn = tuple(
            Layer(slot, url) for slot, url in layers(mask, slots, self.budget)
        )
        for index, (_, _, copy) in enumerate(found):
            alike = copy.url and abs(copy.width * height - copy.height * width) <= max(
                copy.width, copy.height
            )
            if alike:
                old = pictures[index]
                pictures[index] = replace(old, layers=(*old.layers, *drawn))
                return
        about = f"{width} × {height}, a mask"
        pictures.append(
            Picture(
                name_of(mask.field), about, _BLANK, width, height, True, layers=drawn
            )
        )

    def _drawn(self, fields: BoxFields, features: Features, copy: Copy) -> list[Box]:
        return [
            Box(
                *self.colors.of(fields.name, box.label),
                round(box.left, 2),
                round(box.top, 2),
                round(box.right - box.left, 2),
                round(box.bottom - box.top, 2),
                box.label,
            )
            for box in boxes_in(fields, features, copy.height, copy.width)
        ]


# A transparent pixel, for a mask that lies over nothing.
_BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def _picture(name: str, copy: Copy) -> Picture:
    return Picture(
        name=name,
        about=copy.about,
        url=copy.url,
        width=copy.width,
        height=copy.height,
        coarse=copy.coarse,
        trouble=copy.trouble,
    )
