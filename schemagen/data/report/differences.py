"""Differences between datasets and splits, and duplicates, as tables of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...display.blocks import Table, without_empty
from ..formatting import key_name, listed, number, plural
from ..inspect.text import changes_tables, diff_notes, records_table
from ..profile.columns import VALUES
from ..profile.comparison import FEWEST, QUANTILES
from ..profile.duplicates import Duplicate, Duplicates, Position
from ..profile.profile import Profile
from .charts import Figure
from .samples import opener

if TYPE_CHECKING:
    from ..profile.changes import RecordChange
    from ..profile.diff import Diff, SplitDiff

_DUPLICATES = ("What", "Where", "How many", "Such as")


def diff_figure(found: Diff, records: Mapping[Position, str]) -> Figure:
    """Return what differs in the schemas and the records of two datasets.

    Args:
        found: the datasets.
        records: the ids of the records that the page can open, by their places.
    """

    def title(change: RecordChange) -> str:
        parts = [change.key_value]
        for name, place in zip(found.names, (change.before, change.after), strict=True):
            if place in records:
                parts.append(opener(records[place], name))
        return Markup(" ").join(parts)

    said = [_of_split(split, found.names) for split in found.splits if split.differs]
    if found.classes:
        said.insert(0, f"classes of {listed([*map(key_name, found.classes)])} differ")
    if changes := len(found.schema or ()):
        said.insert(0, plural(changes, "change") + " of the schema")
    verdict = "; ".join(said) or "No records differ"
    whole = not any(found.unread)
    return Figure(
        notes=[
            f"{verdict}." if said or whole else f"{verdict} in what was read.",
            *diff_notes(found),
        ],
        tables={
            "Records of both datasets": records_table(found),
            **dict(changes_tables(found, title)),
        },
        tone="bad" if said or not found.sound else "good" if whole else "note",
        folded=False,
        wide=True,
    )


def _of_split(split: SplitDiff, names: tuple[str, str]) -> str:
    """Return how a split of two datasets differs."""
    first, second = names
    head = split.split or "all"
    before, now = split.records
    if before is None or now is None:
        return f"{head}: only in {first if now is None else second}"
    counts = {
        f"only in {first}": split.only[0],
        f"only in {second}": split.only[1],
        "changed": split.changes.records,
    }
    (what, count), *others = ((what, n) for what, n in counts.items() if n)
    more = (f", {n:,} {what}" for what, n in others)
    return f"{head}: {plural(count, 'record')} {what}{''.join(more)}"


def differences_figure(profile: Profile) -> Figure:
    """Compare pairs of splits, with a table each."""
    compared, drifts = profile.differences, profile.drifts
    some = "No marked differences"
    if marked := sum(each.marked for each in drifts):
        some = plural(marked, "marked difference")
    verdict = f"{some} in {plural(len(compared), 'comparison')}."
    if not compared:
        verdict = f"No comparison: it requires two splits of at least {FEWEST} records."
    small = [
        f"{split.label} ({plural(split.found.read, 'record')})"
        for split in profile.splits
        if split.found.read < FEWEST
    ]
    left_out = listed([*small, "correlations", *_contents(profile)])
    notes = [
        f"{verdict} Not compared: {left_out}.",
        "Marked are distances between distributions that reach the threshold, "
        f"{_thresholds(profile)}, and that chance does not explain. "
        f"Of numbers the tables have quantiles: {listed(QUANTILES)}.",
    ]
    if info := dict.fromkeys(each.column.name for each in drifts if not each.marked):
        notes.append(f"Never marked, as their role is info: {listed([*info])}.")
    tone = "bad" if marked else "note" if drifts else "good"
    tables = dict(_by_pair(profile))
    return Figure(notes=notes, tables=tables, tone=tone, folded=False, wide=True)


def _thresholds(profile: Profile) -> str:
    """Return the distance that counts as drift, and those of fields that have their own."""
    found, usual = [], profile.thresholds.of("drift")
    for column in profile.columns:
        own = profile.thresholds.of("drift", column.name)
        if own != usual:
            found.append(f"{number(own)} of {column.name}")
    return listed([f"{number(usual)} by default", *found])


def _by_pair(profile: Profile) -> Iterator[tuple[str, Table]]:
    """Yield the marked differences of each pair of splits that has any."""
    for pair in profile.pairs:
        rows = [
            (each.column.name, each.title, f"{each.distance:.2f}", *each.texts)
            for each in profile.drifts
            if each.splits == pair
        ]
        first, second = (split.label for split in pair)
        titles = ("Name", "What", "Distance", first, second)
        if rows:
            yield (
                f"{first} and {second}: marked first, then by distance",
                Table(titles, rows, (2,)),
            )


def _contents(profile: Profile) -> list[str]:
    """Return the columns of bytes of which only sizes are compared, as one item."""
    compared = {
        each.column.key for each in profile.differences if each.quantity == VALUES
    }
    names = [
        column.name
        for column in profile.columns
        if column.whole.contents is not None and column.key not in compared
    ]
    return [f"the contents of {listed(names)}"] if names else []


def duplicates_figure(found: Duplicates, records: Mapping[Position, str]) -> Figure:
    """List the duplicates.

    Args:
        found: the duplicates.
        records: the ids of the records that the page can open, by their places.
    """
    compared = listed(["records", *(each.name for each in found.compared)], 12)
    if not found.found:
        return Figure(notes=[f"No duplicates. Compared: {compared}."])
    marked = found.marked
    natural = [each for each in found.found if not each.mark]
    tables = {}
    for caption, some, most in (
        ("Records, and values that identify them", marked, 3),
        ("Values that repeat by nature or by chance", natural, 1),
    ):
        rows = [
            [
                *_in_words(each),
                Markup().join(_pair(pair, records) for pair in each.places[:most]),
            ]
            for each in some
        ]
        if rows:
            tables[caption] = without_empty(
                _DUPLICATES, rows, _DUPLICATES[3:], _DUPLICATES[2:3]
            )
    first = [
        f"{count} {what} {where}"
        for what, where, count in map(_in_words, marked or natural)
    ]
    notes = [f"Duplicates: {listed(first, 3)}. Compared: {compared}."]
    return Figure(notes=notes, tables=tables, folded=False, wide=True)


def _in_words(found: Duplicate) -> tuple[str, str, str]:
    """Return what is there more than once, where, and how often."""
    ending = "" if found.count == 1 else "s"
    what = f"record{ending}"
    if found.column:
        what = f"value{ending} of {found.column.name}"
    labels = [split.label for split in found.splits]
    where = f"more than once in {labels[0]}"
    if labels[1:]:
        where = f"in {labels[0]} and in {labels[1]}"
    return what, where, f"{found.count:,}"


def _pair(places: tuple[Position, Position], records: Mapping[Position, str]) -> Markup:
    """Return a record and the one that it is equal to, as buttons that open them."""
    again, first = places
    texts = [again.text, first.text]
    if again.file == first.file and again.record >= 0:
        texts[0] = f"record {again.record:,}"
    parts = []
    for place, text in zip(places, texts, strict=True):
        plain = Markup('<span class="whole">{}</span>').format(text)
        parts.append(opener(records[place], text) if place in records else plain)
    return Markup('<div class="pair">{} = {}</div>').format(*parts)
