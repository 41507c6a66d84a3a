"""The report of rows that were left out."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..shared.errors import DatasetError, RecordError, warn
from ..storage.files import named
from .encoding import Refused

if TYPE_CHECKING:
    from .shards import Receipt

_SHOWN = 3


def check_report(path: str | os.PathLike[str] | None) -> None:
    """See that a report can be written.

    Raises:
        DatasetError: the path is not local, or names something other than a file.
        OSError: the file cannot be written.
    """
    if path is None:
        return
    if "://" in os.fspath(path):
        raise DatasetError(f"refused={os.fspath(path)!r}: expected a local path")
    if os.path.exists(path) and not os.path.isfile(path):
        raise DatasetError(
            f"refused={os.fspath(path)!r}: expected the path of a file, found a "
            "directory, a device or a pipe"
        )
    with Path(path).open("a"):
        pass


def report(
    path: str | os.PathLike[str] | None, split: str, receipts: Iterable[Receipt]
) -> None:
    """Write a line of JSON for each row that was left out, and warn of them.

    Args:
        path: a local file, which is replaced; None for none.
        split: the split's name.
        receipts: of all shards.

    Raises:
        OSError: the disk refuses.
    """
    found = sorted(
        (row for receipt in receipts for row in receipt.refused),
        key=lambda row: (-1 if row.part is None else row.part, row.row),
    )
    if path is not None:
        # Names may hold what UTF-8 cannot.
        text = "".join(map(_line_of, found)).encode("utf-8", "backslashreplace")
        with named(Path(path)):
            Path(path).write_bytes(text)
    if not found:
        return
    rows = "1 row was" if len(found) == 1 else f"{len(found)} rows were"
    counts = Counter(row.field for row in found)
    fields = ", ".join(
        f"{count} for {f'field {field!r}' if field else 'the row as a whole'}"
        for field, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )
    shown = "\n".join(f"  {_error_of(row)}" for row in found[:_SHOWN])
    more = len(found) - _SHOWN
    ending = f"\n  and {more} more" if more > 0 else ""
    where = (
        "pass refused=, a path, for a report of them" if path is None else f"see {path}"
    )
    warn(f"split {split!r}: {rows} left out ({fields}); {where}:\n{shown}{ending}")


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
