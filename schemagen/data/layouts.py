"""The layouts of data: directories of files, and the splits that names say."""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count, islice, takewhile
from pathlib import Path

from ..runtime.shared.compression import InflateError, inflated
from ..runtime.shared.errors import DatasetError
from ..runtime.storage import manifest
from ..runtime.storage.directory import open_directory
from ..runtime.storage.folders import entries, sealed_folders
from .files import FilePath, RemotePath, compression_of, entries_of, open_file
from .formatting import one_line, shell_word
from .framing import is_header

_SUFFIX = r"\.(?:tf_?records?|tfrecs?|records?)"
_SHARD = re.compile(
    rf"(?P<split>.+?)(?:{_SUFFIX})?-(?P<number>\d+)-of-(?P<total>\d+)(?P<end>\..*)?",
    re.ASCII,
)
_RECORDS = re.compile(rf"(?P<split>.+?){_SUFFIX}(?:\.\w+|[-_]\d+)?", re.ASCII)
_SUFFIXED = re.compile(rf".*{_SUFFIX}(?:[-.].*)?", re.ASCII)

# With fewer digits, and without a suffix, a name may be that of anything.
_SURE_DIGITS = 5

# What follows a split's name: numbers, and what Spark adds to them.
_NUMBERED = re.compile(
    r"(?P<split>.*?)(?:(?<=^part)-[rm])?(?:(?:^|[-_.])\d+)+"
    r"(?:-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-c\d+)?)?",
    re.ASCII,
)

_OTHERS = re.compile(
    r".*\.(html|idx|index|json|md|pbtxt|py|rst|txt|ya?ml)|(?-i:LICENSE|README)", re.I
)

# Words that name a split, in the name of a file or of a directory.
_SPLIT_WORDS = re.compile(
    r"(?:.*[-_.])?(?:train|training|trn|val|valid|validation|dev|eval|evaluation|test"
    r"|testing|tst)\d*(?:[-_.].*)?",
    re.I,
)
TFX_PREFIX = "Split-"
"""How the name of a directory of TFX begins, before that of the split."""

VERSION = re.compile(r"\d+\.\d+\.\d+")
"""The name of a directory that holds one version of a TFDS dataset."""

# How many missing files are named.
_LISTED = 3

# Common names of splits, in the order in which they are listed.
_ORDERED = (
    ("train", "training", "trn"),
    ("validation", "valid", "val", "dev", "eval", "evaluation"),
    ("test", "testing", "tst"),
)


@dataclass(frozen=True)
class Gap:
    """A contradiction in the names of a split's files.

    Attributes:
        split: the split.
        path: the first file that is missing; with several totals, the first file of
            the smallest.
        text: a description.
        mixed: whether names state several totals, rather than that files are missing.
    """

    split: str
    path: FilePath
    text: str
    mixed: bool = False


def split_order(split: str) -> tuple[int, str]:
    """Return a key that sorts splits: training, validation, test, and others by name."""
    ranks = (at for at, names in enumerate(_ORDERED) if split in names)
    return next(ranks, len(_ORDERED)), split


def is_ignored(name: str) -> bool:
    """Return whether a name is hidden, or of a kind that is often next to data."""
    return name.startswith((".", "_")) or _OTHERS.fullmatch(name) is not None


def says_records(name: str) -> bool:
    """Return whether a file's name says that it holds records."""
    if is_ignored(name):
        return False
    shard = _SHARD.fullmatch(name)
    if shard and min(len(shard["number"]), len(shard["total"])) >= _SURE_DIGITS:
        return True
    if shard:
        return _SUFFIXED.fullmatch(name) is not None
    return _RECORDS.fullmatch(name) is not None


def split_of(name: str) -> str:
    """Return the split in a file's name: `train` of train-00000-of-00008.

    It is what precedes the shard's number, or the suffix, without the numbers at its
    end: `part` of part_007.tfrecord. It is "" if nothing is left, and if there is
    neither a number nor a suffix.
    """
    shard = _SHARD.fullmatch(name)
    if shard:
        return shard["split"]
    records = _RECORDS.fullmatch(name)
    stem = records["split"] if records else name
    numbered = _NUMBERED.fullmatch(stem)
    if numbered:
        return numbered["split"]
    return stem if records else ""


def shards_like(name: str) -> str:
    """Return what the shards of one write are called: train-*-of-00008.

    It is the name itself where that states no total.
    """
    shard = _SHARD.fullmatch(name)
    if shard is None:
        return name
    return f"{name[: shard.start('number')]}*{name[shard.end('number') :]}"


def split_in(directories: Sequence[str], name: str, *, several: bool) -> str:
    """Return the split of a file in directories below the data.

    A directory or a name that says a split decides, such as `Split-train` of TFX, `val`
    or `cats-test`. Else it is the directories, if there are several.

    Args:
        directories: their names, the outermost first.
        name: the split in the file's name.
        several: whether files are in several directories.
    """
    for directory in reversed(directories):
        split = directory.removeprefix(TFX_PREFIX)
        if split != directory or _SPLIT_WORDS.fullmatch(directory):
            return split
    if not several or not directories or _SPLIT_WORDS.fullmatch(name):
        return name
    return "/".join(directories)


