"""The values that the template of the page shows."""

from __future__ import annotations

from typing import Any

from ...progress import track
from ..formatting import one_line, plural
from ..inspect.text import OF_SPLIT, contents_of
from ..profile.columns import Split, title_of
from ..profile.diff import Diff
from ..profile.facts import split_facts
from ..profile.profile import Profile
from ..profile.telling import told_of
from ..profile.troubles import notes_of, notes_of_keys
from ..verify.verification import Verification
from .charts import Figure
from .diff import diff_figures
from .differences import differences_figure, repetitions_figure
from .files import files_figure
from .samples import samples_of
from .shares import class_figure, missing_figure
from .telling import telling_figures
from .values import column_figure, key_table

_MOST_CLASSES = 12
_MOST_FIGURES = 24


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
    splits, columns, counts = profile.splits, profile.columns, profile.classes
    samples, legends = samples_of(splits, columns, spec)
    counted = [each.column for each in counts]
    others = [each for each in columns if each.kinds and each not in counted]
    drawn = track(others[:_MOST_FIGURES], "drawing plots", "column")
    sections: list[tuple[str, str, list[Figure]]] = []
    if diff is not None:
        sections.append(("diff", "Schemas and records", diff_figures(diff)))
    if splits[1:]:
        figure = differences_figure(profile)
        sections.append(("differences", "Differences between splits", [figure]))
    read = any(split.found.read for split in splits)
    if read and diff is None:
        figure = repetitions_figure(profile.repetitions)
        sections.append(("repetitions", "Repetitions", [figure]))
    classes = [class_figure(each, splits) for each in counts[:_MOST_CLASSES]]
    if classes:
        sections.append(("classes", "Classes", classes))
    told = told_of(columns, splits[0]) if splits and diff is None else []
    if told:
        sections.append(("target", "Target", telling_figures(told, splits[0])))
    if columns and read:
        figure = missing_figure(columns, splits)
        sections.append(("missing", "Missing values", [figure]))
    if columns:
        drawings = [column_figure(each, splits) for each in drawn]
        sections.append(("keys", "Values and lengths", drawings))
    sections.append(("shards", "Files", [files_figure(statistics.files, splits)]))
    return {
        "title": one_line(title_of(statistics, spec), 80),
        "where": one_line(statistics.where, 300),
        "facts": _facts(profile),
        "splits": splits,
        "split_titles": ("split", *OF_SPLIT),
        "split_rows": [_split_row(profile, split) for split in splits],
        "files": statistics.files,
        "keys": len(columns),
        "verification": verification,
        "verified": verification and _verified(verification),
        "samples": samples,
        "legends": legends,
        "sections": sections,
        "columns_left_out": len(others[_MOST_FIGURES:]),
        "key_table": key_table(columns, splits),
    }


def _split_row(profile: Profile, split: Split) -> list[str]:
    texts = {fact.name: fact.text for fact in split_facts(profile, split)}
    return [split.label, *(texts[name] for name in OF_SPLIT)]


def _facts(profile: Profile) -> list[str]:
    """Return what else is known of the data, in sentences."""
    facts, spec = [], profile.spec
    if spec is not None:
        facts.append(one_line(f"Schema: {spec.class_name}, {spec.source}", 120))
        facts += [one_line(spec.doc.split("\n\n")[0], 240)] if spec.doc else []
    facts += notes_of(profile)
    facts += [contents_of(profile)] if profile.whole.read else []
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
