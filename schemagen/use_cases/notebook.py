"""What notebooks call: describe, inspect and verify.

Each returns a frozen value, which a notebook shows as tables, and which `print` shows as
the command line does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..runtime.shared.tfrecord import MOST_RECORD_BYTES

if TYPE_CHECKING:
    from ..data.verify import Verification
    from ..schema.record import Record
    from ..spec.model import RecordSpec
    from .inspection import Inspection


def describe(
    record: type[Record] | str, *, project: str | os.PathLike[str] = "."
) -> RecordSpec:
    """Return the specification of a record: its fields, and how they are stored and read.

    Example:
        >>> schemagen.describe(PetPhoto)
        >>> schemagen.describe("pet_photo")

    Args:
        record: a record class, or the name of a record of the project.
        project: a directory in the project. It is used for a name only.

    Returns:
        The specification. A notebook shows it as a table of fields.

    Raises:
        SchemagenError: the schema is not valid, or the record does not exist.
        TypeError: `record` is neither a record class nor a name.
    """
    from ..schema.record import Record
    from ..spec.resolve import spec_of_class
    from . import generate

    if isinstance(record, str):
        return generate.describe(Path(project), record)[0]
    if not (isinstance(record, type) and issubclass(record, Record)):
        raise TypeError(
            f"{record!r} is neither a record class nor the name of a record; for data, "
            "call schemagen.inspect"
        )
    return spec_of_class(record)


def inspect(
    data: str | os.PathLike[str],
    split: str | None = None,
    *,
    record: type[Record] | RecordSpec | str | None = None,
    limit: int | None = None,
    workers: int | None = 1,
    max_record_bytes: int = MOST_RECORD_BYTES,
    group: str | Sequence[str] = (),
) -> Inspection:
    """Read data of any program and return statistics of its keys. No schema is needed.

    Example:
        >>> found = schemagen.inspect("data")
        >>> found.splits["train"].records
        >>> found.html("report.html")
        >>> found.to_pandas().query("measure == 'mean'")
        >>> Path("data/README.md").write_text(found.markdown())

    Args:
        data: a data directory, a glob or a file, or the URL of one.
        split: read only this split.
        record: what describes the records, as for `verify`; None for the record that the
            manifest names.
        limit: read only the first so many records of each split; None or 0 for all.
        workers: the number of processes that read. None starts one for each core if
            there is enough data. A script that uses several processes needs
            `if __name__ == "__main__":` around the call; a notebook does not.
        max_record_bytes: longer records are counted as damage and are not read.
        group: fields or keys by whose values records are grouped, such as "speaker":
            values that are in two splits are leakage.

    Returns:
        The statistics. A notebook shows tables of splits and keys, a few images, what
        differs between splits or is repeated, and what is damaged. Its `facts` are
        all that is known, and `to_pandas()` returns them as a frame. `html()` returns
        the report, or writes it to a path, and `markdown()` returns the dataset card.

    Raises:
        DatasetError: the data, the split or the group does not exist.
        SchemagenError: `record` is a class that is not valid, or no record has that name.
    """
    from ..data.sources import find_data
    from ..progress import showing
    from .inspect import read
    from .inspection import inspection_of

    with showing():
        profile, verification = read(
            find_data(data, split),
            _spec_of(record),
            limit=_limit_of(limit),
            workers=workers,
            max_record_bytes=max_record_bytes,
            groups=[group] if isinstance(group, str) else group,
        )
    return inspection_of(profile, verification)


def verify(
    data: str | os.PathLike[str],
    split: str | None = None,
    *,
    record: type[Record] | RecordSpec | str | None = None,
    limit: int | None = None,
    examples: int = 3,
    workers: int | None = 1,
    max_record_bytes: int = MOST_RECORD_BYTES,
) -> Verification:
    """Check data: framing, checksums, the manifest, and every record.

    Example:
        >>> found = schemagen.verify("data")
        >>> found.clean

    Args:
        data: a data directory, a glob or a file, or the URL of one.
        split: check only this split.
        record: a record class, the name of a record of the project in the working
            directory, or what `describe` returns, to compare the records with. None
            compares them with the record that the manifest names; without a
            manifest only framing, checksums and messages are checked.
        limit: check only the first so many records of each split; None or 0 for all.
        examples: how many places to keep of each kind of finding.
        workers: the number of processes that read. None starts one for each core if
            there is enough data. A script that uses several processes needs
            `if __name__ == "__main__":` around the call; a notebook does not.
        max_record_bytes: longer records are findings and are not read.

    Returns:
        The findings and the counts of each split. A notebook shows them as tables.

    Raises:
        DatasetError: the data or the split does not exist.
        SchemagenError: `record` is a class that is not valid, or no record has that name.
    """
    from ..data.verify import verify as verify_data
    from ..progress import Bar, showing

    with showing(), Bar("verifying") as bar:
        return verify_data(
            data,
            spec=_spec_of(record),
            split=split,
            limit=_limit_of(limit),
            examples=examples,
            workers=workers,
            max_record_bytes=max_record_bytes,
            progress=bar,
        )


def _spec_of(record: type[Record] | RecordSpec | str | None) -> RecordSpec | None:
    """Return the specification of a record; None if none is named."""
    from ..spec.model import RecordSpec

    if record is None or isinstance(record, RecordSpec):
        return record
    return describe(record)


def _limit_of(limit: int | None) -> int | None:
    """Return a limit on records; None for no limit.

    Raises:
        ValueError: it is negative.
    """
    if limit is not None and limit < 0:
        raise ValueError(f"limit={limit}: expected at least 0, or None for all records")
    return limit or None
