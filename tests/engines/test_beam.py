"""Pipelines of Apache Beam write the files of `write_dataset`, whatever fails on the way."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pytest
from apache_beam.metrics import MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from beam_rows import Digits, Killing, Overtaken, Raising, brighter, digit, digits
from schemagen.runtime.distributed.plans import Plan
from schemagen.runtime.engines import beam as engine
from schemagen.runtime.engines.beam import WriteDataset, WriteParts
from schemagen.runtime.shared.errors import ChangedSourceError, DatasetError

from generated.digit.serializer import abandon, plan_dataset, write_dataset

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scale-beam.md"

BUNDLES = ("BundleBasedDirectRunner",)
MEMORY = ("FnApiRunner",)
PROCESSES = (
    "FnApiRunner",
    "--direct_running_mode=multi_processing",
    "--direct_num_workers=2",
)
KEY: dict[str, Any] = {"key_field": "scan", "shuffle_seed": 5}


@pytest.fixture(autouse=True)
def importable_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes import the generated code and the sources of these tests."""
    paths = (str(ROOT), str(Path(__file__).parent))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def pipeline(runner: tuple[str, ...]) -> beam.Pipeline:
    name, *flags = runner
    return beam.Pipeline(runner=name, options=PipelineOptions(flags))


def threads(workers: int) -> tuple[str, ...]:
    """Return a runner with workers in threads, which get bundles of their own."""
    return (
        "FnApiRunner",
        "--direct_running_mode=multi_threading",
        f"--direct_num_workers={workers}",
    )


