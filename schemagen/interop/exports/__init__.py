"""Descriptions of a record for other tools."""

TARGETS = ("tfds", "tfmd", "croissant")
"""The tools. For each there is a module of this name with an `EXPORTER`."""
