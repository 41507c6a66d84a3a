"""What statistics do not say about one key: of each record, and of the content of bytes."""

from __future__ import annotations

import io
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.columns import Column, Rows
from ...runtime.cells.tensor_proto import WholeTensor, whole_tensor
from ...runtime.images.formats import DECODED, UNDECODED
from ...runtime.images.headers import (
    MOST_PIXELS,
    PNG_COLORS_AT,
    PNG_PALETTE,
    TRANSPOSED,
)
from ...runtime.native import BYTES, INT64
from ..formatting import plural
from ..statistics.bytes_values import (
    EMPTY,
    IMAGES,
    RAW,
    SOUNDS,
    TENSOR,
    TEXT,
    UNREAD,
    BytesValues,
    Content,
    ImageInfo,
    bytes_values,
    content_of,
    merged_bytes,
)
from .guesses import FLOATS, BytesSamples, ListSamples, as_numbers

_LONGEST_ROW = 8

# So many values of lists are compared with those of others, and so many different ones.
_MOST_LISTED, _MOST_NAMES = 1 << 20, 1000

_FORMATS = {
    EMPTY: "an empty value",
    RAW: "bytes that are not text",
    TENSOR: "a serialized tensor",
    TEXT: "text",
    **{name: each.image for name, each in UNDECODED.items()},
}


class PerRecord:
    """A number, or a row of numbers, for each record, collected in batches.

    Args:
        missing: stands for records that have none.
    """

    def __init__(self, missing: int = 0) -> None:
        self._missing = missing
        self._rows: list[Rows] = []
        self._values: list[Rows] = []

    def add(self, rows: Rows, values: Rows) -> None:
        """Add the numbers of some records."""
        self._rows.append(rows)
        self._values.append(values)

    def array(self, records: int) -> Rows:
        """Return int64 [records], or [records, width]."""
        width = self._values[0].shape[1:] if self._values else ()
        found = np.full((records, *width), self._missing, np.int64)
        if self._rows:
            found[np.concatenate(self._rows)] = np.concatenate(self._values)
        return found


# Lists of more numbers are hashed one by one, as bytes.
_LONG = 64

# Odd numbers whose bits are even, as those of the generator SplitMix64 are.
_MIX = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


def digests(column: Column) -> Rows:
    """Return a number for the content of each row, equal for equal contents: int64 [M]."""
    lengths = column.lengths
    if column.kind == BYTES:
        each = np.fromiter(map(hash, column.bytes_values()), np.int64, lengths.sum())
        return _mixed(each, column)
    found, is_long = np.zeros(len(lengths), np.int64), lengths > _LONG
    starts = column.starts
    for row in np.flatnonzero(is_long).tolist():
        start = starts[row]
        found[row] = hash(column.values[start : start + lengths[row]].tobytes())
    short = column.only(~is_long)
    values = short.values
    if column.kind != INT64:
        values = (values + np.float32(0)).view(np.int32)
    found[~is_long] = _mixed(values.astype(np.int64), short)
    return found


def _mixed(each: Rows, column: Column) -> Rows:
    """Return a number for the values of each row and their order."""
    places = np.arange(len(each)) - np.repeat(column.starts, column.lengths)
    mixed = each.view(np.uint64) + (places + 1).astype(np.uint64) * _MIX[0]
    for shift, factor in ((30, _MIX[1]), (27, _MIX[2])):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    mixed ^= mixed >> np.uint64(31)
    return column.sums(mixed.view(np.int64)) + column.lengths