def written(directory: Path) -> dict[str, bytes]:
    """Return all files of a directory, hidden ones too."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def expected(tmp_path: Path, rows: Any, split: str = "train", **options: Any) -> Any:
    """Return the files that `write_dataset` writes."""
    write_dataset(rows, tmp_path / "expected", split, **options)
    return written(tmp_path / "expected")


def write_rows(plan: Plan, rows: Iterable[Any], runner: tuple[str, ...]) -> None:
    with pipeline(runner) as steps:
        _ = steps | beam.Create(rows) | WriteDataset(plan)


def write_source(plan: Plan, source: Any, runner: tuple[str, ...]) -> None:
    with pipeline(runner) as steps:
        _ = steps | WriteParts(source, plan)


SPLITS = {
    "some": (103, {"shards": 4}),
    "fewer rows than shards": (3, {"shards": 7}),
    "no rows": (0, {"shards": 2}),
    "one shard": (20, {"shards": 1}),
    "compressed": (103, {"shards": 3, "compression": "GZIP", "compression_level": 9}),
}


@pytest.mark.filterwarnings("ignore:.*was published without records")
@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("runner", [BUNDLES, MEMORY], ids=["bundles", "memory"])
def test_rows_in_any_order_write_the_files_of_write_dataset(
    tmp_path: Path, name: str, runner: tuple[str, ...]
) -> None:
    """Empty shards and splits too, compressed or not."""
    count, options = SPLITS[name]
    rows = digits(count)
    wanted = expected(tmp_path, rows, **options, **KEY)
    random.Random(name).shuffle(rows)
    write_rows(plan_dataset(tmp_path / "data", "train", **options, **KEY), rows, runner)
    assert written(tmp_path / "data") == wanted


@pytest.mark.filterwarnings("ignore:.*was published without records")
@pytest.mark.parametrize("seed", [None, 9], ids=["in order", "shuffled"])
@pytest.mark.parametrize("name", SPLITS)
def test_a_source_with_an_index_writes_the_files_of_write_dataset(
    tmp_path: Path, name: str, seed: int | None
) -> None:
    """In its own order or in a random one."""
    count, options = SPLITS[name]
    options = {**options, "shuffle_seed": seed}
    plan = plan_dataset(tmp_path / "data", "train", rows=count, **options)
    write_source(plan, Digits(count), MEMORY)
    assert written(tmp_path / "data") == expected(tmp_path, Digits(count), **options)


def test_functions_for_each_shard_write_the_files_of_write_dataset(
    tmp_path: Path,
) -> None:
    """Each function gives the rows of its shard."""
    source = [lambda part=part: digits(10 * part) for part in range(3)]
    write_source(plan_dataset(tmp_path / "data", "train", shards=3), source, BUNDLES)
    assert written(tmp_path / "data") == expected(tmp_path, source, shards=3)


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_any_number_of_workers_writes_the_same_files(
    tmp_path: Path, workers: int
) -> None:
    """Two splits of one pipeline, from rows and from a source."""
    wanted = expected(tmp_path, digits(500), "rows", shards=5, **KEY)
    wanted |= expected(tmp_path, digits(300), "source", shards=5)
    rows = plan_dataset(tmp_path / "data", "rows", shards=5, **KEY)
    source = plan_dataset(tmp_path / "data", "source", shards=5, rows=300)
    with pipeline(threads(workers)) as steps:
        _ = steps | beam.Create(range(500)) | beam.Map(digit) | WriteDataset(rows)
        _ = steps | WriteParts(Digits(300), source)
    assert written(tmp_path / "data") == wanted


@pytest.mark.parametrize("cut_bytes", [1, 1 << 17, engine._CUT_BYTES])
def test_rows_that_are_partitioned_again_write_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut_bytes: int
) -> None:
    """Several inputs of different sizes, in blocks that are cut one by one or together."""
    monkeypatch.setattr(engine, "_CUT_BYTES", cut_bytes)
    wanted = expected(tmp_path, digits(3000), shards=6, **KEY)
    numbers = random.Random(cut_bytes).sample(range(3000), 3000)
    plan = plan_dataset(tmp_path / "data", "train", shards=6, **KEY)
    with pipeline(MEMORY) as steps:
        inputs = (
            steps | "few" >> beam.Create(numbers[:10]),
            steps | "many" >> beam.Create(numbers[10:]) | beam.Reshuffle(),
            steps | "none" >> beam.Create([]),
        )
        _ = inputs | beam.Flatten() | beam.Map(digit) | WriteDataset(plan)
    assert written(tmp_path / "data") == wanted


class Digit(NamedTuple):
    image: Any
    ink_runs: Any
    moments: Any
    digit: int
    scan: int


@pytest.mark.parametrize("kind", [beam.Row, Digit])
def test_rows_with_a_schema_write_the_same_files(tmp_path: Path, kind: Any) -> None:
    """`beam.Row` and named tuples stand for dicts."""
    plan = plan_dataset(tmp_path / "data", "train", shards=2, **KEY)
    with pipeline(MEMORY) as steps:
        numbers = steps | beam.Create(range(30))
        _ = numbers | beam.Map(lambda at: kind(**digit(at))) | WriteDataset(plan)
    assert written(tmp_path / "data") == expected(tmp_path, digits(30), shards=2, **KEY)


def test_rows_in_windows_are_one_split(tmp_path: Path) -> None:
    """Windows of the input divide nothing."""
    plan = plan_dataset(tmp_path / "data", "train", shards=2, **KEY)
    with pipeline(MEMORY) as steps:
        numbers = steps | beam.Create(range(30))
        timed = numbers | beam.Map(lambda at: TimestampedValue(digit(at), at))
        _ = timed | beam.WindowInto(FixedWindows(7)) | WriteDataset(plan)
    assert written(tmp_path / "data") == expected(tmp_path, digits(30), shards=2, **KEY)


def test_the_number_of_records_is_the_result(tmp_path: Path) -> None:
    """Steps that follow see it when the split is published."""
    directory = tmp_path / "data"
    with pipeline(MEMORY) as steps:
        plan = plan_dataset(directory, "train", shards=2, **KEY)
        count = steps | beam.Create(digits(30)) | WriteDataset(plan)
        seen = count | beam.Map(lambda found: (found, sorted(os.listdir(directory))))
        files = [f"train-0000{shard}-of-00002.tfrecord" for shard in (0, 1)]
        assert_that(seen, equal_to([(30, ["manifest.json", *files])]))


@pytest.mark.parametrize("runner", [BUNDLES, MEMORY], ids=["bundles", "memory"])
def test_rows_that_are_left_out_are_counted(
    tmp_path: Path, runner: tuple[str, ...]
) -> None:
    """The others are the split; a file and a metric tell of those."""
    rows = [{**digit(at), "digit": 99 if at % 40 == 0 else 1} for at in range(200)]
    options = {"shards": 3, "on_error": "skip", **KEY}
    with pytest.warns(RuntimeWarning, match="5 rows were left out"):
        wanted = expected(tmp_path, rows, **options)
    plan = plan_dataset(tmp_path / "data", "train", **options)
    steps = pipeline(runner)
    refused = tmp_path / "refused.jsonl"
    _ = steps | beam.Create(rows) | WriteDataset(plan, refused=refused)
    result = steps.run()
    result.wait_until_finish()
    assert written(tmp_path / "data") == wanted
    lines = [json.loads(line) for line in refused.read_text("utf-8").splitlines()]
    assert [line["field"] for line in lines] == ["digit"] * 5
    if runner is MEMORY:  # the other one collects no metrics
        found = result.metrics().query(MetricsFilter().with_namespace("schemagen"))
        counters = {each.key.metric.name: each.committed for each in found["counters"]}
        assert counters == {"records": 195, "refused": 5}


def test_two_splits_from_two_processes_are_those_of_write_dataset(
    tmp_path: Path,
) -> None:
    """Rows move between processes, and both splits share a manifest."""
    wanted = expected(tmp_path, digits(2000), "rows", shards=7, **KEY)
    wanted |= expected(tmp_path, digits(900), "source", shards=3, shuffle_seed=2)
    rows = plan_dataset(tmp_path / "data", "rows", shards=7, **KEY)
    source = plan_dataset(
        tmp_path / "data", "source", shards=3, rows=900, shuffle_seed=2
    )
    with pipeline(PROCESSES) as steps:
        _ = steps | beam.Create(range(2000)) | beam.Map(digit) | WriteDataset(rows)
        _ = steps | WriteParts(Digits(900), source)
    assert written(tmp_path / "data") == wanted


@pytest.mark.filterwarnings("ignore:Exception in thread")
def test_a_pipeline_whose_worker_is_killed_resumes_with_the_same_plan(
    tmp_path: Path,
) -> None:
    """The runner fails; the next run keeps the shards that are written."""
    plan = plan_dataset(tmp_path / "data", "train", shards=6, rows=6000)
    source = Killing(6000, at=5500, marker=tmp_path / "killed")
    with pytest.raises(RuntimeError, match="Channel closed prematurely"):
        write_source(plan, source, PROCESSES)
    assert (tmp_path / "killed").exists()
    left = list((tmp_path / "data").iterdir())
    assert not [path for path in left if not path.name.startswith(".")]
    kept = {
        path.with_suffix(".tmp").stat().st_ino
        for path in left
        if path.suffix == ".receipt"
    }
    assert 0 < len(kept) < 6
    write_source(plan, source, MEMORY)
    assert written(tmp_path / "data") == expected(tmp_path, Digits(6000), shards=6)
    assert kept < {path.stat().st_ino for path in (tmp_path / "data").iterdir()}


def kill_once(row: dict[str, Any], marker: Path) -> dict[str, Any]:
    return Killing(0, at=700, marker=marker)[row["scan"]]


@pytest.mark.filterwarnings("ignore:Exception in thread")
def test_a_pipeline_of_rows_whose_worker_is_killed_can_run_again(
    tmp_path: Path,
) -> None:
    """With the same plan; the first run has published nothing."""
    plan = plan_dataset(tmp_path / "data", "train", shards=3, **KEY)
    for is_killed in (True, False):
        steps = pipeline(PROCESSES if is_killed else MEMORY)
        rows = steps | beam.Create(digits(900))
        _ = rows | beam.Map(kill_once, tmp_path / "killed") | WriteDataset(plan)
        if is_killed:
            with pytest.raises(RuntimeError, match="Channel closed prematurely"):
                steps.run().wait_until_finish()
            assert not (tmp_path / "data" / "manifest.json").exists()
        else:
            steps.run().wait_until_finish()
    assert written(tmp_path / "data") == expected(
        tmp_path, digits(900), shards=3, **KEY
    )


def test_an_error_in_a_worker_process_reaches_the_driver(tmp_path: Path) -> None:
    """Its message is in that of the runner; the split can then be given up."""
    plan = plan_dataset(tmp_path / "data", "train", shards=2, **KEY)
    with pytest.raises(
        RuntimeError, match="'scan': two rows have the value 7, expected"
    ):
        write_rows(plan, [*digits(20), digit(7)], PROCESSES)
    assert not (tmp_path / "data" / "manifest.json").exists()
    abandon(plan)
    assert not written(tmp_path / "data")


@pytest.mark.parametrize("runner", [BUNDLES, MEMORY], ids=["bundles", "memory"])
def test_a_duplicate_key_is_refused_by_its_value(
    tmp_path: Path, runner: tuple[str, ...]
) -> None:
    """Nothing is published; without the row, a new plan works once this one is given up."""
    plan = plan_dataset(tmp_path / "data", "train", shards=2, **KEY)
    with pytest.raises(DatasetError, match="two rows have the value 7"):
        write_rows(plan, [*digits(20), digit(7)], runner)
    assert not (tmp_path / "data" / "manifest.json").exists()
    abandon(plan)
    plan = plan_dataset(tmp_path / "data", "train", shards=2, **KEY)
    write_rows(plan, digits(20), runner)
    assert written(tmp_path / "data") == expected(tmp_path, digits(20), shards=2, **KEY)


WRONG = {
    "value": ({**digit(4), "digit": 10}, "the row with scan 4: field 'digit': found"),
    "missing": (
        {k: v for k, v in digit(4).items() if k != "digit"},
        "the row with scan 4: field 'digit': found no value",
    ),
    "no key": ({**digit(4), "scan": None}, "the row with scan None: field 'scan'"),
    "no row": (4, "a row without scan: found int 4, expected a dict"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_row_is_named_by_its_key(tmp_path: Path, name: str) -> None:
    """Positions mean nothing where rows have no order."""
    row, message = WRONG[name]
    plan = plan_dataset(tmp_path / "data", "train", shards=2, **KEY)
    with pytest.raises(DatasetError, match=message):
        write_rows(plan, [*digits(4), row, digit(5)], MEMORY)
    assert not (tmp_path / "data" / "manifest.json").exists()


def test_a_wrong_row_of_a_source_is_named_by_its_position(tmp_path: Path) -> None:
    """The runner's words do not get into the name of the field."""
    rows = [*digits(4), {**digit(4), "digit": 10}]
    plan = plan_dataset(tmp_path / "data", "train", shards=2, rows=5)
    with pytest.raises(
        DatasetError, match="'train': row 4: field 'digit': found class id 10"
    ):
        write_source(plan, rows, MEMORY)