def gaps_of(
    paths: Iterable[FilePath], splits: Mapping[tuple[FilePath, str], str]
) -> tuple[Gap, ...]:
    """Find what is missing of files that are numbered as `-00000-of-00008`.

    Args:
        paths: all files, of one directory or of several.
        splits: the split of files by their directory and the split in their name.
    """
    found: dict[tuple[FilePath, str], dict[int, dict[int, re.Match[str]]]] = {}
    for path in sorted(paths):
        shard = _SHARD.fullmatch(path.name)
        if shard:
            totals = found.setdefault((path.parent, shard["split"]), {})
            shards = totals.setdefault(int(shard["total"]), {})
            shards.setdefault(int(shard["number"]), shard)
    gaps: list[Gap] = []
    for (directory, name), totals in found.items():
        split = splits[directory, name]
        ordered = sorted(totals.items())
        if len(ordered) > 1:
            first = [shards[min(shards)] for _, shards in ordered]
            listed = ", ".join(f"-of-{shard['total']}" for shard in first[:_LISTED])
            more = ", ..." if len(first) > _LISTED else ""
            text = f"file names of several writes: {listed}{more}"
            gaps.append(Gap(split, directory / first[0].string, text, True))
        for total, shards in ordered:
            gaps += _missing(directory, split, total, shards)
    return tuple(gaps)


def _missing(
    directory: FilePath, split: str, total: int, shards: Mapping[int, re.Match[str]]
) -> list[Gap]:
    """Find the numbers that are missing, however large they are."""
    start = 1 if total in shards and 0 not in shards else 0
    lacking = total - sum(start <= number < start + total for number in shards)
    if lacking <= 0:
        return []
    numbers = (number for number in count(start) if number not in shards)
    first = list(islice(numbers, min(lacking, _LISTED)))
    like = shards[min(shards)]
    digits = len(like["number"])
    listed = ", ".join(f"{each:0{digits}d}" for each in first)
    more = ", ..." if lacking > len(first) else ""
    text = f"names say {total:,} files; {lacking:,} missing: {listed}{more}"
    at, to = like.span("number")
    name = f"{like.string[:at]}{first[0]:0{digits}d}{like.string[to:]}"
    return [Gap(split, directory / name, text)]


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
class DataDirectory:
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


def directories_below(where: str, root: DataDirectory) -> list[DataDirectory]:
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
                found.append(DataDirectory(path, parts, *names_in(path, _MOST_OPENED)))
    full = [each for each in found if each.data or _is_sealed(each)]
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


def _is_sealed(directory: DataDirectory) -> bool:
    """Return whether a directory has a manifest, whose files may be missing."""
    path = directory.path
    with suppress(OSError, DatasetError):
        if directory.parts and (path / manifest.FILE_NAME).exists():
            return manifest.load(str(path)) is not None
    return False


def sealed_below(directory: FilePath, levels: int = _LEVELS) -> list[str]:
    """Return the folders below a directory that have a manifest: names that end with "/"."""
    where = str(directory)
    folders = [name for name in entries(where)[1] if not is_ignored(name)]
    sealed = sealed_folders(where, folders)
    found = [f"{name}/" for name in sealed]
    for name in folders if levels > 1 else ():
        if name not in sealed:
            inner = sealed_below(directory / name, levels - 1)
            found += [f"{name}/{each}" for each in inner]
    return sorted(found)


def _check_one_dataset(where: str, full: list[DataDirectory]) -> None:
    """Refuse directories that are deeper, or of several datasets."""
    datasets = [
        each
        for each in full
        if VERSION.fullmatch(each.parts[-1]) or (each.path / _TFDS_FILE).exists()
    ]
    if len(datasets) > 1:
        listed, reason = datasets, "directories of several datasets"
    elif any(len(each.parts) > _LEVELS for each in full):
        listed, reason = full, f"files of records more than {_LEVELS} directories below"
    else:
        return
    raise several(where, reason, [each.path for each in listed])


def several(where: str, reason: str, directories: Sequence[FilePath]) -> DatasetError:
    """Return the error of data of which one directory has to be named."""
    names = [shell_word(str(each)) for each in directories[:_NAMES]]
    more = len(directories) - len(names)
    shown = " or ".join([*names, f"one of {more:,} more"] if more else names)
    return DatasetError(f"{where}: {reason}; name one of them: {shown}")


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
    Shards that a run is writing, or has not published, are left out.

    Args:
        directory: where.
        most_opened: how many files may be opened in vain to see whether they begin with
            a record; None for any number.
    """
    from ..runtime.writing.claims import unfinished_shards

    opened = 0
    data: list[str] = []
    others: list[str] = []
    entries = entries_of(directory)
    where = directory.url if isinstance(directory, RemotePath) else str(directory)
    unfinished = unfinished_shards(open_directory(where), [*entries])
    for name, entry in entries.items():
        if is_ignored(name) or name in unfinished:
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
