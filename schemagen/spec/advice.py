"""What to write in place of an annotation that has no kind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import PurePath
from typing import Any, get_args, get_origin

import numpy as np

from ..kinds.kind import Kind
from ..kinds.python_types import class_names, is_array, is_list, text_of
from ..schema.declaration import Declaration
from ..schema.nesting import is_model

# Where a kind accepts several, the first is advised.
_USUAL_TYPES: dict[str, Any] = {
    "np.ndarray": np.ndarray,
    "float": float,
    "int": int,
    "bool": bool,
    "str": str,
    "bytes": bytes,
    "list[str]": list[str],
    "list[bytes]": list[bytes],
}


def is_kind(python_type: Any) -> bool:
    """Tell whether a kind, or its class, stands where a type should."""
    return isinstance(python_type, Kind) or (
        isinstance(python_type, type) and issubclass(python_type, Kind)
    )


def kind_advice(field: Declaration) -> str:
    """Say how to declare a field whose default is a kind, or the class of a kind."""
    types = "np.ndarray" if is_array(field.python_type) else text_of(field.python_type)
    kind = text_of(field.default) + ("(...)" if isinstance(field.default, type) else "")
    if field.nullable:
        return f"write {field.name}: Annotated[{types} | None, {kind}] = None"
    return f"write {field.name}: Annotated[{types}, {kind}]"


def annotation_advice(python_type: Any) -> str:
    """Say how the field could be declared, as near to what is there as may be."""
    if isinstance(python_type, Kind):
        kind = text_of(python_type)
        for name, usual in _USUAL_TYPES.items():
            if python_type.accepts(usual):
                return f"write Annotated[{name}, {kind}]"
        return f"write Annotated[TYPE, {kind}], where TYPE is {python_type.holds}"
    if is_kind(python_type):
        kind = text_of(python_type)
        return f"write Annotated[TYPE, {kind}(...)], where TYPE is {python_type.holds}"
    if isinstance(python_type, type) and issubclass(python_type, (int, np.integer)):
        return 'annotate it: Annotated[int, Scalar("int64")]'
    if isinstance(python_type, type) and issubclass(python_type, np.floating):
        return 'annotate it: Annotated[float, Scalar("float32")]'
    if isinstance(python_type, type) and issubclass(python_type, date):
        return 'store seconds since 1970: Annotated[int, Scalar("int64", role="info")]'
    if python_type is Decimal:
        return 'annotate it: Annotated[float, Scalar("float64")]'
    if isinstance(python_type, type) and issubclass(python_type, PurePath):
        return "declare str, and pass str(path); or bytes, and pass the file's contents"
    items = [item for item in get_args(python_type) if item is not Ellipsis]
    members = get_args(items[0]) if items and get_origin(items[0]) is tuple else ()
    if members and is_list(python_type) and {*members} <= {int, float}:
        dtype = "float32" if float in members else "int64"
        kind = f'VarLen("{dtype}", item_shape=({len(members)},))'
        return f"annotate it: Annotated[np.ndarray, {kind}]"
    if get_origin(python_type) in (dict, Mapping) or python_type is dict:
        return (
            "declare a pydantic.BaseModel with the same keys, or a field for each key"
        )
    if get_origin(python_type) in (set, frozenset):
        return f"declare list[{', '.join(map(text_of, items))}], and pass sorted(value)"
    if any(map(is_model, items)):
        return (
            "nest the model itself, and give each of its fields a VarLen with the same "
            "group="
        )
    if any(class_names(item) for item in items):
        return "for several classes: Annotated[list[str], MultiLabel(classes=(...))]"
    return "annotate it: Annotated[np.ndarray, Vector(shape=(5,))]"
