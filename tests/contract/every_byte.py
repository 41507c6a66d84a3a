"""Generate the random records, write random rows, and print a hash of every byte.

Run as `python -m contract.every_byte DIRECTORY`, with the project to be made there.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from .generated_records import Generated, generate_records, importable

_ROWS = 5


def serialized(generated: Generated) -> list[str]:
    """Return the bytes of some rows, in hexadecimal."""
    serialize = generated.serializer.serialize
    return [serialize(**row).hex() for row in generated.samples(_ROWS)]


def every_byte(root: Path) -> dict[str, list[str]]:
    """Return the rows of each record and the hash of each generated file."""
    with importable(root):
        records = generate_records(root, "output")
        found = {each.case.class_name: serialized(each) for each in records}
    for path in sorted((root / "output").rglob("*")):
        if path.is_file() and path.parent.name != "__pycache__":
            name = path.relative_to(root).as_posix()
            found[name] = [hashlib.sha256(path.read_bytes()).hexdigest()]
    return found


if __name__ == "__main__":
    found = every_byte(Path(sys.argv[1]))
    json.dump({"hash": hash("schemagen"), "found": found}, sys.stdout)
