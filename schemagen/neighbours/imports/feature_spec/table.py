"""What becomes of the features of tf.io."""

from __future__ import annotations

from ..outcome import Fate, fates_in

FIXED = Fate(
    "`FixedLenFeature` of int64 or float32",
    "kept",
    "`int`, `float` or `Vector`; with a `default_value` the field has that default",
)
FIXED_BYTES = Fate(
    "`FixedLenFeature([], tf.string)`, and of shape [1]",
    "approximated",
    "`bytes`: nobody says whether it is a text, a picture or something else",
)
FIXED_LIST = Fate(
    "`FixedLenFeature` of several strings",
    "approximated",
    "`list[bytes]` of at most so many",
)
VARLEN = Fate(
    "`VarLenFeature` of int64 or float32",
    "kept",
    "`list[int] = []` and `list[float] = []`: to tf.io, missing is empty",
)
VARLEN_BYTES = Fate(
    "`VarLenFeature`, `FixedLenSequenceFeature` and `RaggedFeature` of strings",
    "approximated",
    "`list[bytes] = []`: they may be texts or pictures",
)
SEQUENCE = Fate(
    "`FixedLenSequenceFeature(allow_missing=True)`",
    "kept",
    "`VarLen` with its shape as `item_shape` and its `default_value` as padding",
)
RAGGED = Fate(
    "`RaggedFeature` without partitions, with row lengths or with one uniform length",
    "kept",
    "`VarLen(ragged=True)`, `Ragged`, `VarLen(item_shape=(n,))`",
)
PARTITIONS = Fate(
    "`RaggedFeature` with other or several partitions",
    "approximated",
    "a list of all values, and one of each partition",
)
SPARSE = Fate("`SparseFeature` of int64 or float32", "kept", "`Sparse`")
SPARSE_BYTES = Fate(
    "`SparseFeature` of strings", "approximated", "a list of values and of indices"
)
STEPS = Fate(
    "of a `SequenceExample`'s steps: `FixedLenSequenceFeature`", "kept", "`Steps`"
)
STEPS_BYTES = Fate(
    "of a `SequenceExample`'s steps: `FixedLenSequenceFeature([], tf.string)`",
    "approximated",
    "`Steps` of bytes: they may be texts or pictures",
)
STEPS_VARYING = Fate(
    "of a `SequenceExample`'s steps: any other feature",
    "refused",
    "the values of all steps have one size here",
)
SHARED = Fate(
    "several features that read one key",
    "refused",
    "a key has one field, which says what it holds",
)
STRANGE = Fate(
    "shapes with None or 0, dtypes and classes that tf.io does not have",
    "refused",
    "tf.io does not parse them either",
)

TABLE = fates_in(globals())
