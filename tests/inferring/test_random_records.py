"""Random records of the contract's schemas, inferred from nothing but their bytes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemagen
from contract.generated_records import (
    Generated,
    generate_records,
    importable,
    tiers,
)
from schemagen.use_cases.infer import Inferred, infer

from .messages import write_file
from .readings import check_readings

PACKAGE = "inferred_random"


MODULES = ("numbers", "texts")


def random_messages(generated: Generated, number: int) -> list[bytes]:
    """Return records of random rows, the same ones in each run."""
    serialize = generated.serializer.serialize
    return [serialize(**row) for row in generated.samples(number)]


@pytest.fixture(scope="session")
def project(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, tuple[Path, list[bytes], Inferred]]]:
    """For each random record a file of it, and what was inferred from that."""
    root = tmp_path_factory.mktemp("random")
    written = root / "written"
    with importable(written):
        cases = generate_records(written, "inferred_contract", *MODULES)
        messages = {case.case.class_name: random_messages(case, 5) for case in cases}
    (root / "pyproject.toml").write_text(
        f'[tool.schemagen]\nschemas = "schemas"\noutput = "{PACKAGE}"\n'
    )
    found = {}
    for name, records in messages.items():
        data = write_file(root / "data" / f"{name}.tfrecord", records)
        inferred = infer(data, root / "schemas" / f"again_{name.lower()}.py")
        found[name] = (data, records, inferred)
    schemagen.generate(root)
    with importable(root):
        yield found


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", tiers(*MODULES))
def test_what_is_inferred_is_true_of_the_records(
    project: dict[str, tuple[Path, list[bytes], Inferred]], name: str
) -> None:
    """Verify finds nothing, and the parser delivers what protobuf finds."""
    data, records, inferred = project[name]
    assert not schemagen.verify(data, record=inferred.spec).findings
    parser = importlib.import_module(f"{PACKAGE}.{inferred.spec.record}.parser")
    check_readings(inferred.spec, parser, records)
