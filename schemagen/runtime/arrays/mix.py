"""`mix` of generated code, which is imported before it is known whether anyone reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .split import Split


def mix(splits: Sequence[Split], weights: Sequence[float] | None = None) -> Split:
    """Return the records of several splits as one, in fixed proportions.

    Splits take turns, each in its own order, and no record comes twice. An epoch ends where
    a split has no further record.

    Args:
        splits: of records with the same fields.
        weights: how often each is drawn from, relative to the others; None for equally
            often.

    Raises:
        DatasetError: `splits` is empty, a weight is not a positive number, or fields differ.
    """
    from .split import mixed

    return mixed(splits, weights)
