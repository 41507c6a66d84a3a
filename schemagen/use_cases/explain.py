"""Explanations of rules and of what `--fail-on` judges, for `schemagen explain`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ..display.blocks import Block, Heading, Items, Listing, Paragraph
from ..evolution import BREAKING_RULES, BreakingRule
from ..rules import JUDGEMENTS, RULES, Rule
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


def titles() -> dict[str, str]:
    """Return a title for each name that can be explained: rules, then judgements."""
    rules = {rule.id: rule.title for rule in ALL_RULES.values()}
    judged = {name: RULES[each.rule].title for name, each in JUDGEMENTS.items()}
    return rules | judged


def explained(name: str) -> list[Block]:
    """Return the explanation of a rule, or of a name that `--fail-on` takes.

    Raises:
        LookupError: neither has this name.
    """
    if name.lower() in JUDGEMENTS:
        return [*_of_judgement(name.lower())]
    if name.upper() in ALL_RULES:
        return [*_of_rule(ALL_RULES[name.upper()])]
    near = did_you_mean(name.upper(), ALL_RULES) or did_you_mean(name, JUDGEMENTS)
    names = ", ".join(JUDGEMENTS)
    hint = near or f"docs/rules.md lists the rules, and `--fail-on` takes {names}"
    raise LookupError(f"no rule {name!r}; {hint}")


def _of_judgement(name: str) -> Iterator[Block]:
    judgement = JUDGEMENTS[name]
    rule = RULES[judgement.rule]
    yield Heading(f"{name}  {rule.title} ({rule.id})")
    yield Paragraph(rule.purpose)
    yield Paragraph(
        f"Its threshold is {judgement.limits}: {judgement.threshold:g} by default. To set "
        "it in pyproject.toml, for all fields or for one:"
    )
    setting = f"{name} = {judgement.threshold:g}"
    yield Listing(
        f"    [tool.schemagen.thresholds]\n    {setting}\n\n"
        f"    [tool.schemagen.thresholds.fields.NAME]\n    {setting}"
    )
    yield Paragraph(f"`schemagen inspect DATA --fail-on {name}` exits with 1 on it.")


def _of_rule(rule: Rule) -> Iterator[Block]:
    yield Heading(f"{rule.id}  {rule.title}")
    yield Paragraph(rule.purpose)
    if not isinstance(rule, BreakingRule):
        return
    facts = [
        f"axis: {_AXES[rule.axis]}",
        f"direction: {rule.direction}: {_DIRECTIONS[rule.direction]}",
    ]
    if rule.level == "warning":
        facts.append("level: warning: it does not fail a run")
    yield Items(facts)
    for title, example in (("before", rule.before), ("after", rule.after)):
        shown = textwrap.indent(example or "(missing)", "    ")
        yield Listing(f"{title}:\n{shown}")
    yield Paragraph(f"to do: {rule.to_do}")
