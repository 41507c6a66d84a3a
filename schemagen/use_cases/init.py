"""Starting: what `init` writes once, for its user to keep and change."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .. import git
from ..atomic_write import write_whole
from ..codegen.record_view import record_package
from ..codegen.render import render_training
from ..codegen.templates import templates_directory
from ..config import FILE_NAME, Project, find_project, read_settings
from ..findings import refused
from .generate import load_specs, spec_of
from .templates import templates_of

_TRAINING = "train.py"

_TABLE = """[tool.schemagen]
schemas = "schemas"    # where records are declared
output = "generated"   # where their code is written; commit both
"""


def init(directory: Path | str = ".") -> tuple[str, ...]:
    """Make a directory a project: settings, a schema to start from, git attributes.

    What is there is kept: the settings are added to a pyproject.toml that exists, and
    to a .gitattributes what it does not say about generated files; no schema is written
    where there are some. In a project only the .gitattributes is seen to.

    Returns:
        The files that are written, relative to the directory.

    Raises:
        SchemagenError: there is nothing to do, or a file cannot be read or written.
    """
    root = Path(directory)
    settings = root / FILE_NAME
    text, table = read_settings(settings) if settings.exists() else ("", None)
    output = find_project(root).settings.output if table is not None else "generated"
    said = _text_of(root / git.ATTRIBUTES)
    to_say = git.with_attributes(said, output)
    if table is not None and to_say == said:
        raise refused(
            FILE_NAME,
            f"{FILE_NAME} already has [tool.schemagen]",
            rule="SG404",
            advice="run `schemagen generate`; there is nothing to set up",
        )
    written = []
    if table is None:
        written = [FILE_NAME, *_start(root, text)]
    if to_say != said:
        data = to_say.encode(errors="surrogateescape")
        _write(root, git.ATTRIBUTES, data)
        written.append(git.ATTRIBUTES)
    return tuple(written)


def _start(root: Path, text: str) -> list[str]:
    """Add settings to the text of a pyproject.toml; return the schemas written."""
    written = []
    name = "schemas/pet_photo.py"
    if not any((root / name).parent.glob("*.py")):
        _write(root, name, (templates_directory() / "init/pet_photo.py").read_bytes())
        written.append(name)
    line_end = "\r\n" if "\r\n" in text else "\n"
    separator = "\n" if text.endswith("\n") else "\n\n" if text else ""
    added = (separator + _TABLE).replace("\n", line_end)
    _write(root, FILE_NAME, text.encode() + added.encode())
    return written


def _write(root: Path, name: str, data: bytes) -> None:
    """Write a file of the project; where it is a symbolic link, what it leads to."""
    write_whole((root / name).resolve(), data, name)


def _text_of(path: Path) -> str:
    """Return a file's text with its line ends, empty if there is none.

    Raises:
        SchemagenError: it cannot be read.
    """
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise refused(
            path.name,
            f"{path.name} cannot be read: {error.strerror or error}",
            rule="SG403",
            advice="make it a readable file and run the command again",
        ) from None
    return data.decode(errors="surrogateescape")


@dataclass(frozen=True)
class Training:
    """A program that was written.

    Attributes:
        path: the file, relative to the project.
        project: the project.
        package: the package of the record's generated code.
        record: the record's name.
    """

    path: str
    project: Project
    package: str
    record: str


def init_training(record: str, directory: Path | str = ".") -> Training:
    """Write `train.py`, which trains a record's model, for its user to keep and change.

    Args:
        record: a record's name or class name. Its code need not be generated yet.
        directory: in the project.

    Returns:
        The file that is written.

    Raises:
        SchemagenError: the schemas cannot be read, the record does not exist, it has no
            target, or there is a `train.py`.
    """
    project = find_project(Path(directory))
    spec = spec_of(record, load_specs(project), project)
    if not spec.with_role("target"):
        raise refused(
            spec.source,
            f"{spec.class_name} has no target, and so no loss to train with",
            rule="SG406",
            expected="a field that the model learns to predict, such as a Label",
            advice='give a field role="target", or write your own '
            "program around build_model()",
        )
    text = render_training(spec, project.settings.output, templates_of(project))
    path = project.root / _TRAINING
    if os.path.lexists(path):
        raise refused(
            _TRAINING,
            f"{_TRAINING} exists",
            rule="SG404",
            advice="rename it first, to get a new one",
        )
    write_whole(path, text, _TRAINING)
    package = record_package(project.settings.output, spec.record)
    return Training(_TRAINING, project, package, spec.record)
