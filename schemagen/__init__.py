"""Declare a training record once; everything that reads or writes it is generated."""

from __future__ import annotations

from .runtime.shared.platforms import require_platform as _require_platform

TYPE_CHECKING = False  # that of typing takes time to import: see interrupts.py
if TYPE_CHECKING:
    from typing import Any

    from .config import constants as constants
    from .runtime.kinds.augment import Augment as Augment
    from .runtime.kinds.registry import *  # noqa: F403
    from .schema.declaration import Nested as Nested
    from .schema.record import Record as Record
    from .schema.record import SequenceRecord as SequenceRecord
    from .use_cases.generate import check as check
    from .use_cases.generate import generate as generate
    from .use_cases.infer import infer_schema as infer_schema
    from .use_cases.notebook import describe as describe
    from .use_cases.notebook import inspect as inspect
    from .use_cases.notebook import verify as verify

    __all__: list[str]
    __version__: str

_require_platform()

# The modules of the public names that are not kinds.
_MODULES = {
    "Augment": "runtime.kinds.augment",
    "Nested": "schema.declaration",
    "Record": "schema.record",
    "SequenceRecord": "schema.record",
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
    if name in _MODULES:
        from importlib import import_module

        if name in ("Record", "SequenceRecord"):
            from .schema.record import NOTEBOOK_VIEW

            NOTEBOOK_VIEW.render = _record_html
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    if name == "__all__" or name[:1].isupper():
        from .runtime.kinds import registry

        if name == "__all__":
            return sorted([*registry.__all__, *_MODULES])
        if name in registry.__all__:
            return getattr(registry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _record_html(shown: Any) -> str | None:
    """Return how a notebook shows a record's class, or a record."""
    from .use_cases.record_html import record_html

    return record_html(shown)


def __dir__() -> list[str]:
    return [*globals(), *__getattr__("__all__")]
