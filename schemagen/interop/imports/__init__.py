"""Schemas out of other descriptions of records: TFDS, TensorFlow Metadata, tf.io."""

from .importing import ImportedSchema, import_schema

__all__ = ["ImportedSchema", "import_schema"]
