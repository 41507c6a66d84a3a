"""Ray, as the claims about all engines use it: two nodes with a processor each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ray
from engine import Engine, importable_by_workers
from ray.cluster_utils import Cluster
from schemagen.runtime.engines import ray as module

_MEMORY = 100 << 20


class Ray(Engine):
    """Datasets of the cluster."""

    def rows(
        self, numbers: Sequence[int], make: Callable[[int], Any], pieces: int
    ) -> Any:
        items = [{"number": number} for number in numbers or [0]]
        dataset = ray.data.from_items(items, override_num_blocks=pieces)
        if not numbers:
            dataset = dataset.filter(lambda row: False)
        return dataset.map(lambda row: make(row["number"]))


@contextmanager
def started() -> Iterator[Engine]:
    """Start the cluster."""
    with importable_by_workers():
        node = {"num_cpus": 1, "object_store_memory": _MEMORY}
        cluster = Cluster(initialize_head=True, head_node_args=node)
        cluster.add_node(**node)
        ray.init(address=cluster.address, logging_level=logging.WARNING)
        ray.data.DataContext.get_current().enable_progress_bars = False
        try:
            yield Ray(module)
        finally:
            ray.shutdown()
            cluster.shutdown()
