"""The report: one HTML file about data, which needs no other file."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...atomic_write import write_whole
from ...display.blocks import Code, Table, printable, without_empty
from ...findings import COMMAND_LINE, refused
from ...progress import track
from ...runtime.interface import install
from ..formatting import number, one_line, plural, share, size
from ..inspect.text import OF_SPLIT, columns_table, contents_of, facts_table
from ..profile.columns import title_of
from ..profile.correlations import correlations_of
from ..profile.facts import Fact, column_facts, declared_facts, split_facts
from ..profile.notes import notes_of, notes_of_keys
from ..profile.profile import Profile
from ..statistics.model import FileStatistics
from .associations import association_figures
from .banner import verdicts
from .charts import Figure, series
from .columns import (
    Described,
    class_figure,
    column_figure,
    missing_figure,
    pixel_figure,
)
from .correlations import correlation_figure
from .differences import diff_figure, differences_figure, duplicates_figure
from .overview import overview_of
from .records import changed_places, places_of
from .samples import Samples, samples_of

if TYPE_CHECKING:
    from ..profile.diff import Diff
    from ..verify.verification import Verification


_MARK = b'<meta name="generator" content="schemagen inspect">'


def check_installed() -> None:
    """See that a report can be made.

    Raises:
        SchemagenError: a package is not installed.
    """
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        raise refused(
            COMMAND_LINE,
            "an HTML report needs vl-convert-python, which is not installed",
            rule="SG407",
            advice=f"run `{install('report')}`",
        ) from None


def check_target(path: str | os.PathLike[str]) -> None:
    """See that a report can be made and may be written there, before data is read.

    Raises:
        SchemagenError: a package is not installed; the directory does not exist; or the
            file is not a report.
    """
    check_installed()
    target = Path(path)
    if not target.parent.is_dir():
        raise refused(target, f"directory {target.parent} does not exist", rule="SG441")
    if target.exists() and not _replaceable(target):
        raise refused(
            target,
            "this file is not a report of schemagen, and is left as it is",
            rule="SG441",
            advice="delete it, or choose another name",
        )


def _replaceable(target: Path) -> bool:
    """Tell empty files and earlier reports from other files."""
    try:
        with target.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    return not start or _MARK in start


def write_report(
    path: str | os.PathLike[str],
    profile: Profile,
    verification: Verification | None,
    diff: Diff | None = None,
) -> int:
    """Write a report; an earlier one is replaced when the new one is whole.

    Args:
        path: the file.
        profile: of the data.
        verification: the result of `verify`; None without it.
        diff: of two datasets, of which the profile is; None for one.

    Returns:
        The file's size in bytes.

    Raises:
        SchemagenError: as `check_target` says, or the file cannot be written.
    """
    check_target(path)
    text = page_text(profile, verification, diff).encode()
    write_whole(Path(path), text)
    return len(text)


def page_text(
    profile: Profile, verification: Verification | None, diff: Diff | None = None
) -> str:
    """Return the page, with all text of data escaped; arguments are as of `write_report`.

    Its policy allows pictures and sound with data URLs, and the style sheet and the script with
    these hashes. Nothing else in it can load or run.
    """
    # This imports packages that a report needs, and other commands do not.
    from .charts import SERIES, series

    style = _source("style.css")
    script = _source("script.js")
    policy = (
        f"default-src 'none'; img-src data:; media-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "basename": os.path.basename,
        "thousands": "{:,}".format,
        "number": number,
        "one_line": one_line,
        "plural": plural,
        "series": series,
        "share": share,
        "size": size,
        "text_length": text_length,
        "whole": whole,
    }
    return environment.get_template("page.html.jinja").render(
        page_values(profile, verification, diff),
        drawn=SERIES,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
    )


def _source(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


_MOST_CLASSES = 12
_MOST_FIGURES = 24

_OF_KEY = ("key", "kind", "declared as", "role", "present", "length", "values")
"""What the table of all keys has of each."""

_RIGHT = ("present", "length")
"""What of it is aligned to the right."""

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
    places = places_of(profile.duplicates) if diff is None else changed_places(diff)
    samples = samples_of(profile, places)
    counted = {id(each.column): each for each in profile.classes}
    fields = [
        Described(column, profile.splits, counted.get(id(column)))
        for column in profile.columns
    ]
    drawn = [each for each in fields if each.column.kinds and not each.classes]
    drawn.sort(key=lambda each: each.column.is_info)
    return {
        "title": one_line(title, 80),
        "where": one_line(statistics.where, 300),
        "differing": diff is not None,
        "facts": _facts(profile) if diff is None else _facts_of_each(diff),
        "splits": profile.splits,
        "split_table": _split_table(profile),
        "files": statistics.files,
        "noun": "field" if spec else "key",
        "keys": len(profile.columns),
        "verification": verification,
        "verified": verification and _verified(verification),
        "verdicts": verdicts(profile),
        "overview": overview_of(profile, fields),
        "samples": samples,
        "sections": [*_sections(profile, diff, samples, drawn)],
        "columns_left_out": len(drawn[_MOST_FIGURES:]),
        "key_table": _right(
            columns_table(profile, _OF_KEY, len(profile.columns))
            if diff is None
            else _keys_of_each(diff)
        ),
    }


def _right(table: Table) -> Table:
    numeric = [at for at, name in enumerate(table.headings) if name in _RIGHT]
    return replace(table, numeric=numeric)


def _sections(
    profile: Profile, diff: Diff | None, samples: Samples, drawn: Sequence[Described]
) -> Iterator[tuple[str, str, list[Figure]]]:
    """Yield the id, the title and the figures of each section."""
    splits, columns, spec = profile.splits, profile.columns, profile.spec
    read = any(split.found.read for split in splits)
    if diff is not None:
        yield "diff", "Schemas and records", [diff_figure(diff, samples.ids)]
    if splits[1:]:
        yield "differences", "Differences between splits", [differences_figure(profile)]
    if read and diff is None:
        figure = duplicates_figure(profile.duplicates, samples.ids)
        yield "duplicates", "Duplicates", [figure]
    classes = [
        class_figure(each, splits, apart=diff is not None)
        for each in profile.classes[:_MOST_CLASSES]
    ]
    masks = samples.overlays.masks if spec else ()
    pixels = (pixel_figure(each, samples.overlays, splits) for each in masks)
    classes += [each for each in pixels if each]
    if classes:
        yield "classes", "Classes", classes
    if splits and diff is None:
        if shown := [each for each in profile.associations if each.shown]:
            yield "target", "Target", association_figures(shown, splits[0])
        if correlations := correlations_of(columns, splits[0]):
            figure = correlation_figure(correlations, splits[0])
            yield "correlations", "Correlations", [figure]
    if columns and read:
        yield "missing", "Missing values", [missing_figure(columns, splits)]
    if columns:
        some = track(drawn[:_MOST_FIGURES], "drawing plots", "column")
        figures = [column_figure(profile, each) for each in some]
        described = [each for each in figures if each.plots or each.facts]
        yield "keys", "Values and lengths", described
    yield "shards", "Files", [files_figure(profile)]


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


def text_length(cell: str) -> int:
    """Return how many characters of a cell one can see."""
    return len(cell.striptags() if isinstance(cell, Markup) else cell)


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


def _facts_of_each(diff: Diff) -> list[str]:
    """Return the same of each of two datasets, but for what was not read."""
    return [
        f"{name}: {fact}"
        for name, profile, unread in zip(
            diff.names, diff.profiles, diff.unread, strict=True
        )
        for fact in _facts(profile)
        if fact not in unread
    ]


def _keys_of_each(diff: Diff) -> Table:
    """Return the table of all keys, with a row for each dataset that has it."""
    rows = []
    columns = [
        {(each.key, each.steps): each for each in profile.columns}
        for profile in diff.profiles
    ]
    for column in diff.profile.columns:
        for name, profile, some in zip(diff.names, diff.profiles, columns, strict=True):
            own = some.get((column.key, column.steps))
            if own is not None:
                facts = [*column_facts(profile, own), *declared_facts(own)]
                facts.append(Fact(own.name, own.key, None, "dataset", name))
                rows.append((Code(column.name), facts))
    return facts_table("key", rows, ("dataset", *_OF_KEY))


def _verified(verification: Verification) -> str:
    """Return what `verify` has read and found, in a sentence."""
    records = plural(verification.records, "record")
    compared = all(split.record is not None for split in verification.splits)
    if not all(split.whole for split in verification.splits):
        records = f"the first {records}"
    if verification.clean:
        what = "Format and schema" if compared else "Format, without a schema"
        return f"{what}: no errors in {records}."
    against = "the schema" if compared else "the TFRecord format, without a schema"
    kinds = plural(len(verification.findings), "kind of finding", "kinds of findings")
    wrong = sum(split.wrong for split in verification.splits)
    where = f" in {plural(wrong, 'record')}" if wrong else " in the files"
    return f"{kinds}{where}: verify compared {records} with {against}."


_TITLES = ("File", "Split", "Records", "Size", "Compression", "State")


def files_figure(profile: Profile) -> Figure:
    """List all files; a column that says nothing is left out."""
    splits = {split.name: split for split in profile.splits}
    files = sorted(
        profile.statistics.files,
        key=lambda file: (splits[file.split].index, file.path),
    )
    rows = [
        (
            one_line(os.path.basename(file.path), 80),
            splits[file.split].label,
            f"{file.records:,}",
            size(file.bytes),
            file.compression,
            _state(file),
        )
        for file in files
    ]
    table = without_empty(_TITLES, rows, ("Compression", "State"), _TITLES[2:4])
    caption = "Every file: its records and its size"
    return Figure(tables={caption: table}, folded=len(files) > 12, wide=True)


def _state(file: FileStatistics) -> str:
    if file.damaged:
        return f"damaged in {plural(file.damaged, 'place')}"
    if file.foreign:
        return one_line(f"no key: {file.foreign}", 80)
    return "" if file.complete else "read in part"
