"""Checking data files: framing, checksums, the manifest, and every record."""

from .model import DataFinding, Example, Note, SplitCounts, Verification

__all__ = [
    "DataFinding",
    "Example",
    "Note",
    "SplitCounts",
    "Verification",
]
