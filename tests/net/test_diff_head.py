"""`make diff-head` finds what two versions do differently, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

from diff_head import ROOT, compare

_EXAMPLES = 8
_TEXT, _PLANTED = 'f"field {self.field!r}: "', 'f"column {self.field!r}: "'


def test_a_planted_difference_is_found_and_no_other_is(tmp_path: Path) -> None:
    """A copy with another text in one error differs in the errors of refused rows."""
    for name in ("schemagen", "templates"):
        shutil.copytree(ROOT / name, tmp_path / name)
    errors = tmp_path / "schemagen" / "runtime" / "shared" / "errors.py"
    text = errors.read_text(encoding="utf-8")
    assert _TEXT in text
    errors.write_text(text.replace(_TEXT, _PLANTED), encoding="utf-8")
    found = compare(tmp_path, "in CI", range(_EXAMPLES), tensorflow=False)
    assert found.differences
    for _, place, how in found.differences:
        assert place.endswith("/message"), place
        before, after = how.split("\n")
        assert before[1:].replace("column '", "field '", 1) == after[1:]
    assert found.generated > _EXAMPLES / 2
