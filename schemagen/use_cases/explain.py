"""What each rule is about: for `schemagen explain`, and as docs/rules.md."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ..evolution.rule import BreakingRule
from ..evolution.table import BREAKING_RULES
from ..rules import RULES, Rule
from ..runtime.shared.errors import did_you_mean

ALL_RULES: dict[str, Rule] = dict(sorted({**RULES, **BREAKING_RULES}.items()))

_GROUPS = {
    "SG1": "Schemas",
    "SG2": "Breaking changes",
    "SG3": "Generated files",
    "SG4": "Settings and requests",
    "SG5": "Data files",
}

_AXES = {
    "wire": "wire: data does not parse any more",
    "meaning": "meaning: data parses, and says something else",
    "api": "api: programs that use the generated code have to change",
}

_DIRECTIONS = {
    "backward": "new code is at odds with old data or old programs",
    "forward": "old code is at odds with new data",
    "both": "new code is at odds with old data, and old code with new data",
}


def explained(rule_id: str) -> str:
    """Return what there is to say about a rule, as text for a terminal.

    Raises:
        LookupError: there is no such rule.
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
            lines += ["level:      warning: it fails no run"]
        for name, example in (("before", rule.before), ("after", rule.after)):
            shown = example or "(not there)"
            lines += ["", f"{name}:", *textwrap.indent(shown, "    ").splitlines()]
        to_do = textwrap.fill(rule.to_do, 76)
        lines += ["", "to do:", *textwrap.indent(to_do, "    ").splitlines()]
    return "\n".join(lines) + "\n"


def rules_page() -> str:
    """Return the documentation of all rules as Markdown: `docs/rules.md`."""
    lines = [
        "# Rules",
        "",
        "Every finding of schemagen bears the id of its rule; `schemagen explain ID` says",
        "what stands here. This page is made by",
        "`python -m schemagen.use_cases.explain > docs/rules.md`.",
    ]
    for group, title in _GROUPS.items():
        rules = [rule for rule in ALL_RULES.values() if rule.id.startswith(group)]
        lines += ["", f"## {title}", ""]
        if group == "SG2":
            lines += _breaking_section(rules)
        else:
            lines += ["| id | what is wrong | why it matters |", "| --- | --- | --- |"]
            lines += [f"| {r.id} | {r.title} | {r.purpose} |" for r in rules]
    return "\n".join(lines) + "\n"


def _breaking_section(rules: list[Rule]) -> Iterator[str]:
    yield "What `schemagen breaking` finds; [evolution.md](evolution.md) tells how to go"
    yield "on. The direction is that of the example: *backward* if new code is at odds with"
    yield "old data or old programs, *forward* if old code is with new data."
    yield ""
    yield "| id | axis | direction | what has changed | why it matters |"
    yield "| --- | --- | --- | --- | --- |"
    breaking = [rule for rule in rules if isinstance(rule, BreakingRule)]
    for rule in breaking:
        axis = f"{rule.axis} (warning)" if rule.level == "warning" else rule.axis
        yield (
            f"| [{rule.id}](#{rule.id.lower()}) | {axis} | {rule.direction} | "
            f"{rule.title} | {rule.purpose} |"
        )
    for rule in breaking:
        yield from ("", f"### {rule.id}", "", f"{_sentence(rule.title)}.", "")
        for name, example in (("Before", rule.before), ("After", rule.after)):
            if example:
                yield from (f"{name}:", "", "```python", *example.splitlines(), "```")
            else:
                yield f"{name}: nothing."
            yield ""
        yield f"To do: {rule.to_do}."


def _sentence(title: str) -> str:
    return title[:1].upper() + title[1:]


if __name__ == "__main__":
    print(rules_page(), end="")
