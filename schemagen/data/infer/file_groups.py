"""The keys of each file: which files hold other records, and which hold none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..columns import Columns
from ..formatting import plural, shell_word
from ..remote_path import FilePath
from .draft import listed, quoted

# Records of one kind have so large a share of the keys of either in common.
_COMMON = 0.5

_MOST_KEYS = 6


@dataclass
class FileKeys:
    """The keys of one file.

    Attributes:
        path: the file.
        records: how many of its records were read.
        keys: in how many records each key is.
    """

    path: FilePath
    records: int = 0
    keys: Counter[str] = field(default_factory=Counter)

    def add(self, batch: Columns) -> None:
        """Add some records."""
        self.records += len(batch.records)
        for key, columns in batch.by_key.items():
            self.keys[key] += sum(map(len, columns))
        for key, steps in batch.steps.items():
            self.keys[key] += len(steps.rows)


@dataclass(frozen=True)
class FileGroup:
    """Files of one kind of records.

    Attributes:
        files: those that were read.
        keys: all keys of them, sorted.
    """

    files: tuple[FileKeys, ...]
    keys: tuple[str, ...]

    def __str__(self) -> str:
        """Return the name of a file, the number of files, and their keys."""
        keys = listed([quoted(key) for key in self.keys], _MOST_KEYS)
        first, number = shell_word(str(self.files[0].path)), len(self.files)
        more = f" and {plural(number - 1, 'other file')}" if number > 1 else ""
        return f"{first}{more} with {keys}"


def groups_of(files: Sequence[FileKeys]) -> tuple[FileGroup, ...]:
    """Return files in groups that share keys; one group if all do.

    Two files are of one group if half of the keys of either are those of the other,
    or of files between them.
    """
    alike: dict[frozenset[str], list[FileKeys]] = {}
    for file in files:
        if file.keys:
            alike.setdefault(frozenset(file.keys), []).append(file)
    groups: list[tuple[set[frozenset[str]], list[FileKeys]]] = []
    for keys, members in alike.items():
        near = [group for group in groups if any(_share(keys, k) for k in group[0])]
        joined: tuple[set[frozenset[str]], list[FileKeys]] = ({keys}, list(members))
        for group in near:
            groups.remove(group)
            joined = (joined[0] | group[0], group[1] + joined[1])
        groups.append(joined)
    return tuple(
        FileGroup(tuple(members), tuple(sorted(set().union(*keys))))
        for keys, members in groups
    )


def _share(keys: frozenset[str], others: frozenset[str]) -> bool:
    return len(keys & others) >= _COMMON * min(len(keys), len(others))


def only_in(files: Sequence[FileKeys]) -> Mapping[str, str]:
    """Return the file of each key that one of several files has, and no other."""
    holding: dict[str, list[FileKeys]] = {}
    for file in files:
        for key in file.keys:
            holding.setdefault(key, []).append(file)
    several = sum(bool(file.keys) for file in files) > 1
    return {
        key: found[0].path.name
        for key, found in holding.items()
        if several and len(found) == 1
    }
