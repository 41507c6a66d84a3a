"""The settings in `[tool.schemagen]`, which pydantic checks."""

from __future__ import annotations

import re
from keyword import iskeyword
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from .rules import JUDGEMENTS, Thresholds
from .runtime.shared.tfrecord import MOST_RECORD_BYTES

# No name is hidden, ends in a way that Windows drops, or leads out of the project.
_PART = re.compile(r"\w([\w.-]*[\w-])?")

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = re.compile(r"(\d+)(KiB|MiB|GiB)")

_PACKAGE = (
    'a path inside the project whose parts are Python names, such as "src/schemas"'
)


def _package(path: str) -> str:
    """Return a path that Python can import from, with "/" between its parts."""
    parts = PurePosixPath(path).parts
    if not parts or not all(p.isidentifier() and not iskeyword(p) for p in parts):
        raise ValueError
    return PurePosixPath(path).as_posix()


def _plain_path(path: str) -> str:
    """Return a path inside the project that works everywhere."""
    parts = PurePosixPath(path).parts
    if not parts or not all(map(_PART.fullmatch, parts)):
        raise ValueError
    return PurePosixPath(path).as_posix()


def _bytes(size: object) -> object:
    """Return a size such as "256MiB" as a number of bytes, and other values as they are."""
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    return int(match[1]) * _UNITS[match[2]] if match else size


class _Table(BaseModel):
    """A table of settings. Descriptions say what is expected."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


_THRESHOLD = "a number of at least 0"
_SHARE = "a number from 0 to 1"
_Limit = Annotated[float, Field(ge=0)]
_Share = Annotated[float, Field(ge=0, le=1)]


class FieldThresholds(_Table):
    """The thresholds of `inspect --fail-on` for a field, by what it judges.

    None stands for that of all fields.
    """

    leakage: _Limit | None = Field(default=None, description=_THRESHOLD)
    duplicates: _Limit | None = Field(default=None, description=_THRESHOLD)
    drift: _Share | None = Field(default=None, description=_SHARE)
    missing_classes: _Limit | None = Field(
        default=None, alias="missing-classes", description=_THRESHOLD
    )
    target_leakage: _Share | None = Field(
        default=None, alias="target-leakage", description=_SHARE
    )


class ThresholdTable(FieldThresholds):
    """The thresholds for all fields and records, and for single fields."""

    fields: dict[str, FieldThresholds] = Field(
        default={}, description="a [tool.schemagen.thresholds.fields.NAME] table"
    )
    """By the name of the field."""

    def thresholds(self) -> Thresholds:
        """Return those that are set, by their names."""
        found = self.model_dump(by_alias=True, exclude_none=True)
        return Thresholds(fields=found.pop("fields"), every=found)


class Settings(_Table):
    """What a project may set."""

    schemas: Annotated[str, AfterValidator(_package)] = Field(
        default="schemas", description=_PACKAGE
    )
    """The directory of schema files, relative to the project."""

    output: Annotated[str, AfterValidator(_package)] = Field(
        default="generated", description=_PACKAGE
    )
    """The directory of generated code, relative to the project."""

    constants: dict[str, Any] = Field(
        default={}, description="a [tool.schemagen.constants] table"
    )
    """Values that schema files share: `schemagen.constants(__file__)` returns them."""

    templates: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        default=None, description='a path inside the project, such as "templates"'
    )
    """The directory of the project's own templates."""

    thresholds: ThresholdTable = Field(
        default=ThresholdTable(),
        description="a [tool.schemagen.thresholds] table of numbers: "
        + ", ".join(JUDGEMENTS)
        + "; and a table of these for each of some fields, fields.NAME",
    )
    """The limits of `inspect --fail-on`; `schemagen explain drift` describes that of drift."""

    max_record_bytes: Annotated[int, BeforeValidator(_bytes), Field(ge=1, le=2**31)] = (
        Field(
            default=MOST_RECORD_BYTES,
            alias="max-record-bytes",
            description='a size such as "256MiB" or "2GiB", or a number of bytes',
        )
    )
    """The most bytes of a record that commands read."""


def wrong_paths(table: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return what in a table is unknown or has a wrong value, in the table's order.

    Returns:
        The name of a setting each, with the names of the tables that it is in.
    """
    try:
        Settings.model_validate(table)
    except ValidationError as error:
        wrong = {tuple(map(str, each["loc"])) for each in error.errors()}
        names = [*table]
        return sorted(wrong, key=lambda path: (names.index(path[0]), path))
    return []


def described(path: tuple[str, ...]) -> dict[str, str]:
    """Return what is expected of each setting in the table in which a setting is.

    Args:
        path: the names of the tables that the setting is in, and its own.
    """
    table: type[_Table]
    match path:
        case (_,):
            table = Settings
        case (_, _):
            table = ThresholdTable
        case (_, "fields", name):  # any name of a field
            return {name: "a table of thresholds"}
        case _:
            table = FieldThresholds
    fields = table.model_fields.items()
    return {each.alias or name: each.description or "" for name, each in fields}
