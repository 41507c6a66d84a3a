"""The text of a schema file: the inverse of loading and resolving one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any

from ..codegen.layout import STEP, WIDTH, broken, display_width
from ..codegen.literals import identifier, literal
from ..runtime.codecs.kind import Kind
from ..runtime.codecs.parameters import Parameters
from ..schema import Label
from ..schema.declaration import PLAIN_KINDS
from ..spec.field import FieldSpec
from ..spec.model import RecordSpec
from .kinds import kind_of, said
from .nesting import Branch, Leaf, tree
from .texts import comment_lines, docstring
from .words import KNOWN, Words

_PAD = " " * STEP
_NO_CLASSES: dict[str, Any] = {"classes": ()}
_PLAIN = frozenset(map(repr, (Label(), *PLAIN_KINDS.values())))


def schema_source(
    spec: RecordSpec,
    *,
    header: str = "",
    comments: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Write a record as the schema file that a person would write.

    Loading and resolving the file gives the same spec, but for its `source`. Defaults
    are left out.

    Args:
        spec: the record.
        header: the docstring of the file; none if empty.
        comments: by the name of a field or of a nested model, `observation_state`, what
            is said above it, a line each. "" is for above the class.
    """
    file = _File(spec, comments or {})
    record = [*file.record(spec)]
    models = [*file.models()]  # what is imported is known once all is written
    above = [*docstring(header), ""] if header else []
    return "\n".join([*above, *file.words.imports(), *models, *record, ""])


def annotation_source(field: FieldSpec) -> str:
    """Return what stands behind a field's name in a schema file, on one line.

    Args:
        field: the field, without a path.
    """
    spec = RecordSpec("record", "_Record", "", "", (field,))
    return _File(spec, {}).annotation(Leaf(field.name, field.name, field))


class _File:
    """One schema file, while it is written."""

    def __init__(self, spec: RecordSpec, comments: Mapping[str, Sequence[str]]) -> None:
        self._members = tree(spec.fields)
        names = {name for field in spec.fields for name in (field.name, *field.path)}
        hidden = {*names, spec.class_name}
        self.words = Words(hidden)
        self._taken = hidden | KNOWN
        self._models: dict[tuple[str, ...], str] = {}
        self._comments = comments

    def record(self, spec: RecordSpec) -> Iterator[str]:
        """Yield the lines of the record's class."""
        base = "Record" if spec.message == "Example" else "SequenceRecord"
        parameters = [self.words(base)]
        if spec.reserved:
            parameters.append(f"reserved={self._value(spec.reserved)}")
        if spec.draft:
            parameters.append("draft=True")
        yield from ("", "")
        yield from comment_lines(self._comments.get("", ()), 0)
        yield from broken(
            f"class {identifier(spec.class_name)}({', '.join(parameters)}):"
        )
        if spec.doc:
            yield from (*docstring(spec.doc, STEP), "")
        yield from self._body(self._members)

    def models(self) -> Iterator[str]:
        """Yield the lines of the nested models, each before those that hold it."""
        for body, name in self._models.items():
            # pydantic itself reads docstrings of fields only where a setting asks for it.
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
        start = f"{_PAD}{identifier(member.name)}: "
        if isinstance(member, Branch):
            annotation = self._model(member)
            if member.key != member.name:
                key = self._call("Nested", [("key", member.key)])
                annotation = self._annotated(annotation, key)
            yield from broken(start + annotation)
            return
        default = f" = {self._default(member)}" if member.spec.optional else ""
        yield from broken(start + self.annotation(member), default)
        yield from docstring(member.spec.doc, STEP) if member.spec.doc else ()

    def annotation(self, member: Leaf) -> str:
        """Return the type of a field, with its kind."""
        kind = kind_of(member.spec, member.name)
        names = self._names(member, kind)
        annotation = self.words(kind.python_type)
        if names:
            annotation = f"{self.words('Literal')}[{names}]"
            kind = replace(kind, **_NO_CLASSES)
        if member.spec.optional and member.spec.default is None:
            annotation += " | None"
        if repr(kind) in _PLAIN:
            return annotation
        return self._annotated(annotation, self._call(kind.kind, said(kind)))

    def _names(self, member: Leaf, kind: Kind) -> str:
        """Return the names of a label's classes for its type; "" if they are many."""
        single = kind.python_type == "int"
        names = ", ".join(map(literal, kind.classes)) if single else ""
        line = f"{_PAD}{member.name}: Literal[{names}] | None = None"
        return names if display_width(line) <= WIDTH else ""

    def _model(self, branch: Branch) -> str:
        """Return the name of a nested model's class; equal ones are one class."""
        body = tuple(self._body(branch.members))
        if body not in self._models:
            numbered = (f"{branch.flat}{number}" for number in count(2))
            names = map(_class_name, chain((branch.name, branch.flat), numbered))
            name = next(name for name in names if name not in self._taken)
            self._models[body] = identifier(name)
            self._taken.add(name)
        return self._models[body]

    def _annotated(self, python_type: str, metadata: str) -> str:
        return f"{self.words('Annotated')}[{python_type}, {metadata}]"

    def _call(self, name: str, parameters: Sequence[tuple[str, Any]]) -> str:
        items = [
            f"{parameter}={self._value(value)}" if parameter else self._value(value)
            for parameter, value in parameters
        ]
        return f"{self.words(name)}({', '.join(items)})"

    def _value(self, value: Any) -> str:
        """Return a parameter's value as source."""
        if isinstance(value, Parameters):
            return self._call(type(value).__name__, said(value))
        if isinstance(value, tuple) and value:
            items = ", ".join(map(self._value, value))
            return f"({items}{',' * (len(value) == 1)})"
        return literal(value)

    def _default(self, member: Leaf) -> str:
        """Return a field's default in the type that it is declared with."""
        kind, default = kind_of(member.spec, member.name), member.spec.default
        if default is None:
            return "None"
        if kind.classes and isinstance(default, int):
            by_name = kind.python_type == "str" or self._names(member, kind)
            return literal(kind.classes[default] if by_name else default)
        array = isinstance(default, tuple) and kind.python_type == "np.ndarray"
        values = _listed(default)
        return f"{self.words('np')}.array({values})" if array else values


def _listed(value: Any) -> str:
    """Return values as nested lists."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_listed, value))}]"
    return literal(value)


def _class_name(words: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in words.split("_"))
