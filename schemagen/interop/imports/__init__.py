"""Schemas out of other descriptions of records: TFDS, TensorFlow Metadata, tf.io."""

from .importing import FORMS, Written, import_schema

__all__ = ["FORMS", "Written", "import_schema"]
