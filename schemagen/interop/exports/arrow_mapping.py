"""What an Arrow schema says of rows: a row for each parameter.

The schema is of rows as `serialize(**row)` takes them, and not of what is on disk.
"""

from __future__ import annotations

from ...kinds.field import FieldSpec
from ...kinds.steps import Steps
from ...runtime.shared.values import COMPLEX
from .mapping import ANY, always, approximated, attribute_in, kept, refused

_DISK = "a matter of the file, and not of a row; in the metadata `schemagen.spec`"
_READING = "a matter of reading; in the metadata `schemagen.spec`"
_CHECKED = "checked by the writer; in the metadata `schemagen.spec`"


def _complex_steps(field: FieldSpec) -> bool:
    return isinstance(field.kind, Steps) and getattr(field.step, "dtype", "") in COMPLEX


def _varies(field: FieldSpec) -> bool:
    return None in getattr(field.kind, "shape", ()) and getattr(
        field.kind, "encoding", ""
    ) in (
        "raw",
        "list",
        "proto",
    )


_NUMBERS = ("Scalar", "Vector", "Tensor", "VarLen", "Ragged", "Sparse")

MAPPING = (
    kept(ANY, "name", "name of the field", always),
    approximated(ANY, "key", _DISK),
    kept(ANY, "role", "the metadata `schemagen.role`"),
    kept(ANY, "optional", "nullable"),
    approximated(
        ANY,
        "default",
        "a null: the writer leaves it out",
        lambda f: f.default is not None,
    ),
    approximated(ANY, "presence", _READING),
    kept(ANY, "path", "a struct"),
    kept(ANY, "doc", "the metadata `schemagen.doc`"),
    kept(
        "Image",
        "encoding",
        "binary",
        lambda f: getattr(f.kind, "encoding", "raw") != "raw",
        "encoded",
    ),
    kept("Image", "encoding", "numbers", always, "raw"),
    approximated(
        "Image",
        "shape",
        "lists of lists, whose lengths nothing compares",
        _varies,
        "raw of several sizes",
    ),
    kept("Image", "shape", "arrow.fixed_shape_tensor of raw pixels", always),
    kept("Image", "dtype", "value type", always),
    approximated("Image", "resize", _READING),
    approximated("Image", "interpolation", _READING),
    *(
        approximated("Image", name, _DISK)
        for name in (
            "height_key",
            "width_key",
            "channels_key",
            "format_key",
            "format_text",
        )
    ),
    approximated("Image", "augment", _READING),
    approximated("Images", "shape", _CHECKED, always),
    kept("Images", "encoding", "binary", always),
    kept("Images", "count", "fixed_size_list"),
    approximated("Images", "max_count", _CHECKED),
    approximated("Images", "resize", _READING),
    approximated("Images", "interpolation", _READING),
    approximated("Images", "group", _CHECKED),
    approximated("Images", "augment", _READING),
    kept(
        "Mask",
        "encoding",
        "binary: rows hold PNGs",
        attribute_in("encoding", "png"),
        "png",
    ),
    kept("Mask", "encoding", "numbers", always, "raw"),
    approximated(
        "Mask",
        "shape",
        "lists of lists, whose lengths nothing compares",
        _varies,
        "raw of several sizes",
    ),
    kept("Mask", "shape", "arrow.fixed_shape_tensor of raw ids", always),
    kept("Mask", "dtype", "value type", always),
    *(
        approximated("Mask", name, _CHECKED)
        for name in ("num_classes", "classes", "ignore")
    ),
    approximated("Mask", "resize", _READING),
    *(
        approximated("Mask", name, _DISK)
        for name in ("height_key", "width_key", "format_key")
    ),
    approximated("Mask", "augment", _READING),
    *(
        row
        for kind in ("Label", "MultiLabel")
        for row in (
            kept(kind, "classes", "dictionary of strings"),
            approximated(
                kind,
                "num_classes",
                "int64, or names; the number is in the metadata",
                always,
            ),
            approximated(kind, "offset", _DISK),
            approximated(kind, "stored", _DISK),
        )
    ),
    *(
        row
        for kind in _NUMBERS
        for row in (
            refused(
                kind,
                "dtype",
                "Arrow has no complex numbers",
                attribute_in("dtype", *COMPLEX),
                "complex",
            ),
            approximated(
                kind,
                "dtype",
                "float32, which holds each bfloat16",
                attribute_in("dtype", "bfloat16"),
                "bfloat16",
            ),
            kept(kind, "dtype", "value type", always),
            approximated(kind, "exact", _CHECKED),
            approximated(kind, "finite", _CHECKED),
        )
    ),
    approximated("Scalar", "encoding", _DISK),
    approximated("Vector", "encoding", _DISK),
    kept("Vector", "shape", "fixed_size_list, or arrow.fixed_shape_tensor", always),
    kept("Vector", "dequantize", "rows hold the integers"),
    approximated("Tensor", "encoding", _DISK),
    approximated(
        "Tensor",
        "shape",
        "lists of lists, whose lengths nothing compares",
        _varies,
        "of several sizes",
    ),
    kept("Tensor", "shape", "arrow.fixed_shape_tensor", always),
    approximated("Tensor", "shape_key", _DISK),
    approximated("Tensor", "padding_value", _READING),
    approximated("VarLen", "max_length", _CHECKED),
    kept("VarLen", "item_shape", "fixed_size_list"),
    approximated("VarLen", "padding_value", _READING),
    approximated("VarLen", "ragged", _READING),
    approximated("VarLen", "too_long", "the writer's and the reader's"),
    approximated("VarLen", "pad_on_disk", _DISK),
    approximated("VarLen", "group", _CHECKED),
    approximated("VarLen", "fill_value", _READING),
    approximated("Ragged", "row_lengths_key", _DISK, always),
    approximated("Ragged", "ragged", _READING),
    approximated("Ragged", "padding_value", _READING),
    approximated("Ragged", "max_length", _CHECKED),
    approximated("Ragged", "group", _CHECKED),
    approximated(
        "Sparse",
        "shape",
        "a struct of indices and values, which is a pair in a row",
        always,
    ),
    approximated("Sparse", "index_key", _DISK, always),
    approximated("Sparse", "dense", _READING),
    refused("Steps", "step", "Arrow has no complex numbers", _complex_steps, "complex"),
    kept("Steps", "step", "a list of what a step holds", always),
    approximated(
        "Steps",
        "padding_value",
        _READING,
        lambda f: getattr(f.kind, "padding_value", 0) not in (0, "", -1),
    ),
    approximated("Steps", "max_length", _CHECKED),
    approximated("Steps", "ragged", _READING),
    approximated("Steps", "too_long", "the writer's and the reader's"),
    approximated("Steps", "group", _CHECKED),
)
