"""The text of a schema file: the inverse of loading and resolving one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..codegen.layout import STEP, WIDTH, Brackets, Node, display_width, flat, lines
from ..kinds.field import FieldSpec
from ..kinds.kind import Kind
from ..kinds.literals import identifier, literal
from ..schema import Augment, Label, MultiLabel
from ..schema.declaration import PLAIN_KINDS
from ..spec.model import RecordSpec
from .kinds import kind_of, said, type_of
from .layout import field_lines, or_none
from .nesting import Branch, Leaf, tree
from .texts import comment_lines, docstring
from .words import COMMON, Words

_PLAIN = frozenset(map(repr, (Label(), *PLAIN_KINDS.values())))


def schema_source(
    spec: RecordSpec,
    *,
    header: str = "",
    comments: Mapping[str, Sequence[str]] | None = None,
    vocabularies: Mapping[str, str] | None = None,
) -> str:
    """Write a record as the schema file that a person would write.

    Loading and resolving the file gives the same spec, but for its `source`. Nothing is
    said that goes without saying, and the text is as `ruff format` would leave it.

    Args:
        spec: the record.
        header: the docstring of the file; none if empty.
        comments: by the name of a field or of a nested model, `observation_state`, what
            is said above it, a line each. "" is for above the class.
        vocabularies: by the name of a field, the file next to the schema file in which
            the names of its classes stand; otherwise they are written out.

    Raises:
        ValueError: nested fields whose keys do not begin alike, a name that is no
            identifier, or a comment or vocabulary for a field that is not there.
    """
    file = _File(spec, comments or {}, vocabularies or {})
    record = file.record(spec)
    models = [*file.models()]  # what is imported is known once all is written
    above = [*docstring(header), ""] if header else []
    return "\n".join([*above, *file.words.imports(), *models, *record, ""])


def annotation_source(field: FieldSpec) -> str:
    """Return what stands behind a field's name in a schema file, on one line.

    Args:
        field: the field, without a path.
    """
    spec = RecordSpec("record", "_Record", "", "", (field,))
    return flat(_File(spec, {}, {}).annotation(Leaf(field.name, field.name, field)))


class _File:
    """One schema file, while it is written."""

    def __init__(
        self,
        spec: RecordSpec,
        comments: Mapping[str, Sequence[str]],
        vocabularies: Mapping[str, str],
    ) -> None:
        self._members = tree(spec.fields)
        names = {name for field in spec.fields for name in (field.name, *field.path)}
        self.words = Words({*names, spec.class_name})
        kinds = {field.kind.name for field in spec.fields}
        self._taken = {*names, spec.class_name, *kinds, *COMMON}
        self._models: dict[tuple[str, ...], str] = {}
        self._comments = comments
        self._vocabularies = vocabularies
        known = {"", *(f.name for f in spec.fields), *_branches(self._members)}
        for name in (*comments, *vocabularies):
            if name not in known:
                raise ValueError(f"{spec.class_name} has no field {name!r}")

    def record(self, spec: RecordSpec) -> list[str]:
        """Return the lines of the record's class."""
        base = "Record" if spec.message == "Example" else "SequenceRecord"
        parameters: list[Node] = [self.words(base)]
        if spec.reserved:
            parameters.append(self._value(spec.reserved, "reserved="))
        if spec.draft:
            parameters.append("draft=True")
        head = f"class {identifier(spec.class_name)}"
        return [
            *("", ""),
            *comment_lines(self._comments.get("", ()), 0),
            *lines(Brackets(head, "()", tuple(parameters)), 0, ":"),
            *(([*docstring(spec.doc, STEP), ""]) if spec.doc else []),
            *self._body(self._members),
        ]

    def models(self) -> Iterator[str]:
        """Yield the lines of the nested models, each before those that hold it."""
        for body, name in self._models.items():
            # pydantic itself reads docstrings of fields only where it is told to.
            documented = any('"""' in line for line in body)
            option = ", use_attribute_docstrings=True" if documented else ""
            yield from ("", "", f"class {name}({self.words('BaseModel')}{option}):")
            yield from body

    def _body(self, members: Sequence[Leaf | Branch]) -> list[str]:
        """Return the lines of a class's fields; those with remarks stand apart."""
        found: list[str] = []
        apart = False
        for member in members:
            comments = self._comments.get(member.flat, ())
            if found and (apart or comments):
                found.append("")
            found += comment_lines(comments, STEP)
            found += self._field(member)
            apart = isinstance(member, Leaf) and bool(member.spec.doc)
        return found

    def _field(self, member: Leaf | Branch) -> Iterator[str]:
        start = f"{identifier(member.name)}: "
        if isinstance(member, Branch):
            annotation: Node = self._model(member)
            if member.key != member.name:
                key = self._call("Nested", [("key", member.key)])
                annotation = self._annotated(annotation, key)
            yield from field_lines(start, annotation)
            return
        spec = member.spec
        default = None
        if spec.optional:
            kind = kind_of(spec, member.name)
            by_name = self._literal(member, kind) is not None
            default = self._default(kind, spec.default, by_name)
        yield from field_lines(start, self.annotation(member), default)
        yield from docstring(spec.doc, STEP) if spec.doc else ()

    def annotation(self, member: Leaf) -> Node:
        """Return the type of a field, with its kind."""
        spec = member.spec
        kind = kind_of(spec, member.name)
        names = self._literal(member, kind)
        annotation = names or self.words(type_of(kind))
        if spec.optional and spec.default is None:
            annotation = or_none(annotation)
        shorter = self._shorter(member, kind, names is not None)
        if repr(shorter) in _PLAIN:
            return annotation
        call = self._call(shorter.name, said(shorter))
        return self._annotated(annotation, call)

    def _literal(self, member: Leaf, kind: Kind) -> Node | None:
        """Return the names of a label's classes as its type, where they are few."""
        if not isinstance(kind, Label) or kind.stored == "text":
            return None
        if not kind.classes or member.flat in self._vocabularies:
            return None
        names = Brackets("Literal", "[]", tuple(map(literal, kind.classes)))
        line = f"{' ' * STEP}{member.name}: {flat(names)} | None = None"
        if display_width(line) > WIDTH:
            return None
        return replace(names, head=self.words("Literal"))

    def _shorter(self, member: Leaf, kind: Kind, in_type: bool) -> Kind:
        """Return a kind without the names of classes that are said elsewhere."""
        if isinstance(kind, (Label, MultiLabel)):
            file = self._vocabularies.get(member.flat)
            if file is not None or in_type:
                return replace(kind, classes=(), vocabulary=file)
        return kind

    def _model(self, branch: Branch) -> str:
        """Return the name of a nested model's class; equal ones are one class."""
        body = tuple(self._body(branch.members))
        if body not in self._models:
            self._models[body] = self._free_name(branch)
            self._taken.add(self._models[body])
        return self._models[body]

    def _free_name(self, branch: Branch) -> str:
        for words in (branch.name, branch.flat):
            name = "".join(part[:1].upper() + part[1:] for part in words.split("_"))
            if name not in self._taken:
                return str(identifier(name))
        number = 2
        while f"{name}{number}" in self._taken:
            number += 1
        return str(identifier(f"{name}{number}"))

    def _annotated(self, python_type: Node, metadata: Node) -> Node:
        return Brackets(self.words("Annotated"), "[]", (python_type, metadata))

    def _call(self, name: str, parameters: Sequence[tuple[str, Any]]) -> Brackets:
        items = (
            self._value(value, f"{parameter}=" if parameter else "")
            for parameter, value in parameters
        )
        return Brackets(self.words(name), "()", tuple(items))

    def _value(self, value: Any, head: str = "") -> Node:
        """Return a parameter's value as source, with its name before it."""
        if isinstance(value, (Kind, Augment)):
            name = type(value).__name__
            call = self._call(name, said(value))
            return replace(call, head=head + call.head)
        if isinstance(value, tuple):
            return Brackets(head, "()", tuple(self._value(each) for each in value))
        if isinstance(value, float) and not math.isfinite(value):
            return f"{head}{self.words('float')}({literal(repr(value))})"
        return head + literal(value)

    def _default(self, kind: Kind, default: Any, by_name: bool) -> Node:
        """Return a default in the type that the field is declared with."""
        if default is None:
            return "None"
        if isinstance(kind, Label) and (by_name or kind.stored == "text"):
            return literal(kind.class_names[default])
        if not isinstance(default, tuple):
            return self._value(default)
        items = self._items(default)
        array = type_of(kind) == "np.ndarray"
        return Brackets(self.words("np") + ".array", "()", (items,)) if array else items

    def _items(self, values: tuple[Any, ...]) -> Node:
        each = (
            self._items(one) if isinstance(one, tuple) else self._value(one)
            for one in values
        )
        return Brackets("", "[]", tuple(each))


def _branches(members: Sequence[Leaf | Branch]) -> Iterator[str]:
    for member in members:
        if isinstance(member, Branch):
            yield member.flat
            yield from _branches(member.members)
