"""Records that are generated once for all tests, with what each test needs of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import schemagen
from tiers import in_tiers

from .fields import FieldCase, RecordCase, random_records, source_of

SETTINGS = '[tool.schemagen]\nschemas = "schemas"\noutput = "{package}"\n'


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
    (root / "schemas").mkdir(parents=True)
    for name, text in (files or {}).items():
        (root / "schemas" / name).write_text(text, encoding="utf-8")
    (root / "pyproject.toml").write_text(SETTINGS.format(package=package))
    (root / "schemas" / "records.py").write_text(source, encoding="utf-8")
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
        return importlib.import_module(f"{self._package}.{self.case.module}.{part}")

    def runtime(self, name: str) -> ModuleType:
        """Import a module of the runtime that the generated code imports."""
        return importlib.import_module(f"schemagen.runtime.{name}")

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
        import tensorflow as tf  # writing does without it

        return tf.function(
            self.parser.parse_batch,
            input_signature=[tf.TensorSpec((None,), tf.string)],
            autograph=False,
        )

    @cached_property
    def parse_example(self) -> Any:
        """The generated `parse_example`, traced once."""
        import tensorflow as tf  # writing does without it

        return tf.function(
            self.parser.parse_example,
            input_signature=[tf.TensorSpec((), tf.string)],
            autograph=False,
        )

    def forget_graphs(self) -> None:
        """Let go of what was traced, which is large."""
        for name in ("parse_batch", "parse_example"):
            vars(self).pop(name, None)

    def field(self, name: str) -> FieldCase:
        """Return a field's facts."""
        return next(field for field in self.case.fields if field.name == name)


def generate_records(root: Path, package: str) -> tuple[Generated, ...]:
    """Generate all random records into one package below `root`."""
    cases = cached_records()
    write_project(root, source_of(cases), package)
    return tuple(project_record(root, package, case) for case in cases)


def project_record(root: Path, package: str, case: RecordCase) -> Generated:
    """Return one record of a project that has been generated."""
    # Its own name: another project's `schemas` may have been imported.
    name = f"{package}_schema"
    if name not in sys.modules:
        text = (root / "schemas" / "records.py").read_text(encoding="utf-8")
        schema = sys.modules[name] = ModuleType(name)  # pydantic looks up names there
        exec(compile(text, f"{name}.py", "exec", dont_inherit=True), vars(schema))
    return Generated(case, sys.modules[name], package)


@cache
def cached_records() -> tuple[RecordCase, ...]:
    """The random records; the same in every process."""
    return random_records()


def facts_of(record: str) -> set[object]:
    """Return the kinds, dtypes and encodings that a random record has."""
    (case,) = (case for case in cached_records() if case.class_name == record)
    return {
        getattr(field, fact)
        for field in case.fields
        for fact in ("kind", "dtype", "encoding", "raw", "ragged", "optional")
    }


TIERS = in_tiers([case.class_name for case in cached_records()], facts_of)
"""The names of the random records, as parameters of a test."""
