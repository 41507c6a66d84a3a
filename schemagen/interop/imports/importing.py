"""Importing: a source is read, drafted, checked, and written as a schema file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...atomic_write import write_whole
from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...schema_source import schema_source
from ...schema_source.checking import wrong_with
from ...spec.model import RecordSpec
from ...spec.names import snake_case
from .feature_spec import import_feature_spec
from .outcome import Imported, Outcome
from .tfds import import_tfds
from .tfmd import import_tfmd

_READERS: Mapping[str, Callable[[str], Imported]] = {
    "tfds": import_tfds,
    "tfmd": import_tfmd,
    "feature-spec": import_feature_spec,
}


@dataclass(frozen=True)
class Written:
    """A schema file that was written.

    Attributes:
        path: the file.
        class_name: its record.
        text: what stands in it.
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
    skip_refused: bool = False,
) -> Written:
    """Write a schema file for records that something else describes.

    Args:
        source: where that is: a path, or for "feature-spec" `file.py`, `file.py:NAME`
            or `package.module:NAME`.
        form: what it is, "tfds", "tfmd" or "feature-spec".
        out: the schema file to write.
        name: the record's class name; made of the file's name if empty.
        force: write over a file that is there.
        skip_refused: leave out what has no counterpart, and say so in a comment.

    Raises:
        SchemagenError: the source cannot be read, parts of it have no counterpart, or
            the file cannot be written. Then nothing is.
    """
    path = Path(out)
    class_name = name or _class_name(path.stem)
    _check_target(path, class_name, force=force)
    found = _read(source, form)
    if found.refused and not skip_refused:
        raise SchemagenError(
            Finding(
                Location(printable(source)),
                "SG462",
                f"{printable(outcome.part)}: {outcome.reason}",
                found=printable(outcome.remark),
                advice="--skip-refused leaves it out, with a comment in the schema",
            )
            for outcome in found.refused
        )
    spec = RecordSpec(
        record=snake_case(class_name),
        class_name=class_name,
        source=path.as_posix(),
        doc=found.doc,
        fields=found.fields,
        message=found.message,
    )
    if not spec.fields:
        place, words = Location(printable(source)), "nothing in it can be imported"
        raise refuse(Finding(place, "SG461", words, expected="at least one field"))
    text = schema_source(spec, comments=_comments(found))
    wrong = wrong_with(text, spec)
    if wrong:
        raise _placed(wrong, path.as_posix())
    write_whole(path, text, path.as_posix())
    return Written(
        path=path,
        class_name=class_name,
        text=text,
        fields=len(spec.fields),
        doubts=tuple(
            (printable(o.part), printable(o.remark)) for o in found.approximated
        ),
        left_out=tuple((printable(o.part), _why(o)) for o in found.refused),
    )


def _class_name(stem: str) -> str:
    words = [word for word in stem.replace("-", "_").split("_") if word]
    return "".join(word[0].upper() + word[1:] for word in words)


def _check_target(path: Path, class_name: str, *, force: bool) -> None:
    """Refuse what could not be written before anything is read."""
    where = Location(path.as_posix())
    if path.suffix != ".py":
        finding = Finding(where, "SG404", "a schema file ends in .py", found=path.name)
    elif not class_name.isidentifier() or class_name.startswith("_"):
        finding = Finding(
            where,
            "SG105",
            f"no record can be called {printable(class_name)!r}",
            expected="a name such as PetPhoto",
            advice="give it one: --name PetPhoto",
        )
    elif path.exists() and not force:
        finding = Finding(
            where,
            "SG404",
            f"{path.as_posix()} exists, and is yours",
            advice="choose another name, or write over it with --force",
        )
    else:
        return
    raise refuse(finding)


def _read(source: str, form: str) -> Imported:
    try:
        return _READERS[form](source)
    except SchemagenError as error:
        if all(finding.location.path for finding in error.findings):
            raise
        raise _placed(error.findings, printable(source)) from None


def _placed(findings: Iterable[Finding], path: str) -> SchemagenError:
    """Return the error for findings of another file, or of none."""
    return SchemagenError(
        replace(
            finding,
            location=replace(finding.location, path=path),
            message=printable(finding.message),
            found=printable(finding.found),
        )
        for finding in findings
    )


def _why(outcome: Outcome) -> str:
    found = f" ({printable(outcome.remark)})" if outcome.remark else ""
    return f"{outcome.reason}{found}"


def _comments(found: Imported) -> dict[str, list[str]]:
    comments = {
        outcome.fields[0].name: [f"doubt: {outcome.remark}"]
        for outcome in found.approximated
    }
    left_out = [f"left out: {o.part}: {_why(o)}" for o in found.refused]
    return {"": left_out, **comments} if left_out else comments
