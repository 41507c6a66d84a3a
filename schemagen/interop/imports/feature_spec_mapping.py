"""The mapping of the features of tf.io."""

from __future__ import annotations

from .outcome import approximated, kept, refused, rows_in

FIXED = kept(
    "`FixedLenFeature` of int64 or float32",
    "`int`, `float` or `Vector`; with a `default_value` the field has that default",
)
FIXED_BYTES = approximated(
    "`FixedLenFeature([], tf.string)`, and of shape [1]",
    "`bytes`: no one says whether it is a text, a picture or something else",
)
FIXED_LIST = approximated(
    "`FixedLenFeature` of several strings", "`list[bytes]` of at most so many"
)
VARLEN = kept(
    "`VarLenFeature` of int64 or float32",
    "`list[int] = []` and `list[float] = []`: to tf.io, missing is empty",
)
VARLEN_BYTES = approximated(
    "`VarLenFeature`, `FixedLenSequenceFeature` and `RaggedFeature` of strings",
    "`list[bytes] = []`: they may be texts or pictures",
)
SEQUENCE = kept(
    "`FixedLenSequenceFeature(allow_missing=True)`",
    "`VarLen` with its shape as `item_shape` and its `default_value` as padding",
)
RAGGED = kept(
    "`RaggedFeature` without partitions, with row lengths or with one uniform length",
    "`VarLen(ragged=True)`, `Ragged`, `VarLen(item_shape=(n,))`",
)
PARTITIONS = approximated(
    "`RaggedFeature` with other or several partitions",
    "a list of all values, and one of each partition",
)
SPARSE = kept("`SparseFeature` of int64 or float32", "`Sparse`")
SPARSE_BYTES = approximated(
    "`SparseFeature` of strings", "a list of values and of indices"
)
STEPS = kept("of a `SequenceExample`'s steps: `FixedLenSequenceFeature`", "`Steps`")
STEPS_BYTES = approximated(
    "of a `SequenceExample`'s steps: `FixedLenSequenceFeature([], tf.string)`",
    "`Steps` of bytes: they may be texts or pictures",
)
STEPS_VARYING = refused(
    "of a `SequenceExample`'s steps: any other feature",
    "the values of all steps have one size here",
)
SHARED = refused(
    "several features that read one key",
    "a key has one field, which says what it holds",
)
STRANGE = refused(
    "shapes with None or 0, dtypes and classes that tf.io does not have",
    "tf.io does not parse them either",
)

TABLE = rows_in(globals())
