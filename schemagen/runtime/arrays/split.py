"""A split as a sequence of records, read in any order without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np

from ..codecs.decoder import Batch, Row
from ..codecs.roles import Roles
from ..reading.columns import Rows
from ..shared.calling import integer
from .arrow import joined, table_of
from .batches import Batches, State, batches_of
from .keras import dataset_of
from .sequence import refuse_compressed
from .source import RecordSource

# How many records are read at a time where all are asked for one by one.
_RUN = 256


class Split:
    """The records of a split; `open_split` of a generated reader returns it.

    A record is a dict by name, with None for what is missing. Several are columns:
    arrays by name, as `parse_batch` of the generated parser returns them.

    Args:
        source: where the records are, and how they are decoded.
        roles: what models take of them.
    """

    def __init__(self, source: RecordSource, roles: Roles) -> None:
        self._source = source
        self._roles = roles

    def __repr__(self) -> str:
        names = ", ".join(self._source.decoder.fields)
        return f"<split of {len(self):,} records: {names}>"

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self._source)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice | Sequence[int]) -> Batch: ...

    def __getitem__(self, index: Any) -> Any:
        """Return a record, or several as columns.

        Args:
            index: a number, counted from the end if negative; or a slice, or a list or
                an array of numbers: the records come in its order.

        Raises:
            IndexError: the record does not exist.
            DatasetError: a record is corrupt, or the files are compressed.
        """
        if isinstance(index, slice):
            index = range(*index.indices(len(self)))
        if np.ndim(index):
            return self._source.read(self._numbers(index), self._source.decoder.batch)
        return self._source.row(int(self._numbers([index])[0]))

    def __getitems__(self, numbers: Sequence[int]) -> BatchRows:
        """Return the rows of a batch, as PyTorch's data loaders ask for them."""
        return BatchRows(self[numbers])

    def _getitems(self, numbers: Sequence[int] | Rows) -> list[Row]:
        """Return records one by one, as Grain asks for several."""
        return self._source.read(self._numbers(numbers), self._source.decoder.rows)

    def _numbers(self, given: Any) -> Rows:
        """Return numbers of records, counted from the beginning: int64 [N].

        Raises:
            TypeError: these are not integers.
            IndexError: a record does not exist.
        """
        found = np.asarray(given)
        if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
            raise TypeError(f"{given!r}: expected numbers of records")
        numbers, total = found.astype(np.int64), len(self)
        wrong = numbers[(numbers < -total) | (numbers >= total)]
        if wrong.size:
            raise IndexError(f"record {wrong[0]} was asked for; there are {total:,}")
        return np.where(numbers < 0, numbers + total, numbers)

    def __iter__(self) -> Iterator[Row]:
        """Yield all records in the order in which they are stored."""
        decode = self._source.decoder.rows
        return chain.from_iterable(self._source.in_order(_RUN, decode))

    def batches(
        self,
        batch_size: int,
        *,
        shuffle_seed: int | None = None,
        epoch: int = 0,
        shard: tuple[int, int] = (0, 1),
        block: int | None = None,
        drop_remainder: bool = False,
        resume: State | None = None,
    ) -> Batches:
        """Return the batches of an epoch.

        Args:
            batch_size: records in a batch; the last one may be smaller.
            shuffle_seed: shuffle all records, in the same order for equal seeds and
                epochs on every machine; None for the order in which they are stored.
            epoch: gives each epoch an order of its own.
            shard: (index, count): read one of several parts, which differ by a record
                at most. With `drop_remainder` they have equally many batches.
            block: for slow disks and object stores: shuffle blocks of so many
                consecutive records, and the records of sixteen blocks with each
                other, so that reads are long.
            drop_remainder: leave out a last batch that is smaller.
            resume: what `Batches.state` has returned: go on after those batches.

        Raises:
            DatasetError: an option is wrong, or the state is that of other batches.
                While batches are read: a record is corrupt.
        """
        if shuffle_seed is not None:
            refuse_compressed(self._source.files)
        return batches_of(
            self._source,
            batch_size,
            shuffle_seed=shuffle_seed,
            epoch=epoch,
            shard=shard,
            block=block,
            drop_remainder=drop_remainder,
            resume=resume,
        )

    def keras(
        self, batch_size: int, *, shuffle_seed: int | None = None, **options: Any
    ) -> Any:
        """Return a `keras.utils.PyDataset` for `model.fit`, on any backend of Keras.

        Elements are (inputs, targets, weights) by the roles of the schema.

        Args:
            batch_size: records in a batch; the last one may be smaller.
            shuffle_seed: shuffle all records, in another order each epoch; None for
                the order in which they are stored.
            **options: of `PyDataset`, such as `workers`.
        """
        refuse_compressed(self._source.files)
        return dataset_of(
            self.__getitem__,
            len(self),
            self._source.decoder.record,
            self._roles,
            integer("batch_size", batch_size, 1),
            None if shuffle_seed is None else integer("shuffle_seed", shuffle_seed),
            **options,
        )

    def to_arrow(self, numbers: Sequence[int] | None = None) -> Any:
        """Return records as a `pyarrow.Table`, for pandas and others.

        Encoded images are bytes, tensors are nested lists, and labels are int64 from 0, or
        names with `class_names=True`. Missing values are the field's default or null.

        Args:
            numbers: of the records; None for all.
        """
        if numbers is None:
            return joined(map(table_of, self._source.runs()))
        chosen = self._numbers(numbers)
        return table_of(self._source.read(chosen, self._source.decoder.run))


class BatchRows(Sequence[Row]):
    """The rows of a batch, of which `collate` of `arrays.torch` takes the columns.

    They are padded as the batch is, and `<name>_present` tells what is there.

    Args:
        columns: the batch.
    """

    def __init__(self, columns: Batch) -> None:
        self.columns = columns

    def __len__(self) -> int:
        first = next(iter(self.columns.values()))
        return len(BatchRows(first)) if isinstance(first, dict) else len(first)

    def __getitem__(self, row: Any) -> Any:
        return {
            name: BatchRows(column)[row] if isinstance(column, dict) else column[row]
            for name, column in self.columns.items()
        }
