"""Each kind of thing that records hold, read by the parser that comes of it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest
import schemagen
from contract.generated_records import importable
from schemagen.use_cases.infer import Inferred, infer

from .messages import write_file
from .readings import check_readings
from .test_what_is_written import CASES, messages_of

PACKAGE = "inferred_cases"
CLAIMS = list(CASES)

# Tensorflow takes a moment for each record.
FEW = 4


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Inferred]]:
    """A project with a schema of each case, inferred from all its records."""
    root = tmp_path_factory.mktemp("cases")
    (root / "pyproject.toml").write_text(
        f'[tool.schemagen]\nschemas = "schemas"\noutput = "{PACKAGE}"\n'
    )
    found = []
    for number, claim in enumerate(CLAIMS):
        data = write_file(root / f"{number}.tfrecord", messages_of(claim))
        found.append(infer(data, root / "schemas" / f"case{number}.py"))
    schemagen.generate(root)
    with importable(root):
        yield found


@pytest.mark.quick_cases(15)
@pytest.mark.parametrize("claim", CLAIMS)
def test_the_parser_delivers_what_protobuf_finds(
    project: list[Inferred], claim: str
) -> None:
    """To the last value."""
    spec = project[CLAIMS.index(claim)].spec
    parser = importlib.import_module(f"{PACKAGE}.{spec.record}.parser")
    check_readings(spec, parser, messages_of(claim)[:FEW])
