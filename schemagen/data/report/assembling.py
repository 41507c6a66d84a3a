"""From what was measured to what the page shows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ...spec.model import RecordSpec
from ..formatting import listed, number, one_line, plural, share, size
from ..statistics.model import DataStatistics
from ..verify.model import DataFinding, Verification
from .classes import MOST_FIGURES as MOST_CLASSES
from .classes import class_counts, class_figure
from .columns import Part, Subject, parts_of, subjects_of
from .differences import differences_of
from .files import files_figure
from .measures import RULES, cautions_of
from .missing import missing_figure
from .pictures import Budget
from .samples import samples_of
from .values import MOST_FIGURES, key_figure, key_table
from .view import Difference, Figure, Finding, Page, Split, Verdict

_MOST_KEYS = 1_000
_MOST_FINDINGS = 100
_MOST_COMPARED = 300


def page_of(
    statistics: DataStatistics,
    specs: Mapping[str, RecordSpec],
    verification: Verification | None = None,
) -> Page:
    """Return what a page about data shows.

    Args:
        statistics: what was measured.
        specs: what the schemas say of each split, by its name; none is needed.
        verification: what `verify` has found; None if it was not asked.
    """
    parts = parts_of(statistics.splits)
    spec = next((specs[part.split] for part in parts if part.split in specs), None)
    subjects = subjects_of(parts, spec)
    counted = [
        found for each in subjects if (found := class_counts(each, parts)) is not None
    ]
    differences = differences_of(parts, subjects, counted) if len(parts) > 1 else ()
    shown, legends = samples_of(parts, subjects, spec, Budget())
    classes = [class_figure(each, parts) for each in counted[:MOST_CLASSES]]
    drawn = {(each.subject.key, each.subject.steps) for each in counted}
    keys, left_out = _key_figures(
        [each for each in subjects if (each.key, each.steps) not in drawn], parts
    )
    read = sum(part.found.read for part in parts)
    return Page(
        title=_title(statistics, spec),
        where=one_line(statistics.where, 300),
        figures=_figures(statistics, parts, subjects),
        facts=_facts(statistics, parts, spec),
        verdicts=_verdicts(statistics, parts, verification, differences),
        splits=_splits(statistics, parts),
        verified=_verified(verification) if verification is not None else "",
        findings=_findings(verification),
        samples=shown,
        legends=legends,
        classes=tuple(classes),
        missing=(missing_figure(subjects, parts),) if subjects and read else (),
        keys=keys,
        keys_left_out=left_out,
        key_table=key_table(subjects, parts, _MOST_KEYS) if subjects else None,
        shards=(files_figure(statistics.files, parts),) if statistics.files else (),
        reference=parts[0].name if len(parts) > 1 else "",
        differences=_most(differences),
        cautions=cautions_of(parts, len(differences)) if len(parts) > 1 else (),
        rules=RULES,
    )


def _key_figures(
    subjects: Sequence[Subject], parts: Sequence[Part]
) -> tuple[tuple[Figure, ...], int]:
    figures: list[Figure] = []
    for index, subject in enumerate(subjects):
        if len(figures) == MOST_FIGURES:
            return tuple(figures), len(subjects) - index
        figure = key_figure(subject, parts)
        if figure is not None:
            figures.append(figure)
    return tuple(figures), 0


def _most(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    return tuple(differences[:_MOST_COMPARED])


def _title(statistics: DataStatistics, spec: RecordSpec | None) -> str:
    if spec is not None:
        return one_line(spec.class_name, 80)
    where = os.path.basename(statistics.where.rstrip("/\\"))
    return one_line(where or statistics.where, 80)


def _figures(
    statistics: DataStatistics, parts: Sequence[Part], subjects: Sequence[Subject]
) -> tuple[tuple[str, str], ...]:
    records = sum(part.found.records for part in parts)
    whole = sum(file.bytes for file in statistics.files)
    found = [(f"{records:,}", "records" if records != 1 else "record")]
    if len(parts) > 1:
        found.append((f"{len(parts):,}", "splits"))
    files = len(statistics.files)
    found.append((f"{files:,}", "files" if files != 1 else "file"))
    found.append((size(whole), "on disk"))
    more = "+" if any(part.found.more_keys for part in parts) else ""
    found.append((f"{len(subjects):,}{more}", "keys" if len(subjects) != 1 else "key"))
    return tuple(found)


def _facts(
    statistics: DataStatistics, parts: Sequence[Part], spec: RecordSpec | None
) -> tuple[tuple[str, str], ...]:
    facts = []
    if spec is not None:
        facts.append(("Schema", one_line(f"{spec.class_name}, {spec.source}", 120)))
        if spec.doc:
            facts.append(("It says", one_line(spec.doc.split("\n\n")[0], 240)))
    marks = {written.fingerprint for written in statistics.written_by.values()}
    if marks:
        facts.append(("Fingerprint", one_line(listed(sorted(marks)), 120)))
    messages = dict.fromkeys(part.found.message for part in parts if part.found.records)
    if messages:
        facts.append(("Each record is", listed([_MESSAGES[each] for each in messages])))
    sizes = [part.found.sizes for part in parts if part.found.sizes.count]
    if sizes:
        least = min(each.minimum or 0 for each in sizes)
        greatest = max(each.maximum or 0 for each in sizes)
        words = size(least)
        if size(greatest) != words:
            words = f"{words} to {size(greatest)}"
        facts.append(("Size of a record", words))
    if statistics.limit is not None:
        facts.append(("Read", f"only the first {statistics.limit:,} of each split"))
    unknown = sorted({name for part in parts for name in part.found.unknown})
    if unknown:
        facts.append(("Unknown to readers", one_line(listed(unknown), 200)))
    return tuple(facts)


_MESSAGES = {
    "Example": "a tf.train.Example",
    "SequenceExample": "a tf.train.SequenceExample",
    "mixed": "either an Example or a SequenceExample",
}


def _splits(statistics: DataStatistics, parts: Sequence[Part]) -> tuple[Split, ...]:
    records = sum(part.found.records for part in parts)
    rows = []
    for part in parts:
        files = [file for file in statistics.files if file.split == part.split]
        whole = sum(file.bytes for file in files)
        compressions = sorted({file.compression or "none" for file in files})
        count = part.found.records
        rows.append(
            Split(
                name=part.name,
                series=part.series,
                records=f"{count:,}",
                share=share(count, records),
                shards=f"{len(files):,}",
                bytes=size(whole),
                per_record=size(whole / count) if count else "–",
                compression=listed(compressions),
            )
        )
    return tuple(rows)


def _verdicts(
    statistics: DataStatistics,
    parts: Sequence[Part],
    verification: Verification | None,
    differences: Sequence[Difference],
) -> tuple[Verdict, ...]:
    found = []
    if verification is not None:
        words, target = _verified(verification), "findings"
        found.append(Verdict("good" if verification.clean else "bad", words, target))
    elif statistics.damaged:
        places = plural(statistics.damaged, "place")
        found.append(Verdict("bad", f"The files are damaged in {places}.", "shards"))
    malformed = sum(part.found.malformed for part in parts)
    if malformed:
        words = plural(malformed, "record is", "records are")
        found.append(
            Verdict(
                "bad", f"{words} no tf.train.Example, and in nothing below.", "samples"
            )
        )
    marked = sum(each.marked for each in differences)
    if marked:
        words = plural(marked, "difference")
        found.append(
            Verdict(
                "note",
                f"{words} between splits that chance does not explain.",
                "differences",
            )
        )
    elif len(parts) > 1:
        found.append(
            Verdict(
                "good",
                "No difference between splits that chance does not explain.",
                "differences",
            )
        )
    return tuple(found)


def _verified(verification: Verification) -> str:
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


def _findings(verification: Verification | None) -> tuple[Finding, ...]:
    if verification is None:
        return ()
    return tuple(_finding(each) for each in verification.findings[:_MOST_FINDINGS])


def _finding(found: DataFinding) -> Finding:
    first = found.examples[0] if found.examples else None
    subject = f"{found.field}: " if found.field else ""
    count = (
        f"{plural(found.records, 'record')}, {share(found.records, found.of)}"
        if found.records
        else plural(found.files, "file")
    )
    if found.split:
        count += f" of {one_line(found.split, 40)}"
    where = ""
    if first is not None:
        where = os.path.basename(first.file)
        if first.record is not None:
            where += f", record {first.record:,}"
        if first.offset is not None:
            where += f", byte {number(first.offset)}"
    return Finding(
        rule=found.rule,
        count=count,
        what=one_line(subject + found.what, 300),
        where=one_line(where, 200),
        found=one_line(first.found, 300) if first else "",
        expected=one_line(found.expected, 300),
        cause=one_line(first.cause, 300) if first else "",
    )
