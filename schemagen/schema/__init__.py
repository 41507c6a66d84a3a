"""The schema language: records, and how they are read from schema files."""
