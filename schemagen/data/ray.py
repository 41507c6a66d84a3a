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
from ..runtime.codecs.base import Codec, Decoded, Shape
from ..runtime.shared.errors import DatasetError, no_split
from ..runtime.storage import manifest
from ..runtime.storage.manifest import Manifest, Shard
from ..runtime.storage.opening import open_directory
from ..spec.model import RecordSpec
from ..spec.serial import from_data
from .shard_values import read_values


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
        DatasetError: it has no such field.
    """
    by_name = {field.name: field for field in spec.fields}
    chosen: list[FieldSpec] = []
    for name in by_name if names is None else names:
        if name not in by_name:
            raise DatasetError(
                f"{where}: split {split!r}: no field {name!r}; there are: "
                f"{', '.join(by_name)}"
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
    for records, decoded in read_values(open_directory(where), shard, spec):
        yield pa.table(
            {
                field.name: _column(field.codec, decoded[field.name], records)
                for field in spec.fields
            }
        )


def _column(codec: Codec, decoded: Decoded, records: int) -> Any:
    """Return values as an Arrow column, of a type that depends on the field alone.

    Ray cannot join blocks in which one column has several types, and tensors of Ray
    cannot be missing.
    """
    dtype, shape = codec.decoded_as
    values = decoded.values()
    if codec.is_tensor and not codec.optional:
        name = codec.name
        return BlockAccessor.batch_to_block({name: _array(values)})[name]
    if len(decoded.rows) < records:
        found = [codec.default] * records
        for row, value in zip(decoded.rows.tolist(), values, strict=True):
            found[row] = value
        values = found
    if isinstance(values, np.ndarray) and not shape:
        return pa.array(values, _arrow_type(dtype, shape))
    return pa.array(list(map(_plain, values)), _arrow_type(dtype, shape))


def _plain(value: Any) -> Any:
    """Return a value as what Arrow makes lists of."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):  # a sparse tensor
        return dict(zip(("indices", "values"), map(_plain, value), strict=True))
    return list(map(_plain, value)) if isinstance(value, list) else value


def _arrow_type(dtype: str, shape: Shape) -> Any:
    """Return the type of numbers, texts or bytes, in lists of lists."""
    if dtype.startswith("sparse "):
        values = _arrow_type(dtype.removeprefix("sparse "), (None,))
        indices = _arrow_type("int64", (None, None))
        return pa.struct({"indices": indices, "values": values})
    named = {"string": pa.string(), "bytes": pa.binary(), "bfloat16": pa.float32()}
    found = named.get(dtype) or pa.from_numpy_dtype(np.dtype(dtype))
    for _ in shape:
        found = pa.list_(found)
    return found


def _array(values: Any) -> Any:
    """Return tensors as one array; of objects, if their shapes may vary."""
    if isinstance(values, np.ndarray):
        # Arrow has no bfloat16.
        return values if values.dtype.kind != "V" else values.astype(np.float32)
    found = np.empty(len(values), object)
    for at, value in enumerate(values):
        found[at] = value if value.dtype.kind != "V" else value.astype(np.float32)
    return found
