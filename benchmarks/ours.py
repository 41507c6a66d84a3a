"""The generated writers of the measured records."""

from __future__ import annotations

import importlib
import itertools
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import schemagen

from .shapes import Columns, Row

_SCHEMAS = Path(__file__).parent / "schemas"

# Generated packages are imported by name, and a process keeps a name for good.
_numbers = itertools.count()


class Generated:
    """The records' code, generated into a directory of its own.

    Args:
        root: an empty directory, or none yet.

    Attributes:
        root: what has to be on the path of a process that imports the code.
        package: the name of the generated package.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = f"bench_generated_{next(_numbers)}"
        shutil.copytree(_SCHEMAS, root / "schemas")
        settings = f'[tool.schemagen]\noutput = "{self.package}"\n'
        (root / "pyproject.toml").write_text(settings, encoding="utf-8")
        schemagen.generate(root)
        sys.path.insert(0, str(root))
        importlib.invalidate_caches()

    def record(self, name: str) -> Ours:
        """Return the writer of a record."""
        return Ours(self.package, name)


class Ours:
    """What is generated for writing one record.

    Attributes:
        serializer: the record's module.
    """

    def __init__(self, package: str, record: str) -> None:
        self.serializer: Any = importlib.import_module(f"{package}.{record}.serializer")
        tfrecord = importlib.import_module(f"{package}._support.tfrecord")
        features = importlib.import_module(f"{package}._support.features")
        self._frame_records = tfrecord.frame_records
        self._frame_examples = features.frame_examples

    def framed_batches(self, batches: list[Columns]) -> Iterator[Any]:
        """Yield each batch as it stands in a file."""
        for batch in batches:
            yield from self._frame_examples(self.serializer.columns_by_key(**batch))

    def framed_rows(self, rows: list[Row], at_once: int) -> Iterator[Any]:
        """Yield rows as they stand in a file, serialized one by one."""
        serialize = self.serializer.serialize
        for at in range(0, len(rows), at_once):
            yield self._frame_records(
                [serialize(**row) for row in rows[at : at + at_once]]
            )

    def write_batches(
        self, batches: list[Columns], directory: Path, shards: int | None = None
    ) -> None:
        """Write a split, a batch at a time."""
        with self.serializer.Writer(directory, "train", shards=shards) as writer:
            for batch in batches:
                writer.write_batch(**batch)

    def write_rows(self, rows: list[Row], directory: Path) -> None:
        """Write a split, a row at a time."""
        with self.serializer.Writer(directory, "train") as writer:
            for row in rows:
                writer.write(**row)
