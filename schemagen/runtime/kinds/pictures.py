"""Pictures of all kinds: raw or encoded, with their size and format next to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..cells.cells import Read, Source
from ..cells.checks import BytesCheck, Check, Checks, finite
from ..cells.columns import Column, Rows
from ..cells.decoded import Shape
from ..cells.delivered import Delivered, Mark
from ..cells.faults import Features, shown_bytes
from ..cells.in_numpy import ArrayCells, ColumnSource
from ..cells.in_tensorflow import TensorSource
from ..cells.part import BYTES, Part, size_part
from ..cells.written import Stored
from ..images.formats import header_of, sniff
from ..images.headers import ImageHeader
from ..native import BYTES as BYTES_COLUMN
from ..native import INT64
from ..shared import base64_text
from ..shared.dtypes import DTYPES, FLOATS
from ..shared.errors import Problem
from ..shared.requirements import lazy_tf as tf
from ..shared.values import Numbers
from ..shared.wire import Buffer, buffer_of
from ..tensorflow.parsed import Parsed
from .kind import Kind
from .numbers import of_size
from .python_types import is_picture
from .tensors import of_sizes, stored_axes
from .text import encode_text

_SIZES = ("height", "width", "channels")
_AXES = ("height", "width", "number of channels")


def of_pictures(test: Callable[[bytes], object]) -> BytesCheck:
    """Return the check of encoded pictures that a function makes."""
    return BytesCheck("SG528", "image does not match the schema", test, cause=_cause)


def _cause(data: bytes) -> str:
    if not data:
        return "nothing was written"
    if sniff(data):
        return ""
    if data.startswith((b"/9j/", b"iVBOR")):
        return 'an image in base64: declare transfer_encoding="base64"'
    return "raw pixels, or a path?"


def read_size(kind: Any) -> Shape:
    """Return the height and width of a kind's pictures as they are read; () of others."""
    return (kind.resize or kind.shape[:2]) if kind.of_pixels else ()


