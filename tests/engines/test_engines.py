"""What holds for each engine: its files are those of one process, whatever happens."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from digit_rows import listed, written
from digits import (
    Fails,
    Kills,
    Make,
    Overtaken,
    Source,
    brighter,
    digit,
    digits,
    plan_of,
    published,
    refuse,
    settled,
    some,
    wrong,
)

from generated.digit import serializer

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore:Exception in thread"),
]

KEYED: dict[str, Any] = {"shuffle_seed": 5, "key_field": "scan"}


# The files of one process.


@pytest.mark.parametrize(
    ("count", "pieces", "options"),
    [
        (103, 1, {"shards": 4}),
        (3_000, 3, {"shards": 3}),
        (200, 8, {"shards": 1, "compression": "GZIP", "compression_level": 9}),
        (3, 2, {"shards": 7}),
        (0, 2, {"shards": 2, "allow_empty": True}),
    ],
)
def test_rows_in_any_order_and_pieces_give_the_files_of_write_dataset(
    tmp_path: Path, moving: Any, count: int, pieces: int, options: dict[str, Any]
) -> None:
    """Empty shards and splits too, compressed or not."""
    wanted = written(tmp_path / "wanted", Source(count), **options, **KEYED)
    numbers = random.Random(pieces).sample(range(count), count)
    plan = plan_of(tmp_path / "found", **options, **KEYED)
    assert moving.write_rows(numbers, plan, digit, pieces=pieces) in (count, None)
    assert listed(tmp_path / "found") == wanted


@pytest.mark.parametrize(
    ("count", "options"),
    [
        (300, {"shards": 1}),
        (3_000, {"shards": 3, "shuffle_seed": 4}),
        (100, {"shards": 8, "compression": "GZIP"}),
        (2, {"shards": 5}),
        (0, {"shards": 2, "allow_empty": True}),
    ],
)
def test_a_source_with_an_index_gives_the_files_of_write_dataset(
    tmp_path: Path, engine: Any, count: int, options: dict[str, Any]
) -> None:
    """In its own order or in a random one."""
    wanted = written(tmp_path / "wanted", Source(count), **options)
    plan = plan_of(tmp_path / "found", rows=count, **options)
    assert engine.write_source(Source(count), plan) in (count, None)
    assert listed(tmp_path / "found") == wanted


def test_functions_for_each_shard_give_the_files_of_write_dataset(
    tmp_path: Path, engine: Any
) -> None:
    """Functions without a name of their own travel too; one of them has no rows."""
    source = [partial(some, 0, 30), lambda: some(30, 30), lambda: some(30, 40)]
    wanted = written(tmp_path / "wanted", source)
    engine.write_source(source, plan_of(tmp_path / "found", shards=3))
    assert listed(tmp_path / "found") == wanted


def test_a_source_without_rows_is_published_only_if_that_is_asked_for(
    tmp_path: Path, engine: Any
) -> None:
    """As by one process."""
    plan = plan_of(tmp_path, shards=2, rows=0)
    with pytest.raises(Exception, match="'train'"):
        engine.write_source([], plan)
    serializer.abandon(plan)
    plan = plan_of(tmp_path, shards=2, rows=0, allow_empty=True)
    assert engine.write_source([], plan) in (0, None)
    assert len(list(tmp_path.glob("train-*-of-00002.tfrecord"))) == 2


@pytest.mark.parametrize("is_source", [False, True])
def test_rows_that_are_left_out_are_reported(
    tmp_path: Path, engine: Any, is_source: bool
) -> None:
    """The others are the split."""
    source = Source(50, partial(wrong, 20))
    options = {"shards": 3, "on_error": "skip", **({} if is_source else KEYED)}
    with pytest.warns(RuntimeWarning, match="2 rows"):
        wanted = written(tmp_path / "wanted", source, **options)
    refused = tmp_path / "refused.jsonl"
    plan = plan_of(tmp_path / "found", rows=50 if is_source else None, **options)
    write = partial(engine.write_rows, range(50), plan, source.make)
    if is_source:
        write = partial(engine.write_source, source, plan)
    with pytest.warns(RuntimeWarning, match="2 rows"):
        write(refused=refused)
    assert listed(tmp_path / "found") == wanted
    lines = [json.loads(line) for line in refused.read_text("utf-8").splitlines()]
    assert [line["field"] for line in lines] == ["digit"] * 2


# What is refused.


def test_a_wrong_row_is_named_and_nothing_is_published(
    tmp_path: Path, moving: Any
) -> None:
    """The corrected rows can be written by the same plan."""
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    with pytest.raises(Exception, match=r"'digit'.* 99"):
        moving.write_rows(range(40), plan, partial(wrong, 40))
    assert published(tmp_path / "found") == []
    moving.write_rows(range(40), plan, digit)
    wanted = written(tmp_path / "wanted", digits(40), shards=2, **KEYED)
    assert listed(tmp_path / "found") == wanted


def test_a_wrong_row_of_a_source_is_named_by_its_position(
    tmp_path: Path, engine: Any
) -> None:
    """Whatever the engine's own words are."""
    plan = plan_of(tmp_path / "found", shards=2, rows=40)
    with pytest.raises(Exception, match=r"row 39: field 'digit'.* 99"):
        engine.write_source(Source(40, partial(wrong, 40)), plan)
    assert published(tmp_path / "found") == []


