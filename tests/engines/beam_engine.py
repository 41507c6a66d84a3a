"""Apache Beam, as the claims about all engines use it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from schemagen.runtime.engines.beam import WriteDataset, WriteParts

ROOT = Path(__file__).parents[2]

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


class Engine:
    """Pipelines in this process, or in processes where some may be killed."""

    replaces_workers = False

    def write_rows(
        self,
        numbers: Sequence[int],
        plan: Any,
        make: Callable[[int], Any],
        *,
        pieces: int = 2,
        refused: Path | None = None,
        kills: bool = False,
    ) -> None:
        """Write the rows that a function makes of numbers."""
        with pipeline(
            PROCESSES if kills else MEMORY if pieces > 1 else BUNDLES
        ) as steps:
            given = steps | beam.Create(numbers)
            if pieces > 2:
                given |= beam.Reshuffle()
            _ = given | beam.Map(make) | WriteDataset(plan, refused=refused)

    def write_source(
        self,
        source: Any,
        plan: Any,
        *,
        refused: Path | None = None,
        kills: bool = False,
    ) -> None:
        """Write the rows of a source."""
        with pipeline(PROCESSES if kills else MEMORY) as steps:
            _ = steps | WriteParts(source, plan, refused=refused)


@contextmanager
def started() -> Iterator[Engine]:
    """Let worker processes import the generated code and the sources of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        paths = (str(ROOT), str(Path(__file__).parent))
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        yield Engine()
