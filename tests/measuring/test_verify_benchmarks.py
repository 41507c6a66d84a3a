"""The benchmark of looking at data runs, and sees whether all was looked at."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import verify
from benchmarks.measure import Different
from benchmarks.reading import ours
from benchmarks.reading.shapes import SHAPES
from benchmarks.setting import Setting
from benchmarks.verifying import speed, ways

DOCUMENT = Path(__file__).parents[2] / "docs" / "benchmarks.md"


@pytest.mark.slow
def test_every_way_is_measured_and_profiled(tmp_path: Path) -> None:
    """Each has seen all records, and has a time in each round and a line in a table."""
    document = tmp_path / "benchmarks.md"
    shutil.copy(DOCUMENT, document)
    results = tmp_path / "verify.json"
    few = ("--rounds", "1", "--share", "0.002", "--bytes", "1e5")
    files = ("--json", str(results), "--document", str(document))
    verify.PROGRAM.run([*few, *files])
    found, text = json.loads(results.read_text()), document.read_text()
    assert set(found["speed"]) == {shape.name for shape in SHAPES}
    for result in found["speed"].values():
        assert len(result["seconds"]) == 7
        assert all(times[0] > 0 for times in result["seconds"].values())
    assert f"| {speed.VERIFY}, against {speed.PARSE} | " in text
    assert set(found["memory"]) == {"100000", "400000"}
    assert "Growth as a share of the data's: " in text
    assert "| mix: verify | share | µs a record |" in text


@pytest.mark.slow
def test_what_was_not_looked_at_is_no_measurement(tmp_path: Path) -> None:
    """A way that passes over records, or finds something in them, ends it."""
    mix = SHAPES[0]
    setting = Setting(tmp_path, 1, ("mix",), 1.0, 0)
    directory = tmp_path / "data"
    files = ours.write(setting.generated, mix, mix.rows(8), directory)
    ways.verified(directory, 8)
    for look in (
        lambda: ways.verified(directory, 9),
        lambda: ways.inspected(directory, 9),
        lambda: ways.columns(files, 9),
        lambda: ways.parsed(files, mix, 9),
        lambda: ways.parsed_one_by_one(files, mix, 9),
        lambda: ways.unparsed(files, mix, 9),
        lambda: ways.messages(files, 9),
    ):
        with pytest.raises(Different):
            look()
    shard = Path(files[0])
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(Different, match="verify: 7 records"):
        ways.verified(directory, 8)
