"""Reading files a second time, slowly: what is wrong in them, and where a record is."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ..shared.errors import DatasetError
from ..sources.contents import Contents, opening_problem, wrong_count
from ..sources.files import Files
from .error_report import Parser, fault_of, fault_of_all, refused


def place_of(record: bytes, found: Iterable[Files]) -> str:
    """Return the file of a record, and its number in that file.

    Records do not carry with them where they are from, since that would cost more than
    a tenth of reading; so that files are searched once something is wrong.
    """
    for files in found:
        for at, path in enumerate(files.paths):
            for number, each in enumerate(Contents(files, at)):
                if each == record:
                    return f"{path}: record {number}"
    return "a record that is no longer in the files"


def first_problem(files: Files, parser: Parser, batch_size: int) -> str:
    """Say what is wrong first in files, one after the other, or return "".

    Args:
        files: which, and what is known of them.
        parser: how records are parsed.
        batch_size: how many records are parsed together.
    """
    known = files.records or (None,) * len(files.paths)
    together = ""
    for at, (path, expected) in enumerate(zip(files.paths, known, strict=True)):
        problem = opening_problem(files, at)
        if problem:
            return problem
        found, count = iter(Contents(files, at)), 0
        while piece := list(islice(found, batch_size)):
            records = [each for each in piece if isinstance(each, bytes)]
            message = fault_of_all(records, parser) if records else ""
            bad = refused(records, parser) if message else set()
            for number, each in enumerate(piece):
                if isinstance(each, DatasetError):
                    return str(each)
                if number in bad:
                    return f"{path}: record {count + number}: {fault_of(each, parser)}"
            together = together or message
            count += len(piece)
        if expected not in (None, count):
            return wrong_count(path, count, expected)
    return together