@pytest.mark.parametrize("shards", [1, 101])
def test_a_duplicate_key_is_refused_by_its_value(
    tmp_path: Path, moving: Any, shards: int
) -> None:
    """Also at a boundary between shards; after `abandon` nothing is left."""
    plan = plan_of(tmp_path / "found", shards=shards, **KEYED)
    with pytest.raises(Exception, match=r"'scan'.* 42"):
        moving.write_rows([*range(100), 42], plan, digit)
    assert published(tmp_path / "found") == []
    serializer.abandon(plan)
    assert settled(tmp_path / "found", {}, plan) == {}


def test_a_plan_without_a_key_is_refused_at_once(tmp_path: Path, moving: Any) -> None:
    """Rows have no order there that writing could keep."""
    plan = plan_of(tmp_path / "found", shards=1)
    with pytest.raises(Exception, match="key_field="):
        moving.write_rows([1], plan, refuse)
    assert not (tmp_path / "found").exists()


def test_a_split_that_exists_is_replaced_only_if_the_plan_says_so(
    tmp_path: Path, moving: Any
) -> None:
    """Otherwise it is refused before rows are computed."""
    old = written(tmp_path / "found", digits(9), shards=5)
    for write, options in (
        (partial(moving.write_rows, range(30)), KEYED),
        (lambda plan, make: moving.write_source(Source(30, make), plan), {"rows": 30}),
    ):
        plan = plan_of(tmp_path / "found", shards=2, **options)
        with pytest.raises(Exception, match="'train'") as caught:
            write(plan, refuse)
        assert "was computed" not in str(caught.value)
        assert listed(tmp_path / "found") == old
    plan = plan_of(tmp_path / "found", shards=2, overwrite=True, **KEYED)
    moving.write_rows(range(30), plan, digit)
    written(tmp_path / "wanted", digits(30), shards=2, **KEYED)
    assert listed(tmp_path / "found") == listed(tmp_path / "wanted")


# What is tried again.


@pytest.mark.parametrize("is_source", [False, True])
def test_a_worker_that_is_killed_changes_nothing(
    tmp_path: Path, engine: Any, is_source: bool
) -> None:
    """The engine replaces it, or the same plan can be written again."""
    kills = Kills(450, tmp_path / "killed")
    options = {"shards": 3, **({} if is_source else KEYED)}
    wanted = written(tmp_path / "wanted", Source(600), **options)
    plan = plan_of(tmp_path / "found", rows=600 if is_source else None, **options)

    def write(**more: Any) -> None:
        if is_source:
            engine.write_source(Source(600, kills), plan, **more)
        else:
            engine.write_rows(range(600), plan, kills, **more)

    if engine.replaces_workers:
        write()
    else:
        with pytest.raises(RuntimeError):
            write(kills=True)
        assert published(tmp_path / "found") == []
        write()
    assert kills.mark.exists()
    assert listed(tmp_path / "found") == wanted


