"""What becomes of the features of tf.io."""

from __future__ import annotations

from ..outcome import MappingRow, rows_in

FIXED = MappingRow(
    "`FixedLenFeature` of int64 or float32",
    "kept",
    "`int`, `float` or `Vector`; with a `default_value` the field has that default",
)
FIXED_BYTES = MappingRow(
    "`FixedLenFeature([], tf.string)`, and of shape [1]",
    "approximated",
    "`bytes`: no one says whether it is a text, a picture or something else",
)
FIXED_LIST = MappingRow(
    "`FixedLenFeature` of several strings",
    "approximated",
    "`list[bytes]` of at most so many",
)
VARLEN = MappingRow(
    "`VarLenFeature` of int64 or float32",
    "kept",
    "`list[int] = []` and `list[float] = []`: to tf.io, missing is empty",
)
VARLEN_BYTES = MappingRow(
    "`VarLenFeature`, `FixedLenSequenceFeature` and `RaggedFeature` of strings",
    "approximated",
    "`list[bytes] = []`: they may be texts or pictures",
)
SEQUENCE = MappingRow(
    "`FixedLenSequenceFeature(allow_missing=True)`",
    "kept",
    "`VarLen` with its shape as `item_shape` and its `default_value` as padding",
)
RAGGED = MappingRow(
    "`RaggedFeature` without partitions, with row lengths or with one uniform length",
    "kept",
    "`VarLen(ragged=True)`, `Ragged`, `VarLen(item_shape=(n,))`",
)
PARTITIONS = MappingRow(
    "`RaggedFeature` with other or several partitions",
    "approximated",
    "a list of all values, and one of each partition",
)
SPARSE = MappingRow("`SparseFeature` of int64 or float32", "kept", "`Sparse`")
SPARSE_BYTES = MappingRow(
    "`SparseFeature` of strings", "approximated", "a list of values and of indices"
)
STEPS = MappingRow(
    "of a `SequenceExample`'s steps: `FixedLenSequenceFeature`", "kept", "`Steps`"
)
STEPS_BYTES = MappingRow(
    "of a `SequenceExample`'s steps: `FixedLenSequenceFeature([], tf.string)`",
    "approximated",
    "`Steps` of bytes: they may be texts or pictures",
)
STEPS_VARYING = MappingRow(
    "of a `SequenceExample`'s steps: any other feature",
    "refused",
    "the values of all steps have one size here",
)
SHARED = MappingRow(
    "several features that read one key",
    "refused",
    "a key has one field, which says what it holds",
)
STRANGE = MappingRow(
    "shapes with None or 0, dtypes and classes that tf.io does not have",
    "refused",
    "tf.io does not parse them either",
)

TABLE = rows_in(globals())
