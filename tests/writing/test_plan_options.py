"""The options of writing: a plan has them, and the public functions document them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import pytest
from schemagen.runtime.writing.plan import Plan

from generated.digit import serializer as digit

# What write_dataset has besides the options of the plan.
_OF_THE_CALL = {"source", "workers", "refused", "resume", "progress"}

_DEFAULTS = {
    field.name: field.default for field in fields(Plan) if field.default is not MISSING
}


@pytest.mark.parametrize(
    "function", [digit.write_dataset, digit.plan_dataset, digit.Writer]
)
def test_options_have_the_defaults_of_the_plan(function: Callable[..., Any]) -> None:
    """Three functions state them for users, and no default differs."""
    stated = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name in _DEFAULTS
    }
    assert stated == {name: _DEFAULTS[name] for name in stated}
    assert {"compression", "overwrite", "allow_empty", "index"} <= {*stated}


def test_write_dataset_has_all_options_of_the_plan() -> None:
    """An option that is new in the plan is one of write_dataset, or this test fails."""
    has = {*inspect.signature(digit.write_dataset).parameters} - _OF_THE_CALL
    drawn = {"run", "module", "record", "fingerprint", "rows"}
    assert has == {field.name for field in fields(Plan)} - drawn
