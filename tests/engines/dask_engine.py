"""Dask, as the claims about all engines use it: two worker processes with a thread each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dask import bag
from distributed import Client, LocalCluster
from engine import Engine, importable_by_workers
from schemagen.runtime.engines import dask as module


class Dask(Engine):
    """Bags of the cluster."""

    def rows(
        self, numbers: Sequence[int], make: Callable[[int], Any], pieces: int
    ) -> Any:
        return bag.from_sequence(numbers, npartitions=pieces).map(make)


@contextmanager
def started() -> Iterator[Engine]:
    """Start the cluster; tasks find its client by themselves."""
    with (
        importable_by_workers(),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster),
    ):
        yield Dask(module)
