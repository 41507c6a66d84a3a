"""Writing schema files: from what a record is to the words a person would use."""

from .source import annotation_source, field_name, schema_source

__all__ = ["annotation_source", "field_name", "schema_source"]
