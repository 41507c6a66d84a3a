"""Importing: a source is read, drafted, checked, and written as a schema file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from ...atomic_write import write_whole
from ...findings import Finding, Location, SchemagenError, refuse
from ...schema_source import schema_source
from ...schema_source.checking import wrong_with
from ...spec.model import RecordSpec
from ...spec.names import snake_case
from .outcome import Imported, Missing, Outcome, Unreadable, shown

# Each is imported when it is asked for: they need what others do without.
_READERS = {
    "tfds": ("tfds", "import_tfds"),
    "tfmd": ("tfmd", "import_tfmd"),
    "feature-spec": ("feature_spec", "import_feature_spec"),
}
FORMS = tuple(_READERS)


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
        source: where that is: a path, or for "feature-spec" `file.py:NAME`.
        form: what it is, one of FORMS.
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
        raise SchemagenError(_refusals(found, source))
    spec = RecordSpec(
        record=snake_case(class_name),
        class_name=class_name,
        source=path.as_posix(),
        doc=found.doc,
        fields=found.fields,
        message=found.message,
    )
    if not spec.fields:
        raise refuse(
            Finding(
                Location(shown(source)),
                "SG461",
                "nothing in it can be imported",
                expected="at least one field",
            )
        )
    text = schema_source(spec, comments=_comments(found))
    wrong = wrong_with(text, spec)
    if wrong:
        raise SchemagenError(_moved(wrong, path))
    write_whole(path, text, path.as_posix())
    return Written(
        path=path,
        class_name=class_name,
        text=text,
        fields=len(spec.fields),
        doubts=tuple((shown(o.part), shown(o.remark)) for o in found.approximated),
        left_out=tuple((shown(o.part), _why(o)) for o in found.refused),
    )


def _class_name(stem: str) -> str:
    words = [word for word in stem.replace("-", "_").split("_") if word]
    return "".join(word[0].upper() + word[1:] for word in words)


def _check_target(path: Path, class_name: str, *, force: bool) -> None:
    """Refuse what could not be written before anything is read."""
    where = Location(path.as_posix())
    if path.suffix != ".py":
        raise refuse(
            Finding(where, "SG404", "a schema file ends in .py", found=path.name)
        )
    if not class_name.isidentifier() or class_name.startswith("_"):
        raise refuse(
            Finding(
                where,
                "SG105",
                f"no record can be called {shown(class_name)!r}",
                expected="a name such as PetPhoto",
                advice="give it one: --name PetPhoto",
            )
        )
    if path.exists() and not force:
        raise refuse(
            Finding(
                where,
                "SG404",
                f"{path.as_posix()} exists, and is yours",
                advice="choose another name, or write over it with --force",
            )
        )


def _read(source: str, form: str) -> Imported:
    module, function = _READERS[form]
    read: Callable[[str], Imported] = getattr(
        import_module(f".{module}", __package__), function
    )
    try:
        return read(source)
    except Unreadable as error:
        raise refuse(
            Finding(
                Location(shown(source)),
                "SG461",
                f"it cannot be imported: {shown(error.message)}",
                found=shown(error.found),
                expected=error.expected,
                advice=error.advice,
            )
        ) from None
    except Missing as error:
        raise refuse(
            Finding(
                Location(shown(source)),
                "SG407",
                f"{error.purpose} needs {error.package}, which is not installed",
                advice=error.advice,
            )
        ) from None


def _refusals(found: Imported, source: str) -> Iterator[Finding]:
    for outcome in found.refused:
        yield Finding(
            Location(shown(source)),
            "SG462",
            f"{shown(outcome.part)}: {outcome.row.becomes}",
            found=shown(outcome.remark),
            advice="--skip-refused leaves it out, with a comment in the schema",
        )


def _why(outcome: Outcome) -> str:
    found = f" ({shown(outcome.remark)})" if outcome.remark else ""
    return f"{outcome.row.becomes}{found}"


def _comments(found: Imported) -> dict[str, list[str]]:
    comments = {
        outcome.fields[0].name: [f"doubt: {outcome.remark}"]
        for outcome in found.approximated
    }
    left_out = [f"left out: {o.part}: {_why(o)}" for o in found.refused]
    return {"": left_out, **comments} if left_out else comments


def _moved(findings: tuple[Finding, ...], path: Path) -> Iterator[Finding]:
    """Say of findings that they are of the file that was not written."""
    for finding in findings:
        place = replace(finding.location, path=path.as_posix())
        yield replace(finding, location=place)
