"""What TensorFlow Datasets reads of our records: a row for each parameter."""

from __future__ import annotations

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...kinds.multilabel import MultiLabel
from ...kinds.ragged import Ragged
from ...kinds.scalar import Scalar
from ...kinds.tensor import Tensor
from ...kinds.varlen import VarLen
from ...kinds.vector import Vector
from ...runtime.shared.values import RAW_ONLY
from .mapping import ANY, always, approximated, attribute_in, kept, refused

# What tf.io.decode_raw and TFDS both know; other numbers are left as the bytes they are.
RAW_READABLE = {
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
}

_RAGGED_VALUES = "/ragged_flat_values"
_RAGGED_LENGTHS = "/ragged_row_lengths_0"


def decoded(field: FieldSpec) -> bool:
    """Tell whether TFDS decodes an encoded picture as the generated parser does."""
    if not isinstance(field.kind, (Image, Images)) or field.optional:
        return False
    channels = {"jpeg": (1, 3), "png": (1, 3, 4)}.get(field.kind.encoding, ())
    sized = isinstance(field.kind, Image) or None not in field.kind.shape
    return field.kind.shape[-1] in channels and sized


def raw_dtype(field: FieldSpec) -> str | None:
    """Return the dtype of what is stored as raw bytes under one key; or None."""
    match field.kind:
        case Image(encoding="raw") | Mask(encoding="raw"):
            return field.kind.dtype
        case Vector() | Scalar() | Tensor():
            bare = field.kind.dtype not in ("bytes", "string")
            raw = field.kind.encoding == "raw" or (
                field.kind.dtype in RAW_ONLY and field.kind.encoding != "proto"
            )
            return field.kind.dtype if raw and bare else None
        case VarLen() if field.kind.dtype in RAW_ONLY:
            return field.kind.dtype
    return None


def raw_decoded(field: FieldSpec) -> bool:
    """Tell whether TFDS makes numbers of what is stored as raw bytes."""
    shape = getattr(field.kind, "shape", ())
    return (
        raw_dtype(field) in RAW_READABLE
        and not field.optional
        and sum(length is None for length in shape) <= 1
    )


def has_ragged_names(field: FieldSpec) -> bool:
    """Tell whether lists of lists stand under the keys that TFDS has for them."""
    if (
        not isinstance(field.kind, Ragged)
        or field.kind.dtype in RAW_ONLY
        or field.optional
    ):
        return False
    stem = field.key.removesuffix(_RAGGED_VALUES)
    return (field.key, field.kind.lengths_key) == (
        stem + _RAGGED_VALUES,
        stem + _RAGGED_LENGTHS,
    )


def ragged_stem(field: FieldSpec[Ragged]) -> str:
    """Return the name that TFDS has for a list of lists."""
    return field.key.removesuffix(_RAGGED_VALUES)


def listed_with_one_gap(field: FieldSpec) -> bool:
    """Tell whether a tensor's list has a shape that TFDS finds out by itself."""
    if not isinstance(field.kind, Tensor) or field.kind.encoding != "list":
        return False
    return (
        sum(length is None for length in field.kind.shape) <= 1 and not field.optional
    )


def names_in_lines(names: tuple[str, ...]) -> bool:
    """Tell whether class names can stand in a file, one a line, and be the same."""
    return all(
        name == name.strip() and name and "\n" not in name and "\r" not in name
        for name in names
    )


def _is_raw(field: FieldSpec) -> bool:
    return raw_dtype(field) is not None


def _raw_left(field: FieldSpec) -> bool:
    return _is_raw(field) and not raw_decoded(field)


def _encoded_left(field: FieldSpec) -> bool:
    return getattr(field.kind, "encoding", "raw") != "raw" and not decoded(field)


def _offset(field: FieldSpec) -> bool:
    return isinstance(field.kind, (Label, MultiLabel)) and field.kind.offset != 0


def _odd_names(field: FieldSpec) -> bool:
    found = getattr(field.kind, "classes", ())
    return bool(found) and not names_in_lines(found)


_BYTES = "TFDS delivers the bytes as they are stored"
_LISTS = "TFDS delivers a list, empty for records that have none"

