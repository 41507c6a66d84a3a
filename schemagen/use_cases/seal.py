"""The use case: check files that have no manifest, and seal them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

from ..data.files import FilePath, file_path
from ..data.formatting import plural
from ..data.layouts import listed_names, sealed_below, split_order, splits_of_paths
from ..data.sources import Data, find_data
from ..data.verify.verification import Verification
from ..data.verify.verifying import verify
from ..documents import ShownAs
from ..findings import refused
from ..runtime.compatibility import differences
from ..runtime.kinds.pictures import read_size
from ..runtime.shared.errors import DatasetError
from ..runtime.sources.shards import File, found
from ..runtime.storage.manifest import FILE_NAME, CheckedFile, Manifest
from ..runtime.storage.schema import Schema, Spec
from ..runtime.writing.sealing import compressions_of, seal
from ..spec.model import RecordSpec
from ..spec.serial import fingerprint, from_data, to_data

_UNNAMED = "data"
"""The split of files whose names say none."""


_EMPTY = "SG505"

_MOST_REASONS = 3


@dataclass(frozen=True)
class Sealed:
    """A manifest that was written.

    Attributes:
        path: where.
        splits: how many records each split has, by its name.
        changes: what the schema says other than the one that the manifest had before.
    """

    path: str
    splits: dict[str, int]
    changes: tuple[str, ...] = ()

    def call(self, options: str) -> str:
        """Return how the generated code reads its first split, with some options."""
        name, *others = sorted(self.splits, key=split_order)
        directory = self.path.removesuffix(FILE_NAME).rstrip("/") or "."
        split = f"{json.dumps(name, ensure_ascii=False)}, " if others else ""
        where = json.dumps(directory, ensure_ascii=False)
        return f"make_dataset({where}, {split}{options})"


@dataclass(frozen=True)
class Sealing:
    """What came of sealing some files.

    Attributes:
        sealed: the manifests that were written.
        reasons: why none was.
        acceptable: whether the files are sealed if these are accepted.
        options: with which the generated code reads the records.
    """

    sealed: tuple[Sealed, ...] = ()
    reasons: tuple[str, ...] = ()
    acceptable: bool = False
    options: str = "batch_size=32"
    __get_pydantic_core_schema__ = ShownAs(attrgetter("as_json"), dict[str, Any])

    @property
    def is_clean(self) -> bool:
        """Whether no reason stands against it."""
        return not self.reasons

    @property
    def text(self) -> str:
        """The reasons, and what to do."""
        more = len(self.reasons) - _MOST_REASONS
        shown = [
            *self.reasons[:_MOST_REASONS],
            *([f"{more:,} more"] if more > 0 else []),
        ]
        advice = " (seal it anyway with --accept)" if self.acceptable else ""
        return f"not sealed: {'; '.join(shown)}{advice}"

    @property
    def call(self) -> str:
        """How the generated code reads the first split; "" if none is sealed."""
        by_split = sorted(
            self.sealed, key=lambda each: min(map(split_order, each.splits))
        )
        return by_split[0].call(self.options) if by_split else ""

    @property
    def as_json(self) -> dict[str, object]:
        """What of it goes into a document, in the shape of docs/json-output.md."""
        reasons, acceptable = list(self.reasons), self.acceptable
        sealed = [asdict(each) for each in self.sealed]
        return {
            "sealed": sealed,
            "reasons": reasons,
            "acceptable": acceptable,
            "call": self.call,
        }


def verify_and_seal(
    data: str,
    spec: RecordSpec | None,
    *,
    add: bool,
    accept: bool = False,
    split: str | None = None,
    **reading: Any,
) -> tuple[Verification, Sealing]:
    """Check files, and write the manifest next to them if nothing is wrong.

    Args:
        data: a directory, a file or a glob, or the URL of one.
        spec: what the records should be; None for what the manifest says.
        add: check and seal only the files that the manifest does not list yet.
        accept: seal files also if they are empty, lack keys or hold other records.
        split: only this split.
        **reading: as `verify` takes them.

    Returns:
        What is wrong, and the manifests, or why there are none.

    Raises:
        DatasetError: there are no files; or the manifest does not allow it.
        SchemagenError: neither a record nor a manifest says what the records should be.
    """
    files = find_data(data, None if add else split)
    if files.problem:  # a finding, as the manifest cannot be read
        found = verify(files, spec=spec, lengths=True, **reading)
        return found, _refused(found)
    schema = spec or _spec_of(files)
    before = [file.spec for file in files.files if file.spec is not None]
    files = _unlisted(files, split) if add else _as_if_unsealed(files)
    if not files.files:
        return Verification(data, (), ()), Sealing()
    found = verify(files, spec=spec if add else schema, lengths=True, **reading)
    found = accepted(found) if accept else found
    return found, seal_verified(found, schema, add=add, before=before)


def accepted(found: Verification) -> Verification:
    """Return what is wrong with records, without what may be meant of whole files."""
    findings = tuple(each for each in found.findings if each.rule != _EMPTY)
    return replace(found, findings=findings, doubts=())


def seal_verified(
    found: Verification,
    spec: RecordSpec,
    *,
    add: bool = False,
    before: Sequence[Spec] = (),
) -> Sealing:
    """Write the manifests of files in which nothing is wrong, one each directory.

    Args:
        found: the files.
        spec: what their records are.
        add: put the files behind those that the manifest lists.
        before: the schemas that the manifest had.

    Raises:
        DatasetError: a manifest does not allow it, or cannot be written.
    """
    if found.findings or found.doubts:
        return _refused(found)
    schema = Schema(spec.record, fingerprint(spec), to_data(spec))
    changes = dict.fromkeys(
        change.plain
        for written in before
        for change in differences(written, schema.spec)
        if not change.record_by_record
    )
    by_directory: dict[FilePath, list[CheckedFile]] = {}
    for file in found.files:
        named = replace(file, split=_split_name(file.split))
        by_directory.setdefault(file_path(file.path).parent, []).append(named)
    reasons = [
        *filter(None, map(_hiding, by_directory)),
        *(
            each
            for directory, own in by_directory.items()
            for each in _mixed(directory, own)
        ),
    ]
    if reasons:
        return Sealing(reasons=tuple(reasons))
    several = len(by_directory) > 1
    # What refuses one directory is known before another one is sealed.
    for directory, own in by_directory.items() if several else ():
        _seal(directory, own, schema, add=add, dry_run=True)
    sealed = []
    for directory, own in by_directory.items():
        manifest = _seal(directory, own, schema, add=add)
        counts = {name: each.records for name, each in manifest.splits.items()}
        path = str(directory / FILE_NAME)
        sealed.append(Sealed(path, counts, tuple(changes)))
    return Sealing(tuple(sealed), options=_reading_options(spec))


def _reading_options(spec: RecordSpec) -> str:
    """Return the options with which `make_dataset` reads any records of a schema."""
    read = [each for each in spec.fields if each.role in ("input", "target")]
    any_size = any(None in read_size(each.kind) for each in read)
    size = f"batch_size={1 if any_size else 32}"
    has_input = any(each.role == "input" for each in read)
    return size if has_input else f"{size}, info=True"


def _refused(found: Verification) -> Sealing:
    """Return why files are not sealed."""
    wrong = [each for each in found.findings if each.rule != _EMPTY]
    kinds = [f"{plural(len(wrong), 'kind')} of findings"] if wrong else []
    return Sealing(reasons=(*kinds, *found.doubts), acceptable=not wrong)


def _hiding(directory: FilePath) -> str:
    """Return why a new manifest would change what readers find; "" if it would not."""
    path = directory / FILE_NAME
    hidden = [] if path.exists() else sealed_below(directory)
    if not hidden:
        return ""
    return (
        f"{path} would hide the splits of folders with a manifest of their own, "
        f"{listed_names(hidden)}: move the files next to them into a folder of their own"
    )


def _mixed(directory: FilePath, files: Sequence[CheckedFile]) -> Iterator[str]:
    """Yield which splits have files of several compressions."""
    for split in sorted({file.split for file in files}):
        kinds = compressions_of(file for file in files if file.split == split)
        if len(kinds) > 1:
            said = " and ".join(sorted(each or "none" for each in kinds))
            yield (
                f"{directory}: split {split!r} has files of the compressions {said}: compress "
                "all of them with one, or none"
            )


def _seal(
    directory: FilePath,
    files: Sequence[CheckedFile],
    schema: Schema,
    *,
    add: bool,
    dry_run: bool = False,
) -> Manifest:
    try:
        return seal(str(directory), files, schema, add=add, dry_run=dry_run)
    except OSError as error:
        raise DatasetError(
            f"{directory / FILE_NAME}: it cannot be written: {error.strerror}"
        ) from None


def _split_name(split: str) -> str:
    """Return the name of a split in the manifest of its own directory."""
    return split.rpartition("/")[2] or _UNNAMED


def _as_if_unsealed(data: Data) -> Data:
    """Return files without their schema, which is to be stated again."""
    files = tuple(replace(file, spec=None) for file in data.files)
    return replace(data, shards=replace(data.shards, files=files))


def _unlisted(data: Data, split: str | None) -> Data:
    """Return the files that the manifest next to them does not list.

    Raises:
        DatasetError: there is no manifest.
    """
    manifests = {
        file_path(opened.directory): opened.manifest for opened in data.shards.manifests
    }
    files = {file_path(file.path): file for file in data.files}
    paths = [data.directory / name for name in data.unlisted if data.directory]
    paths += [path for path, file in files.items() if file.listed is None]
    bare = [path.parent for path in paths if path.parent not in manifests]
    if bare or not manifests:
        where = bare[0] if bare else data.where
        raise DatasetError(
            f"{where}: no {FILE_NAME} to add files to; seal them with --seal"
        )
    of_folders = data.manifest is None
    folders = {path.parent: file.split for path, file in files.items() if file.listed}
    new = set(paths)
    known = [*files, *paths] if of_folders else paths
    unlisted = []
    for path, name in sorted(splits_of_paths(known, data.directory).items()):
        shown = folders.get(path.parent, name) if of_folders else name
        if path in new and split in (None, shown):
            manifest = manifests[path.parent]
            own = next(iter(manifest.splits)) if of_folders else name
            unlisted.append(File(str(path), own, spec=manifest.spec))
    return Data(data.where, data.shards.only(found(unlisted)), data.directory)


def _spec_of(data: Data) -> RecordSpec:
    """Return the spec that a manifest has.

    Raises:
        SchemagenError: there is none, or there are several.
    """
    manifests = [opened.manifest for opened in data.shards.manifests]
    if len({each.fingerprint for each in manifests}) != 1:
        raise refused(
            data.where,
            "manifests of several schemas"
            if manifests
            else "no schema to seal the files with",
            rule="SG442",
            advice="name a record of this project by --record",
        )
    return from_data(manifests[0].spec)
