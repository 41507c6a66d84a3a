"""Descriptions of a record for other tools."""
