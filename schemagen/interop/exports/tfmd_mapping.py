"""What a TensorFlow Metadata schema says of our records: a row for each parameter."""

from __future__ import annotations

from .mapping import ANY, always, approximated, attribute_in, kept, refused

_READING = "a matter of reading; the schema is about what is stored"
_FITS = "the range of integers; raw bytes and floats have none"

MAPPING = (
    approximated(
        ANY,
        "name",
        "an annotation's comment; features are called by their keys",
        lambda f: f.name != f.key,
    ),
    kept(ANY, "key", "name of the feature"),
    kept(ANY, "doc", "an annotation's comment"),
    kept(ANY, "role", "an annotation's tag", lambda f: True),
    kept(ANY, "optional", "without a presence that is asked for"),
    approximated(
        ANY, "default", "the schema has no defaults", lambda f: f.default is not None
    ),
    approximated(ANY, "presence", _READING),
    approximated(ANY, "path", "a nested field is called by its key, without nesting"),
    # Pictures.
    approximated(
        "Image", "shape", "an annotation's tag: the bytes are one value", always
    ),
    kept(
        "Image",
        "encoding",
        "image_domain",
        lambda f: getattr(f.kind, "encoding", "") != "raw",
        "encoded",
    ),
    approximated("Image", "encoding", "bytes without a domain", always, "raw"),
    approximated("Image", "dtype", "an annotation's tag", always),
    approximated("Image", "resize", _READING),
    approximated("Image", "interpolation", _READING),
    kept("Image", "height_key", "a feature of its own"),
    kept("Image", "width_key", "a feature of its own"),
    kept("Image", "channels_key", "a feature of its own"),
    kept("Image", "format_key", "a feature of its own"),
    approximated("Image", "format_text", "any text"),
    approximated("Image", "augment", _READING),
    approximated("Images", "shape", "an annotation's tag", always),
    kept("Images", "encoding", "image_domain", always),
    kept("Images", "count", "shape, or value_count if it is optional"),
    kept("Images", "max_count", "value_count"),
    approximated("Images", "resize", _READING),
    approximated("Images", "interpolation", _READING),
    approximated("Images", "group", "lengths are not compared"),
    approximated("Images", "augment", _READING),
    approximated(
        "Mask", "shape", "an annotation's tag: the bytes are one value", always
    ),
    approximated("Mask", "num_classes", "ids of pixels are not bounded"),
    kept("Mask", "encoding", "image_domain", attribute_in("encoding", "png"), "png"),
    approximated("Mask", "encoding", "bytes without a domain", always, "raw"),
    approximated("Mask", "dtype", "an annotation's tag", always),
    approximated("Mask", "classes", "classes of pixels have no names"),
    approximated("Mask", "ignore", "the id is one like others"),
    approximated("Mask", "resize", _READING),
    kept("Mask", "height_key", "a feature of its own"),
    kept("Mask", "width_key", "a feature of its own"),
    kept("Mask", "format_key", "a feature of its own"),
    approximated("Mask", "augment", _READING),
    # Classes.
    *(
        row
        for kind in ("Label", "MultiLabel")
        for row in (
            kept(kind, "num_classes", "int_domain, categorical", always),
            kept(
                kind,
                "classes",
                "string_domain",
                attribute_in("stored", "text"),
                "stored as text",
            ),
            approximated(kind, "classes", "comments of the annotation"),
            kept(kind, "offset", "in the bounds of the int_domain"),
            kept(kind, "stored", "bytes"),
        )
    ),
    # Numbers.
    kept("Scalar", "dtype", _FITS, always),
    kept("Scalar", "encoding", "int, float or bytes", always),
    kept(
        "Vector", "shape", "shape of a list", attribute_in("encoding", "list"), "a list"
    ),
    approximated(
        "Vector", "shape", "an annotation's tag: the bytes are one value", always, "raw"
    ),
    kept("Vector", "dtype", _FITS, always),
    kept("Vector", "encoding", "int, float or bytes", always),
    approximated("Vector", "dequantize", _READING),
    approximated(
        "Tensor", "shape", "an annotation's tag, unless a list has one shape", always
    ),
    kept("Tensor", "dtype", _FITS, always),
    kept("Tensor", "encoding", "int, float or bytes", always),
    kept("Tensor", "shape_key", "features of their own"),
    approximated("Tensor", "padding_value", _READING),
    kept("VarLen", "dtype", _FITS, always),
    kept(
        "VarLen",
        "max_length",
        "value_count",
        lambda f: getattr(f.kind, "max_length", None) is not None,
    ),
    approximated(
        "VarLen",
        "item_shape",
        "the greatest number of values; that they fill whole items is not asked",
    ),
    approximated("VarLen", "padding_value", _READING),
    approximated("VarLen", "ragged", _READING),
    kept(
        "VarLen", "too_long", "what is cut when read has no greatest number of values"
    ),
    kept("VarLen", "pad_on_disk", "value_count"),
    approximated("VarLen", "group", "lengths are not compared"),
    approximated("VarLen", "fill_value", _READING),
    kept("Ragged", "dtype", _FITS, always),
    kept("Ragged", "row_lengths_key", "a feature of its own", always),
    approximated("Ragged", "ragged", _READING),
    approximated("Ragged", "padding_value", _READING),
    kept("Ragged", "max_length", "value_count of the row lengths"),
    approximated("Ragged", "group", "lengths are not compared"),
    kept("Sparse", "shape", "int_domain of the indices; sparse_tensor", always),
    kept("Sparse", "index_key", "features of their own", always),
    kept("Sparse", "dtype", _FITS, always),
    approximated("Sparse", "dense", _READING),
    *(
        approximated(kind, "exact", "a matter of writing")
        for kind in ("Scalar", "Vector", "Tensor", "VarLen", "Ragged", "Sparse")
    ),
    *(
        kept(kind, "finite", "float_domain without NaN and infinities", always)
        for kind in ("Scalar", "Vector", "Tensor", "VarLen", "Ragged", "Sparse")
    ),
    # Steps.
    refused(
        "Steps",
        "step",
        "TensorFlow Data Validation reads tf.train.Example alone",
        always,
    ),
    *(
        refused("Steps", parameter, "as of the whole kind")
        for parameter in ("padding_value", "max_length", "ragged", "too_long", "group")
    ),
)
