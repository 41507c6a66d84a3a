"""Names of files: whether they hold records, their split, and which are missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice

from .remote_path import FilePath

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
