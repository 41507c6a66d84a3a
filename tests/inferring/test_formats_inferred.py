"""Every format of this repository, inferred from its records and read by what comes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemagen
from contract.generated_records import importable
from formats.test_formats import NAMES, format_of
from schemagen.use_cases.infer import Inferred, infer

from .messages import write_file
from .readings import check_readings

PACKAGE = "inferred_formats"
Found = dict[str, Inferred]


def messages_of(name: str) -> list[bytes]:
    """Return the records of a format, as its original code writes them."""
    original = format_of(name)
    return [original.write(row) for row in original.rows]


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Found]]:
    """A project with a schema of each format, inferred from a file and generated."""
    root = tmp_path_factory.mktemp("inferred")
    (root / "pyproject.toml").write_text(
        f'[tool.schemagen]\nschemas = "schemas"\noutput = "{PACKAGE}"\n'
    )
    found = {}
    for name in NAMES:
        data = write_file(root / "data" / f"{name}.tfrecord", messages_of(name))
        found[name] = infer(data, root / "schemas" / f"{name}.py")
    schemagen.generate(root)
    with importable(root):
        yield root, found


@pytest.mark.quick_cases(19)
@pytest.mark.parametrize("name", NAMES)
def test_verify_finds_nothing(project: tuple[Path, Found], name: str) -> None:
    """What was inferred is true of the records that it was inferred from."""
    root, found = project
    checked = schemagen.verify(
        root / "data" / f"{name}.tfrecord", record=found[name].spec
    )
    assert checked.records == len(messages_of(name))
    assert not checked.findings


@pytest.mark.parametrize("name", NAMES)
def test_the_generated_parser_reads_every_record(
    project: tuple[Path, Found], name: str
) -> None:
    """What it delivers is what protobuf finds in them."""
    spec = project[1][name].spec
    parser = importlib.import_module(f"{PACKAGE}.{spec.record}.parser")
    check_readings(spec, parser, messages_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_no_key_is_left_out(project: tuple[Path, Found], name: str) -> None:
    """But for one that has no value in any record."""
    left_out = set(project[1][name].left_out or ())
    assert left_out == ({"pickup_census_tract"} if name == "chicago_taxi" else set())
