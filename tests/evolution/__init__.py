"""Schemas that change: what is said of it, and what becomes of data."""
