"""Exporting: what is refused, and the files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ...atomic_write import write_whole
from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...progress import track
from ...runtime.compatibility import differences
from ...runtime.shared.errors import DatasetError
from ...runtime.storage import manifest
from ...runtime.storage.manifest import SplitEntry
from ...spec.model import RecordSpec
from ...spec.serial import to_data
from .exporter import Exporter, Notes, Request


@dataclass(frozen=True)
class Exported:
    """The result of an export.

    Attributes:
        target: what they are for, one of `TARGETS`.
        files: their paths.
        notes: what is approximated, a line for each field.
    """

    target: str
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
        to: one of `TARGETS`.
        out: the file to write, or the directory, which may be `data` itself.
        data: the record's data directory, which some tools need.
        given: properties that only a person knows.
        force: overwrite existing files.

    Raises:
        SchemagenError: with all reasons, or the disk refuses.
    """
    given, out = given or {}, Path(out)
    directory = Path() if data is None else Path(data)
    exporter: Exporter = import_module(f".{to}", __package__).EXPORTER
    if wrong := [*_wrong_request(spec, to, exporter, given, data)]:
        raise SchemagenError(wrong)
    splits = {} if data is None else _splits(spec, to, exporter, directory)
    notes = Notes()
    try:
        files = exporter.files(Request(spec, out, directory, splits, given), notes)
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
    return Exported(to, tuple(files), notes.lines())


def _wrong_request(
    spec: RecordSpec,
    to: str,
    exporter: Exporter,
    given: Mapping[str, str],
    data: Path | str | None,
) -> Iterator[Finding]:
    if spec.message != "Example" and not exporter.sequences:
        yield Finding(
            Location(spec.source),
            "SG451",
            f"{spec.class_name} cannot be exported: {to} has no tf.train.{spec.message}",
            "a SequenceRecord",
            "a Record",
        )
    if exporter.needs_data and data is None:
        words = f"--to {to} describes data, and no data directory is given"
        advice = "name the data directory; --out may be the same directory"
        place, expected = Location("--data"), "--data DIR"
        yield Finding(place, "SG453", words, expected=expected, advice=advice)
    for name in given:
        if name not in exporter.properties:
            words = f"{printable(name)!r} is not a property of an export to {to}"
            expected = ", ".join(exporter.properties) or "no property"
            yield Finding(Location("--set"), "SG452", words, expected=expected)


def _splits(
    spec: RecordSpec, to: str, exporter: Exporter, data: Path
) -> Mapping[str, SplitEntry]:
    """Return the splits of a data directory.

    Raises:
        SchemagenError: the other tool would misread them.
    """
    try:
        found = manifest.load(data)
    except (DatasetError, OSError) as error:
        raise refuse(_wrong_data(data, str(error))) from None
    if found is None:
        advice = (
            "name the data directory of this record; seal files of another program first: "
            f"`schemagen verify {shlex.quote(str(data))} --record {spec.record} --seal`"
        )
        raise refuse(_wrong_data(data, "no manifest.json: not sealed", advice))
    wrong = []
    for name, split in found.splits.items():
        for change in differences(found.spec_of(name), to_data(spec)):
            words = f"split {name!r} has another schema: {change.plain}"
            wrong.append(_wrong_data(data, words))
        is_plain = not split.compression and re.fullmatch(r"\w+", name)
        if exporter.plain_splits and not is_plain:
            words = (
                f"{to.upper()} cannot read split {name!r}: it is compressed or misnamed"
            )
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
