"""Random writes and reads of one split by three processes, some of which are killed.

`SOAK_SECONDS` is how long; twenty minutes without it. The figures are the output of the
test, which `-rP` shows: `make test-slow PYTEST_OPTIONS="-k soak -rP" SOAK_SECONDS=60`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

_SECONDS = float(os.environ.get("SOAK_SECONDS", 20 * 60))


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS + 300)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="readers and writers are forked")
def test_reads_are_whole_or_refused_while_others_write_and_are_killed(
    tmp_path: Path,
) -> None:
    """No read is of two generations, ends with a raw error or takes over ten seconds."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    script = Path(__file__).with_name("soak.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(_SECONDS), str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout)
    assert not done.returncode, done.stderr
    figures = json.loads(done.stdout)
    assert figures["wrong"] == {}
    assert figures["reads"]["complete"] > 0
    assert figures["writes"]["complete"] > 0
