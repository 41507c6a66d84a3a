"""The record that SECURITY.md warns of, which ends TensorFlow's parser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import schemagen
from digit_rows import row
from tfrecord_files import write_records

from generated import DatasetError
from generated.digit.reader import open_split
from generated.digit.serializer import serialize

# A bytes value of the key `comment` states 2^32 - 1 bytes, and has eight.
_RECORD = bytes.fromhex(
    "0a1d0a1b0a07636f6d6d656e7412100a0e0affffffff0f7878787878787878"
)

_PARSE = f"""
import tensorflow as tf
print(tf.io.parse_example(
    [bytes.fromhex("{_RECORD.hex()}")], {{"comment": tf.io.VarLenFeature(tf.string)}}
))
"""

_PAGES = ("SECURITY.md", "docs/serving.md")


def test_verify_and_open_split_refuse_the_record(tmp_path: Path) -> None:
    """So do `inspect` and `infer`, which decode as they do."""
    path = write_records(tmp_path / "hostile.tfrecord", [_RECORD])
    found = {each.rule: each for each in schemagen.verify(path).findings}
    assert "after the end of its message" in found["SG521"].examples[0].found
    path = write_records(path, [serialize(**row(0)), _RECORD])
    with pytest.raises(DatasetError, match="record 1: not a "):
        open_split(path)[1]


def test_the_record_ends_the_parser_of_tensorflow_as_the_pages_say() -> None:
    """Once this fails, TensorFlow is mended, and the pages have to say since when."""
    assert len(_RECORD) == 31
    done = subprocess.run(
        [sys.executable, "-c", _PARSE], capture_output=True, text=True, check=False
    )
    assert done.returncode < 0, done.stderr[-500:]
    root = Path(__file__).parents[2]
    for page in _PAGES:
        text = (root / page).read_text(encoding="utf-8")
        assert re.search(r"A hostile record (\| )?ends", text, re.I), page


def test_no_part_of_the_record_is_read(tmp_path: Path) -> None:
    """But for nothing at all, which is an Example without a feature."""
    parts = [_RECORD[:cut] for cut in range(len(_RECORD))]
    path = write_records(tmp_path / "parts.tfrecord", parts)
    verified = schemagen.verify(path, examples=len(parts))
    found = {each.rule: each for each in verified.findings}
    places = [place.record for place in found["SG521"].examples]
    assert places == list(range(1, len(parts)))
