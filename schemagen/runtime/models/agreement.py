"""Whether a dataset's elements are those that a generated model takes and learns from.

Keras pairs a dict with inputs by position where names differ, casts other dtypes, and
adds or drops dimensions of 1, all without an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..shared.errors import did_you_mean
from ..shared.requirements import keras, tf

_FIELDS = "make_dataset(fields=...) and build_model(fields=...) have to name the same"

_LAYOUTS = {"TensorSpec": "dense", "RaggedTensorSpec": "ragged"}
_LAYOUTS["SparseTensorSpec"] = "sparse"


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
        targets: the targets that the record's datasets deliver, by name.
        weighted: whether they deliver weights.

    Raises:
        TypeError: the dataset is not one.
        ValueError: names, shapes or dtypes differ; says which, and what to do.
    """
    element = _element(dataset)
    _refuse([*_features(model, element), *_learned(element, targets, weighted)])


def check_features(model: Any, dataset: tf.data.Dataset) -> None:
    """Check the features of a dataset, whatever comes after them.

    Raises:
        TypeError: the dataset is not one.
        ValueError: names, shapes or dtypes differ; says which, and what to do.
    """
    _refuse([*_features(model, _element(dataset))])


def check_learnable(model: Any, dataset: tf.data.Dataset) -> None:
    """Refuse what Keras certainly fails on, and leaves a model unusable by.

    That is less than `check` refuses: one may train on other targets, with another
    loss.

    Args:
        model: a compiled one.
        dataset: for `model.fit` or `model.evaluate`.

    Raises:
        ValueError: targets are missing or one-hot, or the weights are a dict.
    """
    if getattr(model, "loss", None) is not None:
        _refuse([*_unlearnable(model, _element(dataset))])


def _element(dataset: Any) -> Any:
    """Return the spec of a dataset's elements."""
    if not hasattr(dataset, "element_spec"):  # distributed datasets have one too
        raise TypeError(
            f"found a {type(dataset).__name__} as the dataset, expected a "
            "tf.data.Dataset: the model comes first, then the dataset"
        )
    return dataset.element_spec


def _refuse(problems: list[str]) -> None:
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems)
        raise ValueError(f"the dataset does not match the model:{listed}")


def _features(model: Any, element: Any) -> Iterator[str]:
    """Yield the differences of an element's features from a model's inputs."""
    found = element[0] if isinstance(element, tuple) and element else element
    wanted = {name: _input_spec(tensor) for name, tensor in model.input.items()}
    names = ", ".join(wanted)
    if not isinstance(found, dict):
        yield f"features: found {_text(found)}, expected a dict with {names}"
        return
    shared = [name for name in wanted if name in found]
    if not shared:
        yield (
            f"features: found {', '.join(found) or 'none'}, expected "
            f"{names}: this is the dataset of another record"
        )
        return
    if all(_rank(found[name]) == wanted[name].shape.rank - 1 for name in shared):
        yield (
            "its elements are single records, expected batches: make it with "
            "make_dataset(batch_size=...), or end it with .batch(...)"
        )
        return
    for name, spec in wanted.items():
        if name not in found:
            yield f"feature {name!r}: missing, expected {_text(spec)}; {_FIELDS}"
    yield from unknown_names("feature", "input", found, wanted, _FIELDS)
    for name in shared:
        if not _fits(found[name], wanted[name]):
            sides = f"found {_text(found[name])}, expected {_text(wanted[name])}"
            yield f"feature {name!r}: {sides}{_advice(found[name], wanted[name])}"


def unknown_names(
    kind: str,
    side: str,
    found: Mapping[str, Any],
    known: Mapping[str, Any],
    advice: str,
) -> Iterator[str]:
    """Yield the features or targets that a model has no input or output for."""
    for name in found:
        if name not in known:
            hint = did_you_mean(name, set(known) - set(found)) or advice
            yield f"{kind} {name!r}: the model has no {side} of this name; {hint}"


def _advice(found: Any, wanted: Any) -> str:
    """Return what to do about a feature that differs."""
    if _layout(found) not in (None, _layout(wanted)):
        return (
            f"; the model takes it {_layout(wanted)}, as the schema declares it: leave "
            "it as make_dataset delivers it"
        )
    if _layout(found) and found.dtype != wanted.dtype:
        return (
            "; the model casts and scales by itself: leave the dtype as make_dataset "
            "delivers it, in map and augment too"
        )
    return ""


def _learned(
    element: Any, targets: Mapping[str, tf.TensorSpec], weighted: bool
) -> Iterator[str]:
    """Yield the differences of targets and weights, which come after the features."""
    parts = list(element[1:]) if isinstance(element, tuple) else []
    if not targets:
        if parts:
            yield (
                f"found {_text(parts[0])} after the features, expected features alone: "
                "the record has no targets, and info=True is not for model.fit"
            )
        return
    if not parts:
        yield _without_targets(targets)
        return
    yield from _targets(parts.pop(0), targets)
    if weighted:
        if not parts:
            yield "weights: missing, expected (features, targets, weights)"
            return
        weights = parts.pop(0)
        if isinstance(weights, dict):
            yield f"weights: found {_text(weights)}, expected one tensor [B]"
    if parts and isinstance(parts[0], dict):
        yield _with_info(parts[0], weighted)
    elif parts and weighted:
        yield f"found {_text(parts[0])} after the weights, expected nothing more"


