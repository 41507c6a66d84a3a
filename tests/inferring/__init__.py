"""Schemas of data that has none: what is written, and that it reads the data again."""
