"""Summaries of the values of one key: its numbers, or its bytes values."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.codecs.tensor_proto import WholeTensor, whole_tensor
from ...runtime.reading.columns import Column, Rows
from ...runtime.reading.message import INT64
from ...runtime.shared.images import CHANNELS
from ..statistics.bytes_values import RAW, TENSOR, Content, content_of
from .dtypes import FLOATS, as_numbers

# A key with more different values than this has no classes.
_MOST_DISTINCT = 1000

_LONGEST_SHAPE = 8
_LONGEST_TEXT = 256
_SAMPLES, _SAMPLE_BYTES = 16, 1 << 18
_PNG_COLOURS, _PALETTE = 25, 3


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


class Numbers:
    """The numbers of one key.

    Attributes:
        low: the least finite number; None if there is none.
        high: the greatest.
        unusual: how many are NaN or infinite.
        whole: whether all finite ones are integers.
        distinct: how often each value occurs; None if there are too many.
        repeats: whether a record has an integer twice.
        solid: whether no record has a zero before a number that is not zero.
        firsts: the first integer of each record.
        sums: the sum of each record's integers.
        filled: how many values each record has without the zeros at its end.
    """

    def __init__(self) -> None:
        self.low: int | float | None = None
        self.high: int | float | None = None
        self.unusual = 0
        self.whole = self.solid = True
        self.distinct: dict[int | float, int] | None = {}
        self.repeats = False
        self.firsts, self.sums, self.filled = PerRecord(), PerRecord(), PerRecord()
        self._shapes: PerRecord | None = PerRecord()
        self._rank = 0

    def add(self, column: Column, rows: Rows) -> None:
        """Add a column; `rows` are its records, counted over all columns."""
        values: NDArray[Any] = column.values
        lengths, starts = column.lengths, column.starts
        self._add_values(values)
        filled = _filled(values, lengths, starts)
        self.filled.add(rows, filled)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        before = np.arange(len(values)) - starts[owners] < filled[owners]
        self.solid = self.solid and not (before & (values == 0)).any()
        if column.kind != INT64:
            return
        totals = np.concatenate([[0], np.cumsum(values)])
        self.sums.add(rows, totals[starts + lengths] - totals[starts])
        firsts = np.zeros(len(lengths), np.int64)
        firsts[lengths > 0] = values[starts[lengths > 0]]
        self.firsts.add(rows, firsts)
        order = np.lexsort((values, owners))
        again = (np.diff(values[order]) == 0) & (np.diff(owners[order]) == 0)
        self.repeats = self.repeats or bool(again.any())
        self._add_shapes(values, lengths, rows)

    def _add_values(self, values: NDArray[Any]) -> None:
        finite = values
        if values.dtype.kind == "f":
            finite = values[np.isfinite(values)]
            self.unusual += len(values) - len(finite)
            self.whole = self.whole and bool((finite == np.trunc(finite)).all())
        if len(finite):
            low, high = finite.min().item(), finite.max().item()
            self.low = low if self.low is None else min(low, self.low)
            self.high = high if self.high is None else max(high, self.high)
        if self.distinct is None:
            return
        found, counts = np.unique(finite, return_counts=True)
        if len(found) <= _MOST_DISTINCT:
            for value, times in zip(found.tolist(), counts.tolist(), strict=True):
                self.distinct[value] = self.distinct.get(value, 0) + times
        if max(len(found), len(self.distinct)) > _MOST_DISTINCT:
            self.distinct = None

    def _add_shapes(self, values: Rows, lengths: Rows, rows: Rows) -> None:
        """Keep lists that may be sizes: short, and of one length."""
        if self._shapes is None or not len(lengths):
            return
        self._rank = self._rank or int(lengths[0])
        if (lengths != self._rank).any() or not 1 <= self._rank <= _LONGEST_SHAPE:
            self._shapes = None
            return
        self._shapes.add(rows, values.reshape(-1, self._rank))

    def shapes(self, records: int) -> Rows | None:
        """Return int64 [records, rank], if all lists have one length and are short."""
        if self._shapes is None or not self._rank:
            return None
        return self._shapes.array(records)


def _filled(values: NDArray[Any], lengths: Rows, starts: Rows) -> Rows:
    """Return how many values each row has up to its last one that is not zero."""
    places = np.flatnonzero(values != 0)
    # The last place before each row's end that is not zero, if it is in the row.
    found = np.searchsorted(places, starts + lengths) - 1
    last = np.where(found >= 0, places[found], -1) if len(places) else found
    return np.maximum(last - starts + 1, 0)


def _ids_of(data: bytes) -> NDArray[np.uint8] | None:
    """Return the ids of a PNG: the indices of its palette, or its grey values."""
    try:
        import PIL.Image

        with PIL.Image.open(io.BytesIO(data)) as image:
            return np.asarray(image, np.uint8) if image.mode in ("L", "P") else None
    except (ImportError, OSError, ValueError, SyntaxError):
        return None


class BytesValues:
    """The bytes values of one key.

    Args:
        masks: whether to look for the ids in images, which may be masks.

    Attributes:
        values: how many there are.
        empty: how many have no bytes.
        least: the size of the smallest.
        most: of the largest.
        text: whether all are UTF-8 without control characters.
        texts: how often each occurs; None if there are too many or they are long.
        single_texts: the text of each record that has one; of no use without `texts`.
        formats: how many are images of each format.
        sizes: how many images have each (height, width).
        channels: the channels of the images.
        bits: their bits a channel.
        grey: how many could be masks: grey, or with a palette.
        pictures: height, width, channels and format of each record's only image.
        damaged: how many begin as an image and cannot be read.
        broken: what is wrong with the first of these.
        refused: how many of these are whole, by format and channels.
        tensors: how many are serialized tensors of each dtype and shape.
        unusual: the float dtypes as which a raw one has NaN or infinities.
        present: bool [256], the bytes that raw ones have, or the ids of masks.
        undecoded: how many masks could not be decoded.
        samples: some of them, the first of each column.
        measured: the size of each record's first value; -1 if it has none.
    """

    def __init__(self, *, masks: bool = False) -> None:
        self._masks = masks
        self.values = self.empty = self.most = self.grey = self.damaged = 0
        self.least: int | None = None
        self.text = True
        self.texts: Counter[str] | None = Counter()
        self.single_texts: dict[int, str] = {}
        self.formats: Counter[str] = Counter()
        self.sizes: Counter[tuple[int, int]] = Counter()
        self.channels: Counter[int] = Counter()
        self.bits: Counter[int] = Counter()
        self.pictures: dict[int, tuple[int, int, int, str]] = {}
        self.broken = ""
        self.refused: Counter[tuple[str, int]] = Counter()
        self.tensors: Counter[WholeTensor] = Counter()
        self.unusual: set[str] = set()
        self.present = np.zeros(256, np.bool_)
        self.undecoded = 0
        self.samples: list[bytes] = []
        self.measured = PerRecord(-1)

    def add(self, column: Column, rows: Rows) -> None:
        """Add a column; `rows` are its records, counted over all columns."""
        sizes = column.values[:, 1] - column.values[:, 0]
        self.values += len(sizes)
        if len(sizes):
            least = int(sizes.min())
            self.least = least if self.least is None else min(least, self.least)
            self.most = max(int(sizes.max()), self.most)
        first = np.full(len(rows), -1, np.int64)
        some = column.lengths > 0
        first[some] = sizes[column.starts[some]]
        self.measured.add(rows, first)
        # Values that are not alone in their record have none of their own.
        owners = np.repeat(np.where(column.lengths == 1, rows, -1), column.lengths)
        for number, row in enumerate(owners.tolist()):
            data = column.bytes_at(number)
            self._add_value(data, row)
            if number < 4 and len(self.samples) < _SAMPLES:
                self.samples.append(data[:_SAMPLE_BYTES])

    def _add_value(self, data: bytes, row: int) -> None:
        found = content_of(data)
        self.empty += not data
        if found.picture or found.trouble:
            self._add_image(found, data, row)
        elif found.format == TENSOR:
            tensor = whole_tensor(data)
            if tensor is not None:
                self.tensors[tensor] += 1
        elif found.format == RAW:
            self._add_raw(data)
        else:
            self._add_text(data.decode(), row)
            return
        self.text, self.texts = False, None

    def _add_raw(self, data: bytes) -> None:
        values = np.frombuffer(data, np.uint8)
        if not self.present.all():
            self.present[values] = True
        for dtype in FLOATS:
            if dtype not in self.unusual:
                finite = np.isfinite(as_numbers(values, dtype)).all()
                self.unusual |= set() if finite else {dtype}

    def _add_text(self, text: str, row: int) -> None:
        if self.texts is None:
            return
        self.texts[text] += 1
        if row >= 0:
            self.single_texts[row] = text
        if len(text) > _LONGEST_TEXT or len(self.texts) > _MOST_DISTINCT:
            self.texts = None

    def _add_image(self, found: Content, data: bytes, row: int) -> None:
        form, trouble = found.format, found.trouble
        if found.picture is not None:
            _, height, width, channels, bits = found.picture
            if channels not in CHANNELS[form]:
                trouble = f"a {form} image of {channels} channels"
                self.refused[form, channels] += 1
            elif not (height and width):
                trouble = f"a {form} image without pixels"
        if found.picture is None or trouble:
            self.damaged += 1
            self.broken = self.broken or trouble
            return
        self.formats[form] += 1
        self.sizes[height, width] += 1
        self.channels[channels] += 1
        self.bits[bits] += 1
        palette = form == "png" and data[_PNG_COLOURS] == _PALETTE
        grey = form == "png" and channels == (3 if palette else 1)
        self.grey += grey
        if self._masks and grey and bits == 8:
            self._add_mask(data)
        if row >= 0:
            self.pictures[row] = (height, width, channels, form)

    def _add_mask(self, data: bytes) -> None:
        """See which ids a mask has, if Pillow is there."""
        ids = _ids_of(data)
        if ids is None:
            self.undecoded += 1
        else:
            self.present[ids] = True

    @property
    def holds_images(self) -> bool:
        """Whether some are images, whole or damaged, also where no Image takes all."""
        return bool(self.formats or self.damaged)

    def heads(self, records: int) -> Rows:
        """Return int64 [records, 3]: height, width and channels of each only image."""
        found = np.full((records, 3), -1, np.int64)
        for row, (*sizes, _) in self.pictures.items():
            found[row] = sizes
        return found
