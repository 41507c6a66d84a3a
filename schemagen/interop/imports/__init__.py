"""Schemas out of other descriptions of records: TFDS, TensorFlow Metadata, tf.io."""

from .importing import Written, import_schema

__all__ = ["Written", "import_schema"]
