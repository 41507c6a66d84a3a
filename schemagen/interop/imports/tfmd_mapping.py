"""The mapping of a schema of TensorFlow Metadata."""

from __future__ import annotations

from .outcome import approximated, kept, refused, rows_in

NUMBER = kept(
    "INT and FLOAT, with a `shape` or as many values in each record",
    "`int` and `float`, `Vector`; a shape of one 1 is one value",
)
NUMBERS = kept("INT and FLOAT of other `value_count`s", "`VarLen`")
BYTES = approximated(
    "BYTES without a domain",
    "`bytes`, `list[bytes]`: no one says whether they are texts or pictures",
)
TEXT = kept(
    "`natural_language_domain`, `url_domain`, `mid_domain`", "`str`, `list[str]`"
)
IMAGE = approximated(
    "`image_domain`",
    '`Image((None, None, 3), encoding="any")`: no one says its size and channels',
)
STRINGS = kept(
    "`string_domain` of one value, in the feature or by its name",
    '`Label(classes=(...), stored="text", role="input")`',
)
OPEN_STRINGS = approximated(
    "`string_domain` of lists, of a part of the values, or with an empty value",
    "`str`, `list[str]`; the values go into a comment",
)
BOOL = kept(
    "`bool_domain`", "`bool`; of two texts a `Label` of which they are the classes"
)
CATEGORY = kept(
    "`int_domain` with `is_categorical` and both limits, of one value",
    '`Label(num_classes=..., offset=min, role="input")`',
)
RANGE = approximated(
    "other limits, of `int_domain`, `float_domain`, `time_domain`",
    "a comment: nothing checks them",
)
AT_LEAST = approximated(
    "a `value_count` of at least so many", "a comment: nothing checks it"
)
ENVIRONMENT = approximated(
    "features that only some environments have",
    "an optional field; a comment names the environments",
)
STAGE = approximated(
    "`lifecycle_stage` PLANNED, ALPHA, DEBUG_ONLY, DEPRECATED, DISABLED, and `deprecated`",
    "an optional field with the role info, as data need not have it",
)
UNCHECKED = approximated(
    "comparators, constraints of distributions, uniqueness, sequences and groups",
    "a comment names them: TFDV goes on checking these",
)
WEIGHTED = approximated(
    "`weighted_feature`",
    "the two lists in one group, and a comment: the values are not weighted by it",
)
SPARSE = kept(
    "`sparse_feature` and `sparse_tensor` of numbers with a known shape",
    "`Sparse`, in place of the features it is made of",
)
RAGGED = kept("`ragged_tensor` with one partition by row lengths", "`Ragged`")
DEFAULT = kept(
    "`dense_tensor` with a `default_value`", "the default of an optional field"
)
REPRESENTATION = approximated(
    "other tensor representations, and those of named groups",
    "the features as they are stored",
)
PRESENCE = kept(
    "`presence` without `min_fraction: 1`, or none", "an optional field: `= None`"
)
STRUCT = refused(
    "STRUCT, `value_counts`, and types that are not said",
    "an Example does not hold them as they are",
)
DERIVED = refused(
    "`lifecycle_stage` VALIDATION_DERIVED", "it is calculated, and not stored"
)
SPARSE_OPEN = approximated(
    "`sparse_feature` and `sparse_tensor` of other types or of an unknown shape",
    "the features that it is made of, each by itself",
)

TABLE = rows_in(globals())
