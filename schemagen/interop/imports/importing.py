"""Importing: a source is read, checked, and written as a schema file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...atomic_write import write_whole
from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...schema_source import schema_source, wrong_with
from ...spec.model import RecordSpec
from ...spec.names import snake_case
from .feature_spec import import_feature_spec
from .parts import ImportedField, ImportedRecord
from .tfds import import_tfds
from .tfmd import import_tfmd

_READERS: Mapping[str, Callable[[str], ImportedRecord]] = {
    "tfds": import_tfds,
    "tfmd": import_tfmd,
    "feature-spec": import_feature_spec,
}


@dataclass(frozen=True)
class ImportedSchema:
    """A schema file that was written.

    Attributes:
        path: the file.
        class_name: its record.
        text: its contents.
        fields: how many fields it declares.
        doubts: what a reader of the schema has to know, by the part of the source.
        left_out: why parts are not in it, by part.
    """

    path: Path
    class_name: str
    text: str
    fields: int
    doubts: tuple[tuple[str, str], ...]
    left_out: tuple[tuple[str, str], ...]


def import_schema(
    source: str,
    form: str,
    out: Path | str,
    *,
    name: str = "",
    force: bool = False,
) -> ImportedSchema:
    """Write a schema file for records that something else describes.

    Parts without a counterpart are left out, with a comment in the file.

    Args:
        source: a path; for "feature-spec" also `file.py:NAME`.
        form: "tfds", "tfmd" or "feature-spec".
        out: the schema file to write.
        name: the record's class name; made of the file's name if empty.
        force: overwrite an existing file.

    Raises:
        SchemagenError: the source cannot be read, no part of it has a counterpart, or
            the file cannot be written. Nothing is written.
    """
    path = Path(out)
    class_name = name or "".join(
        word[0].upper() + word[1:]
        for word in path.stem.replace("-", "_").split("_")
        if word
    )
    _check_target(path, class_name, force=force)
    found = _READERS[form](source)
    refused = [part for part in found.parts if not part.field]
    doubts = {
        part.field.name: part for part in found.parts if part.field and part.remark
    }
    place = Location(printable(source))
    if refused and not found.fields:
        raise SchemagenError(
            Finding(
                place,
                "SG462",
                f"{printable(part.name)}: {printable(part.reason)}",
                printable(part.remark),
            )
            for part in refused
        )
    if not found.fields:
        words = "nothing in it can be imported"
        raise refuse(Finding(place, "SG461", words, expected="one field"))
    spec = RecordSpec(
        record=snake_case(class_name),
        class_name=class_name,
        source=path.as_posix(),
        doc=found.doc,
        fields=found.fields,
        message=found.message,
    )
    comments = {name: [f"doubt: {part.remark}"] for name, part in doubts.items()}
    if refused:
        comments[""] = [f"left out: {part.name}: {_why(part)}" for part in refused]
    text = schema_source(spec, comments=comments)
    if wrong := wrong_with(text, spec):
        raise SchemagenError(
            replace(
                each,
                location=Location(spec.source),
                message=printable(each.message),
                found=printable(each.found),
            )
            for each in wrong
        )
    write_whole(path, text, path.as_posix())
    return ImportedSchema(
        path=path,
        class_name=class_name,
        text=text,
        fields=len(spec.fields),
        doubts=tuple((printable(p.name), printable(p.remark)) for p in doubts.values()),
        left_out=tuple((printable(p.name), _why(p)) for p in refused),
    )


def _check_target(path: Path, class_name: str, *, force: bool) -> None:
    """Refuse a file that could not be written, before anything is read."""
    rule, shown, advice = "SG404", path.as_posix(), "choose another --out"
    if path.suffix != ".py":
        message = f"{shown} is not a Python file"
    elif not class_name.isidentifier() or class_name.startswith("_"):
        rule, advice = "SG105", "give it one: --name PetPhoto"
        message = f"{printable(class_name)!r} is not a name of a record"
    elif path.exists() and not force:
        message, advice = f"{shown} already exists", "--force overwrites it"
    else:
        return
    raise refuse(Finding(Location(shown), rule, message, advice=advice))


def _why(part: ImportedField) -> str:
    found = f" ({part.remark})" if part.remark else ""
    return printable(f"{part.reason}{found}")
