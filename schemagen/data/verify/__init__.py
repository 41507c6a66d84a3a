"""Checking data files: framing, checksums, the manifest, and every record."""

from ..checks import DataFinding, Note, Occurrence
from .verification import SplitCounts, Verification
from .verifying import verify

__all__ = [
    "DataFinding",
    "Note",
    "Occurrence",
    "SplitCounts",
    "Verification",
    "verify",
]
