"""The base class of kinds: a wire key, a role, checks, storage, and an encoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..runtime.codecs.base import Codec
from ..runtime.codecs.decoded import Shape
from ..runtime.codecs.part import Part
from ..runtime.codecs.registry import codec_of
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shortened
from .augment import Augment
from .parameters import Name, Parameters, seldom

Role = Literal["input", "target", "weight", "info"]
Default = Literal["any", "empty", "none"]

_LIMITS = {"max_length": None, "too_long": "error", "pad_on_disk": False}


@dataclass(frozen=True)
class Kind(Parameters, ABC):
    """The kind of a field: how its values are stored and modelled.

    Use it as `Annotated[type, kind]`. Parameters are checked when the schema is read, not
    when the kind is created, so that one run reports all mistakes of a schema.

    Attributes:
        key: the feature's key in the Example; the field's name if None.
        role: input, target, weight or info; the kind's default if None.
        presence: of an optional field, deliver `<name>_present`, a bool for each
            record, also where a default replaces a missing value.
    """

    _: KW_ONLY
    key: Name | None = None
    role: Role | None = None
    presence: bool = seldom(False)

    name: ClassVar[str]
    """The name of this kind in schemas, specs and messages."""

    holds: ClassVar[str]
    """The Python types that a field of this kind may be declared with, in words."""

    can_be_target: ClassVar[bool] = False
    """Whether the generated model has a head for it."""

    per_pixel: ClassVar[bool] = False
    """Whether it has a value for each pixel of an image, and is predicted from that."""

    is_picture: ClassVar[bool] = False
    """Whether such a target can be predicted from it."""

    step_block: ClassVar[str] = "items"
    """The block of the model that encodes its steps: images, tokens or items."""

    marks_missing: ClassVar[bool] = False
    """Whether one of its own values marks a missing one, as -1 does."""

    can_be_weight: ClassVar[bool] = False
    """Whether its values can weigh the records of a batch."""

    uses_vocabulary: ClassVar[bool] = False
    """Whether the model looks up its ids or words in a vocabulary."""

    derived: ClassVar[Mapping[str, Any]] = {}
    """The properties that a spec has like parameters, with their usual values."""

    if_missing: ClassVar[str] = "a default that is a number"
    """What a target or weight of this kind has to have where values may be missing."""

    input_layers: ClassVar[tuple[str, ...]] = ()
    """The suffixes of the names of the model layers that an input of this kind has."""

    takes_default: ClassVar[Default] = "any"
    """Which defaults a field of this kind may have: any value, an empty list, or none."""

    @abstractmethod
    def accepts(self, python_type: Any) -> bool:
        """Tell whether a field of this kind may be declared with this type."""

    def codec(self, name: str, **facts: Any) -> Codec:
        """Return the codec of a field of this kind.

        Args:
            name: of the field.
            **facts: those that its parameters do not state, such as `optional`.
        """
        settled = self.settled(name)
        own = {"key": settled.key, "presence": settled.presence}
        return codec_of({**settled.runtime_facts(), **own, "name": name, **facts})

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return what a field of this kind is stored as; () if a parameter is wrong."""
        return () if any(True for _ in self.problems()) else self.codec(name).parts

    def runtime_facts(self) -> dict[str, Any]:
        """Return the kind and its own parameters by name, for the runtime."""
        return {"kind": self.name, **self.facts()}

    @property
    def python_type(self) -> str:
        """The Python type that a schema declares such a field with, as source."""
        return "np.ndarray"

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of its classes; empty if it has none."""
        return getattr(self, "classes", ()) or ()

    @property
    def num_classes(self) -> int | None:
        """The number of its classes; None if it has none."""
        return None

    @property
    def encoding(self) -> str:
        """The format of its values; "list" if they are in the list itself."""
        return "list"

    @property
    def pixels(self) -> tuple[int | None, ...]:
        """The height and width of its pictures as they are read; empty without any."""
        return ()

    @property
    def augment(self) -> Augment | None:
        """How it is varied in training."""
        return None

    @property
    def group(self) -> str | None:
        """A name that fields with equally many items share."""
        return None

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of its length, in which fields of a group agree."""
        return {name: getattr(self, name, usual) for name, usual in _LIMITS.items()}

    def predicted_shape(self, shape: Shape) -> Shape:
        """Return the shape of one record's predictions, given that of its tensor."""
        return shape

    @property
    def of_step(self) -> Kind:
        """The kind of one step's value; itself if it has no steps."""
        return self

    @property
    def default_role(self) -> Role:
        """The role of a field that is given none."""
        return "info" if self.opaque else "input"

    @property
    def opaque(self) -> str:
        """Values that no model can take, in words; "" if a model can."""
        return "opaque bytes" if getattr(self, "dtype", "") == "bytes" else ""

    def declared_with(self, python_type: Any) -> Self:
        """Return the kind with the classes that the type of its field names."""
        return self

    def with_keys(self, change: Callable[[str], str]) -> Self:
        """Return the kind with its keys and its group changed by a function."""
        named = [n for n in vars(self) if n in ("key", "group") or n.endswith("_key")]
        return replace(self, **{n: _changed(getattr(self, n), change) for n in named})

    def in_file(self, directory: Path | None) -> Self:
        """Return the kind with what files next to the schema say.

        Args:
            directory: of the file in which the field is declared; None if in none.

        Raises:
            Problem: a file that a parameter names does not exist or is not valid.
        """
        return self

    def settled(self, name: str) -> Self:
        """Return the kind as specs have it: each parameter in its one normal form.

        Args:
            name: of the field.

        Raises:
            Problem: a parameter that is not valid.
        """
        key = name if self.key is None else self.key
        return replace(self, key=key, role=self.role or self.default_role)

    def facts(self) -> dict[str, Any]:
        """Return the parameters of this kind that a spec has, by name."""
        shared = {field.name for field in fields(Kind)}
        own = (field.name for field in fields(self) if field.name not in shared)
        return {name: getattr(self, name) for name in (*own, *self.derived)}

    def missing_beside(self, inputs: Iterable[Kind]) -> Problem | None:
        """Return what a target of this kind lacks among the record's inputs."""
        return None

    def layers(self, role: str) -> tuple[str, ...]:
        """Return the suffixes of the names that the field's model layers have."""
        return self.input_layers if role == "input" else ()

    def check_default(self, name: str, default: Any) -> None:
        """Check that the field can hold its default, which is not None.

        Raises:
            Problem: it cannot.
        """
        empty = isinstance(default, (list, tuple, np.ndarray)) and not len(default)
        if self.takes_default == "any":
            self.codec(name, optional=True).convert(default)
        elif self.takes_default == "none" or not empty:
            expected = "[] or None" if self.takes_default == "empty" else "None"
            raise Problem(shortened(default), expected)

    def rules(self) -> Iterator[Problem]:
        keys = [
            key
            for each in fields(self)
            if each.name.endswith("_key") and (given := getattr(self, each.name))
            for key in (given if isinstance(given, tuple) else (given,))
            if key is not None
        ]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            yield Problem(f"the key {key!r} twice", "a key of its own for each")


def _changed(keys: Any, change: Callable[[str], str]) -> Any:
    """Change keys; what is not a key stays, for its finding."""
    if isinstance(keys, tuple):
        return tuple(_changed(key, change) for key in keys)
    return change(keys) if isinstance(keys, str) and keys else keys
