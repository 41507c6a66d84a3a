"""The layouts of data: directories of files, and the splits that their names say."""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from ..runtime.shared.compression import InflateError, inflated
from ..runtime.shared.errors import DatasetError
from ..runtime.storage import manifest
from .formatting import one_line, shell_word
from .frames import is_header
from .names import TFX_PREFIX, VERSION, is_ignored, says_records, split_in, split_of
from .remote_path import FilePath, entries_of, open_file
from .stream import compression_of

# How much of a compressed file suffices to inflate a record's header.
_START_BYTES = 4096

_TFDS_FILE, _TFDS_INFO = "features.json", "dataset_info.json"

# Directories of data are read so many levels below, and named below that. So many are
# looked into.
_LEVELS, _DEEPEST, _MOST_DIRECTORIES = 2, 6, 10_000

# So many files that do not begin with a record are opened in each: a directory may have
# a million pictures.
_MOST_OPENED = 20

# How many names are listed, and how many characters of each.
_NAMES, _CHARACTERS = 8, 60


@dataclass(frozen=True)
class Directory:
    """A directory with files of records, or with such directories.

    Attributes:
        path: where it is.
        parts: the names of the directories from the data on.
        data: names of files with records.
        others: names of what else is there.
    """

    path: FilePath
    parts: tuple[str, ...]
    data: list[str]
    others: list[str]


def directories_below(where: str, root: Directory) -> list[Directory]:
    """Find the directories of data below one without files of its own.

    Raises:
        DatasetError: they are deeper, or of several datasets.
    """
    found, looked = [root], 0
    while looked < min(len(found), _MOST_DIRECTORIES):
        each = found[looked]
        looked += 1
        for name in each.others if len(each.parts) < _DEEPEST else ():
            if name.endswith("/"):
                path = each.path / name[:-1]
                parts = (*each.parts, name[:-1])
                found.append(Directory(path, parts, *names_in(path, _MOST_OPENED)))
    full = [each for each in found if each.data]
    _check_one_dataset(where, full)
    leading = {each.parts[:at] for each in full for at in range(len(each.parts) + 1)}
    return [
        replace(
            each,
            others=[
                name
                for name in each.others
                if (*each.parts, name.rstrip("/")) not in leading
            ],
        )
        for each in found
        if each.parts in leading
    ]


def _check_one_dataset(where: str, full: list[Directory]) -> None:
    """Refuse directories that are deeper, or of several datasets."""
    own = [each for each in full if (each.path / manifest.FILE_NAME).exists()]
    datasets = [
        each
        for each in full
        if VERSION.fullmatch(each.parts[-1]) or (each.path / _TFDS_FILE).exists()
    ]
    if own:
        listed, reason = own, f"directories with a {manifest.FILE_NAME} of their own"
    elif len(datasets) > 1:
        listed, reason = datasets, "directories of several datasets"
    elif any(len(each.parts) > _LEVELS for each in full):
        listed, reason = full, f"files of records more than {_LEVELS} directories below"
    else:
        return
    names = [shell_word(str(each.path)) for each in listed[:_NAMES]]
    more = len(listed) - len(names)
    shown = " or ".join([*names, f"one of {more:,} more"] if more else names)
    raise DatasetError(f"{where}: {reason}; name one of them: {shown}")


def splits_of_paths(
    paths: Iterable[FilePath], root: FilePath | None = None
) -> dict[FilePath, str]:
    """Return the split of each file that no manifest lists, as names say.

    Args:
        paths: the files.
        root: the directory that they were found in, as any name has a split there; None
            for the one that all paths have in common.
    """
    by_parent: dict[FilePath, list[FilePath]] = {}
    for path in paths:
        by_parent.setdefault(path.parent, []).append(path)
    parts = {parent: _parts_of(parent) for parent in by_parent}
    several = len(by_parent) > 1
    common = _parts_of(root) if root is not None else _common(parts.values())
    found = {}
    for parent, some in by_parent.items():
        below = parts[parent][len(common) :]
        directories = [each for each in below if not VERSION.fullmatch(each)]
        if not below and parent.name.startswith(TFX_PREFIX):
            directories = [parent.name]  # another name of the data says nothing
        dataset = _dataset_name(parent)
        prefix = f"{dataset}-" if dataset else ""
        for path in some:
            split = split_of(path.name)
            if not says_records(path.name) and (several or root is not None):
                split = split_of(f"{path.name}.tfrecord")  # any name has a split
            name = split.removeprefix(prefix) or split
            found[path] = split_in(directories, name, several=several)
    return found


def _common(paths: Iterable[list[str]]) -> list[str]:
    """Return the directories that all paths begin with."""
    same = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return [names[0] for names in same]


def _parts_of(path: FilePath) -> list[str]:
    return [] if str(path) == "." else str(path).split("/")


def _dataset_name(directory: FilePath) -> str:
    """Return the name of the TFDS dataset in a directory; "" for other data."""
    with (
        suppress(OSError, ValueError, AttributeError),
        open_file(directory / _TFDS_INFO) as file,
    ):
        return str(json.loads(file.read() or b"").get("name", ""))
    return ""


def tfds_of(paths: Iterable[FilePath]) -> str:
    """Return the local directory of the one TFDS dataset that files are of."""
    directories = {path.parent for path in paths}
    found = directories.pop() if len(directories) == 1 else None
    is_tfds = isinstance(found, Path) and (found / _TFDS_FILE).exists()
    return str(found) if is_tfds else ""


def import_command(tfds: str, out: str = "") -> str:
    """Return the command that writes a schema by the description of a TFDS dataset.

    Args:
        tfds: the directory of the dataset.
        out: the schema file, if it exists.
    """
    name = _dataset_name(Path(tfds)).lower()
    name = name if re.fullmatch(r"[a-z]\w*", name) else "imported"
    to = f"{shell_word(out)} --force" if out else f"schemas/{name}.py"
    return f"schemagen import --from tfds {shell_word(tfds)} --out {to}"


def glob_of(directory: FilePath) -> str:
    """Return a glob of the files in a directory, to be pasted into a shell."""
    name = str(directory)
    return shell_word(f"{glob.escape(name) if isinstance(directory, Path) else name}/*")


def names_in(
    directory: FilePath, most_opened: int | None = None
) -> tuple[list[str], list[str]]:
    """Return the names in a directory of files with records, and of what else is there.

    Broken links, pipes and devices whose name says records are files that cannot be read.

    Args:
        directory: where.
        most_opened: how many files may be opened in vain to see whether they begin with
            a record; None for any number.
    """
    opened = 0
    data: list[str] = []
    others: list[str] = []
    for name, entry in entries_of(directory).items():
        if is_ignored(name):
            continue
        if says_records(name) and entry != "directory":
            data.append(name)
        elif entry == "file" and opened != most_opened:
            found = _begins_with_record(directory / name)
            opened += not found
            (data if found else others).append(name)
        else:
            others.append(f"{name}/" if entry == "directory" else name)
    return data, others


def _begins_with_record(path: FilePath) -> bool:
    """Return whether a file begins with a length with its right checksum."""
    with suppress(OSError, InflateError):
        with open_file(path) as file:
            start = file.read(_START_BYTES) or b""
        compression = compression_of(start)
        if compression:
            start = next(inflated(iter([start]), compression), b"")
        return is_header(memoryview(start))
    return False


def listed_names(names: Iterable[str]) -> str:
    """Return the first of some names, safe to print on a terminal."""
    every = list(names)
    shown = ", ".join(one_line(name, _CHARACTERS) for name in every[:_NAMES])
    more = len(every) - _NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
