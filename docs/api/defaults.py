"""An extension of Griffe: parameters of kinds are shown with their defaults."""

from __future__ import annotations

from typing import Any

import griffe


class Defaults(griffe.Extension):
    """Shows `x = None` for a parameter that a kind declares as `x = seldom(None)`."""

    def on_attribute_instance(self, *, attr: griffe.Attribute, **others: Any) -> None:
        """Replace the value of an attribute."""
        value = attr.value
        if not isinstance(value, griffe.ExprCall):
            return
        match str(value.function):
            case "seldom" | "declared_only":
                attr.value = value.arguments[0]
            case "names_of_classes":
                attr.value = "None"
