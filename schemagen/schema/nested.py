"""How the fields of a nested model are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..runtime.codecs.parameters import Name, Parameters
from ..runtime.shared.errors import Problem


@dataclass(frozen=True, eq=False)
class Nested(Parameters):
    """The prefix of the keys that the fields of a nested model have in the Example.

    Use it as `Annotated[Model, Nested(key="image/object")]`. Without it the prefix is
    the field's name.

    Attributes:
        key: the prefix, without the `/` between it and the keys of the model's fields.
    """

    key: Name

    def rules(self) -> Iterator[Problem]:
        if self.key.strip("/") != self.key:
            yield Problem(f"key={self.key!r}", "a key without '/' at its ends")
