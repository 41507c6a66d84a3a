"""The cost of writing a split with an engine, next to `write_dataset` with two workers.

    python -m benchmarks.scale_engines spark|ray|dask [--records 60000] [--rounds 3]
    .venv-beam/bin/python -m benchmarks.scale_engines beam

The engine is started before the clock is. Each way writes the files of `write_dataset`,
which is compared first.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from generated.digit.serializer import plan_dataset, write_dataset

from .measure import alternating
from .processes import processor_seconds

SHARDS, PARTITIONS, WORKERS = 8, 8, 2
KEYED: dict[str, Any] = {"shuffle_seed": 1, "key_field": "scan"}
PLAIN, SHUFFLED = "plain", "shuffled by key"

Write = Callable[[Path], object]


def digit(number: int) -> dict[str, Any]:
    """Return a row, which takes little time to make."""
    return {
        "image": np.full((8, 8, 1), number % 241, np.uint8),
        "ink_runs": [1, 2, 3],
        "moments": np.full(8, number, np.float32),
        "digit": number % 10,
        "scan": number,
    }


@dataclass(frozen=True)
class Digits:
    """Rows by their index."""

    count: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.count

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return a row."""
        return digit(index)


def keyed(directory: Path) -> Any:
    """Return the plan of a split that an engine shuffles."""
    return plan_dataset(directory, "train", shards=SHARDS, **KEYED)


def parts(directory: Path, records: int) -> Any:
    """Return the plan of a split that an engine writes part by part."""
    return plan_dataset(directory, "train", shards=SHARDS, rows=records)


@contextmanager
def beam(records: int) -> Iterator[dict[str, Mapping[str, Write]]]:
    """Yield what Beam's runner in two processes writes."""
    import apache_beam
    from apache_beam.options.pipeline_options import PipelineOptions
    from schemagen.runtime.engines.beam import WriteDataset, WriteParts

    options = PipelineOptions(
        [
            "--direct_running_mode=multi_processing",
            f"--direct_num_workers={WORKERS}",
        ]
    )

    def pipeline() -> Any:
        return apache_beam.Pipeline(runner="FnApiRunner", options=options)

    def write_parts(directory: Path) -> None:
        with pipeline() as begun:
            _ = begun | WriteParts(Digits(records), parts(directory, records))

    def write_rows(directory: Path) -> None:
        with pipeline() as begun:
            rows = begun | apache_beam.Create(range(records)) | apache_beam.Map(digit)
            _ = rows | WriteDataset(keyed(directory))

    yield {PLAIN: {"WriteParts": write_parts}, SHUFFLED: {"WriteDataset": write_rows}}


@contextmanager
def spark(records: int) -> Iterator[dict[str, Mapping[str, Write]]]:
    """Yield what two workers of Spark write."""
    from pyspark.sql import SparkSession
    from schemagen.runtime.engines import spark as engine

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master(f"local-cluster[{WORKERS},1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    columns = (
        "array_repeat(array_repeat(array(cast(id % 241 as smallint)), 8), 8) as image",
        "array(1L, 2L, 3L) as ink_runs",
        "array_repeat(cast(id as float), 8) as moments",
        "cast(id % 10 as int) as digit",
        "id as scan",
    )

    def write_parts(directory: Path) -> None:
        plan = parts(directory, records)
        engine.write_parts(Digits(records), plan, spark=session)

    def write_rdd(directory: Path) -> None:
        numbers = session.sparkContext.range(records, numSlices=PARTITIONS)
        engine.write_dataset(numbers.map(digit), keyed(directory))

    def write_frame(directory: Path) -> None:
        rows = session.range(records, numPartitions=PARTITIONS).selectExpr(*columns)
        engine.write_dataset(rows, keyed(directory))

    yield {
        PLAIN: {"write_parts": write_parts},
        SHUFFLED: {"an RDD of dicts": write_rdd, "a DataFrame": write_frame},
    }
    session.stop()


