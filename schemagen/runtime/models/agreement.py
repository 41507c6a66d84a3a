"""Whether a dataset's elements are what a generated model takes and learns.

Keras by itself pairs a dict with inputs by position where names differ, casts another
dtype, and adds or drops dimensions of 1, all without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..shared.errors import did_you_mean
from ..shared.requirements import tf

_FIELDS = "make_dataset(fields=...) and build_model(fields=...) have to name the same"


def check(
    model: Any,
    dataset: tf.data.Dataset,
    targets: Mapping[str, tf.TensorSpec],
    *,
    weighted: bool = False,
) -> None:
    """Check a dataset for `model.fit` and `model.evaluate`.

    Args:
        model: a generated one.
        dataset: of (features, targets) or (features, targets, weights); of a record
            without targets, of features.
        targets: what the record's datasets deliver to learn from, by name.
        weighted: whether they deliver weights.

    Raises:
        ValueError: names, shapes or dtypes differ; says which, and what to do.
    """
    _check_types(model, dataset)
    element = dataset.element_spec
    problems = [*_features(model, element)]
    problems += _learned(element, targets, weighted)
    _refuse(problems)


def check_features(model: Any, dataset: tf.data.Dataset) -> None:
    """Check the features of a dataset, whatever comes after them.

    Raises:
        ValueError: names, shapes or dtypes differ; says which, and what to do.
    """
    _check_types(model, dataset)
    _refuse([*_features(model, dataset.element_spec)])


def _check_types(model: Any, dataset: Any) -> None:
    """Check that arguments are not given in the wrong order.

    Raises:
        TypeError: the dataset is none.
    """
    if not hasattr(dataset, "element_spec"):  # distributed datasets have one too
        raise TypeError(
            f"found a {type(dataset).__name__} as the dataset, expected a "
            "tf.data.Dataset: the model comes first, then the dataset"
        )


def _refuse(problems: list[str]) -> None:
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems)
        raise ValueError(f"the dataset does not fit the model:{listed}")


def _features(model: Any, element: Any) -> Iterator[str]:
    """Yield what is wrong with the features of an element."""
    found = element[0] if isinstance(element, tuple) and element else element
    wanted = dict(model.input)
    if not isinstance(found, dict):
        names = ", ".join(wanted)
        yield f"features: found {_text(found)}, expected a dict with {names}"
        return
    if not set(found) & set(wanted):
        yield (
            f"features: found {', '.join(found) or 'none'}, expected "
            f"{', '.join(wanted)}: this is the dataset of another record"
        )
        return
    shared = [name for name in wanted if name in found]
    if all(_is_single(found[name], wanted[name]) for name in shared):
        yield (
            "its elements are single records, expected batches: make it with "
            "make_dataset(batch_size=...), or end it with .batch(...)"
        )
        return
    for name, tensor in wanted.items():
        if name not in found:
            yield f"feature {name!r}: missing, expected {_input_text(tensor)}; {_FIELDS}"
    for name in found:
        if name not in wanted:
            advice = did_you_mean(name, set(wanted) - set(found)) or _FIELDS
            yield f"feature {name!r}: the model has no such input; {advice}"
    for name in shared:
        yield from _compared(name, found[name], wanted[name])


def _is_single(found: Any, wanted: Any) -> bool:
    """Tell whether a tensor is one record's, without the dimension of the batch."""
    rank = getattr(found, "shape", tf.TensorShape(None)).rank
    return rank is not None and rank == len(wanted.shape) - 1


def _compared(name: str, found: Any, wanted: Any) -> Iterator[str]:
    """Yield how a feature differs from the model's input."""
    sides = f"found {_text(found)}, expected {_input_text(wanted)}"
    layout, expected = _layout(found), _input_layout(wanted)
    if not isinstance(found, tf.TypeSpec) or layout is None:
        yield f"feature {name!r}: {sides}"
    elif layout != expected:
        yield (
            f"feature {name!r}: {sides}; the model takes it {expected}, as the schema "
            "declares it: leave it as make_dataset delivers it"
        )
    elif found.dtype.name != wanted.dtype:
        yield (
            f"feature {name!r}: {sides}; the model casts and scales by itself: leave "
            "the dtype as make_dataset delivers it, in map and augment too"
        )
    elif not found.shape.is_compatible_with(tuple(wanted.shape)):
        yield f"feature {name!r}: {sides}"


