"""Ray, as the claims about all engines use it: two nodes with a processor each."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster
from schemagen.runtime.engines import ray as module

ROOT = Path(__file__).parents[2]
_MEMORY = 100 << 20


class Engine:
    """Datasets of the cluster."""

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
        items = [{"number": number} for number in numbers or [0]]
        dataset = ray.data.from_items(items, override_num_blocks=pieces)
        if not numbers:
            dataset = dataset.filter(lambda row: False)
        rows = dataset.map(lambda row: make(row["number"]))
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
    """Start the cluster."""
    with pytest.MonkeyPatch.context() as patch:
        paths = (str(ROOT), str(Path(__file__).parent))
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        node = {"num_cpus": 1, "object_store_memory": _MEMORY}
        cluster = Cluster(initialize_head=True, head_node_args=node)
        cluster.add_node(**node)
        ray.init(address=cluster.address, logging_level=logging.WARNING)
        ray.data.DataContext.get_current().enable_progress_bars = False
        try:
            yield Engine()
        finally:
            ray.shutdown()
            cluster.shutdown()
