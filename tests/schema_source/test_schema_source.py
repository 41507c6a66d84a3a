"""A schema that was written from a spec says that spec, in the words of a person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from contract.test_style import AUTHORS_OWN, run
from schemagen.schema_source import schema_source
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import to_data

from .corpora import CORPORA, ROOT, specs_of

# ruff does not see that a record is a pydantic model, which may have `= []`.
OWN_OR_WRONG = f"{AUTHORS_OWN},RUF012"


@dataclass(frozen=True)
class Written:
    """Specs, and the project in which they were written again."""

    specs: tuple[RecordSpec, ...]
    root: Path


@pytest.fixture(scope="module", params=CORPORA)
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Written:
    """The records of one corpus, each in a file of its own."""
    specs = tuple(CORPORA[request.param](tmp_path_factory.mktemp("given") / "project"))
    root = tmp_path_factory.mktemp("again")
    (root / "schemas").mkdir()
    for spec in specs:
        path = root / "schemas" / f"{spec.record}.py"
        path.write_text(schema_source(spec), encoding="utf-8")
    return Written(specs, root)


@pytest.mark.quick_cases(2)
def test_the_schema_says_the_spec_that_it_was_written_from(written: Written) -> None:
    """Loading and resolving gives every spec again, but for its source."""
    found = {spec.record: to_data(spec) for spec in specs_of(written.root)}
    for spec in written.specs:
        source = f"schemas/{spec.record}.py"
        assert found.pop(spec.record) == to_data(spec) | {"source": source}
    assert not found


def test_the_formatter_changes_nothing(written: Written) -> None:
    """Every file is a fixed point of `ruff format`."""
    code, text = run("ruff", "format", "--isolated", "--diff", ".", cwd=written.root)
    assert code == 0, text


def test_the_linter_finds_nothing(written: Written) -> None:
    """Every file is clean by this project's rules, imports in order included."""
    config = str(ROOT / "pyproject.toml")
    options = ("--config", config, "--ignore", OWN_OR_WRONG)
    code, text = run("ruff", "check", *options, "--no-cache", ".", cwd=written.root)
    assert code == 0, text


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["formats", "texts"])
def test_the_type_checker_finds_nothing(corpus: str, tmp_path: Path) -> None:
    """Types and defaults go together under `mypy --strict`."""
    for spec in CORPORA[corpus](tmp_path / "given"):
        (tmp_path / f"{spec.record}.py").write_text(schema_source(spec))
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    options = ("--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache"))
    code, text = run("mypy", *options, *files, cwd=tmp_path)
    assert code == 0, text
