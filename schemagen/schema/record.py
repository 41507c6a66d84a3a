"""The base class of schemas: an ordinary pydantic model that checks whole arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, core_schema

from ..support.errors import Problem
from .declaration import as_declared, declaration


class _RowCheck:
    """Checks a field's values by the rules of the generated writer."""

    def __init__(self, name: str, info: FieldInfo) -> None:
        self._name = name
        self._declared = declaration(name, info)
        self._check: Callable[[Any], Any] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.with_info_plain_validator_function(self._validate)

    def _validate(self, value: Any, info: ValidationInfo) -> Any:
        if value is None and self._declared.nullable:
            return None
        if self._check is None:
            self._check = self._make_check()
        try:
            return self._check(value)
        except Problem as problem:
            # pydantic fills templates with braces; a text with braces is an argument.
            raise PydanticCustomError(
                "record_value", "{problem}", {"problem": str(problem)}
            ) from None

    def _make_check(self) -> Callable[[Any], Any]:
        field = self._declared
        kind = field.kind
        if kind is None or any(kind.problems()) or not kind.accepts(field.python_type):
            raise TypeError(
                f"field {self._name!r} is not declared in a way that schemagen "
                "understands; `schemagen check` says why"
            )
        convert = kind.feature(self._name, optional=field.optional).convert
        hand_back = as_declared(field)
        return lambda value: hand_back(value, convert(value))


class Record(BaseModel):
    """One training record. Subclass it and declare a field a line.

    A subclass is an ordinary pydantic model. `PetPhoto(**row)` checks a row as the
    generated writer does, whole arrays at once, and raises pydantic's
    ValidationError with every field that is wrong.
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True,
        extra="forbid",
        protected_namespaces=(),  # a field may be model_year; resolve knows the rest
        use_attribute_docstrings=True,
    )

    __schemagen_record__: ClassVar[bool] = True

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for name, info in cls.model_fields.items():
            kept = [item for item in info.metadata if not isinstance(item, _RowCheck)]
            info.metadata = kept
            info.metadata = [*kept, _RowCheck(name, info)]
        cls.model_rebuild(force=True)

    @classmethod
    def schemagen_fields(cls) -> dict[str, Any]:
        """Return the declared fields by name, as `Declaration` values."""
        return {
            name: declaration(name, _without_check(info))
            for name, info in cls.model_fields.items()
        }


def _without_check(info: FieldInfo) -> FieldInfo:
    from copy import copy

    plain = copy(info)
    plain.metadata = [item for item in info.metadata if not isinstance(item, _RowCheck)]
    return plain
