"""Which mutants are read together, since each reading takes milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from schemagen.schema.declaration import Declaration
from schemagen.schema.loading import LoadedRecord
from schemagen.spec.model import RecordSpec

from .mutations import Mutant, joined, resolved
from .old_and_new import Code, readable


@dataclass(frozen=True)
class Reading:
    """Old and new code, and the fields in which they differ.

    Attributes:
        old: the original record's.
        new: the changed record's.
        keys: of the fields that were changed and may be read.
    """

    old: Code
    new: Code
    keys: frozenset[str]


# What these say of a field does not keep its values from being compared.
_COMPARABLE = {"SG233", "SG234"}

# What may be read of a field: the rules about data of the old schema, and of the new.
_Verdict = tuple[frozenset[str] | None, frozenset[str] | None]


@dataclass(frozen=True)
class _Change:
    """Changes of one field, or of several that depend on each other."""

    declared: dict[int, Declaration]
    spec: RecordSpec
    keys: frozenset[str]
    verdict: _Verdict


def readings(record: LoadedRecord, old: Code, found: Sequence[Mutant]) -> list[Reading]:
    """Return what is to be read: mutants that data may be read with, in few readings.

    Changes of one field go together where the same is said of all: nothing. Those of
    several fields go together anyway.
    """
    by_field: dict[str, list[_Change]] = {}
    for mutant in found:
        change = _change(old, dict(mutant.declared), mutant.spec)
        if change.verdict == (None, None):
            continue
        before = by_field.setdefault(mutant.key, [])
        for at, other in enumerate(before):
            both = _together(record, old, other, change)
            if both is not None:
                before[at] = both
                break
        else:
            before.append(change)
    made = []
    for row in zip_longest(*by_field.values()):
        several = [change for change in row if change is not None]
        while several:
            taken = several.pop(0)
            for other in list(several):
                changes = joined(record, [taken.declared, other.declared])
                if changes is None or taken.declared.keys() & other.declared.keys():
                    continue
                spec = resolved(record, changes)
                if spec is not None:
                    keys = taken.keys | other.keys
                    taken = _Change(changes, spec, keys, taken.verdict)
                    several.remove(other)
            made.append(Reading(old, Code(taken.spec), taken.keys))
    return made


def _change(old: Code, declared: dict[int, Declaration], spec: RecordSpec) -> _Change:
    keys = frozenset(
        {old.spec.fields[at].key for at in declared}
        | {spec.fields[at].key for at in declared}
    )
    new = Code(spec)
    verdict = (_said(old, new, keys), _said(new, old, keys))
    return _Change(declared, spec, keys, verdict)


def _said(written: Code, expected: Code, keys: frozenset[str]) -> frozenset[str] | None:
    found = readable(written, expected)
    rules = [found[key] - _COMPARABLE for key in keys if key in found]
    return frozenset().union(*rules) if rules else None


def _together(
    record: LoadedRecord, old: Code, one: _Change, other: _Change
) -> _Change | None:
    if one.verdict != other.verdict or any(one.verdict):
        return None  # where something is said, it is known of what
    changes = joined(record, [one.declared, other.declared])
    spec = resolved(record, changes) if changes else None
    if changes is None or spec is None:
        return None
    both = _change(old, changes, spec)
    return both if both.verdict == one.verdict else None
