"""The base class of schemas: an ordinary pydantic model that checks whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache, reduce
from types import MethodType
from typing import Any, ClassVar, LiteralString, Self, Unpack

from pydantic import BaseModel, ConfigDict, ValidationInfo, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, core_schema

from ..runtime.kinds.box_sides import box_of
from ..runtime.kinds.classes import names_of
from ..runtime.kinds.kind import Kind, optional
from ..runtime.records.groups import check_lengths, group_of, groups_of
from ..runtime.records.packed import converted
from ..runtime.records.relations import features_of_row, refuse_faults, relations_of
from ..runtime.shared.errors import Problem, RecordError, did_you_mean
from ..runtime.shared.values import described
from .declaration import FieldCheck, as_declared, declaration
from .nesting import (
    directory_of_field,
    flattened,
    members_of,
    nested_model,
    nesting_problem,
)
from .parameters import problems
from .source_map import field_docstrings


def check_between(record: Any) -> None:
    """Refuse a record whose fields do not go together, such as unequally long ones.

    Raises:
        RecordError: naming the field.
    """
    cls: Any = type(record)
    codecs = _compared(cls)

    def value(codec: Kind) -> Any:
        return reduce(getattr, codec.label.split("."), record)

    for group, members in groups_of(codecs).items():
        check_lengths(group, *[(codec, value(codec)) for codec in members])
    for relation in relations_of(codecs):
        features = features_of_row([(each, value(each)) for each in relation.fields])
        refuse_faults([relation], features, [None])


@lru_cache
def _compared(cls: Any) -> tuple[Kind, ...]:
    """Return the codecs of the fields that may be compared with others."""
    found = []
    for field in cls.schemagen_fields():
        kind = field.kind
        if kind and (group_of(kind) or kind.of_pixels or box_of(kind)):
            kind = optional(kind) if field.optional else kind
            found.append(kind.bound(field.label))
    return tuple(found)


class _WriterCheck(FieldCheck):
    """Checks a field's values by the rules of the generated writer."""

    def __init__(self, model: type, name: str, info: FieldInfo) -> None:
        self._name = name
        directory = directory_of_field(model, name)
        self._declared = declaration(name, info, directory)
        self._check: Callable[[Any], Any] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.with_info_plain_validator_function(self._validate)

    def convert(self, value: Any) -> Any:
        """Return a value as the field holds it.

        Raises:
            Problem: it cannot hold it.
        """
        if value is None and self._declared.nullable:
            return None
        if self._check is None:
            self._check = self._make_check()
        try:
            return self._check(value)
        except Problem as problem:
            raise problem.about(value) from None

    def _validate(self, value: Any, info: ValidationInfo) -> Any:
        try:
            return self.convert(value)
        except Problem as problem:
            raise _refused("record_value", problem) from None

    def _make_check(self) -> Callable[[Any], Any]:
        field = self._declared
        model = nested_model(field)
        if model is not None and not nesting_problem(field):
            return _nested_check(model)
        kind = field.kind
        wrong = kind is None or [*problems(kind), *field.problems]
        if kind is None or wrong or not kind.accepts(field.python_type):
            raise TypeError(
                f"field {self._name!r} is not declared in a way that schemagen "
                "understands; `schemagen check` says why"
            )
        kind = optional(kind) if field.optional else kind
        codec = kind.bound(self._name)
        declared = field.python_type, names_of(kind)
        return lambda value: as_declared(*declared, value, converted(codec, value))


def _refused(rule: LiteralString, error: Exception) -> PydanticCustomError:
    """Return an error for pydantic, which fills templates: the text is an argument."""
    return PydanticCustomError(rule, "{problem}", {"problem": str(error)})


def _nested_check(model: type[BaseModel]) -> Callable[[Any], Any]:
    """Return a check of a nested model's members, which returns an instance."""
    checks = {
        name: (_WriterCheck(model, name, info), not info.is_required())
        for name, info in model.model_fields.items()
    }

    def check(value: Any) -> Any:
        given = members_of(value)
        names = ", ".join(map(repr, checks))
        if given is None:
            raise Problem(described(value), f"a {model.__name__} or a dict of {names}")
        lacking = [n for n, (_, optional) in checks.items() if not optional]
        lacking = [name for name in lacking if name not in given]
        strange = [name for name in given if name not in checks]
        if lacking or strange:
            found = f"no {lacking[0]!r}" if lacking else f"the name {strange[0]!r}"
            raise Problem(found, f"a dict of {names}")
        checked: dict[str, Any] = {}
        wrong: dict[str, Problem] = {}
        for name, member in given.items():
            try:
                checked[name] = checks[name][0].convert(member)
            except Problem as problem:
                wrong[name] = problem
        if wrong:
            raise _inside(wrong)
        return model.model_validate(checked)

    return check


