"""Declare a training record once; everything that reads or writes it is generated."""

from __future__ import annotations

from .runtime.shared.platforms import require_platform as _require_platform

TYPE_CHECKING = False  # that of typing takes time to import: see interrupts.py
if TYPE_CHECKING:
    from typing import Any

    from .config import constants
    from .schema import (
        Audio,
        Augment,
        Image,
        Images,
        Label,
        Mask,
        MultiLabel,
        Nested,
        Ragged,
        Record,
        Scalar,
        SequenceRecord,
        Sparse,
        Steps,
        Tensor,
        Text,
        VarLen,
        Vector,
    )
    from .use_cases.generate import check, generate
    from .use_cases.infer import infer_schema
    from .use_cases.notebook import describe, inspect, verify

    __version__: str

_require_platform()

__all__ = [
    "Audio",
    "Augment",
    "Image",
    "Images",
    "Label",
    "Mask",
    "MultiLabel",
    "Nested",
    "Ragged",
    "Record",
    "Scalar",
    "SequenceRecord",
    "Sparse",
    "Steps",
    "Tensor",
    "Text",
    "VarLen",
    "Vector",
    "check",
    "constants",
    "describe",
    "generate",
    "infer_schema",
    "inspect",
    "verify",
]

# The modules of the functions.
_FUNCTIONS = {
    "check": "use_cases.generate",
    "constants": "config",
    "describe": "use_cases.notebook",
    "generate": "use_cases.generate",
    "infer_schema": "use_cases.infer",
    "inspect": "use_cases.notebook",
    "verify": "use_cases.notebook",
}


def __getattr__(name: str) -> Any:
    """Import what schemas are written with, and functions, when first asked for.

    The command line imports this package to print a help text, which should not
    wait for pydantic and numpy.
    """
    if name == "__version__":
        from .runtime.interface import installed_version

        return installed_version()
    if name in _FUNCTIONS:
        from importlib import import_module

        return getattr(import_module(f".{_FUNCTIONS[name]}", __name__), name)
    if name in __all__:
        from . import schema
        from .schema.record import NOTEBOOK_VIEW

        NOTEBOOK_VIEW.render = _record_html
        return getattr(schema, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _record_html(shown: Any) -> str | None:
    """Return how a notebook shows a record's class, or a record."""
    from .use_cases.record_html import record_html

    return record_html(shown)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
