"""Splits written with Spark have the bytes of `write_dataset`, whatever happens to tasks."""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession
from schemagen.runtime.engines import spark as engine
from schemagen.runtime.shared.errors import DatasetError
from spark_rows import (
    FailsWhile,
    KillsOnce,
    MeetsAnother,
    OtherRows,
    Rows,
    executor_of,
    of_shard,
    plain,
    row,
)

from generated.digit import serializer as digit

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scale-spark.md"

# JVMs compile for seconds what runs for milliseconds.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ENVIRONMENT = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "JDK_JAVA_OPTIONS": f"{JAVA} -XX:CICompilerCount=1",
    "PYSPARK_PYTHON": sys.executable,
    # For executors, which import the serializer and the sources of these tests.
    "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'engines'}",
}
SCHEMA = (
    "image array<array<array<smallint>>>, ink_runs array<bigint>, "
    "moments array<float>, digit int, scan bigint"
)

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A cluster on this machine: a master and two workers with an executor each."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.chdir(tmp_path_factory.mktemp("spark"))  # workers make folders here
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.executor.extraJavaOptions", JAVA)
            # Tasks fail for good, and files of a killed executor are lost, without delay.
            .config("spark.task.maxFailures", "2")
            .config("spark.shuffle.io.maxRetries", "1")
            .config("spark.shuffle.io.retryWait", "1s")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def files_of(directory: Path) -> dict[str, bytes]:
    """Return the bytes of all files of a directory, also of hidden ones."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


Write = Callable[..., dict[str, bytes]]


@pytest.fixture
def locally(tmp_path: Path) -> Write:
    """Return the files that `write_dataset` writes."""

    def write(rows: Any, **options: Any) -> dict[str, bytes]:
        shutil.rmtree(tmp_path / "expected", ignore_errors=True)
        digit.write_dataset(rows, tmp_path / "expected", "train", **options)
        return files_of(tmp_path / "expected")

    return write


def plan_of(directory: Path, **options: Any) -> Any:
    return digit.plan_dataset(directory, "train", **options)


BY_KEY = {"shuffle_seed": 7, "key_field": "scan"}


@pytest.mark.parametrize("partitions", [1, 2, 3, 8])
def test_rows_in_any_order_and_partitions_give_the_same_files(
    spark: SparkSession, tmp_path: Path, locally: Write, partitions: int
) -> None:
    """Also where partitions are of several blocks."""
    numbers = list(range(5_000))
    random.Random(partitions).shuffle(numbers)
    rows = spark.sparkContext.parallelize(numbers, partitions).map(row)
    plan = plan_of(tmp_path / "data", shards=3, **BY_KEY)
    assert engine.write_dataset(rows, plan) == 5_000
    assert files_of(tmp_path / "data") == locally(Rows(5_000), shards=3, **BY_KEY)


@pytest.mark.parametrize(
    ("length", "options"),
    [
        (500, {"shards": 1}),
        (500, {"shards": 8}),
        (500, {"shards": 3, "compression": "GZIP", "compression_level": 9}),
        (2, {"shards": 5}),
    ],
)
def test_a_data_frame_gives_the_same_files(
    spark: SparkSession,
    tmp_path: Path,
    locally: Write,
    length: int,
    options: dict[str, Any],
) -> None:
    """Its columns hold lists; compressed or not, and with shards without records."""
    frame = spark.createDataFrame(map(plain, range(length)), SCHEMA).repartition(3)
    plan = plan_of(tmp_path / "data", **options, **BY_KEY)
    assert engine.write_dataset(frame, plan) == length
    assert files_of(tmp_path / "data") == locally(Rows(length), **options, **BY_KEY)


def test_an_rdd_of_spark_rows_gives_the_same_files(
    spark: SparkSession, tmp_path: Path, locally: Write
) -> None:
    """As they are, and with an image of raw bytes made into an array, as the page says."""
    frame = spark.createDataFrame(map(plain, range(50)), SCHEMA)
    plan = plan_of(tmp_path / "rows", shards=2, **BY_KEY)
    assert engine.write_dataset(frame.rdd, plan) == 50
    expected = locally(Rows(50), shards=2, **BY_KEY)
    assert files_of(tmp_path / "rows") == expected

    numbers = [{**plain(at), "image": row(at)["image"].tobytes()} for at in range(50)]
    stored = SCHEMA.replace("array<array<array<smallint>>>", "binary")
    frame = spark.createDataFrame(numbers, stored)
    [line] = re.findall(r"`(frame\.rdd\.map\(.*)`\.", PAGE.read_text(encoding="utf-8"))
    plan = plan_of(tmp_path / "binary", shards=2, **BY_KEY)
    assert engine.write_dataset(eval(line, {"frame": frame, "np": np}), plan) == 50
    assert files_of(tmp_path / "binary") == expected


@pytest.mark.parametrize("partitions", [0, 2])
def test_no_rows_give_empty_shards_and_a_warning(
    spark: SparkSession, tmp_path: Path, locally: Write, partitions: int
) -> None:
    """An RDD may also be without partitions."""
    context = spark.sparkContext
    rows = context.parallelize([], partitions) if partitions else context.emptyRDD()
    plan = plan_of(tmp_path / "data", shards=2, **BY_KEY)
    with pytest.warns(RuntimeWarning, match="train"):
        assert engine.write_dataset(rows, plan) == 0
    with pytest.warns(RuntimeWarning, match="train"):
        expected = locally(Rows(0), shards=2, **BY_KEY)
    assert files_of(tmp_path / "data") == expected


@pytest.mark.parametrize(
    ("length", "options"),
    [
        (3_000, {"shards": 1}),
        (3_000, {"shards": 3, "shuffle_seed": 4}),
        (500, {"shards": 8, "compression": "GZIP"}),
        (2, {"shards": 5}),
    ],
)
def test_a_source_with_an_index_gives_the_same_files(
    spark: SparkSession,
    tmp_path: Path,
    locally: Write,
    length: int,
    options: dict[str, Any],
) -> None:
    """One task a shard, also shuffled, compressed, and without records."""
    plan = plan_of(tmp_path / "data", rows=length, **options)
    assert engine.write_parts(Rows(length), plan, spark=spark) == length
    assert files_of(tmp_path / "data") == locally(Rows(length), **options)


def test_a_function_for_each_shard_gives_the_same_files(
    spark: SparkSession, tmp_path: Path, locally: Write
) -> None:
    """Functions without a name of their own travel too."""
    source = [of_shard(0, 10), of_shard(10, 10), of_shard(10, 300)]
    plan = plan_of(tmp_path / "data", shards=3)
    assert engine.write_parts(source, plan, spark=spark) == 300
    assert files_of(tmp_path / "data") == locally(source, shards=3)


def test_rows_that_are_left_out_are_counted(
    spark: SparkSession, tmp_path: Path, locally: Write
) -> None:
    """With `on_error="skip"`, in both ways; the report has a line for each."""
    options: dict[str, Any] = {"shards": 2, "on_error": "skip", **BY_KEY}
    rows = [{**row(number), "digit": number} for number in range(30)]
    report = tmp_path / "refused.jsonl"
    plan = plan_of(tmp_path / "keyed", **options)
    given = spark.sparkContext.parallelize(rows, 2)
    with pytest.warns(RuntimeWarning, match="20 rows"):
        assert engine.write_dataset(given, plan, refused=report) == 10
    lines = list(map(json.loads, report.read_text().splitlines()))
    found = {line["found"] for line in lines}
    assert found == {f"class id {number}" for number in range(10, 30)}
    assert len(lines) == 20
    with pytest.warns(RuntimeWarning, match="20 rows"):
        assert files_of(tmp_path / "keyed") == locally(rows, **options)

    plan = plan_of(tmp_path / "parts", shards=2, rows=30, on_error="skip")
    with pytest.warns(RuntimeWarning, match="20 rows"):
        assert engine.write_parts(rows, plan, spark=spark, refused=report) == 10
    assert len(report.read_text().splitlines()) == 20


def test_a_plan_without_a_key_is_refused_before_anything_is_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Rows of an RDD have no order that writing could keep."""
    rows = spark.sparkContext.parallelize([row(0)], 1)
    with pytest.raises(DatasetError, match=r"pass key_field= and shuffle_seed="):
        engine.write_dataset(rows, plan_of(tmp_path / "data", shards=1))
    assert not (tmp_path / "data").exists()


