"""The options of writing: a plan has them, and the public functions document them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from generated.digit import serializer as digit

# What write_dataset has besides the options of the plan.
_OF_THE_CALL = {"source", "workers", "refused", "resume", "progress"}

# What a plan has besides the options: it is drawn, or of the record.
_OF_THE_PLAN = {"run", "module", "record", "fingerprint", "rows"}


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    """The options of a plan, with their defaults."""
    plan: Any = digit.plan_dataset(tmp_path, "train", shards=1, rows=1)
    return {
        field.name: field.default
        for field in fields(plan)
        if field.name not in _OF_THE_PLAN
    }


@pytest.mark.parametrize(
    "function", [digit.write_dataset, digit.plan_dataset, digit.Writer]
)
def test_options_have_the_defaults_of_the_plan(
    options: dict[str, Any], function: Callable[..., Any]
) -> None:
    """Three functions state them for users, and no default differs."""
    parameters = inspect.signature(function).parameters
    stated = {
        name: parameters[name].default
        for name, default in options.items()
        if name in parameters and default is not MISSING
    }
    assert stated == {name: options[name] for name in stated}
    assert {"compression", "overwrite", "allow_empty", "index"} <= {*stated}


def test_write_dataset_has_all_options_of_the_plan(options: dict[str, Any]) -> None:
    """An option that is new in the plan is one of write_dataset, or this test fails."""
    has = {*inspect.signature(digit.write_dataset).parameters} - _OF_THE_CALL
    assert has == {*options}
