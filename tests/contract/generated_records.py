"""Random records of all kinds, generated once a process: the projects of many tests.

`random_records()` deals all cases in `kinds` out to records, `write_random` makes a project
of them, and `samples` gives rows that are the same in each run. A test of another directory
that needs records of all kinds takes them from here.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import schemagen
from command_line import make_project
from hypothesis import given, settings
from hypothesis import strategies as st

from . import kinds
from .kinds.case import Drawn, KindCase
from .strategies import contract

WIDTH = 9
STEPS_OF_ONE, CONTEXT_OF_ONE = 6, 3

HEAD = """\
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel

from schemagen import *


"""

_FACTS = {*schemagen.__all__, "bfloat16", "float16", "float32", "float64", "uint64"}
_FACTS |= {"bool", "bytes", "ragged", "None", "jpeg", "raw", "proto", "dequantize"}

Row = Mapping[str, Drawn]


def write_project(
    root: Path, source: str, package: str, files: Mapping[str, str] | None = None
) -> None:
    """Write a project with one schema file, and generate its code.

    Args:
        root: the project's directory, which must not exist.
        source: the schema file's text.
        package: the name of the output package.
        files: text of further files next to the schema file, by name.
    """
    make_project(root, {"records.py": source, **(files or {})}, package)
    schemagen.generate(root)
    importlib.invalidate_caches()


@contextmanager
def importable(root: Path) -> Iterator[None]:
    """Let a project's packages be imported."""
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))


@cache
def all_cases(*modules: str) -> tuple[KindCase, ...]:
    """Return the cases of these modules in `kinds`, or of all, shuffled the same way."""
    names = modules or sorted(m.name for m in pkgutil.iter_modules(kinds.__path__))
    found: list[KindCase] = []
    for name in names:
        if name not in ("case", "steps"):
            found += importlib.import_module(f"{kinds.__name__}.{name}").cases()
    random.Random(7).shuffle(found)
    return tuple(found)


def _facts_of(case: KindCase) -> set[tuple[str, str]]:
    """Return the kind of a case with each dtype and option: `make test` meets all."""
    line = case.line("field")
    words = re.findall(r"\b[A-Za-z]+[0-9]*\b", line)
    kind = next((word for word in words if word in schemagen.__all__), "")
    options = re.findall(r"\b([a-z_]+)=", line)
    return {(kind, each) for each in (kind, case.default, *options, *_FACTS & {*words})}


def _dealt(
    cases: Iterable[KindCase], width: int
) -> Iterator[tuple[list[KindCase], bool]]:
    """Yield the cases of each record, and whether `make test` runs it.

    The first records have a few cases that have all facts. Of these, cases whose rows
    cannot be stacked come last, so that few of the records have one.
    """
    facts = {case: _facts_of(case) for case in cases}
    quick: list[KindCase] = []
    while missing := set().union(*facts.values()).difference(*map(_facts_of, quick)):
        quick.append(max(facts, key=lambda case: len(facts[case] & missing)))
    quick.sort(key=lambda case: case.one_row_batches)
    slow = [case for case in facts if case not in quick]
    for tier, is_quick in ((quick, True), (slow, False)):
        for at in range(0, len(tier), width):
            yield tier[at : at + width], is_quick


class RecordCase:
    """One random record: its class's name, and its fields' cases by name.

    Args:
        class_name: the class's name.
        cases: its fields' cases.
        is_quick: whether `make test` runs it.
    """

    def __init__(
        self, class_name: str, cases: Sequence[KindCase], *, is_quick: bool = False
    ) -> None:
        self.class_name = class_name
        self.is_quick = is_quick
        self.fields = {f"f{index}": case for index, case in enumerate(cases)}

    def __repr__(self) -> str:
        """Return the class's name."""
        return self.class_name

    @property
    def has_steps(self) -> bool:
        """Whether it is a SequenceRecord."""
        return any(case.steps for case in self.fields.values())

    @property
    def source(self) -> str:
        """The class as source text."""
        base = "SequenceRecord" if self.has_steps else "Record"
        lines = "".join(case.line(name) for name, case in self.fields.items())
        return f'class {self.class_name}({base}):\n    """Random."""\n\n{lines}'

    def rows(self) -> st.SearchStrategy[dict[str, Drawn]]:
        """Draw rows with something in them."""
        drawn = st.fixed_dictionaries(
            {name: case.rows(name) for name, case in self.fields.items()}
        )
        return drawn.filter(lambda row: any(d.given is not None for d in row.values()))

    def batches(self) -> st.SearchStrategy[list[dict[str, Drawn]]]:
        """Draw batches, of one row if rows of this record cannot be stacked."""
        alone = any(case.one_row_batches for case in self.fields.values())
        return st.lists(self.rows(), min_size=1, max_size=1 if alone else 3)

    def padding(self, name: str) -> Any:
        """Return what fills up a dense tensor of a batch."""
        field = next(f for f in self.fields if name == f or name.startswith(f"{f}_"))
        return self.fields[field].padding.get(name.removeprefix(field), 0)


@cache
def random_records(*modules: str) -> tuple[RecordCase, ...]:
    """Deal cases out to records; the same in every process.

    Args:
        modules: names of modules in `kinds`; without any, all of them, and records with
            steps as well.
    """
    cases = all_cases(*modules)
    groups = [*_dealt(cases, WIDTH)]
    groups.append(([case for case in cases if case.default][:6], True))
    records = [
        RecordCase(f"Mixed{number:02}", group, is_quick=is_quick)
        for number, (group, is_quick) in enumerate(groups)
    ]
    return tuple(records) if modules else (*records, *_sequence_records())