def test_a_wrong_row_is_refused_at_the_driver_and_nothing_is_published(
    spark: SparkSession, tmp_path: Path, locally: Write
) -> None:
    """The error names partition, row and field; the corrected rows then are written."""
    rows = [row(number) for number in range(40)]
    rows[25]["digit"] = "eleven"
    plan = plan_of(tmp_path / "data", shards=2, **BY_KEY)
    message = (
        r"(?s)row 5: field 'digit': found the class 'eleven'.*partition 1 of the rows"
    )
    with pytest.raises(Exception, match=message):
        engine.write_dataset(spark.sparkContext.parallelize(rows, 2), plan)
    assert not [name for name in files_of(tmp_path / "data") if name[0] != "."]
    rows[25]["digit"] = 5
    given = spark.sparkContext.parallelize(rows, 3)
    assert engine.write_dataset(given, plan) == 40
    assert files_of(tmp_path / "data") == locally(rows, shards=2, **BY_KEY)


def files_once(directory: Path, wanted: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a directory, once tasks of a failed job have ended."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError):  # what was listed may be removed since
            if files_of(directory) == wanted:
                break
        time.sleep(0.2)
    return files_of(directory)


@pytest.mark.parametrize("shards", [1, 101])
def test_a_duplicate_key_is_refused_by_its_value(
    spark: SparkSession, tmp_path: Path, shards: int
) -> None:
    """Also at a boundary between shards; after `abandon` nothing is left."""
    rows = spark.sparkContext.parallelize([*range(100), 42], 4).map(row)
    plan = plan_of(tmp_path / "data", shards=shards, **BY_KEY)
    with pytest.raises(Exception, match="'scan': two rows have the value 42"):
        engine.write_dataset(rows, plan)
    assert not [name for name in files_of(tmp_path / "data") if name[0] != "."]
    digit.abandon(plan)
    assert files_once(tmp_path / "data", {}) == {}


def test_shards_are_sorted_where_the_executor_cleans_up(spark: SparkSession) -> None:
    """Not in the system's directory, where a killed task would leave its files."""
    shards = spark.sparkContext.parallelize(range(2), 2)
    for scratch in shards.map(engine._scratch).collect():
        assert scratch is not None
        assert "/blockmgr-" in scratch


def stop(*_: object) -> int:
    raise KeyboardInterrupt


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], None]:
    """Write with a driver that is stopped before it publishes."""

    def write(call: Callable[[], int]) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(engine, "publish", stop)
            with pytest.raises(KeyboardInterrupt):
                call()

    return write


