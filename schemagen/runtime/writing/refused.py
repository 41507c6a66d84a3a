"""What is told about rows that were left out."""

from __future__ import annotations

import json
import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from ..shared.errors import DatasetError, RecordError, warn
from ..storage.local import named
from .encoding import Refused

_SHOWN = 3

Keep = Callable[[int | None, int], bool]


class Report:
    """Counts rows that were left out, and writes one line of JSON for each.

    Used as a context manager: entering it begins the file again; leaving it warns of
    the rows, if there were any. The file is the same for any number of workers.

    Args:
        path: a local file, replaced; None for none.
        split: the split's name, for the warning.
        keep: tells by shard (None where there is one source) and row which lines of
            an earlier run still hold, where this run goes on from it.

    Raises:
        DatasetError: the path is no local one, or leads to something else than a file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        split: str,
        *,
        keep: Keep | None = None,
    ) -> None:
        if path is not None and "://" in os.fspath(path):
            raise DatasetError(f"refused={os.fspath(path)!r}: expected a local path")
        if path is not None and os.path.exists(path) and not os.path.isfile(path):
            # It is read, and may be replaced.
            raise DatasetError(
                f"refused={os.fspath(path)!r}: expected the path of a file, found a "
                "directory, a device or a pipe"
            )
        self.rows = 0
        self._split = split
        self._path = None if path is None else Path(path)
        self._keep = keep
        self._file: IO[str] | None = None
        self._fields: Counter[str] = Counter()
        self._first: list[Refused] = []
        # For each line its part, its row, where it begins and where it ends.
        self._lines = array("q")
        self._size = 0

    def __enter__(self) -> Self:
        """Open the file, with what is to be kept of it.

        Raises:
            OSError: it cannot be written.
        """
        if self._path is not None:
            kept = self._kept(self._path) if self._keep is not None else []
            # Names may hold what UTF-8 cannot.
            self._file = self._path.open(
                "w", encoding="utf-8", errors="backslashreplace", newline="\n"
            )
            self.add(kept)
        return self

    def _kept(self, path: Path) -> list[Refused]:
        assert self._keep is not None
        try:
            lines = path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            try:
                row = _refused_of(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # cut off when the earlier run ended, or not ours
            if self._keep(row.part, row.row):
                found.append(row)
        return found

    def add(self, refused: Iterable[Refused]) -> None:
        """Take rows that were left out; those of one shard come in order.

        Raises:
            OSError: the disk refuses.
        """
        with nullcontext() if self._path is None else named(self._path):
            self._add(refused)

    def _add(self, refused: Iterable[Refused]) -> None:
        for row in refused:
            self.rows += 1
            self._fields[row.field] += 1
            self._first = sorted([*self._first, row], key=_place)[:_SHOWN]
            if self._file is not None:
                line = _line_of(row)
                size = len(line.encode("utf-8", "backslashreplace"))
                self._lines.extend((*_place(row), self._size, self._size + size))
                self._size += size
                self._file.write(line)
        if self._file is not None:
            self._file.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put the lines in the order of shards and rows, and warn of the rows."""
        if self._file is not None and self._path is not None:
            with named(self._path):
                self._file.close()
                self._sort()
        if kind is None and self.rows:
            warn(self._summary())

    def _sort(self) -> None:
        """Sort the file's lines: several workers report from several shards at once."""
        lines = np.frombuffer(self._lines, np.int64).reshape(-1, 4)
        order = np.lexsort((lines[:, 1], lines[:, 0]))
        if self._path is None or (order[1:] > order[:-1]).all():
            return
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            with self._path.open("rb") as old, temporary.open("wb") as new:
                for start, end in lines[order, 2:].tolist():
                    old.seek(start)
                    new.write(old.read(end - start))
            temporary.replace(self._path)
        finally:
            temporary.unlink(missing_ok=True)

    def _summary(self) -> str:
        rows = "1 row was" if self.rows == 1 else f"{self.rows} rows were"
        fields = ", ".join(
            f"{count} for {f'field {field!r}' if field else 'the row as a whole'}"
            for field, count in sorted(
                self._fields.items(), key=lambda item: (-item[1], item[0])
            )
        )
        shown = "\n".join(f"  {_error_of(row)}" for row in self._first)
        more = self.rows - len(self._first)
        ending = f"\n  and {more} more" if more else ""
        where = (
            "pass refused=, a path, for a report of them"
            if self._path is None
            else f"see {self._path}"
        )
        return f"split {self._split!r}: {rows} left out ({fields}); {where}:\n{shown}{ending}"


def _place(row: Refused) -> tuple[int, int]:
    return (-1 if row.part is None else row.part), row.row


def _error_of(row: Refused) -> RecordError:
    return RecordError(
        row.field, row.found, row.expected, row.advice, row.row, row.part
    )


def _line_of(row: Refused) -> str:
    facts = asdict(row)
    shard = facts.pop("part")
    if shard is not None:
        facts = {"shard": shard, **facts}
    return json.dumps(facts, ensure_ascii=False) + "\n"


def _refused_of(facts: dict[str, Any]) -> Refused:
    part, row = facts.get("shard"), facts["row"]
    if type(row) is not int or not isinstance(part, (int, type(None))):
        raise TypeError("not a row's number")
    return Refused(
        row,
        str(facts["field"]),
        str(facts["found"]),
        str(facts["expected"]),
        str(facts["advice"]),
        part,
    )
