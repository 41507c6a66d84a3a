"""Dask, as the claims about all engines use it: two worker processes with a thread each."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dask import bag
from distributed import Client, LocalCluster
from schemagen.runtime.engines import dask as module

ROOT = Path(__file__).parents[2]


class Engine:
    """Bags of the cluster."""

    replaces_workers = True

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
        rows = bag.from_sequence(numbers, npartitions=pieces).map(make)
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
        return module.write_parts(source, plan, refused=refused)


@contextmanager
def started() -> Iterator[Engine]:
    """Start the cluster; tasks find its client by themselves."""
    with pytest.MonkeyPatch.context() as patch:
        paths = (str(ROOT), str(Path(__file__).parent))
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        with (
            LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster),
        ):
            yield Engine()
