"""Text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .kind import Kind


@dataclass(frozen=True)
class Text(Kind):
    """One string, stored as UTF-8."""

    name: ClassVar[str] = "Text"
    python_type: ClassVar[str] = "str"
    holds: ClassVar[str] = "str"
    step_block: ClassVar[str] = "tokens"
    uses_vocabulary: ClassVar[bool] = True
    input_layers: ClassVar[tuple[str, ...]] = ("vocabulary",)

    def accepts(self, python_type: Any) -> bool:
        return python_type in (str, Any)
