"""What to write in place of a type that does not say how its values are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin

import numpy as np

from ..runtime.codecs.kind import Kind
from ..runtime.codecs.python_types import (
    is_array,
    is_enum,
    is_list,
    literal_values,
    members,
    text_of,
)
from ..schema.nesting import is_model

_TENSORS = ("Tensor", "EagerTensor", "Array", "Variable")
_TIMES = (
    *("datetime", "date", "timedelta", "datetime64", "timedelta64"),
    *("Timestamp", "Timedelta"),
)
_SETS = (set, frozenset)


def advice(python_type: Any) -> str:
    """Return what to write in place of a type that has no kind.

    Packages such as PyTorch and Pillow need not be there: their types have known names.
    """
    name = getattr(python_type, "__name__", "")
    if is_kind(python_type):
        return f"write `Annotated[TYPE, {text_of(python_type)}]`"
    if is_array(python_type) or name in _TENSORS:
        return _of_array(_dtype_of(python_type))
    if name in _TIMES:
        return (
            'write `Annotated[int, Scalar("int64", unit="ms")]`, which takes datetimes, '
            "dates and timedeltas"
        )
    if name == "Image":
        return (
            'write `Annotated[np.ndarray | bytes, Image(shape=(32, 32, 3), encoding="png")]`, '
            "and give rows an array or the encoded bytes"
        )
    if isinstance(python_type, type) and issubclass(python_type, np.generic):
        plain = {"f": "float", "b": "bool"}.get(np.dtype(python_type).kind, "int")
        return f'write `Annotated[{plain}, Scalar("{np.dtype(python_type).name}")]`'
    if _has_names(python_type):
        return (
            "declare a class of these values that derives from pydantic.BaseModel, and "
            "write it as the type; or declare a field for each value"
        )
    if len(members(python_type)) > 1:
        return f"write one type, such as `{text_of(members(python_type)[0])}`"
    if is_list(python_type) or (get_origin(python_type) or python_type) in _SETS:
        return _of_list(python_type)
    return "convert the values to one of these types"


def is_kind(value: object) -> bool:
    """Tell whether a value is a kind, or the class of one."""
    return isinstance(value, Kind) or (
        isinstance(value, type) and issubclass(value, Kind)
    )


def _of_array(dtype: str) -> str:
    given = f', dtype="{dtype}"' if dtype else ""
    return (
        f"write `Annotated[np.ndarray, Vector(shape=(5,){given})]` for a fixed shape, "
        f'`Annotated[np.ndarray, VarLen("{dtype or "float32"}")]` for a varying length, or '
        "`Annotated[np.ndarray, Image(shape=(32, 32, 3))]` for pixels"
    )


def _dtype_of(python_type: Any) -> str:
    """Return the dtype of an `NDArray[...]`; "" if it is float32, or not stated."""
    stated = get_args(get_args(python_type)[-1]) if get_args(python_type) else ()
    known = [each for each in stated if isinstance(each, type)]
    if not known or not issubclass(known[0], np.generic) or known[0] is np.float32:
        return ""
    try:
        return np.dtype(known[0]).name
    except TypeError:  # an abstract one, such as np.floating
        return ""


def _has_names(python_type: Any) -> bool:
    """Tell whether values of a type are several values by name."""
    base = get_origin(python_type) or python_type
    return (
        is_dataclass(base)
        or hasattr(base, "_fields")
        or (isinstance(base, type) and issubclass(base, Mapping))
    )


def _of_list(python_type: Any) -> str:
    items = [each for each in get_args(python_type) if each is not Ellipsis]
    if any(each != items[0] for each in items):
        return "declare a field for each item: the items of a field have one type"
    item = items[0] if items else int
    if len(items) > 1:
        dtype = ', dtype="int64"' if item is int else ""
        kind = f"Vector(shape=({len(items)},){dtype})"
        return f"write `Annotated[{text_of(python_type)}, {kind}]`"
    if is_model(item) or _has_names(item):
        return (
            "declare a list for each of the values, all of one group, such as "
            '`Annotated[list[float], VarLen("float32", group="items")]`'
        )
    if is_enum(item) or literal_values(item):
        return 'write `Annotated[list[str], MultiLabel(classes=("beagle", "pug"))]`'
    if is_array(item):
        return (
            'write `Annotated[np.ndarray, VarLen("float32", item_shape=(5,))]`, or '
            '`Annotated[list[bytes], Images(shape=(32, 32, 3), encoding="png")]` for images'
        )
    if is_list(item):
        return (
            "write `Annotated[np.ndarray, Vector(shape=(2, 3, 4))]` for a fixed shape"
        )
    if item in (bool, int, float, str, bytes):
        return f"write `list[{item.__name__}]`"
    return "convert the items to one of these types"
