"""A schema that holds one text wherever a schema can hold text."""

from __future__ import annotations

from pathlib import Path

from .hard_texts import FLAG, INJECTIONS

# What ends a script of a page, and commands for terminals.
FOREIGN = (
    "</script><script>canary()</script>",
    "\x1b]0;title\x07\x1b[2J\x9b31m\u202eend\\",
)

# Of the injections one of each sort; test_hard_texts.py has them all.
HOSTILE = (
    *INJECTIONS[:3],
    *INJECTIONS[6:8],
    *INJECTIONS[9:14],
    INJECTIONS[16],
    *FOREIGN,
)
HARMLESS = "harmless"

_IMPORTS = """\
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from schemagen import (
    Audio, Image, Images, Label, Mask, MultiLabel, Ragged, Record, Scalar,
    SequenceRecord, Sparse, Steps, Tensor, Text, VarLen, Vector, constants,
)

CONSTANTS = constants(__file__)


def escaped(text):
    return text.replace("{", "{{").replace("}", "}}")
"""

_RECORDS = """
DOC = Field(description={text})

class Flat{name}(Record, reserved=({text},)):
    __doc__ = {text}

    image: Annotated[np.ndarray, Image((None, None, None), resize=(2, 2), key={text} + "a", height_key={text} + "b", width_key={text} + "c", channels_key={text} + "d"), DOC]
    scan: Annotated[np.ndarray | None, Image((2, 2, 1), key={text} + "e", format_key={text} + "f", format_text={text}), DOC] = None
    images: Annotated[list[bytes], Images((2, 2, 3), encoding="png", key={text} + "g", group={text}), DOC]
    stills: Annotated[list[bytes], Images((2, 2, 3), encoding="png", keys=escaped({text}) + "H{{}}", count=2), DOC]
    sound: Annotated[bytes, Audio(8000, key={text} + "H"), DOC]
    label: Annotated[int, Label(classes=({text}, "other"), renamed={{{text} + "x": "other"}}, key={text} + "h"), DOC]
    named: Annotated[int | None, Label(classes=({text}, "other"), stored="text", role="info", key={text} + "i"), DOC] = 0
    listed: Annotated[int, Label(vocabulary="{name}.txt", role="info", key={text} + "j"), DOC]
    tags: Annotated[list[int], MultiLabel(classes=({text}, "other"), renamed={{{text} + "x": "other"}}, key={text} + "k"), DOC]
    grid: Annotated[Any, Sparse((4, 4), index_key=({text} + "l", {text} + "m"), key={text} + "n"), DOC]
    words: Annotated[list[str], VarLen("string", padding_value={text}, group={text}, key={text} + "o"), DOC]
    classes: Annotated[list[str], VarLen("int64", classes=({text}, "other"), renamed={{{text} + "x": "other"}}, key={text} + "G"), DOC]
    filled: Annotated[list[str] | None, VarLen("string", padding_value={text}, group={text}, key={text} + "p"), DOC] = None
    pairs: Annotated[list[str] | None, VarLen("string", max_length=2, pad_on_disk=True, padding_value={text}, key={text} + "F"), DOC] = None
    lists: Annotated[list[list[str]], Ragged("string", row_lengths_key={text} + "q", padding_value={text}, ragged=False, group={text}, key={text} + "r"), DOC]
    point: Annotated[np.ndarray, Vector((2,), key={text} + "s"), DOC]
    mask: Annotated[np.ndarray, Mask((None, None), classes=({text}, "other"), renamed={{{text} + "x": "other"}}, resize=(2, 2), height_key={text} + "t", width_key={text} + "u", format_key={text} + "v", key={text} + "w"), DOC]
    blob: Annotated[bytes, Scalar("bytes", key={text} + "x"), DOC] = {text}.encode()
    tensor: Annotated[np.ndarray, Tensor((None, 2), shape_key={text} + "y", key={text} + "z"), DOC]
    sized: Annotated[np.ndarray, Tensor((None, None), shape_key=({text} + "A", {text} + "B"), key={text} + "C"), DOC]
    note: Annotated[str, Text(key={text} + "D"), DOC] = {text}
    constant: Annotated[str, Text(key=CONSTANTS["{name}"]), DOC]


class Stepped{name}(SequenceRecord):
    __doc__ = {text}

    frames: Annotated[list[str], Steps(Text(), padding_value={text}, group={text}, key={text} + "a"), DOC]
    kinds: Annotated[list[int], Steps(Label(classes=({text}, "other")), group={text}, key={text} + "b"), DOC]
    speaker: Annotated[str, Text(key={text} + "c"), DOC]
"""

_SETTINGS = """\
[tool.schemagen]
schemas = "schemas"
output = "{package}"

[tool.schemagen.constants]
"""


def write_hostile_project(root: Path, package: str, source: str) -> dict[str, str]:
    """Write a project with two records for each text, and do not generate it.

    Args:
        root: the project's directory.
        package: the name of the output package.
        source: the schema file's name without its ending.

    Returns:
        The text of each pair, by the end of the records' names.
    """
    texts = {f"{number:03}": text for number, text in enumerate((HARMLESS, *HOSTILE))}
    (root / "schemas").mkdir(parents=True)
    settings, parts = [_SETTINGS.format(package=package)], [_IMPORTS]
    for name, text in texts.items():
        parts.append(_RECORDS.format(name=name, text=ascii(text)))
        settings.append(f'{name} = "{_toml(text)}E"\n')
        line = text.replace("\r", " ").replace("\n", " ")
        (root / "schemas" / f"{name}.txt").write_text(
            f"{line}\nother\n", encoding="utf-8"
        )
    (root / "pyproject.toml").write_text("".join(settings), encoding="utf-8")
    schema = root / "schemas" / f"{source}.py"
    schema.write_text("".join(parts), encoding="utf-8")
    return texts


def _toml(text: str) -> str:
    """Write text as the inside of a TOML string."""
    return "".join(f"\\U{ord(character):08x}" for character in text)


__all__ = ["FLAG", "HARMLESS", "HOSTILE", "write_hostile_project"]
