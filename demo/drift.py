"""A mistake that schemagen catches: sorting the class names of the pets by size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

_CLASSES = '("beagle", "pug", "tabby")'
_SORTED = '("pug", "beagle", "tabby")'

_READER = (
    "from generated.pet_photo.pipeline import make_dataset\n"
    "make_dataset('data', 'train', batch_size=32)\n"
)


def caught(project: Path, run: Callable[[list[str]], str]) -> Iterator[tuple[str, str]]:
    """Make the mistake in a project, yield commands and their output, and undo it.

    Args:
        project: the directory of the project, with data.
        run: runs Python in this directory, and returns what it prints.
    """
    schema = project / "schemas" / "pet_photo.py"
    text = schema.read_text("utf-8")
    schema.write_text(text.replace(_CLASSES, _SORTED), "utf-8")
    breaking = ["breaking", "--against", "data"]
    for command in (["check"], breaking, ["generate"]):
        said = run(["-m", "schemagen", *command])
        if command != ["generate"]:
            yield f"schemagen {' '.join(command)}", said
    _, _, error = run(["-c", _READER]).rpartition("SchemaMismatchError: ")
    yield "schemagen generate; python train.py", error
    schema.write_text(text, "utf-8")
    run(["-m", "schemagen", "generate"])
