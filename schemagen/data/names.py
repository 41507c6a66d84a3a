"""What the names of files say: which hold records, of which split, and what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_SUFFIX = r"\.(?:tfrecords?|tfrecs?|records?)"
_SHARD = re.compile(
    rf"(?P<split>.+?)(?:{_SUFFIX})?-(?P<number>\d+)-of-(?P<total>\d+)(?P<end>\..*)?",
    re.ASCII,
)
_RECORDS = re.compile(rf"(?P<split>.+?){_SUFFIX}(?:\.\w+|[-_]\d+)?", re.ASCII)
_SUFFIXED = re.compile(rf".*{_SUFFIX}(?:[-.].*)?", re.ASCII)

# With fewer digits, and without a suffix, a name may be that of anything.
_SURE_DIGITS = 5

# What stands behind a split's name: numbers, and what Spark adds to them.
_NUMBERED = re.compile(
    r"(?P<split>.*?)(?:(?:^|[-_.])\d+)+"
    r"(?:-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-c\d+)?)?",
    re.ASCII,
)

_BESIDE = re.compile(r".*\.(html|idx|index|json|md|pbtxt|py|rst|txt|ya?ml)", re.I)
_BESIDE_NAMES = frozenset(("LICENSE", "README"))

# So many numbers of missing files are told.
_TOLD = 3


@dataclass(frozen=True)
class Gap:
    """Something that the names of a split's files say, and that is not so.

    Attributes:
        split: the split.
        path: the first file that is not there; with several numbers of files, the first
            file of the smallest.
        text: what is wrong, in words.
        mixed: whether names tell of several numbers of files, and not of files that are
            missing.
    """

    split: str
    path: Path
    text: str
    mixed: bool = False


def is_hidden(name: str) -> bool:
    """Tell whether a name is one that programs pass over."""
    return name.startswith((".", "_"))


def is_beside(name: str) -> bool:
    """Tell whether a file is one of those that are next to data."""
    return bool(_BESIDE.fullmatch(name)) or name in _BESIDE_NAMES


def says_records(name: str) -> bool:
    """Tell whether a name says that a file holds records."""
    if is_hidden(name) or is_beside(name):
        return False
    shard = _SHARD.fullmatch(name)
    if shard and min(len(shard["number"]), len(shard["total"])) >= _SURE_DIGITS:
        return True
    if shard:
        return _SUFFIXED.fullmatch(name) is not None
    return _RECORDS.fullmatch(name) is not None


def split_of(name: str) -> str:
    """Return the split that a file's name speaks of: `train` of train-00000-of-00008.

    It is what stands before the shard's number, or before the suffix, without the
    numbers at its end: `part` of part_007.tfrecord. It is "" if nothing is left, and if
    there is neither a number nor a suffix.
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


def gaps_of(paths: Iterable[Path]) -> tuple[Gap, ...]:
    """Find what is missing of files that are numbered as `-00000-of-00008`.

    Args:
        paths: all files that there are, of one directory or of several.
    """
    found: dict[tuple[Path, str], dict[int, dict[int, str]]] = {}
    for path in sorted(paths):
        shard = _SHARD.fullmatch(path.name)
        if shard:
            totals = found.setdefault((path.parent, shard["split"]), {})
            numbers = totals.setdefault(int(shard["total"]), {})
            numbers.setdefault(int(shard["number"]), path.name)
    gaps: list[Gap] = []
    for (directory, split), totals in found.items():
        if len(totals) > 1:
            gaps.append(_mixed(directory, split, totals))
        for total, names in sorted(totals.items()):
            gaps += _missing(directory, split, total, names)
    return tuple(gaps)


def _mixed(directory: Path, split: str, totals: Mapping[int, Mapping[int, str]]) -> Gap:
    ordered = sorted(totals.items())
    said = [
        f"{len(names):,} file{'' if len(names) == 1 else 's'} -of-{_total(names)}"
        for _, names in ordered[:_TOLD]
    ]
    more = len(ordered) - len(said)
    text = " and ".join(said) + (f", and {more:,} more such numbers" if more else "")
    first = min(ordered[0][1].items())[1]
    return Gap(split, directory / first, f"names of several writings: {text}", True)


def _total(names: Mapping[int, str]) -> str:
    match = _SHARD.fullmatch(min(names.values()))
    assert match is not None
    return match["total"]


def _missing(
    directory: Path, split: str, total: int, names: Mapping[int, str]
) -> list[Gap]:
    """Find the numbers that are missing, however large names say that they become."""
    start = 1 if total in names and 0 not in names else 0
    there = sum(start <= number < start + total for number in names)
    lacking = total - there
    if lacking <= 0:
        return []
    first: list[int] = []
    number = start
    while len(first) < min(lacking, _TOLD):
        if number not in names:
            first.append(number)
        number += 1
    like = min(names.items())[1]
    match = _SHARD.fullmatch(like)
    assert match is not None
    digits = len(match["number"])
    told = ", ".join(f"{each:0{digits}d}" for each in first)
    says = f"names say {total:,} file{'' if total == 1 else 's'}"
    if lacking == 1:
        text = f"{says}, {told} is not there"
    elif lacking <= _TOLD:
        text = f"{says}, {told} are not there"
    else:
        text = f"{says}, {lacking:,} of them are not there, the first ones {told}"
    at, to = match.span("number")
    name = f"{like[:at]}{first[0]:0{digits}d}{like[to:]}"
    return [Gap(split, directory / name, text)]
