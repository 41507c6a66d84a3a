"""Schemas out of other descriptions of records: TFDS, TensorFlow Metadata, tf.io."""

from .importing import FORMS, Written, import_schema
from .outcome import MappingRow, Outcome
from .tables import tables

__all__ = ["FORMS", "MappingRow", "Outcome", "Written", "import_schema", "tables"]
