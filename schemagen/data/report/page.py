"""The values that the template of the page shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...progress import track
from ...spec.model import RecordSpec
from ..formatting import listed, one_line, plural, size
from ..statistics.model import DataStatistics
from ..verify.model import Verification
from .charts import Figure
from .classes import class_counts, class_figure
from .columns import Column, Split, columns_of, spec_of_data, splits_of
from .files import files_figure
from .samples import samples_of
from .values import column_figure, key_table, missing_figure

_MOST_CLASSES = 12
_MOST_FIGURES = 24

_MESSAGES = {
    "Example": "a tf.train.Example",
    "SequenceExample": "a tf.train.SequenceExample",
    "mixed": "either an Example or a SequenceExample",
}

Pairs = list[tuple[str, str]]


def page_values(
    statistics: DataStatistics,
    specs: Mapping[str, RecordSpec],
    verification: Verification,
) -> dict[str, Any]:
    """Return the variables of the template, by name.

    Args:
        statistics: of the data.
        specs: the schema of each split, by its name; none is needed.
        verification: the result of `verify`.
    """
    splits = splits_of(statistics.splits)
    spec = spec_of_data(splits, specs)
    columns = columns_of(splits, spec)
    counts = [found for each in columns if (found := class_counts(each, splits))]
    samples, legends = samples_of(splits, columns, spec)
    counted = [each.column for each in counts]
    figures, left_out = _column_figures(
        [column for column in columns if column not in counted], splits
    )
    read = any(split.found.read for split in splits)
    return {
        "title": _title(statistics, spec),
        "where": one_line(statistics.where, 300),
        "facts": _facts(statistics, splits, spec),
        "splits": splits,
        "files": statistics.files,
        "keys": len(columns),
        "verification": verification,
        "verified": _verified(verification),
        "samples": samples,
        "legends": legends,
        "classes": [class_figure(each, splits) for each in counts[:_MOST_CLASSES]],
        "missing": missing_figure(columns, splits) if columns and read else None,
        "columns": figures,
        "columns_left_out": left_out,
        "key_table": key_table(columns, splits) if columns else None,
        "shards": files_figure(statistics.files, splits) if statistics.files else None,
    }


def _column_figures(
    columns: Sequence[Column], splits: Sequence[Split]
) -> tuple[list[Figure], int]:
    """Return the first figures, and the number of columns behind them."""
    figures: list[Figure] = []
    for index, column in enumerate(track(columns, "drawing plots", "column")):
        if len(figures) == _MOST_FIGURES:
            return figures, len(columns) - index
        figure = column_figure(column, splits)
        figures += [figure] if figure else []
    return figures, 0


def _title(statistics: DataStatistics, spec: RecordSpec | None) -> str:
    if spec is not None:
        return one_line(spec.class_name, 80)
    where = os.path.basename(statistics.where.rstrip("/\\"))
    return one_line(where or statistics.where, 80)


def _facts(
    statistics: DataStatistics, splits: Sequence[Split], spec: RecordSpec | None
) -> Pairs:
    """Return what else is known of the data: (name, value)."""
    found = [split.found for split in splits]
    facts = []
    if spec is not None:
        facts.append(("Schema", one_line(f"{spec.class_name}, {spec.source}", 120)))
        if spec.doc:
            facts.append(("Description", one_line(spec.doc.split("\n\n")[0], 240)))
    if marks := {written.fingerprint for written in statistics.written_by.values()}:
        facts.append(("Fingerprint", one_line(listed(sorted(marks)), 120)))
    if messages := dict.fromkeys(_messages(statistics, splits)):
        facts.append(("Each record is", one_line(listed(list(messages)), 200)))
    if sizes := [each.sizes for each in found if each.sizes.count]:
        ends = (
            size(min(each.minimum or 0 for each in sizes)),
            size(max(each.maximum or 0 for each in sizes)),
        )
        facts.append(("Size of a record", " to ".join(dict.fromkeys(ends))))
    if statistics.limit is not None:
        facts.append(("Read", f"only the first {statistics.limit:,} of each split"))
    if unknown := sorted({name for each in found for name in each.unknown}):
        facts.append(("Unknown to readers", one_line(listed(unknown), 200)))
    return facts


def _messages(statistics: DataStatistics, splits: Sequence[Split]) -> Iterator[str]:
    """Yield what the records of each split are."""
    for split in splits:
        if statistics.is_foreign(split.name):
            files = (each for each in statistics.files if each.split == split.name)
            yield from (each.foreign for each in files if each.foreign)
        elif split.found.records:
            yield _MESSAGES[split.found.message]


def _verified(verification: Verification) -> str:
    """Return what `verify` has read and found, in a sentence."""
    records = plural(verification.records, "record")
    compared = all(split.record is not None for split in verification.splits)
    against = "the schema" if compared else "what a TFRecord file is, without a schema"
    if not all(split.whole for split in verification.splits):
        records = f"the first {records}"
    if verification.clean:
        return f"Nothing is wrong: verify has compared {records} with {against}."
    kinds = plural(len(verification.findings), "kind of finding", "kinds of findings")
    wrong = sum(split.wrong for split in verification.splits)
    where = f" in {plural(wrong, 'record')}" if wrong else " in the files"
    return f"{kinds}{where}: verify has compared {records} with {against}."
