"""Which random records `make test` runs; `make test-all` runs all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest

Item = TypeVar("Item")


def quick_ones(records: Sequence[Item]) -> Sequence[Item]:
    """Return each second record; tests assert that these have every kind and dtype."""
    return records[::2]


def in_tiers(records: Sequence[object]) -> list[object]:
    """Return the parameters for a test of each record, most of them marked as slow.

    Args:
        records: what the test takes; `str` names each.
    """
    names = [str(record) for record in records]
    quick = set(quick_ones(names))
    return [
        pytest.param(record, id=name, marks=[] if name in quick else pytest.mark.slow)
        for name, record in zip(names, records, strict=True)
    ]
