"""Rows that come one by one are encoded together, and no one can tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import contents, row, rows
from schemagen.runtime.shared.errors import RecordError
from schemagen.runtime.shared.tfrecord import read_records
from schemagen.runtime.writing.encoding import Encoding, encode_rows

from generated.digit.serializer import serialize, write_dataset

_COUNT = 3000


def _reusing() -> Iterator[dict[str, Any]]:
    """Give the same dict, array and list again and again, with other values."""
    given = row(0)
    given["moments"] = np.zeros(8, np.float32)
    for number in range(_COUNT):
        values = row(number)
        given["image"][:] = values["image"]
        given["ink_runs"][:] = values["ink_runs"]
        given["moments"][:] = values["moments"]
        given["digit"], given["scan"] = values["digit"], values["scan"]
        yield given


def test_a_source_may_use_the_memory_of_a_row_again(tmp_path: Path) -> None:
    """As loops that fill an array do."""
    write_dataset(_reusing(), tmp_path / "reused", "train", shards=2)
    write_dataset(iter(rows(_COUNT)), tmp_path / "new", "train", shards=2)
    assert contents(tmp_path / "reused") == contents(tmp_path / "new")


def test_the_first_of_several_wrong_rows_is_named(tmp_path: Path) -> None:
    """A wrong value is found later than a wrong name, and came first."""
    some = rows(900)
    some[700]["digit"] = 10
    some[702]["unknown"] = 1
    some[701]["scan"] = 0.5
    with pytest.raises(RecordError, match=r"row 700.*digit"):
        write_dataset(iter(some), tmp_path, "train")
    del some[700]["digit"]
    with pytest.raises(TypeError, match=r"row 700.*digit"):
        write_dataset(iter(some), tmp_path, "train")


def test_rows_before_a_wrong_one_are_encoded() -> None:
    """All of them, in their order; and the wrong ones are left out if that is asked for."""
    some = rows(40)
    some[25]["scan"] = "x"
    some[26]["scan"] = None
    chunks = encode_rows(some, Encoding(serialize))
    first = next(chunks)
    assert first.rows.tolist() == [*range(25)]
    assert first.next_row == 25
    with pytest.raises(RecordError, match="row 25"):
        next(chunks)
    [chunk] = encode_rows(some, Encoding(serialize, skip=True))
    assert chunk.rows.tolist() == [*range(25), *range(27, 40)]
    assert [each.row for each in chunk.refused] == [25, 26]
    assert bytes(chunk.framed.data) == b"".join(
        bytes(each.framed.data)
        for at in (*range(25), *range(27, 40))
        for each in encode_rows(some[at : at + 1], Encoding(serialize))
    )


class _Array:
    """An array of another library."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)


def test_values_that_cannot_be_copied_are_encoded_at_once(tmp_path: Path) -> None:
    """Among others, in the order of rows."""
    some = rows(50)
    for number in range(0, 50, 7):
        some[number]["moments"] = _Array(some[number]["moments"])
    write_dataset(iter(some), tmp_path, "train", shards=1)
    [path] = tmp_path.glob("*.tfrecord")
    expected = [serialize(**each) for each in rows(50)]
    assert list(read_records(path)) == expected


def test_other_functions_than_generated_ones_are_called_for_each_row() -> None:
    """Also where they change what the generated one returns."""

    def longer(**fields: Any) -> bytes:
        return serialize(**fields) + b"\x7a\x00"

    [chunk] = encode_rows(rows(5), Encoding(longer))
    expected = [serialize(**each) + b"\x7a\x00" for each in rows(5)]
    data, ends = bytes(chunk.framed.data), chunk.framed.ends.tolist()
    starts = [0, *ends[:-1]]
    found = [data[a + 12 : b - 4] for a, b in zip(starts, ends, strict=True)]
    assert found == expected


def test_keys_are_those_of_the_rows_that_were_given() -> None:
    """Not of what the source has put there since."""
    encoding = Encoding(serialize, key_field="scan", seed=3)
    chunks = list(encode_rows(_reusing(), encoding))
    again = list(encode_rows(rows(_COUNT), encoding))
    for found, expected in zip(chunks, again, strict=True):
        assert found.keys is not None
        np.testing.assert_array_equal(found.keys, expected.keys)
