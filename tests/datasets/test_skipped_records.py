"""Records that cannot be parsed are left out, whatever fields a record has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tfrecord_files import write_records

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated

from schemagen import Record, Scalar, Text


class Plain(Record):
    number: Annotated[int, Scalar("int64")]
    text: Annotated[str, Text()]
"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_records_without_checks_of_their_own_are_left_out(
    package: Workspace, tmp_path: Path
) -> None:
    """Nothing but TensorFlow's own parsing refuses these."""
    serialize = package.module("plain", "serializer").serialize
    good = [serialize(number=number, text="some") for number in range(3)]
    path = tmp_path / "some.tfrecord"
    write_records(path, [good[0], b"junk", good[1], b"", b"\x0a\xff", good[2]])
    make_dataset = package.module("plain", "pipeline").make_dataset
    dataset = make_dataset(path, batch_size=2, on_corrupt="skip")
    assert [n for batch in dataset for n in batch["number"].numpy().tolist()] == [
        0,
        1,
        2,
    ]
