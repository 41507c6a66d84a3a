"""Errors of data as findings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..findings import refused
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
        message = str(error).removeprefix(f"{data}: ")
        raise refused(data, message, rule="SG441") from None
