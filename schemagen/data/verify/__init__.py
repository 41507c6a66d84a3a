"""Checking data files: framing, checksums, the manifest, and every record."""

from ..checks import DataFinding, Example, Note
from .verification import SplitCounts, Verification
from .verifying import verify

__all__ = [
    "DataFinding",
    "Example",
    "Note",
    "SplitCounts",
    "Verification",
    "verify",
]
