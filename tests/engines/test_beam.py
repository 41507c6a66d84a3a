"""What Beam alone has: bundles, windows, schemas, metrics, and a page."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pytest
from apache_beam.metrics import MetricsFilter
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from beam_engine import BUNDLES, MEMORY, PROCESSES, pipeline, started
from digit_rows import listed, written
from digits import Source, digit, digits, is_first, plan_of, published
from schemagen.runtime.engines import steps as shared
from schemagen.runtime.engines.beam import WriteDataset, WriteParts
from schemagen.runtime.shared.errors import DatasetError

from generated.digit.serializer import plan_dataset, write_dataset

pytestmark = pytest.mark.timeout(120)

KEYED: dict[str, Any] = {"key_field": "scan", "shuffle_seed": 5}
THREADS = (
    "FnApiRunner",
    "--direct_running_mode=multi_threading",
    "--direct_num_workers=3",
)


@pytest.fixture(autouse=True, scope="module")
def importable_by_workers() -> Iterator[None]:
    """Worker processes import the generated code and the sources of these tests."""
    with started():
        yield


@pytest.mark.parametrize("runner", [THREADS, PROCESSES], ids=["threads", "processes"])
def test_two_splits_of_one_pipeline_are_those_of_write_dataset(
    tmp_path: Path, runner: tuple[str, ...]
) -> None:
    """Rows move between workers, and both splits share a manifest."""
    for directory in ("found", "wanted"):
        (tmp_path / directory).mkdir()
    write_dataset(digits(900), tmp_path / "wanted", "rows", shards=7, **KEYED)
    write_dataset(Source(400), tmp_path / "wanted", "source", shards=3, shuffle_seed=2)
    rows = plan_dataset(tmp_path / "found", "rows", shards=7, **KEYED)
    source = plan_dataset(
        tmp_path / "found", "source", shards=3, rows=400, shuffle_seed=2
    )
    with pipeline(runner) as steps:
        _ = steps | beam.Create(range(900)) | beam.Map(digit) | WriteDataset(rows)
        _ = steps | WriteParts(Source(400), source)
    assert listed(tmp_path / "found") == listed(tmp_path / "wanted")


@pytest.mark.parametrize("cut_bytes", [1, 1 << 17, shared.CUT_BYTES])
def test_rows_of_several_inputs_write_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut_bytes: int
) -> None:
    """Of different sizes, in blocks that are cut one by one or together."""
    monkeypatch.setattr(shared, "CUT_BYTES", cut_bytes)
    wanted = written(tmp_path / "wanted", digits(3000), shards=6, **KEYED)
    numbers = random.Random(cut_bytes).sample(range(3000), 3000)
    plan = plan_of(tmp_path / "found", shards=6, **KEYED)
    with pipeline(MEMORY) as steps:
        inputs = (
            steps | "few" >> beam.Create(numbers[:10]),
            steps | "many" >> beam.Create(numbers[10:]) | beam.Reshuffle(),
            steps | "none" >> beam.Create([]),
        )
        _ = inputs | beam.Flatten() | beam.Map(digit) | WriteDataset(plan)
    assert listed(tmp_path / "found") == wanted


class Digit(NamedTuple):
    image: Any
    ink_runs: Any
    moments: Any
    digit: int
    scan: int


@pytest.mark.parametrize("kind", [beam.Row, Digit, None])
def test_rows_with_a_schema_or_in_windows_write_the_same_files(
    tmp_path: Path, kind: Any
) -> None:
    """`beam.Row` and named tuples stand for dicts, and windows divide nothing."""
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    with pipeline(MEMORY) as steps:
        rows = steps | beam.Create(range(30))
        if kind:
            rows |= beam.Map(lambda at: kind(**digit(at)))
        else:
            rows |= beam.Map(lambda at: TimestampedValue(digit(at), at))
            rows |= beam.WindowInto(FixedWindows(7))
        _ = rows | WriteDataset(plan)
    wanted = written(tmp_path / "wanted", digits(30), shards=2, **KEYED)
    assert listed(tmp_path / "found") == wanted


def visible(directory: Path) -> list[str]:
    """The files of a directory that are not hidden."""
    return sorted(name for name in os.listdir(directory) if name[0] != ".")


def test_the_number_of_records_is_the_result(tmp_path: Path) -> None:
    """Steps that follow see it when the split is published."""
    directory = tmp_path / "found"
    with pipeline(MEMORY) as steps:
        plan = plan_of(directory, shards=2, **KEYED)
        count = steps | beam.Create(digits(30)) | WriteDataset(plan)
        seen = count | beam.Map(lambda found: (found, visible(directory)))
        files = [f"train-0000{shard}-of-00002.tfrecord" for shard in (0, 1)]
        assert_that(seen, equal_to([(30, ["manifest.json", *files])]))


def test_metrics_count_records_and_rows_that_are_left_out(tmp_path: Path) -> None:
    """Where the runner collects them."""
    rows = [{**digit(at), "digit": 99 if at % 40 == 0 else 1} for at in range(200)]
    steps = pipeline(MEMORY)
    plan = plan_of(tmp_path / "found", shards=3, on_error="skip", **KEYED)
    _ = steps | beam.Create(rows) | WriteDataset(plan)
    with pytest.warns(RuntimeWarning, match="5 rows"):
        result = steps.run()
    result.wait_until_finish()
    found = result.metrics().query(MetricsFilter().with_namespace("schemagen"))
    counters = {each.key.metric.name: each.committed for each in found["counters"]}
    assert counters == {"records": 195, "refused": 5}


def _raise_once(mark: Path, number: int) -> dict[str, Any]:
    if number == 30 and is_first(mark):
        raise OSError("row 30 is out of reach")
    return digit(number)


def test_a_runner_that_repeats_a_bundle_writes_the_same_files(tmp_path: Path) -> None:
    """The source raises once, and the user does not see it."""
    mark = tmp_path / "raised"
    plan = plan_of(tmp_path / "found", shards=3, rows=60)
    source = Source(60, lambda number: _raise_once(mark, number))
    with pipeline(BUNDLES) as steps:
        _ = steps | WriteParts(source, plan)
    assert mark.exists()
    wanted = written(tmp_path / "wanted", Source(60), shards=3)
    assert listed(tmp_path / "found") == wanted


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({**digit(4), "digit": 10}, r"scan 4: field 'digit'.* 10"),
        ({k: v for k, v in digit(4).items() if k != "digit"}, "scan 4: field 'digit'"),
        ({**digit(4), "scan": None}, "scan None: field 'scan'"),
        (4, r"scan: .*int 4"),
    ],
)
def test_a_wrong_row_is_named_by_its_key(tmp_path: Path, row: Any, named: str) -> None:
    """Positions mean nothing where rows have no order."""
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    with pytest.raises(DatasetError, match=named), pipeline(MEMORY) as steps:
        _ = steps | beam.Create([*digits(4), row, digit(5)]) | WriteDataset(plan)
    assert published(tmp_path / "found") == []


def test_rows_without_an_end_are_refused_at_once(tmp_path: Path) -> None:
    """A split is published when it is complete, which they never are."""
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    endless = pipeline(MEMORY) | PeriodicImpulse(fire_interval=1)
    with pytest.raises(DatasetError, match="unbounded"):
        _ = endless | beam.Map(lambda _: digit(1)) | WriteDataset(plan)
