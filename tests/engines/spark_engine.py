"""Spark, as the claims about all engines use it: two workers with an executor each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from engine import Engine, importable_by_workers
from pyspark.sql import SparkSession
from schemagen.runtime.engines import spark as module

# JVMs compile for seconds what runs for milliseconds.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ENVIRONMENT = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "JDK_JAVA_OPTIONS": f"{_JAVA} -XX:CICompilerCount=1",
    "PYSPARK_PYTHON": sys.executable,
}


class Spark(Engine):
    """RDDs of a session."""

    @property
    def session(self) -> SparkSession:
        """The session."""
        return self.options["spark"]

    def rows(
        self, numbers: Sequence[int], make: Callable[[int], Any], pieces: int
    ) -> Any:
        return self.session.sparkContext.parallelize(numbers, pieces).map(make)


@contextmanager
def started() -> Iterator[Spark]:
    """Start the cluster."""
    with importable_by_workers() as patch, TemporaryDirectory() as directory:
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
        yield Spark(module, spark=session)
        session.stop()