class Forms:
    """Which of some forms each record has, collected in batches.

    Attributes:
        numbers: of each form, in the order in which they were seen.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._of = PerRecord(-1)

    def add(self, rows: Rows, forms: Iterable[str]) -> None:
        """Add the forms of some records."""
        numbers = [self.numbers.setdefault(form, len(self.numbers)) for form in forms]
        self._of.add(rows, np.array(numbers, np.int64))

    def array(self, records: int, ignored: str = "") -> Rows:
        """Return int64 [records], the number of each form; -1 for none, or one ignored."""
        found = self._of.array(records)
        found[found == self.numbers.get(ignored, -1)] = -1
        return found

    def name(self, number: int) -> str:
        """Return a form."""
        return list(self.numbers)[number]


class Listed:
    """The values of lists, one after the other, as numbers: the first ones of a key.

    Args:
        most: the most different values; with more there are none.

    Attributes:
        values: the different values, in the order in which they were seen.
    """

    def __init__(self, most: int = _MOST_NAMES) -> None:
        self._most = most
        self.values: dict[Any, int] = {}
        self._numbers = array("i")

    def add(self, values: Iterable[Any]) -> None:
        """Add the values of some records."""
        for value in islice(values, _MOST_LISTED - len(self._numbers)):
            self._numbers.append(self.values.setdefault(value, len(self.values)))

    @property
    def is_open(self) -> bool:
        """Whether further values are kept."""
        return len(self._numbers) < _MOST_LISTED and len(self.values) <= self._most

    @property
    def codes(self) -> Rows:
        """int64 [N]: a number for each value, from 0 as they occur."""
        return np.array(self._numbers, np.int64)

    @property
    def known(self) -> bool:
        """Whether the different values are few."""
        return 0 < len(self.values) <= self._most

    def pairs(self, other: Listed) -> dict[tuple[Any, Any], int]:
        """Return how often a value is at the place of one of another key."""
        own, others = [*self.values], [*other.values]
        found = Counter(zip(self._numbers, other._numbers, strict=False))
        return {(own[at], others[to]): count for (at, to), count in found.items()}


class Lists:
    """The lists of numbers of one key.

    Attributes:
        listed: the integers of all records, one after the other.
        repeats: whether a record has an integer twice.
        sums: the sum of each record's integers.
        filled: how many values each record has without the zeros at its end.
        samples: the values of some records.
        unusual: how many records have NaN or infinities.
    """

    def __init__(self) -> None:
        self.listed = Listed()
        self.repeats = False
        self.unusual = 0
        self.samples = ListSamples()
        self.sums, self.filled = PerRecord(), PerRecord()
        self._short: PerRecord | None = PerRecord()
        self._width = 0

    def add(self, column: Column, rows: Rows) -> None:
        """Add a column; `rows` are its records, counted over all columns."""
        values, lengths = column.values, column.lengths
        if not self.samples.is_full:
            some = zip(column.starts[:4].tolist(), lengths[:4].tolist(), strict=True)
            self.samples.add([values[at : at + size] for at, size in some])
        self.filled.add(rows, _filled(column))
        if column.kind != INT64:
            self.unusual += int((column.sums(~np.isfinite(values)) > 0).sum())
            return
        self.sums.add(rows, column.sums(values))
        if self.listed.is_open:
            self.listed.add(values.tolist())
        owners = np.repeat(np.arange(len(lengths)), lengths)
        order = np.lexsort((values, owners))
        again = (np.diff(values[order]) == 0) & (np.diff(owners[order]) == 0)
        self.repeats = self.repeats or bool(again.any())
        self._width = self._width or int(lengths[0])
        if (lengths != self._width).any() or not 1 <= self._width <= _LONGEST_ROW:
            self._short = None
        if self._short is not None:
            self._short.add(rows, values.reshape(-1, self._width))

    def table(self, records: int) -> Rows | None:
        """Return int64 [records, width], if all lists have one length and are short."""
        if self._short is None or not self._width:
            return None
        return self._short.array(records)

    def first_values(self, records: int) -> Rows:
        """Return the number of each record of a key that has one in each: int64 [N]."""
        table = self.table(records)
        return np.zeros(records, np.int64) if table is None else table[:, 0]


def _filled(column: Column) -> Rows:
    """Return how many values each row has up to its last one that is not zero."""
    places = np.flatnonzero(column.values != 0)
    starts = column.starts
    # The last place before each row's end that is not zero, if it is in the row.
    found = np.searchsorted(places, starts + column.lengths) - 1
    last = np.where(found >= 0, places[found], -1) if len(places) else found
    return np.maximum(last - starts + 1, 0)


# A word with a digit, such as tile_3_5 or 1089-134686-0007.
_NAME = re.compile(rb"(?=[^0-9]*[0-9])[\w.:/-]{1,64}")


class Contents:
    """The bytes values of one key.

    Args:
        masks: whether to look for the ids in images, which may be masks.

    Attributes:
        all: their statistics.
        listed: the values of all records, one after the other.
        single_texts: the text of each record that has one; of no use without `texts`.
        pictures: each record's only image.
        turned: the EXIF orientation of each record's only image, if it is not upright.
        refused: how many images have channels that no picture of their format has.
        grey: how many could be masks: grey, or with a palette.
        tensors: how many are serialized tensors of each dtype and shape.
        unusual: how many raw ones have NaN or infinities as each float dtype.
        formats: what the values of each record are.
        extents: how large they are, but for text.
        ids: bool [256], the bytes that raw ones have, or the ids of masks.
        samples: some of them, the first of each column.
        measured: the size of each record's first value; -1 if it has none.
        names: how many could be the name of a file or a record: a word with a digit.
        shaped: the shape of each record's only serialized tensor.
    """

    def __init__(self, *, masks: bool = False) -> None:
        self._masks = masks
        self.listed = Listed()
        self.all = BytesValues()
        self.single_texts: dict[int, str] = {}
        self.pictures: dict[int, ImageInfo] = {}
        self.turned: dict[int, int] = {}
        self.refused: Counter[tuple[str, int]] = Counter()
        self.grey = 0
        self.tensors: Counter[WholeTensor] = Counter()
        self.unusual: Counter[str] = Counter()
        self.formats, self.extents = Forms(), Forms()
        self.ids = np.zeros(256, np.bool_)
        self.samples = BytesSamples()
        self.measured = PerRecord(-1)
        self.names = 0
        self.shaped: dict[int, tuple[int, ...]] = {}

    def add(self, column: Column, rows: Rows) -> None:
        """Add a column; `rows` are its records, counted over all columns."""
        self.all = merged_bytes([self.all, bytes_values([column])])
        first = np.full(len(rows), -1, np.int64)
        some = column.lengths > 0
        first[some] = column.sizes[column.starts[some]]
        self.measured.add(rows, first)
        if self.texts is not None and self.listed.is_open:
            self.listed.add(column.bytes_values())
        # Values that are not alone in their record have none of their own.
        owners = np.repeat(np.where(column.lengths == 1, rows, -1), column.lengths)
        found = []
        for number, row in enumerate(owners.tolist()):
            data = column.bytes_at(number)
            content = content_of(data)
            found.append((_format_of(content), _extent_of(content, len(data))))
            self._add_value(data, content, row)
            if number < 4 and not self.samples.is_full:
                self.samples.add(data)
        places = np.stack([column.starts, column.starts + column.lengths], 1)[some]
        for forms, part in ((self.formats, 0), (self.extents, 1)):
            each = ({one[part] for one in found[at:end]} for at, end in places.tolist())
            forms.add(rows[some], (" and ".join(sorted(those)) for those in each))

    def _add_value(self, data: bytes, found: Content, row: int) -> None:
        if found.picture is not None:
            self._add_picture(data, found.picture)
            if row >= 0:
                self.pictures[row] = found.picture
                if found.orientation is not None:
                    self.turned[row] = found.orientation
        elif found.format == TENSOR:
            tensor = whole_tensor(data)
            if tensor is not None:
                self.tensors[tensor] += 1
                self.shaped[row] = tensor.shape
        elif found.format in UNREAD:
            self._add_raw(data)
        elif row >= 0:
            self.names += _NAME.fullmatch(data) is not None
            if self.texts is not None:
                self.single_texts[row] = data.decode()

    def _add_raw(self, data: bytes) -> None:
        values = np.frombuffer(data, np.uint8)
        if not self.ids.all():
            self.ids[values] = True
        for dtype in FLOATS:
            self.unusual[dtype] += not np.isfinite(as_numbers(values, dtype)).all()

    def _add_picture(self, data: bytes, picture: ImageInfo) -> None:
        form, _, _, channels, bits = picture
        if channels not in DECODED[form].channels:
            self.refused[form, channels] += 1
        palette = form == "png" and data[PNG_COLORS_AT] == PNG_PALETTE
        grey = form == "png" and channels == (3 if palette else 1)
        self.grey += grey
        small = picture.height * picture.width <= MOST_PIXELS
        if self._masks and grey and bits == 8 and small:
            self.ids[_ids_of(data)] = True

    @property
    def empty(self) -> int:
        """How many have no bytes."""
        return self.all.formats.get(EMPTY, 0)

    @property
    def least(self) -> int:
        """The size of the smallest."""
        return int(self.all.sizes.minimum or 0)

    @property
    def most(self) -> int:
        """The size of the largest."""
        return int(self.all.sizes.maximum or 0)

    @property
    def text(self) -> bool:
        """Whether all are UTF-8 without control characters."""
        return self.all.formats.keys() <= {EMPTY, TEXT}

    @property
    def texts(self) -> Mapping[bytes, int] | None:
        """How often each text occurs; None if there are too many or they are long."""
        return self.all.distinct if self.text else None

    @property
    def images(self) -> dict[str, int]:
        """How many begin as an image of each format."""
        return {form: n for form, n in self.all.formats.items() if form in IMAGES}

    @property
    def sounds(self) -> int:
        """How many begin as encoded sound."""
        return sum(self.all.formats.get(form, 0) for form in SOUNDS)

    @property
    def damaged(self) -> int:
        """How many of these have no header that can be read."""
        return self.all.images - sum(self.all.channels.values())

    def heads(self, records: int, *, upright: bool = False) -> Rows:
        """Return int64 [records, 3]: height, width and channels of each only image.

        Args:
            records: how many there are.
            upright: of images as their EXIF orientation turns them.
        """
        found = np.full((records, 3), -1, np.int64)
        for row, picture in self.pictures.items():
            found[row] = picture[1:4]
        lying = [row for row, each in self.turned.items() if each >= TRANSPOSED]
        if upright:
            found[lying] = found[lying][:, [1, 0, 2]]
        return found

    def shapes(self, records: int) -> Rows:
        """Return int64 [records, rank]: the shape of each only tensor, if ranks agree."""
        ranks = {len(shape) for shape in self.shaped.values()}
        found = np.full((records, ranks.pop() if len(ranks) == 1 else 0), -1, np.int64)
        if found.size:
            found[list(self.shaped)] = list(self.shaped.values())
        return found


def _format_of(found: Content) -> str:
    """Say what a value is: an image of an unusual form has a name of its own."""
    if found.format in SOUNDS:
        name = found.format.upper()
        return f"sound as {found.sound.text}" if found.sound else f"an unread {name}"
    if found.format not in IMAGES:
        return _FORMATS[found.format]
    if found.picture is None:
        return f"a broken {found.format.upper()}"
    form, _, _, channels, bits = found.picture
    odd = f" of {channels} channels" if channels not in DECODED[form].channels else ""
    return f"a {form.upper()}{odd or (f' of {bits} bits' if bits > 8 else '')}"


def _extent_of(found: Content, size: int) -> str:
    """Say how large a value is; "" for text and broken images."""
    if found.picture is not None:
        return f"an image of {found.picture.height}x{found.picture.width}"
    if found.tensor is not None:
        return f"a tensor of {found.tensor.dtype} with the shape {found.tensor.shape}"
    return plural(size, "byte") if found.format in UNREAD else ""


def _ids_of(data: bytes) -> NDArray[np.uint8]:
    """Return the ids of a PNG: the indices of its palette, or its grey values."""
    try:
        import PIL.Image

        with PIL.Image.open(io.BytesIO(data)) as image:
            return np.asarray(image, np.uint8)
    except (ImportError, OSError, ValueError, SyntaxError):
        return np.empty(0, np.uint8)
