"""What a schema file raises, as a finding at its place."""

from __future__ import annotations

import linecache
import re
import traceback
from dataclasses import fields
from pathlib import Path

from .. import schema
from ..findings import Finding, Location
from ..runtime.codecs.parameters import Parameters
from ..runtime.shared.errors import did_you_mean
from .parameters import below
from .source_map import SourceMap

# What Python says about names, and of parameters, that do not exist.
_UNKNOWN = re.compile(r"(?:name|attribute|keyword argument) '(\w+)'")


class GeneratedImportError(Exception):
    """A schema tried to import what is generated from it.

    It is not an ImportError, so code which does without a module that is missing
    does not hide it.
    """


def load_failure(
    error: BaseException,
    schemas: Path,
    places: SourceMap,
    output: str,
    path: Path | None = None,
) -> Finding | None:
    """Return the finding for an error that the code of a schema has raised.

    Args:
        error: what was raised, when a file was imported or when a record was read: that
            calls such code too, as the `__repr__` of a default.
        schemas: the directory of schema files.
        places: shows paths.
        output: the directory of generated code, for messages.
        path: the file that was imported, if it was.

    Returns:
        None if the error was raised elsewhere.
    """
    unknown = Location(places.shown(path)) if path else None
    location = _place_of(error, schemas, places) or unknown
    if location is None:
        return None
    if isinstance(error, GeneratedImportError):
        return Finding(
            location,
            "SG102",
            "a schema imports generated code",
            found=str(error),
            expected=f"schemas that do not need {output}/",
            advice="move what they share into a separate module",
        )
    if isinstance(error, SystemExit):
        return Finding(
            location,
            "SG101",
            "the schema file ends the interpreter",
            found=_text_of(error).removesuffix(": None"),
            advice='remove the call, or put it below `if __name__ == "__main__":`',
        )
    text = _text_of(error)
    name = _UNKNOWN.search(text)
    return Finding(
        location,
        "SG101",
        f"the schema file does not load: {text}",
        advice=_advice(name[1] if name else "")
        or "correct the file; importing it with python shows the whole traceback",
    )


def _advice(unknown: str) -> str:
    """Return what to do about a name that does not exist; "" if that is not known."""
    if unknown in schema.__all__:
        return f"add `from schemagen import {unknown}`"
    parameters = {each.name for cls in below(Parameters) for each in fields(cls)}
    if unknown in parameters:
        return f"leave it out: other kinds have {unknown}, this one does not"
    return unknown and did_you_mean(unknown, {*schema.__all__, *parameters})


def _text_of(error: BaseException) -> str:
    """Return an error's class and text in one line, without pydantic's link."""
    lines = traceback.format_exception_only(error)
    text = lines[-1] if isinstance(error, SyntaxError) else lines[0]
    return " ".join(text.split("\n\nFor further information")[0].split())


def _place_of(
    error: BaseException, schemas: Path, places: SourceMap
) -> Location | None:
    """Return the innermost place of an error that lies in the project's schemas."""
    if isinstance(error, SyntaxError) and Path(error.filename or "?").is_file():
        return Location(
            places.shown(Path(error.filename or "?")),
            error.lineno or 1,
            error.offset or 1,
            (error.text or "").rstrip("\n"),
        )
    frames = traceback.extract_tb(error.__traceback__)
    inside = [each for each in frames if Path(each.filename).is_relative_to(schemas)]
    if not inside:
        return None
    path, line = Path(inside[-1].filename), inside[-1].lineno or 1
    source = linecache.getline(str(path), line).rstrip("\n")
    before = source.encode()[: inside[-1].colno or 0]  # Python counts bytes
    return Location(places.shown(path), line, len(before.decode()) + 1, source)
