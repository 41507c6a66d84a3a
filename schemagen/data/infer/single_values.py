"""Single values that are more than they seem: points in time, and categories."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ...schema_source import annotation_source
from ..formatting import plural
from .draft import Draft, ranges, with_commas
from .evidence import Evidence, KeyEvidence
from .key_words import names_time, says_count
from .labels import LONGEST_NAME

Fields = Mapping[str, Draft]

# The units in which times since 1970 are counted, and the years that are likely.
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 24 * 60 * 60
_FIRST_YEAR, _LAST_YEAR = 1990, 2035

# Few values that repeat may be categories, and fewer times are numbers by chance.
_MOST_CATEGORIES, _REPEATS = 20, 10
_FEWEST_TIMES = 20
_MOST_SHOWN = 4


def with_single_values(evidence: Evidence, fields: Fields) -> Fields:
    """Return fields with units of times, and doubts about times and categories."""
    found = dict(fields)
    for key, draft in fields.items():
        data = evidence.keys.get(key)
        if data is None or not data.is_single:
            continue
        if draft.kind == "Scalar" and data.kind == "int64":
            found[key] = _as_time(draft, data) or _as_category(evidence, draft, data)
        elif draft.is_text:
            found[key] = _as_category(evidence, draft, data)
    return found


def _as_time(draft: Draft, data: KeyEvidence) -> Draft | None:
    """Return integers as times since 1970 if their name and values say so."""
    low, high = data.numbers.minimum, data.numbers.maximum
    if not isinstance(low, int) or not isinstance(high, int) or draft.facts.get("unit"):
        return None
    named = names_time(draft.key)
    for unit, second in _UNITS.items():
        dates = _dates(low // second, high // second)
        if dates and named:
            return _timed(draft.with_facts(unit=unit), f"{dates}, in {unit} since 1970")
        if dates and len(data.numbers.distinct or range(low, high)) >= _FEWEST_TIMES:
            return draft.with_doubts(
                f"{low:,} to {high:,}: times from {dates}? Then declare "
                f'unit={unit!r}, and role="info" unless a model learns from them'
            )
    dates = _dates(low * _DAY, high * _DAY)
    if dates and named:
        return draft.with_doubts(
            f"{low:,} to {high:,}: days since 1970, {dates}? A model takes them for a quantity"
        )
    return None


def _timed(draft: Draft, said: str) -> Draft:
    if draft.model_role == "input":
        return draft.with_doubts(
            f'{said}: a model takes them for a quantity. Is it role="info"?'
        )
    return draft.with_notes(said)


def _dates(low: int, high: int) -> str:
    """Return the first and last date of seconds since 1970; "" if the years are unlikely."""
    if not 0 < low <= high < (_LAST_YEAR - 1969) * 366 * _DAY:
        return ""
    first, last = (
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=each)
        for each in (low, high)
    )
    if first.year < _FIRST_YEAR or last.year > _LAST_YEAR:
        return ""
    return f"{first.date()} to {last.date()}"


def _as_category(evidence: Evidence, draft: Draft, data: KeyEvidence) -> Draft:
    """Return an input with a doubt if its few values may be categories."""
    few: Mapping[Any, int] = (
        data.values.texts if draft.is_text else data.numbers.distinct
    ) or {}
    repeated = _REPEATS * len(few) <= len(data.present)
    if (
        draft.model_role != "input"
        or not 1 < len(few) <= _MOST_CATEGORIES
        or not repeated
    ):
        return draft
    facts: dict[str, Any]
    if draft.is_text:
        if b"" in few or max(map(len, few)) > LONGEST_NAME:
            return draft
        names = tuple(sorted(map(bytes.decode, few)))
        shown = plural(len(few), "text")
        stored = {} if evidence.is_table else {"stored": "text"}
        facts = {"classes": names, "num_classes": len(names), **stored}
    else:
        low, high = min(few), max(few)
        dense = low in (0, 1) and high < 2 * len(few)
        if len(few) < 3 or not dense or says_count(draft.key):
            return draft  # of two, it is asked already
        shown = with_commas(ranges(sorted(few)), _MOST_SHOWN)
        offset = 0 if evidence.is_table else low
        facts = {"num_classes": high + 1 - offset, "offset": offset, "classes": ()}
    name = draft.key if draft.key.isidentifier() else "field"
    category = Draft(draft.key, "Label", facts, draft.optional, "input")
    return draft.with_doubts(
        f"{shown} in {plural(len(data.present), 'record')}: a category? Then declare "
        f"{annotation_source(category.spec(name))}"
    )
