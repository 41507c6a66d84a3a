"""Pictures of all kinds: raw or encoded, with their size and format next to them."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..reading.columns import Column, Rows
from ..shared import base64_text
from ..shared.images import header_of
from ..shared.values import item_size
from ..shared.wire import Buffer
from .compound import Compound
from .decoded import Decoded, Decoding, Shape
from .faults import Fault, Features, Passed, refused, shown_bytes
from .numbers import numbers_of
from .parsed import Parsed
from .part import BYTES, Part, size_part
from .picture_checks import checked_pictures
from .single import BytesCodec
from .sizes import counted, shaped, stored_sizes
from .strings import Text
from .tensorflow import tf
from .tensors import size_members, stored_axes
from .values import checked_size

_SIZES = ("height", "width", "channels")
_AXES = ("height", "width", "number of channels")


@dataclass(eq=False, kw_only=True)
class Picture(Compound):
    """A picture with its sizes and format under keys of their own, if they have any.

    Attributes:
        encoding: "raw" for the little-endian numbers of the pixels, row by row, or a
            format.
        resize: (height, width) that every picture is brought to when read.
        height_key: the key of the height in pixels, if it is stored.
        width_key: the key of the width.
        format_key: the key of the format's name.
        transfer_encoding: "base64" for bytes that are stored as base64 text.
    """

    encoding: str
    resize: tuple[int, int] | None = None
    height_key: str | None = None
    width_key: str | None = None
    format_key: str | None = None
    transfer_encoding: str | None = None

    of_pixels: ClassVar[bool] = True

    shape: Any = field(init=False, repr=False)
    """The shape of the stored pixels; None for a size that varies."""

    channels_key: str | None = field(default=None, init=False, repr=False)
    format_text: str | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def content(self, transfer_encoding: str | None) -> Any:
        """Return the codec of the picture alone."""

    @property
    @abstractmethod
    def stored_dtype(self) -> str:
        """The dtype of the stored pixels."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._raw = self.encoding == "raw"
        encoding = self.transfer_encoding
        if not self._described:
            self._content = self.content(encoding)
            self.members = [self._content]
            # A picture alone is written as its codec does, without going through here.
            for name in ("encode", "encode_column", "entries", "entry_columns"):
                setattr(self, name, getattr(self._content, name))
            return
        self._content = self.content(None)
        self.members = [
            _Contents(self.label, key=self.key, transfer_encoding=encoding),
            *size_members(self.label, self._size_keys),
        ]
        if self.format_key is not None:
            self.members.append(Text(self.label, key=self.format_key))

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

    @property
    def annotation(self) -> str:
        # numpy has no bfloat16.
        dtype = self.stored_dtype
        array = "NDArray[Any]" if dtype == "bfloat16" else f"NDArray[np.{dtype}]"
        return array if self._raw else f"bytes | {array}"

    @property
    def delivered_shape(self) -> Shape:
        return (*(self.resize or self.shape[:2]), *self.shape[2:])

    @property
    def decoded_as(self) -> tuple[str, Shape]:
        return (self.stored_dtype, self.shape) if self._raw else ("bytes", ())

    @property
    def alone(self) -> bool:
        """Whether it can only be read in batches of one, since sizes vary."""
        return self.resize is None and None in self.shape

    def convert(self, value: Any) -> Any:
        return self._content.convert(value)

    def split(self, value: Any) -> Sequence[Any]:
        if len(self.members) == 1:
            return [value]
        data = self._content.contents(value)
        if self._raw:
            form, shape = "raw", value.shape
        else:
            form, header = header_of(bytes(data))
            shape = header[:3]
        texts = [self.format_text or form] * (self.format_key is not None)
        return [data, *(shape[axis] for axis in stored_axes(self._size_keys)), *texts]

    def decode(self, features: Features) -> Decoding:
        if self._raw:
            return (yield from self._decode_raw(features))
        column = yield from self._bytes(features, f"an encoded {self.encoding}")
        column = yield from checked_pictures(column, self._content)
        if self._described and len(column):
            found = list(map(header_of, column.bytes_values()))
            sizes = np.array([header[:3] for _, header in found], np.int64)
            yield from self._compare_sizes(features, column, self._size_keys, sizes)
            forms = [form for form, _ in found]
            yield from self._compare_formats(features, column, forms)
        return Decoded(column.rows, lambda: list(column.bytes_values()))

    @property
    def _described(self) -> bool:
        return any(self._size_keys) or self.format_key is not None

    @property
    def _empty_is_missing(self) -> bool:
        """Whether empty bytes are a missing picture."""
        return self.optional

    def _bytes(self, features: Features, expected: str) -> Passed:
        """Return the rows that have a picture."""
        column = yield from self.parts[0].column(features, expected)
        return column.only(column.sizes > 0) if self._empty_is_missing else column

    def _decode_raw(self, features: Features) -> Decoding:
        """Check raw pixels, of a fixed shape or of the one stored next to them."""
        dtype = self.stored_dtype
        fixed = None not in self.shape
        if fixed:
            size = int(np.prod(self.shape)) * item_size(dtype)
            text = f"{size} bytes ({dtype} {list(self.shape)})"
            column = yield from self._bytes(features, text)
            column = yield from checked_size(column, text, dtype, size)
        else:
            text = f"{dtype} pixels of the size that is stored next to them"
            column = yield from self._bytes(features, text)
        read = {part.content: part for part in self.parts[1:] if part.read}
        sizes = [
            read[name] if size is None else size
            for name, size in zip(_SIZES, self.shape, strict=False)
        ]
        table, known = yield from stored_sizes(
            features, sizes, lambda part: f"{part.text}, the {part.content}"
        )
        if not fixed:
            column = column.only(known[column.rows])
            text = " x ".join(_SIZES[: len(sizes)])
            text = f"{text} x {item_size(dtype)} bytes ({dtype})"
            own = table[column.rows]
            column = yield from counted(column, own, dtype, text, 1, "size")
        column = yield from self._checked_pixels(column)
        pairs = zip(self._size_keys, self.shape, strict=True)
        keys = [None if size is None else key for key, size in pairs]
        own = table[column.rows]
        yield from self._compare_sizes(features, column, keys, own)
        yield from self._compare_formats(features, column, ["raw"] * len(column))
        return Decoded(
            column.rows, lambda: shaped(numbers_of(column, dtype), own, self.shape)
        )

    def _checked_pixels(self, column: Column) -> Passed:
        """Check the values of raw pixels."""
        yield from ()
        return column

    def _compare_sizes(
        self,
        features: Features,
        column: Column,
        keys: Sequence[str | None],
        sizes: Rows,
    ) -> Generator[Fault, None, None]:
        """Compare pictures with the sizes that are stored under further keys.

        Parsers do not read these, but other programs may.

        Args:
            features: the records.
            column: the pictures.
            keys: of each axis; None if its size is not stored.
            sizes: int64 [rows, axes], those of the pictures.
        """
        for axis, key in enumerate(keys):
            if key is None or not len(column):
                continue
            written, true = _single(features, key, "int64"), sizes[:, axis]
            found = features.spread(column.rows, true)
            found[written.rows] = written.values
            found = found[column.rows]
            bad, name = found != true, _AXES[axis]
            pairs = found[bad], true[bad]
            yield from refused(
                replace(column, key=key),
                bad,
                "SG530",
                f"stored {name} does not match the image",
                f"the {name} of the picture",
                lambda _, at, pairs=pairs: (  # type: ignore[misc]
                    f"{pairs[0][at]}, and the picture has {pairs[1][at]}"
                ),
                lambda _, at, axis=axis: (  # type: ignore[misc]
                    "height and width are swapped?" if axis < 2 else ""
                ),
            )

    def _compare_formats(
        self, features: Features, column: Column, forms: Sequence[str]
    ) -> Generator[Fault, None, None]:
        """Compare pictures with the stored name of their format, in any case."""
        if self.format_key is None or not len(column):
            return
        single = _single(features, self.format_key, "bytes")
        names = {
            row: single.bytes_at(at) for at, row in enumerate(single.rows.tolist())
        }
        bad, found = np.zeros(len(column), np.bool_), []
        pairs = zip(column.rows.tolist(), forms, strict=True)
        for at, (row, true) in enumerate(pairs):
            given = (self.format_text or true).lower()
            known = {true, "jpg" if true == "jpeg" else true, given}
            name = names.get(row)
            if name is not None and name.decode(errors="replace").lower() not in known:
                bad[at] = True
                found.append(f"{shown_bytes(name)}, and the picture is {true}")
        yield from refused(
            replace(column, key=self.format_key),
            bad,
            "SG530",
            "stored format does not match the image",
            "the format of the picture",
            lambda _, at: found[at],
        )

    def _sizes_in(self, parsed: Parsed) -> dict[str, Any]:
        """Return the stored sizes that readers need, by their words: int64 [B]."""
        return {part.content: parsed[part.key] for part in self.parts[1:] if part.read}

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        return tf.not_equal(parsed[self.key], "")


