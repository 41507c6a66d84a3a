"""A record and its fields as the rest of schemagen sees them: frozen values."""

from __future__ import annotations

from dataclasses import KW_ONLY, MISSING, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..runtime.cells.part import Part
from ..runtime.kinds.kind import Kind, optional
from ..runtime.kinds.parameters import parameter, parameters_of
from ..schema.parameters import problems
from .training import with_role

Item = bool | int | float | str | bytes
Default = Item | tuple["Default", ...] | None

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultTypeVar

    K = DefaultTypeVar("K", bound=Kind, covariant=True, default=Any)
else:
    K = TypeVar("K", bound=Kind, covariant=True)


@dataclass(frozen=True)
class FieldSpec(Generic[K]):
    """A field of a record.

    Its kind is resolved: two fields that mean the same are equal.

    Attributes:
        name: the field's name: keyword, dictionary key and model input.
        kind: how its values are stored and modelled, with its key and role.
        optional: whether the feature may be absent from an Example.
        default: the value that readers deliver for an absent feature. If it is None
            they deliver NaN for floats, and a mask for all else.
        doc: the field's description.
        path: the names from the outermost nested model to the field's own; empty for
            a field that is not nested.
    """

    name: str
    kind: K
    _: KW_ONLY
    optional: bool = False
    default: Default = None
    doc: str = ""
    path: tuple[str, ...] = parameter(default=(), omit_default=True)

    def __post_init__(self) -> None:
        resolved = with_role(self.kind.resolved(self.name))
        object.__setattr__(self, "kind", resolved)

    @classmethod
    def of(cls, kind: type[K], **facts: Any) -> FieldSpec[K]:
        """Return the field of a kind that has these facts.

        Args:
            kind: its class.
            **facts: parameters of the field and of its kind, by name.

        Raises:
            Problem: the kind cannot have such parameters.
        """
        own = {name: facts.pop(name) for name in _OWN if name in facts}
        given = {name: facts[name] for name in facts if name not in kind.derived}
        declared = kind(**given)
        for problem in problems(declared):
            raise problem
        return cls(kind=declared, **own)

    def replaced(self, **facts: Any) -> FieldSpec[K]:
        """Return the field with other values of some facts."""
        given = {**self.facts(), **facts}
        del given["kind"]
        return FieldSpec.of(type(self.kind), **given)

    @property
    def key(self) -> str:
        """The key of its values."""
        return self.kind.key or ""

    @property
    def role(self) -> str:
        """Input, target, weight or info."""
        return str(self.kind.role)

    @property
    def presence(self) -> bool:
        """Whether a mask says which values are there, also where it has a default."""
        return self.kind.presence

    @property
    def label(self) -> str:
        """Its name in messages: `steps.observation.state`."""
        return ".".join(self.path) or self.name

    @cached_property
    def codec(self) -> Kind:
        """Its kind, bound: what checks, stores and reads its values."""
        kind = optional(self.kind, self.default) if self.optional else self.kind
        return kind.bound(self.label)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What it is stored as, its values first."""
        return self.codec.parts

    @property
    def numbered_keys(self) -> tuple[str, ...]:
        """The keys of its values, if each of them has a key of its own; else empty."""
        is_numbered = getattr(self.kind, "keys", None) is not None
        return tuple(part.key for part in self.parts) if is_numbered else ()

    @property
    def step(self) -> FieldSpec:
        """The field that one step has, of a kind with steps. Its key is ""."""
        return FieldSpec(self.name, replace(self.kind.of_step, key=""))

    def facts(self) -> dict[str, Any]:
        """Return the parameters of the field and of its kind by name."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**own, **facts_of(self.kind), "kind": self.kind.kind}


_OWN = tuple(each.name for each in fields(FieldSpec) if each.name != "kind")


def facts_of(kind: Kind) -> dict[str, Any]:
    """Return the parameters of a kind as a spec has them, by name."""
    names = (*parameters_of(type(kind)), *kind.derived)
    return {name: getattr(kind, name) for name in names}


def defaults_of(kind: type[Kind]) -> dict[str, Any]:
    """Return the defaults of facts as specs have them, by name."""
    return {
        **{
            each.name: each.default
            for each in (*fields(FieldSpec), *fields(kind))
            if each.default is not MISSING
        },
        **kind.derived,
    }


def facts_left_out(kind: type[Kind]) -> dict[str, Any]:
    """Return the facts that JSON leaves out, by name, with the value that they then have."""
    defaults = defaults_of(kind)
    return {
        each.name: defaults[each.name]
        for each in (*fields(FieldSpec), *fields(kind))
        if each.metadata.get("omit_default")
    }


@dataclass(frozen=True)
class RecordSpec:
    """A whole record.

    Attributes:
        record: its name in snake case, the name of its generated package.
        class_name: the name of its class.
        source: the schema file, relative to the project, with forward slashes.
        doc: the class's docstring.
        fields: in the order of their declaration.
        message: the message that stores a record: "Example" or "SequenceExample".
        reserved: names and keys of former fields, which no field may bear again.
        draft: whether a break is only a warning.
    """

    record: str
    class_name: str
    source: str
    doc: str
    fields: tuple[FieldSpec, ...]
    message: str = parameter(default="Example", omit_default=True)
    reserved: tuple[str, ...] = parameter(default=(), omit_default=True)
    draft: bool = parameter(default=False, omit_default=True)

    def __str__(self) -> str:
        from .describe import describe_text

        return describe_text(self).rstrip("\n")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # of IPython, which else shows what `repr` gives

    def _repr_html_(self) -> str:
        from ..display.html import html
        from .describe import record_blocks

        return html(record_blocks(self))

    def with_role(self, role: str) -> tuple[FieldSpec, ...]:
        """Return the fields of one role, in order."""
        return tuple(field for field in self.fields if field.role == role)

    def by_key(self) -> tuple[FieldSpec, ...]:
        """Return the fields in the order in which they are written."""
        return tuple(sorted(self.fields, key=lambda field: field.key.encode()))

    def parts(self) -> dict[str, tuple[Part, FieldSpec, bool]]:
        """Return the part under each key, its field, and whether it may be missing.

        Fields may share the key of a size: it is there if one of them has to be.
        """
        found: dict[str, tuple[Part, FieldSpec, bool]] = {}
        for field in self.fields:
            for part in field.parts:
                before = found.get(part.key)
                if before is None:
                    found[part.key] = (part, field, field.optional)
                elif before[2] and not field.optional:
                    found[part.key] = (before[0], before[1], False)
        return dict(sorted(found.items(), key=lambda each: each[0].encode()))
