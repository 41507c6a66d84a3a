"""What becomes of the features of TFDS."""

from __future__ import annotations

from ..outcome import MappingRow, rows_in

IMAGE = MappingRow(
    "`Image` of an encoding",
    "approximated",
    "`Image` of that encoding; TFDS keeps files as they were given, whatever it says, and a comment says what to do then",
)
ANY_IMAGE = MappingRow("`Image` without an encoding", "kept", '`Image(encoding="any")`')
FLOAT_IMAGE = MappingRow(
    "`Image` of float32",
    "approximated",
    "the PNG of four channels that it is stored as, with the role info",
)
LABELED_IMAGE = MappingRow(
    "`LabeledImage`",
    "kept",
    "`Mask` with the names out of its file; a target next to an `Image` of its size, else with the role info",
)
JPEG_MASK = MappingRow(
    "`LabeledImage` as JPEG", "refused", "JPEG changes the ids of classes"
)
FRAMES = MappingRow(
    "`Video`, and `Image` in a sequence, uint8 of a known size", "kept", "`Images`"
)
OTHER_FRAMES = MappingRow(
    "`Video` or `Image` in a sequence, of any size or of uint16, or in several",
    "approximated",
    "a list of bytes with the role info",
)
ANIMATION = MappingRow(
    "`Image` of four dimensions, or of two or any channels",
    "refused",
    "readers would not decode it to the picture in the file",
)
LABEL = MappingRow(
    "`ClassLabel`", "kept", "`Label`, with the names out of `<feature>.labels.txt`"
)
UNCOUNTED_LABEL = MappingRow(
    "`ClassLabel` without a number of classes",
    "approximated",
    "an int with the role info",
)
LISTED_LABEL = MappingRow(
    "`ClassLabel` in a sequence",
    "approximated",
    "ints with the role info; the names go into a comment",
)
TEXT = MappingRow("`Text`", "kept", "`str`, and in a sequence `list[str]`")
ENCODED_TEXT = MappingRow(
    "`Text` with an encoder",
    "refused",
    "TFDS has given encoders up; only it knows what its numbers mean",
)
BOX = MappingRow(
    "`BBoxFeature`",
    "kept",
    "four floats with the role info, their order in the docstring",
)
SCALAR = MappingRow(
    "`Scalar`, and `Tensor` without a shape",
    "kept",
    "`int`, `float`, `bool`, or `Scalar` of its dtype",
)
TENSOR = MappingRow(
    "`Tensor`, and `Audio` that TFDS has decoded",
    "kept",
    "`Vector`, and `VarLen` where the first size varies",
)
STRINGS = MappingRow(
    "`Scalar` or `Tensor` of strings",
    "approximated",
    "`str` or `list[str]`: they may be bytes",
)
WIDE = MappingRow(
    "float64, float16, bfloat16 and uint64",
    "approximated",
    "as TFDS stores them: float32, and int64 of the same bits",
)
FLAT = MappingRow(
    "sizes that vary behind the first, three and more sequences, strings in a number",
    "approximated",
    "a flat list, next to the lengths of its rows if it has some; a comment tells its form",
)
RAGGED = MappingRow("numbers or texts in two sequences", "kept", "`Ragged`")
RAW = MappingRow(
    '`Tensor(encoding="bytes")` of a known shape', "kept", '`Vector(encoding="raw")`'
)
DYNAMIC = MappingRow(
    '`Tensor(encoding="bytes")` of several sizes that vary',
    "kept",
    "`Tensor` with its `shape_key`",
)
COMPRESSED = MappingRow(
    '`Tensor(encoding="zlib")`, and of bytes in a sequence or of one size that varies',
    "approximated",
    "bytes with the role info; a comment tells how to read them",
)
LAZY_AUDIO = MappingRow(
    "`Audio(lazy_decode=True)`", "approximated", "the bytes of its file"
)
TWO_SIZES = MappingRow(
    "several sizes that vary, without an encoding",
    "refused",
    "TFDS does not write or read them either",
)
NO_SIZE = MappingRow("a size of 0", "refused", "it holds nothing")
OTHER = MappingRow(
    "connectors and dtypes of other packages",
    "refused",
    "only their package knows how they are stored",
)
OPTIONAL = MappingRow("`optional=True`", "kept", "`= None`")
SEQUENCE = MappingRow(
    "`Sequence` and `Dataset`",
    "kept",
    "lists of one group; of a length that is fixed, one `Vector`",
)
NESTED = MappingRow(
    "`FeaturesDict`, `Translation`, `TranslationVariableLanguages`",
    "kept",
    "nested models",
)

TABLE = rows_in(globals())
