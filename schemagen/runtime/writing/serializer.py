"""The functions of generated serializers that write splits.

What they do imports much that serializing does without, so it is imported when they are
called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from ..shared.errors import DatasetError, SchemaMismatchError
from ..shared.options import options_by_name
from ..shared.values import described
from ..storage.schema import Schema
from .plan import DEFAULT_SHARD_BYTES, Plan, plan_of
from .progress import Progress
from .sources import RowSource

if TYPE_CHECKING:
    from ..records.codec import RecordCodec
    from .encoding import Encoding
    from .shards import Receipt


@dataclass(frozen=True)
class Serializer:
    """A generated serializer: writes splits of its record, from one process or many.

    Generated modules offer its methods as functions.

    Attributes:
        record: the codec of the records.
        schema: the schema of the records.
        module: the name of the generated module, which other processes import.
    """

    record: RecordCodec
    schema: Schema
    module: str

    def __repr__(self) -> str:
        return f"Serializer({self.schema.record!r})"

    @options_by_name
    def write_dataset(
        self,
        source: RowSource,
        directory: str | os.PathLike[str],
        split: str,
        *,
        shards: int | None = None,
        shard_bytes: int = DEFAULT_SHARD_BYTES,
        workers: int = 1,
        shuffle_seed: int | None = None,
        key_field: str | None = None,
        compression: str | None = None,
        compression_level: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        refused: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        take_over: bool = False,
        allow_empty: bool = False,
        index: bool = True,
        resume: bool = False,
        progress: bool | Callable[[Progress], object] | None = None,
    ) -> int:
        """Write a whole split, all of it or nothing.

        Args:
            source: the rows, as dicts with the keywords of `serialize` or as instances
                of the schema's class: an iterable; a sequence, which the workers index;
                a frame of pandas or polars or a table of Arrow with a column for each
                field, where NaN, NA, NaT and null are missing values;
                or a list of functions, one per shard, each of which returns the rows
                of its shard.
            directory: the data directory, or an fsspec URL of one; created if missing.
            split: the split's name, such as "train".
            shards: the number of files; None starts a new one after `shard_bytes`.
            shard_bytes: the size of a file, before compression.
            workers: how many processes encode; the files are the same for any number.
            shuffle_seed: write all records in a random order, the same for equal
                seeds.
            key_field: with `shuffle_seed`, a field whose values, int, str or bytes,
                must be unique; the order then depends on them.
            compression: None, "GZIP", "ZLIB" or "ZSTD".
            compression_level: 1 (fast) to 9 (small), to 19 of "ZSTD"; None for 6, or 3.
            on_error: "raise" stops at a wrong row; "skip" leaves it out.
            refused: a file for the positions and errors of rows that are left out, as
                JSON lines.
            overwrite: replace the split if the directory already has it.
            take_over: end a run of another machine that has died while it wrote the split.
            allow_empty: publish the split even if it has no records.
            index: write an index next to the shards, with which `open_split` finds any
                record at once.
            resume: continue after the last finished shard of an interrupted run.
            progress: a callback, or whether to show a progress bar; None shows one on
                a terminal.

        Returns:
            The number of records written.

        Raises:
            RecordError: a value that the field cannot hold; names the row.
            TypeError: a row with a missing or an unknown field, or a source that is
                not a source of rows.
            DatasetError: the split exists, another writer is writing it, the directory
                holds other records, the source is empty, keys are not unique, or a
                worker has died.
            OSError: the file system reports an error.
        """
        from .write import write_dataset

        return write_dataset(
            source,
            self.record,
            self.schema,
            self.module,
            directory,
            split,
            shards=shards,
            shard_bytes=shard_bytes,
            workers=workers,
            shuffle_seed=shuffle_seed,
            key_field=key_field,
            compression=compression,
            compression_level=compression_level,
            on_error=on_error,
            refused=refused,
            overwrite=overwrite,
            take_over=take_over,
            allow_empty=allow_empty,
            index=index,
            resume=resume,
            progress=progress,
        )

    @options_by_name
    def plan_dataset(
        self,
        directory: str | os.PathLike[str],
        split: str,
        *,
        shards: int,
        rows: int | None = None,
        shuffle_seed: int | None = None,
        key_field: str | None = None,
        compression: str | None = None,
        compression_level: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        overwrite: bool = False,
        take_over: bool = False,
        allow_empty: bool = False,
        index: bool = True,
        run: str | None = None,
    ) -> Plan:
        """Plan the writing of a split by many processes. Nothing is read or written.

        Equal arguments give equal files, which are those of `write_dataset` with the
        same arguments.

        Args:
            directory: the data directory, or an fsspec URL of one, which all processes
                see.
            split: the split's name, such as "train".
            shards: the number of files.
            rows: the length of the source, if that has rows by index.
            shuffle_seed: write all records in a random order, the same for equal
                seeds.
            key_field: with `shuffle_seed`, a field whose values, int, str or bytes,
                must be unique; the order then depends on them. Only for engines.
            compression: None, "GZIP", "ZLIB" or "ZSTD".
            compression_level: 1 (fast) to 9 (small), to 19 of "ZSTD"; None for 6, or 3.
            on_error: "raise" stops at a wrong row; "skip" leaves it out.
            overwrite: replace the split if the directory already has it.
            take_over: end a run of another machine that has died while it wrote the split.
            allow_empty: publish the split even if it has no records.
            index: write an index next to the shards, with which `open_split` finds any
                record at once.
            run: an id that all processes of this run share, such as that of the job;
                None draws one, for a plan that one process sends to the others.

        Returns:
            The plan, a frozen value; `Plan.to_json` and `Plan.from_json` convert it.

        Raises:
            DatasetError: an argument is out of range.
        """
        if shards is None:
            raise DatasetError("shards=None: expected the number of files")
        return plan_of(
            self.schema,
            self.module,
            directory,
            split,
            run=run,
            shards=shards,
            rows=rows,
            shuffle_seed=shuffle_seed,
            key_field=key_field,
            compression=compression,
            compression_level=compression_level,
            on_error=on_error,
            overwrite=overwrite,
            take_over=take_over,
            allow_empty=allow_empty,
            index=index,
        )

    def begin(self, plan: Plan) -> None:
        """Claim the split for a run. Other runs and writers of it are then refused.

        `write_parts` does it too. Beginning again with the same plan is not an error.

        Raises:
            DatasetError: the split exists, another run or writer is writing it, or the
                directory holds other records.
            OSError: the file system reports an error.
        """
        from .begin import join

        self.check(plan)
        join(plan, self.schema)

    def write_part(self, source: RowSource, plan: Plan, shard: int) -> Receipt:
        """Write one shard, in any process, after `begin`.

        A shard that the run has written is not written again. Several processes may
        write the same shard at once. With `shuffle_seed` each call computes the keys of all rows.

        Args:
            source: the rows: a sequence, or a list of functions, one per shard.
            plan: what to write.
            shard: the number of the shard, from 0.

        Returns:
            The receipt, for `publish`. It is also kept in the directory until then.

        Raises:
            RecordError: a value that the field cannot hold; names the row.
            TypeError: a row with a missing or an unknown field.
            ChangedSourceError: the shard was written twice, with different rows.
            DatasetError: the run has not begun or has ended, or the source is not the
                one of the plan.
            OSError: the file system reports an error.
        """
        from .write import write_parts

        return write_parts(source, plan, [shard], self.encoding(plan))[0]

    def write_parts(
        self, source: RowSource, plan: Plan, *, part: tuple[int, int]
    ) -> list[Receipt]:
        """Write the shards of one process out of several, each with its own share.

        With `shuffle_seed` it computes the keys of all rows once, and takes 8 bytes of
        memory for each row of its shards.

        Args:
            source: the same in all processes, as for `write_part`.
            plan: the same in all processes.
            part: the number of the process, from 0, and how many there are.

        Returns:
            The receipts of its shards.

        Raises:
            DatasetError: as `begin` and `write_part`, or `part` is not such a pair.
            Exception: as `write_part`.
        """
        numbers = part if isinstance(part, tuple) else ()
        is_pair = len(numbers) == 2 and all(type(each) is int for each in numbers)
        if not is_pair or not 0 <= part[0] < part[1]:
            raise DatasetError(
                f"part={part!r}: expected (rank, ranks), such as (0, 2) and (1, 2) for "
                "two processes"
            )
        from .write import write_parts

        self.begin(plan)
        rank, ranks = part
        shards = plan.numbers[rank::ranks]
        return write_parts(source, plan, shards, self.encoding(plan))

    def publish(
        self,
        plan: Plan,
        receipts: Iterable[Receipt] | None = None,
        *,
        refused: str | os.PathLike[str] | None = None,
    ) -> int:
        """Publish the split, once all shards are written.

        It can be called any number of times, by any process, also at once. If it is
        interrupted, the next call completes it.

        Args:
            plan: what was written.
            receipts: of all shards, in any order, some perhaps several times; None
                reads them in the directory.
            refused: a file for the positions and errors of rows that were left out, as
                JSON lines.

        Returns:
            The number of records.

        Raises:
            ChangedSourceError: a shard was written twice, with different rows.
            DatasetError: a shard is missing, the run was begun with another plan, or it
                has not begun or was replaced.
            OSError: the file system reports an error.
        """
        from .publish import publish

        self.check(plan)
        return publish(plan, receipts, self.schema, refused)

    def abandon(self, plan: Plan) -> None:
        """Give up a run and remove what it has written. A published split stays.

        Raises:
            DatasetError: the run is being published.
            OSError: the file system reports an error.
        """
        from .publish import abandon

        self.check(plan)
        abandon(plan)

    def encoding(self, plan: Plan) -> Encoding:
        """Return how the rows of a plan become records.

        Raises:
            DatasetError: the plan's `key_field` is not a field of the record.
            Exception: as `check`.
        """
        from .encoding import encoding_of

        self.check(plan)
        return encoding_of(self.record, plan)

    def check(self, plan: Plan) -> None:
        """See that a plan is one for these records.

        Raises:
            TypeError: it is not a plan.
            SchemaMismatchError: it was made for another schema.
        """
        if not isinstance(plan, Plan):
            raise TypeError(
                f"plan is {described(plan)}, expected what plan_dataset or "
                "Plan.from_json returns"
            )
        if (self.schema.record, self.schema.fingerprint) != (
            plan.record,
            plan.fingerprint,
        ):
            raise SchemaMismatchError(
                f"{plan.where}: the plan was made for {plan.record!r} records with "
                f"fingerprint {plan.fingerprint}, and {plan.module} here has "
                f"{self.schema.record!r} with {self.schema.fingerprint}; run the same "
                "version of the code in all processes"
            )


def serializer_of(plan: Plan) -> Serializer:
    """Import the serializer that a plan names.

    Raises:
        DatasetError: this process cannot import it.
    """
    try:
        found: Serializer = import_module(plan.module).serializer
        return found
    except (ImportError, AttributeError) as error:
        raise DatasetError(
            f"{plan.where}: the serializer {plan.module!r} cannot be imported here "
            f"({error}); install the generated package on every worker, or add its "
            "directory to PYTHONPATH there"
        ) from error
