"""From flat fields with paths back to the models that they are nested in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ..kinds.field import FieldSpec
from ..schema.nesting import SEPARATOR


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


def tree(found: Sequence[FieldSpec]) -> tuple[Leaf | Branch, ...]:
    """Put the fields of a record into the models of their paths.

    Raises:
        ValueError: fields of one model whose keys do not begin alike.
    """
    return tuple(_below([(spec.path or (spec.name,), spec) for spec in found], ()))


def _below(
    found: Sequence[tuple[tuple[str, ...], FieldSpec]], above: tuple[str, ...]
) -> Iterator[Leaf | Branch]:
    grouped: dict[str, list[tuple[tuple[str, ...], FieldSpec]]] = {}
    for path, spec in found:
        grouped.setdefault(path[0], []).append((path[1:], spec))
    for name, members in grouped.items():
        here = (*above, name)
        flat = "_".join(here)
        if members[0][0]:
            key = _prefix(name, members)
            inner = [(rest, _without(spec, key + SEPARATOR)) for rest, spec in members]
            yield Branch(name, flat, key, tuple(_below(inner, here)))
        else:
            yield Leaf(name, flat, members[0][1])


def _prefix(name: str, members: Sequence[tuple[tuple[str, ...], FieldSpec]]) -> str:
    """Return how the keys below a nested model begin.

    Of several ways that would do, the one that leaves most fields the key that they
    have by their names.
    """
    beginnings = [_beginnings(key) for _, spec in members for key in _keys(spec)]
    shared = [
        one for one in beginnings[0] if all(one in others for others in beginnings)
    ]
    if not shared:
        keys = sorted({spec.key for _, spec in members})
        raise ValueError(
            f"the keys of the nested fields {name!r} do not begin alike: {keys}"
        )

    def natural(beginning: str) -> tuple[int, bool]:
        named = sum(
            spec.key == SEPARATOR.join((beginning, *rest)) for rest, spec in members
        )
        return named, beginning == name

    return max(shared, key=natural)


def _beginnings(key: str) -> list[str]:
    """Return what may stand before a separator and the rest of a key."""
    ends = [at for at, character in enumerate(key) if character == SEPARATOR]
    found = [key[:end] for end in ends if end + 1 < len(key)]
    return [one for one in found if one and one.strip(SEPARATOR) == one]


def _keys(spec: FieldSpec) -> Iterator[str]:
    """Yield all texts of a field that a nested model puts its prefix before."""
    for value in _prefixed(spec).values():
        yield from (key for key in _each(value) if isinstance(key, str))


def _without(spec: FieldSpec, prefix: str) -> FieldSpec:
    """Take a prefix off the keys and the group of a field."""
    kept = {name: _stripped(value, prefix) for name, value in _prefixed(spec).items()}
    return replace(spec, kind=replace(spec.kind, **kept))


def _prefixed(spec: FieldSpec) -> Mapping[str, Any]:
    return {
        each.name: getattr(spec.kind, each.name)
        for each in fields(spec.kind)
        if each.name in ("key", "group") or each.name.endswith("_key")
    }


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _stripped(value: Any, prefix: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_stripped(each, prefix) for each in value)
    return value.removeprefix(prefix) if isinstance(value, str) else value
