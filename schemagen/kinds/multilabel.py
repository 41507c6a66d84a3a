"""Several class labels a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args, get_origin

from .classes import Classes
from .kind import Default
from .python_types import is_array, members


@dataclass(frozen=True)
class MultiLabel(Classes):
    """Any number of classes, from none to all. Its default role is target.

    Stored as a list of any length, and delivered as a row of one number for each
    class: 1 for those that are there, 0 for the others.

    Attributes:
        classes: the classes' names in the order of their ids.
        num_classes: how many classes there are, if they have no names.
        vocabulary: a file of the names, one a line, next to the schema file.
        offset: what is added to a class id where it is stored.
        stored: "id", or "text" for the classes' names themselves.
    """

    name: ClassVar[str] = "MultiLabel"
    takes_default: ClassVar[Default] = "empty"
    holds: ClassVar[str] = (
        "a list of int, or of str if its classes have names; np.ndarray"
    )
    can_be_target: ClassVar[bool] = True

    @property
    def python_type(self) -> str:
        return "list[str]" if self.class_names else "list[int]"

    def accepts(self, python_type: Any) -> bool:
        if is_array(python_type):
            return True
        origin = get_origin(python_type) or python_type
        inner = [item for item in get_args(python_type) if item is not Ellipsis]
        if origin not in (list, tuple, Sequence):
            return False
        if str in inner and not self.class_names:
            return False
        return all(member in (int, str) for item in inner for member in members(item))
