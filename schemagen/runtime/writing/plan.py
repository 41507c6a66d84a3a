"""The plan of a split: what to write, checked before anything is touched.

A plan has all options on which the split depends, and the names of the run's files.
"""

from __future__ import annotations

import json
import os
import re
import resource
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from ..native import crc32c
from ..shared.compression import COMPRESSIONS, SUFFIX_PATTERN, one_of, suffix_of
from ..shared.errors import DatasetError
from ..shared.options import RaiseOrSkip, check_choice, check_flags
from ..shared.values import described, shortened
from ..storage.directory import is_remote, path_of
from ..storage.schema import Schema

if TYPE_CHECKING:
    from ..storage.directory import Directory

DEFAULT_SHARD_BYTES = 128 * 1024 * 1024

_FORMAT = 1

_SPLIT_NAME = re.compile(r"\w[\w.]*(-[\w.]+)*", re.ASCII)
_MOST_SHARDS = 100_000

# File systems take names of 255 bytes; a shard's has this and some more.
_LONGEST_SPLIT = 150

_FLAGS = ("overwrite", "take_over", "allow_empty", "index")

# What a run opens next to its shards: locks, manifest, index, receipts, the source's files.
_OTHER_FILES = 16

# Names that files of other splits have.
_TAKEN = re.compile(r"manifest|.*-\d{5,}-of(-\d{5,})?", re.ASCII)


# A run's token, and what `Files.replace` adds to a name while it writes.
_TOKEN = "[0-9a-f]{12}"
_BEING_REPLACED = rf"\.{_TOKEN}\.tmp"


@dataclass(frozen=True)
class Plan:
    """What to write, for every process that takes part. A frozen value, also as JSON.

    Attributes:
        directory: the data directory, or an fsspec URL of one, which all processes see.
        split: the split's name, such as "train".
        shards: the number of files; None if it follows from their size.
        run: the run's id; runs with the same id belong together.
        module: the generated module that has the serializer.
        record: the record's name.
        fingerprint: of the record's schema.
        rows: the length of the source, if that has rows by index.
        shard_bytes: the size of a file, where their number follows from it.
        compression: a name of `COMPRESSIONS`; None for files that are not compressed.
        compression_level: one of its levels; None for the usual one.
        shuffle_seed: write all records in a random order, the same for equal seeds.
        key_field: with `shuffle_seed`, a field whose values, int, str or bytes, must be
            unique; the order then depends on them. Only for engines.
        on_error: "raise" stops at a wrong row; "skip" leaves it out.
        overwrite: replace the split if the directory already has it.
        take_over: end a run of another machine that has died while it wrote the split.
        allow_empty: publish the split even if it has no records.
        index: write an index next to the shards, with which `open_split` finds any
            record at once.
    """

    directory: str
    split: str
    shards: int | None
    run: str
    module: str
    record: str
    fingerprint: str
    rows: int | None = None
    shard_bytes: int = DEFAULT_SHARD_BYTES
    compression: str | None = None
    compression_level: int | None = None
    shuffle_seed: int | None = None
    key_field: str | None = None
    on_error: str = "raise"
    overwrite: bool = False
    take_over: bool = False
    allow_empty: bool = False
    index: bool = True

    def __str__(self) -> str:
        return f"run {self.run!r} of split {self.split!r}"

    @property
    def where(self) -> str:
        """What errors begin with."""
        return f"{self.directory}: {self}"

    @cached_property
    def token(self) -> str:
        """Twelve hexadecimal digits, which hidden files of the run have in their names."""
        return blake2b(self.run.encode(), digest_size=6).hexdigest()

    @property
    def numbers(self) -> range:
        """The numbers of the shards, where it is known how many there are."""
        return range(self.shards or 0)

    def shard_name(self, shard: int, shards: int) -> str:
        """Return the name of one of so many shards, such as `train-00000-of-00008.tfrecord`."""
        suffix = suffix_of(self.compression or "")
        return f"{self.split}-{shard:05d}-of-{shards:05d}.tfrecord{suffix}"

    def file_name(self, shard: int, attempt: str) -> str:
        """Return the name under which a process writes a shard.

        On this machine it is hidden until the split is published. In a remote directory,
        where renaming is copying and a request may arrive late, a shard keeps its name,
        which no other run and no other attempt has.

        Args:
            shard: its number.
            attempt: twelve hexadecimal digits of the process that writes it, since several
                may write one shard at the same time.
        """
        token = f"{self.token}{attempt}"
        if not is_remote(self.directory):
            return f".{self.split}-{shard:05d}.{token}.tmp"
        total = f"-of-{self.shards:05d}" if self.shards else ""  # else not known yet
        suffix = suffix_of(self.compression or "")
        return f"{self.split}-{shard:05d}{total}.{token}.tfrecord{suffix}"

    def published_name(self, file: str, shard: int, shards: int) -> str:
        """Return the name that a shard has once it is published.

        Args:
            file: the name under which it was written.
            shard: its number.
            shards: how many there are.
        """
        return self.shard_name(shard, shards) if file.startswith(".") else file

    def receipt_name(self, shard: int) -> str:
        """Return the name of the file with a shard's receipt."""
        return f".{self.split}-{shard:05d}.{self.token}.receipt"

    @property
    def claim_name(self) -> str:
        """The name of the file with which the run claims the split."""
        return claim_name(self.split, self.token)

    @property
    def lock_name(self) -> str:
        """The name of the split's lock, which a run of one process holds."""
        return lock_name(self.split)

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

    def differences(self, begun: Plan, names: Iterable[str], now: str) -> str:
        """Say in which options this plan differs from the one that a run has begun with.

        Args:
            begun: the other plan.
            names: of the options.
            now: what to call this plan.
        """
        return ", ".join(
            f"{name}={getattr(begun, name)!r} ({now} {getattr(self, name)!r})"
            for name in names
            if getattr(begun, name) != getattr(self, name)
        )


