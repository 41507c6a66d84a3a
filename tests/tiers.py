"""What `make test` runs of tests with many cases; `make test-all` runs all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

Item = TypeVar("Item")


def examples(number: int) -> settings:
    """Return the settings of a property test.

    Args:
        number: how many examples it runs; a third of them in the profile `quick`.
    """
    share = settings().max_examples / settings.get_profile("default").max_examples
    return settings(
        max_examples=max(1, round(number * share)),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],  # other work may slow it down
    )


def in_tiers(
    records: Sequence[Item], facts: Callable[[Item], Collection[object]]
) -> list[object]:
    """Return the parameters for a test of each record, most of them marked as slow.

    Quick are each fourth record, and those that have a fact which none before has.

    Args:
        records: what the test takes; `str` names each.
        facts: what of a record `make test` has to meet, such as its kinds.
    """
    quick = set(range(0, len(records), 4))
    met = {fact for number in quick for fact in facts(records[number])}
    for number, record in enumerate(records):
        if not met.issuperset(facts(record)):
            quick.add(number)
            met.update(facts(record))
    return [
        pytest.param(
            record, id=str(record), marks=[] if number in quick else pytest.mark.slow
        )
        for number, record in enumerate(records)
    ]
