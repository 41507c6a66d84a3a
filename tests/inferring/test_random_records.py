"""Random records of the contract's schemas, inferred from nothing but their bytes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemagen
from contract.generated_records import (
    TIERS,
    Generated,
    generate_records,
    importable,
)
from contract.strategies import arguments, contract, rows
from hypothesis import given
from hypothesis import strategies as st
from schemagen.data.verify import verify
from schemagen.use_cases.infer import Inferred, infer

from .messages import write_file
from .readings import check_readings

PACKAGE = "inferred_random"


def random_messages(generated: Generated, number: int) -> list[bytes]:
    """Return records of random rows, the same ones in each run."""
    found: list[bytes] = []

    @contract(1)
    @given(st.lists(rows(generated.case), min_size=number, max_size=number))
    def draw(drawn: list[dict[str, object]]) -> None:
        serialize = generated.serializer.serialize
        found[:] = [serialize(**arguments(row)) for row in drawn]  # type: ignore[arg-type]

    draw()
    return found


@pytest.fixture(scope="session")
def project(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, tuple[Path, list[bytes], Inferred]]]:
    """For each random record a file of it, and what was inferred from that."""
    root = tmp_path_factory.mktemp("random")
    written = root / "written"
    with importable(written):
        cases = generate_records(written, "inferred_contract")
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
@pytest.mark.parametrize("name", TIERS)
def test_what_is_inferred_is_true_of_the_records(
    project: dict[str, tuple[Path, list[bytes], Inferred]], name: str
) -> None:
    """Verify finds nothing, and the parser delivers what protobuf finds."""
    data, records, inferred = project[name]
    assert not verify(data, spec=inferred.spec, workers=1).findings
    parser = importlib.import_module(f"{PACKAGE}.{inferred.spec.record}.parser")
    check_readings(inferred.spec, parser, records)
