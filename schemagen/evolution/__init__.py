"""Whether a schema's change is safe: specs against specs, and the rules that it breaks.

`schemagen breaking`, `schemagen explain`, docs/rules.md and the tests are made from the
table of rules. Its examples are real: tests write with the code of the one schema, and
read with that of the other.
"""

from .tables import AXES, BREAKING_RULES, Axis, BreakingRule

__all__ = ["AXES", "BREAKING_RULES", "Axis", "BreakingRule"]
