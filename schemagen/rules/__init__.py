"""The kinds of findings."""

from .tables import RULES, Rule

__all__ = ["RULES", "Rule"]
