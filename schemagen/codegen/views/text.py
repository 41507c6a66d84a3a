"""What templates see of text."""

from __future__ import annotations

from ...spec.model import TextSpec
from .field import FieldView


class TextView(FieldView):
    """One UTF-8 string."""

    spec: TextSpec

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