BYTES = (
    *("record", "fingerprint", "rows", "shards", "shard_bytes", "shuffle_seed"),
    *("key_field", "on_error", "compression", "compression_level"),
)
"""The options on which the bytes of shards depend."""


def plan_of(
    schema: Schema,
    module: str,
    directory: str | os.PathLike[str],
    split: str,
    *,
    run: str | None = None,
    **options: Any,
) -> Plan:
    """Return a plan.

    Args:
        schema: of the records.
        module: the generated module that has the serializer.
        directory: the data directory.
        split: the split's name.
        run: the run's id; None draws one.
        options: as the attributes of `Plan`.

    Raises:
        TypeError: the directory or the split is of another type, such as rows.
        DatasetError: an argument is out of range; says what is expected.
    """
    check_destination(directory, split)
    flags = {name: options[name] for name in _FLAGS}
    check_flags(**flags)
    options |= {name: bool(flag) for name, flag in flags.items()}  # not numpy's
    if run is not None and (
        not isinstance(run, str) or not run.isprintable() or not run
    ):
        raise DatasetError(
            f"run={run!r}: expected an id, as text, such as the id of the job"
        )
    plan = Plan(
        directory=path_of(directory),
        split=split,
        run=uuid.uuid4().hex[:12] if run is None else run,
        module=module,
        record=schema.record,
        fingerprint=schema.fingerprint,
        **options,
    )
    _check_sharding(plan)
    check_choice("on_error", plan.on_error, RaiseOrSkip)
    for name in ("rows", "shuffle_seed"):
        value = getattr(plan, name)
        if value is not None and not _is_int(value):
            raise DatasetError(f"{name}={value!r}: expected an integer, or None")
    if plan.rows is not None and plan.rows < 0:
        raise DatasetError(f"rows={plan.rows}: expected the length of the source")
    if plan.key_field is not None and plan.shuffle_seed is None:
        raise DatasetError(
            f"key_field={plan.key_field!r} without shuffle_seed: keys are compared while "
            "shuffling; pass shuffle_seed too"
        )
    _check_packing(plan.compression, plan.compression_level)
    return plan


def check_destination(directory: object, split: object) -> None:
    """Refuse what does not say where a split goes.

    Args:
        directory: a path or a URL.
        split: its name.

    Raises:
        TypeError: an argument is of another type, such as rows.
        DatasetError: not a name of a split; says which names are.
    """
    if not isinstance(directory, (str, os.PathLike)):
        raise TypeError(
            f"directory is {described(directory)}, expected a path or a URL"
        )
    if not isinstance(split, str):
        raise TypeError(f"split is {described(split)}, expected a name, as text")
    if not _SPLIT_NAME.fullmatch(split):
        raise DatasetError(
            f"split {shortened(split)}: expected letters, digits, '_', '.' and inner '-'"
        )
    if len(split) > _LONGEST_SPLIT:
        raise DatasetError(
            f"split {shortened(split)}: expected at most {_LONGEST_SPLIT} characters"
        )
    if _TAKEN.fullmatch(split):
        raise DatasetError(
            f"split {split!r}: expected another name, since files of the directory have "
            "names like this"
        )


def _check_sharding(plan: Plan) -> None:
    shards, size = plan.shards, plan.shard_bytes
    if shards is not None and not (_is_int(shards) and 1 <= shards <= _MOST_SHARDS):
        raise DatasetError(f"shards={shards!r}: expected 1 to {_MOST_SHARDS}, or None")
    if not _is_int(size) or size < 1:
        raise DatasetError(f"shard_bytes={size!r}: expected an integer from 1")
    if shards is not None and size != DEFAULT_SHARD_BYTES:
        raise DatasetError(
            f"shard_bytes={size} and shards={shards}: expected one of them, the number "
            "of files or their size"
        )


def _check_packing(compression: str | None, level: int | None) -> None:
    names = one_of(map(repr, COMPRESSIONS))
    if compression not in (None, *COMPRESSIONS):
        raise DatasetError(f"compression={compression!r}: expected None, {names}")
    if level is None:
        return
    if compression is None:
        raise DatasetError(
            f"compression_level={level!r} without compression: pass "
            f"compression={names} with it"
        )
    levels = COMPRESSIONS[compression].levels
    if not (_is_int(level) and level in levels):
        raise DatasetError(
            f"compression_level={level!r}: expected {levels[0]} to {levels[-1]}, or None"
        )


