"""Shuffles put records into buckets on disk, each run in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from digit_rows import row, rows

from generated.digit import serializer as digit
from generated.digit.reader import open_split

COUNT = 60


def test_a_run_that_is_given_up_again_leaves_the_buckets_of_others(
    tmp_path: Path,
) -> None:
    """Cleaning up twice is not an error, and the second time another run is at work."""
    plan = digit.plan_dataset(tmp_path, "train", shards=2, rows=COUNT, run="old")
    digit.begin(plan)
    digit.abandon(plan)

    def source() -> Iterator[dict[str, Any]]:
        for number in range(COUNT):
            if number == COUNT // 2:
                [claim] = tmp_path.glob(".train.run.*")
                token = claim.name.rpartition(".")[2]
                folder = tmp_path / f".train.{token}.shuffle"
                folder.mkdir(exist_ok=True)
                digit.abandon(plan)
                assert folder.is_dir()
            yield row(number)

    assert digit.write_dataset(source(), tmp_path, "train", shuffle_seed=1) == COUNT
    scans = open_split(tmp_path, "train")[:]["scan"].tolist()
    assert sorted(scans) == list(range(COUNT))


def test_what_killed_shuffles_have_left_is_removed(tmp_path: Path) -> None:
    for name in (".train.0123456789ab.shuffle", ".train.shuffle"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bucket").write_bytes(b"records")
    other = tmp_path / ".train2.0123456789ab.shuffle"
    other.mkdir()
    digit.write_dataset(rows(COUNT), tmp_path, "train")
    assert [path.name for path in tmp_path.glob(".*.shuffle")] == [other.name]
