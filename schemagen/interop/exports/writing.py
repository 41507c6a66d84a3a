"""Exporting: what is refused, all at once, and the files, all or none."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...progress import Bar, track
from ...runtime.shared.compatibility import differences
from ...runtime.shared.errors import DatasetError, did_you_mean
from ...runtime.storage import manifest
from ...runtime.storage.manifest import Manifest
from ...spec.model import RecordSpec
from ...spec.serial import to_data
from . import croissant, tfds, tfmd
from .notes import Notes

# TFDS takes names of splits apart by other characters.
_SPLIT = re.compile(r"\w+")


@dataclass(frozen=True)
class Exported:
    """The result of an export.

    Attributes:
        files: their paths.
        notes: what is approximated, a line for each field.
        missing: properties that a validator recommends and no one has given.
    """

    files: tuple[Path, ...]
    notes: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Plan:
    """Files by their paths, and shards to be linked into a directory."""

    texts: Mapping[Path, bytes]
    shards: Mapping[Path, Path] = field(default_factory=dict)


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
        data: the record's data directory; tfds cannot do without.
        given: properties of a Croissant description that only a person knows.
        force: overwrite files that are there.

    Raises:
        SchemagenError: with all that stands against it; nothing is written then.
    """
    given = given or {}
    out = Path(out)
    directory = None if data is None else Path(data)
    findings = [*_refusals(spec, to), *_wrong_properties(to, given)]
    found = None
    if directory is not None:
        found, problems = _opened(spec, to, directory)
        findings += problems
    elif to == "tfds":
        findings.append(_needs_data(out))
    if to == "tfds" and out.exists() and not out.is_dir():
        findings.append(_misplaced(out, "a directory, which TFDS reads, or nothing"))
    elif to != "tfds" and out.is_dir():
        findings.append(_misplaced(out, f"a file, such as {out / spec.record}"))
    if findings:
        raise SchemagenError(findings)
    notes = Notes()
    plan = _plan(spec, to, out, directory, found, given, notes)
    for path in (*plan.texts, *plan.shards):
        if path.is_dir():
            findings.append(_misplaced(path, "a file, or nothing"))
        elif not force and os.path.lexists(path):
            findings.append(
                Finding(
                    Location(str(path)),
                    "SG454",
                    f"{path} is there already",
                    expected="nothing there",
                    advice="give another --out, or --force to overwrite it",
                )
            )
    if findings:
        raise SchemagenError(findings)
    _write(plan)
    known = {"description": spec.doc, **given}
    missing = tuple(p for p in croissant.RECOMMENDED if not known.get(p))
    return Exported(
        (*plan.texts, *plan.shards),
        notes.lines(),
        missing if to == "croissant" else (),
    )


def _plan(
    spec: RecordSpec,
    to: str,
    out: Path,
    data: Path | None,
    found: Manifest | None,
    given: Mapping[str, str],
    notes: Notes,
) -> _Plan:
    splits = {} if found is None else found.splits
    shards = {
        shard.file: (data or Path()) / shard.file
        for split in splits.values()
        for shard in split.shards
    }
    if to == "tfmd":
        return _Plan({out: tfmd.schema_text(spec, notes).encode()})
    if to == "croissant":
        sums = _sha256_sums(shards)
        described = croissant.description(spec, splits, sums, given, notes)
        return _Plan({out: croissant.dumps(described).encode()})
    # TFDS looks for the last one: before it is there, there is no dataset.
    texts = {
        **tfds.label_files(spec, notes),
        tfds.FEATURES_FILE: tfds.dumps(tfds.features(spec, notes)),
        tfds.INFO_FILE: tfds.dumps(tfds.dataset_info(spec, splits)),
    }
    if data is None or data.resolve() == out.resolve():
        shards = {}
    return _Plan(
        {out / name: text.encode() for name, text in texts.items()},
        {out / name: path for name, path in shards.items()},
    )


def _opened(
    spec: RecordSpec, to: str, data: Path
) -> tuple[Manifest | None, list[Finding]]:
    """Return the manifest of a data directory, or why it cannot be described."""
    try:
        found = manifest.load(data)
    except (DatasetError, OSError) as error:
        return None, [_unfit(data, str(error), "a data directory that can be read")]
    if found is None:
        return None, [
            _unfit(data, "there is no manifest.json", "a data directory of schemagen")
        ]
    return found, list(_unfits(spec, to, data, found))


def _unfits(
    spec: RecordSpec, to: str, data: Path, found: Manifest
) -> Iterator[Finding]:
    for name, split in found.splits.items():
        for change in differences(found.spec_of(name), to_data(spec)):
            words = f"split {name!r} was written with another schema: {change.plain}"
            yield _unfit(data, words, "data that this schema reads", change.hint)
        for shard in split.shards:
            path = data / shard.file
            size = path.stat().st_size if path.is_file() else None
            if size != shard.bytes:
                there = "missing" if size is None else f"{size} bytes"
                words = f"{shard.file} is not as the manifest says"
                expected = f"{shard.bytes} bytes"
                yield _unfit(data, words, expected, "run `schemagen verify`", there)
        if to == "tfds":
            yield from _unfit_for_tfds(data, name, split)


