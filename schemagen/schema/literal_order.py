"""Literals whose names come in another order, kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal


@contextmanager
def literals_in_order() -> Iterator[None]:
    """Make Literals equal only if their values are in the same order.

    To typing, Literal["a", "b"] equals Literal["b", "a"], and what it makes of one,
    such as `Literal["a", "b"] | None`, it hands out for the other from a cache. To us
    the order is that of the class ids, so that this would exchange classes.
    """
    alias: Any = type(Literal["a"])
    equal, hashed = alias.__eq__, alias.__hash__
    alias.__eq__ = lambda self, other: (
        _values(self) == _values(other) if isinstance(other, alias) else NotImplemented
    )
    alias.__hash__ = lambda self: hash(_values(self))
    try:
        yield
    finally:
        alias.__eq__, alias.__hash__ = equal, hashed


def _values(literal: Any) -> tuple[tuple[Any, type], ...]:
    return tuple((value, type(value)) for value in literal.__args__)
