"""A spec as a schema file: the inverse of loading and resolving one."""

from __future__ import annotations

import inspect
import keyword
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields, replace
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import TextWrapper
from typing import Any

from .codegen.python_source import (
    STEP,
    WIDTH,
    broken,
    comment,
    display_width,
    identifier,
    import_block,
    literal,
    prose,
)
from .findings import Finding
from .runtime.kinds.classes import Label, names_of
from .runtime.kinds.kind import Kind
from .runtime.kinds.parameters import Parameters, parameters_of
from .runtime.shared.errors import Problem
from .schema import NAMES
from .schema.declaration import PLAIN_KINDS
from .schema.loading import load_schemas
from .schema.nesting import SEPARATOR, with_keys
from .schema.record import Record
from .spec.model import FieldSpec, RecordSpec
from .spec.names import RESERVED_FIELDS
from .spec.resolve import resolve
from .spec.scaled_boxes import boxes_of_schema
from .spec.training import with_role


@dataclass(frozen=True)
class Leaf:
    """A field of a model, with its keys as they stand there.

    Attributes:
        name: its name in the model.
        flat: its name in the record.
        spec: what it is.
    """

    name: str
    flat: str
    spec: FieldSpec


@dataclass(frozen=True)
class Branch:
    """A nested model.

    Attributes:
        name: the name of the field that holds it.
        flat: the name that it would have in the record.
        key: how its keys begin, without the separator.
        members: its fields.
    """

    name: str
    flat: str
    key: str
    members: tuple[Leaf | Branch, ...]


Placed = tuple[tuple[str, ...], FieldSpec]
"""The rest of a field's path, and the field with the rest of its keys."""


def tree(found: Sequence[FieldSpec]) -> tuple[Leaf | Branch, ...]:
    """Put the fields of a record into the models of their paths."""
    return tuple(_below([(spec.path or (spec.name,), spec) for spec in found], ()))


def _below(found: Sequence[Placed], above: tuple[str, ...]) -> Iterator[Leaf | Branch]:
    grouped: dict[str, list[Placed]] = {}
    for path, spec in found:
        grouped.setdefault(path[0], []).append((path[1:], spec))
    for name, members in grouped.items():
        here = (*above, name)
        flat = "_".join(here)
        if members[0][0]:
            key = _prefix(name, members)
            start = key + SEPARATOR
            inner = [(rest, _without(spec, start)) for rest, spec in members]
            yield Branch(name, flat, key, tuple(_below(inner, here)))
        else:
            yield Leaf(name, flat, members[0][1])


def _prefix(name: str, members: Sequence[Placed]) -> str:
    """Return how the keys below a nested model begin.

    Of several ways that would do, it is one that leaves a field the key that it has by
    its name, or else the name of the model, or the shortest one.
    """
    keys = [key for _, spec in members for key in _keys(spec)]
    natural = [
        spec.key.removesuffix(SEPARATOR + SEPARATOR.join(rest))
        for rest, spec in members
    ]
    for prefix in (*natural, name, keys[0].partition(SEPARATOR)[0]):
        begin = prefix + SEPARATOR
        if all(key.startswith(begin) and key != begin for key in keys):
            return prefix
    raise ValueError(
        f"the keys of the nested fields {name!r} do not begin alike: {keys}"
    )


def _keys(spec: FieldSpec) -> list[str]:
    """Return all texts of a field that a nested model puts its prefix before."""
    found: list[str] = []

    def seen(key: str) -> str:
        found.append(key)
        return key

    with_keys(spec.kind, seen)
    return found


def _without(spec: FieldSpec, prefix: str) -> FieldSpec:
    """Take a prefix off the keys and the group of a field."""
    kind = with_keys(spec.kind, lambda key: key.removeprefix(prefix))
    return replace(spec, kind=kind)


# Words by which comments give orders to tools.
_ORDERS = re.compile(
    r"(?i)(?<![\w-])(?:(fmt|yapf|ruff|isort|type|mypy|pyright|pylint|flake8|pragma)"
    r"(?=\s*:)|(no)(?=qa|sec|cover))"
)


def docstring(text: str, indent: int = 0) -> list[str]:
    """Return the lines of a docstring, which reads as the text again.

    Args:
        text: as a spec has it: no tabs, no spaces at the ends of lines.
        indent: how many columns it is moved to the right.
    """
    pad = " " * indent
    if "\n" in text and inspect.cleandoc(text) != text:
        # Its lines would lose what they are indented by; after such a break they do not.
        text = text.replace("\n", "\x0b")
    inside = str(prose(text, indent))
    if inside.startswith('"'):  # formatters would put a space before it
        inside = "\\" + inside
    first, *more = inside.split("\n")
    if not more:
        return [f'{pad}"""{first}"""']
    return [f'{pad}"""{first}', *more, f'{pad}"""']


