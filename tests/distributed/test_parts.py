"""A split from several processes: the same files as from one, whoever writes what."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from digit_rows import Row, contents, listed, parts, row, rows, written
from schemagen.runtime.shared.errors import (
    ChangedSourceError,
    DatasetError,
    RecordError,
    SchemaMismatchError,
)
from schemagen.runtime.writing import keys
from schemagen.runtime.writing.plan import Plan

from generated.digit import serializer as digit
from generated.photo import serializer as photo

_ROWS = 41


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize(
    "options",
    [
        {"shards": 4},
        {"shards": 5, "compression": "GZIP", "compression_level": 1},
        {"shards": 3, "shuffle_seed": 7},
        {"shards": 60, "shuffle_seed": 0},
        {"shards": 60},
    ],
)
def test_ranks_write_the_files_of_one_process(
    tmp_path: Path, ranks: int, options: dict[str, Any]
) -> None:
    """Nothing else is left; ranks finish in any order."""
    alone = written(tmp_path / "alone", rows(_ROWS), **options)
    plan = digit.plan_dataset(
        tmp_path / "data", "train", rows=_ROWS, run="job 7", **options
    )
    for rank in random.Random(ranks).sample(range(ranks), ranks):
        receipts = digit.write_parts(rows(_ROWS), plan, part=(rank, ranks))
        assert [receipt.shard % ranks for receipt in receipts] == [rank] * len(receipts)
    assert digit.publish(plan) == _ROWS
    assert listed(tmp_path / "data") == alone


@pytest.mark.parametrize("seed", [None, 1])
def test_rows_that_are_left_out_are_reported_when_publishing(
    tmp_path: Path, seed: int | None
) -> None:
    """By their positions in the source, and counted."""
    source = rows(_ROWS)
    source[5]["digit"] = source[30]["digit"] = 17
    options = {"shards": 3, "shuffle_seed": seed, "on_error": "skip"}
    plan = digit.plan_dataset(tmp_path / "data", "train", rows=_ROWS, **options)
    for rank in range(2):
        digit.write_parts(source, plan, part=(rank, 2))
    report, alone = tmp_path / "refused.jsonl", tmp_path / "alone.jsonl"
    with pytest.warns(RuntimeWarning, match="2 rows"):
        assert digit.publish(plan, refused=report) == _ROWS - 2
    with pytest.warns(RuntimeWarning):
        files = written(tmp_path / "alone", source, refused=alone, **options)
    assert report.read_text() == alone.read_text()
    assert listed(tmp_path / "data") == files


def test_wrong_row_is_named_by_its_position(tmp_path: Path) -> None:
    """Also where the order of rows is random; nothing of the shard is left."""
    source = rows(_ROWS)
    source[30]["digit"] = 17
    for seed in (None, 1):
        plan = digit.plan_dataset(
            tmp_path / "data", "train", shards=1, rows=_ROWS, shuffle_seed=seed
        )
        with pytest.raises(RecordError, match="row 30"):
            digit.write_parts(source, plan, part=(0, 1))
        digit.abandon(plan)
        assert contents(tmp_path / "data") == {}


def test_keys_of_a_shuffle_are_computed_once_for_the_shards_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each shard, and once more to sort the rows of the shards."""
    order_of, computed = keys.order_of, []

    def counting(seed: int, part: int, positions: Any) -> Any:
        computed.append(len(positions))
        return order_of(seed, part, positions)

    monkeypatch.setattr(keys, "order_of", counting)
    plan = digit.plan_dataset(
        tmp_path / "data", "train", shards=10, rows=_ROWS, shuffle_seed=3
    )
    digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    assert sum(computed) == 2 * _ROWS


class _Counting(list[Row]):
    loaded = 0

    def __getitem__(self, index: Any) -> Any:
        self.loaded += index > 0  # the first one tells what kind of source it is
        return super().__getitem__(index)


def test_rank_that_starts_again_skips_what_it_has_written(tmp_path: Path) -> None:
    """A shard whose file has been cut off or removed is written again."""
    alone = written(tmp_path / "alone", rows(_ROWS), shards=4)
    plan = digit.plan_dataset(tmp_path / "data", "train", shards=4, rows=_ROWS)
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    again = _Counting(rows(_ROWS))
    assert digit.write_parts(again, plan, part=(0, 1)) == receipts
    assert again.loaded == 0
    (tmp_path / "data" / receipts[1].file).write_bytes(b"")
    (tmp_path / "data" / receipts[2].file).unlink()
    digit.write_parts(again, plan, part=(0, 1))
    assert again.loaded == len(range(10, 30))
    assert digit.publish(plan) == _ROWS
    assert listed(tmp_path / "data") == alone


def test_source_that_gives_other_rows_is_refused_by_its_shard(tmp_path: Path) -> None:
    """Wherever the two attempts meet: when the second is written, or at publication."""
    plan = digit.plan_dataset(tmp_path / "data", "train", shards=2)
    digit.begin(plan)
    other = parts(_ROWS, 2)

    def meanwhile() -> Any:
        yield from other[1]()
        receipts.append(digit.write_part(other, plan, 1))
        yield row(1000)

    receipts = [digit.write_part(other, plan, 0)]
    with pytest.raises(ChangedSourceError, match="shard 1 "):
        digit.write_part([*other[:1], meanwhile], plan, 1)
    with pytest.raises(ChangedSourceError, match="shard 1 "):
        digit.publish(plan)
    with pytest.raises(ChangedSourceError, match="shard 1 "):
        digit.write_part(other, plan, 1)
    digit.abandon(plan)
    assert contents(tmp_path / "data") == {}


