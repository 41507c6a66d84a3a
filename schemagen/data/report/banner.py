"""What a reader should look at: the marked facts, as sentences with links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..formatting import listed, plural
from ..profile.facts import DISTANCE, DUPLICATES, SHARED, Fact, judged_facts
from ..profile.profile import Profile

_SECTIONS = {
    "damage": "findings",
    "leakage": "duplicates",
    "duplicates": "duplicates",
    "drift": "differences",
    "missing-classes": "classes",
    "target-leakage": "target",
}
"""The section of the page about each mark; others are about fields."""

_MOST = 8
"""So many names are in a sentence."""


class Verdict(NamedTuple):
    """A sentence of the banner: its tone, "good" or "bad", and its section if it has one."""

    tone: str
    section: str
    text: str


def verdicts(profile: Profile) -> list[Verdict]:
    """Return a sentence for each mark, or what was checked if nothing is marked."""
    marked: dict[str, list[Fact]] = {}
    for fact in judged_facts(profile):
        if fact.mark:
            marked.setdefault(fact.mark, []).append(fact)
    if not marked:
        return [Verdict("good", "", _checked(profile))]
    labels = {split.name: split.label for split in profile.splits}
    order = sorted(marked, key=[*_SECTIONS, *marked].index)
    return [
        Verdict(
            "bad",
            _SECTIONS.get(mark, "fields"),
            f"{_title(mark)}: {_said(marked[mark], labels)}.",
        )
        for mark in order
    ]


def _title(mark: str) -> str:
    return mark[0].upper() + mark[1:].replace("-", " ")


def _said(facts: Iterable[Fact], labels: Mapping[str, str]) -> str:
    """Return what is marked, and where: "price 0.31 and age 0.12 in test"."""
    places: dict[tuple[str, str], dict[str, list[str]]] = {}
    for fact in _largest(facts):
        some = places.setdefault(_place(fact, labels), {}).setdefault(_what(fact), [])
        if fact.category and fact.mark == "missing-classes":
            some.append(fact.category)
    texts: dict[str, list[str]] = {}
    for (first, place), found in places.items():
        text = listed([_of(names, what) for what, names in found.items()], _MOST)
        if first:
            text = f"{text} of {first} in {place}"
        texts.setdefault(text, []).extend([place] if place and not first else [])
    return "; ".join(
        f"{text} in {listed(some, _MOST)}" if some else text
        for text, some in texts.items()
    )


def _largest(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts; of the distances of a field in a split only the first, the largest."""
    seen = set()
    for fact in facts:
        place = fact.subject, fact.split
        if fact.unit != DISTANCE or place not in seen:
            yield fact
        seen.add(place)


def _place(fact: Fact, labels: Mapping[str, str]) -> tuple[str, str]:
    """Return the split, and before it the other one if something is in both."""
    if fact.split is None or fact.mark == "target-leakage":
        return "", ""
    first = labels[fact.other_split or ""] if fact.measure == SHARED else ""
    return first, labels[fact.split]


def _what(fact: Fact) -> str:
    """Return what is marked: so many records or values, a field, or else the text."""
    if fact.measure in (DUPLICATES, SHARED):
        return _of([plural(fact.count, fact.unit.removesuffix("s"))], fact.subject)
    if fact.unit == DISTANCE:
        return f"{fact.subject} {fact.text}"
    if fact.mark == "target-leakage":
        return f"{fact.subject} tells {fact.category}"
    return fact.subject or fact.text


def _of(names: Sequence[str], what: str) -> str:
    return " of ".join(filter(None, (listed(names, _MOST), what)))


def _checked(profile: Profile) -> str:
    """Return what was looked at, if none of it is marked."""
    checked = ["files"]
    if profile.compared is None:
        found = profile.duplicates.compared
        checked.append(f"duplicates of {listed(['records', *(e.name for e in found)])}")
    if profile.pairs:
        splits = dict.fromkeys(second.label for _, second in profile.pairs)
        checked.append(f"drift in {listed([*splits])}")
    if classes := [each.name for each in profile.classes if each.likely]:
        checked.append(f"missing classes of {listed(classes)}")
    return f"Nothing is marked. Checked: {'; '.join(checked)}."