def test_a_driver_that_stops_before_publication_can_go_on_with_its_plan(
    spark: SparkSession, tmp_path: Path, locally: Write, stopped: Any
) -> None:
    """The source is not read again."""
    plan = plan_of(tmp_path / "data", shards=2, rows=300)
    stopped(lambda: engine.write_parts(Rows(300), plan, spark=spark))
    unread = Rows(300, partial(refuse, set(range(300))))
    assert engine.write_parts(unread, plan, spark=spark) == 300
    assert files_of(tmp_path / "data") == locally(Rows(300), shards=2)


def test_a_run_with_other_rows_the_second_time_is_refused(
    spark: SparkSession, tmp_path: Path, locally: Write, stopped: Any
) -> None:
    """The error names the shard; after `abandon` the split can be written."""
    numbers = spark.sparkContext.parallelize(range(101), 2)
    others = spark.sparkContext.parallelize([*range(100), 1000], 2)
    plan = plan_of(tmp_path / "data", shards=4, **BY_KEY)
    stopped(lambda: engine.write_dataset(numbers.map(row), plan))
    with pytest.raises(
        Exception, match=r"shard \d was written twice with different contents"
    ):
        engine.write_dataset(others.map(row), plan)
    assert not [name for name in files_of(tmp_path / "data") if name[0] != "."]
    digit.abandon(plan)
    # Tasks of the job that failed may still be writing by the old plan.
    plan = plan_of(tmp_path / "data", shards=4, **BY_KEY)
    assert engine.write_dataset(numbers.map(row), plan) == 101
    wanted = locally(Rows(101), shards=4, **BY_KEY)
    assert files_once(tmp_path / "data", wanted) == wanted


