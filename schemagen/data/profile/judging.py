"""What of a profile can fail a build, by the names that `--fail-on` takes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from ...rules import JUDGEMENTS
from ...runtime.shared.errors import with_suggestion
from ..checks import DataFinding, Occurrence
from ..formatting import listed, number, plural, share
from .associations import INFORMATION, Association, Associations, leakage_text
from .classes import ClassCounts
from .columns import SplitProfile
from .comparison import FEWEST, QUANTILES, Difference
from .duplicates import Duplicate, Position
from .profile import Profile

# A class that has fewer records in each split may be missing in another one by chance.
_FEWEST_OF_CLASS = 10


def judged(profile: Profile, names: Collection[str]) -> list[DataFinding]:
    """Return findings of the judgements that are asked for, in the order of `JUDGEMENTS`.

    Args:
        profile: of some data, with the thresholds.
        names: out of `JUDGEMENTS`.
    """
    return [
        found
        for name in JUDGEMENTS
        if name in names
        for found in _JUDGES[name](profile)
    ]


def _leakage(profile: Profile) -> Iterator[DataFinding]:
    for each in profile.duplicates.found:
        limit = _limit(profile, "leakage", each)
        if each.mark == "leakage" and each.share > limit:
            first, second = (split.label for split in each.splits)
            one, many = ("value", "values") if each.column else ("record", "records")
            what = f"{many} of {first!r} are in {second!r} too"
            found = f"{plural(each.count, one, many)} in both"
            if each.values:
                found += f": {each.named}; in {plural(each.records, 'record')}"
            yield _repeated(profile, "SG541", each, what, found, limit)


def _duplicates(profile: Profile) -> Iterator[DataFinding]:
    for each in profile.duplicates.found:
        limit = _limit(profile, "duplicates", each)
        if each.mark == "duplicates" and each.share > limit:
            what = f"records are more than once in {each.splits[0].label!r}"
            found = f"{plural(each.count, 'record')} again"
            yield _repeated(profile, "SG542", each, what, found, limit)


def _limit(profile: Profile, judgement: str, found: Duplicate) -> float:
    name = found.column.name if found.column else ""
    return profile.thresholds.of(judgement, name)


def _repeated(
    profile: Profile, rule: str, each: Duplicate, what: str, found: str, limit: float
) -> DataFinding:
    """Return the finding of a duplicate; examples are places in its last split."""
    split = each.splits[-1]
    examples = [
        Occurrence(
            again.file,
            again.record if again.record >= 0 else None,
            None,
            found,
            f"the same {'value ' if each.values else ''}as {_where(first, again)}",
        )
        for again, first in each.places
    ]
    in_two = len(each.splits) == 2 and not each.values
    of = "the smaller split" if in_two else "the records"
    expected = f"at most {share(limit)} of {of}" if limit else "none"
    return DataFinding(
        rule=rule,
        split=split.name or None,
        field=each.column.name if each.column else "",
        key=each.column.key if each.column else "",
        what=what,
        expected=expected,
        records=each.records or each.count,
        files=each.files,
        of=min(one.found.records for one in (each.splits if in_two else [split])),
        examples=tuple(examples) or (Occurrence(profile.where, None, None, found),),
    )


def _where(place: Position, other: Position) -> str:
    """Return a place in words, with the whole path if it is in another directory."""
    return place.text if place.file != other.file else f"record {place.record:,}"


def _drift(profile: Profile) -> Iterator[DataFinding]:
    for each in profile.differences:
        if each.marked:
            yield _of_difference(profile, each)


def _of_difference(profile: Profile, each: Difference) -> DataFinding:
    one, other = (split.label for split in each.splits)
    differ = "differs" if each.quantiles is None else "differ"
    found = (
        f"{each.distance:.2f} ± {each.margin:.2f}, by chance at most {each.noise:.2f}; "
        f"{each.in_words}"
    )
    if each.quantiles is not None:
        found += f" ({listed(QUANTILES)})"
    return DataFinding(
        rule="SG543",
        split=each.splits[1].name or None,
        field=each.column.name,
        key=each.column.key,
        what=f"{each.title} {differ} between {one} and {other}",
        expected=f"a {each.measure} that stays below {number(each.threshold)} with its "
        "uncertainty added",
        records=0,
        files=0,
        of=each.splits[1].found.records,
        examples=(Occurrence(profile.where, None, None, found),),
    )


def _missing_classes(profile: Profile) -> Iterator[DataFinding]:
    for counted in profile.classes:
        limit = profile.thresholds.of("missing-classes", counted.name)
        missing = lacking_in(profile, counted)
        for split in profile.splits:
            if lacking := missing.get(split.name):
                yield _of_classes(profile, counted, split, lacking, limit)


def _target_leakage(profile: Profile) -> Iterator[DataFinding]:
    for target in profile.associations:
        for each in target.features:
            if each.marked:
                yield _of_input(profile, target, each)


def _of_input(profile: Profile, target: Associations, each: Association) -> DataFinding:
    column, split = each.feature.column, profile.splits[0]
    found = f"{INFORMATION} {each.strength:.2f} in {plural(each.records, 'record')}"
    return DataFinding(
        rule="SG545",
        split=split.name or None,
        field=column.name,
        key=column.key,
        what=f"{each.feature.name} {leakage_text(target.target, each)}",
        expected=f"at most {number(each.limit)}",
        records=0,
        files=0,
        of=each.records,
        examples=(Occurrence(profile.where, None, None, found),),
    )


_JUDGES = {
    "leakage": _leakage,
    "duplicates": _duplicates,
    "drift": _drift,
    "missing-classes": _missing_classes,
    "target-leakage": _target_leakage,
}


def unjudged(profile: Profile, names: Collection[str]) -> Iterator[str]:
    """Yield what the judgements that are asked for could not look at, in sentences."""
    splits, versions = profile.splits, profile.compared
    alone = {
        "leakage": len(splits if versions is None else versions) < 2,
        "drift": len(splits) < 2
        if versions is None
        else all(None in each for each in versions),
    }
    between = [name for name in alone if alone[name] and name in names]
    if between:
        yield f"not judged: {' and '.join(between)}, which need two splits"
    if "drift" in names and not alone["drift"]:
        small = [each.label for each in splits if each.found.read < FEWEST]
        if small:
            yield f"no drift of fewer than {FEWEST} records is judged: {listed(small)}"
    if "target-leakage" in names and not profile.associations:
        is_known = any(
            each.declared is not None and each.declared.role == "target"
            for each in profile.columns
        )
        yield "not judged: target-leakage, " + (
            "as too few records have different values of the target"
            if is_known
            else "which needs a schema with a target"
        )
    fields = {each.name: each.key for each in profile.columns}
    for name in profile.thresholds.fields:
        if name not in fields:
            of_key = [field for field, key in fields.items() if key == name]
            words = f"the thresholds of {name!r} are not used: "
            if of_key:
                yield f"{words}it is the key of the field {of_key[0]!r}"
            else:
                words += "the data has no such field"
                yield with_suggestion(words, name, fields)


def lacking_in(profile: Profile, counted: ClassCounts) -> dict[str, list[str]]:
    """Return the classes of which splits have too few records, by the split's name.

    Without a schema, these are classes that another split has; of two datasets, classes
    that the first version of the split has. Info fields may lack any.
    """
    if not counted.likely or counted.column.is_info:
        return {}
    limit = profile.thresholds.of("missing-classes", counted.name)
    pairs = [(None, split) for split in profile.splits]
    found = {
        split.name: [*_lacking(counted, split, limit, before)]
        for before, split in (pairs if profile.compared is None else profile.pairs)
    }
    return {name: lacking for name, lacking in found.items() if lacking}


def _lacking(
    counted: ClassCounts, split: SplitProfile, limit: float, before: SplitProfile | None
) -> Iterator[str]:
    own = counted.counts.get(split.name)
    if own is None or split.found.read < FEWEST:
        return
    declared = counted.classes[: counted.known] if counted.declared else ()
    others = [*counted.counts.values()]
    if before is not None:
        others = [counted.counts.get(before.name, {})]
    for name in counted.classes:
        most = max(each.get(name, 0) for each in others)
        needed = name in declared and (before is None or most >= limit)
        if own.get(name, 0) < limit and (needed or most >= _FEWEST_OF_CLASS):
            yield name


def _of_classes(
    profile: Profile,
    counted: ClassCounts,
    split: SplitProfile,
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
        examples=(Occurrence(profile.where, None, None, found),),
    )
