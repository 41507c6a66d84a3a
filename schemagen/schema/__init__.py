"""The schema language: records, and how they are read from schema files."""

from ..runtime.kinds.registry import KINDS

NAMES = (*KINDS, "Augment", "Nested", "Record", "SequenceRecord")
"""What schema files import from `schemagen`."""