def _inside(wrong: dict[str, Problem]) -> Problem:
    """Return what is wrong with the members of a nested value as one problem."""
    found = ", ".join(f"in {name!r} {one.found}" for name, one in wrong.items())
    if len(wrong) == 1:
        [one] = wrong.values()
        return Problem(found, one.expected, one.advice)
    expected = ", ".join(f"in {name!r} {one.expected}" for name, one in wrong.items())
    return Problem(found, expected)


class _NotebookView:
    """`_repr_html_` of a record's class, and of its instances.

    IPython shows a class only if the attribute of the class is a bound method.
    """

    def __init__(self) -> None:
        self.render: Callable[[Any], str | None] = lambda shown: None

    def __get__(self, instance: Any, owner: type) -> MethodType:
        def _repr_html_(shown: Any) -> str | None:
            """Return HTML for a notebook; None for the ordinary representation."""
            return self.render(shown)

        return MethodType(_repr_html_, owner if instance is None else instance)


NOTEBOOK_VIEW = _NotebookView()
"""How notebooks show records. The package `schemagen` sets `render`: it imports specs,
which import this module."""


class Record(BaseModel):
    """The base class of records. A subclass declares one field per line.

    A subclass is an ordinary pydantic model. `PetPhoto(**row)` checks a row as the
    generated writer does, whole arrays at once, and raises pydantic's
    ValidationError with every field that is wrong.

    Class parameters, as in `class PetPhoto(Record, reserved=("colour",)):`

    - `reserved`: names and keys of removed fields. No field may use them again, so that
      data which still has them is never read as something else.
    - `draft`: `schemagen breaking` warns of changes instead of refusing them.

    Subclasses do not inherit these parameters.
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True,
        defer_build=True,  # until the fields have their checks; see below
        extra="forbid",
        protected_namespaces=(),  # a field may be model_year; resolve knows the rest
    )

    __schemagen_record__: ClassVar[bool] = True
    __schemagen_reserved__: ClassVar[Any] = ()
    __schemagen_draft__: ClassVar[Any] = False
    _repr_html_: ClassVar[Any] = NOTEBOOK_VIEW

    def __init_subclass__(
        cls,
        *,
        reserved: Collection[str] = (),
        draft: bool = False,
        **kwargs: Unpack[ConfigDict],
    ) -> None:
        for name in kwargs:  # what pydantic knows it has taken
            hint = did_you_mean(name, ("reserved", "draft"))
            raise TypeError(
                f"class {cls.__name__}: unknown class parameter {name!r}"
                + (f"; {hint}" if hint else "")
            )
        cls.__schemagen_reserved__ = reserved
        cls.__schemagen_draft__ = draft

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        docstrings = field_docstrings(cls)
        for name, info in cls.model_fields.items():
            if info.description is None:
                info.description = docstrings.get(name)
            declared = [i for i in info.metadata if not isinstance(i, _WriterCheck)]
            info.metadata = [*declared, _WriterCheck(cls, name, info)]
        cls.model_rebuild(force=True)

    @model_validator(mode="after")
    def _check_between(self) -> Self:
        """Refuse fields that do not go together, such as unequally long ones of a group."""
        try:
            check_between(self)
        except RecordError as error:
            raise _refused("record_group", error) from None
        return self

    @classmethod
    def schemagen_fields(cls) -> tuple[Any, ...]:
        """Return the declared fields as `Declaration` values, nested ones in place."""
        return tuple(flattened(cls))


class SequenceRecord(Record):
    """A training record with steps, stored as a tf.train.SequenceExample.

    Fields of the kind `Steps` have a value in each step; all others are its context,
    one value a record.
    """


BASES = (Record, SequenceRecord)
