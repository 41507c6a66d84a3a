"""Steps: a value of another kind in each step of a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shortened
from .image import Image
from .kind import Kind, Role
from .label import Label
from .parameters import (
    choice_problems,
    flag_problems,
    group_problems,
    is_positive,
    seldom,
)
from .python_types import is_array, is_list, item_type
from .scalar import Scalar
from .text import Text
from .varlen import TOO_LONG, TooLong, padding_of
from .vector import Vector

KINDS: tuple[type[Kind], ...] = (Image, Label, Scalar, Text, Vector)


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

    step: Kind
    max_length: int | None = None
    too_long: TooLong = seldom("error")
    padding_value: bool | int | float | str = 0
    ragged: bool = False
    group: str | None = seldom(None)

    name: ClassVar[str] = "Steps"
    holds: ClassVar[str] = "a list of what its kind holds, or np.ndarray"

    def accepts(self, python_type: Any) -> bool:
        if is_array(python_type):
            return python_type is Any or self._dtype not in ("string", "bytes")
        if not is_list(python_type):
            return False
        item = item_type(python_type)
        return item is None or self.step.accepts(item)

    def problems(self) -> Iterator[Problem]:
        yield from flag_problems(ragged=self.ragged)
        if self.max_length is not None and not is_positive(self.max_length):
            yield Problem(f"max_length={self.max_length!r}", "a positive int or None")
        yield from choice_problems("too_long", self.too_long, TOO_LONG)
        if self.max_length is None and self.too_long in TOO_LONG[1:]:
            yield Problem(f"too_long={self.too_long!r} without a limit", "max_length=n")
        yield from group_problems(self.group)
        wrong_step = list(self._step_problems())
        yield from wrong_step
        if wrong_step:  # what else is right depends on it
            return
        try:
            self.padding()
        except Problem as problem:
            yield Problem(f"padding_value={self.padding_value!r}", problem.expected)

    def _step_problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the kind of one step."""
        step = self.step
        if not isinstance(step, KINDS):
            yield _no_step(step)
            return
        for parameter in ("key", "role", "presence"):
            value = getattr(step, parameter)
            if value:
                yield Problem(
                    f"{parameter}={value!r} in the kind of one step",
                    f"Steps(..., {parameter}={value!r})",
                    "a field has one, whatever the number of its steps",
                )
        if getattr(step, "augment", None) is not None:
            yield Problem(
                "augment= in the kind of one step",
                "none",
                "give make_dataset a function that varies the images of all steps",
            )
        wrong = list(step.problems())
        yield from wrong
        if wrong:
            return
        further = [part.key for part in step.codec("").parts[1:]]
        if further:
            yield Problem(
                f"further keys in each step: {', '.join(further)}",
                "one value in each step",
                "declare what they hold as fields of their own",
            )
        elif isinstance(step, Image) and None in (step.resize or step.shape):
            yield Problem(
                f"shape={step.shape!r} in each step without resize",
                "a fixed size, or resize=(height, width)",
                "the images of one record have to be brought to one size",
            )

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

    def padding(self) -> bool | int | float | str:
        """Return the padding value as the batch's dtype holds it.

        Raises:
            Problem: it cannot.
        """
        unset = type(self.padding_value) is int and self.padding_value == 0
        if isinstance(self.step, Label) and unset:
            return -1
        return padding_of(self._dtype, self.padding_value)

    @property
    def uses_vocabulary(self) -> bool:
        return self.step.step_block == "tokens"

    @property
    def of_step(self) -> Kind:
        return self.step

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

    def in_file(self, name: str, directory: Path | None) -> Self:
        step: object = self.step
        if not isinstance(step, Kind):
            return self
        return replace(self, step=step.in_file(name, directory))

    def settled(self, name: str) -> Self:
        step = replace(self.step.settled(name), key=None, role=None)
        padding = self.padding()
        return replace(super().settled(name), step=step, padding_value=padding)

    def runtime_facts(self) -> dict[str, Any]:
        return {**super().runtime_facts(), "step": self.step.runtime_facts()}

    def layers(self, role: str) -> tuple[str, ...]:
        if role != "input":
            return ()
        return "dense", "normalization", "vocabulary"

    def check_default(self, name: str, default: Any) -> None:
        empty = isinstance(default, (list, tuple, np.ndarray)) and len(default) == 0
        if not empty:
            raise Problem(shortened(default), "[] or None")


def _no_step(step: object) -> Problem:
    """Say why something cannot be the kind of one step."""
    expected = "one of " + ", ".join(kind.__name__ for kind in KINDS)
    if isinstance(step, Steps):
        return Problem("Steps in Steps", expected, "a step has one value")
    if isinstance(step, Kind):
        return Problem(
            f"{step.name} in each step",
            expected,
            "the values of all steps have one size: fill them up to a Vector, or write "
            "all items in one VarLen and their numbers in another field",
        )
    if isinstance(step, type) and issubclass(step, Kind):
        return Problem(f"{step.__name__} without parentheses", f"{step.__name__}(...)")
    return Problem(f"the step {step!r}", expected)


_LIMITS = {
    "error": ", at most {} steps",
    "keep_head": ", of which the first {} steps are kept",
    "keep_tail": ", of which the last {} steps are kept",
}
# What a list of them may be given as; of anything else, as what numpy takes.
_SEQUENCES = {"Text": "Sequence[str]", "Scalar": "Sequence[bytes]"}
