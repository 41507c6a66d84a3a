"""Judgements on the data sets of public repositories do not become worse."""

from __future__ import annotations

import json

import pytest

from benchmarks.adopting import judge
from benchmarks.evidence import SHEETS, recorded, sheet_of

SCORES = json.loads((SHEETS / "scores.json").read_text())


@pytest.mark.parametrize("sheet", SCORES)
def test_as_many_answers_are_right_as_before(sheet: str) -> None:
    """By the evidence that is recorded: `scores.json` has right and asked, by aspect."""
    score = judge(sheet_of(sheet), recorded(sheet))
    worse = {
        aspect: (score.right[aspect], right)
        for aspect, (right, _) in SCORES[sheet].items()
        if score.right[aspect] < right
    }
    assert not worse, "\n".join(score.misses)
    assert score.asked == {
        aspect: asked for aspect, (_, asked) in SCORES[sheet].items()
    }
