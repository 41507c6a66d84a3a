"""Datasets of records: from files to batches, in the order of the modules below.

`files` finds them, `records` reads them, `caching`, `mixing` and `batching` do what
their names say, `guarded` parses batches and `faults` tells what is wrong with those
that cannot be parsed. `pipeline` joins them all.
"""

from .batching import Lengths, Padding, lengthened
from .calling import options_by_name
from .diagnosis import Parser
from .faults import OnCorrupt
from .files import Source, find_files
from .pipeline import Pipeline, Sources
from .records import read_records
from .selection import select

__all__ = [
    "Lengths",
    "OnCorrupt",
    "Padding",
    "Parser",
    "Pipeline",
    "Source",
    "Sources",
    "find_files",
    "lengthened",
    "options_by_name",
    "read_records",
    "select",
]
