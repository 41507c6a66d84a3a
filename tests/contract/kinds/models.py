"""Nested models, and groups of fields of equal length in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from stored_features import blobs, floats, ints

from .case import Drawn, KindCase

BOXES = """\
class Boxes(BaseModel):
    left: Annotated[np.ndarray, VarLen("float32", group="boxes")]
    size: Annotated[np.ndarray, VarLen("int32", item_shape=(2,), group="boxes")]
    word: Annotated[list[str], VarLen("string", group="boxes", padding_value="-")]
    depth: Annotated[np.ndarray, VarLen("float64", group="boxes")]
    weight: Annotated[list[float] | None, VarLen("float32", group="boxes")] = None
    crowd: Annotated[
        list[bool] | None, VarLen("bool", group="boxes", presence=True)
    ] = None


"""

SCENES = """\
class Place(BaseModel):
    x: int
    note: str | None = None


class Scene(BaseModel):
    place: Place
    end: Annotated[Place, Nested(key="the end")]
    speed: Annotated[float, Scalar("float32", key="v")] = 1.5


"""


def _boxes(name: str) -> st.SearchStrategy[Drawn]:
    lengths = st.integers(0, 4)
    return st.builds(_drawn_boxes, st.just(name), lengths, st.booleans(), st.booleans())


def _drawn_boxes(name: str, length: int, weighed: bool, crowded: bool) -> Drawn:
    left = np.linspace(0, 1, length, dtype=np.float32)
    size = np.arange(2 * length, dtype=np.int32).reshape(length, 2) - 3
    words = [f"w{at}" for at in range(length)]
    depth = np.arange(length) / 3
    given: dict[str, Any] = {"left": left, "size": size, "word": words, "depth": depth}
    stored = {
        "left": floats(*left),
        "size": ints(*size.flatten()),
        "word": blobs(*(word.encode() for word in words)),
        "depth": blobs(depth.astype("<f8").tobytes()),
    }
    weight = np.zeros(0, np.float32)
    crowd = np.zeros(0, bool)
    if weighed:
        weight = np.arange(length, dtype=np.float32)
        given["weight"] = weight.tolist()
        stored["weight"] = floats(*weight)
    if crowded:
        crowd = np.arange(length) % 2 == 0
        given["crowd"] = crowd.tolist()
        stored["crowd"] = ints(*crowd.astype(int))
    delivered = {
        "left": left,
        "size": size,
        "word": np.array([word.encode() for word in words], object),
        "depth": depth,
        "weight": weight,
        "weight_present": np.bool_(weighed),
        "crowd": crowd,
        "crowd_present": np.bool_(crowded),
    }
    return Drawn(
        given,
        {f"{name}/{key}": feature for key, feature in stored.items()},
        {f"{name}_{member}": value for member, value in delivered.items()},
    )


_places = st.tuples(st.integers(-5, 2**40), st.none() | st.text("ab", max_size=3))


def _scenes(name: str) -> st.SearchStrategy[Drawn]:
    speeds = st.none() | st.just(0.25)
    return st.builds(_drawn_scene, st.just(name), _places, _places, speeds)


def _drawn_scene(
    name: str,
    place: tuple[int, str | None],
    end: tuple[int, str | None],
    speed: float | None,
) -> Drawn:
    stored = {}
    delivered: dict[str, Any] = {f"{name}_speed": np.float32(speed or 1.5)}
    if speed is not None:
        stored[f"{name} deep/v"] = floats(speed)
    # A model takes no None for a float that has a default.
    given: dict[str, Any] = {} if speed is None else {"speed": speed}
    models: Sequence[tuple[str, str, tuple[int, str | None]]]
    models = (("place", "place", place), ("end", "the end", end))
    for model, key, (x, note) in models:
        given[model] = {"x": x, "note": note}
        stored[f"{name} deep/{key}/x"] = ints(x)
        if note is not None:
            stored[f"{name} deep/{key}/note"] = blobs(note.encode())
        delivered[f"{name}_{model}_x"] = np.int64(x)
        delivered[f"{name}_{model}_note"] = (note or "").encode()
        delivered[f"{name}_{model}_note_present"] = np.bool_(note is not None)
    return Drawn(given, stored, delivered)


def cases() -> Iterator[KindCase]:
    yield KindCase(
        lambda _: "Boxes",
        _boxes,
        prelude=BOXES,
        padding={"_word": b"-"},
        members=("left", "size", "word", "depth"),
        optional_members=("weight", "crowd"),
    )
    yield KindCase(
        lambda name: f'Annotated[Scene, Nested(key="{name} deep")]',
        _scenes,
        prelude=SCENES,
        members=("place_x", "end_x"),
        optional_members=("place_note", "end_note", "speed"),
    )
