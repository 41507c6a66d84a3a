"""Writing schema files: from what a record is to the words a person would use."""

from .naming import field_name
from .source import schema_source

__all__ = ["field_name", "schema_source"]
