"""What is seen of the bytes values of one key: images, text, tensors, and their sizes."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from ...runtime.shared.errors import Problem
from ...runtime.shared.image_headers import HEADERS
from ...runtime.shared.images import CHANNELS, sniff
from ..columns import Column
from ..tensor_proto import WholeTensor, whole_tensor
from .numbers import MOST_DISTINCT, Rows

# Letters of other sorts than text has them: a tag of a protobuf is one of them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_LONGEST_TEXT = 256
_SAMPLES, _SAMPLE_BYTES = 16, 1 << 18
_PNG_COLOURS, _PALETTE = 25, 3
_MOST_HEAD = 54


class BytesLook:
    """Looks at the bytes values of one key, a column at a time.

    Attributes:
        values: how many there are.
        empty: how many have no bytes.
        least: the size of the smallest.
        most: of the largest.
        utf8: whether all are UTF-8.
        text: whether that is text, without control characters.
        texts: how often each occurs; None if there are too many or they are long.
        formats: how many are images of each format.
        sizes: how many images have each (height, width).
        channels: the channels of the images.
        bits: their bits a channel.
        grey: how many have classes' form: grey, or colours of a palette.
        damaged: how many begin as an image and cannot be read.
        broken: what is wrong with the first of these.
        refused: how many of these are whole, by format and channels.
        tensors: how many are serialized tensors of each dtype and shape.
        samples: some of them, the first of each column.
    """

    def __init__(self) -> None:
        self.values = self.empty = self.most = self.grey = self.damaged = 0
        self.least: int | None = None
        self.utf8 = self.text = True
        self.texts: Counter[str] | None = Counter()
        self.formats: Counter[str] = Counter()
        self.sizes: Counter[tuple[int, int]] = Counter()
        self.channels: Counter[int] = Counter()
        self.bits: Counter[int] = Counter()
        self.broken = ""
        self.refused: Counter[tuple[str, int]] = Counter()
        self.tensors: Counter[WholeTensor] = Counter()
        self.samples: list[bytes] = []
        self._rows: list[Rows] = []
        self._measured: list[Rows] = []
        self._single_texts: list[tuple[int, str]] = []
        self._heads: list[tuple[int, int, int, int, str]] = []

    def add(self, column: Column, rows: Rows) -> None:
        """Look at a column; `rows` are its records, counted over all columns."""
        sizes = column.values[:, 1] - column.values[:, 0]
        self.values += len(sizes)
        if len(sizes):
            least = int(sizes.min())
            self.least = least if self.least is None else min(least, self.least)
            self.most = max(int(sizes.max()), self.most)
        first = np.full(len(rows), -1, np.int64)
        some = column.lengths > 0
        first[some] = sizes[column.starts[some]]
        self._rows.append(rows)
        self._measured.append(first)
        owners = np.repeat(rows, column.lengths).tolist()
        single = np.repeat(column.lengths == 1, column.lengths).tolist()
        view = memoryview(column.data)  # type: ignore[arg-type]
        pairs = column.values.tolist()
        for number, (start, stop) in enumerate(pairs):
            data = bytes(view[start:stop])
            self._see(data, owners[number] if single[number] else -1)
            if number < 4 and len(self.samples) < _SAMPLES:
                self.samples.append(data[:_SAMPLE_BYTES])

    def _see(self, data: bytes, row: int) -> None:
        """Look at one value; `row` is its record if it is alone there."""
        if not data:
            self.empty += 1
            self._see_text("", row)
            return
        form = sniff(data)
        if form is not None and self._is_image(form, data, row):
            self._no_text()
            return
        head = whole_tensor(data)
        if head is not None:
            self.tensors[head] += 1
        if not self.utf8:
            return
        try:
            text = data.decode()
        except UnicodeDecodeError:
            self.utf8 = False
            self._no_text()
            return
        if self.text and _CONTROL.search(text):
            self._no_text()
        self._see_text(text, row)

    def _no_text(self) -> None:
        self.text, self.texts, self._single_texts = False, None, []

    def _see_text(self, text: str, row: int) -> None:
        if self.texts is None:
            return
        if len(text) > _LONGEST_TEXT:
            self.texts, self._single_texts = None, []
            return
        self.texts[text] += 1
        if row >= 0:
            self._single_texts.append((row, text))
        if len(self.texts) > MOST_DISTINCT:
            self.texts = None

    def _is_image(self, form: str, data: bytes, row: int) -> bool:
        """Look at what begins as an image, and tell whether it is one or was."""
        try:
            header = HEADERS[form](data)
            reason = f"a truncated {form} image"
        except Problem as problem:
            header, reason = None, problem.found
        except (IndexError, ValueError):
            header, reason = None, f"a damaged {form} image"
        if header is not None and header.channels not in CHANNELS[form]:
            reason = f"a {form} image of {header.channels} channels"
            self.refused[form, header.channels] += 1
            header = None
        if header is not None and not (header.height and header.width):
            header, reason = None, f"a {form} image without pixels"
        if header is None:
            if form == "bmp" and data[:_MOST_HEAD].isascii():
                return False  # a word that begins with BM
            self.damaged += 1
            self.broken = self.broken or reason
            return True
        self.formats[form] += 1
        self.sizes[header.height, header.width] += 1
        self.channels[header.channels] += 1
        self.bits[header.bits] += 1
        palette = form == "png" and data[_PNG_COLOURS] == _PALETTE
        plain = header.channels == (3 if palette else 1)
        self.grey += form == "png" and plain
        if row >= 0:
            self._heads.append(
                (row, header.height, header.width, header.channels, form)
            )
        return True

    def measured(self, records: int) -> Rows:
        """int64 [records]: the size of each one's first value; -1 if it has none."""
        spread = np.full(records, -1, np.int64)
        if self._rows:
            spread[np.concatenate(self._rows)] = np.concatenate(self._measured)
        return spread

    def heads(self, records: int) -> NDArray[np.int64]:
        """int64 [records, 3]: height, width and channels of each one's only image."""
        spread = np.full((records, 3), -1, np.int64)
        for row, *sizes, _ in self._heads:
            spread[row] = sizes
        return spread

    def forms(self) -> dict[int, str]:
        """Return the format of each record's only image."""
        return {head[0]: head[4] for head in self._heads}

    def single_texts(self) -> dict[int, str] | None:
        """Return the text of each record that has one; None if they are no texts."""
        return (
            dict(self._single_texts) if self.text and self.texts is not None else None
        )
