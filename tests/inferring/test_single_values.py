"""Single values that are more than they seem: points in time, and categories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .inference import found_in, many

SECOND = 1_577_836_800  # 2020-01-01

# A key and its values, the unit that is declared, and what its comment says.
TIMES: list[tuple[str, Callable[[int], int], str | None, str]] = [
    ("timestamp", lambda i: SECOND + 86_400 * i, "s", "2020-01-01 to 2020-01-30"),
    ("created_at", lambda i: 1000 * SECOND + i, "ms", "2020-01-01 to 2020-01-01"),
    ("pickup_time", lambda i: 10**6 * SECOND + i, "us", 'Is it role="info"?'),
    ("eventTime", lambda i: 10**9 * SECOND + i, "ns", "in ns since 1970"),
    ("z", lambda i: SECOND + 86_400 * i, None, "Then declare unit='s'"),
    ("date", lambda i: 18_262 + i, None, "days since 1970, 2020-01-01"),
    ("z", lambda i: 18_262 + i, None, ""),
    ("time", lambda i: 60 * i, None, ""),
    ("timestamp", lambda i: 86_400 * i, None, ""),
]


@pytest.mark.parametrize(("key", "value", "unit", "said"), TIMES)
def test_times_since_1970_have_their_unit(
    tmp_path: Path, key: str, value: Callable[[int], int], unit: str | None, said: str
) -> None:
    """If their name says so; of other keys the dates are shown."""
    fields, comments = found_in(
        tmp_path, many(lambda i: {key: value(i), "x": i / 7, "label": i % 2})
    )
    assert fields[key].kind.unit == unit
    assert said in comments.get(key, "")
    assert bool(said) == bool(comments.get(key))


# Values of an input, and the declaration that its comment offers.
CATEGORIES: list[tuple[Callable[[int], Any], str]] = [
    (lambda i: i * 7 % 5, 'Label(num_classes=5, role="input")'),
    (lambda i: i * 7 % 5 + 1, 'Label(num_classes=5, offset=1, role="input")'),
    (lambda i: ("red", "blue")[i * i % 7 % 2], 'stored="text", role="input")'),
    (lambda i: i * 7 % 5 * 100, ""),
    (lambda i: i % 40, ""),
    (lambda i: f"a b {i}", ""),
]


@pytest.mark.parametrize(("value", "said"), CATEGORIES)
def test_few_values_that_repeat_may_be_categories(
    tmp_path: Path, value: Callable[[int], Any], said: str
) -> None:
    """The comment shows what to declare in their place."""
    fields, comments = found_in(
        tmp_path, many(lambda i: {"z": value(i), "x": i / 7, "label": i % 2}, 80)
    )
    assert fields["z"].role == "input"
    assert said in comments.get("z", "")
    assert bool(said) == bool(comments.get("z"))