def test_attempts_that_differ_leave_nothing_of_a_run_that_was_abandoned(
    tmp_path: Path,
) -> None:
    """Each removes its own file, even if it meets the receipt of the other."""
    directory, away = tmp_path / "data", tmp_path / "away"
    away.mkdir()
    plan = digit.plan_dataset(directory, "train", shards=1)
    digit.begin(plan)
    claim = set(contents(directory))
    mine = set[str]()

    def meanwhile() -> Any:
        yield row(1000)
        mine.update(set(contents(directory)) - claim)
        digit.write_part([lambda: iter(rows(5))], plan, 0)
        # Both attempts create their files a moment after the run has ended.
        late = set(contents(directory)) - claim
        for name in late:
            os.link(directory / name, away / name)
        digit.abandon(plan)
        for name in late:
            os.link(away / name, directory / name)

    with pytest.raises(DatasetError, match="was abandoned or replaced while shard 0"):
        digit.write_part([meanwhile], plan, 0)
    assert mine
    assert not mine & set(contents(directory))


def test_shard_that_is_written_twice_at_once_is_kept_once(tmp_path: Path) -> None:
    """Both attempts return a receipt of the same file."""
    alone = written(tmp_path / "alone", parts(_ROWS, 1))
    plan = digit.plan_dataset(tmp_path / "data", "train", shards=1)
    digit.begin(plan)
    source = parts(_ROWS, 1)
    first = []

    def meanwhile() -> Any:
        first.append(digit.write_part(source, plan, 0))
        yield from source[0]()

    second = digit.write_part([meanwhile], plan, 0)
    assert first == [second]
    assert len(list((tmp_path / "data").glob(".*.tmp"))) == 1
    digit.publish(plan, [*first, second])
    assert listed(tmp_path / "data") == alone


def test_attempt_that_ends_after_publication_leaves_nothing(tmp_path: Path) -> None:
    """It returns if it has written what was published, and fails otherwise."""
    written(tmp_path / "alone", parts(_ROWS, 1))
    source = parts(_ROWS, 1)
    for more in ([], [row(1000)]):
        plan = digit.plan_dataset(tmp_path / "data", "train", shards=1, overwrite=True)
        digit.begin(plan)

        def late(plan: Plan = plan, more: list[Row] = more) -> Any:
            digit.publish(plan, [digit.write_part(source, plan, 0)])
            yield from source[0]()
            yield from more

        if more:
            with pytest.raises(DatasetError, match="shard 0 "):
                digit.write_part([late], plan, 0)
        else:
            assert digit.write_part([late], plan, 0).records == _ROWS
        assert listed(tmp_path / "data") == listed(tmp_path / "alone")


def test_plan_survives_json() -> None:
    """It is a value, and names its module and schema."""
    plan = digit.plan_dataset("data", "train", shards=2, compression="ZLIB")
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.module == "generated.digit.serializer"
    for text in ("{", "[]", '{"format": 9}', '{"format": 1, "split": "train"}'):
        with pytest.raises(DatasetError, match="plan"):
            Plan.from_json(text)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shards": 0}, "shards=0"),
        ({"shards": None}, "shards=None"),
        ({"shards": 1, "rows": True}, "rows=True"),
        ({"shards": 1, "rows": -1}, "rows=-1"),
        ({"shards": 1, "run": ""}, "run=''"),
        ({"shards": 1, "run": 7}, "run=7"),
        ({"shards": 1, "compression": "LZ4"}, "compression='LZ4'"),
        ({"shards": 1, "key_field": "scan"}, "key_field='scan'"),
        ({"shards": 1, "on_error": "ignore"}, "on_error='ignore'"),
    ],
)
def test_option_out_of_range_is_refused(options: Any, words: str) -> None:
    """Before anything is touched."""
    with pytest.raises(DatasetError, match=words):
        digit.plan_dataset("data", "train", **options)


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        (rows(3), {"rows": 4}, " 3 rows.* 4"),
        (rows(3), {}, "pass rows=len"),
        (iter(rows(3)), {}, "source"),
        (parts(3, 2), {}, " 2 functions.* 3"),
        (parts(3, 3), {"shuffle_seed": 1}, "shuffle_seed"),
        (
            rows(3),
            {"rows": 3, "shuffle_seed": 1, "key_field": "scan"},
            "key_field",
        ),
    ],
)
def test_source_that_is_not_the_plan_s_is_refused(
    tmp_path: Path, source: Any, options: Any, words: str
) -> None:
    """Before a file is written."""
    plan = digit.plan_dataset(tmp_path / "data", "train", shards=3, **options)
    with pytest.raises(DatasetError, match=words):
        digit.write_part(source, plan, 0)
    assert not (tmp_path / "data").exists()


def test_wrong_number_of_a_shard_or_process_is_refused(tmp_path: Path) -> None:
    """Numbers begin with 0."""
    plan = digit.plan_dataset(tmp_path / "data", "train", shards=2, rows=3)
    for shard in (2, -1, True):
        with pytest.raises(DatasetError, match=" 0 to 1"):
            digit.write_part(rows(3), plan, shard)
    for part in ((2, 2), (0, 0), 3, (0, True)):
        with pytest.raises(DatasetError, match=r"\(rank, ranks\)"):
            digit.write_parts(rows(3), plan, part=part)  # type: ignore[arg-type]


def test_plan_of_another_schema_is_refused(tmp_path: Path) -> None:
    """By record and fingerprint."""
    plan = photo.plan_dataset(tmp_path / "data", "train", shards=1, rows=3)
    with pytest.raises(SchemaMismatchError, match=r"'photo'.*'digit'"):
        digit.write_part(rows(3), plan, 0)