def test_a_source_that_raises_keeps_the_shards_that_are_written(
    spark: SparkSession, tmp_path: Path, locally: Write
) -> None:
    """The same plan then writes the rest."""
    broken = tmp_path / "broken"
    broken.touch()
    source = Rows(400, FailsWhile(390, broken))
    plan = plan_of(tmp_path / "data", shards=4, rows=400)
    with pytest.raises(Exception, match="OSError: scan 390 is not there"):
        engine.write_parts(source, plan, spark=spark)
    before = files_of(tmp_path / "data")
    assert not [name for name in before if name[0] != "."]
    kept = [name for name in before if name.endswith(".receipt")]
    assert kept

    broken.unlink()
    written = [int(name.split("-")[1][:5]) for name in kept]
    unread = set().union(*(range(100 * at, 100 * at + 100) for at in written))
    source = Rows(400, partial(refuse, unread))
    assert engine.write_parts(source, plan, spark=spark) == 400
    assert files_of(tmp_path / "data") == locally(Rows(400), shards=4)


def refuse(numbers: set[int], number: int) -> None:
    assert number not in numbers


@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_a_kill_in_the_middle_of_a_part_changes_nothing(
    spark: SparkSession, tmp_path: Path, locally: Write, victim: str
) -> None:
    """Spark runs the task again; what the killed one has left is removed."""
    marker = tmp_path / "killed"
    source = Rows(6_000, KillsOnce(2_500, marker, victim))
    plan = plan_of(tmp_path / "data", shards=2, rows=6_000)
    assert engine.write_parts(source, plan, spark=spark) == 6_000
    assert marker.exists()
    assert files_of(tmp_path / "data") == locally(Rows(6_000), shards=2)


def killing(kills: KillsOnce, number: int) -> dict[str, Any]:
    kills(number)
    return row(number)


@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_a_kill_while_rows_are_encoded_changes_nothing(
    spark: SparkSession, tmp_path: Path, locally: Write, victim: str
) -> None:
    """With an executor the blocks are lost that Spark keeps there."""
    marker = tmp_path / "killed"
    kills = KillsOnce(3_900, marker, victim)
    rows = spark.sparkContext.parallelize(range(4_000), 4).map(partial(killing, kills))
    plan = plan_of(tmp_path / "data", shards=2, **BY_KEY)
    assert engine.write_dataset(rows, plan) == 4_000
    assert marker.exists()
    assert files_of(tmp_path / "data") == locally(Rows(4_000), shards=2, **BY_KEY)


def workers_of(folder: Path) -> set[int]:
    """Return the processes that were noted and live."""
    noted = {int(path.name) for path in folder.iterdir()}
    return {each for each in noted if Path(f"/proc/{each}").exists()}


def noting(folder: Path, number: int) -> dict[str, Any]:
    (folder / str(os.getpid())).touch()
    return row(number)


