"""Infer: from records of which nothing is known to the record that wrote them."""

from .boxes import with_boxes
from .deciding import Drafted, draft_record
from .draft import DOUBT
from .evidence import Evidence, gather
from .naming import class_name_of
from .odd import without_odd
from .reading import FileKeys, Reading, groups_of, keys_by_split, shown_group
from .tables import TableEvidence

__all__ = [
    "DOUBT",
    "Drafted",
    "Evidence",
    "FileKeys",
    "Reading",
    "TableEvidence",
    "class_name_of",
    "draft_record",
    "gather",
    "groups_of",
    "keys_by_split",
    "shown_group",
    "with_boxes",
    "without_odd",
]