def check_open_shards(plan: Plan, open_shards: int) -> None:
    """Refuse more shards at a time than this process may have files open.

    Args:
        plan: of a split whose shards are written in turn.
        open_shards: how many are open at a time.

    Raises:
        DatasetError: says what to do.
    """
    if is_remote(plan.directory):
        return  # remote files have no descriptors
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        used = len(os.listdir("/dev/fd"))
    except OSError:
        used = 0
    free = limit - used - _OTHER_FILES
    if limit != resource.RLIM_INFINITY and open_shards > free:
        raise DatasetError(
            f"shards={open_shards}: an iterable and a Writer keep all shards open to the "
            f"end, and this process may open {max(free, 0)} more files (its limit is "
            f"{limit}); raise the limit with `ulimit -n`, pass rows that have a length "
            "and an index, pass shard_bytes= instead of shards=, or ask for fewer shards"
        )


def check_workers(workers: object) -> None:
    """Refuse an invalid number of processes.

    Raises:
        DatasetError: naming the range.
    """
    if not _is_int(workers) or workers < 1:
        raise DatasetError(f"workers={workers!r}: expected an integer from 1")


def _is_int(value: object) -> TypeGuard[int]:
    """Tell an integer from True, which equals 1, and from floats and text."""
    return type(value) is int


def claim_name(split: str, token: str) -> str:
    """Return the name of the file with which a run claims a split."""
    return f".{split}.run.{token}"


def lock_name(split: str) -> str:
    """Return the name of a split's lock."""
    return f".{split}.lock"


def shard_files(names: Iterable[str], split: str) -> set[str]:
    """Return those of a directory's files that are named as shards of a split."""
    split = re.escape(split)
    pattern = re.compile(
        rf"(?:{split}-\d{{5,}}-of-\d{{5,}}|{_of_run(split)})"
        rf"\.tfrecord({SUFFIX_PATTERN})?"
    )
    return set(filter(pattern.fullmatch, names))


def _of_run(split: str) -> str:
    """Return a pattern of the beginnings of `Plan.file_name` in remote directories."""
    return rf"{split}-\d{{5,}}(?:-of-\d{{5,}})?\.({_TOKEN}){_TOKEN}"


def run_files(names: Iterable[str], split: str) -> dict[str, str]:
    """Return those of a directory's files that runs of a split have written.

    In remote directories shards are among them, those of published splits too.

    Returns:
        The token of the run by the file's name; "" where the name has none.
    """
    split = re.escape(split)
    pattern = re.compile(
        rf"\.{split}(?:-\d{{5,}}\.({_TOKEN})[0-9a-f]*\.(?:tmp|receipt)"
        rf"|\.run\.({_TOKEN}))(?:{_BEING_REPLACED})?"
        rf"|\.{split}\.[0-9a-f]{{8}}(?:\.{_TOKEN})?\.index{_BEING_REPLACED}"
        rf"|{_of_run(split)}\.tfrecord(?:{SUFFIX_PATTERN})?"
    )
    found = {name: pattern.fullmatch(name) for name in names}
    return {
        name: next(filter(None, match.groups()), "")
        for name, match in found.items()
        if match
    }


def shards_of_runs(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the shards of remote directories whose names say which run has written them.

    Returns:
        The split and the token of the run, by the file's name.
    """
    pattern = re.compile(rf"{_of_run('(.+?)')}\.tfrecord(?:{SUFFIX_PATTERN})?")
    found = {name: pattern.fullmatch(name) for name in names}
    return {name: (match[1], match[2]) for name, match in found.items() if match}


def receipts_in(names: Iterable[str], split: str, token: str) -> list[int]:
    """Return the shards of which a directory has receipts of a run."""
    pattern = re.compile(rf"\.{re.escape(split)}-(\d{{5,}})\.{token}\.receipt")
    return [int(match[1]) for match in map(pattern.fullmatch, names) if match]


def bucket_folder(directory: Directory, split: str, token: str) -> Path:
    """Return where a run may put a split's records in order, on this machine."""
    where, prefix = _place_of_buckets(directory, split)
    return where / f"{prefix}.{token}.shuffle"


def bucket_folders(directory: Directory, split: str) -> list[Path]:
    """Return what runs have left on this machine of putting a split in order."""
    where, prefix = _place_of_buckets(directory, split)
    pattern = re.compile(rf"{re.escape(prefix)}(\.{_TOKEN})?\.shuffle")
    found = where.iterdir() if where.is_dir() else ()
    return [path for path in found if pattern.fullmatch(path.name)]


def _place_of_buckets(directory: Directory, split: str) -> tuple[Path, str]:
    if directory.local is not None:
        return directory.local, f".{split}"
    import tempfile  # seldom needed, and slow to import

    tag = f"{crc32c(directory.where.encode()):08x}"
    return Path(tempfile.gettempdir()), f"schemagen-{tag}-{split}"
