"""Each page of the documentation runs, and prints what it shows."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from pages import ENVIRONMENTS, RUNS, TESTED_ELSEWHERE
from running import (
    DOCS,
    ROOT,
    Run,
    blocks_of,
    can_run,
    command_of,
    environment_of,
    path_of,
    reason_of,
)

_SECONDS = 600
_HERE = next((name for name in ENVIRONMENTS if find_spec(name)), "")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(
            run, id=run.name, marks=[getattr(pytest.mark, m) for m in run.marks]
        )
        for run in RUNS
        if run.needs == _HERE
    ],
)
def test_a_page_runs_and_prints_what_it_shows(tmp_path: Path, run: Run) -> None:
    """A reader who pastes each block, in order, sees what the page shows."""
    done = subprocess.run(
        command_of(run),
        cwd=tmp_path,
        env=environment_of(run),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_each_page_with_blocks_is_in_the_table() -> None:
    """A page that is added runs, or the table names the test of its blocks."""
    names = [path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md")]
    pages = ["README", *(name.as_posix() for name in names)]
    run = {page for run in RUNS for page in run.pages}
    assert {page for page in pages if blocks_of(page)} == run | set(TESTED_ELSEWHERE)
    assert not run & set(TESTED_ELSEWHERE)
    assert all((ROOT / test).is_file() for test in TESTED_ELSEWHERE.values())


@pytest.mark.parametrize("page", sorted({page for run in RUNS for page in run.pages}))
def test_each_block_runs_or_the_table_says_why_not(page: str) -> None:
    """In one of the environments."""
    runs = [run for run in RUNS if page in run.pages]
    for block in blocks_of(page):
        chosen = [run for run in runs if block in blocks_of(page, run.section)]
        assert any(can_run(r, block) or reason_of(r, block) for r in chosen), block


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_the_table_is_about_blocks_that_are_there(run: Run) -> None:
    """What the table says of a block or a sentence that was removed is removed too."""
    blocks = [each for page in run.pages for each in blocks_of(page, run.section)]
    for words in run.not_run:
        assert any(block.text.startswith(words) for block in blocks), words
    text = "".join(path_of(page).read_text(encoding="utf-8") for page in run.pages)
    assert [words for words in run.at if words not in text] == []
    for words in run.finds:
        assert any(words in block.text for block in blocks), words