def test_a_source_that_raises_publishes_nothing_and_resumes(tmp_path: Path) -> None:
    """The error arrives; the same plan completes the split."""
    plan = plan_dataset(tmp_path / "data", "train", shards=3, rows=60)
    source = Raising(60, at=30, marker=tmp_path / "raised")
    with pytest.raises(OSError, match="the file server is away"):
        write_source(plan, source, MEMORY)
    assert not (tmp_path / "data" / "manifest.json").exists()
    write_source(plan, source, MEMORY)
    assert written(tmp_path / "data") == expected(tmp_path, Digits(60), shards=3)


def test_a_runner_that_repeats_a_bundle_writes_the_same_files(tmp_path: Path) -> None:
    """The source raises once, and the user does not see it."""
    plan = plan_dataset(tmp_path / "data", "train", shards=3, rows=60)
    write_source(plan, Raising(60, at=30, marker=tmp_path / "raised"), BUNDLES)
    assert (tmp_path / "raised").exists()
    assert written(tmp_path / "data") == expected(tmp_path, Digits(60), shards=3)


def test_a_shard_that_is_written_twice_at_once_is_published_once(
    tmp_path: Path,
) -> None:
    """Another attempt ends while this one is in the middle."""
    plan = plan_dataset(tmp_path / "data", "train", shards=3, rows=60)
    write_source(plan, Overtaken(60, 30, tmp_path / "marker", plan, digit), MEMORY)
    assert (tmp_path / "marker").exists()
    assert written(tmp_path / "data") == expected(tmp_path, Digits(60), shards=3)


