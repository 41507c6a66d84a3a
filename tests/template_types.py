"""Which attributes templates use of what types, read from their syntax trees.

Types are those that the views' annotations state. An attribute of a class may be one of
its subclasses' own, since templates ask first; of an `Any`, all are there.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Iterator
from functools import cache, cached_property, reduce
from operator import or_
from typing import Any

from jinja2 import nodes
from schemagen.kinds.field import COMMON, facts_of
from schemagen.kinds.kind import Kind
from schemagen.kinds.view import FieldView

GLOBALS = {"macros", "range", "dict", "cycler", "joiner", "namespace", "loop"}


class Walk:
    """The faults of one template: names and attributes that are not there.

    Args:
        tree: its syntax tree.
        name: the variable that it is given, or the parameter of its macros.
        type_: that variable's type.
        exported: the names of the macros of each template, by its name.
    """

    def __init__(
        self,
        tree: nodes.Template,
        name: str,
        type_: Any,
        exported: dict[str, set[str]],
    ) -> None:
        self.faults: set[str] = set()
        self.uses = 0
        self._given = {name: type_}
        self._exported = exported
        self._macros = {macro.name: macro for macro in tree.find_all(nodes.Macro)}
        self._parameters: dict[str, dict[str, Any]] = {n: {} for n in self._macros}
        imports = tree.find_all(nodes.Import)
        self._imported = {i.target: i.template.value for i in imports}
        for _ in range(4):  # calls teach parameters their types, also those of calls
            self.faults.clear()
            self._body(tree.body, dict(self._given))

    def _body(self, body: list[nodes.Node], scope: dict[str, Any]) -> None:
        for node in body:
            self._statement(node, scope)

    def _statement(self, node: nodes.Node, scope: dict[str, Any]) -> None:
        if isinstance(node, nodes.Macro):
            known = self._parameters[node.name]
            inner = {arg.name: known.get(arg.name, Any) for arg in node.args}
            given = {n: t for n, t in self._given.items() if n in inner}
            self._body(node.body, {**scope, **inner, **given})
        elif isinstance(node, nodes.For):
            inner = dict(scope)
            bind(node.target, element(self._type(node.iter, scope)), inner)
            if node.test is not None:
                self._type(node.test, inner)
            self._body(node.body, inner)
            self._body(node.else_, scope)
        elif isinstance(node, nodes.If):
            self._type(node.test, scope)
            for branch in (node.body, node.elif_, node.else_):
                self._body(branch, dict(scope))
        elif isinstance(node, nodes.Assign):
            bind(node.target, self._type(node.node, scope), scope)
        elif isinstance(node, nodes.AssignBlock):
            bind(node.target, str, scope)
            self._body(node.body, scope)
        elif isinstance(node, nodes.Block):
            self._body(node.body, dict(scope))
        elif isinstance(node, nodes.Output):
            for child in node.nodes:
                self._type(child, scope)
        elif not isinstance(node, (nodes.Import, nodes.TemplateData)):
            raise NotImplementedError(f"{type(node).__name__}, line {node.lineno}")

    def _type(self, node: nodes.Node, scope: dict[str, Any]) -> Any:
        """Return an expression's type, and note what is wrong inside it."""
        if isinstance(node, nodes.Name):
            known = {*scope, *GLOBALS, *self._macros, *self._imported}
            if node.name not in known:
                self.faults.add(f"{node.lineno}: {node.name} is not defined")
            return scope.get(node.name, Any)
        if isinstance(node, nodes.Getattr):
            return self._attribute(node, scope)
        if isinstance(node, nodes.Call):
            return self._call(node, scope)
        if isinstance(node, nodes.Filter):
            inner = self._type(node.node, scope) if node.node is not None else Any
            for child in node.args:
                self._type(child, scope)
            return element(inner) if node.name in ("first", "last") else Any
        if isinstance(node, nodes.Test) and node.name == "defined":
            return bool
        if isinstance(node, nodes.CondExpr):
            self._type(node.test, scope)
            branches = filter(None, (node.expr1, node.expr2))
            return union([self._type(branch, scope) for branch in branches])
        if isinstance(node, nodes.Const):
            return type(node.value)
        for child in node.iter_child_nodes():
            self._type(child, scope)
        return Any

    def _attribute(self, node: nodes.Getattr, scope: dict[str, Any]) -> Any:
        owner = node.node
        exported: set[str] | None = None
        if isinstance(owner, nodes.Name) and owner.name in self._imported:
            exported = self._exported[self._imported[owner.name]]
        elif isinstance(owner, nodes.Call) and isinstance(owner.node, nodes.Name):
            self._call(owner, scope)
            if owner.node.name == "macros":
                kinds = [n for n in self._exported if n.startswith("kinds/")]
                exported = set().union(*(self._exported[n] for n in kinds))
        if exported is not None:
            if node.attr not in exported:
                self.faults.add(f"{node.lineno}: no macro {node.attr}")
            return Any
        inside = self._type(owner, scope)
        self.uses += inside is not Any
        found = attribute(inside, node.attr)
        if found is None:
            shown = getattr(inside, "__name__", inside)
            self.faults.add(f"{node.lineno}: {shown} has no attribute {node.attr}")
        return Any if found is None else found

    def _call(self, node: nodes.Call, scope: dict[str, Any]) -> Any:
        given = [self._type(argument, scope) for argument in node.args]
        for keyword in node.kwargs:
            self._type(keyword.value, scope)
        if isinstance(node.node, nodes.Name) and node.node.name in self._macros:
            names = [arg.name for arg in self._macros[node.node.name].args]
            known = self._parameters[node.node.name]
            for name, type_ in zip(names, given, strict=False):
                known[name] = union([*([known[name]] if name in known else []), type_])
            return str
        self._type(node.node, scope)
        return Any