def test_a_source_that_raises_is_resumed_with_the_same_plan(
    tmp_path: Path, engine: Any
) -> None:
    """Shards that are written already are not written again."""
    (tmp_path / "log").mkdir()
    wanted = written(tmp_path / "wanted", Source(90), shards=3)
    plan = plan_of(tmp_path / "found", shards=3, rows=90)
    serializer.begin(plan)
    serializer.write_part(Source(90), plan, 0)
    fails = Fails(45, tmp_path / "repaired", tmp_path / "log")
    with pytest.raises(Exception, match="row 45 is out of reach"):
        engine.write_source(Source(90, fails), plan)
    assert published(tmp_path / "found") == []
    fails.repaired.touch()
    engine.write_source(Source(90, fails), plan)
    assert settled(tmp_path / "found", wanted, plan) == wanted
    loaded = {int(path.name) for path in (tmp_path / "log").iterdir()}
    assert loaded == set(range(30, 90))


@pytest.mark.parametrize("make", [digit, brighter])
def test_a_shard_that_is_written_twice_at_once_is_published_once_or_refused(
    tmp_path: Path, engine: Any, make: Make
) -> None:
    """Another attempt ends while this one is in the middle, with equal or other rows."""
    plan = plan_of(tmp_path / "found", shards=3, rows=60)
    overtaken = Overtaken(30, tmp_path / "overtaken", plan, make)
    source = Source(60, overtaken)
    if make is digit:
        engine.write_source(source, plan)
        wanted = written(tmp_path / "wanted", Source(60), shards=3)
    else:
        with pytest.raises(Exception, match="shard 1 "):
            engine.write_source(source, plan)
        assert published(tmp_path / "found") == []
        wanted = {}
    assert overtaken.mark.exists()
    assert settled(tmp_path / "found", wanted, plan) == wanted


def _stop(*_: object) -> int:
    raise OSError("the driver was stopped")


@pytest.fixture
def stopped(
    monkeypatch: pytest.MonkeyPatch, engine: Any
) -> Callable[[Callable[[], object]], None]:
    """Write with a driver that is stopped before it publishes."""

    def write(call: Callable[[], object]) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(engine.publisher, "publish", _stop)
            with pytest.raises(Exception, match="the driver was stopped"):
                call()

    return write


def test_a_driver_that_stopped_before_publication_goes_on_with_its_plan(
    tmp_path: Path, engine: Any, stopped: Any
) -> None:
    """The source is not read again."""
    plan = plan_of(tmp_path / "found", shards=2, rows=300)
    stopped(lambda: engine.write_source(Source(300), plan))
    engine.write_source(Source(300, refuse), plan)
    wanted = written(tmp_path / "wanted", Source(300), shards=2)
    assert listed(tmp_path / "found") == wanted


@pytest.mark.parametrize("make", [digit, brighter])
def test_rows_of_a_second_run_are_compared_with_those_of_the_first(
    tmp_path: Path, moving: Any, stopped: Any, make: Make
) -> None:
    """Equal ones are published; others are refused with the shard."""
    plan = plan_of(tmp_path / "found", shards=3, **KEYED)
    stopped(lambda: moving.write_rows(range(40), plan, digit))
    if make is digit:
        moving.write_rows(range(40), plan, make)
        wanted = written(tmp_path / "wanted", digits(40), shards=3, **KEYED)
    else:
        with pytest.raises(Exception, match=r"shard \d "):
            moving.write_rows(range(40), plan, make)
        assert published(tmp_path / "found") == []
        wanted = {}
    assert settled(tmp_path / "found", wanted, plan) == wanted
