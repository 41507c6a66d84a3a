"""Questions about the Python types in a schema's annotations."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np


def members(python_type: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type alone."""
    if get_origin(python_type) in (Union, types.UnionType):
        return get_args(python_type)
    return (python_type,)


def is_array(python_type: Any) -> bool:
    """Tell whether a type is np.ndarray, NDArray[...] or Any."""
    return python_type is Any or np.ndarray in (python_type, get_origin(python_type))


def is_list(python_type: Any) -> bool:
    """Tell whether a type is a list, tuple or Sequence of anything."""
    return (get_origin(python_type) or python_type) in (list, tuple, Sequence)


def item_type(python_type: Any) -> Any:
    """Return the type of a list's items; None if it is not a list, or the items have no type."""
    if not is_list(python_type):
        return None
    items = [item for item in get_args(python_type) if item is not Ellipsis]
    return items[0] if len(items) == 1 else None


def is_list_of(python_type: Any, *items: type) -> bool:
    """Tell whether a type is a list, tuple or Sequence of (lists of) some types."""
    if not is_list(python_type):
        return False
    inner = [item for item in get_args(python_type) if item is not Ellipsis]
    return all(item in items or is_list_of(item, *items) for item in inner)


def is_picture(python_type: Any, *, encoded: bool) -> bool:
    """Tell whether a type is an array of pixels, or bytes if they may be encoded."""
    return all(is_array(m) or (encoded and m is bytes) for m in members(python_type))


def is_numbers(python_type: Any, dtype: str) -> bool:
    """Tell whether a type is an array, or (lists of) lists of numbers of a dtype."""
    return is_array(python_type) or is_list_of(python_type, *item_types(dtype))


def is_enum(python_type: Any) -> bool:
    """Tell whether a type is an Enum class."""
    return isinstance(python_type, type) and issubclass(python_type, Enum)


def literal_values(python_type: Any) -> tuple[Any, ...] | None:
    """Return the values of a Literal, or None if the type is not one."""
    return get_args(python_type) if get_origin(python_type) is Literal else None


def class_names(python_type: Any) -> tuple[Any, ...] | None:
    """Return the classes that a Literal or an Enum names, in the order of their ids."""
    if is_enum(python_type):
        return enum_names(python_type)
    return literal_values(python_type)


def enum_names(enum: type[Enum]) -> tuple[str, ...] | None:
    """Return an Enum's class names in the order of their ids.

    Values that are all text are the names. Values 0, 1, 2, ... are the ids, and
    the members' own names the names. Any other Enum says neither: None.
    """
    values = [member.value for member in enum]
    if values and all(isinstance(value, str) for value in values):
        return tuple(values)
    if values and all(type(v) is int for v in values):
        by_id = sorted(enum, key=lambda member: member.value)
        if [member.value for member in by_id] == list(range(len(by_id))):
            return tuple(member.name for member in by_id)
    return None


def item_types(dtype: str) -> tuple[type, ...]:
    """Return the Python types that one value of a dtype may have, the usual one first."""
    others = {"bool": (bool,), "string": (str,), "bytes": (bytes,)}
    if "complex" in dtype:
        return (complex, float, int)
    return others.get(dtype, (float, int) if "float" in dtype else (int,))


def item_name(dtype: str) -> str:
    """Return the name of the Python type of one value of a dtype."""
    return item_types(dtype)[0].__name__


def text_of(python_type: Any) -> str:
    """Write a type as a schema would."""
    if len(members(python_type)) > 1:
        return " | ".join(map(text_of, members(python_type)))
    if python_type is types.NoneType:
        return "None"
    if isinstance(python_type, type) and not get_args(python_type):
        return python_type.__name__
    if is_dataclass(python_type):  # a kind, where a type should be
        given = [
            f"{each.name}={text_of(value) if is_dataclass(value) else repr(value)}"
            for each in fields(python_type)
            if (value := getattr(python_type, each.name)) != each.default
        ]
        return f"{type(python_type).__name__}({', '.join(given)})"
    return str(python_type).replace("typing.", "").replace("numpy.", "np.")