def comment_lines(texts: Iterable[str], indent: int) -> Iterator[str]:
    """Yield comments, broken into lines that are not too long.

    Args:
        texts: what they say; one that is too long goes on below, moved to the right.
        indent: how many columns they are moved to the right.
    """
    start = " " * indent + "# "
    lines = TextWrapper(
        WIDTH,
        initial_indent=start,
        subsequent_indent=f"{start}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for text in texts:
        yield from lines.wrap(_harmless(text)) or [start.rstrip()]


def _harmless(text: str) -> str:
    """Write text so that no tool takes it for an order."""
    shown = str(comment(text))
    return _ORDERS.sub(
        lambda order: f"{order[0][:-1]}\\x{ord(order[0][-1]):02x}", shown
    )


_MODULES = {
    "Annotated": "typing",
    "Literal": "typing",
    "BaseModel": "pydantic",
    "np": "numpy",
    **dict.fromkeys(NAMES, "schemagen"),
}
_BUILTINS = ("bool", "bytes", "complex", "dict", "float", "int", "list", "str", "tuple")
_ROOTS = re.compile(r"(?<![\w.])[A-Za-z_]\w*")

KNOWN = frozenset({*_MODULES, *_BUILTINS})
"""The names that a schema file may use."""


class UsedNames:
    """The names that one file has used so far.

    A field hides what it is named like from the lines around it. Such a thing gets a
    second name, which begins with `_` as no field does.

    Args:
        hidden: the names of the fields and of the record itself.
    """

    def __init__(self, hidden: Collection[str]) -> None:
        self._hidden = frozenset(hidden)
        self._used: set[str] = set()

    def __call__(self, expression: str) -> str:
        """Return a type or a name as this file has to write it."""
        return _ROOTS.sub(lambda root: self._word(root[0]), expression)

    def _word(self, name: str) -> str:
        if name not in KNOWN:
            return name
        self._used.add(name)
        return f"_{name}" if name in self._hidden else name

    def imports(self) -> Iterator[str]:
        """Yield the lines that bring in what was used."""
        modules = {n: _MODULES[n] for n in self._used & _MODULES.keys()}
        yield from import_block(modules).splitlines()
        second = [f"_{name} = {name}" for name in sorted(self._used & self._hidden)]
        yield from (["", *second] if second else ())


# Those of every kind, which come last.
_SHARED = parameters_of(Kind)


def kind_of(field: FieldSpec, name: str) -> Kind:
    """Return a field's kind with as few parameters as it takes.

    Args:
        field: the field, with its keys as they are in its own model.
        name: its name there.
    """
    return _shortest(field.kind, name)


def _shortest(kind: Kind, name: str) -> Kind:
    """Give every parameter the shortest value that means the same with it."""
    meant = _meaning(kind, name)
    for parameter in fields(kind):
        for value in _shorter(parameter, getattr(kind, parameter.name)):
            shorter = replace(kind, **{parameter.name: value})
            with suppress(Problem):  # of parameters that need each other
                if _meaning(shorter, name) == meant:
                    kind = shorter
    return kind


def _shorter(parameter: Field[Any], value: Any) -> Iterator[Any]:
    """Yield shorter values of a parameter, the shortest last."""
    if isinstance(value, Kind):  # of one step
        yield _shortest(value, "")
    if parameter.name.endswith("_key") and isinstance(value, tuple) and len(value) == 1:
        yield value[0]
    if parameter.default is not MISSING:
        yield parameter.default


def _meaning(kind: Kind, name: str) -> str:
    """Return the resolved kind as text, so that 0.0 differs from 0 and from -0.0."""
    return repr(with_role(kind.resolved(name)))


def said(kind: Parameters) -> list[tuple[str, Any]]:
    """Return the parameters that are no defaults, those of every kind last.

    The first one has no name if it has no default.
    """
    declared: Any = kind
    parameters = sorted(
        fields(declared), key=lambda each: (each.kw_only, each.name in _SHARED)
    )
    given = [
        (each.name, getattr(kind, each.name))
        for each in parameters
        if repr(getattr(kind, each.name)) != repr(each.default)
    ]
    if parameters[0].default is MISSING:
        given[0] = ("", given[0][1])
    return given


def field_name(text: str, taken: Collection[str] = ()) -> str:
    """Return the name of a field that is called this in its source.

    Args:
        text: what it is called there: any text.
        taken: names that others bear already.
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^0-9A-Za-z_]+", "_", ascii_text).strip("_") or "field"
    if name[0].isdigit():
        name = f"f_{name}"
    if keyword.iskeyword(name) or name in RESERVED_FIELDS or hasattr(Record, name):
        name = f"{name}_"
    number, first = 2, name
    while name in taken:
        name = f"{first.rstrip('_')}_{number}"
        number += 1
    return name


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
    file = _SchemaFile(spec, comments or {})
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
    return _SchemaFile(spec, {}).annotation(Leaf(field.name, field.name, field))


class _SchemaFile:
    """One schema file, while it is written."""

    def __init__(self, spec: RecordSpec, comments: Mapping[str, Sequence[str]]) -> None:
        self._members = tree(boxes_of_schema(spec.fields))
        names = {name for field in spec.fields for name in (field.name, *field.path)}
        hidden = {*names, spec.class_name}
        self.words = UsedNames(hidden)
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
        names = ", ".join(map(literal, names_of(kind))) if single else ""
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
        if (names := names_of(kind)) and isinstance(default, int):
            by_name = kind.python_type == "str" or self._names(member, kind)
            return literal(names[default] if by_name else default)
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


_SCHEMAS = "schemagen_drafted_schemas"


def wrong_with(source: str, spec: RecordSpec) -> tuple[Finding, ...]:
    """Load a schema file's text apart from any project, and say what is wrong with it.

    Args:
        source: as `schema_source` has written it.
        spec: what it has to say.

    Returns:
        The findings of its record; none if the schema is right.

    Raises:
        AssertionError: it is right, and says something else: a fault of schemagen.
    """
    with TemporaryDirectory() as directory:
        path = Path(directory) / _SCHEMAS / "drafted.py"
        path.parent.mkdir()
        path.write_text(source, encoding="utf-8")
        loaded = load_schemas(Path(directory), _SCHEMAS, "schemagen_no_output")
        resolved = resolve(loaded.records)
    findings = (*loaded.findings, *resolved.findings)
    found = [replace(each, source=spec.source) for each in resolved.specs]
    assert findings or found == [spec], "a schema that says something else"
    return findings
