"""No change of a schema makes old data read as something else silently.

Each attribute of each field is changed, of every schema in this repository and of a
number of random ones. `check` has to see it, and what was written before has either to be
refused, by the field's name, or to read as it did; and the same of what the changed
code writes and the old code reads.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields

import pytest
import tensorflow as tf
from schemagen.codegen.plan import make_plan
from schemagen.codegen.render import render
from schemagen.kinds.field import facts_of
from schemagen.kinds.registry import KINDS
from schemagen.runtime.shared.compatibility import check_compatible
from schemagen.runtime.shared.errors import SchemaMismatchError
from schemagen.schema.loading import LoadedRecord
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import to_json

from .mutated_records import RANDOM, records_of
from .mutations import Census, Mutant, mutants, record_mutants
from .old_and_new import Code, Outcome, compare, refusals, render_all
from .readings import Reading, readings

# Records in one test, and how many mutants of one attribute of a field: all of them
# for the schemas of this repository.
_PARTS: dict[str, tuple[int, int]] = {
    "here": (1, 0),
    "formats": (5, 1),
    "random": (13, 1),
}

# What no mutation can reach, and why.
_CANNOT_CHANGE = {
    ("Image", "default"): "None is the only default of a picture",
    ("Mask", "default"): "None is the only default of a mask",
    ("Sparse", "default"): "None is the only default of a sparse tensor",
    ("Tensor", "default"): "None is the only default of a tensor of any size",
}


@dataclass(frozen=True)
class Part:
    """Some records of one origin."""

    origin: str
    number: int

    def __str__(self) -> str:
        return f"{self.origin}-{self.number}"


def _parts() -> Iterator[Part]:
    counts = {"here": 3, "formats": 19, "random": RANDOM + 3}
    for origin, count in counts.items():
        size = _PARTS[origin][0]
        for number in range((count + size - 1) // size):
            yield Part(origin, number)


PARTS = pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, marks=[] if part.origin == "here" else pytest.mark.slow)
        for part in _parts()
    ],
    ids=str,
)


@pytest.fixture(autouse=True)
def _eager() -> Iterator[None]:
    """Trace nothing: each function would be run once."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@dataclass(frozen=True)
class Mutated:
    """A record and all its mutants."""

    record: LoadedRecord
    spec: RecordSpec
    mutants: tuple[Mutant, ...]


def _mutated(part: Part, census: Census) -> Iterator[Mutated]:
    size, most = _PARTS[part.origin]
    begin = part.number * size
    chosen = records_of(part.origin)[begin : begin + size]
    for number, (record, spec) in enumerate(chosen):
        chance = random.Random(begin + number) if most else None
        yield Mutated(record, spec, tuple(mutants(record, spec, census, chance, most)))


def test_all_records_are_in_a_part() -> None:
    """No schema is forgotten, now or later."""
    counts = Counter(part.origin for part in _parts())
    for origin, (size, _) in _PARTS.items():
        count = len(records_of(origin))
        assert counts[origin] == (count + size - 1) // size
    assert len(records_of("random")) > RANDOM


def test_every_attribute_of_every_kind_is_changed() -> None:
    """Whoever adds an attribute says how it may be changed, or why it cannot be."""
    missing = {(name, fact) for name, kind in KINDS.items() for fact in facts_of(kind)}
    missing -= set(_CANNOT_CHANGE)
    census = Census()
    for part in reversed(list(_parts())):
        for mutated in _mutated(part, census):
            for mutant in mutated.mutants:
                missing -= mutant.changed
                assert not mutant.changed & set(_CANNOT_CHANGE)
        if not missing:
            break
    assert missing == set()
    assert census.made > census.refused / 2  # most tries are schemas


def test_every_attribute_of_a_record_is_changed() -> None:
    """And each change is in spec.json, to which `check` compares it."""
    (_, spec), *_ = records_of("here")
    found = list(record_mutants(spec, random.Random(1)))
    changed = {attribute for mutant in found for _, attribute in mutant.changed}
    assert changed == {each.name for each in fields(RecordSpec)}
    for mutant in found:
        assert to_json(mutant.spec) != to_json(spec)
        old, new = Code(spec), Code(mutant.spec)
        for written, expected in ((old, new), (new, old)):
            said = [change.attribute for change in refusals(written, expected)]
            if mutant.attribute in ("record", "message"):
                assert said == [mutant.attribute]
            elif mutant.attribute == "fields" and len(written.spec.fields) < len(
                expected.spec.fields
            ):
                assert said == ["key"]
            else:
                assert said == []


@PARTS
def test_no_mutant_misreads_data(part: Part) -> None:
    """Each is seen by `check`, and data is refused by the field's name or read alike."""
    outcome, census = Outcome(), Census()
    found: list[Reading] = []
    for mutated in _mutated(part, census):
        old = Code(mutated.spec)
        before = to_json(mutated.spec)
        for mutant in mutated.mutants:
            # What generated files are sealed with, so that `check` exits with 1.
            assert to_json(mutant.spec) != before, mutant.attribute
            new = Code(mutant.spec)
            _check_refusal(old, new, mutant)
            _check_refusal(new, old, mutant)
        found += readings(mutated.record, old, mutated.mutants)
    assert census.made > census.refused / 4
    codes = {id(code): code for each in found for code in (each.old, each.new)}
    render_all(list(codes.values()))
    for number, each in enumerate(found):
        backward = compare(each.old, each.new, outcome, each.keys)
        # Data of a schema to come is read as well: of random ones not each time.
        if part.origin == "here" or not backward or number % 4 == 0:
            compare(each.new, each.old, outcome, each.keys)
    assert outcome.misread == []
    assert outcome.unnamed == []
    assert outcome.unforeseen == []
    assert outcome.unseen == []
    assert outcome.same > outcome.refused


def _check_refusal(written: Code, expected: Code, mutant: Mutant) -> None:
    """In the words of an error stand the field, what was written and what is expected."""
    found = refusals(written, expected)
    if not found:
        return
    with pytest.raises(SchemaMismatchError) as caught:
        check_compatible(written.data, expected.data, "the data")
    names = {expected.spec.fields[at].name for at in mutant.declared}
    attributes = {attribute for _, attribute in mutant.changed} | {"key", "kind"}
    for change in found:
        assert change.field in names
        assert change.attribute in attributes or len(mutant.declared) > 1
        assert f"  field {change.field!r}: " in str(caught.value)
        assert change.written != change.expected
        if not change.words:
            words = f"field {change.field!r}: {change.attribute}: written "
            assert words in str(caught.value)


@pytest.mark.parametrize("record", [spec.record for _, spec in records_of("here")])
def test_check_finds_every_mutant(record: str) -> None:
    """The plan behind `check`: all files of the record, and no other's, are stale."""
    ((loaded, spec),) = (
        pair for pair in records_of("here") if pair[1].record == record
    )
    rendered = render((spec,))
    existing = {file.path: file.text.encode() for file in rendered}
    assert make_plan(rendered, existing, "generated").findings == ()
    chance = random.Random(3)
    for mutant in mutants(loaded, spec, Census(), chance, most=1):
        plan = make_plan(render((mutant.spec,)), existing, "generated")
        stale = {file.path.split("/")[0] for file in plan.files if file.finding}
        assert stale == {record}, mutant.attribute
        (finding,) = plan.findings
        assert len(finding.files) == sum(record in path for path in existing)