MAPPING = (
    approximated(
        ANY, "name", "TFDS calls a field by its key", lambda f: f.name != f.key
    ),
    kept(ANY, "key", "the name of the feature"),
    kept(ANY, "doc", "description"),
    approximated(
        ANY,
        "role",
        "said only where one input and one target make `supervised_keys`",
        lambda f: f.role not in ("input", "target"),
        "weight or info",
    ),
    approximated(
        ANY,
        "optional",
        "a missing value reads as the least number of its dtype, as b'' or as False",
    ),
    approximated("VarLen", "optional", _LISTS),
    approximated("Images", "optional", _LISTS),
    approximated("MultiLabel", "optional", _LISTS),
    approximated("Ragged", "optional", _LISTS),
    approximated("Sparse", "optional", _LISTS),
    approximated(
        ANY,
        "default",
        "TFDS has no defaults of its own",
        lambda f: f.default is not None,
    ),
    approximated(ANY, "presence", "TFDS delivers no masks"),
    approximated(ANY, "path", "TFDS calls a nested field by its key, without nesting"),
    # Pictures.
    kept("Image", "shape", "shape", always),
    kept(
        "Image", "encoding", "JPEG and PNG of 1, 3 or 4 channels are decoded", decoded
    ),
    approximated("Image", "encoding", _BYTES, _encoded_left, "others, or optional"),
    kept("Image", "encoding", "raw pixels are a Tensor of bytes", raw_decoded, "raw"),
    approximated(
        "Image", "encoding", _BYTES, _raw_left, "raw of several sizes, or optional"
    ),
    kept("Image", "dtype", "dtype", always),
    approximated("Image", "resize", "pictures come in the size that they have"),
    approximated("Image", "interpolation", "nothing is resized"),
    kept("Image", "height_key", "a feature of its own"),
    kept("Image", "width_key", "a feature of its own"),
    kept("Image", "channels_key", "a feature of its own"),
    kept("Image", "format_key", "a feature of its own"),
    kept("Image", "format_text", "what stands in that feature"),
    approximated("Image", "augment", "nothing is varied"),
    kept("Images", "shape", "shape", always),
    kept("Images", "encoding", "JPEG and PNG of one size are decoded", decoded),
    approximated("Images", "encoding", _BYTES, _encoded_left, "others, or optional"),
    kept("Images", "count", "the length of the Sequence"),
    approximated("Images", "max_count", "a Sequence of any length"),
    approximated("Images", "resize", "pictures come in the size that they have"),
    approximated("Images", "interpolation", "nothing is resized"),
    approximated("Images", "group", "lengths are not compared"),
    approximated("Images", "augment", "nothing is varied"),
    kept("Mask", "shape", "shape", always),
    approximated("Mask", "num_classes", "ids of pixels are not bounded", always),
    approximated(
        "Mask",
        "encoding",
        _BYTES + ", since it would read a palette's colours in place of ids",
        attribute_in("encoding", "png"),
        "png",
    ),
    kept("Mask", "encoding", "raw ids are a Tensor of bytes", raw_decoded, "raw"),
    approximated(
        "Mask", "encoding", _BYTES, _raw_left, "raw of several sizes, or optional"
    ),
    kept("Mask", "dtype", "dtype", always),
    approximated("Mask", "classes", "classes of pixels have no names"),
    approximated("Mask", "ignore", "the id is one like others"),
    approximated("Mask", "resize", "masks come in the size that they have"),
    kept("Mask", "height_key", "a feature of its own"),
    kept("Mask", "width_key", "a feature of its own"),
    kept("Mask", "format_key", "a feature of its own"),
    approximated("Mask", "augment", "nothing is varied"),
    # Classes.
    kept("Label", "num_classes", "ClassLabel", always),
    approximated(
        "Label",
        "classes",
        "their file would lose white space, so that none is written",
        _odd_names,
        "names that are no lines",
    ),
    kept("Label", "classes", "NAME.labels.txt"),
    approximated(
        "Label", "offset", "an integer as it is stored, of no class", _offset, "not 0"
    ),
    kept("Label", "offset", "ids from 0 on", None, "0"),
    approximated("Label", "stored", "the class's name, as text", None, "text"),
    approximated(
        "Label",
        "optional",
        "an integer of no class; a missing one reads as the least int64, not as -1",
    ),
    approximated(
        "MultiLabel",
        "num_classes",
        "a list of ids in the order of the file, and not a row of zeros and ones",
        always,
    ),
    approximated(
        "MultiLabel",
        "classes",
        "their file would lose white space, so that none is written",
        _odd_names,
        "names that are no lines",
    ),
    kept("MultiLabel", "classes", "NAME.labels.txt"),
    approximated("MultiLabel", "offset", "integers as they are stored, of no class"),
    approximated("MultiLabel", "stored", "names of classes, as text"),
    # Numbers.
    kept("Scalar", "dtype", "dtype", always),
    approximated(
        "Scalar", "encoding", _BYTES, _raw_left, "raw of uint32, uint64, bfloat16"
    ),
    kept("Scalar", "encoding", "a list, or a Tensor of bytes", always),
    kept("Vector", "shape", "shape", always),
    kept("Vector", "dtype", "dtype", always),
    approximated(
        "Vector",
        "encoding",
        _BYTES,
        _raw_left,
        "raw of uint32, uint64, bfloat16, or optional",
    ),
    kept("Vector", "encoding", "a list, or a Tensor of bytes", always),
    approximated("Vector", "dequantize", "the integers that are stored"),
    kept(
        "Tensor",
        "shape",
        "shape, of which one size may vary",
        listed_with_one_gap,
        "list",
    ),
    kept("Tensor", "shape", "shape, of which one size may vary", raw_decoded, "raw"),
    approximated(
        "Tensor",
        "shape",
        "flat values or bytes; the sizes are features of their own",
        always,
        "of several sizes, optional or proto",
    ),
    kept("Tensor", "dtype", "dtype", always),
    approximated(
        "Tensor", "encoding", _BYTES, attribute_in("encoding", "proto"), "proto"
    ),
    approximated("Tensor", "encoding", _BYTES, _raw_left, "raw that is not decoded"),
    kept("Tensor", "encoding", "a list, or a Tensor of bytes", always),
    kept("Tensor", "shape_key", "features of their own"),
    kept(
        "Tensor",
        "padding_value",
        "one record is delivered at a time: nothing is filled up",
    ),
    kept("VarLen", "dtype", "dtype", raw_decoded, "raw"),
    approximated("VarLen", "dtype", _BYTES, _raw_left, "uint64, bfloat16, or optional"),
    kept("VarLen", "dtype", "dtype", always),
    approximated("VarLen", "max_length", "a list of any length"),
    kept("VarLen", "item_shape", "shape"),
    kept(
        "VarLen",
        "padding_value",
        "one record is delivered at a time: nothing is filled up",
    ),
    kept("VarLen", "ragged", "one record is delivered at a time: nothing is filled up"),
    approximated("VarLen", "too_long", "nothing is cut"),
    kept("VarLen", "pad_on_disk", "what was filled up on disk is delivered"),
    approximated("VarLen", "group", "lengths are not compared"),
    approximated("VarLen", "fill_value", "a missing list reads as an empty one"),
    approximated(
        "Ragged",
        "dtype",
        _BYTES,
        attribute_in("dtype", *RAW_ONLY),
        "stored as raw bytes",
    ),
    kept("Ragged", "dtype", "dtype", always),
    kept(
        "Ragged",
        "row_lengths_key",
        "a Sequence of Sequences",
        has_ragged_names,
        "keys NAME/ragged_flat_values and NAME/ragged_row_lengths_0",
    ),
    approximated(
        "Ragged",
        "row_lengths_key",
        "two lists: all values, and the lengths of rows",
        always,
        "other keys, or optional",
    ),
    kept("Ragged", "ragged", "a RaggedTensor", None),
    kept(
        "Ragged",
        "padding_value",
        "one record is delivered at a time: nothing is filled up",
    ),
    approximated("Ragged", "max_length", "a list of any length"),
    approximated("Ragged", "group", "lengths are not compared"),
    approximated(
        "Sparse",
        "shape",
        "a list of values, and one of indices for each dimension",
        always,
    ),
    kept("Sparse", "index_key", "features of their own", always),
    kept("Sparse", "dtype", "dtype", always),
    approximated("Sparse", "dense", "TFDS delivers the lists"),
    *(
        approximated(kind, parameter, "TFDS reads whatever is stored")
        for kind in ("Scalar", "Vector", "Tensor", "VarLen", "Ragged", "Sparse")
        for parameter in ("exact", "finite")
    ),
    # Steps.
    *(
        refused("Steps", parameter, "TFDS reads tf.train.Example alone", always)
        for parameter in ("step",)
    ),
    *(
        refused("Steps", parameter, "as of the whole kind")
        for parameter in ("padding_value", "max_length", "ragged", "too_long", "group")
    ),
)
