"""Weights of several sources that are read as one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

from ..shared.errors import DatasetError
from .finding import Splits

# A directory, and the name of a split, which may have a slice behind it.
_SPLIT_BEHIND = re.compile(r"(.+):([^:/\[\]]+(?:\[[^/\]]*\])?)", re.DOTALL)


def sources_of(sources: Any, split: Splits) -> list[tuple[Any, Splits, float]]:
    """Return sources, each with its split and its weight; a single one has the weight 1.

    Args:
        sources: a source; or a dict of sources, each with its weight. Where no split is
            named, one of a directory may stand behind it, as in "data:train".
        split: which split of each directory, or several.

    Raises:
        DatasetError: there are none, or a weight is not a positive number.
    """
    if not isinstance(sources, Mapping):
        one = isinstance(sources, (str, os.PathLike))
        return [(sources if one else tuple(sources), split, 1.0)]
    check_weights(sources)
    found: list[tuple[Any, Splits, float]] = []
    for source, weight in sources.items():
        behind = _SPLIT_BEHIND.fullmatch(os.fspath(source))
        if behind and split is None:
            found.append((behind[1], behind[2], weight))
        else:
            found.append((source, split, weight))
    return found


def check_weights(weights: Mapping[Any, float]) -> None:
    """Refuse weights that are no shares.

    Raises:
        DatasetError: there are none, or one is not a positive number.
    """
    if not weights:
        raise DatasetError("an empty dict of sources")
    for source, weight in weights.items():
        number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not number or not isfinite(weight) or weight <= 0:
            raise DatasetError(
                f"source {source!r}: found the weight {weight!r}, expected a positive "
                "number"
            )
