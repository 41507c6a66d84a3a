"""A few whole records: pictures with masks and boxes over them, sound, all values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup
from numpy.typing import NDArray

from ...display.blocks import Table
from ...progress import Bar
from ...runtime.shared.values import shape_text
from ..formatting import decoded, listed, one_line, plural
from ..profile.columns import ColumnProfile, SplitProfile
from ..profile.duplicates import Position
from ..profile.profile import Profile
from ..profile.record_values import (
    MISSING,
    DecodedFeatures,
    class_names,
    read,
    value_text,
)
from ..statistics.bytes_values import content_of
from ..statistics.samples import Sample
from ..thumbnails import Budget, Thumbnail, copy_of, copy_of_pixels
from .overlays import Overlays, ids_of, overlays_of
from .records import records_at
from .sounds import Player, players_of

if TYPE_CHECKING:
    from ...spec.model import RecordSpec

_MOST_SPLITS = 8
_MOST_VALUES = 60
_MOST_PICTURES = 4

# About so many characters of a record's values in one column are shown.
_MOST_WHOLE = 400

# And so many texts of as many characters each.
_MOST_LISTED = 12

# A text of more characters is no label.
_MOST_LABEL = 60

# A table of samples is about so many characters wide, and a cell has so many at most.
_TABLE_CHARACTERS, _CELL_CHARACTERS, _MOST_TEXT = 108, 40, 90

_MALFORMED = "malformed"

# So many samples are shown of a split, of all together and at least of each.
_MOST, _TOGETHER, _LEAST = 24, 48, 6


class Value(NamedTuple):
    """The values of a record in one column; `short` is for a cell of a table."""

    name: str
    type: str
    text: str
    short: str = ""

    @property
    def missing(self) -> bool:
        """Whether the record has none."""
        return self.text == MISSING


@dataclass(frozen=True)
class ShownRecord:
    """A record as the page shows it; `headline` has its labels."""

    id: str
    title: str
    file: str
    headline: str
    pictures: Sequence[Thumbnail]
    sounds: Sequence[Player]
    values: Sequence[Value]


@dataclass(frozen=True)
class SplitSamples:
    """The samples of one split; as a table, if none of the page has pictures or sound."""

    split: SplitProfile
    samples: Sequence[ShownRecord]
    table: Table | None


@dataclass(frozen=True)
class Samples:
    """The records that the page can open.

    Attributes:
        groups: those of each split that has some.
        repeated: others, which are repeated.
        ids: of all, by their places.
        overlays: the masks and boxes in them.
    """

    groups: Sequence[SplitSamples]
    repeated: Sequence[ShownRecord]
    ids: Mapping[Position, str]
    overlays: Overlays

    @property
    def layers(self) -> list[str]:
        """What can be hidden: "Images", "Masks" and "Boxes", if there is any of it."""
        kinds = {legend.kind for legend in self.overlays.legends()}
        return ["Images", *sorted(kinds, reverse=True)] if kinds else []


def samples_of(profile: Profile, places: Sequence[Position]) -> Samples:
    """Return samples of each split.

    Args:
        profile: of the data.
        places: of further records, which are shown where they can be read.
    """
    splits, columns, spec = profile.splits, profile.columns, profile.spec
    most = max(_LEAST, min(_MOST, _TOGETHER // max(1, len(splits))))
    chosen = [
        sorted(split.found.samples[:most], key=lambda kept: (kept.file, kept.number))
        for split in splits[:_MOST_SPLITS]
    ]
    likely = [each.column for each in profile.likely_classes]
    # Texts tell more than ids.
    likely.sort(key=lambda column: column.is_number)
    painter = _Painter(columns, likely, spec, overlays_of(spec), Budget(), Budget())
    painted: list[list[ShownRecord]] = [[] for _ in chosen]
    ids: dict[Position, str] = {}
    # One of each split in turn, so that the budget is shared fairly.
    with Bar("drawing records", sum(map(len, chosen)), "record") as bar:
        for rank in range(most):
            for index, some in enumerate(chosen):
                if rank < len(some):
                    kept, id_ = some[rank], f"record-{index + 1}-{rank + 1}"
                    painted[index].append(painter.sample(kept, id_, splits[index]))
                    ids[Position(kept.file, kept.number)] = id_
                    bar()
    repeated: list[ShownRecord] = []
    for kept in records_at([each for each in places if each not in ids]):
        id_ = f"repeated-{len(repeated) + 1}"
        repeated.append(painter.sample(kept, id_))
        ids[Position(kept.file, kept.number)] = id_
    every = (sample for some in painted for sample in some)
    drawn = any(sample.pictures or sample.sounds for sample in every)
    groups = [
        SplitSamples(split, shown, None if drawn else _table(shown, columns))
        for split, shown in zip(splits, painted, strict=False)
        if shown
    ]
    return Samples(groups, repeated, ids, painter.overlays)


def _table(samples: Sequence[ShownRecord], columns: Sequence[ColumnProfile]) -> Table:
    """Return a row for each sample, whose title is a button that opens it.

    It has as many columns as fit: targets, then those that are first, info last.
    """
    whole = [sample for sample in samples if sample.headline != _MALFORMED]
    ranked = sorted(
        enumerate(columns[:_MOST_VALUES]),
        key=lambda each: (not each[1].is_target, each[1].is_info),
    )
    room, kept = _TABLE_CHARACTERS, []
    for at, column in ranked:
        texts = [column.name, *(sample.values[at].short for sample in whole)]
        width = min(max(map(len, texts)), _CELL_CHARACTERS) + 2
        if width <= room:
            room -= width
            kept.append(at)
    rows = []
    for sample in samples:
        title = opener(sample.id, sample.title)
        cells = [_MALFORMED, *[""] * len(kept)][: len(kept)]
        if sample in whole:
            cells = [_cell(sample.values[at]) for at in kept]
        rows.append([title, *cells])
    numbers = [each.is_number and not each.steps for each in columns]
    numeric = [n for n, at in enumerate(kept, 1) if numbers[at]]
    return Table(["Record", *(columns[at].name for at in kept)], rows, numeric)


def opener(sample: str, text: str) -> Markup:
    """Return a button that opens a sample, by its id."""
    button = '<button type="button" class="open" data-sample="{}">{}</button>'
    return Markup(button).format(sample, text)


def _cell(value: Value) -> str:
    text = one_line(value.short, _MOST_TEXT)
    return (
        Markup('<span class="absent">{}</span>').format(text) if value.missing else text
    )


@dataclass(frozen=True)
class _Painter:
    """Makes what the page shows of records."""

    columns: Sequence[ColumnProfile]
    likely_classes: Sequence[ColumnProfile]
    spec: RecordSpec | None
    overlays: Overlays
    budget: Budget
    sound_budget: Budget

    def sample(
        self, kept: Sample, id_: str, split: SplitProfile | None = None
    ) -> ShownRecord:
        """Return a record as the page shows it; pixels count that are of a split."""
        features = read(kept.data)
        return ShownRecord(
            id=id_,
            title=f"record {kept.number:,}",
            file=one_line(os.path.basename(kept.file), 80),
            headline=self._headline(features),
            pictures=self._pictures(features, split),
            sounds=[
                player
                for column in self.columns
                for player in players_of(column, features, self.sound_budget)
            ],
            values=self._values(features),
        )

    def _headline(self, features: DecodedFeatures) -> str:
        if features.trouble:
            return _MALFORMED
        if self.spec is None:
            return self._likely_label(features)
        labels = [
            column
            for column in self.columns
            if (field := column.declared) is not None
            and field.codec.of_classes
            and not field.codec.delivered.decoded[1]
        ]
        targets = [column for column in labels if column.is_target]
        names = [class_names(column, features) for column in targets or labels]
        return listed([name for some in names for name in some], 3)

    def _likely_label(self, features: DecodedFeatures) -> str:
        """Return a value that looks like a class, or else the first short text."""
        for column in (*self.likely_classes, *self.columns):
            values = features.bytes_of(features.feature(column.key))
            text = decoded(values[0], _MOST_LABEL) if len(values) == 1 else None
            if text and len(text) <= _MOST_LABEL:
                return one_line(text)
            for value in features.numbers(column.key):
                if column in self.likely_classes:
                    return f"{column.name} {value}"
        return ""

    def _values(self, features: DecodedFeatures) -> list[Value]:
        if features.trouble:
            return [Value(_MALFORMED, "", features.trouble)]
        found = []
        for column in self.columns[:_MOST_VALUES]:
            text = _text(column, features, _MOST_WHOLE)
            short = text
            if len(text) > _MOST_TEXT:
                short = _text(column, features, _MOST_TEXT)
            found.append(Value(column.name, column.type, text, short))
        if len(self.columns) > _MOST_VALUES:
            more = plural(len(self.columns) - _MOST_VALUES, "more key")
            found.append(Value("…", "", f"{more}, not shown"))
        return found

    def _pictures(
        self, features: DecodedFeatures, split: SplitProfile | None
    ) -> list[Thumbnail]:
        """Return the pictures of a record, with its masks and boxes over them.

        A mask of other proportions than all of them is a picture of its own.
        """
        pictures: list[Thumbnail] = []
        for column in self.columns:
            room = _MOST_PICTURES - len(pictures)
            copies = self._copies(column, features)[:room] if room else []
            for index, copy in enumerate(copies):
                several = f" {index + 1} of {len(copies)}" if len(copies) > 1 else ""
                pictures.append(replace(copy, name=column.name + several))
        for mask in self.overlays.masks:
            ids = ids_of(mask, features)
            if ids is None:
                continue
            if split is not None:
                self.overlays.count(mask, ids, split.name)
            alike = [at for at, each in enumerate(pictures) if _alike(each, ids)]
            if alike:
                under = pictures[alike[0]]
                url = self.overlays.over(mask, ids, self.budget)
                masks = [*under.overlays, url] if url else under.overlays
                pictures[alike[0]] = replace(under, overlays=masks)
            else:
                pictures.append(self.overlays.picture(mask, ids, self.budget))
        if pictures and pictures[0].url:
            first = pictures[0]
            boxes = self.overlays.boxes_over(features, first.height, first.width)
            pictures[0] = replace(first, boxes=boxes)
        return pictures

    def _copies(
        self, column: ColumnProfile, features: DecodedFeatures
    ) -> list[Thumbnail]:
        """Return copies of the images of a record in one column."""
        field = column.field
        if field is not None:
            from ...spec.training import per_pixel

            if per_pixel(field.kind) or not field.codec.of_pixels:
                return []
        raw = field is not None and field.parts[0].encoding == "raw"
        if field is not None and raw and not column.steps:
            held = features.feature(column.key)
            if held is None or not held.values:
                return []
            pixels = features.pixels(field)
            if pixels is not None and pixels.ndim == 3:
                return [copy_of_pixels(pixels, self.budget)]
            dtype, shape = field.codec.delivered.decoded
            wanted = f"{shape_text(shape)} {dtype} pixels"
            return [Thumbnail(trouble=f"not the bytes of {wanted}")]
        held = features.held(column)
        values = features.contents_of(field, held) if held else []
        if column.steps:
            steps = features.message.lists.get(column.key, [])
            values = [value for step in steps for value in features.bytes_of(step)]
        values = values[:_MOST_PICTURES]
        # Without a schema, texts may begin like an image.
        if field is None and not all(content_of(value).picture for value in values):
            return []
        return [copy_of(value, self.budget) for value in values]


def _text(column: ColumnProfile, features: DecodedFeatures, most: int) -> str:
    """Return the values of a record in a column, and several texts one by one."""
    room = most if column.whole.contents is None else most * _MOST_LISTED
    return value_text(column, features, room, each=most, lines=True)


def _alike(picture: Thumbnail, ids: NDArray[Any]) -> bool:
    """Tell a picture of the same proportions, but for one pixel, as a mask."""
    height, width = ids.shape
    gap: int = abs(picture.width * height - picture.height * width)
    return bool(picture.url) and gap <= max(picture.width, picture.height)
