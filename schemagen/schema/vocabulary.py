"""Vocabularies: files that list the names of classes."""

from __future__ import annotations

from pathlib import Path

from ..runtime.shared.errors import Problem


def read_vocabulary(vocabulary: str, directory: Path | None) -> tuple[str, ...]:
    """Read the names of classes, in the order of their ids.

    The file is UTF-8; lines end with LF or CRLF, the last one with or without. No
    other character ends a line, and none is taken off a name.

    Args:
        vocabulary: the file's path.
        directory: where that path begins: the directory of the schema file.

    Raises:
        Problem: no such file, another encoding, or a line that is not a new name.
    """
    given = f"vocabulary={vocabulary!r}"
    if directory is None or Path(vocabulary).is_absolute():
        raise Problem(given, "a path from the directory of the schema file")
    path = directory / vocabulary
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:  # not UTF-8; a path may have a null byte
        reason = getattr(error, "strerror", None) or str(error)
        expected = "a UTF-8 file of names, one a line, next to the schema file"
        raise Problem(f"{given}: {path}: {reason}", expected) from None
    names: dict[str, None] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        name = line.removesuffix("\r")
        if not name.strip() or name in names:
            expected = "a name a line, each once: line n is the class n - 1"
            raise Problem(f"{given}: line {number} is {name!r}", expected)
        names[name] = None
    return tuple(names)
