"""Apache Beam, as the claims about all engines use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from engine import Engine, importable_by_workers
from schemagen.runtime.engines.beam import WriteDataset, WriteParts

BUNDLES = ("BundleBasedDirectRunner",)
MEMORY = ("FnApiRunner",)
PROCESSES = (
    "FnApiRunner",
    "--direct_running_mode=multi_processing",
    "--direct_num_workers=2",
)


def pipeline(runner: tuple[str, ...]) -> beam.Pipeline:
    name, *flags = runner
    return beam.Pipeline(runner=name, options=PipelineOptions(flags))


class Beam(Engine):
    """Pipelines in this process, or in processes where some may be killed."""

    replaces_workers = False

    def write_rows(
        self,
        numbers: Sequence[int],
        plan: Any,
        make: Callable[[int], Any],
        *,
        pieces: int = 2,
        kills: bool = False,
        **options: Any,
    ) -> None:
        runner = PROCESSES if kills else MEMORY if pieces > 1 else BUNDLES
        with pipeline(runner) as steps:
            given = steps | beam.Create(numbers)
            if pieces > 2:
                given |= beam.Reshuffle()
            _ = given | beam.Map(make) | WriteDataset(plan, **options)

    def write_source(
        self, source: Any, plan: Any, *, kills: bool = False, **options: Any
    ) -> None:
        with pipeline(PROCESSES if kills else MEMORY) as steps:
            _ = steps | WriteParts(source, plan, **options)


@contextmanager
def started() -> Iterator[Engine]:
    """Nothing has to start."""
    with importable_by_workers():
        yield Beam()
