"""From flat fields with paths back to the models that they are nested in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..schema.nesting import SEPARATOR, with_keys
from ..spec.model import FieldSpec


@dataclass(frozen=True)
class Leaf:
    """A field of a model, with its keys as they stand there.

    Attributes:
        name: its name in the model.
        flat: its name in the record.
        spec: what it is.
    """

    name: str
    flat: str
    spec: FieldSpec


@dataclass(frozen=True)
class Branch:
    """A nested model.

    Attributes:
        name: the name of the field that holds it.
        flat: the name that it would have in the record.
        key: how its keys begin, without the separator.
        members: its fields.
    """

    name: str
    flat: str
    key: str
    members: tuple[Leaf | Branch, ...]


Placed = tuple[tuple[str, ...], FieldSpec]
"""The rest of a field's path, and the field with the rest of its keys."""


def tree(found: Sequence[FieldSpec]) -> tuple[Leaf | Branch, ...]:
    """Put the fields of a record into the models of their paths."""
    return tuple(_below([(spec.path or (spec.name,), spec) for spec in found], ()))


def _below(found: Sequence[Placed], above: tuple[str, ...]) -> Iterator[Leaf | Branch]:
    grouped: dict[str, list[Placed]] = {}
    for path, spec in found:
        grouped.setdefault(path[0], []).append((path[1:], spec))
    for name, members in grouped.items():
        here = (*above, name)
        flat = "_".join(here)
        if members[0][0]:
            key = _prefix(name, members)
            start = key + SEPARATOR
            inner = [(rest, _without(spec, start)) for rest, spec in members]
            yield Branch(name, flat, key, tuple(_below(inner, here)))
        else:
            yield Leaf(name, flat, members[0][1])


def _prefix(name: str, members: Sequence[Placed]) -> str:
    """Return how the keys below a nested model begin.

    Of several ways that would do, it is one that leaves a field the key that it has by
    its name, or else the name of the model, or the shortest one.
    """
    keys = [key for _, spec in members for key in _keys(spec)]
    natural = [
        spec.key.removesuffix(SEPARATOR + SEPARATOR.join(rest))
        for rest, spec in members
    ]
    for prefix in (*natural, name, keys[0].partition(SEPARATOR)[0]):
        begin = prefix + SEPARATOR
        if all(key.startswith(begin) and key != begin for key in keys):
            return prefix
    raise ValueError(
        f"the keys of the nested fields {name!r} do not begin alike: {keys}"
    )


def _keys(spec: FieldSpec) -> list[str]:
    """Return all texts of a field that a nested model puts its prefix before."""
    found: list[str] = []

    def seen(key: str) -> str:
        found.append(key)
        return key

    with_keys(spec.kind, seen)
    return found


def _without(spec: FieldSpec, prefix: str) -> FieldSpec:
    """Take a prefix off the keys and the group of a field."""
    kind = with_keys(spec.kind, lambda key: key.removeprefix(prefix))
    return replace(spec, kind=kind)
