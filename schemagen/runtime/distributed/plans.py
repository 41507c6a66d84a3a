"""The plan of a split that many processes write: all that its bytes depend on, as JSON."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from importlib import import_module
from typing import Any, Self

from ..shared.calling import check_flags
from ..shared.errors import DatasetError, SchemaMismatchError
from ..shared.values import described
from ..storage.schema import Schema
from ..writing.encoding import Encoding
from ..writing.plan import (
    DEFAULT_SHARD_BYTES,
    Packing,
    check_destination,
    check_keys,
    check_refusing,
    check_sharding,
    packing_of,
    shard_name,
)

_FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """What to write, for every process that takes part. A frozen value, also as JSON.

    Attributes:
        directory: the data directory, a path or an fsspec URL that all of them see.
        split: the split's name.
        shards: the number of files.
        run: the run's id; runs with the same id belong together.
        module: the generated module that has the serializer.
        record: the record's name.
        fingerprint: of the record's schema.
        rows: the number of rows of a source with an index; None for other sources.
        compression: None, "GZIP" or "ZLIB".
        compression_level: 1 (fast) to 9 (small); None for 6.
        shuffle_seed: write the records in a random order; None keeps the source's.
        key_field: a field whose values are unique; the random order depends on them.
        on_error: "raise" stops at a wrong row; "skip" leaves it out.
        overwrite: replace the split if the directory already has it.
        allow_empty: publish the split even if it has no records.
        index: write an index next to the shards.
    """

    directory: str
    split: str
    shards: int
    run: str
    module: str
    record: str
    fingerprint: str
    rows: int | None = None
    compression: str | None = None
    compression_level: int | None = None
    shuffle_seed: int | None = None
    key_field: str | None = None
    on_error: str = "raise"
    overwrite: bool = False
    allow_empty: bool = False
    index: bool = True

    def __str__(self) -> str:
        return f"run {self.run!r} of split {self.split!r}"

    @property
    def where(self) -> str:
        """What errors begin with."""
        return f"{self.directory}: {self}"

    @property
    def token(self) -> str:
        """Twelve hexadecimal digits, which hidden files of the run have in their names."""
        return blake2b(self.run.encode(), digest_size=6).hexdigest()

    @property
    def packing(self) -> Packing:
        """How shards are stored."""
        return packing_of(self.compression, self.compression_level, open_shards=1)

    def shard_name(self, shard: int) -> str:
        """Return the name that a shard's file gets."""
        return shard_name(self.split, shard, self.shards, self.compression or "")

    def to_json(self) -> str:
        """Return the plan as JSON."""
        return json.dumps(self.to_entries(), sort_keys=True)

    def to_entries(self) -> dict[str, Any]:
        """Return the plan as a JSON object."""
        return {"format": _FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a plan.

        Raises:
            DatasetError: it is not the JSON of a plan.
        """
        try:
            entries = json.loads(text)
        except ValueError as error:
            raise DatasetError(f"the plan is not JSON: {error}") from None
        return cls.from_entries(entries)

    @classmethod
    def from_entries(cls, entries: Any) -> Self:
        """Return the plan of a JSON object.

        Raises:
            DatasetError: it is not that of a plan.
        """
        if not isinstance(entries, dict) or entries.get("format") != _FORMAT:
            raise DatasetError(
                f"expected a plan of format {_FORMAT}, as Plan.to_json returns it"
            )
        names = {field.name for field in fields(cls)}
        if set(entries) != names | {"format"}:
            different = sorted(set(entries) ^ (names | {"format"}))
            raise DatasetError(f"the plan has other entries than expected: {different}")
        return cls(**{name: entries[name] for name in names})


def plan_of(
    schema: Schema,
    module: str,
    directory: str | os.PathLike[str],
    split: str,
    *,
    run: str | None,
    **options: Any,
) -> Plan:
    """Return a plan; arguments and errors are those of `plan_dataset`."""
    check_destination(directory, split)
    flags = {name: options[name] for name in ("overwrite", "allow_empty", "index")}
    check_flags(**flags)
    options |= {name: bool(flag) for name, flag in flags.items()}  # not numpy's
    if run is not None and (
        not isinstance(run, str) or not run.isprintable() or not run
    ):
        raise DatasetError(
            f"run={run!r}: expected an id, as text, such as the id of the job"
        )
    plan = Plan(
        directory=os.fspath(directory),
        split=split,
        run=uuid.uuid4().hex[:12] if run is None else run,
        module=module,
        record=schema.record,
        fingerprint=schema.fingerprint,
        **options,
    )
    if plan.shards is None:
        raise DatasetError("shards=None: expected the number of files")
    check_sharding(plan.shards, DEFAULT_SHARD_BYTES)
    check_refusing(plan.on_error, None)
    for name in ("rows", "shuffle_seed"):
        value = getattr(plan, name)
        if value is not None and type(value) is not int:
            raise DatasetError(f"{name}={value!r}: expected an integer, or None")
    if plan.rows is not None and plan.rows < 0:
        raise DatasetError(f"rows={plan.rows}: expected the length of the source")
    check_keys(plan.key_field, plan.shuffle_seed)
    _ = plan.packing
    return plan


@dataclass(frozen=True)
class Serializer:
    """The part of a generated `serializer.py` that writing needs.

    Attributes:
        serialize: from keywords to a serialized record.
        schema: the schema of the records.
    """

    serialize: Callable[..., bytes]
    schema: Schema

    def encoding(self, plan: Plan) -> Encoding:
        """Return how rows become records; errors are those of `check`."""
        self.check(plan)
        return Encoding(
            self.serialize,
            plan.on_error == "skip",
            plan.key_field,
            plan.shuffle_seed or 0,
        )

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
        module = import_module(plan.module)
        return Serializer(module.serialize, module.Writer.schema)
    except (ImportError, AttributeError) as error:
        raise DatasetError(
            f"{plan.where}: the serializer {plan.module!r} cannot be imported here "
            f"({error}); install the generated package on every worker, or add its "
            "directory to PYTHONPATH there"
        ) from error
