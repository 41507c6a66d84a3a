"""Exporting: all refusals at once, and the files, all or none."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...progress import track
from ...runtime.codecs.compatibility import differences
from ...runtime.shared.errors import DatasetError, did_you_mean
from ...runtime.storage import manifest
from ...runtime.storage.manifest import Manifest, Split
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
        missing: properties that a validator recommends and that are not given.
    """

    files: tuple[Path, ...]
    notes: tuple[str, ...]
    missing: tuple[str, ...] = ()


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
        SchemagenError: with all reasons; nothing is written.
    """
    given, out = given or {}, Path(out)
    directory = Path() if data is None else Path(data)
    found: Manifest | None = None
    findings = [*_wrong_request(spec, to, given, has_data=data is not None)]
    if data is not None:
        try:
            found = manifest.load(directory)
            findings += _wrong_data(spec, to, directory, found)
        except (DatasetError, OSError) as error:
            findings.append(_wrong_at(directory, str(error)))
    if findings:
        raise SchemagenError(findings)
    notes = Notes()
    splits = {} if found is None else found.splits
    files = _files(spec, to, out, directory, splits, given, notes)
    if blocked := {each for path in files for each in _blocked(path, force=force)}:
        raise SchemagenError(blocked)
    _write(files)
    known = {"description": spec.doc, **given}
    missing = tuple(name for name in croissant.RECOMMENDED if not known.get(name))
    return Exported(tuple(files), notes.lines(), missing if to == "croissant" else ())


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
    shards = {
        shard.file: data / shard.file
        for split in splits.values()
        for shard in split.shards
    }
    if to == "tfmd":
        return {out: tfmd.schema_text(spec, notes)}
    if to == "croissant":
        items = track(shards.items(), "hashing", "file")
        sums = {name: _sha256(path) for name, path in items}
        described = croissant.description(spec, splits, sums, given, notes)
        return {out: json.dumps(described, indent=2, ensure_ascii=False) + "\n"}
    texts = tfds.files(spec, splits, notes)
    if data.resolve() == out.resolve():
        shards = {}
    contents: dict[str, str | Path] = {**texts, **shards}
    return {out / name: content for name, content in contents.items()}


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
            yield Finding(
                Location("--set"),
                "SG452",
                f"{printable(name)!r} is not a property of an export to {to}",
                printable(name),
                f"--to croissant, and one of {', '.join(croissant.PROPERTIES)}",
                did_you_mean(name, croissant.PROPERTIES) or "leave out --set",
            )


def _wrong_data(
    spec: RecordSpec, to: str, data: Path, found: Manifest | None
) -> Iterator[Finding]:
    """Yield why a data directory cannot be described."""
    if found is None:
        yield _wrong_at(data, "manifest.json not found")
        return
    for name, split in found.splits.items():
        for change in differences(found.spec_of(name), to_data(spec)):
            words = f"split {name!r} has another schema: {change.plain}"
            yield _wrong_at(data, words, advice=change.hint)
        for shard in split.shards:
            path = data / shard.file
            if not path.is_file() or path.stat().st_size != shard.bytes:
                words = f"{shard.file} is missing or has another size"
                expected, advice = f"{shard.bytes} bytes", "run `schemagen verify`"
                yield _wrong_at(data, words, expected=expected, advice=advice)
        if to == "tfds":
            yield from _unreadable_by_tfds(data, name, split)


def _unreadable_by_tfds(data: Path, name: str, split: Split) -> Iterator[Finding]:
    count = len(split.shards)
    names = [f"{name}-{at:05d}-of-{count:05d}.tfrecord" for at in range(count)]
    found = [shard.file for shard in split.shards]
    if split.compression or found != names or not re.fullmatch(r"\w+", name):
        yield _wrong_at(
            data,
            f"TFDS cannot read split {name!r}",
            found=f"{split.compression or 'no'} compression, {', '.join(found[:1])}",
            expected=f"no compression, a name of letters, digits and _, {names[:1]}",
            advice="write the split again, uncompressed and under such a name",
        )


def _wrong_at(
    data: Path, words: str, found: str = "", expected: str = "", advice: str = ""
) -> Finding:
    advice = advice or "name the data directory of this record"
    words, found, expected = map(printable, (f"{data}: {words}", found, expected))
    return Finding(Location(str(data)), "SG453", words, found, expected, advice)


def _blocked(path: Path, *, force: bool) -> Iterator[Finding]:
    """Yield why a file cannot be written, if something exists in its place."""
    place = path.parent if path.parent.is_file() else path
    wrong_sort = place.is_dir() or place != path
    if wrong_sort or (os.path.lexists(path) and not force):
        advice = "give another --out" + ("" if wrong_sort else ", or --force")
        words = f"{place} already exists"
        found = "a directory" if place.is_dir() else "a file"
        yield Finding(Location(str(place)), "SG454", words, found, advice=advice)


def _write(files: Mapping[Path, str | Path]) -> None:
    """Write all files into a hidden directory, and move them when all are complete.

    The first ones come last: TFDS finds no dataset before they exist.

    Raises:
        SchemagenError: the disk refuses. Nothing new is left.
    """
    path = next(iter(files))
    out = path.parent
    existing = next(each for each in (out, *out.parents) if each.exists())
    try:
        with TemporaryDirectory(prefix=".schemagen-export-", dir=existing) as hidden:
            written = {each: Path(hidden) / each.name for each in [*files][::-1]}
            for path, place in track(written.items(), "linking or copying", "file"):
                content = files[path]
                if isinstance(content, str):
                    place.write_bytes(content.encode())
                else:
                    _link(content, place)
            out.mkdir(parents=True, exist_ok=True)
            for path, place in written.items():
                place.replace(path)
    except OSError as error:
        words = f"{path} cannot be written: {error.strerror or error}"
        advice = "make the directory writable and run the command again"
        finding = Finding(Location(str(path)), "SG454", words, advice=advice)
        raise refuse(finding) from None


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it if the disk has no links.

    A published shard never changes: another file replaces it.
    """
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
