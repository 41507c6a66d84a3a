"""The mapping of the features of TFDS."""

from __future__ import annotations

from .outcome import approximated, kept, refused, rows_in

IMAGE = approximated(
    "`Image` of an encoding",
    "`Image` of that encoding; TFDS keeps files as they were given, whatever it says, and a comment says what to do then",
)
ANY_IMAGE = kept("`Image` without an encoding", '`Image(encoding="any")`')
FLOAT_IMAGE = approximated(
    "`Image` of float32",
    "the PNG of four channels that it is stored as, with the role info",
)
LABELED_IMAGE = kept(
    "`LabeledImage`",
    "`Mask` with the names out of its file; a target next to an `Image` of its size, else with the role info",
)
JPEG_MASK = refused("`LabeledImage` as JPEG", "JPEG changes the ids of classes")
FRAMES = kept("`Video`, and `Image` in a sequence, uint8 of a known size", "`Images`")
OTHER_FRAMES = approximated(
    "`Video` or `Image` in a sequence, of any size or of uint16, or in several",
    "a list of bytes with the role info",
)
ANIMATION = refused(
    "`Image` of four dimensions, or of two or any channels",
    "readers would not decode it to the picture in the file",
)
LABEL = kept("`ClassLabel`", "`Label`, with the names out of `<feature>.labels.txt`")
UNCOUNTED_LABEL = approximated(
    "`ClassLabel` without a number of classes", "an int with the role info"
)
LISTED_LABEL = approximated(
    "`ClassLabel` in a sequence", "ints with the role info; the names go into a comment"
)
TEXT = kept("`Text`", "`str`, and in a sequence `list[str]`")
ENCODED_TEXT = refused(
    "`Text` with an encoder",
    "TFDS has given encoders up; only it knows what its numbers mean",
)
BOX = kept(
    "`BBoxFeature`", "four floats with the role info, their order in the docstring"
)
SCALAR = kept(
    "`Scalar`, and `Tensor` without a shape",
    "`int`, `float`, `bool`, or `Scalar` of its dtype",
)
TENSOR = kept(
    "`Tensor`, and `Audio` that TFDS has decoded",
    "`Vector`, and `VarLen` where the first size varies",
)
STRINGS = approximated(
    "`Scalar` or `Tensor` of strings", "`str` or `list[str]`: they may be bytes"
)
WIDE = approximated(
    "float64, float16, bfloat16 and uint64",
    "as TFDS stores them: float32, and int64 of the same bits",
)
FLAT = approximated(
    "sizes that vary behind the first, three and more sequences, strings in a number",
    "a flat list, next to the lengths of its rows if it has some; a comment tells its form",
)
RAGGED = kept("numbers or texts in two sequences", "`Ragged`")
RAW = kept('`Tensor(encoding="bytes")` of a known shape', '`Vector(encoding="raw")`')
DYNAMIC = kept(
    '`Tensor(encoding="bytes")` of several sizes that vary',
    "`Tensor` with its `shape_key`",
)
COMPRESSED = approximated(
    '`Tensor(encoding="zlib")`, and of bytes in a sequence or of one size that varies',
    "bytes with the role info; a comment tells how to read them",
)
LAZY_AUDIO = approximated("`Audio(lazy_decode=True)`", "the bytes of its file")
TWO_SIZES = refused(
    "several sizes that vary, without an encoding",
    "TFDS does not write or read them either",
)
NO_SIZE = refused("a size of 0", "it holds nothing")
OTHER = refused(
    "connectors and dtypes of other packages",
    "only their package knows how they are stored",
)
OPTIONAL = kept("`optional=True`", "`= None`")
SEQUENCE = kept(
    "`Sequence` and `Dataset`",
    "lists of one group; of a length that is fixed, one `Vector`",
)
NESTED = kept(
    "`FeaturesDict`, `Translation`, `TranslationVariableLanguages`", "nested models"
)

TABLE = rows_in(globals())
