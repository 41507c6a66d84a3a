"""Declare a training record once; everything that reads or writes it is generated."""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing takes time to import: see interrupts.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from .codegen.plan import Plan
    from .schema import (
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

__all__ = [
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
    "generate",
]


def __getattr__(name: str) -> Any:
    """Import what schemas are written with when it is first asked for.

    The command line imports this package to print a help text, which should not
    wait for pydantic and numpy.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import schema

    return getattr(schema, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def constants(schema_file: str) -> Mapping[str, Any]:
    """Return the constants of a schema file's project: `constants(__file__)`."""
    from . import config

    return config.constants(schema_file)


def generate(
    directory: Path | str = ".", *, dry_run: bool = False, force: bool = False
) -> Plan:
    """Bring a project's generated code up to date; see `schemagen.use_cases.generate.generate`."""
    from .use_cases import (
        generate as project,  # schema files import this package and need no generator
    )

    return project.generate(directory, dry_run=dry_run, force=force)


def check(directory: Path | str = ".") -> Plan:
    """Compare generated code with its schemas; see `schemagen.use_cases.generate.check`."""
    from .use_cases import generate as project

    return project.check(directory)