def _sequence_records() -> Iterator[RecordCase]:
    """Deal all cases of steps out to records, with some of the other kinds."""
    chance = random.Random(11)
    steps = list(importlib.import_module(f"{kinds.__name__}.steps").cases())
    chance.shuffle(steps)
    groups = [
        ([*group, *chance.sample(all_cases(), CONTEXT_OF_ONE)], is_quick)
        for group, is_quick in _dealt(steps, STEPS_OF_ONE)
    ]
    groups.append((steps[:2], True))  # no context at all
    groups.append(([case for case in steps if case.default][:4], True))
    for number, (group, is_quick) in enumerate(groups):
        yield RecordCase(f"Stepped{number:02}", group, is_quick=is_quick)


def source_of(records: Sequence[RecordCase]) -> str:
    """Return a schema file that declares the records."""
    cases = [case for record in records for case in record.fields.values()]
    preludes = dict.fromkeys(case.prelude for case in cases)
    classes = "\n\n".join(record.source for record in records)
    return HEAD + "".join(preludes) + classes


def files_of(records: Sequence[RecordCase]) -> dict[str, str]:
    """Return the text of the files that the schemas of the records name."""
    cases = [case for record in records for case in record.fields.values()]
    return {name: text for case in cases for name, text in case.files.items()}


def write_random(root: Path, package: str, *modules: str) -> None:
    """Write a project of random records below `root`, and generate its code."""
    records = random_records(*modules)
    write_project(root, source_of(records), package, files_of(records))


class Generated:
    """One record's schema class and generated modules.

    Args:
        case: the record's facts.
        schema: the module that declares it.
        package: the output package.
    """

    def __init__(self, case: RecordCase, schema: ModuleType, package: str) -> None:
        self.case = case
        self._schema = schema
        self._package = package

    def __repr__(self) -> str:
        """Return the class's name: all that a failing test has to show."""
        return f"<{self.case.class_name}>"

    def module(self, part: str) -> ModuleType:
        """Import one of the generated modules."""
        record = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.case.class_name).lower()
        name = f"{self._package}.{record}.{part}"
        return importlib.import_module(name)

    @cached_property
    def record(self) -> Any:
        """The schema's class."""
        return getattr(self._schema, self.case.class_name)

    @cached_property
    def serializer(self) -> Any:
        """The generated `serializer` module."""
        return self.module("serializer")

    @cached_property
    def parser(self) -> Any:
        """The generated `parser` module."""
        return self.module("parser")

    @cached_property
    def parse_batch(self) -> Any:
        """The generated `parse_batch`, as tf.data runs it: traced once."""
        return self._graph("parse_batch", (None,))

    @cached_property
    def parse_example(self) -> Any:
        """The generated `parse_example`, traced once."""
        return self._graph("parse_example", ())

    def _graph(self, name: str, shape: tuple[int | None, ...]) -> Any:
        import tensorflow as tf  # writing does without it

        signature = [tf.TensorSpec(shape, tf.string)]
        function = getattr(self.parser, name)
        return tf.function(function, input_signature=signature, autograph=False)

    def forget_graphs(self) -> None:
        """Let go of what was traced, which is large."""
        for name in ("parse_batch", "parse_example"):
            vars(self).pop(name, None)

    def samples(self, number: int) -> list[dict[str, Any]]:
        """Return rows as the writer's keywords, the same ones in each run.

        The first example of a strategy is its simplest one, so all of its rows are equal.
        """
        found: list[dict[str, Any]] = []

        @settings(contract(1), max_examples=5, derandomize=True)
        @given(st.lists(self.case.rows(), min_size=number, max_size=number))
        def draw(rows: list[Row]) -> None:
            found[:] = map(arguments, rows)

        draw()
        return found


def arguments(row: Row) -> dict[str, Any]:
    """Return a row as the writer's keywords."""
    return {name: drawn.given for name, drawn in row.items() if drawn.given is not None}


def taken_from(
    record: RecordCase, instance: Any, row: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what an instance of the schema's class holds, nested models as given.

    A model writes its defaults too, which a row leaves out.
    """
    return {
        name: value if record.fields[name].members else getattr(instance, name)
        for name, value in row.items()
    }


def _column(values: Sequence[Any], *, nested: bool) -> Any:
    """Return the values of all rows as a column; dicts of members as dicts of columns."""
    if not nested or not any(isinstance(value, Mapping) for value in values):
        return list(values)
    names = {name for value in values for name in value}
    return {
        name: _column([value.get(name) for value in values], nested=True)
        for name in names
    }


def columns_of(record: RecordCase, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return rows as the keywords of the batch writer."""
    return {
        name: _column([row.get(name) for row in rows], nested=bool(case.members))
        for name, case in record.fields.items()
    }


def generate_records(root: Path, package: str, *modules: str) -> tuple[Generated, ...]:
    """Generate all random records into one package below `root`."""
    write_random(root, package, *modules)
    records = random_records(*modules)
    return tuple(project_record(root, package, case) for case in records)


def project_record(root: Path, package: str, case: RecordCase | str) -> Generated:
    """Return one record of a project that has been generated."""
    # Its own name: another project's `schemas` may have been imported.
    name = f"{package}_schema"
    if name not in sys.modules:
        path = root / "schemas" / "records.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    case = RecordCase(case, ()) if isinstance(case, str) else case
    return Generated(case, sys.modules[name], package)


def tiers() -> list[object]:
    """Return the names of random records as parameters of a test, most of them slow."""
    return [
        pytest.param(
            record.class_name, marks=[] if record.is_quick else pytest.mark.slow
        )
        for record in random_records()
    ]
