"""The values of a published shard, compared with its manifest and its schema."""

from __future__ import annotations

from collections.abc import Iterator

from ..runtime.codecs.base import Decoded
from ..runtime.reading.columns import Columns
from ..runtime.reading.decoding import decode
from ..runtime.shared.errors import DatasetError
from ..runtime.shared.tfrecord import extend_crc32c
from ..runtime.storage.directory import Directory
from ..runtime.storage.manifest import Shard
from ..spec.model import RecordSpec
from .framing import scan_stream
from .records import Damage
from .stream import Stream, fill_from
from .verify.record import RecordCheck

_ADVICE = "restore it from a copy, or write the split again"


def read_values(
    directory: Directory, shard: Shard, spec: RecordSpec
) -> Iterator[tuple[int, dict[str, Decoded]]]:
    """Yield the values of a shard by field, a few megabytes of records at a time.

    Args:
        directory: the data directory.
        shard: what its manifest lists.
        spec: of the records, with the fields that are wanted.

    Yields:
        The number of records, and the values of each field, by name.

    Raises:
        DatasetError: the shard is not what the manifest lists, or a record is not one
            of the schema. Names the file, the record and the field.
        OSError: the file cannot be read.
    """
    where = f"{directory.where}/{shard.file}"
    size = directory.size(shard.file)
    if size != shard.bytes:
        found = "no file" if size is None else f"{size} bytes"
        raise _differs(where, found, f"{shard.bytes} bytes")
    crc32c = records = 0

    def pieces() -> Iterator[bytes]:
        nonlocal crc32c
        for piece in directory.chunks(shard.file):
            crc32c = extend_crc32c(crc32c, piece)
            yield piece

    held = pieces()
    check = RecordCheck(spec)
    for run in scan_stream(Stream(fill_from(held)), where, size):
        if isinstance(run, Damage):
            raise DatasetError(
                f"{where}: record {run.record}: found {run.found}, expected "
                f"{run.expected}; {_ADVICE}"
            )
        decoded = _decoded(check, decode(run), where)
        records += len(run)
        yield len(run), decoded
    for _ in held:
        pass
    if f"{crc32c:08x}" != shard.crc32c:
        raise _differs(where, f"the CRC-32C {crc32c:08x}", shard.crc32c)
    if records != shard.records:
        raise _differs(where, f"{records} records", f"{shard.records} records")


def _differs(where: str, found: str, listed: str) -> DatasetError:
    return DatasetError(
        f"{where}: found {found}, expected the {listed} that the manifest lists; "
        f"{_ADVICE}"
    )


def _decoded(check: RecordCheck, columns: Columns, where: str) -> dict[str, Decoded]:
    """Return the values of records without any fault."""
    checking = check.faults(columns)
    try:
        field, fault = next(checking)
    except StopIteration as stop:
        decoded: dict[str, Decoded] = stop.value
        return decoded
    number = columns.records.numbers[fault.rows[0]]
    place = f": field {field!r}" if field else ""
    raise DatasetError(
        f"{where}: record {number}{place}: {fault.what}: found {fault.found(0)}, "
        f"expected {fault.expected}; write the split again"
    )
