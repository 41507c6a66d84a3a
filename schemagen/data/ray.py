"""Reading splits as Ray datasets, with one read task for each shard."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import ray
from ray.data import Dataset, Datasource, ReadTask
from ray.data.block import BlockAccessor, BlockMetadata

from ..kinds.field import FieldSpec
from ..runtime.shared.errors import DatasetError, no_split
from ..runtime.storage import manifest
from ..runtime.storage.manifest import Manifest, Shard
from ..runtime.storage.opening import open_directory
from ..spec.model import RecordSpec
from ..spec.serial import from_data
from .field_values import Layout, Values, layout_of, unreadable, values_of
from .shard_columns import read_columns


def read_dataset(
    directory: str | os.PathLike[str],
    split: str,
    *,
    fields: Sequence[str] | None = None,
    **options: Any,
) -> Dataset:
    """Return a split as a Ray dataset with a column for each field.

    The manifest says what the split holds and how it is parsed. While a task reads a
    shard, it compares the size, the checksums and the number of records with the
    manifest, and every value with the schema that wrote it.

    Args:
        directory: the data directory, or an fsspec URL of one, which all workers see.
        split: the split's name.
        fields: the names of fields to read; None for all.
        **options: of `ray.data.read_datasource`, such as `concurrency`.

    Returns:
        A dataset. Encoded images are bytes, class ids are int64 from 0. Tensors are
        arrays, or nested lists where they are optional; sequences are lists. Missing
        values are the field's default or None.

    Raises:
        DatasetError: the directory has no such split or field, or a field is of a kind
            that this function does not read. When the dataset is read: a shard is not
            what the manifest lists, or a record is not one of the schema.
    """
    opened = open_directory(directory)
    where = opened.where if opened.local is None else str(opened.local.absolute())
    found = manifest.load(opened)
    if found is None:
        raise DatasetError(
            f"{where}/{manifest.FILE_NAME}: missing; expected the data directory of a "
            "published split"
        )
    spec = _selected(where, split, _spec_of(where, found, split), fields)
    source = _Splits(where, found.splits[split].shards, spec)
    return ray.data.read_datasource(source, **options)


def _spec_of(where: str, found: Manifest, split: str) -> RecordSpec:
    if split not in found.splits:
        raise DatasetError(f"{where}: {no_split(split, found.splits)}")
    try:
        return from_data(found.spec_of(split))
    except ValueError as error:
        raise DatasetError(
            f"{where}/{manifest.FILE_NAME}: the spec of split {split!r} cannot be read "
            f"({error}); install the version of schemagen that wrote the data"
        ) from error


def _selected(
    where: str, split: str, spec: RecordSpec, names: Iterable[str] | None
) -> RecordSpec:
    """Return a spec with those fields that are read.

    Raises:
        DatasetError: it has no such field, or one that cannot be read.
    """
    by_name = {field.name: field for field in spec.fields}
    chosen: list[FieldSpec] = []
    for name in by_name if names is None else names:
        if name not in by_name:
            raise DatasetError(
                f"{where}: split {split!r}: no field {name!r}; there are: "
                f"{', '.join(by_name)}"
            )
        why = unreadable(by_name[name])
        if why:
            raise DatasetError(
                f"{where}: split {split!r}: field {name!r}: read_dataset does not read "
                f"{why}; name the other fields with fields=[...], or read the split "
                "with make_dataset"
            )
        chosen.append(by_name[name])
    return replace(spec, fields=tuple(chosen))


class _Splits(Datasource):  # type: ignore[misc]
    """The shards of a split, as Ray asks for them.

    Args:
        where: the directory.
        shards: what the manifest lists.
        spec: with the fields that are read.
    """

    def __init__(self, where: str, shards: Sequence[Shard], spec: RecordSpec) -> None:
        super().__init__()
        self._where = where
        self._shards = shards
        self._spec = spec

    def get_name(self) -> str:
        return f"Schemagen({self._spec.record})"

    def estimate_inmemory_data_size(self) -> int:
        return sum(shard.bytes for shard in self._shards)

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: Any = None,
    ) -> list[ReadTask]:
        return [self._task(shard, per_task_row_limit) for shard in self._shards]

    def _task(self, shard: Shard, limit: int | None) -> ReadTask:
        where, spec = self._where, self._spec
        metadata = BlockMetadata(
            num_rows=shard.records,
            size_bytes=shard.bytes,
            input_files=[f"{where}/{shard.file}"],
            exec_stats=None,
        )
        return ReadTask(
            lambda: _blocks(where, shard, spec), metadata, per_task_row_limit=limit
        )


def _blocks(where: str, shard: Shard, spec: RecordSpec) -> Iterator[Any]:
    for columns in read_columns(open_directory(where), shard, spec):
        yield pa.table(
            {
                field.name: _column(field, values_of(field, columns))
                for field in spec.fields
            }
        )


def _column(field: FieldSpec, values: Values) -> Any:
    """Return values as an Arrow column, of a type that depends on the field alone.

    Ray cannot join blocks in which one column has several types, and tensors of Ray
    cannot be missing.
    """
    layout = layout_of(field)
    if layout.is_tensor and not field.optional:
        return BlockAccessor.batch_to_block({field.name: _array(values)})[field.name]
    if isinstance(values, np.ndarray) and not layout.rank:
        return pa.array(values, _arrow_type(layout))
    listed = [
        each.tolist() if layout.rank > 1 and each is not None else each
        for each in values
    ]
    return pa.array(listed, _arrow_type(layout))


def _arrow_type(layout: Layout) -> Any:
    """Return the type of numbers, texts or bytes, in lists of lists."""
    named = {"string": pa.string(), "bytes": pa.binary()}
    found = named.get(layout.dtype) or pa.from_numpy_dtype(np.dtype(layout.dtype))
    for _ in range(layout.rank):
        found = pa.list_(found)
    return found


def _array(values: Values) -> Any:
    """Return tensors as one array; of objects, if their shapes may vary."""
    if isinstance(values, np.ndarray):
        return values
    found = np.empty(len(values), object)
    for at, value in enumerate(values):
        found[at] = value
    return found
