"""The types and shapes of the values of fields, in the words that exports share."""

from __future__ import annotations

from ...spec.model import (
    FieldSpec,
    ImageSpec,
    ImagesSpec,
    LabelSpec,
    MaskSpec,
    MultiLabelSpec,
    RaggedSpec,
    StepsSpec,
    VarLenSpec,
)

Shape = tuple[int | None, ...]

# In the place of dtypes: a file of a picture, and one of the classes of a field.
PICTURE, CLASS = "picture", "class"


def value_of(field: FieldSpec) -> tuple[str, Shape]:
    """Return the type of single values of a field, and the shape that they have.

    The type is a dtype, "string", "bytes", PICTURE or CLASS; sizes that vary are None.
    """
    dtype = getattr(field, "dtype", "string")
    match field:
        case ImageSpec() | MaskSpec() if field.encoding != "raw":
            return PICTURE, ()
        case ImagesSpec():
            return PICTURE, (field.count,)
        case LabelSpec():
            return CLASS, ()
        case MultiLabelSpec():
            return CLASS, (None,)
        case VarLenSpec():
            return dtype, (None, *field.item_shape)
        case RaggedSpec():
            return dtype, (None, None)
        case StepsSpec():
            dtype, shape = value_of(field.step)
            return dtype, (None, *shape)
    return dtype, getattr(field, "shape", ())
