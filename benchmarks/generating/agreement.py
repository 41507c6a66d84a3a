"""Every way has generated code for every field of every record."""

from __future__ import annotations

import re
from pathlib import Path

from ..measure import Different
from .schemas import fields_of, record_name

# protoc's Python holds the names in a literal of bytes, partly as escapes.
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")


def see_all_fields(way: str, output: Path, count: int) -> None:
    """Look for the fields of so many records in the Python files named after them.

    Raises:
        Different: a record has no file, or a field is not in it.
    """
    texts: dict[str, str] = {}
    for path in sorted(output.rglob("*.py")):
        # Ours is a package for a record, protoc's module is called photo0000_pb2.
        top = path.relative_to(output).parts[0]
        record = top.removesuffix(".py").removesuffix("_pb2")
        text = _ESCAPE.sub(_escaped, path.read_text(encoding="utf-8"))
        texts[record] = texts.get(record, "") + text
    for number in range(count):
        record = record_name(number)
        for field in fields_of(number):
            if field.name not in texts.get(record, ""):
                raise Different(f"{way}: {record} is without {field.name!r}")


def bytes_of(output: Path) -> int:
    """Return how much is in a directory, bytecode left out."""
    paths = [path for path in output.rglob("*") if "__pycache__" not in path.parts]
    return sum(path.stat().st_size for path in paths if path.is_file())


def _escaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16))
