"""What a field takes, stores and delivers, in the words of docstrings and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

from ..display.blocks import printable
from ..runtime.cells.part import BYTES, FLOAT, INT, Part
from ..runtime.kinds.audio import Audio
from ..runtime.kinds.box_sides import box_of
from ..runtime.kinds.classes import Classed, Label, MultiLabel
from ..runtime.kinds.image_lists import Images
from ..runtime.kinds.images import Image
from ..runtime.kinds.kind import Kind
from ..runtime.kinds.limits import Listed
from ..runtime.kinds.lists import ClassList, VarLen
from ..runtime.kinds.masks import Mask
from ..runtime.kinds.numbers import DecodedBytes, FixedNumbers, time_of
from ..runtime.kinds.ragged import Ragged
from ..runtime.kinds.ranges import Ranged
from ..runtime.kinds.sparse import Sparse
from ..runtime.kinds.steps import Steps
from ..runtime.kinds.tensors import Tensor
from ..runtime.kinds.text import String
from ..runtime.shared.dtypes import DTYPES, FLOATS
from ..runtime.shared.times import UNITS
from ..runtime.shared.values import NO_RANGE, range_text, shape_text

_LISTS = {BYTES: "bytes_list", FLOAT: "float_list", INT: "int64_list"}

_LIMITS = {
    "error": ", at most {} {}",
    "keep_head": ", of which the first {} {} are kept",
    "keep_tail": ", of which the last {} {} are kept",
}


@dataclass(frozen=True)
class Words:
    """What docstrings and tables say about a field.

    Attributes:
        takes: the values that the writer takes.
        delivers: the tensor of a batch.
        missing: the value of a missing one in a batch.
        annotation: the type of the writer's keyword, None apart, as source code.
        stored: the list that holds the values.
    """

    takes: str
    delivers: str
    missing: str
    annotation: str = "ArrayLike"
    stored: str = ""


def words_of(codec: Kind) -> Words:
    """Return what to say about a field."""
    words = _words(codec)
    box = box_of(codec)
    if box is not None and box.scaled:
        words = replace(words, delivers=f"{words.delivers}, scaled with {box.image}")
    if not isinstance(codec, Ranged) or codec.range == NO_RANGE:
        return words
    limits = range_text(*codec.range).removeprefix("numbers ")
    return replace(words, takes=f"{words.takes}, {limits}")


def takes_or_none(codec: Kind) -> str:
    """Return the values that the writer takes, None included."""
    takes = words_of(codec).takes
    return f"{takes}; None if missing" if codec.optional else takes


def delivers_or_missing(codec: Kind) -> str:
    """Return the tensor of a batch, and the value of a missing one."""
    words = words_of(codec)
    if not codec.optional:
        return words.delivers
    return f"{words.delivers}; {words.missing} if missing"


@singledispatch
def _words(codec: Any) -> Words:
    """Return what to say about a kind that has no function of its own below."""
    return _completed(codec, f"{codec.dtype} {shape_text(codec.delivered.decoded[1])}")


def _completed(
    codec: Kind,
    takes: str,
    delivers: str = "",
    missing: str = "",
    annotation: str = "ArrayLike",
    stored: str = "",
) -> Words:
    """Return words, of which those that are not given follow from the parts of a field."""
    return Words(
        takes,
        delivers or _dense(codec),
        missing or _missing(codec),
        annotation,
        stored or _list(codec.parts[0]),
    )


@_words.register
def _of_numbers(codec: FixedNumbers) -> Words:
    dtype, shape = codec.dtype, codec.shape
    annotation, missing = "ArrayLike", _missing(codec)
    if not shape:
        usual = "float" if dtype in FLOATS else "int"
        annotation = "bool" if dtype == "bool" else usual
    takes = f"{dtype} {shape_text(shape)}" if shape else f"one {dtype}"
    if time := time_of(codec):
        of = "timedelta" if time.duration else "date"
        annotation = f"int | {of} | np.{of.replace('date', 'datetime')}64"
        what = "duration" if time.duration else "point in time since 1970 in UTC"
        takes = f"a {what}, or as many {UNITS[time.unit][0]}"
    if codec.default is not None and codec.delivered.dtype != dtype:
        missing += ", dequantized,"
    return _completed(codec, takes, missing=missing, annotation=annotation)


@_words.register
def _of_string(codec: String) -> Words:
    text = codec.dtype == "string"
    takes, annotation = ("text", "str") if text else ("opaque bytes", "bytes")
    return _completed(codec, takes, annotation=annotation)


@_words.register
def _of_decoded(codec: DecodedBytes) -> Words:
    sizes = ("B", *("?" if size is None else size for size in codec.shape))
    delivers = f"{codec.delivered.dtype} [{', '.join(map(str, sizes))}]"
    if None in codec.shape:
        delivers += ", padded with 0"
    takes = f"opaque bytes, which {codec.decoder} decodes"
    return _completed(codec, takes, delivers, "only zeros", "bytes")


@_words.register
def _of_class_list(codec: ClassList) -> Words:
    takes = f"ids of classes, from 0 to {codec.count - 1}, or their names"
    return _completed(
        codec,
        f"{takes}{_limit(codec, codec.too_long)}{_as_many(codec)}{_classes_stored(codec)}",
        _of_items(codec),
        "empty",
        "Sequence[int | str] | NDArray[Any]",
    )


@_words.register
def _of_list(codec: VarLen) -> Words:
    named = {"string": "Sequence[str]", "bytes": "Sequence[bytes]"}
    delivers, missing = _of_items(codec), "empty"
    if codec.pad_on_disk:
        delivers = f"{_dense(codec)}, padded on disk with {codec.delivered.filler!r}"
        missing = "all padding"
    shape = shape_text((None, *codec.item_shape))
    return _completed(
        codec,
        f"{codec.dtype} {shape}{_limit(codec, codec.too_long)}{_as_many(codec)}",
        delivers,
        missing,
        named.get(codec.dtype, "ArrayLike"),
    )


@_words.register
def _of_audio(codec: Audio) -> Words:
    shape = shape_text((None, codec.channels))
    samples = f"samples {shape} at {codec.rate:,} Hz: int16, or floats from -1 to 1"
    takes, annotation = samples, "NDArray[Any]"
    if codec.encoding != "raw":
        takes = f"a {codec.encoding.upper()} as bytes, or {samples}"
        annotation = "bytes | NDArray[Any]"
    takes += _limit(codec, codec.too_long, codec.noun)
    return _completed(codec, takes, _of_items(codec), "empty", annotation)


@_words.register
def _of_ragged(codec: Ragged) -> Words:
    delivers = f"{codec.delivered.dtype} [B, (T), (N)], ragged"
    if not codec.ragged:
        padding = f"padded with {codec.delivered.filler!r}"
        delivers = f"{codec.delivered.dtype} [B, T, N], {padding}"
    inner = {"string": "Sequence[str]", "bytes": "Sequence[bytes]"}
    return _completed(
        codec,
        f"lists of {codec.dtype}{_limit(codec, noun='lists')}{_as_many(codec)}",
        delivers,
        "empty",
        f"Sequence[{inner.get(codec.dtype, 'ArrayLike')}]",
    )


@_words.register
def _of_tensor(codec: Tensor) -> Words:
    sizes = ("B", *("?" if size is None else size for size in codec.shape))
    delivers = f"{codec.dtype} [{', '.join(map(str, sizes))}]"
    if None in codec.shape:
        delivers += f", padded with {codec.delivered.filler!r}"
    takes = f"{codec.dtype} {shape_text(codec.shape)}"
    return _completed(codec, takes, delivers, "only padding")


@_words.register
def _of_sparse(codec: Sparse) -> Words:
    rank = len(codec.shape)
    index = "[N]" if rank == 1 else f"[N, {rank}]"
    return _completed(
        codec,
        f"indices {index} into {shape_text(codec.shape)} and the {codec.dtype} values "
        "[N] there, or a dict of them",
        _dense(codec) + ("" if codec.dense else ", sparse"),
        "zeros" if codec.dense else "empty",
        "tuple[ArrayLike, ArrayLike] | Mapping[Any, Any]",
    )


@_words.register
def _of_label(codec: Label) -> Words:
    text = f"a class id from 0 to {codec.count - 1}"
    return _completed(
        codec,
        text + (", or its name" if codec.classes else "") + _classes_stored(codec),
        missing="-1" if codec.default is None else repr(codec.default),
        annotation="int | str" if codec.classes else "int",
    )


@_words.register
def _of_labels(codec: MultiLabel) -> Words:
    text = f"the ids of its classes, from 0 to {codec.count - 1}"
    items = "int | str" if codec.classes else "int"
    return _completed(
        codec,
        text + (", or their names" if codec.classes else "") + _classes_stored(codec),
        f"{_dense(codec)}, 1 for each of its classes",
        "zeros",
        f"Sequence[{items}] | NDArray[Any]",
    )


@_words.register
def _of_image(codec: Image) -> Words:
    shape = f"{codec.stored_dtype} {shape_text(codec.shape)}"
    takes = f"{codec.named} image as bytes, or its pixels, {shape}"
    if codec.encoding == "raw":
        takes = f"{shape}, [height, width, channels]"
    delivers = f"{codec.dtype} {_batch(codec, 'HWC')}{_range(codec)}"
    return _completed(codec, takes, delivers, "0", _array_or_bytes(codec))


@_words.register
def _of_images(codec: Images) -> Words:
    number = "" if codec.max_count is None else f"at most {codec.max_count} "
    number = number if codec.count is None else f"{codec.count} "
    form = "encoded" if codec.encoding == "any" else codec.encoding
    delivers = f"{codec.dtype} {_batch(codec, 'THWC')}{_range(codec)}"
    return Words(
        f"a list of {number}{form} images, as bytes or "
        f"{codec.stored_dtype} {shape_text(codec.shape)}",
        delivers if codec.count else f"{delivers}, padded with zeros",
        "empty" if codec.count is None else "zeros",
        f"Sequence[bytes | NDArray[np.{codec.stored_dtype}]] | "
        f"NDArray[np.{codec.stored_dtype}]",
        _images_stored(codec),
    )


@_words.register
def _of_mask(codec: Mask) -> Words:
    array = f"{codec.dtype} {shape_text(codec.shape)}, {codec.ids_text}"
    raw = codec.encoding == "raw"
    return _completed(
        codec,
        array if raw else f"a png image as bytes, or its ids, {array}",
        f"{codec.dtype} {_batch(codec, 'HW')}, {codec.ids_text}",
        str(codec.ignore or 0),
        _array_or_bytes(codec),
    )


@_words.register
def _of_steps(codec: Steps) -> Words:
    step = words_of(codec.step)
    each = (
        isinstance(codec.step, VarLen)
        or codec.delivered.dtype == "string"
        or step.annotation.startswith("bytes")
    )
    limit = _limit(codec, codec.too_long, "steps")
    return Words(
        f"in each step {step.takes}{limit}{_as_many(codec)}",
        _of_items(codec),
        "empty",
        f"Sequence[{step.annotation}]" if each else "ArrayLike",
        f"steps of {step.stored}",
    )


def _missing(codec: Kind) -> str:
    if codec.default is not None:
        return repr(codec.default)
    if codec.delivered.absence.mark == "nan":
        return "NaN"
    return "''" if codec.delivered.dtype == "string" else "0"


def _dense(codec: Kind) -> str:
    sizes = ("B", *codec.delivered.shape)
    return f"{codec.delivered.dtype} [{', '.join(map(str, sizes))}]"


def _of_items(codec: Listed) -> str:
    """Say what a batch has of lists: padded to the longest, or ragged."""
    delivered = codec.delivered
    vary = ("(T)", "(N)") if codec.ragged else ("T", "N")
    inner = (vary[1] if size is None else size for size in delivered.shape[1:])
    sizes = ("B", vary[0], *inner)
    padding = "ragged" if codec.ragged else f"padded with {delivered.filler!r}"
    return f"{delivered.dtype} [{', '.join(map(str, sizes))}], {padding}"


def _limit(codec: Listed, too_long: str = "error", noun: str = "items") -> str:
    if codec.max_length is None:
        return ""
    return _LIMITS[too_long].format(codec.max_length, noun)


def _as_many(codec: Listed) -> str:
    """Say which other fields have as many items; "" if there are none."""
    return "" if codec.group is None else f", as many as the others of {codec.group!r}"


def _classes_stored(codec: Classed) -> str:
    """Say how classes are in files, where it is not by their ids."""
    if codec.stored == "text":
        return "; stored by name"
    if codec.values:
        return f"; stored as {', '.join(map(str, codec.values))}"
    return f"; stored from {codec.offset} on" if codec.offset else ""


def _batch(codec: Kind, letters: str) -> str:
    """Return the shape of a batch, with a letter for each size that varies."""
    pairs = zip(codec.delivered.shape, letters, strict=True)
    sizes = (str(size or name) for size, name in pairs)
    return f"[{', '.join(('B', *sizes))}]"


def _range(codec: Image | Images) -> str:
    """Return the range of pixels that are delivered as another dtype."""
    return "" if codec.stored_dtype == codec.dtype else f", 0 to {codec.largest}"


def _array_or_bytes(codec: Image | Mask) -> str:
    dtype = DTYPES[codec.stored_dtype]
    array = f"NDArray[np.{dtype.name}]" if dtype.in_numpy else "NDArray[Any]"
    return array if codec.encoding == "raw" else f"bytes | {array}"


def _images_stored(codec: Images) -> str:
    if codec.keys is None:
        return f"bytes_list (each {codec.encoding})"
    keys = codec.parts[0].key, codec.parts[-1].key
    return f"{codec.count} keys {' to '.join(map(printable, keys))} ({codec.encoding})"


def _list(part: Part) -> str:
    """Return a list and its encoding: `bytes_list (jpeg)`."""
    if part.encoding == "raw":
        return f"raw {part.dtype} bytes"
    if part.encoding == "proto":
        return f"a serialized {part.dtype} tensor"
    text = _LISTS[part.stored]
    return text if part.encoding == "list" else f"{text} ({part.encoding})"
