"""Files of class names next to a schema file, one name a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..runtime.shared.errors import Problem


def path_problems(vocabulary: object) -> Iterator[Problem]:
    """Yield what is wrong with the path of a vocabulary, its file apart."""
    if vocabulary is None:
        return
    if not isinstance(vocabulary, str) or not vocabulary:
        yield Problem(f"vocabulary={vocabulary!r}", "a path such as 'names.txt'")
    elif Path(vocabulary).is_absolute():
        yield Problem(
            f"vocabulary={vocabulary!r}",
            "a path from the schema file's directory, the same on every machine",
        )


def read_vocabulary(vocabulary: str, directory: Path | None) -> tuple[str, ...]:
    """Read the names of classes, in the order of their ids.

    The file is UTF-8; lines end with LF or CRLF, the last one with or without. No
    other character ends a line, and none is taken off a name.

    Args:
        vocabulary: the file's path.
        directory: where that path begins: the directory of the schema file.

    Raises:
        Problem: no such file, another encoding, or a line that is no name of its own.
    """
    given = f"vocabulary={vocabulary!r}"
    if directory is None:
        raise Problem(f"{given} of a class that is in no file", "a schema file")
    path = directory / vocabulary
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        broken = error.object[: error.start].count(b"\n") + 1
        raise Problem(f"{given}: line {broken} is not UTF-8", "UTF-8 text") from None
    except (OSError, ValueError) as error:  # a path may have a null byte
        reason = getattr(error, "strerror", None) or str(error)
        raise Problem(
            f"{given}: {path}: {reason}",
            "a file of names, one a line",
            "the path begins at the directory of the schema file",
        ) from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise Problem(f"{given}: the file is empty", "a name a line")
    first: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            raise Problem(
                f"{given}: line {number} is empty",
                "a name a line: line n is the class n - 1",
            )
        if line in first:
            raise Problem(
                f"{given}: {line!r} in line {number} and in line {first[line]}",
                "each name once",
            )
        first[line] = number
    return tuple(lines)
