"""Long lines are broken as `ruff format` leaves them."""

from __future__ import annotations

import pytest
from schemagen.codegen.layout import Brackets, wrap
from schemagen.schema_source.layout import field_lines

LONG = "a_name_that_is_so_long_that_two_of_them_do_not_fit_on_one_line"


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        (f"f({LONG}, {LONG})", ["f(", f"    {LONG},", f"    {LONG},", ")"]),
        (f"  x[{LONG + LONG}]", ["  x[", f"      {LONG + LONG}", "  ]"]),
        (f"x[{LONG + LONG},]", ["x[", f"    {LONG + LONG},", "]"]),
        (f"f({LONG} for {LONG} in x)", ["f(", f"    {LONG} for {LONG} in x", ")"]),
        (
            f"({LONG}(a for a in {LONG}),)",
            ["(", f"    {LONG}(", f"        a for a in {LONG}", "    ),", ")"],
        ),
        (f'f("(, {LONG}", {LONG})', ["f(", f'    "(, {LONG}",', f"    {LONG},", ")"]),
        (f"# {LONG} {LONG}", [f"# {LONG} {LONG}"]),
    ],
)
def test_a_long_line_is_opened_at_its_last_brackets(
    line: str, broken: list[str]
) -> None:
    """Each item has a line and a comma, unless a comma would change the meaning."""
    assert wrap(line).split("\n") == broken


def test_a_long_default_is_opened_behind_a_long_name() -> None:
    """The name counts, even where the default by itself would fit on a line."""
    default = Brackets("np.array", "()", (Brackets("", "[]", ("1.5",) * 8),))
    assert field_lines(f"{LONG}: ", "np.ndarray", default) == [
        f"    {LONG}: np.ndarray = np.array(",
        f"        [{', '.join(['1.5'] * 8)}]",
        "    )",
    ]
