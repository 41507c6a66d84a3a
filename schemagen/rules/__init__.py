"""The kinds of findings: one row each. Docs and tests are made from these tables."""

from __future__ import annotations

from .data_files import DATA_FILES
from .generated_files import GENERATED_FILES
from .requests import REQUESTS
from .rule import Rule
from .schemas import SCHEMAS

__all__ = ["RULES", "Rule"]

RULES = {rule.id: rule for rule in (*SCHEMAS, *GENERATED_FILES, *REQUESTS, *DATA_FILES)}
