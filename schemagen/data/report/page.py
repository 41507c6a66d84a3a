"""The values that the template of the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ...display.blocks import Table, printable
from ...progress import track
from ..formatting import one_line, plural
from ..inspect.text import OF_SPLIT, columns_table, contents_of, facts_table
from ..profile.columns import Column, title_of
from ..profile.facts import split_facts
from ..profile.profile import Profile
from ..profile.telling import told_of
from ..profile.troubles import notes_of, notes_of_keys
from .charts import Figure, series
from .differences import diff_figure, differences_figure, repetitions_figure
from .files import files_figure
from .places import places_of
from .samples import Samples, samples_of
from .shares import class_figure, missing_figure
from .telling import telling_figures
from .values import column_figure

if TYPE_CHECKING:
    from ..profile.diff import Diff
    from ..verify.verification import Verification

_MOST_CLASSES = 12
_MOST_FIGURES = 24

_OF_KEY = ("key", "kind", "declared as", "role", "in", "length", "values")
"""What the table of all keys has of each."""

_MAY_BREAK = re.compile(r"(?=.*\w[-/?]\w).{,40}")
"""Short words in which a browser breaks lines."""


def page_values(
    profile: Profile, verification: Verification | None, diff: Diff | None
) -> dict[str, Any]:
    """Return the variables of the template, by name.

    Args:
        profile: of the data.
        verification: the result of `verify`; None without it.
        diff: of two datasets, of which the profile is; None for one.
    """
    statistics, spec = profile.statistics, profile.spec
    title = title_of(statistics, spec) if diff is None else statistics.where
    samples = samples_of(profile, [] if diff else places_of(profile.repetitions))
    return {
        "title": one_line(title, 80),
        "where": one_line(statistics.where, 300),
        "differing": diff is not None,
        "facts": _facts(profile),
        "splits": profile.splits,
        "split_table": _split_table(profile),
        "files": statistics.files,
        "keys": len(profile.columns),
        "verification": verification,
        "verified": verification and _verified(verification),
        "samples": samples,
        "sections": [*_sections(profile, diff, samples)],
        "columns_left_out": len(_drawn(profile)[_MOST_FIGURES:]),
        "key_table": columns_table(profile, _OF_KEY, len(profile.columns)),
    }


def _sections(
    profile: Profile, diff: Diff | None, samples: Samples
) -> Iterator[tuple[str, str, list[Figure]]]:
    """Yield the id, the title and the figures of each section."""
    splits, columns, counts = profile.splits, profile.columns, profile.classes
    read = any(split.found.read for split in splits)
    if diff is not None:
        yield "diff", "Schemas and records", [diff_figure(diff)]
    if splits[1:]:
        yield "differences", "Differences between splits", [differences_figure(profile)]
    if read and diff is None:
        figure = repetitions_figure(profile.repetitions, samples.ids)
        yield "repetitions", "Repetitions", [figure]
    if counts:
        classes = [class_figure(each, splits) for each in counts[:_MOST_CLASSES]]
        yield "classes", "Classes", classes
    told = told_of(columns, splits[0]) if splits and diff is None else []
    if told:
        yield "target", "Target", telling_figures(told, splits[0])
    if columns and read:
        yield "missing", "Missing values", [missing_figure(columns, splits)]
    if columns:
        others = _drawn(profile)[:_MOST_FIGURES]
        drawn = track(others, "drawing plots", "column")
        yield "keys", "Values and lengths", [column_figure(profile, e) for e in drawn]
    yield "shards", "Files", [files_figure(profile)]


def _drawn(profile: Profile) -> list[Column]:
    """Return the columns that have values, and no classes."""
    counted = [each.column for each in profile.classes]
    return [each for each in profile.columns if each.kinds and each not in counted]


def _split_table(profile: Profile) -> Table:
    """Return a row for each split, in its color."""
    name = Markup('<span class="swatch s{}"></span>{}')
    rows = [
        (name.format(series(split), split.label), split_facts(profile, split))
        for split in profile.splits
    ]
    return facts_table("split", rows, OF_SPLIT)


def whole(text: str) -> str:
    """Return printable text whose dates, names and numbers do not break at hyphens."""
    if isinstance(text, Markup):
        return text
    word = Markup('<span class="whole">{}</span>')
    return Markup(" ").join(
        word.format(each) if _MAY_BREAK.fullmatch(each) else each
        for each in printable(text).split(" ")
    )


def _facts(profile: Profile) -> list[str]:
    """Return what else is known of the data, in sentences."""
    facts, spec = [], profile.spec
    if spec is not None:
        facts.append(one_line(f"Schema: {spec.class_name}, {spec.source}", 120))
        facts += [one_line(spec.doc.split("\n\n")[0], 240)] if spec.doc else []
    facts += notes_of(profile)
    # The tables have what there is to say of Examples.
    facts += [contents_of(profile)] if profile.whole.sequences else []
    return [*facts, *notes_of_keys(profile.whole)]


def _verified(verification: Verification) -> str:
    """Return what `verify` has read and found, in a sentence."""
    records = plural(verification.records, "record")
    compared = all(split.record is not None for split in verification.splits)
    against = "the schema" if compared else "the TFRecord format, without a schema"
    if not all(split.whole for split in verification.splits):
        records = f"the first {records}"
    if verification.clean:
        return f"No findings: verify compared {records} with {against}."
    kinds = plural(len(verification.findings), "kind of finding", "kinds of findings")
    wrong = sum(split.wrong for split in verification.splits)
    where = f" in {plural(wrong, 'record')}" if wrong else " in the files"
    return f"{kinds}{where}: verify compared {records} with {against}."