def test_a_shard_that_is_written_twice_with_other_rows_is_refused(
    tmp_path: Path,
) -> None:
    """The error names the shard, and nothing is published."""
    plan = plan_dataset(tmp_path / "data", "train", shards=3, rows=60)
    source = Overtaken(60, 30, tmp_path / "marker", plan, brighter)
    with pytest.raises(ChangedSourceError, match="shard 1 was written twice with"):
        write_source(plan, source, MEMORY)
    assert not (tmp_path / "data" / "manifest.json").exists()
    abandon(plan)
    assert not written(tmp_path / "data")


def _unpublished(*_: object) -> int:
    raise OSError("the disk is full")


@pytest.mark.parametrize("changed", [digit, brighter])
def test_a_second_run_of_rows_compares_them_with_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: Any
) -> None:
    """Equal ones are published; others are refused, naming the shard."""
    plan = plan_dataset(tmp_path / "data", "train", shards=3, **KEY)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "publish", _unpublished)
        with pytest.raises(OSError, match="the disk is full"):
            write_rows(plan, digits(40), MEMORY)
    rows = [changed(number) for number in range(40)]
    if changed is brighter:
        with pytest.raises(ChangedSourceError, match=r"shard \d was written twice"):
            write_rows(plan, rows, MEMORY)
        assert not (tmp_path / "data" / "manifest.json").exists()
    else:
        write_rows(plan, rows, MEMORY)
        assert written(tmp_path / "data") == expected(tmp_path, rows, shards=3, **KEY)


