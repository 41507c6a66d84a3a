"""Several sources that are read as one, each with a weight."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ..shared.errors import DatasetError
from ..storage.schema import Spec
from .finding import Splits
from .opening import open_shards
from .shards import Shards
from .shares import Share, ShareIndex, share_of
from .slices import Slice, split_and_slice

# A directory, and the name of a split, which may have a slice behind it.
_SPLIT_BEHIND = re.compile(r"(.+):([^:/\[\]]+(?:\[[^/\]]*\])?)", re.DOTALL)


@dataclass(frozen=True)
class Component:
    """What is read of one source.

    Attributes:
        shards: its files.
        slice: of their records; None for all.
        weight: how often a record is drawn from it, relative to the other sources.
    """

    shards: Shards
    slice: Slice | None = None
    weight: float = 1.0

    def share_of(self, index: ShareIndex | None) -> Share:
        """Return what one of several readers reads of it."""
        return share_of(index, len(self.shards.files), self.shards.records, self.slice)


def open_components(sources: Any, split: Splits, spec: Spec) -> list[Component]:
    """Open a source, or several that are mixed.

    Args:
        sources: a source; or a dict of sources, each with its weight. Where no split is
            named, one of a directory may stand behind it, as in "data:train".
        split: which split of each directory, or several; a slice may follow a single one.
        spec: the reader's own spec.

    Raises:
        DatasetError: there are none, a weight is not a positive number, or files are not
            those that were written.
        SchemaMismatchError: the data was written with an incompatible schema.
    """
    if isinstance(sources, Mapping):
        check_weights(sources)
        weighted = [*sources.items()]
    else:
        one = isinstance(sources, (str, os.PathLike))
        weighted = [(sources if one else tuple(sources), 1.0)]
    components = []
    for source, weight in weighted:
        named = split
        if isinstance(sources, Mapping) and split is None:
            behind = _SPLIT_BEHIND.fullmatch(os.fspath(source))
            source, named = behind.groups() if behind else (source, None)
        names, own = split_and_slice(named)
        components.append(Component(open_shards(source, names, spec), own, weight))
    return components


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
