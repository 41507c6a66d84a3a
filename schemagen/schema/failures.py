"""What a schema file raises, as a finding at its place."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from .. import schema
from ..findings import Finding, Location
from ..kinds.parameters import Parameters, below
from ..runtime.shared.errors import did_you_mean
from .source_map import SourceMap

# What Python says of a keyword that a class does not take.
_UNKNOWN_PARAMETER = re.compile(
    r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'"
)
# What Python says of a name that schemagen does not have.
_UNKNOWN_NAME = re.compile(
    r"(?:cannot import name|module 'schemagen' has no attribute) '(\w+)'"
    r"(?: from 'schemagen' .*)?"
)
_NAMES = (*schema.__all__, "constants")


class ProcessEndError(BaseException):
    """A schema tried to end the process by `os._exit`, which no caller could notice.

    It is no Exception, so that code which goes on after any error does not hide it.
    """


class GeneratedImportError(Exception):
    """A schema tried to import what is generated from it.

    It is no ImportError, so that code which does without a module that is not there
    does not hide it.
    """


def load_failure(
    error: BaseException, path: Path, schemas: Path, places: SourceMap, output: str
) -> Finding:
    """Return the finding for an error.

    Args:
        error: what the import of a schema file raised.
        path: the file.
        schemas: the directory of schema files.
        places: finds classes in files.
        output: the directory of generated code, for messages.
    """
    location = _place_of(error, schemas, places) or Location(places.shown(path))
    if isinstance(error, GeneratedImportError):
        return Finding(
            location,
            "SG102",
            "a schema imports generated code",
            found=str(error),
            expected=f"schemas that do not need {output}/",
            advice="move what they share into a module of its own",
        )
    if isinstance(error, (ProcessEndError, SystemExit)):
        return Finding(
            location,
            "SG101",
            "the schema file does not load: it ends the process",
            found=_text_of(error),
            expected="a module that can be imported",
            advice='take the call out, or move it below `if __name__ == "__main__":`',
        )
    said = _text_of(error)
    name = _UNKNOWN_NAME.fullmatch(said)
    if name:
        place = places.place_of_name(location, name[1])
        return _unknown("schemagen has no", name[1], _NAMES, place)
    parameter = _UNKNOWN_PARAMETER.match(said)
    known = _parameters_of(parameter[1]) if parameter else ()
    if parameter and known:
        return _unknown(
            f"{parameter[1]} has no parameter", parameter[2], known, location
        )
    kind = type(error).__name__
    text = error.msg if isinstance(error, SyntaxError) else _one_line(said)
    return Finding(
        location,
        "SG101",
        f"the schema file does not load: {kind}: {text}".rstrip(": "),
        advice="correct the file; importing it with python shows the whole traceback",
    )


def failure_in_schemas(
    error: BaseException, root: Path, schemas: str, output: str
) -> Finding | None:
    """Return the finding for an error that the code of a schema raised.

    Reading a record calls such code too: the `__repr__` of a default, say.

    Args:
        error: what was raised after the schema files were imported.
        root: the project's directory.
        schemas: the directory of schema files, relative to it.
        output: the directory of generated code, for messages.

    Returns:
        None if the error was raised elsewhere.
    """
    *_, (path, _, _) = ((Path(), 0, 0), *_frames(error.__traceback__))
    if not path.is_relative_to(root / schemas):
        return None
    return load_failure(error, path, root / schemas, SourceMap(root), output)


def _unknown(words: str, name: str, known: Sequence[str], place: Location) -> Finding:
    """Return the finding for a name that schemagen, or one of its kinds, does not have."""
    return Finding(
        place,
        "SG101",
        f"the schema file does not load: {words} {name!r}",
        found=name,
        expected=f"one of {', '.join(known)}",
        advice=did_you_mean(name, known) or "use one of these",
    )


def _parameters_of(kind: str) -> tuple[str, ...]:
    """Return the parameters of a kind, Augment or Nested by its name; none of others."""
    found = next((cls for cls in below(Parameters) if cls.__name__ == kind), None)
    return tuple(inspect.signature(found).parameters) if found else ()


def _text_of(error: BaseException) -> str:
    """Return an error's text; of one that raises when it is asked for it, which."""
    try:
        if isinstance(error, SystemExit):
            return f"SystemExit({error.code!r})"
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as further:
        return f"(its __str__ raises {type(further).__name__})"


def _one_line(text: str) -> str:
    """Return an error's text without line breaks and without pydantic's link."""
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
    inside = [
        (path, line, offset)
        for path, line, offset in _frames(error.__traceback__)
        if path.is_relative_to(schemas)
    ]
    if not inside:
        return None
    path, line, offset = inside[-1]
    # Pydantic makes a class as a whole and names what is wrong in its message.
    for word in re.findall(r"[`'](\w+)[`']", _text_of(error)):
        place = places.place_of_word(path, line, word)
        if place is not None:
            return place
    return _location(path, line, offset, places)


def _frames(trace: TracebackType | None) -> Iterator[tuple[Path, int, int]]:
    """Yield file, line and offset in the line of a traceback's frames."""
    while trace is not None:
        code = trace.tb_frame.f_code
        _, _, offset, _ = list(code.co_positions())[trace.tb_lasti // 2]
        yield Path(code.co_filename), trace.tb_lineno, offset or 0
        trace = trace.tb_next


def _location(path: Path, line: int, offset: int, places: SourceMap) -> Location:
    """Return a place whose offset is counted in bytes, as Python does."""
    try:
        text = path.read_text(encoding="utf-8").split("\n")[line - 1]
    except (OSError, ValueError, IndexError):
        return Location(places.shown(path), line)
    column = len(text.encode()[:offset].decode(errors="ignore")) + 1
    return Location(places.shown(path), line, column, text)
