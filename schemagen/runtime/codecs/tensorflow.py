"""TensorFlow, imported when a graph is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..shared import requirements

if TYPE_CHECKING:
    import tensorflow as tf  # type: ignore[import-not-found, import-untyped, unused-ignore]
else:

    class _TensorFlow:
        """The module `tensorflow`, for modules that work without it."""

        def __getattr__(self, name: str) -> Any:
            return getattr(requirements.tf, name)

    tf = _TensorFlow()

__all__ = ["tf"]
