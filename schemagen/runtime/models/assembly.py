"""Putting a generated model together: which fields, encoders and heads it is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ..shared.errors import with_suggestion
from ..shared.requirements import has_keras, keras, layers
from .blocks import DEFAULT_UNITS

# From a Keras input to features [B, D].
Encoder = Callable[[Any], Any]

# From features [B, D] to predictions; the head of a mask takes the inputs as well.
Head = Callable[..., Any]


def choose_fields(
    known: Collection[str],
    fields: Collection[str] | None,
    only_tensorflow: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return the fields that a model has inputs for, in the order of the record.

    Args:
        known: the names of the input fields there are.
        fields: the names of those that the dataset delivers; None for all.
        only_tensorflow: those that no other backend of Keras takes, and what they are:
            strings, ragged, ragged strings or sparse.

    Raises:
        ValueError: a name that is not an input field, no name at all, or one that the
            backend or the version of Keras cannot take.
    """
    if fields is None:
        chosen = tuple(known)
    else:
        _check_names("fields", "field", fields, known)
        chosen = tuple(name for name in known if name in fields)
    needs = only_tensorflow or {}
    backend = keras.backend.backend()
    if backend != "tensorflow":
        refused = dict(needs)
        found, wanted = (
            f"Keras runs on {backend!r}",
            "with the backend 'tensorflow' only",
        )
    elif not has_keras(3, 9):
        refused = {name: kind for name, kind in needs.items() if "ragged" in kind}
        found, wanted = f"this is Keras {keras.__version__}", "from Keras 3.9 on only"
    else:
        return chosen
    if not set(refused) & set(chosen):
        return chosen
    listed = ", ".join(f"{n!r} ({kind})" for n, kind in refused.items() if n in chosen)
    left = tuple(name for name in known if name not in refused)
    advice = (
        f"pass fields={left!r} to make_dataset and build_model"
        if left
        else "the record has no other fields"
    )
    raise ValueError(f"{found}, and takes {listed} {wanted}: leave them out; {advice}")


def choose_encoders(
    known: Mapping[str, Encoder],
    delivered: Collection[str],
    inputs: Collection[str] | None,
    own: Mapping[str, Encoder] | None,
) -> dict[str, Encoder]:
    """Return the encoder for each input to learn from.

    Args:
        known: the encoder of each input there is.
        delivered: the names of the model's inputs.
        inputs: the names of those to learn from; None for all.
        own: encoders to use in place of the known ones.

    Raises:
        ValueError: a name that is not an input, or no name at all.
    """
    if not delivered:
        raise ValueError(
            "the record has no input, and a model needs one: give a field "
            "role='input' in the schema, and run `schemagen generate`"
        )
    chosen = delivered if inputs is None else inputs
    _check_names("inputs", "input", chosen, delivered)
    _check_names("encoders", "input", own or (), delivered, empty=True)
    return {name: (own or {}).get(name, known[name]) for name in chosen}


def choose_heads(
    known: Mapping[str, Head], own: Head | Mapping[str, Head] | None
) -> dict[str, Head]:
    """Return the head for each target.

    Args:
        known: the head of each target there is.
        own: heads to use in place of the known ones, by target; or the one of a
            record with one target.

    Raises:
        ValueError: a name that is not a target, or one head for several targets.
    """
    if own is None:
        return dict(known)
    if isinstance(own, Mapping):
        _check_names("head", "target", own, known, empty=True)
        return {**known, **own}
    if len(known) > 1:
        raise ValueError(
            f"head: found one function for several targets, expected a dict by name "
            f"out of {', '.join(known)}"
        )
    return dict.fromkeys(known, own)


def choose_loss_weights(targets: Collection[str], own: Any) -> dict[str, float] | None:
    """Return how much each target's loss counts: 1 where nothing else is said.

    Args:
        targets: the names of those there are.
        own: numbers by name; None for 1 throughout.

    Raises:
        ValueError: not a dict, a name that is not a target, or a value that is not a number.
    """
    if own is None:
        return None
    if not isinstance(own, Mapping):
        example = dict.fromkeys(targets, 1.0)
        raise ValueError(
            f"loss_weights: found a {type(own).__name__}, expected a dict by target, "
            f"such as {example}"
        )
    _check_names("loss_weights", "target", own, targets, empty=True)
    for name, weight in own.items():
        if isinstance(weight, (str, bytes)) or not hasattr(weight, "__float__"):
            raise ValueError(
                f"loss_weights: found {weight!r} for {name!r}, expected a number"
            )
    return {name: float(own.get(name, 1.0)) for name in targets}


def _check_names(
    parameter: str,
    kind: str,
    names: Collection[str],
    known: Collection[str],
    *,
    empty: bool = False,
) -> None:
    """Refuse names that are not known."""
    choices = ", ".join(known)
    if isinstance(names, str) or not (names or empty):
        raise ValueError(f"{parameter}={names!r}: expected names out of {choices}")
    for name in names:
        if name not in known:
            words = f"{parameter}: no {kind} {name!r}: expected names out of {choices}"
            raise ValueError(with_suggestion(words, name, known))


def combine(encoded: Mapping[str, Any], units: int = DEFAULT_UNITS) -> Any:
    """Join the encodings of all inputs: [B, units].

    Raises:
        ValueError: an encoder's result is not [B, D].
    """
    for name, features in encoded.items():
        if len(features.shape) != 2:
            raise ValueError(
                f"the encoder of {name!r} returned shape {list(features.shape)}, "
                "expected [B, D]; pool or flatten it"
            )
    features = list(encoded.values())
    joined = features[0] if len(features) == 1 else layers.Concatenate()(features)
    return layers.Dense(units, activation="relu")(layers.Dropout(0.2)(joined))


def predicted(name: str, predictions: Any, shape: tuple[int | None, ...]) -> Any:
    """Return a target's predictions, once they are what its loss expects.

    Args:
        name: the target's name.
        predictions: what its head returned.
        shape: of one record's predictions; None for sizes that vary.

    Raises:
        TypeError: something else than a Keras tensor.
        ValueError: predictions of another shape, or not float32.
    """
    sizes = ", ".join(map(str, ("B", *(size or "?" for size in shape))))
    expected = f"expected float32 [{sizes}]"
    if not isinstance(predictions, keras.KerasTensor):
        found = type(predictions).__name__
        raise TypeError(f"the head of {name!r} returned a {found}, {expected}")
    found = f"{predictions.dtype} {list(predictions.shape)}"
    sides = predictions.shape[1:]
    fits = len(sides) == len(shape) and all(
        None in (side, size) or side == size
        for side, size in zip(sides, shape, strict=True)
    )
    if not fits:
        raise ValueError(f"the head of {name!r} returned {found}, {expected}")
    if predictions.dtype != "float32":
        raise ValueError(
            f"the head of {name!r} returned {found}, {expected}: give its last layer "
            'dtype="float32", which a loss needs at any precision'
        )
    if not has_keras(3, 12) and predictions._keras_history.operation.name != name:
        # Keras finds metrics by the names of the last layers, and by targets since 3.12.
        return layers.Identity(dtype="float32", name=name)(predictions)
    return predictions


def reserve_names(names: Iterable[str]) -> None:
    """Keep Keras from giving a layer the name of a field, which it wants once a model.

    Keras names layers `dense`, `dense_1` and so on; it goes on from these names.
    """
    for name in names:
        keras.backend.get_uid(name)
        base, _, number = name.rpartition("_")
        if number.isdecimal() and int(number) < 10_000:
            while keras.backend.get_uid(base) <= int(number):
                pass