def _learned(
    element: Any, targets: Mapping[str, tf.TensorSpec], weighted: bool
) -> Iterator[str]:
    """Yield what is wrong with what comes after the features."""
    parts = list(element[1:]) if isinstance(element, tuple) else []
    names = ", ".join(targets)
    if not targets:
        if parts:
            yield (
                f"found {_text(parts[0])} after the features, expected features alone: "
                "the record has no targets, and info=True is not for model.fit"
            )
        return
    if not parts:
        yield (
            f"targets: missing, expected {names}; targets=False is for model.predict, "
            "not for fit and evaluate"
        )
        return
    yield from _compared_targets(parts[0], targets)
    rest = parts[1:]
    if weighted:
        if not rest:
            yield "weights: missing, expected (features, targets, weights)"
            return
        if isinstance(rest[0], dict):
            yield f"weights: found {_text(rest[0])}, expected one tensor [B]"
        rest = rest[1:]
    if rest and isinstance(rest[0], dict):
        yield (
            f"found a dict with {', '.join(rest[0])} at the end of each element, "
            "expected none: info=True is for looking at data, and model.fit "
            f"{'does not take it' if weighted else 'would take it for weights'}"
        )
    elif rest and weighted:
        yield f"found {_text(rest[0])} after the weights, expected nothing more"


def _compared_targets(
    found: Any, targets: Mapping[str, tf.TensorSpec]
) -> Iterator[str]:
    """Yield how the targets differ: of one, a tensor; of several, a dict."""
    if len(targets) == 1:
        ((name, spec),) = targets.items()
        if isinstance(found, dict):
            yield f"target {name!r}: found {_text(found)}, expected {_text(spec)}"
        else:
            yield from _compared_target(name, found, spec)
        return
    if not isinstance(found, dict):
        yield f"targets: found {_text(found)}, expected a dict with {', '.join(targets)}"
        return
    for name in targets:
        if name not in found:
            yield f"target {name!r}: missing, expected {_text(targets[name])}"
    for name in found:
        if name not in targets:
            words = did_you_mean(name, set(targets) - set(found))
            advice = words or f"expected {', '.join(targets)}"
            yield f"target {name!r}: the model has no such output; {advice}"
        else:
            yield from _compared_target(name, found[name], targets[name])


def _compared_target(name: str, found: Any, wanted: tf.TensorSpec) -> Iterator[str]:
    if not isinstance(found, tf.TensorSpec) or not (
        found.dtype == wanted.dtype and found.shape.is_compatible_with(wanted.shape)
    ):
        yield f"target {name!r}: found {_text(found)}, expected {_text(wanted)}"


def _layout(spec: Any) -> str | None:
    """Name how a spec's tensors are laid out."""
    kinds = {
        tf.TensorSpec: "dense",
        tf.RaggedTensorSpec: "ragged",
        tf.SparseTensorSpec: "sparse",
    }
    return kinds.get(type(spec))


def _input_layout(tensor: Any) -> str:
    """Name how an input's tensors are laid out."""
    if getattr(tensor, "ragged", False):
        return "ragged"
    return "sparse" if tensor.sparse else "dense"


def _text(spec: Any) -> str:
    """Write part of an element: `float32 [B, 3]`, or what it is instead."""
    if isinstance(spec, dict):
        return f"a dict with {', '.join(map(str, spec)) or 'nothing'}"
    layout = _layout(spec)
    if layout is None:
        return f"a {type(spec).__name__}"
    return _tensor_text(spec.dtype.name, spec.shape, layout)


def _input_text(tensor: Any) -> str:
    shape = tf.TensorShape(tensor.shape)
    return _tensor_text(tensor.dtype, shape, _input_layout(tensor))


def _tensor_text(dtype: str, shape: tf.TensorShape, layout: str) -> str:
    sizes = "of any shape"
    if shape.rank is not None:
        batch, *sides = ["B", *shape.as_list()[1:]] if shape.rank else [""]
        sizes = (
            f"[{', '.join(str(side or '?') for side in [batch, *sides] if side != '')}]"
        )
    return f"{dtype} {sizes}{'' if layout == 'dense' else f', {layout}'}"
