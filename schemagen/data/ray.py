"""Reading splits as Ray datasets, with one read task for each shard."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import ray
from ray.data import Dataset, Datasource, ReadTask
from ray.data.block import BlockAccessor, BlockMetadata

from ..runtime.arrays.arrow import column_of
from ..runtime.arrays.shards import ShardView
from ..runtime.cells.decoded import Form
from ..runtime.kinds.kind import Kind
from ..runtime.records.codec import RecordCodec
from ..runtime.records.decoder import DecodedRun, Decoder
from ..runtime.records.groups import has_length
from ..runtime.shared.errors import DatasetError, no_split
from ..runtime.sources.opening import open_shards
from ..runtime.sources.shards import File, Shards, found
from ..runtime.storage import manifest
from ..runtime.storage.directory import open_directory
from ..spec.serial import from_data


def read_dataset(
    directory: str | os.PathLike[str],
    split: str,
    *,
    fields: Sequence[str] | None = None,
    **options: Any,
) -> Dataset:
    """Return a split as a Ray dataset with a column for each field.

    The manifest says what the split holds and how it is parsed. While a task reads a
    shard, it compares every record with its checksum and with the schema that wrote it.

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
        DatasetError: the directory has no such split or field. When the dataset is
            read: a shard is not what the manifest lists, or a record is not one of the
            schema.
    """
    opened = open_directory(directory)
    where = opened.where if opened.local is None else str(opened.local.absolute())
    found = manifest.load(opened)
    if found is None:
        raise DatasetError(
            f"{where}/{manifest.FILE_NAME}: missing; expected the data directory of a "
            "published split"
        )
    if split not in found.splits:
        raise DatasetError(f"{where}: {no_split(split, found.splits)}")
    spec = from_data(found.spec_of(split))
    record = RecordCodec(
        {each.label: each.codec for each in spec.fields}, message=spec.message
    )
    for name in fields or ():
        if name not in record.fields:
            raise DatasetError(
                f"{where}: split {split!r}: no field {name!r}; there are: "
                f"{', '.join(record.fields)}"
            )
    chosen = tuple(record.fields if fields is None else fields)
    decoder = Decoder(record, chosen, Form(), "list")
    shards = open_shards(where, split, found.spec_of(split))
    source = _Splits(found.record, shards, decoder)
    return ray.data.read_datasource(source, **options)


class _Splits(Datasource):  # type: ignore[misc]
    """The shards of a split, as Ray asks for them.

    Args:
        record: the record's name.
        shards: the shards.
        decoder: how their records are decoded.
    """

    def __init__(self, record: str, shards: Shards, decoder: Decoder) -> None:
        super().__init__()
        self._record = record
        self._shards = shards
        self._decoder = decoder

    def get_name(self) -> str:
        return f"Schemagen({self._record})"

    def estimate_inmemory_data_size(self) -> int:
        return sum(self._shards.sizes)

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: Any = None,
    ) -> list[ReadTask]:
        return [self._task(file, per_task_row_limit) for file in self._shards.files]

    def _task(self, file: File, limit: int | None) -> ReadTask:
        metadata = BlockMetadata(
            num_rows=file.records,
            size_bytes=file.size,
            input_files=[file.path],
            exec_stats=None,
        )
        shards, decoder = replace(self._shards, files=(file,)), self._decoder

        def blocks() -> Iterator[Any]:
            # Opened where it is read: machines may number the files of a mount
            # differently.
            opened = replace(shards, files=found(shards.files))
            return map(_block, ShardView(opened, decoder).runs())

        return ReadTask(blocks, metadata, per_task_row_limit=limit)


def _block(run: DecodedRun) -> Any:
    """Return records as a table; tensors of Ray cannot be missing."""
    columns = {}
    for name, codec, decoded in run.fields():
        if _is_tensor(codec) and not codec.optional:
            array = {name: _array(decoded.values())}
            columns[name] = BlockAccessor.batch_to_block(array)[name]
        else:
            columns[name] = column_of(codec, decoded, len(run.numbers))
    return pa.table(columns)


def _is_tensor(codec: Kind) -> bool:
    """Return whether decoded values are arrays with more than a list's dimension."""
    dtype, shape = codec.delivered.decoded
    listed = has_length(codec) and (len(shape) == 1 or None in shape[1:])
    strings = dtype in ("string", "bytes")
    return bool(shape) and not (strings or listed or codec.of_classes)


def _array(values: Any) -> Any:
    """Return tensors as one array; of objects, if their shapes may vary."""
    if isinstance(values, np.ndarray):
        # Arrow has no bfloat16.
        return values if values.dtype.kind != "V" else values.astype(np.float32)
    found = np.empty(len(values), object)
    for at, value in enumerate(values):
        found[at] = _array(value)
    return found
