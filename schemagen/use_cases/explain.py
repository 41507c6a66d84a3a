"""Explanations of all rules, for `schemagen explain`."""

from __future__ import annotations

import textwrap

from ..evolution import BREAKING_RULES, BreakingRule
from ..rules import RULES, Rule
from ..runtime.shared.errors import did_you_mean

ALL_RULES: dict[str, Rule] = dict(sorted({**RULES, **BREAKING_RULES}.items()))

_AXES = {
    "wire": "wire: data does not parse any more",
    "meaning": "meaning: data parses, with another meaning",
    "api": "api: programs that use the generated code have to change",
}

_DIRECTIONS = {
    "backward": "new code is incompatible with old data or old programs",
    "both": "new code is incompatible with old data, and old code with new data",
}


def explained(rule_id: str) -> str:
    """Return the explanation of a rule, as text for a terminal.

    Raises:
        LookupError: the rule does not exist.
    """
    rule = ALL_RULES.get(rule_id.upper())
    if rule is None:
        hint = did_you_mean(rule_id.upper(), ALL_RULES) or "docs/rules.md lists them"
        raise LookupError(f"no rule {rule_id!r}; {hint}")
    lines = [f"{rule.id}  {rule.title}", "", *textwrap.wrap(rule.purpose, 80)]
    if isinstance(rule, BreakingRule):
        lines += ["", f"axis:       {_AXES[rule.axis]}"]
        lines += [f"direction:  {rule.direction}: {_DIRECTIONS[rule.direction]}"]
        if rule.level == "warning":
            lines += ["level:      warning: it does not fail a run"]
        for name, example in (("before", rule.before), ("after", rule.after)):
            shown = example or "(missing)"
            lines += ["", f"{name}:", *textwrap.indent(shown, "    ").splitlines()]
        to_do = textwrap.fill(rule.to_do, 76)
        lines += ["", "to do:", *textwrap.indent(to_do, "    ").splitlines()]
    return "\n".join(lines) + "\n"
