"""What the core is told to expect is all that it lets pass."""

from __future__ import annotations

import pytest
from data.messages import NO_FLOATS, Values, example
from schemagen.runtime.cells.decoding import CheckPlan, Expected, decode
from schemagen.runtime.cells.serialized import records_of
from schemagen.runtime.native import BYTES, FLOAT, INT64

_WRONG: dict[str, tuple[Expected, Values, Values]] = {
    "kind": (Expected("key", INT64), 1, 1.0),
    "number": (Expected("key", FLOAT, length=2), [1.0, 2.0], [1.0]),
    "none": (Expected("key", FLOAT, length=2), [1.0, 2.0], NO_FLOATS),
    "most": (Expected("key", INT64, most=2), [1, 2], [1, 2, 3]),
    "low": (Expected("key", INT64, bounds=(-3, None)), [-3, 5], [5, -4]),
    "high": (Expected("key", INT64, bounds=(None, 1 << 40)), 1 << 40, (1 << 40) + 1),
    "least": (Expected("key", FLOAT, bounds=(-0.5, None)), [-0.5, 7.0], [7.0, -0.6]),
    "greatest": (Expected("key", FLOAT, bounds=(None, 0.5)), float("nan"), 0.6),
    "nan": (Expected("key", FLOAT, finite=True), [1e38, -0.0], [1.0, float("nan")]),
    "infinity": (Expected("key", FLOAT, finite=True), 1.0, float("-inf")),
    "size": (Expected("key", BYTES, size=3), [b"abc", b"def"], [b"abc", b"de"]),
    "text": (Expected("key", BYTES, text=True), "zwölf", b"zw\xf6lf"),
    "list": (Expected("key", INT64, optional=True), 1, None),
}


@pytest.mark.parametrize("what", _WRONG)
def test_one_wrong_record_is_noticed(what: str) -> None:
    """The last of several; without it all are as expected."""
    expected, right, wrong = _WRONG[what]
    plan = CheckPlan([Expected("other", INT64, length=1), expected])
    messages = [example({"key": right, "other": at}) for at in range(5)]
    assert decode(records_of(messages), plan).expected == {"key", "other"}
    messages.append(example({"key": wrong, "other": 5}))
    assert decode(records_of(messages), plan).expected == {"other"}


def test_a_missing_value_is_expected_where_it_is_optional() -> None:
    """The column has the rows that have one; a key that no record has is not there."""
    messages = [example({"key": [1, 2]}), example({}), example({"key": [3]})]
    for optional in (False, True):
        plan = CheckPlan(
            [Expected("key", INT64, optional), Expected("none", INT64, optional)]
        )
        columns = decode(records_of(messages), plan)
        assert columns.expected == ({"key"} if optional else set())
        assert columns.by_key["key"][0].rows.tolist() == [0, 2]


def test_no_record_is_as_expected_without_records() -> None:
    """Nothing says that a key is there."""
    assert not decode(records_of([]), CheckPlan([Expected("key", INT64)])).expected
