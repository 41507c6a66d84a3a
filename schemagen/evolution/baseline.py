"""The specs that a change is compared with: of a git revision, a file, or data.

Old Python is never imported: what was committed as `spec.json` is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..git import Revision, spec_paths
from ..runtime.compatibility import Spec
from ..runtime.kinds.spec_json import check_spec
from ..runtime.shared.errors import DatasetError, Problem
from ..runtime.storage import manifest
from ..spec.serial import FORMAT
from .tables import AXES, Axis


@dataclass(frozen=True)
class Baseline:
    """Specs of one place.

    Attributes:
        where: the place, for messages.
        specs: by the names of the records.
        axes: what can be broken here: data uses no interface.
    """

    where: str
    specs: Mapping[str, Spec]
    axes: tuple[Axis, ...] = AXES


def of_revision(revision: Revision, output: str) -> Baseline:
    """Read the specs that a revision has committed.

    Args:
        revision: the commit.
        output: its directory of generated code, relative to the project.

    Raises:
        Problem: one of them cannot be read.
    """
    texts = revision.read(spec_paths(revision.paths(output), output))
    return Baseline(str(revision), _by_record(texts, f" of {revision}"))


def of_path(path: Path, shown: str) -> tuple[Baseline, ...]:
    """Read the specs of a file, of a directory of generated code, or of data.

    Args:
        path: a spec.json, a manifest.json, a directory that holds one, or a
            directory of packages that do.
        shown: what to call it.

    Raises:
        Problem: none is there, or it cannot be read.
    """
    if path.name == manifest.FILE_NAME or (path / manifest.FILE_NAME).is_file():
        return of_data(path if path.is_dir() else path.parent, shown)
    files = [path] if path.is_file() else sorted(path.glob("spec.json"))
    files = files or sorted(path.glob("*/spec.json"))
    if not files:
        raise Problem(
            f"{shown}, which has neither",
            f"a spec.json, or a directory with a {manifest.FILE_NAME}",
            "data without a manifest has no schema to compare with",
        )
    texts = {file.as_posix(): file.read_bytes() for file in files}
    return (Baseline(shown, _by_record(texts)),)


def of_data(directory: Path | str, shown: str) -> tuple[Baseline, ...]:
    """Read the specs that wrote the splits of a data directory, each once.

    Args:
        directory: a path, or the URL of a remote directory.
        shown: what to call it.

    Raises:
        Problem: it has no manifest, or a damaged one.
    """
    try:
        found = manifest.load(directory)
    except (DatasetError, OSError) as error:
        raise Problem(str(error), "a manifest that can be read") from None
    if found is None:
        raise Problem(f"{shown} without a manifest", f"a {manifest.FILE_NAME} in it")
    parts: list[Baseline] = []
    for split in sorted(found.splits):
        specs = {found.record: found.spec_of(split)}
        if all(part.specs != specs for part in parts):
            where = f"split {split!r} of {shown}"
            parts.append(Baseline(where, specs, ("wire", "meaning")))
    if len(parts) == 1:
        return (replace(parts[0], where=shown),)
    return tuple(parts)


def _by_record(texts: Mapping[str, bytes], of: str = "") -> dict[str, Spec]:
    specs = [_parsed(text, f"{path}{of}") for path, text in texts.items()]
    return {spec["record"]: spec for spec in specs}


def _parsed(text: bytes, where: str) -> Spec:
    """Read a `spec.json`.

    Raises:
        Problem: it is not one, or one of a later schemagen.
    """
    try:
        spec: Spec = json.loads(text)
        check_spec(spec)
    except (ValueError, RecursionError) as error:
        raise Problem(
            f"{where}: not a complete spec ({error})",
            "the spec.json of a generated package",
            "compare with a revision that has all generated code",
        ) from None
    if spec.get("format") != FORMAT:
        raise Problem(
            f"{where}: a spec of format {spec.get('format')!r}",
            f"format {FORMAT}",
            "update schemagen to the version that wrote it",
        )
    return spec
