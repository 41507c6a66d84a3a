"""Infer the schema file of some data: of records of one kind, with keys."""

from __future__ import annotations

import ast
import keyword
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

from .. import findings
from ..atomic_write import write_whole
from ..config import schemas_for
from ..data.files import FilePath
from ..data.foreign import EXPECTED, NO_KEY, WITHOUT_FEATURE
from ..data.formatting import plural
from ..data.framing import NOT_RECORDS, Damage
from ..data.infer import (
    DOUBT,
    Drafted,
    Evidence,
    FileKeys,
    Reading,
    TableEvidence,
    class_name_of,
    draft_record,
    gather,
    groups_of,
    keys_by_split,
    shown_group,
    with_boxes,
    without_odd,
)
from ..data.infer.draft import with_commas
from ..data.layouts import Gap
from ..data.sources import Data, find_data
from ..data.tables import FORMATS, TableFiles, as_table, read_table, table_files
from ..documents import Entries, ShownAs, WithProperties
from ..runtime.cells.columns import WRITE_EXAMPLES, Columns
from ..runtime.shared.errors import DatasetError
from ..runtime.shared.tfrecord import MOST_RECORD_BYTES
from ..schema.source_map import class_definitions
from ..schema_source import schema_source, wrong_with
from ..spec.model import RecordSpec
from ..spec.names import is_package_name, snake_case
from ..spec.serial import from_data
from .refusing import refusal

SAMPLE = 10_000
"""So many records are read by default, spread over all files."""


@dataclass(frozen=True)
class Doubt:
    """A comment of a schema that its user has to decide upon.

    Attributes:
        line: its line, from 1.
        field: the field below it; the class, if it is above the class.
        text: what is doubtful.
    """

    line: int
    field: str
    text: str


@dataclass(frozen=True)
class InferredField:
    """A field of an inferred schema.

    Attributes:
        name: its name, with dots where it is nested.
        key: its key.
        kind: its kind, such as Scalar.
        role: input, target, weight or info.
        optional: whether records may lack it.
    """

    name: str
    key: str
    kind: str
    role: str
    optional: bool


@dataclass(frozen=True)
class Inferred:
    """A schema file that was written.

    Attributes:
        path: where.
        spec: the record that it declares; in JSON, the name of its class.
        doubts: the comments that the user has to decide upon.
        read: a description of what was read; "" if a manifest had the spec.
        records: how many records, or rows, were read.
        files: the files of the data.
        left_out: why keys are in no field, by key.
        lost: those of these keys that hold data.
        damages: the first places of each file at which no record could be read.
        damaged: how many such places there are.
        malformed: how many records are not a tf.train.Example.
        gaps: contradictions in the names of files.
        other_files: names of what else is in a directory without a manifest.
        foreign: what files hold whose records are no Examples, by their names.
        lacking: that the record has no target or no input, and what could be one; what
            the split `train` lacks.
        tfds: the directory of the TFDS dataset; "" for other data.
        table: the files of the table; None for records.
    """

    path: Path
    spec: Annotated[RecordSpec, ShownAs(attrgetter("class_name"), str)]
    doubts: tuple[Doubt, ...] = ()
    read: str = ""
    records: int = 0
    files: tuple[FilePath, ...] = ()
    left_out: Annotated[Mapping[str, str], Entries("key", "reason")] = field(
        default_factory=dict
    )
    lost: tuple[str, ...] = ()
    damages: tuple[Damage, ...] = ()
    damaged: int = 0
    malformed: int = 0
    gaps: tuple[Gap, ...] = ()
    other_files: tuple[str, ...] = ()
    foreign: Annotated[Mapping[str, str], Entries("file", "found")] = field(
        default_factory=dict
    )
    lacking: tuple[str, ...] = ()
    tfds: str = ""
    table: TableFiles | None = None
    __get_pydantic_core_schema__ = WithProperties("fields")

    @property
    def is_clean(self) -> bool:
        """Whether no file and no key with data is left out."""
        return not (self.foreign or self.lost)

    @property
    def fields(self) -> tuple[InferredField, ...]:
        """The fields of the record."""
        return tuple(
            InferredField(
                each.label, each.key, each.kind.kind, each.role, each.optional
            )
            for each in self.spec.fields
        )


