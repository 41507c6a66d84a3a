"""Exporting: what is refused, and the files."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...atomic_write import write_whole
from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...progress import track
from ...runtime.codecs.compatibility import differences
from ...runtime.shared.errors import DatasetError
from ...runtime.storage import manifest
from ...runtime.storage.manifest import Split
from ...spec.model import RecordSpec
from ...spec.serial import to_data
from . import croissant, tfds, tfmd
from .fields import Notes


@dataclass(frozen=True)
class Exported:
    """The result of an export.

    Attributes:
        files: their paths.
        notes: what is approximated, a line for each field.
    """

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def export_spec(
    spec: RecordSpec,
    to: str,
    out: Path | str,
    *,
    data: Path | str | None = None,
    given: Mapping[str, str] | None = None,
    force: bool = False,
) -> Exported:
    """Describe a record for another tool.

    Args:
        spec: of the record.
        to: tfds, tfmd or croissant.
        out: the file to write; for tfds a directory, which may be `data` itself.
        data: the record's data directory; tfds requires it.
        given: properties of a Croissant description that only a person knows.
        force: overwrite existing files.

    Raises:
        SchemagenError: with all reasons, or the disk refuses.
    """
    given, out = given or {}, Path(out)
    directory = Path() if data is None else Path(data)
    if wrong := [*_wrong_request(spec, to, given, has_data=data is not None)]:
        raise SchemagenError(wrong)
    splits = {} if data is None else _splits(spec, to, directory)
    notes = Notes()
    try:
        files = _files(spec, to, out, directory, splits, given, notes)
        taken = [path for path in files if os.path.lexists(path) and not force]
        if taken:
            advice = "give another --out, or --force"
            raise SchemagenError(
                Finding(Location(str(path)), "SG454", f"{path} exists", advice=advice)
                for path in taken
            )
        _write(files)
    except OSError as error:
        words = f"{spec.class_name} cannot be exported: {error}"
        raise refuse(Finding(Location(str(out)), "SG454", words)) from None
    return Exported(tuple(files), notes.lines())


def _files(
    spec: RecordSpec,
    to: str,
    out: Path,
    data: Path,
    splits: Mapping[str, Split],
    given: Mapping[str, str],
    notes: Notes,
) -> dict[Path, str | Path]:
    """Return the contents of the files, and the shards that get another name."""
    if to == "tfmd":
        return {out: tfmd.schema_text(spec, notes)}
    if to == "croissant":
        described = croissant.description(spec, splits, data, given, notes)
        return {out: json.dumps(described, indent=2, ensure_ascii=False) + "\n"}
    files: dict[Path, str | Path] = {}
    for name, text in tfds.files(spec, splits, notes).items():
        files[out / name] = text
    if data.resolve() != out.resolve():
        for split in splits.values():
            files |= {out / s.file: data / s.file for s in split.shards}
    return files


def _wrong_request(
    spec: RecordSpec, to: str, given: Mapping[str, str], *, has_data: bool
) -> Iterator[Finding]:
    if spec.message != "Example" and to != "croissant":
        yield Finding(
            Location(spec.source),
            "SG451",
            f"{spec.class_name} cannot be exported: {to} has no tf.train.{spec.message}",
            "a SequenceRecord",
            "a Record",
        )
    if to == "tfds" and not has_data:
        words = "--to tfds describes data, and no data directory is given"
        advice = "name the data directory; --out may be the same directory"
        place, expected = Location("--data"), "--data DIR"
        yield Finding(place, "SG453", words, expected=expected, advice=advice)
    for name in given:
        if to != "croissant" or name not in croissant.PROPERTIES:
            words = f"{printable(name)!r} is not a property of an export to {to}"
            expected = f"--to croissant, and one of {', '.join(croissant.PROPERTIES)}"
            yield Finding(Location("--set"), "SG452", words, expected=expected)


def _splits(spec: RecordSpec, to: str, data: Path) -> Mapping[str, Split]:
    """Return the splits of a data directory.

    Raises:
        SchemagenError: the other tool would misread them.
    """
    try:
        found = manifest.load(data)
    except (DatasetError, OSError) as error:
        raise refuse(_wrong_data(data, str(error))) from None
    if found is None:
        raise refuse(_wrong_data(data, "manifest.json not found"))
    wrong = []
    for name, split in found.splits.items():
        for change in differences(found.spec_of(name), to_data(spec)):
            words = f"split {name!r} has another schema: {change.plain}"
            wrong.append(_wrong_data(data, words))
        if to == "tfds" and (split.compression or not re.fullmatch(r"\w+", name)):
            words = f"TFDS cannot read split {name!r}: it is compressed or misnamed"
            advice = "write it uncompressed, with a name of letters, digits and _"
            wrong.append(_wrong_data(data, words, advice))
    if wrong:
        raise SchemagenError(wrong)
    return found.splits


def _wrong_data(
    data: Path, words: str, advice: str = "name the data directory of this record"
) -> Finding:
    words = printable(f"{data}: {words}")
    return Finding(Location(str(data)), "SG453", words, advice=advice)


def _write(files: Mapping[Path, str | Path]) -> None:
    """Write texts, and link shards. TFDS finds no dataset before the first file exists."""
    for path, content in track([*files.items()][::-1], "writing", "file"):
        if isinstance(content, str):
            write_whole(path, content)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            _link(content, path)


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it if the disk has no links.

    A published shard never changes: another file replaces it.
    """
    target.unlink(missing_ok=True)
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)
