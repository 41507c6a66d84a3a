"""The benchmark of generating measures all ways, and notices missing fields."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks import generate
from benchmarks import generate_schemas as schemas
from benchmarks.generate_ways import (
    B_BUILTIN,
    B_CHECK,
    CHANGED,
    CHECK,
    GENERATE,
    IMPORTS,
    A,
    B,
    Way,
    change,
    see_all_fields,
)
from benchmarks.measure import Different

from .conftest import Run

OURS = (GENERATE, CHANGED, CHECK, IMPORTS)


@pytest.fixture
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the alternatives that `make test` does not install."""
    peers = ("grpc_tools", "datamodel_code_generator")
    monkeypatch.setattr(
        "benchmarks.generate_ways.find_spec",
        lambda name: None if name in peers else find_spec(name),
    )


@pytest.mark.slow
@pytest.mark.usefixtures("without_peers")
def test_every_way_of_generating_is_measured(run: Run) -> None:
    """Missing peers are named with what to do; ours have a time in each round."""
    found, text = run(generate.PROGRAM, "--share", "0.2", "--shapes", "10")
    (result,) = found["speed"].values()
    assert result["schemas"] == 2
    for measured in ("seconds", "processor", "memory"):
        assert set(result[measured]) == set(OURS)
        for times in result[measured].values():
            assert len(times) == 1
            assert times[0] > 0
    assert set(result["bytes"]) == {GENERATE, CHANGED, CHECK}
    for peer in (A, B, B_BUILTIN, B_CHECK):
        assert f"- {peer} is left out: " in text
    assert "`make bench-generate` sets up an environment that has it" in text
    assert f"| {CHECK} | " in text


def test_a_process_is_measured_alone_and_its_failure_raised(tmp_path: Path) -> None:
    """A command that fails is not timed."""
    program = "sum(range(3_000_000)); print('said')"
    taken = Way((shutil.which("python") or "", "-c", program), tmp_path, "").run()
    assert taken["processor"] > 0
    assert taken["seconds"] > 0
    assert 5e6 < taken["memory"] < 1e9
    failing = Way((shutil.which("python") or "", "-c", "1/0"), tmp_path, "")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        failing.run()


def test_missing_fields_are_not_timed(tmp_path: Path) -> None:
    """A record without a file, or a file without a field, ends the measurement."""
    for number in range(2):
        names = [field.name for field in schemas.fields_of(number)]
        path = tmp_path / f"{schemas.record_name(number)}_pb2.py"
        path.write_text(repr("".join(names)).replace("caption", r"\x63aption"))
    see_all_fields("all", tmp_path, 2)
    with pytest.raises(Different, match="more: photo0002 is without 'embedding'"):
        see_all_fields("more", tmp_path, 3)
    path.write_text(path.read_text().replace("weight", "height"))
    with pytest.raises(Different, match="less: photo0001 is without 'weight'"):
        see_all_fields("less", tmp_path, 2)


def test_all_languages_declare_the_same_fields() -> None:
    """In the same order."""
    for number in range(len(schemas.FIELDS)):
        names = [field.name for field in schemas.fields_of(number)]
        assert len(set(names)) == schemas.FIELDS_OF_A_RECORD
        for write in schemas.LANGUAGES.values():
            text = write(number)
            assert set(names) <= set(re.findall(r"\w+", text))
        properties = json.loads(schemas.in_json_schema(number))["properties"]
        assert list(properties) == names


def test_a_change_is_made_and_undone(tmp_path: Path) -> None:
    """Each round has exactly one record to update."""
    schemas.write_schemas(tmp_path / "schemas", "py", 2)
    path = tmp_path / "schemas" / "photo0000.py"
    before = path.read_text()
    change(tmp_path / "schemas")
    assert path.read_text() == before + "    rating: float = 0.5\n"
    change(tmp_path / "schemas")
    assert path.read_text() == before


def results_of(schemas: int, seconds: Sequence[float]) -> dict[str, Any]:
    """Return results that are the same for each of our ways."""
    measured = {way: list(seconds) for way in OURS}
    return {
        "schemas": schemas,
        "seconds": measured,
        "processor": measured,
        "memory": measured,
        "bytes": {GENERATE: 2_000 * schemas},
        "missing": [],
    }


def test_growth_compares_the_last_schemas_with_the_first() -> None:
    """The cost of starting does not count."""
    linear = {str(n): results_of(n, [1 + n / 100] * 3) for n in (10, 100, 1000)}
    text = generate.markdown(linear)
    assert f"| {CHECK} | 10.0 | 10.0 | 1.00, at most 1.25: reached |" in text
    assert f"| {CHECK} | 1.10 (1.10 to 1.10) | 2.00 (2.00 to 2.00), at most 1" in text
    assert f"| {GENERATE} | 2.00 | 2.00 | 2.00 |" in text
    square = {str(n): results_of(n, [1 + n * n / 1e5] * 3) for n in (10, 100, 1000)}
    assert f"| {CHECK} | 1.10 | 11.0 | 10.0, at most 1.25: **missed** |" in (
        generate.markdown(square)
    )


def test_goals_are_seconds_of_a_hundred_schemas() -> None:
    """A second to check them and two to generate them, on one core."""
    text = generate.markdown({"100": results_of(100, [1.5])})
    assert f"| {CHECK} | 1.50 (1.50 to 1.50), at most 1: **missed** |" in text
    assert f"| {GENERATE} | 1.50 (1.50 to 1.50), at most 2: reached |" in text