def members(type_: Any) -> Iterator[Any]:
    """Yield the classes of a union, or the type itself."""
    if typing.get_origin(type_) in (typing.Union, types.UnionType):
        for member in typing.get_args(type_):
            yield from members(member)
    else:
        yield type_


def union(found: list[Any]) -> Any:
    """Return the union of types, of which Any hides none."""
    known = [type_ for type_ in found if type_ is not Any]
    return reduce(or_, known) if known else Any


def element(type_: Any) -> Any:
    """Return what iterating yields."""
    found = []
    for member in members(type_):
        origin, arguments = typing.get_origin(member), typing.get_args(member)
        if origin in (tuple, list, collections.abc.Sequence) and arguments:
            items = [argument for argument in arguments if argument is not ...]
            found.append(union(items))
    return union(found)


def bind(target: nodes.Node, type_: Any, scope: dict[str, Any]) -> None:
    """Give the names of a target their types."""
    if isinstance(target, nodes.Name):
        scope[target.name] = type_
        return
    assert isinstance(target, nodes.Tuple)
    items = typing.get_args(type_) if typing.get_origin(type_) is tuple else ()
    fixed = len(items) == len(target.items) and ... not in items
    for at, item in enumerate(target.items):
        bind(item, items[at] if fixed else Any, scope)


def attribute(type_: Any, name: str) -> Any:
    """Return the type of an attribute; None if there is no such one."""
    if type_ is Any:
        return Any
    found = [
        hint
        for member in members(type_)
        if isinstance(member, type)
        for cls in family(member)
        for hint in [declared(cls, name)]
        if hint is not None
    ]
    return union(found) if found else None


def family(cls: type) -> Iterator[type]:
    """Yield a class and all that derive from it."""
    yield cls
    for below in cls.__subclasses__():
        yield from family(below)


@cache
def facts(view: type[FieldView]) -> type:
    """Return a class with the facts of a view's kind, or of all kinds, as attributes."""
    kind = kind_of(view)
    names = COMMON if kind is None else facts_of(kind)
    hints = dict.fromkeys((*names, "kind"), Any)
    return type(f"{view.__name__}.spec", (), {"__annotations__": hints})


def kind_of(view: type[FieldView]) -> type[Kind] | None:
    """Return the kind that a class of views is of; None if of several."""
    (base,) = view.__orig_bases__  # type: ignore[attr-defined]
    (kind,) = typing.get_args(base)
    return kind if isinstance(kind, type) else None


def declared(cls: type, name: str) -> Any:
    """Return the type that a class states for an attribute; None if it has none."""
    if name == "spec" and issubclass(cls, FieldView):
        return facts(cls)
    value = getattr(cls, name, None)
    if isinstance(value, property):
        return typing.get_type_hints(value.fget).get("return", Any)
    if isinstance(value, cached_property):
        return typing.get_type_hints(value.func).get("return", Any)
    hints = typing.get_type_hints(cls)
    if name in hints:
        hint = hints[name]
        return Any if typing.get_origin(hint) is typing.ClassVar else hint
    return Any if value is not None else None
