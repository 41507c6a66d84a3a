"""Which part of a batch each field is for training: feature, target, weight or info."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .codec import RecordCodec


@dataclass(frozen=True)
class Roles:
    """What an element holds.

    Attributes:
        features: the names of the features, masks included.
        targets: the names of the targets.
        weights: the name of sample weights, if there are any.
        info: the names of what comes last.
        missing_targets: the value of a missing target that has a mask, by name.
    """

    features: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    info: tuple[str, ...] = ()
    missing_targets: Mapping[str, float] = field(default_factory=dict)

    def element(
        self, batch: Mapping[str, Any], where: Callable[..., Any]
    ) -> tuple[Any, ...]:
        """Return (features, targets, weights, info) of a batch, without what is missing.

        Args:
            batch: columns by name, not nested.
            where: `numpy.where` or `tf.where`.
        """
        element: list[Any] = [{n: batch[n] for n in self.features if n in batch}]
        targets = {
            name: self._target(batch, name, where)
            for name in self.targets
            if name in batch
        }
        if targets:
            single = len(targets) == 1
            element.append(next(iter(targets.values())) if single else targets)
            element += [batch[name] for name in self.weights if name in batch]
        if self.info:
            element.append({name: batch[name] for name in self.info})
        return tuple(element)

    def _target(
        self, batch: Mapping[str, Any], name: str, where: Callable[..., Any]
    ) -> Any:
        missing, mask = self.missing_targets.get(name), f"{name}_present"
        if missing is None or mask not in batch:  # which functions leave out
            return batch[name]
        present = batch[mask][:, None]
        return where(present, batch[name], np.float32(missing))


def missing_targets(record: RecordCodec, targets: tuple[str, ...]) -> dict[str, float]:
    """Return the value of each missing target that has a mask, by name."""
    values = {name: record[name].delivered.absence.target for name in targets}
    return {name: value for name, value in values.items() if value is not None}
