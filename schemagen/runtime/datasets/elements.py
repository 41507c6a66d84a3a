"""From parsed batches to the elements of a dataset, and their augmentation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..codecs.records import RecordCodec
from ..codecs.roles import Roles
from ..shared.requirements import tf
from .batching import PARALLEL, Padding, lengthened, with_seeds

Batch = dict[str, Any]
Augment = Callable[..., Any]
Change = Callable[[Batch, tf.Tensor], Batch]


@dataclass(frozen=True)
class Elements:
    """What an element holds, and how.

    Attributes:
        roles: which tensors are features, targets, weights and info.
        max_lengths: the length that rows are padded to, by name.
        padding: the values that they are padded with, by name.
    """

    roles: Roles
    max_lengths: Mapping[str, int] = field(default_factory=dict)
    padding: Padding = field(default_factory=dict)

    def of(self, batch: Batch) -> Any:
        """Return the element of a parsed batch."""
        batch = lengthened(batch, self.max_lengths, self.padding)
        element = self.roles.element(batch, tf.where)
        return element[0] if len(element) == 1 else element


def of_any_size(record: RecordCodec, names: Collection[str]) -> list[str]:
    """Return the images and masks among fields that can only be read one at a time.

    Their sizes differ, and the schema declares no size to resize them to.
    """
    return [
        name for name in record.keys if name in names and not record[name].batchable
    ]


def augmented(
    batches: tf.data.Dataset,
    arrange: Callable[[Batch], Any],
    change: Change | None,
    augment: Augment | None,
    seed: int | None,
) -> tf.data.Dataset:
    """Augment parsed batches, and arrange them as elements.

    Args:
        batches: dicts by name.
        arrange: from a batch to an element.
        change: the augmentation that the schema declares.
        augment: what the user wants to be done to features after that.
        seed: makes all draws the same in every run.
    """
    takes_seed = augment is not None and len(_parameters(augment)) > 1

    def changed(batch: Batch, seed: tf.Tensor) -> Any:
        element = arrange(batch if change is None else change(batch, seed))
        if augment is None:
            return element
        # Draws of the user's own, not those that the schema's were made with.
        own = (seed + 1,) if takes_seed else ()
        if isinstance(element, tuple):
            return (_features(augment(element[0], *own)), *element[1:])
        return _features(augment(element, *own))

    return with_seeds(batches, seed).map(changed, PARALLEL)


def _features(found: Any) -> Any:
    """Return what `augment` has returned, which has to be a dict of features."""
    if not isinstance(found, Mapping):
        raise TypeError(
            f"augment returned {type(found).__name__}, expected a dict of features; it "
            "is not given the targets: a second parameter is a random seed"
        )
    return found


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters that have to be given by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a builtin: it takes features
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        parameter
        for parameter in parameters
        if parameter.kind in kinds and parameter.default is parameter.empty
    ]