class _Contents(BytesCodec):
    """One bytes value that has been checked before."""

    dtype = "bytes"

    def __init__(self, label: str, *, key: str, transfer_encoding: str | None) -> None:
        self._transfer_encoding = transfer_encoding
        super().__init__(label, key=key)

    def make_parts(self) -> tuple[Part, ...]:
        return (Part(self.key, BYTES),)

    takes = "bytes"

    def convert(self, value: Any) -> Any:
        return value

    def contents(self, value: Any) -> Buffer:
        return base64_text.encoded(value) if self._transfer_encoding else value

    def decode(self, features: Features) -> Decoding:
        raise NotImplementedError

    def parse(self, parsed: Parsed) -> Any:
        raise NotImplementedError


class EncodedContent(_Contents):
    """The codec of an encoded picture alone.

    Args:
        picture: what the bytes are to be.
        transfer_encoding: "base64" for bytes that are stored as base64 text.
    """

    def __init__(self, picture: Any, transfer_encoding: str | None) -> None:
        super().__init__(
            picture.label, key=picture.key, transfer_encoding=transfer_encoding
        )
        self.optional = picture.optional


def batch_text(shape: Shape, names: str) -> str:
    """Return the shape of a batch in words, with a letter for each size that varies."""
    sizes = (str(size or name) for size, name in zip(shape, names, strict=True))
    return f"[{', '.join(('B', *sizes))}]"


def _single(features: Features, key: str, kind: str) -> Column:
    """Return the records that have one value of a kind under a key."""
    column = features.column(key, kind)
    return column.only(column.lengths == 1)


def in_place_of(value: object) -> str:
    """Say what to pass instead of a path or another stand-in for an image; or ""."""
    if isinstance(value, (str, os.PathLike)):
        return "pass Path(...).read_bytes() of a file"
    if type(value).__module__.startswith("PIL."):
        return "pass np.asarray(image), or the bytes of its file"
    return ""
