"""A declaration, and for random values of it the bytes on disk and the tensors read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf
from hypothesis import strategies as st


@dataclass(frozen=True)
class Drawn:
    """One value of a field.

    Attributes:
        given: the writer's argument; None leaves the field out.
        stored: the features that have to be in the Example, by key: all of them.
        delivered: what `parse_example` has to give, by name; numpy values or, for
            ragged tensors, nested lists.
    """

    given: Any
    stored: Mapping[str, tf.train.Feature]
    delivered: Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class KindCase:
    """One way of declaring a field.

    Attributes:
        declare: from the field's name to its annotation, as source text; keys in it
            have to be made of the name, so that no two fields share one.
        draw: from the field's name to a strategy of its values.
        missing: from the name to what a missing value is; None if it is required.
        default: source text of the default; "" if the field is required.
        padding: by the name's suffix ("" for the field itself), what fills a dense
            batch beyond a row's own sizes.
        one_row_batches: whether rows cannot be stacked.
        files: text of the files next to the schema file that it names, by name.
        prelude: source text of what it needs above the records.
        members: of a nested model, the names of its required fields.
        optional_members: and of its optional ones.
    """

    declare: Callable[[str], str]
    draw: Callable[[str], st.SearchStrategy[Drawn]]
    missing: Callable[[str], Drawn] | None = None
    default: str = ""
    padding: Mapping[str, Any] = field(default_factory=dict)
    one_row_batches: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    prelude: str = ""
    members: tuple[str, ...] = ()
    optional_members: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the declaration: all that a failing test has to show."""
        return f"<{self.line('field').strip()}>"

    def line(self, name: str) -> str:
        """Return the field's line in its class."""
        default = f" = {self.default}" if self.default else ""
        return f"    {name}: {self.declare(name)}{default}\n"

    def required(self, name: str) -> tuple[str, ...]:
        """Return the names of the fields that have to be there."""
        if self.members:
            return tuple(f"{name}_{member}" for member in self.members)
        return () if self.default else (name,)

    def fields(self, name: str) -> tuple[str, ...]:
        """Return the names of all fields that it declares."""
        if not self.members:
            return (name,)
        optional = (f"{name}_{member}" for member in self.optional_members)
        return (*self.required(name), *optional)

    def rows(self, name: str) -> st.SearchStrategy[Drawn]:
        """Draw values, and missing ones if the field is optional."""
        drawn = self.draw(name)
        return drawn | st.just(self.missing(name)) if self.missing else drawn


def int64s(*values: int) -> tf.train.Feature:
    """Return a feature that holds integers."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(*values: float) -> tf.train.Feature:
    """Return a feature that holds floats."""
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def blobs(*values: bytes) -> tf.train.Feature:
    """Return a feature that holds bytes."""
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def in_order(features: Mapping[str, tf.train.Feature]) -> bytes:
    """Return an Example as protobuf writes it, one entry after the other by key.

    Its own order puts a key that another begins with now before, now after that one.
    An Example is written like a BytesList: both hold bytes as their field 1.
    """
    entries = [
        tf.train.Features(feature={key: features[key]}).SerializeToString()
        for key in sorted(features, key=str.encode)
    ]
    whole = tf.train.BytesList(value=[b"".join(entries)])
    data: bytes = whole.SerializeToString()
    return data
