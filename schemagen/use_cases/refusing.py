"""Errors of data as findings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..findings import COMMAND_LINE, SchemagenError, refused
from ..runtime.shared.errors import DatasetError


@contextmanager
def refusing_data(data: str) -> Iterator[None]:
    """Report data that cannot be read as any other request that is refused.

    Raises:
        SchemagenError: with the message of a DatasetError or PermissionError.
    """
    try:
        yield
    except (DatasetError, PermissionError) as error:
        raise refusal(data, error) from None


def refusal(data: str | os.PathLike[str], error: Exception) -> SchemagenError:
    """Return the error for data that cannot be read.

    It is located at the command if a package is missing, since the data may be right.
    """
    message = str(error).removeprefix(f"{os.fspath(data)}: ")
    if isinstance(error.__cause__, ImportError):
        return refused(COMMAND_LINE, message, rule="SG407")
    return refused(data, message, rule="SG441")
