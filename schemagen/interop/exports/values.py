"""The types and shapes of the values of fields, in the words that exports share."""

from __future__ import annotations

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...kinds.multilabel import MultiLabel
from ...kinds.ragged import Ragged
from ...kinds.steps import Steps
from ...kinds.varlen import VarLen

Shape = tuple[int | None, ...]

# In the place of dtypes: a file of a picture, and one of the classes of a field.
PICTURE, CLASS = "picture", "class"


def value_of(field: FieldSpec) -> tuple[str, Shape]:
    """Return the type of single values of a field, and the shape that they have.

    The type is a dtype, "string", "bytes", PICTURE or CLASS; sizes that vary are None.
    """
    dtype = getattr(field.kind, "dtype", "string")
    match field.kind:
        case Image() | Mask() if field.kind.encoding != "raw":
            return PICTURE, ()
        case Images():
            return PICTURE, (field.kind.count,)
        case Label():
            return CLASS, ()
        case MultiLabel():
            return CLASS, (None,)
        case VarLen():
            return dtype, (None, *field.kind.item_shape)
        case Ragged():
            return dtype, (None, None)
        case Steps():
            dtype, shape = value_of(field.step)
            return dtype, (None, *shape)
    if hasattr(field.kind, "dtype"):
        return dtype, getattr(field.kind, "shape", ())
    entry = field.storage[0]
    return entry.dtype, () if entry.count == 1 else (entry.count,)
