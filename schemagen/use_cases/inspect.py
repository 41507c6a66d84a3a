"""The use case: statistics of data and what is wrong with it, from one pass."""

from __future__ import annotations

from ..data.checks.model import Verification
from ..data.inspect.inspecting import statistics_of
from ..data.limits import MAX_RECORD_BYTES
from ..data.listing import Listing
from ..data.one_pass import Wanted, read_data
from ..data.statistics.model import DataStatistics
from ..data.verify.splits import splits_of
from ..data.verify.verification import EXAMPLES, verification_of
from ..progress import Bar
from ..spec.model import RecordSpec


def inspect_and_verify(
    listing: Listing,
    spec: RecordSpec | None = None,
    *,
    limit: int | None = None,
    workers: int | None = 1,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> tuple[DataStatistics, Verification]:
    """Return what files hold, with digests, and what is wrong with them, in one pass.

    Arguments are those of `inspect_data` and of `verify`.

    Raises:
        DatasetError: a worker died.
    """
    splits = splits_of(listing, spec, EXAMPLES)
    groups = [each.group for each in splits]
    wanted = Wanted(EXAMPLES, True, True, limit, max_record_bytes)
    with Bar("reading") as bar:
        found = read_data(listing, groups, wanted, workers=workers, progress=bar)
    statistics = statistics_of(listing, found, limit)
    return statistics, verification_of(listing, splits, found)
