"""The rules of breaking changes: one table, a module for each axis.

`schemagen breaking`, `schemagen explain`, docs/rules.md and the tests are made from it.
Its examples are real: tests write with the code of the one schema, and read with that
of the other.
"""

from __future__ import annotations

from . import api, meaning, wire

BREAKING_RULES = {rule.id: rule for rule in (*wire.RULES, *meaning.RULES, *api.RULES)}
