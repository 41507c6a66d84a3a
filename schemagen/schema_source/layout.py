"""The lines of a field in its class, as `ruff format` would leave them."""

from __future__ import annotations

from dataclasses import replace

from ..codegen.layout import STEP, WIDTH, Node, display_width, flat, lines


def field_lines(start: str, annotation: Node, default: Node | None = None) -> list[str]:
    """Return the lines of a field in its class.

    Args:
        start: its name, a colon and a space.
        annotation: its type.
        default: its default, if it has one.
    """
    pad = " " * STEP
    value = "" if default is None else f" = {flat(default)}"
    line = f"{pad}{start}{flat(annotation)}{value}"
    if display_width(line) <= WIDTH:
        return [line]
    if default is None:
        return lines(_starting(start, annotation), STEP)
    if isinstance(annotation, str):
        return _plain_field_lines(start, annotation, default)
    # Where the type would fit, formatters open the value, unless a last comma in the
    # type asks them not to.
    fits = display_width(f"{pad}{start}{flat(annotation)} = (") <= WIDTH
    left = lines(_starting(start, annotation), STEP, " = (", opened=fits)
    left[-1] = left[-1].removesuffix(" = (")
    return [*left[:-1], *lines(_starting(f"{left[-1].lstrip()} = ", default), STEP)]


def _plain_field_lines(start: str, annotation: str, default: Node) -> list[str]:
    pad, inner = " " * STEP, " " * (2 * STEP)
    if default == "None":
        return [f"{pad}{start}(", f"{inner}{annotation}", f"{pad}) = None"]
    if isinstance(default, str) and display_width(f"{inner}{default}") <= WIDTH:
        return [f"{pad}{start}{annotation} = (", f"{inner}{default}", f"{pad})"]
    return lines(_starting(f"{start}{annotation} = ", default), STEP)


def _starting(start: str, node: Node) -> Node:
    if isinstance(node, str):
        return start + node
    return replace(node, head=start + node.head)


def or_none(python_type: Node) -> Node:
    """Return a type that allows None too."""
    if isinstance(python_type, str):
        return f"{python_type} | None"
    return replace(python_type, tail=" | None")
