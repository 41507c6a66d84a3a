"""Reading files a second time, slowly: what is wrong in them, and where a record is."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ..shared.errors import DatasetError
from ..sources.records import FileRecords, opening_problem, with_command
from ..sources.shards import Shards
from ..storage.manifest import wrong_count
from .error_report import Parser, fault_of, fault_of_all, refused


def place_of(record: bytes, found: Iterable[Shards]) -> str:
    """Return the file of a record, and its number in that file.

    Records do not carry with them where they are from, since that would cost more than
    a tenth of reading; so that files are searched once something is wrong.
    """
    for shards in found:
        for file in shards.files:
            for number, each in enumerate(FileRecords(file)):
                if each == record:
                    return f"{file.path}: record {number}"
    return "a record that is no longer in the files"


def first_problem(shards: Shards, parser: Parser, batch_size: int) -> str:
    """Say what is wrong first in files, one after the other, or return "".

    Args:
        shards: the files.
        parser: how records are parsed.
        batch_size: how many records are parsed together.
    """
    together = ""
    for file in shards.files:
        problem = opening_problem(file)
        if problem:
            return problem
        found, count = iter(FileRecords(file)), 0
        while piece := list(islice(found, batch_size)):
            records = [each for each in piece if isinstance(each, bytes)]
            message = fault_of_all(records, parser) if records else ""
            bad = refused(records, parser) if message else set()
            for number, each in enumerate(piece):
                if isinstance(each, DatasetError):
                    return with_command(file.path, str(each))
                if number in bad:
                    place = f"{file.path}: record {count + number}"
                    return with_command(file.path, f"{place}: {fault_of(each, parser)}")
            together = together or message
            count += len(piece)
        if file.records is not None and file.records != count:
            problem = wrong_count(file.path, count, file.records)
            return with_command(file.path, problem)
    return together
