"""How splits are compared, and what cannot be concluded, in words for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..formatting import listed
from .columns import Part
from .significance import CHANCE, FEWEST

RULES = (
    (
        "class shares",
        "Total variation distance: half of the sum, over all classes, of how far the "
        "shares lie apart. It is the part of one split that would have to change its "
        "class to give the other: 0 % if the shares are the same, 100 % if no class is "
        "in both.",
        "from 10 %, if a chi-square test of both splits says that chance gives such "
        "shares in less than 0.1 % of cases; rare classes are taken together in it",
    ),
    (
        "classes in one split only",
        "A class of the split of which the reference has no example, or one of the "
        "reference that the split lacks.",
        "in the first case always; in the second if, with the shares of the reference, "
        "chance would leave any class out like that in less than 0.1 % of cases",
    ),
    (
        "missing",
        "The difference of the shares of records that lack the key, in points.",
        "from 2 points, if it is also 3.3 standard errors",
    ),
    (
        "mean",
        "The difference of the means, in standard deviations (SD) of the reference's "
        "values. They are estimates from histograms of up to 256 bins.",
        "from 0.2 SD, if it is also 3.3 standard errors, with each record counted as "
        "one value",
    ),
    (
        "range",
        "How many values of the split are below the least, or how many above the "
        "greatest, of the reference. Of two samples of the same kind one has the greatest value, so "
        "that one or a few are no difference.",
        "if chance puts so many values of the split beyond all of the reference in less "
        "than 0.1 % of cases, with each record counted as one value",
    ),
    (
        "key in one split only",
        "No record of one split has the key, and some of the other do.",
        "if chance would leave it out in less than 0.1 % of cases",
    ),
)
"""What is measured: (measure, how, from where on it is marked)."""


def cautions_of(parts: Sequence[Part], compared: int) -> tuple[str, ...]:
    """Say what cannot be concluded, from so many comparisons."""
    found = []
    few = [part for part in parts if part.found.read < FEWEST]
    if few:
        counts = [f"{part.name} ({part.found.read:,})" for part in few]
        found.append(
            f"Fewer than {FEWEST} records: {listed(counts)}. Nothing is concluded from "
            "so few but which classes they have."
        )
    small = min((part.found.read for part in parts), default=0)
    if FEWEST <= small < 1000:
        least = round(100 / math.sqrt(small))
        found.append(
            f"With {small:,} records in the smallest split a share is known to within "
            f"{least} points at best: smaller differences stay unseen."
        )
    if compared * CHANCE >= 0.5:
        found.append(
            f"Of {compared:,} comparisons chance marks about "
            f"{max(1, round(compared * CHANCE)):,}."
        )
    found.append(
        "Keys are compared one by one. How they go together is not, nor what pictures "
        "show, nor whether records of one split are in another, too."
    )
    return tuple(found)
