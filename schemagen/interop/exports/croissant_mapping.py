"""What a Croissant description says of our records: a row for each parameter."""

from __future__ import annotations

from ...kinds.field import FieldSpec
from ...kinds.registry import KINDS
from .mapping import ANY, always, approximated, attribute_in, kept, parameters_of

_SPEC = "said in the spec alone, which the manifest next to the shards holds"

_COMMON = parameters_of("Text")


def _has_gap(field: FieldSpec) -> bool:
    return None in getattr(field.kind, "shape", ())


_SAID = (
    *(
        row
        for kind in ("Image", "Images", "Mask")
        for row in (
            kept(
                kind,
                "encoding",
                "sc:ImageObject",
                lambda f: getattr(f.kind, "encoding", "raw") != "raw",
                "encoded",
            ),
            kept(kind, "encoding", "an array of numbers", always, "raw"),
            approximated(
                kind,
                "shape",
                "arrayShape, with -1 for a size that varies",
                _has_gap,
                "of several sizes",
            ),
            kept(kind, "shape", "arrayShape", always),
        )
    ),
    kept("Image", "dtype", "dataType", always),
    kept("Mask", "dtype", "dataType", always),
    kept("Images", "count", "the first size of arrayShape"),
    approximated("Images", "max_count", "an array of any length"),
    *(
        row
        for kind in ("Label", "MultiLabel")
        for row in (
            kept(kind, "classes", "a RecordSet of sc:Enumeration", always),
            kept(kind, "num_classes", "the rows of the enumeration", always),
            kept(kind, "offset", "in the ids of the enumeration"),
            kept(kind, "stored", "references to names in place of ids"),
        )
    ),
    *(
        row
        for kind in ("Scalar", "Vector", "Tensor", "VarLen", "Ragged", "Sparse")
        for row in (
            approximated(
                kind,
                "dtype",
                "sc:Text: Croissant has no bfloat16, complex or bytes",
                attribute_in("dtype", "bfloat16", "complex64", "complex128", "bytes"),
                "bfloat16, complex, bytes",
            ),
            kept(kind, "dtype", "dataType", always),
        )
    ),
    kept("Vector", "shape", "arrayShape", always),
    approximated(
        "Tensor",
        "shape",
        "arrayShape, with -1 for a size that varies",
        _has_gap,
        "of several sizes",
    ),
    kept("Tensor", "shape", "arrayShape", always),
    kept("VarLen", "item_shape", "arrayShape"),
    approximated(
        "Ragged", "row_lengths_key", "an array of two sizes that vary", always
    ),
    approximated("Sparse", "shape", "arrayShape of the whole tensor", always),
    approximated("Steps", "step", "an array, whose first size varies", always),
)

_TOLD = {(row.kind, row.parameter) for row in _SAID}

MAPPING = (
    kept(ANY, "name", "name", always),
    approximated(
        ANY,
        "key",
        "the column of a TFRecord, which no Croissant tool extracts",
        always,
    ),
    approximated(ANY, "role", _SPEC),
    approximated(ANY, "optional", "any record may lack any field"),
    approximated(ANY, "default", _SPEC, lambda f: f.default is not None),
    kept(ANY, "doc", "description"),
    approximated(ANY, "presence", _SPEC),
    approximated(ANY, "path", "names joined by _, without nesting"),
    *_SAID,
    *(
        approximated(kind, parameter, _SPEC)
        for kind in KINDS
        for parameter in parameters_of(kind)
        if parameter not in _COMMON and (kind, parameter) not in _TOLD
    ),
)
