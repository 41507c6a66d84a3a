"""Expressions, and the lines on which `ruff format` would leave them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..codegen.layout import WIDTH, display_width

STEP = 4


@dataclass(frozen=True)
class Brackets:
    """Brackets with something before them and items inside: a call, a tuple.

    Attributes:
        head: what stands before the opening bracket.
        pair: the brackets.
        items: what stands between them.
        tail: what stands behind the closing bracket.
    """

    head: str
    pair: str
    items: tuple[Node, ...]
    tail: str = ""


Node = str | Brackets


def flat(node: Node) -> str:
    """Return an expression on one line."""
    if isinstance(node, str):
        return node
    items = ", ".join(map(flat, node.items))
    comma = "," if _is_single(node) else ""
    return f"{node.head}{node.pair[0]}{items}{comma}{node.pair[1]}{node.tail}"


def lines(
    node: Node, indent: int = 0, tail: str = "", *, opened: bool = False
) -> list[str]:
    """Return an expression on as many lines as it needs.

    What is too long is opened: first all items on a line of their own, then, as
    tuples and lists always, each item on its own with a comma.

    Args:
        node: the expression.
        indent: how many columns it is moved to the right.
        tail: what follows it on its last line.
        opened: whether each item shall have its own line in any case.
    """
    pad = " " * indent
    line = f"{pad}{flat(node)}{tail}"
    if isinstance(node, str) or not node.items:
        return [line]
    if display_width(line) <= WIDTH and not opened:
        return [line]
    first = f"{pad}{node.head}{node.pair[0]}"
    last = f"{pad}{node.pair[1]}{node.tail}{tail}"
    inner = " " * (indent + STEP) + ", ".join(map(flat, node.items))
    in_one = not _is_tuple_or_list(node) and not opened
    if in_one and display_width(inner) <= WIDTH:
        return [first, inner, last]
    # A comma would make a tuple of what stands alone in a subscript.
    comma = "" if _is_subscript(node) and len(node.items) == 1 else ","
    each = [line for item in node.items for line in lines(item, indent + STEP, comma)]
    return [first, *each, last]


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
    first, *rest = lines(default, STEP)
    if display_width(left[-1] + value) <= WIDTH:
        first, rest = flat(default), []
    return [*left[:-1], f"{left[-1]} = {first.lstrip()}", *rest]


def _plain_field_lines(start: str, annotation: str, default: Node) -> list[str]:
    pad, inner = " " * STEP, " " * (2 * STEP)
    if default == "None":
        return [f"{pad}{start}(", f"{inner}{annotation}", f"{pad}) = None"]
    if isinstance(default, str) and display_width(f"{inner}{default}") <= WIDTH:
        return [f"{pad}{start}{annotation} = (", f"{inner}{default}", f"{pad})"]
    first, *rest = lines(default, STEP)
    return [f"{pad}{start}{annotation} = {first.lstrip()}", *rest]


def _starting(start: str, node: Node) -> Node:
    if isinstance(node, str):
        return start + node
    return replace(node, head=start + node.head)


def or_none(python_type: Node) -> Node:
    """Return a type that allows None too."""
    if isinstance(python_type, str):
        return f"{python_type} | None"
    return replace(python_type, tail=" | None")


def _is_subscript(node: Brackets) -> bool:
    return node.pair == "[]" and not _is_tuple_or_list(node)


def _is_tuple_or_list(node: Brackets) -> bool:
    return not node.head or node.head.endswith("=")


def _is_single(node: Brackets) -> bool:
    """Tell whether it is a tuple of one, which needs its comma."""
    return node.pair == "()" and _is_tuple_or_list(node) and len(node.items) == 1
