"""Numbers, sizes, shares and text of data in the form that all tools show."""

from __future__ import annotations

import pytest
from schemagen.data.formatting import (
    decoded,
    hexadecimal,
    listed,
    number,
    one_line,
    percent,
    plural,
    share,
    size,
    sizes,
)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1234567, None, "1,234,567"),
        (2**63, 4, "9,223,372,036,854,775,808"),
        (1234567.0, None, "1,234,567"),
        (1234567.5, None, "1.23457e+06"),
        (1e15, None, "1e+15"),
        (0.1, None, "0.1"),
        (2.5e-9, None, "2.5e-09"),
        (12345.6, 4, "12,350"),
        (0.123456, 4, "0.1235"),
        (float("-inf"), None, "-inf"),
        (float("nan"), 4, "nan"),
    ],
)
def test_number_is_shown_in_few_characters(
    value: float, digits: int | None, text: str
) -> None:
    """Ints are whole; floats have six digits, or as many as asked for."""
    assert number(value, digits) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (99_949, "99.9 kB"),
        (99_950, "100 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (10**18, "1000 PB"),
    ],
)
def test_size_has_the_largest_unit_that_fits(count: int, text: str) -> None:
    """Units are powers of 1,000."""
    assert size(count) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (5, 5, "5 bytes"),
        (3100, 90_200, "3.1 to 90.2 kB"),
        (1, 999, "1 to 999 bytes"),
        (1, 3100, "1 byte to 3.1 kB"),
        (900, 3100, "900 bytes to 3.1 kB"),
    ],
)
def test_range_of_sizes_names_a_common_unit_once(
    low: int, high: int, text: str
) -> None:
    """Different units are both named."""
    assert sizes(low, high) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 9, "0 %"),
        (9, 9, "100 %"),
        (1, 10**6, "< 0.1 %"),
        (1, 1000, "0.1 %"),
        (95, 1000, "9.5 %"),
        (1, 20, "5 %"),
        (105, 1000, "10 %"),
        (995, 1000, "99.5 %"),
        (99_999, 100_000, "99.9 %"),
        (0, 0, "–"),
    ],
)
def test_share_is_all_or_nothing_only_if_exact(
    part: int, whole: int, text: str
) -> None:
    """Small and large shares have a decimal."""
    assert share(part, whole) == text


def test_percent_leaves_out_the_space_if_asked() -> None:
    """Tables of a terminal are narrow."""
    assert (percent(0.25), percent(1, 4, "")) == ("25 %", "25%")
    assert percent(1, 5000, "") == "<0.1%"


def test_nouns_and_lists_are_counted() -> None:
    """A noun has a regular plural unless it is given one; long lists are cut."""
    assert (plural(1, "file"), plural(2000, "file")) == ("1 file", "2,000 files")
    assert plural(2, "class", "classes") == "2 classes"
    assert (listed([]), listed(["a"]), listed("ab")) == ("", "a", "a and b")
    assert listed("abcdefg", 5) == "a, b, c, d, e and 2 more"


def test_text_of_data_is_escaped_and_cut() -> None:
    """Control characters and bidirectional overrides are escaped, emoji are not."""
    assert one_line("a\nb\x1b[0m\u202e\xa0") == "a\\nb\\x1b[0m\\u202e\xa0"
    assert one_line("abcdef", 3) == "abc…"
    assert decoded(b"\x00\xff") is decoded(b"a\x00") is None
    assert decoded("grün 👩‍🚀\n".encode()) == "grün 👩‍🚀\n"
    assert hexadecimal(b"") == "no bytes"
    assert hexadecimal(bytes(17)) == "00 " * 15 + "00 … (17 bytes)"