@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_a_kill_after_the_shuffle_changes_nothing(
    spark: SparkSession, tmp_path: Path, locally: Write, victim: str
) -> None:
    """All of the kind are killed as soon as the first shard has a file."""
    data, folder = tmp_path / "data", tmp_path / "workers"
    folder.mkdir()
    seen: set[str] = set()
    over = Event()

    def kill() -> None:
        while not over.wait(0.001):
            names = os.listdir(data) if data.exists() else []
            found = {name for name in names if name.endswith(".tmp")}
            if found and not seen:
                workers = workers_of(folder)
                is_worker = victim == "worker"
                for each in workers if is_worker else {*map(executor_of, workers)}:
                    os.kill(each, signal.SIGKILL)
            seen.update(found)

    rows = spark.sparkContext.parallelize(range(9_000), 2).map(partial(noting, folder))
    options: dict[str, Any] = {"shards": 2, "compression": "GZIP", **BY_KEY}
    watcher = Thread(target=kill)
    watcher.start()
    try:
        assert engine.write_dataset(rows, plan_of(data, **options)) == 9_000
    finally:
        over.set()
        watcher.join()
    assert len(seen) > 2  # more attempts than shards
    assert files_of(data) == locally(Rows(9_000), **options)


def twice_at_once(spark: SparkSession, source: Rows, plan: Any) -> list[Any]:
    digit.begin(plan)
    tasks = spark.sparkContext.parallelize([1, 1], 2)
    return tasks.map(partial(digit.write_part, source, plan)).collect()


def test_a_shard_that_is_written_twice_at_once_is_published_once(
    spark: SparkSession, tmp_path: Path, locally: Write
) -> None:
    """Two executors are at the same row at the same time."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    plan = plan_of(tmp_path / "data", shards=2, rows=300)
    twice_at_once(spark, Rows(300, MeetsAnother(200, meeting)), plan)
    assert len(list(meeting.iterdir())) == 2
    assert engine.write_parts(Rows(300), plan, spark=spark) == 300
    assert files_of(tmp_path / "data") == locally(Rows(300), shards=2)


def test_attempts_with_different_rows_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The error names the shard, and nothing is published."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    plan = plan_of(tmp_path / "data", shards=2, rows=300)
    source = OtherRows(300, MeetsAnother(200, meeting))
    message = "shard 1 was written twice with different contents"
    with pytest.raises(Exception, match=message):
        twice_at_once(spark, source, plan)
    with pytest.raises(Exception, match=message):
        engine.write_parts(Rows(300), plan, spark=spark)
    assert not [name for name in files_of(tmp_path / "data") if name[0] != "."]


def blocks_of_page() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def test_the_programs_of_the_page_write_what_it_says(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are run as they are; `SparkSession.builder.getOrCreate` finds the cluster."""
    monkeypatch.chdir(tmp_path)
    programs = blocks_of_page()
    assert len(programs) == 2
    session = "spark = SparkSession.builder"
    for program in programs:
        assert session in program
        exec(compile(program, str(PAGE), "exec"), {"__name__": "__main__"})
    listed = json.loads((tmp_path / "data" / "manifest.json").read_text())
    assert set(listed["splits"]) == {"train", "test"}


@pytest.mark.timeout(180)
def test_speculative_attempts_on_two_hosts_give_the_same_files(
    tmp_path: Path, locally: Write
) -> None:
    """Spark starts a slow task again on another host; both attempts write a shard."""
    program = importlib.import_module("speculating_spark").__file__
    found = subprocess.run(
        [sys.executable, str(program), str(tmp_path)],
        env={**os.environ, **ENVIRONMENT, "SPARK_JAVA": JAVA},
        cwd=tmp_path,
        timeout=170,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr[-3000:]
    assert len(list((tmp_path / "meeting").iterdir())) == 2
    assert files_of(tmp_path / "data") == locally(Rows(400), shards=4)