@contextmanager
def ray(records: int) -> Iterator[dict[str, Mapping[str, Write]]]:
    """Yield what two workers of Ray write."""
    import ray
    from schemagen.runtime.engines import ray as engine

    ray.init(num_cpus=WORKERS, object_store_memory=400 << 20, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)

    def write_parts(directory: Path) -> None:
        engine.write_parts(Digits(records), parts(directory, records))

    def write_rows(directory: Path) -> None:
        numbers = ray.data.range(records, override_num_blocks=PARTITIONS)
        rows = numbers.map(lambda row: digit(row["id"]))
        engine.write_dataset(rows, keyed(directory))

    yield {PLAIN: {"write_parts": write_parts}, SHUFFLED: {"write_dataset": write_rows}}
    ray.shutdown()


@contextmanager
def dask(records: int) -> Iterator[dict[str, Mapping[str, Write]]]:
    """Yield what two workers of Dask write."""
    from dask import bag
    from distributed import Client, LocalCluster
    from schemagen.runtime.engines import dask as engine

    def write_parts(directory: Path) -> None:
        engine.write_parts(Digits(records), parts(directory, records))

    def write_rows(directory: Path) -> None:
        numbers = bag.range(records, npartitions=PARTITIONS)
        engine.write_dataset(numbers.map(digit), keyed(directory))

    cluster = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, dashboard_address=None
    )
    with cluster, Client(cluster):
        yield {PLAIN: {"write_parts": write_parts}, SHUFFLED: {"a bag": write_rows}}


ENGINES = {"beam": beam, "spark": spark, "ray": ray, "dask": dask}


def locally(records: int, **options: Any) -> Write:
    """Return what `write_dataset` does with two workers."""

    def write(directory: Path) -> None:
        options_of = {"shards": SHARDS, "workers": WORKERS, **options}
        write_dataset(Digits(records), directory, "train", **options_of)

    return write


def check(ways: Mapping[str, Write], root: Path) -> None:
    """Compare the shards of all ways with those of the first one."""
    first: dict[str, bytes] | None = None
    for number, (name, way) in enumerate(ways.items()):
        directory = root / str(number)
        way(directory)
        files = {path.name: path.read_bytes() for path in directory.glob("train*")}
        first = first or files
        if files != first:
            sys.exit(f"{name} writes other files than write_dataset")
        shutil.rmtree(directory)


def measure(
    ways: Mapping[str, Write], rounds: int, directory: Path
) -> dict[str, tuple[float, float]]:
    """Return the medians of wall and processor seconds of each way."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for name, counts in alternating(list(ways), rounds):
        shutil.rmtree(directory, ignore_errors=True)
        wall, processor = time.perf_counter(), processor_seconds()
        ways[name](directory)
        wall = time.perf_counter() - wall
        processor = processor_seconds() - processor
        if counts:
            times[name].append((wall, processor))
    return {
        name: (
            statistics.median(wall for wall, _ in measured),
            statistics.median(processor for _, processor in measured),
        )
        for name, measured in times.items()
    }


def main() -> None:
    """Print a table in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("engine", choices=ENGINES)
    arguments.add_argument("--records", type=int, default=60_000)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    root = str(Path(__file__).parents[1])
    paths = filter(None, [root, os.environ.get("PYTHONPATH")])
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    print("| | seconds | processor seconds | ratios |")
    print("| --- | --- | --- | --- |")
    with (
        tempfile.TemporaryDirectory() as folder,
        ENGINES[given.engine](given.records) as engine,
    ):
        for order, its_ways in engine.items():
            options = KEYED if order == SHUFFLED else {}
            base = f"`write_dataset`, {order}"
            ways = {base: locally(given.records, **options)}
            for name, way in its_ways.items():
                ways[f"{given.engine}: {name}, {order}"] = way
            check(ways, Path(folder))
            medians = measure(ways, given.rounds, Path(folder) / "measured")
            for name, (wall, processor) in medians.items():
                ratios = (
                    f"{wall / medians[base][0]:.1f}, {processor / medians[base][1]:.1f}"
                )
                print(f"| {name} | {wall:.1f} | {processor:.1f} | {ratios} |")


if __name__ == "__main__":
    main()
