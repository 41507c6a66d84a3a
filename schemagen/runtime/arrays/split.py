"""A split as a sequence of records, read in any order without TensorFlow."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, overload

import numpy as np

from ..cells.columns import Rows
from ..kinds.classes import names_of
from ..records.decoder import Batch, Row
from ..records.roles import Roles
from ..shared.errors import DatasetError, warn, with_suggestion
from ..shared.options import check_flags, integer, options_by_name
from ..shared.values import shortened
from ..sources.shares import numbers_of
from .ahead import FIRST, Ahead, Work, byte_count
from .arrow import joined
from .batches import Batches, BatchReader, State, fields_text
from .collation import padded_to_limits
from .keras import dataset_of
from .mapping import Mapped, function_of
from .mixing import Stop, mixture_of
from .order import STORED, Epoch
from .packing import TooLong, packed_rows
from .views import BatchRows, LoadedRecords, Reordered, View, row_count, selected

# How many labels are read at a time.
_LABELS = 1 << 12

# How many records are read at a time where some are asked for one by one.
_RUN, _RUN_BYTES = 256, 1 << 25


class Split:
    """The records of a split; `open_split` of a generated reader returns it.

    A record is a dict by name, with None for what is missing. Several are columns:
    arrays by name, as `parse_batch` of the generated parser returns them.

    `select`, `map` and `mix` return splits again, which read nothing until they are asked.

    Args:
        view: the records.
        roles: what models take of them.
        depth: how many functions have changed the records.
    """

    def __init__(self, view: View, roles: Roles, depth: int = 0) -> None:
        self._view = view
        self._roles = roles
        self._depth = depth
        self._delivered = 0

    def __repr__(self) -> str:
        return f"Split of {len(self):,} {fields_text(self._view)}"

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self._view)

    @property
    def is_sequential(self) -> bool:
        """Whether records can only be read in order: files are compressed."""
        return self._view.is_sequential

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
            DatasetError: a record is corrupt, also with `on_corrupt="skip"`; or the files
                are compressed.
        """
        if isinstance(index, slice):
            index = range(*index.indices(len(self)))
        if np.ndim(index):
            loaded = self._read(index)
            return loaded.batch(0, len(loaded.numbers)) or {}
        self._count_delivered(1)
        _, [row] = self._read([index], _epoch_of_worker(self._view)).rows()
        return row

    def __getitems__(self, numbers: Sequence[int]) -> BatchRows:
        """Return records one by one, as PyTorch's data loaders ask for several.

        With `on_corrupt="skip"` corrupt records are left out: a batch is then smaller.
        Random numbers of functions are drawn from those of PyTorch.
        """
        epoch = _drawn_epoch() if self._view.is_random else STORED
        positions = self._positions(numbers)
        return BatchRows(self._view, self._view.numbers(positions), epoch)

    def _getitems(self, numbers: Sequence[int] | Rows) -> list[Row]:
        """Return records one by one, as Grain asks for several."""
        return self._read(numbers).rows()[1]

    def _read(self, positions: Any, epoch: Epoch = STORED) -> LoadedRecords:
        """Read records by position: none is left out, so that each stays in its place."""
        numbers = self._view.numbers(self._positions(positions))
        return self._view.read(numbers, epoch, skip=False)

    def _count_delivered(self, records: int) -> None:
        """Count records that get the random numbers of epoch 0, and warn of a second pass."""
        if not self._view.is_random:
            return
        before, self._delivered = self._delivered, self._delivered + records
        if before <= len(self) < self._delivered:
            warn(
                "records are read a second time, and the functions of map, or random of "
                "select, get the same random numbers as before: to have others in each "
                "epoch, use to_torch, "
                "to_tf, keras, batches(epoch=...) or at_epoch(...)"
            )

    def _positions(self, given: Any) -> Rows:
        """Return positions of records, counted from the beginning: int64 [N].

        Raises:
            TypeError: these are not integers.
            IndexError: a record does not exist.
        """
        found = np.asarray(given)
        if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
            raise TypeError(
                f"{shortened(given)}: expected numbers of records, as 64-bit integers; "
                "select takes masks, too"
            )
        numbers, total = found.astype(np.int64), len(self)
        wrong = found[(found < -total) | (found >= total)]
        if wrong.size:
            raise IndexError(
                f"record {wrong[0]} does not exist; there are {total:,} records"
            )
        return np.where(numbers < 0, numbers + total, numbers)

    def __iter__(self) -> Iterator[Row]:
        """Yield all records in the order in which they are stored."""
        for rows in self._view.in_order(lambda loaded: loaded.rows()[1], first=1):
            self._count_delivered(len(rows))
            yield from rows

    def _rows_at(self, positions: Iterable[int]) -> Iterator[Row]:
        """Yield records by position, several of which are read together."""
        left, records = iter(positions), 1
        while some := [*islice(left, records)]:
            rows: Iterable[Row]
            try:
                rows = found = self._read(some).rows()[1]
                records = min(
                    _RUN, max(1, _RUN_BYTES * len(found) // byte_count(found))
                )
            except DatasetError:  # raised again by the record that it is about
                rows = (self[position] for position in some)
            yield from rows

    def select(self, records: slice | Sequence[int] | Rows) -> Split:
        """Return some of the records, as a split.

        Args:
            records: a slice, a range, a list or an array of numbers, in the order in which
                they come; or an array of bools, one for each record. A number may come
                more than once.

        Raises:
            IndexError: a record does not exist.
            TypeError: `records` does not hold numbers of records.
        """
        if isinstance(records, slice):
            records = range(*records.indices(len(self)))
        chosen: range | Rows
        if isinstance(records, range) and records and min(records[0], records[-1]) >= 0:
            self._positions([records[0], records[-1]])
            chosen = records
        else:
            given = np.asarray(records)
            if given.dtype == bool:
                if given.shape != (len(self),):
                    raise IndexError(
                        f"a mask of the shape {given.shape}; there are {len(self):,} "
                        "records"
                    )
                given = np.flatnonzero(given)
            chosen = self._positions(given)
        return Split(selected(self._view, chosen), self._roles, self._depth)

    def map(self, function: Callable[..., Any], *, batched: bool = False) -> Split:
        """Return a split whose records a function changes when they are read.

        The function returns the new record, or the new columns, as a dict by name. It may
        add fields, leave some out, and change dtypes and shapes.

        With a second parameter it gets a `numpy.random.Generator`. Its numbers depend on
        `shuffle_seed`, `epoch` and the record alone: not on the batch, the number of
        readers, or whether the epoch was resumed. A record that comes several times, as
        in `balanced`, has others each time. A function of batches gets a list of
        generators, one for each record. As in `split[7]`, without an epoch, they are
        those of epoch 0; loaders of PyTorch that choose records by number draw them from
        PyTorch.

        Args:
            function: of a record, a dict by name with None for what is missing; or of the
                columns of a batch. It is called in several threads.
            batched: call it with columns.

        Raises:
            TypeError: it cannot be called.
        """
        check_flags(batched=batched)
        found = function_of(function, batched, self._depth)
        return Split(Mapped(self._view, found), self._roles, self._depth + 1)

    def at_epoch(
        self, epoch: int, *, shuffle_seed: int | None = None, block: int | None = None
    ) -> Split:
        """Return the records of an epoch in its order, as `batches` delivers them.

        Random numbers of functions are those of the epoch: for samplers, wrappers and
        frameworks that read records by number.

        Args:
            epoch: which one, from 0.
            shuffle_seed: that of `batches`; None for the order in which records are stored.
            block: that of `batches`.
        """
        if shuffle_seed is not None:
            self._view.check_random()
        view = Reordered(self._view, epoch=_epoch(shuffle_seed, epoch, block))
        return Split(view, self._roles, self._depth)

    def balanced(self, field: str) -> Split:
        """Return a split in which each class of a label comes equally often.

        Records of rarer classes come several times: each as often as any other of its
        class, or once more. Records without the label are left out. The labels are read
        once; images are not.

        Args:
            field: the name of a Label.

        Raises:
            DatasetError: the field does not exist, or it does not have one class a record.
        """
        return self.select(_balanced_positions(self._view, field))

    @options_by_name
    def batches(
        self,
        batch_size: int,
        *,
        shuffle_seed: int | None = None,
        epoch: int = 0,
        shard: tuple[int, int] = (0, 1),
        block: int | None = None,
        drop_remainder: bool = False,
        pad_to_max_length: bool = False,
        pack: Mapping[str, int] | None = None,
        too_long: TooLong = "cut",
        per_segment: Sequence[str] | None = None,
        prefetch: int | None = None,
        resume: State | None = None,
    ) -> Batches:
        """Return the batches of an epoch.

        Args:
            batch_size: records in a batch; the last one may be smaller.
            shuffle_seed: shuffle all records, in the same order for equal seeds and
                epochs on every machine; None for the order in which they are stored.
            epoch: gives each epoch an order of its own.
            shard: (index, count): read one of several shares, which differ by a record
                at most. Readers take turns in the order of the epoch: record by record,
                or with `block` by windows of sixteen blocks. With `drop_remainder` they
                have equally many batches.
            block: for slow disks and object stores: shuffle blocks of so many
                consecutive records, and the records of sixteen blocks with each
                other, so that reads are long.
            drop_remainder: leave out a last batch that is smaller.
            pad_to_max_length: pad lists to the length that the schema allows, for
                batches of one shape.
            pack: a list and the length of a row, such as {"tokens": 2048}: each row holds
                lists of several records. Batches have the list, `<name>_segments` (from 1
                in each row; 0 is padding) and `<name>_positions` (from 0 in each
                segment), int32; and the lists of its group, and those that `map` adds,
                which must be as long. Each 2,048 consecutive records of the order are packed
                together, the longest list first, into the fullest row that has room.
                Readers share rows as they share records. The lengths of all lists are
                read first, once for a split.
            too_long: of lists that are longer than a row: "cut" divides them into
                several rows, "drop" leaves them out.
            per_segment: the names of fields with one value for each record, which packed
                batches have for each segment: [rows, segments, ...]. Rows with fewer
                segments are filled with 0, "" or the padding of the field. Pieces of a
                list that was cut repeat the value.
            prefetch: how many batches threads make ahead of the loop, at most; 0 makes
                each when it is asked for, in the thread of the loop, and reads no record
                before that. None for as many as have 64 MB.
            resume: what `Batches.state` has returned: go on after those batches. The
                number of readers and the batch size may be others; what all readers have
                read is left out.

        Raises:
            DatasetError: an option is wrong, or the state is that of another epoch.
                While batches are read, or lengths for `pack`: a record is corrupt.
        """
        check_flags(drop_remainder=drop_remainder, pad_to_max_length=pad_to_max_length)
        if shuffle_seed is not None:
            self._view.check_random()
        reader = BatchReader(
            self._view,
            _epoch(shuffle_seed, epoch, block),
            *numbers_of(shard),
            batch_size=integer("batch_size", batch_size, 1),
            drop_remainder=drop_remainder,
            change=padded_to_limits(self._view.decoder) if pad_to_max_length else None,
            prefetch=None if prefetch is None else integer("prefetch", prefetch, 0),
        )
        if pack is None and per_segment is not None:
            raise DatasetError(
                "per_segment: only packed batches have segments; give pack"
            )
        if pack is not None:
            rows = packed_rows(self._view, reader.epoch, pack, too_long, per_segment)
            reader = replace(reader, view=rows, change=None, options=rows.options)
        return Batches(reader, reader.progress(resume))

    def to_torch(
        self,
        batch_size: int,
        *,
        shuffle_seed: int | None = None,
        epoch: int = 0,
        shard: tuple[int, int] | None = None,
        **options: Any,
    ) -> Any:
        """Return the batches as a `torch.utils.data.IterableDataset` of tensors.

        For `DataLoader(dataset, batch_size=None, num_workers=...)`: the workers of a loader
        take its batches in turns, so that it delivers the same ones in the same order with
        any number of them. In each worker, or without them, threads make batches ahead:
        `prefetch`.

        Each loop reads the next epoch, and one that is left early counts.
        `dataset.set_epoch(n)` names the epoch of the next loop. `len` is the number of
        batches of the next loop.

        `dataset.state_dict(after=count)` returns where the dataset is after so many batches
        of the loop, as JSON. `dataset.load_state_dict(state)` goes on there, with any number
        of ranks and workers and any batch size. `StatefulDataLoader` of torchdata calls both.

        Args:
            batch_size: records in a batch; the last one may be smaller.
            shuffle_seed: shuffle all records; None for the order in which they are stored.
            epoch: that of the first loop.
            shard: (index, count): which reader this is; None for the rank and the world
                size of `torch.distributed`, if that is initialized.
            **options: of `batches`.
        """
        from .torch import TensorBatches

        given = {"shuffle_seed": shuffle_seed, **options}
        return TensorBatches(self, self._view, batch_size, given, epoch, shard)

    def to_tf(
        self,
        batch_size: int,
        *,
        shuffle_seed: int | None = None,
        targets: bool = True,
        **options: Any,
    ) -> Any:
        """Return the batches as a `tf.data.Dataset`, for `model.fit` and loops of your own.

        Elements are (features, targets, weights) by the roles of the schema, as
        `make_dataset` delivers them; fields that a function has added are features. Each
        time that the dataset is iterated, an epoch with another order begins.

        Args:
            batch_size: records in a batch; the last one may be smaller.
            shuffle_seed: shuffle all records; None for the order in which they are stored.
            targets: False leaves out targets and weights, as `model.predict` takes them.
            **options: of `batches`.
        """
        from .tensorflow import batches_as_dataset

        roles, given = self._roles, {"shuffle_seed": shuffle_seed, **options}
        if not targets:
            roles = replace(roles, targets=(), weights=())
        return batches_as_dataset(self, self._view, roles, batch_size, given)

    def keras(
        self, batch_size: int, *, shuffle_seed: int | None = None, **options: Any
    ) -> Any:
        """Return a `keras.utils.PyDataset` for `model.fit`, on any backend of Keras.

        Elements are (inputs, targets, weights) by the roles of the schema.

        Args:
            batch_size: records in a batch; the last one may be smaller.
            shuffle_seed: shuffle all records, in another order each epoch; None for
                the order in which they are stored.
            **options: of `PyDataset`, such as `workers`, which make `max_queue_size`
                batches ahead.
        """
        self._view.check_random()
        return dataset_of(
            self._view,
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
        if numbers is not None:
            return self._read(numbers).table()
        return joined(self._view.in_order(lambda loaded: loaded.table()))


def _epoch(shuffle_seed: int | None, epoch: int, block: int | None) -> Epoch:
    """Return an epoch by options.

    Raises:
        DatasetError: one of them is wrong.
    """
    return Epoch(
        None if shuffle_seed is None else integer("shuffle_seed", shuffle_seed),
        integer("epoch", epoch, 0),
        None if block is None else integer("block", block, 1),
    )


def _drawn_epoch() -> Epoch:
    """Return an epoch whose random numbers depend on those of PyTorch."""
    from .torch import drawn_seed

    return Epoch(drawn_seed())


def _epoch_of_worker(view: View) -> Epoch:
    """Return an epoch drawn by PyTorch in a worker of its loaders, and epoch 0 elsewhere."""
    torch = sys.modules.get("torch.utils.data") if view.is_random else None
    if torch is None or torch.get_worker_info() is None:
        return STORED
    return _drawn_epoch()


def mixed(
    splits: Sequence[Split],
    weights: Sequence[float] | None,
    stop: Stop = "first",
    weights_of: str | None = None,
) -> Split:
    """Return several splits as one; arguments and errors are those of `mix`."""
    if not isinstance(splits, (list, tuple)) or not all(
        isinstance(each, Split) for each in splits
    ):
        raise TypeError("mix: expected a list of splits, such as mix([train, other])")
    view = mixture_of([each._view for each in splits], weights, stop, weights_of)
    return Split(view, splits[0]._roles, max(each._depth for each in splits))


@dataclass(frozen=True)
class _Labels:
    """Labels of some records.

    Attributes:
        kept: bool [records], which are not corrupt.
        labels: those of these.
        nbytes: how many bytes the records had, of which nothing else is kept.
    """

    kept: Any
    labels: Sequence[Any]
    nbytes: int


def _balanced_positions(view: View, field: str) -> Rows:
    """Return positions of records, in turns one of each class: int64 [N].

    Args:
        view: the records.
        field: the name of a Label.

    Raises:
        DatasetError: the label does not exist.
    """
    decoder = view.decoder
    codecs = {name: decoder.record[name] for name in decoder.fields}
    labels = [
        name
        for name, codec in codecs.items()
        if codec.of_classes and not codec.delivered.shape
    ]
    if field not in labels:
        known = f"expected one of {', '.join(labels)}"
        if not labels:
            known = "none of the fields that are read has one"
        words = f"no field {field!r} with a class for each record: {known}"
        raise DatasetError(with_suggestion(words, field, labels))
    codec = codecs[field]
    named = decoder.form.names and names_of(codec)
    missing = ("", None) if named else (-1, None)
    narrow = view.only((field,))

    def labelled(asked: Rows, loaded: LoadedRecords) -> list[_Labels]:
        kept = np.isin(asked, loaded.numbers)
        if not kept.any():  # all of them are corrupt
            return [_Labels(kept, (), 0)]
        column: Any = loaded.batch(0, len(loaded.numbers))
        if column is None or row_count(column) < np.count_nonzero(kept):
            raise DatasetError(
                f"balanced: records {asked[0]:,} to {asked[-1]:,}: the images of some are "
                "corrupt, and a function of batches does not say of which: call balanced "
                "before map"
            )
        nbytes = byte_count(column)
        for name in codec.label.split("."):
            if name not in column:
                raise DatasetError(f"balanced: no field {field!r} is left after map")
            column = column[name]
        if not isinstance(column, np.ndarray) or column.ndim != 1:
            raise DatasetError(
                f"balanced: field {field!r} is not one class of each record after map"
            )
        return [_Labels(kept, column.tolist(), nbytes)]

    work = Work(
        len(narrow),
        lambda units: narrow.numbers(np.arange(units.start, units.stop)),
        narrow.steps(),
        labelled,
        most=_LABELS,
        first=FIRST,
    )
    found = [*Ahead(work)]
    kept = np.concatenate([np.empty(0, bool), *(each.kept for each in found)])
    classes = [label for each in found for label in each.labels]
    members: dict[Any, list[int]] = {}
    for position, label in zip(np.flatnonzero(kept).tolist(), classes, strict=True):
        if label not in missing:
            members.setdefault(label, []).append(position)
    if not members:
        return np.empty(0, np.int64)
    most = max(map(len, members.values()))
    repeated = [np.resize(members[label], most) for label in sorted(members)]
    return np.stack(repeated, 1).ravel()
