"""Generated code for one field of a kind."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import PackageOf

_SCHEMA = """
from typing import Annotated, Any
from schemagen import *

class One(Record):
    x: Annotated[Any, {}]
"""


@pytest.fixture(scope="session")
def parser_of(package_of: PackageOf) -> Callable[[str], ModuleType]:
    """Return the parser of a record with one field `x` of a kind, given as source."""
    return lambda kind: package_of(_SCHEMA.format(kind)).module("one", "parser")