def infer(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    name: str | None = None,
    split: str | None = None,
    limit: int | None = None,
    merge: bool = False,
    force: bool = False,
    max_record_bytes: int = MOST_RECORD_BYTES,
) -> Inferred:
    """Write the schema of data that has none: of records, or of the rows of a table.

    Code that is generated from it reads every record that was read, but for those of
    which a doubt says that they differ from nearly all others: in at most one record
    of a hundred. If a manifest has the spec that wrote the data, that spec is written.

    Args:
        data: a data directory, a glob, or a file.
        out: the schema file to write.
        name: the name of the class; None to derive it from the file's.
        split: only the files of this split.
        limit: the first records, or rows, of each split to read; 0 for all; None for
            SAMPLE of them, the first ones of each file.
        merge: declare one record of files that share few keys.
        force: overwrite the file.
        max_record_bytes: longer records are not read and are among the damages.

    Raises:
        SchemagenError: the data holds no records, or other ones; the file exists.
    """
    path = Path(out)
    _check_path(path, force=force)
    class_name = _checked_name(name, path)
    try:
        table = table_files(os.fspath(data), split)
        if table is not None:
            return _infer_table(table, path, class_name, limit)
        found = find_data(data, split)
        if found.problem:
            raise DatasetError(found.problem)
    except DatasetError as error:
        raise refusal(data, error) from None
    except OSError as error:
        raise refused(data, error.strerror or str(error), rule="SG441") from None
    written = _of_manifest(found)
    if written is not None:
        return _write_written(path, written, class_name if name else None)
    amount = (limit or None, SAMPLE if limit is None else None)
    reading = Reading(found.files, *amount, max_record_bytes, MOST_KEYS)
    evidence = gather(reading.batches())
    foreign = foreign_files(found, reading.files)
    check_evidence(found, reading, evidence)
    files = [file for file in reading.files if str(file.path) not in foreign]
    if not merge:
        check_groups(found, files)

    def again() -> Iterator[Columns]:
        return Reading(found.files, *amount, max_record_bytes).batches()

    evidence = without_odd(evidence, again)
    drafted = with_boxes(draft_record(evidence, class_name, files=files), again)
    check_drafted(found, drafted)
    read = _said(reading, limit)
    header = _header(read, reading.damaged, evidence.malformed)
    return Inferred(
        path,
        drafted.spec,
        _write_schema(path, drafted.spec, header, drafted.comments),
        read,
        reading.records,
        tuple(file.path for file in reading.files),
        drafted.left_out,
        tuple(key for key in drafted.left_out if _holds_data(evidence, key)),
        tuple(reading.damages),
        reading.damaged,
        evidence.malformed,
        found.gaps,
        found.other_files,
        foreign,
        drafted.lacking,
        found.tfds,
    )


def _infer_table(
    files: TableFiles, path: Path, class_name: str, limit: int | None
) -> Inferred:
    """Write the schema of a table in files."""
    rows = read_table(files, limit or None, SAMPLE if limit is None else None)
    drafted = _draft_table(
        rows.table, files.where, class_name, is_csv=files.format == "csv"
    )
    return Inferred(
        path,
        drafted.spec,
        _write_schema(path, drafted.spec, _header(rows.text), drafted.comments),
        rows.text,
        rows.table.num_rows,
        files.paths,
        lacking=drafted.lacking,
        table=files,
    )


def _draft_table(
    rows: Any, where: str, class_name: str, *, is_csv: bool = False
) -> Drafted:
    """Decide which record the rows of an Arrow table could be."""
    table = TableEvidence(rows, where, is_csv=is_csv)
    drafted = draft_record(
        table.evidence, class_name, columns=table.drafts(), alone=table.alone
    )
    table.check_paths({field.key: field.path for field in drafted.spec.fields})
    return drafted