def _without_targets(names: Collection[str]) -> str:
    return (
        f"targets: missing, expected {', '.join(names)}; targets=False is for "
        "model.predict, not for fit and evaluate"
    )


def _with_info(found: Mapping[str, Any], weighted: bool) -> str:
    return (
        f"found {_text(found)} at the end of each element, expected none: "
        "info=True is for looking at data, and model.fit "
        f"{'does not take it' if weighted else 'would take it for weights'}"
    )


def _unlearnable(model: Any, element: Any) -> Iterator[str]:
    """Yield what the compiled losses of a model cannot be computed from."""
    parts = list(element[1:]) if isinstance(element, tuple) else []
    outputs = model.output
    if not isinstance(outputs, Mapping):
        outputs = dict(zip(model.output_names, model.outputs, strict=False))
    if not parts:
        yield _without_targets(outputs)
        return
    losses = model.loss
    if not isinstance(losses, Mapping):
        losses = dict.fromkeys(outputs, losses)
    targets = parts[0] if isinstance(parts[0], dict) else {}
    if len(outputs) == 1 and not targets:
        targets = dict.fromkeys(outputs, parts[0])
    for name, predicted in outputs.items():
        found = targets.get(name)
        if _takes_class_ids(losses.get(name)) and _is_one_hot(found, predicted.shape):
            yield (
                f"target {name!r}: found {_text(found)}, expected class ids, which the "
                "compiled loss takes: deliver class ids, or compile the model "
                "with a loss and metrics for it, such as 'categorical_crossentropy'"
            )
    # Keras looks for the weights of each target by its name.
    if (
        len(parts) == 2
        and isinstance(parts[1], dict)
        and not set(parts[1]) & {*outputs}
    ):
        yield _with_info(parts[1], weighted=False)
    elif len(parts) > 2 and isinstance(parts[2], dict):
        yield _with_info(parts[2], weighted=True)


def _takes_class_ids(loss: Any) -> bool:
    """Tell whether a compiled loss is a sparse crossentropy of Keras."""
    if isinstance(loss, str):
        return loss == "sparse_categorical_crossentropy"
    kind = keras.losses.SparseCategoricalCrossentropy
    return isinstance(loss, kind) and type(loss).call is kind.call


def _is_one_hot(found: Any, predicted: tuple[int | None, ...]) -> bool:
    """Tell whether targets have as many sides as predictions, and the last is not 1."""
    return _rank(found) == len(predicted) > 1 and found.shape[-1] not in (None, 1)


def _targets(found: Any, targets: Mapping[str, tf.TensorSpec]) -> Iterator[str]:
    """Yield the differences of the targets: of one, a tensor; of several, a dict."""
    if len(targets) == 1:
        found = {next(iter(targets)): found}
    elif not isinstance(found, dict):
        yield f"targets: found {_text(found)}, expected a dict with {', '.join(targets)}"
        return
    for name, wanted in targets.items():
        if name not in found:
            yield f"target {name!r}: missing, expected {_text(wanted)}"
        elif not _fits(found[name], wanted):
            sides = f"found {_text(found[name])}, expected {_text(wanted)}"
            yield f"target {name!r}: {sides}"
    expected = f"expected {', '.join(targets)}"
    yield from unknown_names("target", "output", found, targets, expected)


def _input_spec(tensor: Any) -> Any:
    """Return the spec of the tensors that a Keras input takes."""
    if getattr(tensor, "ragged", False):
        return tf.RaggedTensorSpec(tensor.shape, tensor.dtype)
    kind = tf.SparseTensorSpec if tensor.sparse else tf.TensorSpec
    return kind(tensor.shape, tensor.dtype)


def _fits(found: Any, wanted: Any) -> bool:
    """Return whether tensors of one spec are valid for another."""
    return bool(
        _layout(found) == _layout(wanted)
        and found.dtype == wanted.dtype
        and found.shape.is_compatible_with(wanted.shape)
    )


def _rank(spec: Any) -> int | None:
    rank: int | None = getattr(spec, "shape", tf.TensorShape(None)).rank
    return rank


def _layout(spec: Any) -> str | None:
    """Return the layout of a spec's tensors; None if it is not one of tensors."""
    return _LAYOUTS.get(type(spec).__name__)


def _text(spec: Any) -> str:
    """Return part of an element as text: `float32 [B, 3]`, or what it is instead."""
    if isinstance(spec, dict):
        return f"a dict with {', '.join(map(str, spec)) or 'nothing'}"
    layout = _layout(spec)
    if layout is None:
        return f"a {type(spec).__name__}"
    sizes = "of any shape"
    if spec.shape.rank is not None:
        sides = ["B", *(str(side or "?") for side in spec.shape[1:])]
        sizes = f"[{', '.join(sides[: spec.shape.rank])}]"
    return f"{spec.dtype.name} {sizes}{'' if layout == 'dense' else f', {layout}'}"
