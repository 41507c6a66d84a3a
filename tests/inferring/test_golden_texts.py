"""Whole files: what is written of formats that many people have, when it is all there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from formats.test_formats import format_of
from schemagen.use_cases.infer import infer

from .messages import write_file

WRITTEN = Path(__file__).parent / "written"
NAMES = sorted(path.stem for path in WRITTEN.glob("[!_]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_what_a_person_would_write(name: str, tmp_path: Path) -> None:
    """Held against a file in this directory, which formatter and linter look at too.

    There are twelve times the records of the format's own test, so that what is alike
    in them is taken for more than chance.
    """
    original = format_of(name)
    messages = [original.write(row) for row in original.rows] * 12
    data = write_file(tmp_path / "data.tfrecord", messages)
    found = infer(data, tmp_path / f"{name}.py")
    assert found.path.read_text() == (WRITTEN / f"{name}.py").read_text()
