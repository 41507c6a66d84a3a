"""What commands about data print as JSON, which the committed schema allows."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from jsonschema import Draft202012Validator

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "data.schema.json").read_text("utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)


def printed(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """Return the exit code of `inspect` or `diff`, and its document."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # pydantic's, of values of other types
        result = run(*arguments, "--format", "json")
    assert result.stdout.isascii()
    found: dict[str, Any] = json.loads(result.stdout, parse_constant=pytest.fail)
    VALIDATOR.validate(found)
    return result.exit_code, found


def document(*arguments: str | Path) -> dict[str, Any]:
    """Return what `schemagen inspect --format json` prints."""
    code, found = printed("inspect", *arguments)
    assert code == (not found["sound"])
    return found


def rounded(found: dict[str, Any]) -> Any:
    """Return a document with few digits of its floats: sums of parts round otherwise."""
    return json.loads(json.dumps(found), parse_float=lambda text: f"{float(text):.9g}")


def splits_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the statistics of each split."""
    return [each["statistics"] for each in found["splits"]]


def facts_of(found: dict[str, Any], **entries: Any) -> list[dict[str, Any]]:
    """Return the facts that have these entries."""
    return [each for each in found["facts"] if each.items() >= entries.items()]
