"""Text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..runtime.encoding import base, text
from .field import FieldSpec
from .kind import Kind
from .storage import Entry, values
from .view import FieldView


@dataclass(frozen=True)
class Text(Kind):
    """One string, stored as UTF-8."""

    name: ClassVar[str] = "Text"
    holds: ClassVar[str] = "str"
    input_layers: ClassVar[tuple[str, ...]] = ("vocabulary",)

    def accepts(self, python_type: Any) -> bool:
        return python_type in (str, Any)

    def storage(self, key: str) -> tuple[Entry, ...]:
        return (values(key, "string", 1),)

    def feature(self, name: str, *, optional: bool) -> base.Feature:
        return text.Text(name, key=self.key or name, optional=optional)

    def view(self, field: FieldSpec) -> FieldView:
        return TextView(field)


class TextView(FieldView[Text]):
    """One UTF-8 string."""

    @property
    def dtype(self) -> str:
        return "string"

    @property
    def vocabulary(self) -> bool:
        return True

    @property
    def python_type(self) -> str:
        return "str"

    @property
    def wanted_value(self) -> str:
        return "text"
