"""What becomes of a schema of TensorFlow Metadata."""

from __future__ import annotations

from ..outcome import MappingRow, rows_in

NUMBER = MappingRow(
    "INT and FLOAT, with a `shape` or as many values in each record",
    "kept",
    "`int` and `float`, `Vector`; a shape of one 1 is one value",
)
NUMBERS = MappingRow("INT and FLOAT of other `value_count`s", "kept", "`VarLen`")
BYTES = MappingRow(
    "BYTES without a domain",
    "approximated",
    "`bytes`, `list[bytes]`: no one says whether they are texts or pictures",
)
TEXT = MappingRow(
    "`natural_language_domain`, `url_domain`, `mid_domain`",
    "kept",
    "`str`, `list[str]`",
)
IMAGE = MappingRow(
    "`image_domain`",
    "approximated",
    '`Image((None, None, 3), encoding="any")`: no one says its size and channels',
)
STRINGS = MappingRow(
    "`string_domain` of one value, in the feature or by its name",
    "kept",
    '`Label(classes=(...), stored="text", role="input")`',
)
OPEN_STRINGS = MappingRow(
    "`string_domain` of lists, of a part of the values, or with an empty value",
    "approximated",
    "`str`, `list[str]`; the values go into a comment",
)
BOOL = MappingRow(
    "`bool_domain`",
    "kept",
    "`bool`; of two texts a `Label` of which they are the classes",
)
CATEGORY = MappingRow(
    "`int_domain` with `is_categorical` and both limits, of one value",
    "kept",
    '`Label(num_classes=..., offset=min, role="input")`',
)
RANGE = MappingRow(
    "other limits, of `int_domain`, `float_domain`, `time_domain`",
    "approximated",
    "a comment: nothing checks them",
)
AT_LEAST = MappingRow(
    "a `value_count` of at least so many",
    "approximated",
    "a comment: nothing checks it",
)
ENVIRONMENT = MappingRow(
    "features that only some environments have",
    "approximated",
    "an optional field; a comment names the environments",
)
STAGE = MappingRow(
    "`lifecycle_stage` PLANNED, ALPHA, DEBUG_ONLY, DEPRECATED, DISABLED, and `deprecated`",
    "approximated",
    "an optional field with the role info, as data need not have it",
)
UNCHECKED = MappingRow(
    "comparators, constraints of distributions, uniqueness, sequences and groups",
    "approximated",
    "a comment names them: TFDV goes on checking these",
)
WEIGHTED = MappingRow(
    "`weighted_feature`",
    "approximated",
    "the two lists in one group, and a comment: the values are not weighted by it",
)
SPARSE = MappingRow(
    "`sparse_feature` and `sparse_tensor` of numbers with a known shape",
    "kept",
    "`Sparse`, in place of the features it is made of",
)
RAGGED = MappingRow(
    "`ragged_tensor` with one partition by row lengths", "kept", "`Ragged`"
)
DEFAULT = MappingRow(
    "`dense_tensor` with a `default_value`", "kept", "the default of an optional field"
)
REPRESENTATION = MappingRow(
    "other tensor representations, and those of named groups",
    "approximated",
    "the features as they are stored",
)
PRESENCE = MappingRow(
    "`presence` without `min_fraction: 1`, or none",
    "kept",
    "an optional field: `= None`",
)
STRUCT = MappingRow(
    "STRUCT, `value_counts`, and types that are not said",
    "refused",
    "an Example does not hold them as they are",
)
DERIVED = MappingRow(
    "`lifecycle_stage` VALIDATION_DERIVED",
    "refused",
    "it is calculated, and not stored",
)
SPARSE_OPEN = MappingRow(
    "`sparse_feature` and `sparse_tensor` of other types or of an unknown shape",
    "approximated",
    "the features that it is made of, each by itself",
)

TABLE = rows_in(globals())
