"""`mix` of generated code, which is imported before it is known whether anyone reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .split import Split


def mix(
    splits: Sequence[Split],
    weights: Sequence[float] | None = None,
    *,
    stop: Literal["first", "last"] = "first",
    weights_of: str | None = None,
) -> Split:
    """Return the records of several splits as one, in fixed proportions.

    Splits take turns, each in its own order.

    Args:
        splits: of records with the same fields.
        weights: how often each is drawn from, relative to the others; None for equally
            often.
        stop: "first" ends an epoch where a split has no further record, so that none comes
            twice. "last" ends it when each record was read. Shorter splits begin again
            until then, each time in another order and with other random numbers in `map`.
        weights_of: the name of a list, such as "tokens": weights are shares of its items in
            place of records. Its lengths are read once.

    Raises:
        DatasetError: `splits` is empty, a weight is not a positive number, fields differ,
            or `weights_of` is not a list. When the records are read: with "last", a split
            has no record; or all lists of a split are empty.
    """
    from .split import mixed

    return mixed(splits, weights, stop, weights_of)
