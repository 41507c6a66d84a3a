"""The kinds of findings."""

from .rule import Rule
from .tables import RULES

__all__ = ["RULES", "Rule"]
