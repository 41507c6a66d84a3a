"""Bytes values: encoded images and sound, serialized tensors, text, or none of these."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...documents import Counts, WithProperties
from ...runtime.audio.formats import DECODED as AUDIO
from ...runtime.audio.formats import recognised
from ...runtime.cells.columns import Column
from ...runtime.cells.tensor_proto import TensorHead, tensor_head
from ...runtime.images.formats import DECODED, UNDECODED, sniff, undecoded
from ...runtime.images.headers import ImageHeader
from ...runtime.shared.errors import Problem
from .numbers import NumericStatistics, few, merged_numbers, numbers, summed
from .sounds import Level, Sound, level_of, samples_of, seconds_of, sound_header

LONGEST_COUNTED = 256
"""Longer values are not counted one by one: no class has such a name."""


EMPTY, TEXT, TENSOR, RAW = "empty", "text", "tensor", "raw"
IMAGES = tuple(DECODED)
SOUNDS = tuple(AUDIO)
UNREAD = (RAW, *UNDECODED)
"""What no kind reads but as bytes: images of formats that are not decoded, and all else."""

# Text has no control characters but those that lay it out.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class ImageInfo(NamedTuple):
    """What the header of an encoded image says; sizes in pixels, bits per channel."""

    format: str
    height: int
    width: int
    channels: int
    bits: int


class Content(NamedTuple):
    """What a bytes value is.

    Attributes:
        format: one of IMAGES, SOUNDS or UNREAD, "tensor", "text", "empty".
        utf8: whether it is UTF-8; text without control characters is "text", too.
        picture: of an image.
        trouble: why the header of an image or of sound does not say what it is; empty if
            it does.
        orientation: the EXIF orientation of an image that is not upright.
        tensor: of a serialized tensor.
        sound: of sound.
        seconds: how long this is.
    """

    format: str
    utf8: bool = False
    picture: ImageInfo | None = None
    trouble: str = ""
    orientation: int | None = None
    tensor: TensorHead | None = None
    sound: Sound | None = None
    seconds: float = 0.0


_WORDS = Content(TEXT, utf8=True)


def content_of(value: bytes, raw: Sound | None = None) -> Content:
    """Tell what a bytes value is.

    Args:
        value: the bytes.
        raw: what a schema says of sound without a header; None of other bytes.
    """
    if not value:
        return Content(EMPTY, utf8=True)
    if raw is not None:
        return Content(RAW, sound=raw, seconds=seconds_of(value, raw))
    if value.isascii() and value.decode().isprintable():
        return _WORDS  # most bytes are these, or images
    image = sniff(value)
    if image is not None:
        found = _image(value, image)
        if found.picture or not DECODED[image].like_text:
            return found
        text = _text(value)
        return found if text.format == RAW else text
    if (form := recognised(value)) is not None:
        return _sound(value, form.name)
    tensor = tensor_head(value)
    if tensor is not None:
        return Content(TENSOR, tensor=tensor)
    text, other = _text(value), undecoded(value)
    if other is None or text.format != RAW:
        return text
    return text._replace(format=other.name)


def _image(value: bytes, image: str) -> Content:
    try:
        header = DECODED[image].header(value)
    except Problem as problem:
        return Content(image, trouble=problem.found)
    except ImportError as error:  # of an old Pillow
        return Content(image, trouble=str(error))
    return _content_of_image(image, header)


def _sound(value: bytes, form: str) -> Content:
    try:
        found = sound_header(value)
    except Problem as problem:
        return Content(form, trouble=problem.found)
    assert found is not None
    return Content(form, sound=found[0], seconds=found[1])


@lru_cache(maxsize=4096)
def _content_of_image(image: str, header: ImageHeader | None) -> Content:
    if header is None:
        return Content(image, trouble=f"a truncated {image} image")
    *plain, orientation = header
    turned = orientation if orientation != 1 else None
    return Content(image, picture=ImageInfo(image, *plain), orientation=turned)


def _text(value: bytes) -> Content:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return Content(RAW)
    plain = text.isprintable() or not _CONTROL.search(text)
    return Content(TEXT if plain else RAW, utf8=True)


@dataclass(frozen=True)
class BytesValues:
    """Some bytes values of one key.

    Attributes:
        sizes: in bytes.
        formats: how many are of which format: one of IMAGES, SOUNDS or UNREAD, "tensor"
            (a serialized tf.TensorProto), "text" (UTF-8 without control characters),
            "empty".
        utf8: how many are UTF-8, empty ones and those with control characters too.
        pictures: how many images are of which format, size and number of channels;
            None if there are more than numbers.DISTINCT kinds.
        heights: of the images, in pixels.
        widths: likewise.
        channels: how many images have how many.
        depths: how many have how many bits per channel.
        troubles: why headers of images and of sound do not say what they are, and of how
            many; None for too many reasons.
        orientations: how many images are not upright, by their EXIF orientation.
        tensors: how many serialized tensors are of which dtype and shape; None if
            there are more than numbers.DISTINCT kinds.
        sounds: how many sounds are of which format, rate, channels and bits; None if
            there are more than numbers.DISTINCT kinds.
        seconds: how long they are.
        heard: how many were decoded; FLAC is with the package soundfile.
        clipped: in how many of these a channel has three samples at full scale, one
            after the other.
        silent: in how many of these all samples are below 1/1000 of full scale.
        distinct: how often each value occurs; None if there are more than
            numbers.DISTINCT, or one is longer than LONGEST_COUNTED.
    """

    sizes: NumericStatistics = field(default_factory=NumericStatistics)
    formats: Counts[str] = field(default_factory=dict)
    utf8: int = 0
    pictures: Counts[ImageInfo] | None = field(default_factory=dict)
    heights: NumericStatistics = field(default_factory=NumericStatistics)
    widths: NumericStatistics = field(default_factory=NumericStatistics)
    channels: Counts[int] = field(default_factory=dict)
    depths: Counts[int] = field(default_factory=dict)
    troubles: Counts[str] | None = field(default_factory=dict)
    orientations: Counts[int] = field(default_factory=dict)
    tensors: Counts[TensorHead] | None = field(default_factory=dict)
    sounds: Counts[Sound] | None = field(default_factory=dict)
    seconds: NumericStatistics = field(default_factory=NumericStatistics)
    heard: int = 0
    clipped: int = 0
    silent: int = 0
    distinct: Counts[bytes] | None = field(default_factory=dict)
    __get_pydantic_core_schema__ = WithProperties("count", "images")

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.sizes.count

    @property
    def images(self) -> int:
        """How many are images, with a header that can be read or not."""
        return sum(self.formats.get(format_, 0) for format_ in IMAGES)


def merged_bytes(parts: Sequence[BytesValues]) -> BytesValues:
    """Return what the values of all parts are like."""
    parts = [part for part in parts if part.count]
    if len(parts) < 2:
        return parts[0] if parts else BytesValues()
    return BytesValues(
        sizes=merged_numbers([part.sizes for part in parts]),
        formats=summed(part.formats for part in parts),
        utf8=sum(part.utf8 for part in parts),
        pictures=few([part.pictures for part in parts]),
        heights=merged_numbers([part.heights for part in parts]),
        widths=merged_numbers([part.widths for part in parts]),
        channels=summed(part.channels for part in parts),
        depths=summed(part.depths for part in parts),
        troubles=few([part.troubles for part in parts]),
        orientations=summed(part.orientations for part in parts),
        tensors=few([part.tensors for part in parts]),
        sounds=few([part.sounds for part in parts]),
        seconds=merged_numbers([part.seconds for part in parts]),
        heard=sum(part.heard for part in parts),
        clipped=sum(part.clipped for part in parts),
        silent=sum(part.silent for part in parts),
        distinct=few([part.distinct for part in parts]),
    )


def bytes_values(columns: Sequence[Column], raw: Sound | None = None) -> BytesValues:
    """Summarize the values of columns of kind bytes.

    Short values are counted, and looked at once each.

    Args:
        columns: of one key.
        raw: what a schema says of sound without a header; None of other bytes.
    """
    short: Counter[bytes] = Counter()
    contents: Counter[Content] = Counter()
    levels: Counter[Level] = Counter()
    sizes = []

    def add(value: bytes, count: int = 1) -> None:
        content = content_of(value, raw)
        contents[content] += count
        if content.sound and (samples := samples_of(value, content.sound)) is not None:
            levels[level_of(samples)] += count

    for column in columns:
        sizes.append(column.sizes)
        long = sizes[-1] > LONGEST_COUNTED
        for value in column.bytes_values(long) if long.any() else ():
            add(value)
        short.update(column.bytes_values(~long))
    distinct = None if contents else few([short])
    for value, count in short.items():
        add(value, count)
    pictures = _by(contents, "picture")
    sounding = {each: count for each, count in contents.items() if each.sound}
    return BytesValues(
        sizes=numbers(np.concatenate(sizes)),
        formats=_by(contents, "format"),
        utf8=sum(count for content, count in contents.items() if content.utf8),
        pictures=few([pictures]),
        heights=_repeated(pictures, "height"),
        widths=_repeated(pictures, "width"),
        channels=_by(pictures, "channels"),
        depths=_by(pictures, "bits"),
        troubles=few([_by(contents, "trouble")]),
        orientations=_by(contents, "orientation"),
        tensors=few([_by(contents, "tensor")]),
        sounds=few([_by(contents, "sound")]),
        seconds=_repeated(sounding, "seconds", np.float64),
        heard=levels.total(),
        clipped=sum(count for level, count in levels.items() if level.clipped),
        silent=sum(count for level, count in levels.items() if level.silent),
        distinct=distinct,
    )


def _by(counts: Mapping[Any, int], name: str) -> dict[Any, int]:
    """Count by one attribute, where it says anything."""
    found: dict[Any, int] = {}
    for each, count in counts.items():
        value = getattr(each, name)
        if value is not None and value != "":
            found[value] = found.get(value, 0) + count
    return found


def _repeated(
    counts: Mapping[Any, int], name: str, dtype: Any = np.int64
) -> NumericStatistics:
    found = _by(counts, name)
    values = np.array(list(found), dtype)
    return (
        numbers(np.repeat(values, list(found.values())))
        if found
        else NumericStatistics()
    )
