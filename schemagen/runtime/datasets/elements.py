"""From parsed batches to the elements of a dataset: the features, and augmentation."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..records.codec import RecordCodec
from ..records.roles import Roles
from ..shared.errors import DatasetError, did_you_mean
from ..shared.requirements import tf
from .batching import PARALLEL, Padding, lengthened, seeds

_MOST_CANDIDATES = 3
_LONG = 1000

Batch = dict[str, Any]
Augment = Callable[..., Any]
Change = Callable[[Batch, tf.Tensor], Batch]


def features_for(
    fields: Collection[str] | None,
    features: Mapping[str, str],
    record: RecordCodec,
    *,
    targets: Collection[str] = (),
    info: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the names of the features that some fields are delivered as.

    Args:
        fields: names of input fields; None for all.
        features: the field of each feature, by the feature's name.
        record: the codecs of all fields.
        targets: the fields that only training needs.
        info: the fields that are not modelled.

    Raises:
        TypeError: one name in place of several.
        ValueError: no name at all, or a name that is not an input field.
        DatasetError: the record has no input field.
    """
    if not features:
        usable = [name for name in _candidates(record) if name not in targets]
        candidates = " or ".join(map(repr, usable[:_MOST_CANDIDATES]))
        opaque = any(codec.dtype == "bytes" for codec in record.fields.values())
        raise DatasetError(
            "the record has no field of the role input, so that a dataset would have no "
            "features; declare one with role='input'"
            + (f", such as {candidates}" if candidates else "")
            + ", or read all fields with "
            "parse_batch: tf.data.TFRecordDataset(files).batch(32).map(parse_batch)"
            + ("; WAV and FLAC files: declare them as Audio(rate)" * opaque)
        )
    if fields is None:
        return tuple(features)
    known = tuple(dict.fromkeys(features.values()))
    if isinstance(fields, str):
        raise TypeError(f"fields={fields!r}: expected a collection of names")
    for name in fields:
        if name not in known:
            advice = did_you_mean(name, known)
            if name in targets:
                advice = (
                    "targets and weights always come with make_dataset and are not "
                    "listed in fields"
                )
            elif name in info:
                advice = "make_dataset(info=True) delivers the fields with role info"
            raise ValueError(
                f"no input field {name!r}: expected names out of "
                f"{', '.join(known) or 'none'}{advice and f'; {advice}'}"
            )
    if not fields:
        raise ValueError(f"fields={fields!r}: expected names out of {', '.join(known)}")
    return tuple(name for name, field in features.items() if field in fields)


def _candidates(record: RecordCodec) -> list[str]:
    """Return the names of fields that could be inputs, those with most values first.

    Single texts come last, and sizes that vary count as large ones.
    """
    sizes: dict[str, tuple[bool, int]] = {}
    for name, codec in record.fields.items():
        shape = codec.delivered.shape
        if codec.parts[0].dtype != "bytes":
            size = math.prod(_LONG if size is None else size for size in shape)
            sizes[name] = codec.dtype == "string" and not shape, -size
    return sorted(sizes, key=lambda name: sizes[name])


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
        name
        for name in record.keys
        if name in names and not record[name].delivered.batchable
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
    # autograph is for the function of a user; converting others takes most of the time.
    arrange = tf.autograph.experimental.do_not_convert(arrange)
    if change is not None:
        change = tf.autograph.experimental.do_not_convert(change)

    def changed(batch: Batch, seed: tf.Tensor) -> Any:
        element = arrange(batch if change is None else change(batch, seed))
        if augment is None:
            return element
        # Draws of the user's own, not those that the schema's were made with.
        own = (seed + 1,) if takes_seed else ()
        if isinstance(element, tuple):
            return (_features(augment(element[0], *own)), *element[1:])
        return _features(augment(element, *own))

    return tf.data.Dataset.zip((batches, seeds(seed))).map(changed, PARALLEL)


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