def _untouched(_: object) -> None:
    raise AssertionError("a row was computed")


def test_a_split_that_exists_is_refused_before_rows_are_computed(
    tmp_path: Path,
) -> None:
    """The claim is the first step of the pipeline."""
    wanted = expected(tmp_path, digits(9), shards=1)
    plan = plan_dataset(tmp_path / "expected", "train", shards=2, **KEY)
    with pytest.raises(DatasetError, match="Begin"), pipeline(MEMORY) as steps:
        _ = steps | beam.Create([1]) | beam.Map(_untouched) | WriteDataset(plan)
    assert written(tmp_path / "expected") == wanted


def test_an_existing_split_is_replaced_where_the_plan_says_so(tmp_path: Path) -> None:
    """With the files of a new one."""
    write_dataset(digits(9), tmp_path / "data", "train", shards=5)
    plan = plan_dataset(tmp_path / "data", "train", shards=2, overwrite=True, **KEY)
    write_rows(plan, digits(30), MEMORY)
    assert written(tmp_path / "data") == expected(tmp_path, digits(30), shards=2, **KEY)


def test_a_plan_without_a_key_is_refused_at_once(tmp_path: Path) -> None:
    """No pipeline runs for it."""
    plan = plan_dataset(tmp_path / "data", "train", shards=2, shuffle_seed=1)
    with pytest.raises(DatasetError, match="pass key_field= and shuffle_seed="):
        WriteDataset(plan)


def test_rows_without_an_end_are_refused_at_once(tmp_path: Path) -> None:
    """A split is published when it is complete, which they never are."""
    plan = plan_dataset(tmp_path / "data", "train", shards=2, **KEY)
    steps = pipeline(MEMORY)
    endless = steps | PeriodicImpulse(fire_interval=1)
    with pytest.raises(DatasetError, match="the PCollection is unbounded"):
        _ = endless | beam.Map(lambda _: digit(1)) | WriteDataset(plan)


def test_the_program_of_the_page_writes_its_split(tmp_path: Path) -> None:
    """As it stands, from a script, with two worker processes."""
    (program,) = re.findall(r"```python\n(import.*?)```", PAGE.read_text("utf-8"), re.S)
    (tmp_path / "scans").mkdir()
    rows = digits(40)
    for part in range(2):
        lines = [
            json.dumps(row, default=lambda array: array.tolist())
            for row in rows[part::2]
        ]
        (tmp_path / "scans" / f"{part}.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "write_scans.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "write_scans.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "40 records" in done.stdout
    options = {"shards": 8, "key_field": "scan", "shuffle_seed": 1}
    assert written(tmp_path / "data") == expected(tmp_path, rows, **options)
