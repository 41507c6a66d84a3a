"""Writing schema files: from what a record is to the words a person would use."""

from .source import schema_source

__all__ = ["schema_source"]