def _unfit_for_tfds(data: Path, name: str, split: manifest.Split) -> Iterator[Finding]:
    if split.compression:
        yield _unfit(
            data,
            f"split {name!r} is compressed, and TFDS reads only what is not",
            "no compression",
            "write the split again without compression=",
            split.compression,
        )
        return
    count = len(split.shards)
    names = [f"{name}-{at:05d}-of-{count:05d}.tfrecord" for at in range(count)]
    if [shard.file for shard in split.shards] != names or not _SPLIT.fullmatch(name):
        yield _unfit(
            data,
            f"split {name!r} has a name, or files with names, that TFDS does not find",
            f"a name of letters, digits and _, and {names[0]}",
            "write the split again under such a name",
            split.shards[0].file,
        )


def _unfit(
    data: Path, words: str, expected: str, advice: str = "", found: str = ""
) -> Finding:
    return Finding(
        Location(str(data)),
        "SG453",
        printable(f"{data}: {words}"),
        found=printable(found),
        expected=printable(expected),
        advice=advice or "name the data directory of this record",
    )


def _needs_data(out: Path) -> Finding:
    return Finding(
        Location(str(out)),
        "SG453",
        "--to tfds describes data, and there is none to describe",
        expected="--data DIR",
        advice="name the data directory; --out may be the same, and adds files to it",
    )


def _refusals(spec: RecordSpec, to: str) -> Iterator[Finding]:
    if spec.message != "Example" and to != "croissant":
        yield Finding(
            Location(spec.source),
            "SG451",
            f"{spec.class_name} cannot be exported to {to}, which has no "
            f"tf.train.{spec.message}",
            found="a SequenceRecord",
            expected="a Record",
        )


def _wrong_properties(to: str, given: Mapping[str, str]) -> Iterator[Finding]:
    if given and to != "croissant":
        yield Finding(
            Location("--set"),
            "SG452",
            "--set gives properties of a Croissant description",
            found=f"--to {to}",
            expected="--to croissant",
            advice="leave out --set",
        )
        return
    for name in given:
        if name not in croissant.PROPERTIES:
            yield Finding(
                Location("--set"),
                "SG452",
                f"no property {printable(name)!r} of a Croissant description",
                found=printable(name),
                expected=f"one of {', '.join(croissant.PROPERTIES)}",
                advice=did_you_mean(name, croissant.PROPERTIES) or "name one of these",
            )


def _misplaced(out: Path, expected: str) -> Finding:
    return Finding(
        Location(str(out)),
        "SG454",
        f"{out} is in the way",
        found="a directory" if out.is_dir() else "a file",
        expected=expected,
        advice="give another --out",
    )


def _sha256_sums(shards: Mapping[str, Path]) -> dict[str, str]:
    """Return the SHA-256 of each file, by its name."""
    sizes = {name: path.stat().st_size for name, path in shards.items()}
    found = {}
    with Bar("hashing", sum(sizes.values())) as bar:
        for name, path in shards.items():
            with path.open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
            bar(sizes[name])
    return found


def _write(plan: _Plan) -> None:
    """Write all files under temporary names, and rename them when all are there.

    Raises:
        SchemagenError: the disk refuses; of what is new nothing is left.
    """
    with ExitStack() as undo:
        try:
            temporary: dict[Path, Path] = {}
            paths = (*plan.shards, *plan.texts)
            for path in track(paths, "linking or copying", "file"):
                _make_directory(path.parent, undo)
                temporary[path] = path.with_name(f".{path.name}.{os.getpid()}.tmp")
                undo.callback(_discard, temporary[path])
                if path in plan.shards:
                    _link(plan.shards[path], temporary[path])
                else:
                    temporary[path].write_bytes(plan.texts[path])
            for path, written in temporary.items():
                if not path.exists():
                    undo.callback(_discard, path)
                written.replace(path)
        except OSError as error:
            where = error.filename or next(iter(plan.texts))
            raise refuse(
                Finding(
                    Location(str(where)),
                    "SG454",
                    f"{where} cannot be written: {error.strerror or error}",
                    advice="make the directory writable and run the command again",
                )
            ) from None
        undo.pop_all()


def _make_directory(directory: Path, undo: ExitStack) -> None:
    """Make a directory and those above it, and have those that are new removed again."""
    new = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(new):
        undo.callback(_discard, path)
    directory.mkdir(parents=True, exist_ok=True)


def _discard(path: Path) -> None:
    """Remove a file or an empty directory, if there is one and the disk lets it."""
    with suppress(OSError):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the disk has no such thing.

    A shard is never changed: what replaces it is another file.
    """
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)
