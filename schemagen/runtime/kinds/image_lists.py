"""Lists of encoded images: the values of one bytes list, or of numbered keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from ..cells.cells import Read, Source
from ..cells.checks import Checks
from ..cells.decoded import Form, Values, convert_each, split_rows
from ..cells.delivered import Delivered
from ..cells.in_numpy import ColumnSource
from ..cells.in_tensorflow import TensorCells, TensorSource, checked
from ..cells.part import BYTES, Part
from ..cells.written import Stored
from ..images.formats import ENCODINGS, Encoding
from ..images.pixels import UndecodableError
from ..shared.errors import Problem
from ..shared.requirements import lazy_tf as tf
from ..shared.values import check_shape, described
from ..tensorflow import graph
from ..tensorflow.parsed import Parsed
from .augment import Augmentation
from .changes import DTYPE, ENCODING, GROUP, IMAGES, KEY, ORIENTATION, RESIZING, SHAPE
from .images import ImageShape, Interpolation, Orientation, Resized
from .kind import Default
from .limits import Limit
from .numbering import Numbering, numbering_of
from .parameters import Count, HeightAndWidth, Name, OneOf, Size, declared, parameter
from .pictures import of_pictures, read_size
from .python_types import is_array, is_list, members

MOST_KEYS = 10_000
"""More numbered keys would slow down every reader of the schema."""


@declared
class Images(Resized):
    """A list of encoded pictures in one feature, such as camera frames.

    With `keys`, each of them is in a feature of its own.

    Attributes:
        shape: of each picture; height and width may be None, any size, with `resize`.
        encoding: one of ENCODINGS, such as "jpeg", or "any" for all of them.
        count: how many there are; None for any number from 0.
        max_count: the most there may be, if any number.
        resize: (height, width) to which pictures are brought when read.
        interpolation: how: "bilinear" or "nearest".
        antialias: whether pictures are filtered before they shrink, if bilinear.
        scaled_decoding: whether JPEGs are decoded at 1/2, 1/4 or 1/8 of their size, if
            that is not smaller than `resize`: faster, with other pixels.
        orientation: what becomes of the EXIF orientation of JPEGs, as for `Image`.
        dtype: of the pixels, as for `Image`.
        group: fields of one group are equally long.
        augment: how pictures are varied in training, all of a record alike.
        keys: the keys of `count` features, each of one picture: a format of the number,
            such as "frames/{:04d}" or "frame_{}".
        keys_from: the number of the first of these keys.
    """

    shape: ImageShape = parameter(*SHAPE)
    encoding: Annotated[Encoding, OneOf(ENCODINGS)] = parameter(
        *ENCODING, default="jpeg"
    )
    count: Size | None = parameter(*IMAGES, default=None)
    max_count: Size | None = parameter(*IMAGES, default=None)
    resize: HeightAndWidth | None = parameter(*RESIZING, default=None)
    interpolation: Interpolation = parameter(
        *RESIZING, default="bilinear", omit_default=True
    )
    antialias: bool = parameter(*RESIZING, default=False, omit_default=True)
    scaled_decoding: bool = parameter(*RESIZING, default=False, omit_default=True)
    orientation: Orientation = parameter(
        *ORIENTATION, default="keep", omit_default=True
    )
    dtype: Annotated[str, OneOf(("uint8", "uint16", "float32"))] = parameter(
        *DTYPE, default="uint8", omit_default=True
    )
    group: Name | None = parameter(*GROUP, default=None, omit_default=True)
    augment: Augmentation | None = parameter(default=None, omit_default=True)
    keys: Name | None = parameter(*KEY, default=None, omit_default=True)
    keys_from: Count = parameter(*KEY, default=0, omit_default=True)

    kind: ClassVar[str] = "Images"
    python_type: ClassVar[str] = "list[bytes]"
    holds: ClassVar[str] = "a list of bytes or np.ndarray, or np.ndarray"
    of_pixels: ClassVar[bool] = True
    selectable: ClassVar[bool] = True

    @property
    def takes_default(self) -> Default:  # type: ignore[override]
        return "empty" if self.count is None else "none"

    def accepts(self, python_type: Any) -> bool:
        return all(is_array(m) or _is_list_of_images(m) for m in members(python_type))

    def rules(self) -> Iterator[Problem]:
        if self.count and (self.max_count or self.group):
            yield Problem(
                "count with max_count or group",
                "one of them: a field with a count has one length in all records",
            )
        yield from self._key_problems()
        yield from self.encoded_problems()
        yield from self.resize_problems()
        if None in self.shape and self.resize is None:
            yield Problem(
                f"shape={self.shape!r} without resize",
                "a fixed size, or resize=(height, width)",
                "the images of a record need one size",
            )

    def _key_problems(self) -> Iterator[Problem]:
        given, numbering = f"keys={self.keys!r}", numbering_of(self.keys)
        if self.keys is None:
            if self.keys_from:
                yield Problem(
                    f"keys_from={self.keys_from} without keys", "keys='frames/{:04d}'"
                )
        elif numbering is None:
            yield Problem(
                given, "one place for the number, such as 'frames/{:04d}' or 'frame_{}'"
            )
        elif self.count is None or self.count > MOST_KEYS:
            yield Problem(
                f"{given} with count={self.count}", f"count=n, up to {MOST_KEYS:,}"
            )
        elif self.key not in (None, numbering.key(self.keys_from)):
            yield Problem(f"{given} with key={self.key!r}", "one of them")

    def default_key(self, name: str) -> str:
        numbering = numbering_of(self.keys)
        return numbering.key(self.keys_from) if numbering else name

    @property
    def numbering(self) -> Numbering | None:
        """The format of its keys, if each image has a key of its own."""
        return numbering_of(self.keys)

    def bind(self) -> None:
        super().bind()
        self._limit = Limit(self.max_count, noun="images")

    def make_parts(self) -> tuple[Part, ...]:
        if self.numbering is not None:
            keys = self.numbering.keys(self.keys_from, self.count or 0)
            part = Part(
                keys[0],
                BYTES,
                encoding=self.encoding,
                dtype="uint8",
                missing=b"" if self.optional else None,
            )
            content = f"an image of {self.keys!r}"
            further = (
                replace(part, key=key, parameter="keys", content=content)
                for key in keys[1:]
            )
            return (part, *further)
        part = Part(
            self.key,
            BYTES,
            self.count,
            self.max_count,
            encoding=self.encoding,
            dtype=self.stored_dtype,
            shape=() if self.count is None else (self.count,),
            missing=b"" if self.optional and self.count else None,
            item_size=1 if self.count is None else None,
        )
        return (part,)

    @cached_property
    def delivered(self) -> Delivered:
        return self._delivers(
            (self.count, *read_size(self), self.shape[2]),
            decoded=("bytes", (self.count,)),
            limit=self.max_count,
        )

    def convert(self, value: Any) -> list[bytes | NDArray[Any]] | NDArray[Any]:
        if isinstance(value, np.ndarray):
            check_shape(value, (None, *self.shape))
        elif not isinstance(value, (list, tuple)):
            raise Problem(
                described(value), "a list of images, or an array [N, H, W, C]"
            )
        if self.count not in (None, len(value)):
            raise Problem(f"{len(value)} images", str(self.count))
        self._limit.check(len(value))  # before any of them is encoded
        pictures = convert_each(self.picture, value)
        return value if isinstance(value, np.ndarray) else pictures

    def store(self, value: Any) -> Sequence[Stored]:
        contents = convert_each(self._contents, self.convert(value))
        return (contents,) if self.keys is None else [(each,) for each in contents]

    def _contents(self, picture: bytes | NDArray[Any]) -> bytes:
        return picture if isinstance(picture, bytes) else self.encoded(picture)

    @property
    def checks(self) -> Checks:
        return (*self._limit.checks(), of_pictures(self.check_encoded))

    def read(self, source: Source) -> Read:
        if isinstance(source, TensorSource):
            return None, lambda: self._parsed(source.parsed)
        (found,) = self.cells(source)
        if self.count is not None and self.optional:
            nothing = (found.column.sizes.reshape(-1, self.count) == 0).all(axis=1)
            found = found.only(~nothing)
        *of_lengths, of_each = self.checked
        (found,) = source.checked((found,), *of_lengths)
        (found,) = source.checked((found.selected(),), of_each)
        return found, lambda: split_rows(found.bytes(), found.lengths)

    def cells(self, source: Source) -> tuple[Any, ...]:
        assert isinstance(source, ColumnSource)
        if self.keys is None:
            (part,) = self.parts
            return (source.read(part, f"{part.text}, each an image"),)
        needed = source.having(self.parts) if self.optional else None
        text = f"one {self.encoding} image under"
        first, *rest = source.aligned(
            *(
                source.read(each, f"{text} {each.key!r}", needed_by=needed)
                for each in self.parts
            )
        )
        return (first.in_turn(rest),)

    def in_form(self, values: Values, form: Form) -> Values:
        if not form.images:
            return values
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        try:
            images = self._arrays_of([each for row in values for each in row])
        except UndecodableError as error:
            raise error.in_rows(lengths) from None
        count = self.delivered.shape[0]
        if count is None or not isinstance(images, np.ndarray):
            return split_rows(images, lengths)
        return images.reshape(len(values), count, *images.shape[1:])

    def _data(self, parsed: Parsed) -> Any:
        """Return the encoded images of a batch: string [B, count], or ragged."""
        if self.keys is None:
            return parsed[self.key]
        return tf.stack([parsed[part.key] for part in self.parts], axis=1)

    def _whole(self, data: Any) -> Any:
        """Return the images of a batch, string [B, count]: each record has all or none."""
        empty = data == ""
        lacking = tf.reduce_sum(tf.cast(empty, tf.int32), axis=1)
        right = (lacking == 0) | (lacking == self.count)
        expected = f"field {self.label!r}: expected all of {self.count} images or none"
        if self.keys is None:
            found = f"{expected}, found how many are empty"
            return graph.checked(data, right, found, lacking)
        keys = tf.broadcast_to([part.key for part in self.parts], tf.shape(data))
        lost = tf.boolean_mask(keys, empty & ~right[:, tf.newaxis])
        return graph.checked(data, right, f"{expected}, found no image under", lost)

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        if self.count is None:
            return super().present(parsed, tensor)
        return tf.reduce_any(self._data(parsed) != "", axis=1)

    def _parsed(self, parsed: Parsed) -> Any:
        data, select = self._data(parsed), parsed.selecting(self.label)
        if self.count is None:
            stored = (TensorCells(self.label, data),)
            data = checked(stored, *self.checked)[0].tensor
            data = data if select is None else select(data)
            images = self._decoded(data.flat_values, optional=False)
            return graph.padded(data.with_flat_values(images), 0)
        if self.optional:
            data = self._whole(data)
        count = self.count
        if select is not None:
            found = select(tf.RaggedTensor.from_tensor(data))
            count = parsed.choices[self.name].most(count)
            data = tf.reshape(found.values, (tf.shape(data)[0], count))
        flat = self._decoded(tf.reshape(data, (-1,)), optional=self.optional)
        images = tf.reshape(flat, (tf.shape(data)[0], count, *flat.shape[1:]))
        return tf.ensure_shape(images, (data.shape[0], *images.shape[1:]))


def _is_list_of_images(python_type: Any) -> bool:
    """Tell whether a type is a list, tuple or Sequence of encoded or decoded images."""
    if not is_list(python_type):
        return False
    items = [item for item in get_args(python_type) if item is not Ellipsis]
    return all(one is bytes or is_array(one) for item in items for one in members(item))
