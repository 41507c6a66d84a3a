"""Doubts about whole files, which no record shows and which sealing would settle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..checks import UNKNOWN_KEY, UNKNOWN_LIST, Tally
from ..foreign import are_of_one_kind, lacked_by_chance
from ..formatting import listed, one_line, plural
from ..one_pass import Scanned

if TYPE_CHECKING:
    from ...spec.model import RecordSpec

_LONGEST_KEY = 60


def doubts_of(
    spec: RecordSpec, files: Sequence[Scanned], known: Sequence[Scanned]
) -> Iterator[str]:
    """Yield why files may be the wrong ones although no record is wrong.

    Args:
        spec: what all records were compared with.
        files: the files.
        known: files to compare them with, which a manifest lists already.
    """
    keys = {part.key for field in spec.fields for part in field.codec.parts}
    same = [scanned.tally for scanned in known if scanned.tally.records]
    usual = []
    for scanned in files:
        doubt = _doubt(scanned, keys)
        if doubt:
            yield f"{scanned.range.path} {doubt}"
        else:
            usual.append(scanned)
    same += [scanned.tally for scanned in usual]
    often = _often(keys, same)
    for scanned in usual:
        records = scanned.tally.records
        lacking = [
            key
            for key, share in often.items()
            if key not in scanned.tally.keys and not lacked_by_chance(share, records)
        ]
        if lacking:
            yield f"{scanned.range.path} lacks {_names(lacking)}, which other files have"


def _doubt(scanned: Scanned, keys: set[str]) -> str:
    """Say what is wrong with a file by itself; "" for nothing."""
    tally = scanned.tally
    if not tally.records:
        return "has no records" if tally.bytes else "is empty"
    unknown = (UNKNOWN_KEY, UNKNOWN_LIST)
    others = [note.key for note in tally.notes() if note.what in unknown]
    own = len(tally.keys)
    if are_of_one_kind(own, len(keys), own + len(others)):
        return ""
    of = plural(len(keys), "key")
    return (
        f"holds other records: they have {len(tally.keys)} of the {of} of the schema, "
        f"and {_names(others)}"
    )


def _often(keys: Iterable[str], files: Sequence[Tally]) -> dict[str, float]:
    """Return the keys that half of the files have, and in what share of their records."""
    found = {}
    for key in sorted(keys):
        holding = [tally for tally in files if key in tally.keys]
        if holding and 2 * len(holding) >= len(files):
            records = sum(tally.records for tally in holding)
            found[key] = sum(tally.keys[key] for tally in holding) / records
    return found


def _names(keys: Iterable[str]) -> str:
    return listed([f"'{one_line(key, _LONGEST_KEY)}'" for key in keys])
