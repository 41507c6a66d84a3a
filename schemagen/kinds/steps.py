"""Steps: a value of another kind in each step of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, InstanceOf

from ..runtime.shared.errors import Problem
from .image import Image
from .kind import Default, Kind, Role
from .label import Label
from .parameters import Name, Padding, Size, seldom
from .python_types import is_array, is_list, item_type
from .scalar import Scalar
from .text import Text
from .varlen import TooLong, limit_problems, padding_of, padding_problems
from .vector import Vector

KINDS: tuple[type[Kind], ...] = (Image, Label, Scalar, Text, Vector)

Step = Annotated[InstanceOf[Kind], Field(description="a kind, such as Text()")]


@dataclass(frozen=True)
class Steps(Kind):
    """A feature list of a SequenceRecord: one value of another kind in each step.

    Attributes:
        step: the kind of one step's value. Wire key and role are those of Steps.
        max_length: the most steps a row may have; None for any number.
        too_long: what becomes of more, when writing and when reading: "error" refuses
            them, "keep_head" keeps the first and "keep_tail" the last of them.
        padding_value: what fills a batch up to its longest row; 0 means "" for text
            and -1, no class, for labels.
        ragged: deliver a RaggedTensor in place of a padded batch.
        group: a name that fields with equally many steps share; checked when writing
            and when reading.
    """

    step: Step
    max_length: Size | None = None
    too_long: TooLong = seldom("error")
    padding_value: Padding = 0
    ragged: bool = False
    group: Name | None = seldom(None)

    name: ClassVar[str] = "Steps"
    holds: ClassVar[str] = "a list of what its kind holds, or np.ndarray"
    takes_default: ClassVar[Default] = "empty"
    input_layers: ClassVar[tuple[str, ...]] = ("dense", "normalization", "vocabulary")

    @property
    def python_type(self) -> str:
        one = self.step.python_type
        return one if one == "np.ndarray" else f"list[{one}]"

    @property
    def uses_vocabulary(self) -> bool:  # type: ignore[override]
        return self.step.step_block == "tokens"

    @property
    def of_step(self) -> Kind:
        return self.step

    def runtime_facts(self) -> dict[str, Any]:
        return {**super().runtime_facts(), "step": self.step.runtime_facts()}

    def accepts(self, python_type: Any) -> bool:
        if is_array(python_type):
            return python_type is Any or self._dtype not in ("string", "bytes")
        if not is_list(python_type):
            return False
        item = item_type(python_type)
        return item is None or self.step.accepts(item)

    def rules(self) -> Iterator[Problem]:
        yield from limit_problems(self)
        step = self.step
        if not isinstance(step, KINDS):
            yield Problem(
                f"{step.name} in each step",
                f"one of {', '.join(kind.name for kind in KINDS)}",
                "the values of all steps have one size: fill them up to a Vector, or "
                "write all items in one VarLen and their numbers in another field",
            )
            return
        if step.key or step.role or step.presence or step.augment:
            yield Problem(
                "key, role, presence or augment in the kind of one step",
                "key, role and presence of Steps itself, and no augment",
            )
        if further := [part.key for part in step.codec("").parts[1:]]:
            yield Problem(
                f"further keys in each step: {', '.join(further)}",
                "one value in each step; fields of their own for the others",
            )
        if isinstance(step, Image) and None in (step.resize or step.shape):
            yield Problem(
                f"shape={step.shape!r} in each step without resize",
                "a fixed size, or resize=(height, width)",
            )
        yield from padding_problems(self._dtype, self._padding)

    @property
    def _dtype(self) -> str:
        """The dtype of what is delivered; "string" and "bytes" as in VarLen."""
        if isinstance(self.step, Label):
            return "int64"
        if isinstance(self.step, Text):
            return "string"
        if getattr(self.step, "dequantize", None) is not None:
            return "float32"
        found: str = getattr(self.step, "dtype", "")
        return found

    @property
    def _padding(self) -> bool | int | float | str | bytes:
        unset = type(self.padding_value) is int and self.padding_value == 0
        return -1 if unset and isinstance(self.step, Label) else self.padding_value

    @property
    def default_role(self) -> Role:
        # A model has no head for steps, and a target should not become its input
        # unless someone says so.
        if isinstance(self.step, Label):
            return "info"
        return self.step.default_role if isinstance(self.step, Kind) else "input"

    @property
    def opaque(self) -> str:
        return self.step.opaque if isinstance(self.step, Kind) else ""

    def declared_with(self, python_type: Any) -> Self:
        return self._of(lambda step: step.declared_with(item_type(python_type)))

    def in_file(self, directory: Path | None) -> Self:
        return self._of(lambda step: step.in_file(directory))

    def _of(self, change: Callable[[Kind], Kind]) -> Self:
        """Return the steps with another kind, if they have one at all."""
        step: object = self.step
        return replace(self, step=change(step)) if isinstance(step, Kind) else self

    def settled(self, name: str) -> Self:
        step = replace(self.step.settled(name), key=None, role=None)
        padding = padding_of(self._dtype, self._padding)
        return replace(super().settled(name), step=step, padding_value=padding)
