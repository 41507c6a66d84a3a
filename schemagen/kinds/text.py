"""Text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .kind import Kind


@dataclass(frozen=True)
class Text(Kind):
    """One string, stored as UTF-8."""

    name: ClassVar[str] = "Text"
    holds: ClassVar[str] = "str"
    step_block: ClassVar[str] = "tokens"
    input_layers: ClassVar[tuple[str, ...]] = ("vocabulary",)

    @property
    def uses_vocabulary(self) -> bool:
        return True

    def accepts(self, python_type: Any) -> bool:
        return python_type in (str, Any)
