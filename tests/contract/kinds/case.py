"""A declaration, and for random values of it the bytes on disk and the tensors read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

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
        lists: the feature lists that have to be in the SequenceExample, by key.
    """

    given: Any
    stored: Mapping[str, tf.train.Feature]
    delivered: Mapping[str, Any]
    lists: Mapping[str, Sequence[tf.train.Feature]] = field(default_factory=dict)


class Value(NamedTuple):
    """One value under one key: as it is given, stored and delivered."""

    given: Any
    stored: tf.train.Feature
    delivered: Any


@dataclass(frozen=True, repr=False, eq=False)
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
        steps: whether it is a field with steps, which only SequenceRecords have.
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
    steps: bool = False

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

    def optional(
        self, missing: Any, *, default: str = "None", masked: bool | None = None
    ) -> KindCase:
        """Return the case of an optional field.

        Args:
            missing: what is delivered for a missing value.
            default: source text of the default.
            masked: whether a mask tells what is there; if None, it is with None.
        """
        is_masked = default == "None" if masked is None else masked

        def marked(name: str, drawn: Drawn, *, present: bool) -> Drawn:
            mask = {f"{name}_present": present} if is_masked else {}
            return replace(drawn, delivered={**drawn.delivered, **mask})

        return replace(
            self,
            declare=lambda name: (
                self.declare(name) + (" | None" if default == "None" else "")
            ),
            draw=lambda name: self.draw(name).map(
                lambda drawn: marked(name, drawn, present=True)
            ),
            missing=lambda name: marked(
                name, Drawn(None, {}, {name: missing}), present=False
            ),
            default=default,
        )

    def rows(self, name: str) -> st.SearchStrategy[Drawn]:
        """Draw values, and missing ones if the field is optional."""
        drawn = self.draw(name)
        return drawn | st.just(self.missing(name)) if self.missing else drawn


def declared(
    annotation: str, draw: Callable[[str], st.SearchStrategy[Drawn]], **facts: Any
) -> KindCase:
    """Return the case of an annotation in which NAME stands for the field's name."""
    return KindCase(lambda name: annotation.replace("NAME", name), draw, **facts)


ODD_KEYS = (
    *("image/encoded", "two words", "schlüssel", "鍵", "🦊", 'a "quote"', "it's"),
    *("{{ key }}", "{% raw %}", "back\\slash", "end\\", "line\nbreak", "nul\x00byte"),
    *("\u202eright to left", "</script>", '"""', "#", "k" * 300),
)


def under_one_key(
    annotation: str,
    values: st.SearchStrategy[Value],
    *,
    padding: Any = 0,
    one_row_batches: bool = False,
) -> KindCase:
    """Return the case of an annotation whose values are stored under one key.

    That is the field's name; of some annotations, an odd text with the name after it.
    """
    number = sum(annotation.encode()) if ")]" in annotation else 0
    odd = ODD_KEYS[number % len(ODD_KEYS)] if number % 3 == 1 else ""

    def declare(name: str) -> str:
        if not odd:
            return annotation
        head, _, tail = annotation.rpartition(")")
        comma = "" if head.endswith("(") else ", "
        return f"{head}{comma}key={odd + name!r}){tail}"

    def drawn(name: str, value: Value) -> Drawn:
        stored = {odd + name: value.stored}
        return Drawn(value.given, stored, {name: value.delivered})

    return KindCase(
        declare,
        lambda name: values.map(lambda value: drawn(name, value)),
        padding={"": padding},
        one_row_batches=one_row_batches,
    )
