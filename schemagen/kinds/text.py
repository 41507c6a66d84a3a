"""Text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ..runtime.shared.errors import Problem
from .kind import Kind


@dataclass(frozen=True)
class Text(Kind):
    """One string, stored as UTF-8."""

    name: ClassVar[str] = "Text"
    holds: ClassVar[str] = "str"
    step_block: ClassVar[str] = "tokens"

    @property
    def uses_vocabulary(self) -> bool:
        return True

    def accepts(self, python_type: Any) -> bool:
        return python_type in (str, Any)

    def problems(self) -> Iterator[Problem]:
        return iter(())

    def layers(self, role: str) -> tuple[str, ...]:
        return ("vocabulary",) if role == "input" else ()
