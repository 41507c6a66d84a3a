"""What of a profile can fail a build: leakage, duplicates, drift, classes that are missing."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from ...rules import THRESHOLDS
from ..checks import DataFinding, Example
from ..formatting import listed, number, plural, share
from .classes import ClassCounts
from .columns import Split
from .comparison import FEWEST, FEWEST_OF_VALUE, Difference
from .duplicates import Duplicate, Place
from .profile import Profile


def judged(
    profile: Profile, names: Collection[str], thresholds: Mapping[str, float]
) -> list[DataFinding]:
    """Return findings of the judgements that are asked for, in the order of `THRESHOLDS`.

    Args:
        profile: of some data.
        names: out of `THRESHOLDS`.
        thresholds: in place of those.
    """
    limits = {**THRESHOLDS, **thresholds}
    return [
        found
        for name in THRESHOLDS
        if name in names
        for found in _JUDGES[name](profile, limits[name])
    ]


def _leakage(profile: Profile, limit: float) -> Iterator[DataFinding]:
    for each in profile.duplicates.found:
        if each.mark == "leakage" and each.share > limit:
            first, second = (split.label for split in each.splits)
            one, many = ("value", "values") if each.column else ("record", "records")
            what = f"{many} of {first!r} are in {second!r} too"
            found = f"{plural(each.count, one, many)} in both"
            yield _repeated(profile, "SG541", each, what, found, limit)


def _duplicates(profile: Profile, limit: float) -> Iterator[DataFinding]:
    for each in profile.duplicates.found:
        if len(each.splits) == 1 and each.share > limit:
            many = "values" if each.column else "records"
            what = f"{many} are more than once in {each.splits[0].label!r}"
            found = f"{plural(each.count, 'record')} again"
            yield _repeated(profile, "SG542", each, what, found, limit)


def _repeated(
    profile: Profile, rule: str, each: Duplicate, what: str, found: str, limit: float
) -> DataFinding:
    """Return the finding of a duplicate; examples are places in its last split."""
    split = each.splits[-1]
    examples = [
        Example(
            again.file,
            again.record if again.record >= 0 else None,
            None,
            found,
            f"the same as {_where(first, again)}",
        )
        for again, first in each.places
    ]
    of = "the smaller split" if len(each.splits) == 2 else "the records"
    expected = f"at most {share(limit)} of {of}" if limit else "none"
    return DataFinding(
        rule=rule,
        split=split.name or None,
        field=each.column.name if each.column else "",
        key=each.column.key if each.column else "",
        what=what,
        expected=expected,
        records=each.count,
        files=each.files,
        of=min(split.found.records for split in each.splits),
        examples=tuple(examples) or (Example(profile.where, None, None, found),),
    )


def _where(place: Place, other: Place) -> str:
    """Return a place in words, with the whole path if it is in another directory."""
    return place.text if place.file != other.file else f"record {place.record:,}"


def _drift(profile: Profile, limit: float) -> Iterator[DataFinding]:
    for each in profile.differences:
        if each.drift >= limit and not each.column.is_info:
            yield _of_difference(profile, each, limit)


def _of_difference(profile: Profile, each: Difference, limit: float) -> DataFinding:
    one, other = each.splits
    first, second = each.texts
    least = number(1 + limit if each.unit == "ratio" else limit)
    return DataFinding(
        rule="SG543",
        split=other.name or None,
        field=each.column.name,
        key=each.column.key,
        what=f"{each.title} differs between {one.label} and {other.label}",
        expected=f"a {each.unit} below {least}",
        records=0,
        files=0,
        of=other.found.records,
        examples=(
            Example(
                profile.where, None, None, f"{first} and {second}: {each.effect_text}"
            ),
        ),
    )


def _missing_classes(profile: Profile, limit: float) -> Iterator[DataFinding]:
    for counted in profile.classes:
        for split in profile.splits:
            lacking = [*lacking_in(counted, split, limit)]
            if lacking:
                yield _of_classes(profile, counted, split, lacking, limit)


_JUDGES = {
    "leakage": _leakage,
    "duplicates": _duplicates,
    "drift": _drift,
    "missing-classes": _missing_classes,
}


def unjudged(profile: Profile, names: Collection[str]) -> Iterator[str]:
    """Yield what the judgements that are asked for could not look at, in sentences."""
    if len(profile.splits) < 2:
        between = [name for name in ("leakage", "drift") if name in names]
        if between:
            yield f"not judged: {' and '.join(between)}, which need two splits"
    elif "drift" in names:
        small = [each.label for each in profile.splits if each.found.read < FEWEST]
        if small:
            yield f"no drift of fewer than {FEWEST} records is judged: {listed(small)}"


def lacking_in(
    counted: ClassCounts, split: Split, limit: float = THRESHOLDS["missing-classes"]
) -> Iterator[str]:
    """Yield the classes of which a split has too few records.

    Without a schema, these are classes that another split has.
    """
    own = counted.counts.get(split.name)
    if own is None or split.found.read < FEWEST:
        return
    declared = counted.classes[: counted.known] if counted.declared else ()
    for name in counted.classes:
        most = max(each.get(name, 0) for each in counted.counts.values())
        if own.get(name, 0) < limit and (name in declared or most >= FEWEST_OF_VALUE):
            yield name


def _of_classes(
    profile: Profile,
    counted: ClassCounts,
    split: Split,
    lacking: list[str],
    limit: float,
) -> DataFinding:
    classes = plural(len(counted.classes), "class", "classes")
    found = f"{len(lacking):,} of {classes}: {listed(lacking)}"
    least = plural(math.ceil(limit), "record")
    return DataFinding(
        rule="SG544",
        split=split.name or None,
        field=counted.name,
        key=counted.column.key,
        what=f"classes with too few records in {split.label!r}",
        expected=f"{least} or more of each class",
        records=0,
        files=0,
        of=split.found.records,
        examples=(Example(profile.where, None, None, found),),
    )
