"""Orders are exact permutations, the same everywhere, and look random."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from schemagen.runtime.arrays.order import Order


@pytest.mark.parametrize("block", [None, 1, 3, 16])
@pytest.mark.parametrize("records", [0, 1, 2, 3, 5, 100, 1000, 4097])
def test_every_record_comes_once(records: int, block: int | None) -> None:
    for epoch in range(3):
        numbers = Order(records, 7, epoch, block).at(np.arange(records))
        assert sorted(numbers.tolist()) == list(range(records))


def test_positions_may_be_asked_for_in_any_pieces() -> None:
    order = Order(1000, 7, 2, 16)
    pieces = [order.at(np.arange(start, start + 50)) for start in range(0, 1000, 50)]
    assert np.concatenate(pieces).tolist() == order.at(np.arange(1000)).tolist()


def test_seeds_and_epochs_have_orders_of_their_own() -> None:
    places = np.arange(100)
    first = Order(100, 7).at(places).tolist()
    assert first == Order(100, 7).at(places).tolist()
    assert first != Order(100, 8).at(places).tolist()
    assert first != Order(100, 7, 1).at(places).tolist()
    assert Order(100).at(places).tolist() == places.tolist()


def test_an_order_is_that_of_all_versions_and_machines() -> None:
    """Resumed runs and runs of several machines depend on it."""
    assert Order(10, 1).at(np.arange(10)).tolist() == [2, 7, 9, 6, 4, 3, 1, 8, 0, 5]
    assert Order(10, 1, 0, 2).at(np.arange(10)).tolist() == [
        0,
        5,
        6,
        7,
        8,
        4,
        9,
        1,
        3,
        2,
    ]


def test_all_orders_are_about_equally_frequent() -> None:
    counts = dict.fromkeys(permutations(range(4)), 0)
    for seed in range(4800):
        counts[tuple(Order(4, seed).at(np.arange(4)).tolist())] += 1
    assert all(130 < count < 270 for count in counts.values())


def test_neighbours_have_nothing_to_do_with_each_other() -> None:
    orders = np.stack([Order(500, seed).at(np.arange(500)) for seed in range(400)])
    one, next_one = orders[:, :-1].ravel(), orders[:, 1:].ravel()
    assert abs(np.corrcoef(one, next_one)[0, 1]) < 0.02
    assert abs(orders[:, 0].mean() - 249.5) < 35


def test_blocks_stay_together_in_windows() -> None:
    """Of 16 blocks of 10 neighbours come 160 records, before any of the next ones."""
    numbers = Order(1000, 7, 0, 10).at(np.arange(160))
    steps = np.diff(np.sort(numbers))
    assert (steps == 1).sum() >= 144
    assert (np.diff(numbers) == 1).sum() < 20
