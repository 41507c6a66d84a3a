"""Random writes and reads of one split by several processes, some of which are killed.

`SOAK_SECONDS` is how long each test takes; twenty minutes without it. The figures are the output of the
test, which `-rP` shows: `make test-slow PYTEST_OPTIONS="-k soak -rP" SOAK_SECONDS=60`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_SECONDS = float(os.environ.get("SOAK_SECONDS", 20 * 60))


def _figures(program: str, scratch: Path) -> dict[str, Any]:
    """Run a program, and return what it prints."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    script = Path(__file__).with_name(program)
    done = subprocess.run(
        [sys.executable, str(script), str(scratch), str(_SECONDS), str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout)
    assert not done.returncode, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS + 300)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="readers and writers are forked")
def test_reads_are_whole_or_refused_while_others_write_and_are_killed(
    tmp_path: Path,
) -> None:
    """No read is of two generations, ends with a raw error or takes over ten seconds."""
    figures = _figures("soak.py", tmp_path)
    assert figures["wrong"] == {}
    assert figures["reads"]["complete"] > 0
    assert figures["writes"]["complete"] > 0


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS + 300)
@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="hangs end by an alarm")
def test_records_are_those_of_opening_while_another_program_changes_files(
    tmp_path: Path,
) -> None:
    """Copied, renamed, edited and cut, with equal sizes and last records; or an error."""
    figures = _figures("foreign_soak.py", tmp_path)
    assert figures["wrong"] == {}
    assert figures["reads"]["split"]["complete"] > 0
    assert figures["reads"]["split"]["stopped"] > 0
