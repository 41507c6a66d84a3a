"""Points in time and durations, as integers of a unit: exact or refused.

A point in time counts from the beginning of 1970 in UTC. One without a time zone is taken
as UTC.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import Problem

UNITS = {
    "s": ("seconds", 10**9),
    "ms": ("milliseconds", 10**6),
    "us": ("microseconds", 10**3),
    "ns": ("nanoseconds", 1),
}
"""The name of each unit, and how many nanoseconds it has."""

TIMES = (date, timedelta, np.datetime64, np.timedelta64)
"""The types of times; those of pandas derive from Python's."""

_DURATIONS = (timedelta, np.timedelta64)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Time(NamedTuple):
    """What integers are that are times.

    Attributes:
        unit: "s", "ms", "us" or "ns".
        duration: whether they are durations, rather than points in time.
    """

    unit: str
    duration: bool = False

    @property
    def words(self) -> str:
        """What a value is, in words."""
        return "a duration" if self.duration else "a point in time"

    def text(self, value: float) -> str:
        """Show a number as a date, as a date with its time, or as a duration.

        Of integers, fractions of a second are shown, too.
        """
        name, nanoseconds = UNITS[self.unit]
        whole = int(value)
        if self.duration:
            return f"{whole:,} {self.unit}"
        try:
            found = _EPOCH + timedelta(microseconds=whole * nanoseconds // 1000)
        except OverflowError:  # beyond the year 9999
            return f"{whole:,} {name} since 1970"
        rest = whole * nanoseconds % 10**9 if isinstance(value, int) else 0
        if found.time() == datetime.min.time() and not rest:
            return found.date().isoformat()
        text = found.replace(tzinfo=None).isoformat(" ", "seconds")
        return f"{text}.{rest:09}".rstrip("0") if rest else text


def is_nat(value: object) -> bool:
    """Return whether a value is a missing time of numpy or pandas: NaT, or pandas.NA."""
    if type(value).__name__ == "NAType":
        return True
    try:
        return isinstance(value, TIMES) and bool(value != value)
    except Exception:  # its own, which its field refuses
        return False


def without_nat(column: Any) -> Any:
    """Return a column of times with None for those that are missing."""
    if column is None:
        return None
    if not isinstance(column, np.ndarray) and hasattr(column, "__array__"):
        column = np.asarray(column)
    if isinstance(column, np.ndarray) and column.dtype.kind not in "mMO":
        return column
    missing = [*map(is_nat, column)]
    if not any(missing):
        return column
    pairs = zip(column, missing, strict=True)
    return [None if lacks else value for value, lacks in pairs]


def as_integers(value: Any, time: Time) -> Any:
    """Return times as integers, and any other value as it is.

    Args:
        value: a time, or a sequence or an array of times.
        time: what the integers are.

    Raises:
        Problem: a missing time, one of the other kind, or one that the unit cannot hold.
    """
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "mM":
        return _of_numpy(np.asarray(value), time)
    if isinstance(value, TIMES):
        return _of_python(value, time)
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU" and value.ndim:
        value = value.tolist()
    if isinstance(value, (list, tuple)) and any(isinstance(v, TIMES) for v in value):
        return [as_integers(each, time) for each in value]
    return value


def _of_numpy(times: NDArray[Any], time: Time) -> NDArray[np.int64]:
    kind = "m" if time.duration else "M"
    shown = str(times.reshape(-1)[0]) if times.size else ""
    if times.dtype.kind != kind:
        raise _other_kind(shown, time)
    if np.isnat(times).any():
        raise _missing(time)
    if time.duration and np.datetime_data(times.dtype)[0] in ("Y", "M", "generic"):
        raise Problem(
            f"{shown} ({times.dtype.name})",
            "a duration in a unit of one length",
            "convert it to days, or to a smaller unit",
        )
    found = times.astype(f"{kind}8[{time.unit}]")
    # What overflows is another time again.
    wrong = found.astype(times.dtype) != times
    if wrong.any():
        raise _inexact(str(times[wrong][0] if times.ndim else times), time)
    return found.astype(np.int64)


def _of_python(value: Any, time: Time) -> int:
    if is_nat(value):
        raise _missing(time)
    shown = f"{type(value).__name__} {value}"
    if isinstance(value, _DURATIONS) != time.duration:
        raise _other_kind(shown, time)
    if not time.duration:
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        value = (value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH
    microseconds = (value.days * 86_400 + value.seconds) * 10**6 + value.microseconds
    nanoseconds = microseconds * 1000 + getattr(value, "nanoseconds", 0)
    found, rest = divmod(nanoseconds, UNITS[time.unit][1])
    if rest:
        raise _inexact(shown, time)
    return int(found)


def _missing(time: Time) -> Problem:
    return Problem(
        "NaT, a missing time",
        time.words,
        "an optional field, with the default None, takes it as missing",
    )


def _other_kind(shown: str, time: Time) -> Problem:
    other = (
        "datetime for points in time" if time.duration else "timedelta for durations"
    )
    return Problem(shown, time.words, f"declare a {other}")


def _inexact(shown: str, time: Time) -> Problem:
    return Problem(
        shown,
        f"whole {UNITS[time.unit][0]}, as int64",
        "round it, or declare another unit",
    )
