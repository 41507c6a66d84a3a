"""The benchmark of verify and inspect measures all ways, and counts their records."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import verify
from benchmarks.measure import Different
from benchmarks.program import Setting
from benchmarks.reading import SHAPES
from benchmarks.records import write_shards
from benchmarks.verify import PARSE, VERIFY, all_seen, ways_of

from .conftest import Run


@pytest.mark.slow
def test_every_way_is_measured(run: Run) -> None:
    """Each has a time in each round and a line in a table."""
    found, text = run(verify.PROGRAM, "--share", "0.002", "--bytes", "1e5")
    assert set(found["speed"]) == set(SHAPES)
    for result in found["speed"].values():
        assert len(result["seconds"]) == 7
        assert all(times[0] > 0 for times in result["seconds"].values())
    assert f"| {VERIFY}, against {PARSE} | " in text
    assert set(found["memory"]) == {"100000", "400000"}
    assert "Growth as a share of the data's: " in text


@pytest.mark.slow
def test_ways_that_miss_records_are_not_timed(tmp_path: Path) -> None:
    """A way that passes over records, or has findings, ends the measurement."""
    mix = SHAPES["mix"]
    setting = Setting(tmp_path, 1, ("mix",), 1.0, 0)
    directory = tmp_path / "data"
    files = write_shards(setting.generated, mix, mix.rows(8), directory)
    for name, way in ways_of(files, mix).items():
        all_seen(name, way, 8)
        with pytest.raises(Different, match="8 records, expected 9"):
            all_seen(name, way, 9)
    shard = Path(files[0])
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(Different, match="verify: 7 records"):
        verify.verified(directory)