@dataclass(frozen=True)
class InferredSchema:
    """The schema of a data frame, which `print` shows.

    Attributes:
        source: the text of the schema file.
        doubts: the comments in it that you have to decide upon.
    """

    source: str
    doubts: tuple[str, ...]

    def __str__(self) -> str:
        return self.source

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the schema file.

        Args:
            path: of the file, such as schemas/house.py.
            force: overwrite the file.

        Raises:
            SchemagenError: it cannot be a schema file, or it exists.
        """
        _check_path(Path(path), force=force)
        write_whole(Path(path), self.source)


def infer_schema(
    frame: Any, name: str, *, limit: int | None = SAMPLE
) -> InferredSchema:
    """Return the schema of a data frame, whose rows `write_dataset` then takes.

    Needs pyarrow, which the extra `tables` installs.

    Example:
        >>> found = schemagen.infer_schema(frame, "House")
        >>> found.write("schemas/house.py")

    Args:
        frame: a DataFrame of pandas or polars, or a table or record batch of Arrow.
        name: the name of the record's class.
        limit: look at so many rows only, the first ones; None or 0 for all.

    Raises:
        TypeError: `frame` is not a data frame, has no rows, or has a column of mixed values
            or of a type that Arrow does not have.
        DatasetError: pyarrow is not installed, or `limit` is negative.
        SchemagenError: a column that no field can hold, or a name that no class can have.
    """
    class_name = _checked_name(name, Path(name))
    rows = as_table(frame, limit)
    drafted = _draft_table(rows.table, "the frame", class_name)
    source = _source(drafted.spec, _header(rows.text), drafted.comments)
    return InferredSchema(source, drafted.doubts)


def _holds_data(evidence: Evidence, key: str) -> bool:
    data, steps = evidence.keys.get(key), evidence.steps.get(key)
    return bool(data and data.kinds) or bool(steps and steps.each.longest)


def _check_path(path: Path, *, force: bool) -> None:
    """Check that the path can be that of a new schema file."""
    if path.suffix != ".py" or not path.stem.isidentifier() or path.stem[0] == "_":
        raise refused(
            path,
            f"{path.name} is not the name of a schema file",
            expected="a name that Python can import, such as schemas/photos.py",
            advice="schema files are imported; those that begin with '_' are not "
            "searched for records",
        )
    if path.exists() and not force:
        raise refused(
            path,
            f"{path} exists",
            rule="SG404",
            advice="give --out another path, or overwrite it with --force",
        )


def _checked_name(name: str | None, path: Path) -> str:
    """Return the name of the class.

    Raises:
        SchemagenError: no class can have it, or no package of generated code.
    """
    class_name = class_name_of(path.stem) if name is None else name
    usable = class_name.isidentifier() and not keyword.iskeyword(class_name)
    if not usable or not is_package_name(snake_case(class_name)):
        raise refused(
            path,
            f"the record cannot be called {class_name!r}",
            rule="SG105",
            expected="an ASCII name such as PetPhoto that is not a Python keyword",
            advice="give another one by --name",
        )
    return class_name


def _of_manifest(data: Data) -> RecordSpec | None:
    """Return the spec that wrote the data, if a manifest has it for all files.

    Raises:
        SchemagenError: there are several.
    """
    specs = [file.spec for file in data.files if file.spec is not None]
    if len(specs) < len(data.files):
        return None
    distinct: list[RecordSpec] = []
    for written in specs:
        try:
            spec = replace(from_data(dict(written)), source="")
        except (ValueError, KeyError, TypeError) as error:
            raise refused(
                data.where,
                f"the spec in the manifest cannot be read: {error}",
                advice="another version of schemagen may have written it",
            ) from None
        if spec not in distinct:
            distinct.append(spec)
    if len(distinct) > 1:
        raise refused(
            data.where,
            f"its splits were written by {len(distinct)} different schemas",
            found=", ".join(sorted(data.splits)),
            expected="one schema",
            advice="name a split by --split",
        )
    return distinct[0] if distinct else None


def _write_written(path: Path, spec: RecordSpec, class_name: str | None) -> Inferred:
    """Write the schema that a manifest has."""
    if class_name is not None:
        spec = replace(spec, class_name=class_name, record=snake_case(class_name))
    header = "The schema that wrote this data, as its manifest has it."
    _write_schema(path, spec, header)
    return Inferred(path, spec)


def _said(reading: Reading, limit: int | None) -> str:
    """Describe what was read: 10,000 records, the first ones of each of 12 files."""
    every = len(reading.files)
    files = "a file" if every == 1 else f"{every:,} files"
    records = plural(reading.records, "record")
    if reading.whole:
        return f"{records} of {files}"
    if every == 1:
        return f"the first {records} of {files}"
    if limit:
        return f"{records} of {files}, the first {limit:,} of each split"
    read = sum(file.records > 0 for file in reading.files)
    if read < every:
        files = f"{read:,} of {files}"
    return f"{records}, the first ones of each of {files}"


def _header(read: str, damaged: int = 0, malformed: int = 0) -> str:
    """Return the docstring of the file."""
    paragraphs = [
        f"Inferred from {read}.",
        'Open questions are marked with "doubt:".',
    ]
    if damaged:
        paragraphs.append(f"Places that could not be read: {damaged:,}.")
    if malformed:
        paragraphs.append(f"Records that are not a tf.train.Example: {malformed:,}.")
    return "\n\n".join(paragraphs)


def _write_schema(
    path: Path,
    spec: RecordSpec,
    header: str,
    comments: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Doubt, ...]:
    """Write a schema file, and return its doubts.

    Raises:
        SchemagenError: another schema file of the project declares the record.
    """
    _check_only_one(path, spec)
    text = _source(spec, header, comments)
    write_whole(path, text)
    return doubts_in(text)


def _check_only_one(path: Path, spec: RecordSpec) -> None:
    """Check that no other schema file of a project declares a record of this name."""
    directory = path.resolve().parent
    schemas = schemas_for(directory)
    if not directory.is_relative_to(schemas):
        return
    for other in sorted(schemas.rglob("*.py")):
        if other == path.resolve():
            continue
        for name, found in class_definitions(other.read_text("utf-8", "replace")):
            is_record = any(
                ast.unparse(each).endswith("Record") for each in found.bases
            )
            if is_record and snake_case(name) == spec.record:
                shown = os.path.relpath(other)
                raise refused(
                    shown,
                    f"{shown} already declares {name}",
                    rule="SG104",
                    found=f"a second {spec.class_name} for {path}",
                    expected="one schema file for each record",
                    advice="give the new record another name by --name, or if the file "
                    f"declares no other record, overwrite it with --out {shown} --force",
                )


def _source(
    spec: RecordSpec, header: str, comments: Mapping[str, Sequence[str]] | None
) -> str:
    """Return the text of a schema file, which has to load and to declare the spec.

    Raises:
        RuntimeError: it does not, which is a bug of this program.
    """
    text = schema_source(spec, header=header, comments=comments)
    findings = wrong_with(text, spec)
    if findings:
        said = "\n".join(map(str, findings))
        raise RuntimeError(f"the inferred schema does not load:\n{said}\n{text}")
    return text


def doubts_in(text: str) -> tuple[Doubt, ...]:
    """Return the doubts of a schema file, in its order."""
    lines, found = text.split("\n"), []
    for number, line in enumerate(lines, 1):
        start, mark, said = line.partition(f"# {DOUBT}")
        if not mark or start.strip():
            continue
        more = []
        for other in lines[number:]:
            match = re.fullmatch(r"\s*#   (.*)", other)
            if match is None:
                break
            more.append(match[1])
        below = (other.strip() for other in lines[number:])
        code = next((other for other in below if other and other[0] != "#"), "")
        name = re.match(r"(?:class )?(\w+)", code)
        found.append(Doubt(number, name[1] if name else "", " ".join([said, *more])))
    return tuple(found)


MOST_KEYS = 2_000
"""More keys than this hold data that belongs in values."""

_MOST_MALFORMED = 0.5


refused = partial(findings.refused, rule="SG442")


def foreign_files(data: Data, files: Sequence[FileKeys]) -> dict[str, str]:
    """Return what the files hold whose records are no Examples.

    Raises:
        SchemagenError: no record of any file has a key.
    """
    read = [file for file in files if file.records]
    keyed = {str(file.path): file.scanned.tally.keyed for file in read}
    # Examples without a feature have no wrong values for a schema.
    wrong = {
        file: found.other
        for file, found in keyed.items()
        if found.other and not found.records
    }
    if keyed and not any(found.records for found in keyed.values()):
        first = next(iter(wrong.values()), WITHOUT_FEATURE)
        raise refused(
            data.where,
            NO_KEY,
            found=first,
            expected=EXPECTED,
            advice=WRITE_EXAMPLES,
        )
    return wrong


def check_evidence(data: Data, reading: Reading, evidence: Evidence) -> None:
    """Refuse data without records, and records that no schema declares."""
    where = data.where
    if not reading.records:
        seen = "nothing but empty files"
        advice = "`schemagen verify` reports what is wrong with each file"
        if reading.damages:
            damage = reading.damages[0]
            if damage.cause == NOT_RECORDS:
                advice = (
                    f"tables are read from files that end with {', '.join(FORMATS)}; of "
                    "others, pass a data frame to schemagen.infer_schema"
                )
            cause = f" ({damage.cause})" if damage.cause else ""
            seen = f"{damage.found}{cause} in {findings.printable(damage.file)}"
        raise refused(
            where,
            "no record can be read",
            found=seen,
            expected="a file with at least one record",
            advice=advice,
        )
    if evidence.malformed > _MOST_MALFORMED * reading.records:
        raise refused(
            where,
            f"{evidence.malformed:,} of {reading.records:,} records are not a "
            "tf.train.Example: they hold another message, or nothing",
            found=evidence.reason,
            expected="a tf.train.Example or SequenceExample",
            advice="schemagen reads no other protobufs; write their contents as Examples",
        )
    if reading.has_many_keys:
        raise refused(
            where,
            f"more than {MOST_KEYS:,} keys",
            found=f"keys such as {', '.join(map(ascii, sorted(reading.keys)[:3]))}",
            expected="keys that are the same in all records",
            advice="keys that hold data cannot be declared: write the data as values",
        )
    if 0 < evidence.sequences < evidence.records:
        raise refused(
            where,
            "the files hold messages of two types",
            found=f"{evidence.sequences:,} tf.train.SequenceExamples and "
            f"{evidence.records - evidence.sequences:,} tf.train.Examples",
            expected="one of them",
            advice="infer a schema of the files of each type",
        )


def check_groups(data: Data, files: Sequence[FileKeys]) -> None:
    """Refuse files of several kinds of records, or of one kind under several keys."""
    groups = groups_of(files)
    same = [" is ".join(map(repr, keys)) for keys in keys_by_split(files).values()]
    if same:
        raise refused(
            data.where,
            "the keys begin with the name of the split, so one field has several",
            found=with_commas(same),
            expected="one key for each field",
            advice="name the files of one split, and write the other splits again with "
            "its keys",
        )
    if len(groups) < 2:
        return
    raise refused(
        data.where,
        f"the files hold {len(groups)} kinds of records, which share few keys",
        found="; ".join(map(shown_group, groups)),
        expected="records of one kind",
        advice="name the files of one kind, or declare one record of all keys with "
        "--merge",
    )


def check_drafted(data: Data, drafted: Drafted) -> None:
    """Refuse records without a field that can be declared."""
    spec = drafted.spec
    lists = any(field.parts[0].in_list for field in spec.fields)
    if spec.fields and (lists or spec.message == "Example"):
        return
    reasons = [f"{key!a}: {reason}" for key, reason in drafted.left_out.items()]
    raise refused(
        data.where,
        "no field can be inferred from "
        + ("the feature lists" if spec.fields else "any of the keys"),
        found="; ".join(reasons[:3]) or "SequenceExamples without feature lists",
        expected="a key with values of one kind",
        advice="`schemagen inspect` shows what each key holds",
    )
