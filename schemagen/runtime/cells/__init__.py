"""Stored values: as columns of many records, and what has to be right of them."""
