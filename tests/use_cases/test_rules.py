"""The table of rules: complete, documented, and each one tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import schemagen
from command_line import run

PACKAGE = Path(schemagen.__file__).parent
TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "rules.md"


TABLES = [PACKAGE / "rules.py"]
IDS = re.findall(r"</a>(SG\d{3}) \|", PAGE.read_text(encoding="utf-8"))
EXPLAINED = {rule: run("explain", rule).stdout for rule in IDS}


def ids_in(*paths: Path) -> set[str]:
    """Return the rules that files name."""
    return {
        found
        for path in paths
        for found in re.findall(r"SG\d{3}", path.read_text(encoding="utf-8"))
    }


def test_the_code_raises_the_rules_of_the_table_and_no_others() -> None:
    """Each id in the code has a row, and each row a place that raises it."""
    tables = [*TABLES, *(PACKAGE / "evolution").glob("*.py")]
    code = [path for path in PACKAGE.rglob("*.py") if path not in tables]
    assert ids_in(*code, PACKAGE / "evolution" / "comparison.py") == set(IDS)


def test_every_rule_is_raised_by_a_test() -> None:
    """A finding that no test has seen may never come, or come with a wrong text."""
    tests = [path for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    breaking = {rule for rule in IDS if "\naxis: " in EXPLAINED[rule]}
    assert ids_in(*tests) >= {*IDS} - breaking


def test_rules_are_written_for_readers() -> None:
    """A title is a phrase, a purpose is sentences, and no id stands twice."""
    for rule in IDS:
        title, purpose = EXPLAINED[rule].rstrip().split("\n\n")[:2]
        assert re.fullmatch(r"SG[1-5]\d\d  .*[^.]", title)
        assert purpose.endswith(".")
    assert sorted(set(IDS)) == IDS
    tables = "".join(path.read_text(encoding="utf-8") for path in TABLES)
    stated = re.findall(r'Rule\(\n        "(SG\d{3})",$', tables, re.M)
    assert len(stated) == len(set(stated)) > 50


@pytest.mark.parametrize(
    ("name", "rule", "threshold"),
    [
        ("leakage", "SG541", "leakage = 0"),
        ("Drift", "SG543", "drift = 0.1"),
        ("missing-classes", "SG544", "missing-classes = 1"),
        ("target-leakage", "SG545", "target-leakage = 0.98"),
    ],
)
def test_names_of_fail_on_are_explained(name: str, rule: str, threshold: str) -> None:
    """By the title and the purpose of their rule, and with their default threshold."""
    text = run("explain", name).stdout
    title, purpose = EXPLAINED[rule].rstrip().removeprefix(f"{rule}  ").split("\n\n")
    assert text.startswith(f"{name.lower()}  {title} ({rule})\n\n{purpose}\n\n")
    assert f"    [tool.schemagen.thresholds]\n    {threshold}\n" in text


@pytest.mark.parametrize(
    ("name", "near"), [("leekage", "'leakage'"), ("SG54", "'SG54"), ("xyz", "rules.md")]
)
def test_an_unknown_rule_is_answered_with_the_nearest(name: str, near: str) -> None:
    """Of the rules, and of the names that --fail-on takes."""
    done = run("explain", name)
    assert done.exit_code == 2
    assert near in done.stderr
