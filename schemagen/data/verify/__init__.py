"""Checking data files: framing, checksums, the manifest, and every record."""

from ..checks.model import DataFinding, Example, Note, SplitCounts, Verification
from .verification import verify

__all__ = [
    "DataFinding",
    "Example",
    "Note",
    "SplitCounts",
    "Verification",
    "verify",
]
