"""What Spark alone has: data frames, executors, and a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import listed, written
from digits import Kills, Row, Source, digit, plan_of
from schemagen.runtime.engines import spark as engine
from spark_engine import Spark, started

from generated import DatasetError
from generated.digit import serializer

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]

ROOT = Path(__file__).parents[2]
SCHEMA = (
    "image array<array<array<smallint>>>, ink_runs array<bigint>, "
    "moments array<float>, digit int, scan bigint"
)
KEYED: dict[str, Any] = {"shuffle_seed": 7, "key_field": "scan"}


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    """A cluster on this machine."""
    with started() as found:
        yield found


def plain(number: int) -> Row:
    """Return a digit as a DataFrame holds it."""
    found = digit(number)
    arrays = ("image", "moments")
    return {**found, **{name: found[name].tolist() for name in arrays}}


@pytest.mark.parametrize(
    ("count", "options"),
    [
        (500, {"shards": 3, "compression": "GZIP", "compression_level": 9}),
        (2, {"shards": 5}),
    ],
)
def test_a_data_frame_gives_the_files_of_write_dataset(
    spark: Spark, tmp_path: Path, count: int, options: dict[str, Any]
) -> None:
    """Its columns hold lists; also as an RDD of Spark's rows."""
    wanted = written(tmp_path / "wanted", Source(count), **options, **KEYED)
    frame = spark.session.createDataFrame(map(plain, range(count)), SCHEMA)
    for name, rows in (("frame", frame.repartition(3)), ("rdd", frame.rdd)):
        plan = plan_of(tmp_path / name, **options, **KEYED)
        assert engine.write_dataset(rows, plan) == count
        assert listed(tmp_path / name) == wanted


def test_images_of_raw_bytes_are_made_into_arrays_as_the_page_says(
    spark: Spark, tmp_path: Path
) -> None:
    """By a line of it."""
    rows = [{**plain(at), "image": digit(at)["image"].tobytes()} for at in range(50)]
    stored = SCHEMA.replace("array<array<array<smallint>>>", "binary")
    frame = spark.session.createDataFrame(rows, stored)
    page = ROOT / "docs" / "scale-engines.md"
    [line] = re.findall(r"`(frame\.rdd\.map\(.*)`\.", page.read_text(encoding="utf-8"))
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    assert engine.write_dataset(eval(line, {"frame": frame, "np": np}), plan) == 50
    wanted = written(tmp_path / "wanted", Source(50), shards=2, **KEYED)
    assert listed(tmp_path / "found") == wanted


def test_an_rdd_without_partitions_gives_empty_shards_if_that_is_asked_for(
    spark: Spark, tmp_path: Path
) -> None:
    """As any source without rows; else nothing is published."""
    rows = spark.session.sparkContext.emptyRDD()
    plan = plan_of(tmp_path, shards=2, **KEYED)
    with pytest.raises(DatasetError, match="'train'"):
        engine.write_dataset(rows, plan)
    serializer.abandon(plan)
    plan = plan_of(tmp_path, shards=2, allow_empty=True, **KEYED)
    assert engine.write_dataset(rows, plan) == 0
    assert len(list(tmp_path.glob("train-*-of-00002.tfrecord"))) == 2


def test_shards_are_sorted_where_the_executor_cleans_up(spark: Spark) -> None:
    """Not in the system's directory, where a killed task would leave its files."""
    shards = spark.session.sparkContext.parallelize(range(2), 2)
    for scratch in shards.map(engine._scratch).collect():
        assert scratch is not None
        assert "/blockmgr-" in scratch


@pytest.mark.parametrize("is_source", [False, True])
def test_an_executor_that_is_killed_changes_nothing(
    spark: Spark, tmp_path: Path, is_source: bool
) -> None:
    """The blocks of rows are lost that Spark keeps there."""
    kills = Kills(3_900, tmp_path / "killed", executor=True)
    options = {"shards": 2, **({} if is_source else KEYED)}
    wanted = written(tmp_path / "wanted", Source(4_000), **options)
    if is_source:
        plan = plan_of(tmp_path / "found", rows=4_000, **options)
        assert spark.write_source(Source(4_000, kills), plan) == 4_000
    else:
        plan = plan_of(tmp_path / "found", **options)
        assert spark.write_rows(range(4_000), plan, kills, pieces=4) == 4_000
    assert kills.mark.exists()
    assert listed(tmp_path / "found") == wanted
