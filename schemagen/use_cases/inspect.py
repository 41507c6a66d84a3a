"""The use case: statistics of data and what is wrong with it, from one pass; a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..data.checks import Tally
from ..data.framing import whole_range
from ..data.inspect.inspecting import statistics_of
from ..data.one_pass import FileGroup, Scanned, Wanted, read_data, read_files
from ..data.profile.associations import keys_of
from ..data.profile.columns import keys_named, specs_by_split
from ..data.profile.profile import Profile, profile_of
from ..data.sources import Data
from ..data.verify.verification import Verification
from ..data.verify.verifying import EXAMPLES, splits_of, verification_of
from ..progress import Bar
from ..runtime.native import FLOAT, INT64
from ..runtime.shared.tfrecord import MOST_RECORD_BYTES

if TYPE_CHECKING:
    from ..rules import Thresholds
    from ..spec.model import RecordSpec


@dataclass(frozen=True)
class Report:
    """An HTML report that was written.

    Attributes:
        path: the file.
        bytes: its size.
        profile: of the data.
        verification: what is wrong with the data.
    """

    path: str
    bytes: int
    profile: Profile
    verification: Verification


def write_report(
    path: str, data: Data, spec: RecordSpec | None = None, **reading: Any
) -> Report:
    """Read data once, and write the HTML report.

    Args:
        path: the file, which `check_target` has allowed.
        data: the files.
        spec: of all records; None for those that the manifest lists.
        **reading: as `read` takes them.

    Raises:
        DatasetError: a worker died, or there are no such groups.
    """
    from ..data.report.page import write_report as write

    profile, verification = read(data, spec, **reading)
    size = write(path, profile, verification)
    return Report(path, size, profile, verification)


def read(
    data: Data,
    spec: RecordSpec | None = None,
    *,
    limit: int | None = None,
    workers: int | None = None,
    max_record_bytes: int = MOST_RECORD_BYTES,
    lengths: bool = False,
    groups: Sequence[str] = (),
    thresholds: Thresholds | None = None,
) -> tuple[Profile, Verification]:
    """Read data once, for all that a report shows.

    Args:
        data: the files.
        spec: of all records; None for those that the manifest lists.
        limit: read only so many records of each split.
        workers: how many processes read; None for one a core.
        max_record_bytes: longer records are damage.
        lengths: keep the lengths of records, for an index.
        groups: as `inspect_data` takes them.
        thresholds: of a project; None for the defaults.

    Returns:
        What the data is like, and what is wrong with it.

    Raises:
        DatasetError: a worker died, or there are no such groups.
    """
    splits = splits_of(data, spec, EXAMPLES)
    read = [each.group for each in splits]
    rows = keys_of(each.spec for each in read if each.spec is not None)
    rows = tuple(dict.fromkeys((*rows, *_keys_of_numbers(read, max_record_bytes))))
    wanted = Wanted(
        examples=EXAMPLES,
        statistics=True,
        digests=True,
        limit=limit,
        max_record_bytes=max_record_bytes,
        lengths=lengths,
        rows=rows,
        groups=keys_named(groups, (each.spec for each in read)),
    )
    with Bar("reading") as bar:
        found = read_data(data, read, wanted, workers=workers, progress=bar)
    statistics = statistics_of(data, found, limit)
    verification = verification_of(data, splits, found)
    profile = profile_of(
        data,
        statistics,
        specs_by_split(data, spec),
        spec,
        groups=wanted.groups,
        thresholds=thresholds,
    )
    return profile, verification


_FIRST = 100
"""So many records of each split show which keys have numbers."""


def _keys_of_numbers(
    groups: Sequence[FileGroup], max_record_bytes: int
) -> tuple[str, ...]:
    """Return the first keys that have a single number in the first records."""
    from ..data.profile.correlations import MOST

    found: dict[str, bool] = {}
    for group in groups:
        files = [Scanned(whole_range(file), Tally(0)) for file in group.files]
        for _, columns in read_files(files, _FIRST, max_record_bytes=max_record_bytes):
            for key, some in columns.by_key.items():
                single = all(
                    each.kind in (FLOAT, INT64) and each.lengths.max(initial=0) <= 1
                    for each in some
                )
                found[key] = found.get(key, True) and single
    return tuple(key for key, single in found.items() if single)[:MOST]
