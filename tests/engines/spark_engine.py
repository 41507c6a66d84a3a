"""Spark, as the claims about all engines use it: two workers with an executor each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pyspark.sql import SparkSession
from schemagen.runtime.engines import spark as module

ROOT = Path(__file__).parents[2]

# JVMs compile for seconds what runs for milliseconds.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ENVIRONMENT = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "JDK_JAVA_OPTIONS": f"{_JAVA} -XX:CICompilerCount=1",
    "PYSPARK_PYTHON": sys.executable,
    # For executors, which import the serializer and the sources of these tests.
    "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'engines'}",
}


class Engine:
    """RDDs of a session."""

    replaces_workers = True

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    def write_rows(
        self,
        numbers: Sequence[int],
        plan: Any,
        make: Callable[[int], Any],
        *,
        pieces: int = 2,
        refused: Path | None = None,
        kills: bool = False,
    ) -> int:
        """Write the rows that a function makes of numbers."""
        rows = self.session.sparkContext.parallelize(numbers, pieces).map(make)
        return module.write_dataset(rows, plan, refused=refused)

    def write_source(
        self,
        source: Any,
        plan: Any,
        *,
        refused: Path | None = None,
        kills: bool = False,
    ) -> int:
        """Write the rows of a source."""
        return module.write_parts(source, plan, spark=self.session, refused=refused)


@contextmanager
def started() -> Iterator[Engine]:
    """Start the cluster."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as directory:
        for name, value in _ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.chdir(directory)  # workers make folders here
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.executor.extraJavaOptions", _JAVA)
            # Tasks fail for good, and files of a killed executor are lost, without delay.
            .config("spark.task.maxFailures", "2")
            .config("spark.shuffle.io.maxRetries", "1")
            .config("spark.shuffle.io.retryWait", "1s")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield Engine(session)
        session.stop()
