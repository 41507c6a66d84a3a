"""Whether a schema's change is safe: specs against specs, and the rules that it breaks.

`schemagen breaking`, `schemagen explain`, docs/rules.md and the tests are made from the
table of rules. Its examples are real: tests write with the code of the one schema, and
read with that of the other.
"""

from __future__ import annotations

from . import api, meaning, wire

__all__ = ["BREAKING_RULES"]

BREAKING_RULES = {rule.id: rule for rule in (*wire.RULES, *meaning.RULES, *api.RULES)}
