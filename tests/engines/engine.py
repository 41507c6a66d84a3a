"""What the claims about all engines ask of one, and what most engines have in common."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from schemagen.runtime.engines import steps

from generated.digit import serializer

_TESTS = Path(__file__).parents[1]

WORKERS = os.pathsep.join(map(str, (_TESTS.parent, _TESTS, _TESTS / "engines")))
"""The PYTHONPATH of workers, which import generated code and the sources of these tests."""


class Engine:
    """An engine that is at work.

    Attributes:
        module: its functions `write_dataset` and `write_parts`.
        options: of `write_parts`.
        publisher: the module whose function `publish` it calls.
        replaces_workers: whether it starts another worker for one that was killed.
    """

    module: Any
    options: dict[str, Any]
    publisher: Any = steps
    replaces_workers = True

    def __init__(self, module: Any = None, **options: Any) -> None:
        self.module = module
        self.options = options

    def rows(
        self, numbers: Sequence[int], make: Callable[[int], Any], pieces: int
    ) -> Any:
        """Return the rows that a function makes of numbers, in partitions."""
        raise NotImplementedError

    def write_rows(
        self,
        numbers: Sequence[int],
        plan: Any,
        make: Callable[[int], Any],
        *,
        pieces: int = 2,
        kills: bool = False,
        **options: Any,
    ) -> int | None:
        """Write the rows that a function makes of numbers; it may kill its process."""
        rows = self.rows(numbers, make, pieces)
        written: int = self.module.write_dataset(rows, plan, **options)
        return written

    def write_source(
        self, source: Any, plan: Any, *, kills: bool = False, **options: Any
    ) -> int | None:
        """Write the rows of a source, which may kill its process."""
        written: int = self.module.write_parts(source, plan, **self.options, **options)
        return written


class Plain(Engine):
    """`write_part` for each shard, without an engine, the last shard first."""

    publisher = serializer
    replaces_workers = False

    def write_source(
        self, source: Any, plan: Any, *, kills: bool = False, **options: Any
    ) -> int:
        serializer.begin(plan)
        shards = range(plan.shards)[::-1]
        write = partial(serializer.write_part, source, plan)
        if kills:
            with ProcessPoolExecutor(2) as pool:
                receipts = list(pool.map(write, shards))
        else:
            receipts = list(map(write, shards))
        return serializer.publish(plan, receipts, **options)


@contextmanager
def importable_by_workers() -> Iterator[pytest.MonkeyPatch]:
    """Let workers that start meanwhile import what these tests do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", WORKERS)
        yield patch
