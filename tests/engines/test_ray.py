"""Ray writes the files of `write_dataset`, whatever happens, and reads them."""

from __future__ import annotations

import logging
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import many_kinds
import numpy as np
import pytest
import ray
from digits import (
    Changing,
    Failing,
    Killed,
    Source,
    digit,
    digits,
    files_of,
    is_first,
    some,
)
from ray.cluster_utils import Cluster
from schemagen.data.ray import read_dataset
from schemagen.runtime.engines import ray as engine
from schemagen.runtime.shared.errors import (
    ChangedSourceError,
    DatasetError,
    RecordError,
)

from generated.digit import serializer

ROOT = Path(__file__).parents[2]
MEMORY = 100 << 20
pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

KEYED = {"shuffle_seed": 5, "key_field": "scan"}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Two nodes with a processor each."""
    paths = [str(ROOT), str(Path(__file__).parent)]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    node = {"num_cpus": 1, "object_store_memory": MEMORY}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    cluster.add_node(**node)
    ray.init(address=cluster.address, logging_level=logging.WARNING)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    try:
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


def expected(directory: Path, rows: Any, **options: Any) -> dict[str, bytes]:
    """Return the files that `write_dataset` writes."""
    serializer.write_dataset(rows, directory, "train", **options)
    return files_of(directory)


def plan_of(directory: Path, **options: Any) -> Any:
    return serializer.plan_dataset(directory, "train", **options)


def published(directory: Path) -> list[str]:
    """Return the names that are not hidden."""
    return [name for name in files_of(directory) if not name.startswith(".")]


@pytest.mark.parametrize(
    ("rows", "blocks", "shards", "compression"),
    [
        (200, 1, 3, None),
        (200, 2, 1, "GZIP"),
        (200, 3, 2, None),
        (200, 8, 3, "GZIP"),
        (3, 2, 5, None),
        (0, 1, 2, None),
    ],
)
@pytest.mark.filterwarnings("ignore:.*published without records")
def test_rows_in_any_blocks_and_order_give_the_files_of_write_dataset(
    tmp_path: Path, rows: int, blocks: int, shards: int, compression: str | None
) -> None:
    options = {"shards": shards, "compression": compression, **KEYED}
    wanted = expected(tmp_path / "wanted", digits(rows), **options)
    mixed = digits(max(rows, 1))
    random.Random(blocks).shuffle(mixed)
    dataset = ray.data.from_items(mixed, override_num_blocks=blocks)
    if not rows:
        dataset = dataset.filter(lambda row: False)
    plan = plan_of(tmp_path / "found", **options)
    assert engine.write_dataset(dataset, plan) == rows
    assert files_of(tmp_path / "found") == wanted


@pytest.mark.parametrize(
    ("rows", "shards", "options"),
    [
        (100, 1, {}),
        (100, 3, {"compression": "GZIP"}),
        (100, 8, {"shuffle_seed": 3}),
        (2, 4, {}),
    ],
)
def test_a_source_with_an_index_gives_the_files_of_write_dataset(
    tmp_path: Path, rows: int, shards: int, options: dict[str, Any]
) -> None:
    wanted = expected(tmp_path / "wanted", Source(rows), shards=shards, **options)
    plan = plan_of(tmp_path / "found", shards=shards, rows=rows, **options)
    assert engine.write_parts(Source(rows), plan) == rows
    assert files_of(tmp_path / "found") == wanted


def test_functions_of_shards_give_the_files_of_write_dataset(tmp_path: Path) -> None:
    """One of them has no rows."""
    source = [partial(some, 0, 30), partial(some, 30, 30), partial(some, 30, 40)]
    wanted = expected(tmp_path / "wanted", source)
    plan = plan_of(tmp_path / "found", shards=3)
    assert engine.write_parts(source, plan) == 40
    assert files_of(tmp_path / "found") == wanted


def test_a_worker_killed_in_mid_shard_is_replaced(tmp_path: Path) -> None:
    wanted = expected(tmp_path / "wanted", Source(90), shards=3)
    plan = plan_of(tmp_path / "found", shards=3, rows=90)
    source = Killed(90, tmp_path / "killed", 45)
    assert engine.write_parts(source, plan) == 90
    assert (tmp_path / "killed").exists()
    assert files_of(tmp_path / "found") == wanted


def test_a_worker_killed_while_it_encodes_rows_is_replaced(tmp_path: Path) -> None:
    source = Killed(90, tmp_path / "killed", 45)
    wanted = expected(tmp_path / "wanted", digits(90), shards=3, **KEYED)
    dataset = ray.data.range(90, override_num_blocks=3).map(
        lambda row: source[row["id"]]
    )
    plan = plan_of(tmp_path / "found", shards=3, **KEYED)
    assert engine.write_dataset(dataset, plan) == 90
    assert (tmp_path / "killed").exists()
    assert files_of(tmp_path / "found") == wanted


def test_a_worker_killed_while_it_writes_sorted_rows_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "killed"

    def write(plan: Any, shard: int, pieces: list[Any], records: int) -> Any:
        def passing(pieces: list[Any]) -> Iterator[Any]:
            yield pieces[0]
            if shard == 1 and is_first(mark):
                os.kill(os.getpid(), 9)
            yield from pieces[1:]

        return written(plan, shard, passing(pieces), records)

    written = engine._write_shard
    monkeypatch.setattr(engine, "_write_shard", write)
    wanted = expected(tmp_path / "wanted", digits(90), shards=3, **KEYED)
    dataset = ray.data.from_items(digits(90), override_num_blocks=3)
    plan = plan_of(tmp_path / "found", shards=3, **KEYED)
    assert engine.write_dataset(dataset, plan) == 90
    assert mark.exists()
    assert files_of(tmp_path / "found") == wanted


def test_a_shard_written_twice_at_once_is_published_once(tmp_path: Path) -> None:
    wanted = expected(tmp_path / "wanted", Source(60), shards=2)
    plan = plan_of(tmp_path / "found", shards=2, rows=60)
    serializer.begin(plan)
    write = ray.remote(engine._write_part)
    tasks = [write.remote(Source(60), plan, shard) for shard in (0, 0, 1, 1)]
    assert serializer.publish(plan, ray.get(tasks)) == 60
    assert files_of(tmp_path / "found") == wanted


def test_a_source_that_changes_between_attempts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    plan = plan_of(tmp_path / "found", shards=1, rows=20)
    serializer.begin(plan)
    write = ray.remote(engine._write_part)
    source = Changing(20, tmp_path / "marks")
    tasks = [write.remote(source, plan, 0) for _ in range(2)]
    with pytest.raises(ChangedSourceError, match="shard 0 was written twice"):
        ray.get(tasks)
    assert published(tmp_path / "found") == []


def test_other_rows_for_the_same_plan_are_refused(tmp_path: Path) -> None:
    """Shards are durable, but not published, when the driver starts again."""
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    serializer.begin(plan)
    dataset = ray.data.from_items(digits(40))
    engine._write_blocks(engine._encoded(dataset, plan), plan)
    with pytest.raises(ChangedSourceError, match=r"shard \d was written twice"):
        engine.write_dataset(ray.data.from_items(digits(42)), plan)
    assert published(tmp_path / "found") == []
    serializer.abandon(plan)
    assert files_of(tmp_path / "found") == {}


def test_a_source_that_fails_is_resumed_with_the_same_plan(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    wanted = expected(tmp_path / "wanted", Source(90), shards=3)
    plan = plan_of(tmp_path / "found", shards=3, rows=90)
    serializer.begin(plan)
    serializer.write_part(Source(90), plan, 0)
    source = Failing(90, tmp_path / "repaired", 45, tmp_path / "log")
    with pytest.raises(OSError, match="row 45 is out of reach") as caught:
        engine.write_parts(source, plan)
    assert caught.value.__notes__[0] == "while the source loaded row 45"
    assert published(tmp_path / "found") == []
    (tmp_path / "repaired").touch()
    assert engine.write_parts(source, plan) == 90
    assert files_of(tmp_path / "found") == wanted
    loaded = {int(path.name) for path in (tmp_path / "log").iterdir()}
    assert loaded == set(range(30, 90))


def test_a_wrong_row_is_an_error_of_its_own(tmp_path: Path) -> None:
    """Ray adds nothing to its message, and the same plan can be used again."""

    def spoiled(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "digit": 99} if row["scan"] == 7 else row

    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    dataset = ray.data.from_items(digits(20), override_num_blocks=1)
    with pytest.raises(RecordError, match=r"^row 7: field 'digit': found") as caught:
        engine.write_dataset(dataset.map(spoiled), plan)
    assert caught.value.field == "digit"
    assert "attempts" not in str(caught.value)
    assert published(tmp_path / "found") == []
    assert engine.write_dataset(dataset, plan) == 20
    wanted = expected(tmp_path / "wanted", digits(20), shards=2, **KEYED)
    assert files_of(tmp_path / "found") == wanted


def test_an_error_of_an_earlier_step_is_reported_as_ray_does(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    dataset = ray.data.from_items(digits(20)).map(lambda row: row["no such column"])
    with pytest.raises(ray.exceptions.RayTaskError, match="no such column"):
        engine.write_dataset(dataset, plan)
    serializer.abandon(plan)
    assert files_of(tmp_path / "found") == {}


def test_a_duplicate_key_is_refused_by_its_value(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "found", shards=3, **KEYED)
    dataset = ray.data.from_items([*digits(50), digit(31)])
    with pytest.raises(DatasetError, match="two rows have the value 31"):
        engine.write_dataset(dataset, plan)
    assert published(tmp_path / "found") == []


@pytest.mark.filterwarnings("ignore:.*were left out")
def test_skipped_rows_are_left_out_and_reported(tmp_path: Path) -> None:
    rows = digits(50)
    for number in (7, 31):
        rows[number] = {**rows[number], "digit": 99}
    options = {"shards": 3, "on_error": "skip", **KEYED}
    wanted = expected(tmp_path / "wanted", rows, **options)
    dataset = ray.data.from_items(rows, override_num_blocks=4)
    refused = tmp_path / "refused.jsonl"
    plan = plan_of(tmp_path / "found", **options)
    assert engine.write_dataset(dataset, plan, refused=refused) == 48
    assert refused.read_text().count('"digit"') == 2
    assert files_of(tmp_path / "found") == wanted


def test_a_dataset_that_may_drop_blocks_is_refused(tmp_path: Path) -> None:
    dataset = ray.data.from_items(digits(5))
    dataset.context.max_errored_blocks = 1
    plan = plan_of(tmp_path / "found", shards=1, **KEYED)
    with pytest.raises(DatasetError, match="max_errored_blocks=1"):
        engine.write_dataset(dataset, plan)
    assert not (tmp_path / "found").exists()


def test_a_plan_without_a_key_is_refused(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "found", shards=1)
    with pytest.raises(DatasetError, match="pass key_field= and shuffle_seed="):
        engine.write_dataset(ray.data.from_items(digits(5)), plan)
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_what_was_written_is_read(tmp_path: Path, compression: str | None) -> None:
    """Two of the shards are empty; rows are written back as the same bytes."""
    options: dict[str, Any] = {"compression": compression, **KEYED}
    wanted = expected(tmp_path / "wanted", digits(3), shards=5, **options)
    dataset = read_dataset(tmp_path / "wanted", "train")
    assert dataset.count() == 3
    rows = sorted(dataset.iter_rows(), key=lambda row: row["scan"])
    for row, original in zip(rows, digits(3), strict=True):
        assert list(row) == list(original)
        for name, value in original.items():
            np.testing.assert_array_equal(row[name], value)
        assert row["image"].dtype == np.uint8
        assert row["moments"].dtype == np.float32
    plan = plan_of(tmp_path / "found", shards=5, **options)
    assert engine.write_dataset(dataset, plan) == 3
    assert files_of(tmp_path / "found") == wanted


def test_values_of_all_kinds_are_read_and_written_back(tmp_path: Path) -> None:
    """Shards differ in sizes and in what is missing, and so do their blocks."""
    serializer = many_kinds.generated(tmp_path)
    shards = [partial(many_kinds.rows, shard) for shard in range(3)]
    serializer.write_dataset(shards, tmp_path / "data", "train")
    with pytest.raises(DatasetError, match="'steps': read_dataset does not read"):
        read_dataset(tmp_path / "data", "train")
    originals = {row["number"]: row for shard in shards for row in shard()}
    names = [name for name in originals[1 << 62] if name != "steps"]
    dataset = read_dataset(tmp_path / "data", "train", fields=names).materialize()
    found = list(dataset.iter_rows())
    assert len(found) == len(originals) == 30
    for row in found:
        original = originals[row["number"]]
        given = {name: value for name, value in row.items() if value is not None}
        assert given.keys() == original.keys() - {"steps"}
        again = serializer.serialize(**given, steps=original["steps"])
        assert again == serializer.serialize(**original)
    (batch,) = dataset.iter_batches(batch_size=30)
    for number, tile in zip(batch["number"].tolist(), batch["tile"], strict=True):
        np.testing.assert_array_equal(tile, originals[number]["tile"])


def test_some_fields_are_read_as_arrays_of_a_batch(tmp_path: Path) -> None:
    expected(tmp_path, digits(30), shards=2)
    dataset = read_dataset(tmp_path, "train", fields=["scan", "image"])
    (batch,) = dataset.iter_batches(batch_size=30)
    assert list(batch) == ["scan", "image"]
    assert sorted(batch["scan"].tolist()) == list(range(30))
    wanted = np.stack([digit(number)["image"] for number in batch["scan"]])
    np.testing.assert_array_equal(batch["image"], wanted)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], r"found \d+ bytes, expected the \d+ bytes"),
        (lambda data: data[:90] + bytes([data[90] ^ 1]) + data[91:], "record 0: found"),
    ],
)
def test_a_damaged_shard_is_an_error(tmp_path: Path, damage: Any, message: str) -> None:
    expected(tmp_path, digits(30), shards=2)
    path = tmp_path / "train-00001-of-00002.tfrecord"
    path.write_bytes(damage(path.read_bytes()))
    dataset = read_dataset(tmp_path, "train")
    with pytest.raises(DatasetError, match=message):
        dataset.materialize()


def test_a_replaced_shard_is_an_error(tmp_path: Path) -> None:
    """Its records are whole, and of the same size."""
    expected(tmp_path, digits(7), shards=1)
    dataset = read_dataset(tmp_path, "train")
    others = [{**row, "scan": row["scan"] + 10} for row in digits(7)]
    serializer.write_dataset(others, tmp_path, "train", shards=1, overwrite=True)
    with pytest.raises(DatasetError, match="found the CRC-32C"):
        dataset.materialize()


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"manifest\.json: missing"):
        read_dataset(tmp_path, "train")
    expected(tmp_path, digits(3), shards=1)
    with pytest.raises(DatasetError, match="no split 'tain'; there are: train"):
        read_dataset(tmp_path, "tain")
    with pytest.raises(DatasetError, match="no field 'scna'; there are: image"):
        read_dataset(tmp_path, "train", fields=["scna"])


def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "scale-ray.md").read_text(encoding="utf-8")
    program = re.search(r"```python\n(.*?)```", page, re.S)
    printed = re.search(r"```text\n(.*?)```", page, re.S)
    assert program
    assert printed
    (tmp_path / "write_digits.py").write_text(program[1], encoding="utf-8")
    address = ray.get_runtime_context().gcs_address
    environment = {**os.environ, "RAY_ADDRESS": address, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "write_digits.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed[1]
