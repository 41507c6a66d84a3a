"""This schemagen does what version 0.2.0 does, but for the differences that are listed."""

from __future__ import annotations

from differential import compare

_SEED, _EXAMPLES = "in CI", 16


def test_random_cases_have_the_same_outcome() -> None:
    """`make diff-baseline` runs more of them, and shows the schemas that differ."""
    found = compare(_SEED, range(_EXAMPLES))
    assert found.differences == []
    assert found.generated > _EXAMPLES / 2