class Picture(Kind):
    """A picture with its sizes and format under keys of their own, if they have any.

    Attributes:
        shape: of the stored pixels; None for a size that varies.
        resize: (height, width) that every picture is brought to when read.
        channels_key: the key of the number of channels, if it is stored.
        format_text: what is stored under the format's key in place of its name.
    """

    shape: Any
    encoding: str
    resize: tuple[int, int] | None
    height_key: str | None
    width_key: str | None
    channels_key: str | None = None
    format_key: str | None
    format_text: str | None = None
    transfer_encoding: str | None = None

    of_pixels: ClassVar[bool] = True

    def accepts(self, python_type: Any) -> bool:
        return is_picture(python_type, encoded=self.encoding != "raw")

    def size_problems(self) -> Iterator[Problem]:
        """Yield raw pixels whose size is neither fixed nor under a key."""
        pairs = zip(self.shape, self._size_keys, strict=True)
        if any(pair == (None, None) for pair in pairs):
            yield Problem(
                f"shape={self.shape!r} with raw pixels, and no keys of the sizes",
                "a fixed size, or height_key, width_key and channels_key",
                "raw bytes do not say their shape; use encoding='png' for any size",
            )

    @property
    def stored_dtype(self) -> str:
        """The dtype of the stored pixels."""
        return str(self.dtype)

    def header_of(self, data: bytes) -> tuple[str, ImageHeader]:
        """Return the format and the header of an encoded picture.

        Raises:
            Problem: it is no picture of the declared encoding.
        """
        return header_of(data, self.encoding)

    def check_encoded(self, data: bytes) -> object:
        """Compare what the header of an encoded picture says with what readers ask for.

        Raises:
            Problem: they would not read it as the schema says.
        """
        raise NotImplementedError

    def encoded(self, pixels: NDArray[Any]) -> bytes:
        """Encode the pixels of a picture."""
        raise NotImplementedError

    def bind(self) -> None:
        self._raw = self.encoding == "raw"
        super().bind()
        self._numbers = Numbers(self.stored_dtype)

    @property
    def _raw_size(self) -> int | None:
        """How many bytes raw pixels of a fixed shape take; None for others."""
        if not self._raw or None in self.shape:
            return None
        count: int = prod(size or 0 for size in self.shape)
        return count * DTYPES[self.stored_dtype].size

    @property
    def _size_keys(self) -> tuple[str | None, ...]:
        keys = (self.height_key, self.width_key, self.channels_key)
        return keys[: len(self.shape)]

    def make_parts(self) -> tuple[Part, ...]:
        value = Part(
            self.key,
            BYTES,
            encoding=self.encoding,
            dtype=self.stored_dtype,
            transfer_encoding=self.transfer_encoding,
            missing=b"" if self.optional else None,
            size=self._raw_size,
        )
        sizes = (
            replace(
                size_part(
                    key, f"{word}_key", word, length, 0 if self.optional else None
                ),
                read=self.encoding == "raw" and length is None,
            )
            for word, key, length in zip(
                _SIZES, self._size_keys, self.shape, strict=False
            )
            if key is not None
        )
        form: tuple[Part, ...] = ()
        if self.format_key is not None:
            name = self.format_text or self.encoding
            named = Part(self.format_key, BYTES, dtype="string", read=False)
            named = replace(named, holds="format", parameter="format_key")
            form = (replace(named, content=f"format {name}"),)
        return (value, *sizes, *form)

    @cached_property
    def delivered(self) -> Delivered:
        return self._delivers_pixels()

    def _delivers_pixels(self, *, mark: Mark = "mask", absent: Any = None) -> Delivered:
        raw = self.encoding == "raw"
        return self._delivers(
            (*read_size(self), *self.shape[2:]),
            decoded=(self.stored_dtype, self.shape) if raw else ("bytes", ()),
            batchable=self.resize is not None or None not in self.shape,
            mark=mark,
            absent=absent,
        )

    def store(self, value: Any) -> Sequence[Stored]:
        picture = self.convert(value)
        data: Buffer
        if self._raw:
            data = buffer_of(self._numbers.raw(picture))
        else:
            data = picture if isinstance(picture, bytes) else self.encoded(picture)
        text = self.transfer_encoding is not None
        stored: list[Stored] = [(base64_text.encoded(data) if text else data,)]
        if self._described:
            form, shape = "raw", np.shape(picture)
            if not self._raw:
                form, header = self.header_of(bytes(data))
                shape = header[:3]
            stored += [(shape[axis],) for axis in stored_axes(self._size_keys)]
            if self.format_key is not None:
                stored.append((encode_text(self.format_text or form),))
        return stored

    @property
    def checks(self) -> Checks:
        if not self._raw:
            return (of_pictures(self.check_encoded),)
        if None not in self.shape:
            return self.checks_of_pixels()
        sizes = of_sizes(
            self.parts[0], self.stored_dtype, len(self.shape), self._sizes, least=1
        )
        return (sizes, *self.checks_of_pixels())

    def checks_of_pixels(self) -> Checks:
        """Return the checks of raw pixels."""
        dtype = self.stored_dtype
        return (finite(dtype),) if dtype in FLOATS else ()

    def read(self, source: Source) -> Read:
        if isinstance(source, TensorSource):
            return None, lambda: self.decoded(source.parsed)
        assert isinstance(source, ColumnSource)
        found, *stored = source.checked(self.cells(source), *self.checked)
        if self._described and len(found.column):
            self._compare(source, found)
        if not self._raw:
            return found, found.bytes
        sizes = self._sizes(stored)
        return found, lambda: found.tensors(self.stored_dtype, self.shape, sizes, 0)

    def cells(self, source: Source) -> tuple[Any, ...]:
        assert isinstance(source, ColumnSource)
        dtype, size = self.stored_dtype, self._raw_size
        if not self._raw:
            return (self._bytes(source, f"an encoded {self.encoding}"),)
        text = f"{dtype} pixels of the size that is stored next to them"
        if size is not None:
            text = f"{size} bytes ({dtype} {list(self.shape)})"
        found = self._bytes(source, text)
        if size is not None:
            (found,) = source.checked((found,), of_size(size, 1, text, dtype))
        read = {each.content: each for each in self.parts[1:] if each.read}
        sizes = (
            source.read(each, f"{each.text}, the {each.content}", needed_by=found)
            for each in read.values()
        )
        return source.aligned(found, *sizes)

    def _compare(self, source: ColumnSource, found: ArrayCells) -> None:
        """Compare pictures with what is stored of them under further keys."""
        if self._raw:
            pairs = zip(self._size_keys, self.shape, strict=True)
            keys = [None if size is None else key for key, size in pairs]
            sizes = np.array([[n or 0 for n in self.shape]] * len(found.column))
            forms = ["raw"] * len(found.column)
        else:
            headers = [*map(self.header_of, found.bytes())]
            keys, forms = [*self._size_keys], [form for form, _ in headers]
            sizes = np.array([header[:3] for _, header in headers], np.int64)
        self._compare_sizes(source, found, keys, sizes)
        self._compare_formats(source, found, forms)

    def decoded(self, parsed: Parsed) -> Any:
        """Return the pixels of a batch as a tensor: [B, height, width, ...]."""
        raise NotImplementedError

    @property
    def _described(self) -> bool:
        return any(self._size_keys) or self.format_key is not None

    @property
    def _empty_is_missing(self) -> bool:
        """Whether empty bytes are a missing picture."""
        return self.optional

    def _bytes(self, source: ColumnSource, expected: str) -> ArrayCells:
        """Return the rows that have a picture."""
        found = source.read(self.parts[0], expected)
        if source.notes.packed or source.notes.trusted or not self._empty_is_missing:
            return found
        return found.only(found.sizes > 0)

    def _sizes(self, stored: Sequence[Any]) -> list[Any]:
        """Return the size of each axis: int64 [rows], or one for all rows."""
        sizes = iter(stored)
        return [next(sizes).values if n is None else n for n in self.shape]

    def _compare_sizes(
        self,
        source: ColumnSource,
        found: ArrayCells,
        keys: Sequence[str | None],
        sizes: NDArray[np.int64],
    ) -> None:
        """Compare pictures with the sizes that are stored under further keys.

        Parsers do not read these, but other programs may.

        Args:
            source: the records.
            found: the pictures.
            keys: of each axis; None if its size is not stored.
            sizes: int64 [rows, axes], those of the pictures.
        """
        for axis, key in enumerate(keys):
            if key is None or not len(found.column):
                continue
            column, true = _single(source.features, key, INT64), sizes[:, axis]
            given = source.features.spread(found.column.rows, true)
            given[column.rows] = column.values
            given = given[found.column.rows]
            name, swapped = _AXES[axis], "height and width are swapped?" * (axis < 2)
            if swapped and getattr(self, "orientation", "keep") == "apply":
                swapped = "these are the sizes before it is turned: leave out the keys"
            check = Check(
                "SG530",
                f"stored {name} does not match the image",
                f"the {name} of the picture",
                lambda cells, given=given, true=true: given == true,
                by_row=True,
                numbers=lambda cells, both=(given, true): both,
                found="{}, and the picture has {}",
                cause=lambda wrong, at, swapped=swapped: swapped,
            )
            source.checked((found.at(key),), check)

    def _compare_formats(
        self, source: ColumnSource, found: ArrayCells, forms: Sequence[str]
    ) -> None:
        """Compare pictures with the stored name of their format, in any case."""
        if self.format_key is None or not len(found.column):
            return
        single = _single(source.features, self.format_key, BYTES_COLUMN)
        names = dict(zip(single.rows.tolist(), single.bytes_values(), strict=True))
        right, words = np.ones(len(forms), np.bool_), [""] * len(forms)
        pairs = zip(found.column.rows.tolist(), forms, strict=True)
        for at, (row, true) in enumerate(pairs):
            given = (self.format_text or true).lower()
            known = {true, "jpg" if true == "jpeg" else true, given}
            name = names.get(row)
            if name is not None and name.decode(errors="replace").lower() not in known:
                right[at] = False
                words[at] = f"{shown_bytes(name)}, and the picture is {true}"
        check = Check(
            "SG530",
            "stored format does not match the image",
            "the format of the image",
            lambda cells: right,
            by_row=True,
            numbers=lambda cells: (np.array(words, object),),
            found="{}",
        )
        source.checked((found.at(self.format_key),), check)

    def sizes_in(self, features: Features) -> tuple[Rows, NDArray[np.int64]]:
        """Return the records that have a picture, and its size as it is stored.

        Damaged pictures are left out.

        Returns:
            int64 [M], and height and width, int64 [M, 2].
        """
        rows, contents = features.contents(self.key)
        if self._raw:
            axes = []
            for size, key in zip(self.shape[:2], self._size_keys, strict=False):
                stored = np.full(len(features.live), size or 0)
                if size is None and key is not None:
                    column = _single(features, key, INT64)
                    stored = features.spread(column.rows, column.values)
                axes.append(stored[rows])
            sizes = np.stack(axes, axis=1)
        else:
            found = [self._size_of(data) for data in contents]
            sizes = np.array(found, np.int64).reshape(-1, 2)
        known = (sizes > 0).all(axis=1)
        return rows[known], sizes[known]

    def _size_of(self, picture: Any) -> Any:
        """Return height and width of a picture; 0 if it is damaged."""
        if isinstance(picture, np.ndarray):
            return picture.shape[:2]
        try:
            if self.transfer_encoding:
                picture = base64_text.decoded(picture)
            return self.header_of(bytes(picture))[1][:2]
        except Problem:
            return 0, 0

    def _sizes_in(self, parsed: Parsed) -> dict[str, Any]:
        """Return the stored sizes that readers need, by their words: int64 [B]."""
        return {part.content: parsed[part.key] for part in self.parts[1:] if part.read}

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        return tf.not_equal(parsed[self.key], "")


def _single(features: Features, key: str, kind: str) -> Column:
    """Return the records that have one value of a kind under a key."""
    column = features.column(key, kind)
    return column.only(column.lengths == 1)


def advice_for(value: object) -> str:
    """Say what to pass instead of a path or another stand-in for an image; or ""."""
    if isinstance(value, (str, os.PathLike)):
        return "pass Path(...).read_bytes() of a file"
    if type(value).__module__.startswith("PIL."):
        return "pass np.asarray(image), or the bytes of its file"
    return ""
