"""An extension of Griffe: kinds are dataclasses, whose parameters have their defaults."""

from __future__ import annotations

from typing import Any

import griffe


class Defaults(griffe.Extension):
    """Shows `x = None` for a parameter that a kind declares as `x = parameter(default=None)`."""

    def on_attribute_instance(self, *, attr: griffe.Attribute, **others: Any) -> None:
        """Replace the value of an attribute."""
        value = attr.value
        if not isinstance(value, griffe.ExprCall):
            return
        match str(value.function):
            case "parameter":
                given = {getattr(each, "name", ""): each for each in value.arguments}
                default = given.get("default")
                attr.value = getattr(default, "value", None)

    def on_class_instance(self, *, cls: griffe.Class, **others: Any) -> None:
        """Take the decorator of kinds for that of dataclasses."""
        for decorator in cls.decorators:
            if str(decorator.value) == "declared":
                decorator.value = griffe.ExprName("dataclass", parent="dataclasses")
