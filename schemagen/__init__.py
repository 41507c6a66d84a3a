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
    from .use_cases.notebook import describe, describe_data, inspect, verify

    __version__: str

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
    "describe",
    "describe_data",
    "generate",
    "inspect",
    "verify",
]

_FUNCTIONS = ("describe", "describe_data", "inspect", "verify")


def __getattr__(name: str) -> Any:
    """Import what schemas are written with, and functions, when first asked for.

    The command line imports this package to print a help text, which should not
    wait for pydantic and numpy.
    """
    if name == "__version__":
        from importlib.metadata import version  # pyproject.toml states it, once

        return version("schemagen")
    if name in _FUNCTIONS:
        from .use_cases import notebook

        return getattr(notebook, name)
    if name in __all__:
        from . import schema
        from .schema.record import NOTEBOOK_VIEW

        NOTEBOOK_VIEW.render = _record_html
        return getattr(schema, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _record_html(shown: Any) -> str | None:
    """Return how a notebook shows a record's class, or a record."""
    from .use_cases.record_view import record_html

    return record_html(shown)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def constants(schema_file: str) -> Mapping[str, Any]:
    """Return the constants of a project, for use in its schema files.

    Args:
        schema_file: the schema file: `constants(__file__)`.

    Returns:
        The values of `[tool.schemagen.constants]` in `pyproject.toml`, by name.

    Raises:
        SchemagenError: the file is in no project, or the settings are not valid.
    """
    from . import config

    return config.constants(schema_file)


def generate(
    directory: Path | str = ".", *, dry_run: bool = False, force: bool = False
) -> Plan:
    """Bring a project's generated code up to date, as `schemagen generate` does.

    Args:
        directory: a directory of the project.
        dry_run: return the plan without writing anything.
        force: overwrite generated files that were edited by hand.

    Returns:
        The plan that was carried out, or would be.

    Raises:
        SchemagenError: the schemas cannot be read, or files must not be overwritten;
            nothing is changed.
    """
    from .use_cases import (
        generate as project,  # schema files import this package and need no generator
    )

    return project.generate(directory, dry_run=dry_run, force=force)


def check(directory: Path | str = ".") -> Plan:
    """Compare a project's generated code with its schemas, as `schemagen check` does.

    Args:
        directory: a directory of the project.

    Returns:
        A plan. Its `findings` say which files are not up to date, and why.

    Raises:
        SchemagenError: the schemas cannot be read.
    """
    from .use_cases import generate as project

    return project.check(directory)
