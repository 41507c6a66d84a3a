"""The record that SECURITY.md warns of, which ends TensorFlow's parser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from schemagen.runtime.reading.decoding import decode
from schemagen.runtime.reading.records import records_of

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


def test_the_core_refuses_it() -> None:
    """So do `verify`, `inspect`, `infer` and `open_split`."""
    [damage] = decode(records_of([_RECORD])).malformed
    assert "after the end of its message" in damage.reason


def test_it_ends_the_parser_of_tensorflow_as_the_pages_say() -> None:
    """Once this fails, TensorFlow is mended, and the pages have to say since when."""
    assert len(_RECORD) == 31
    done = subprocess.run(
        [sys.executable, "-c", _PARSE], capture_output=True, text=True, check=False
    )
    assert done.returncode < 0, done.stderr[-500:]
    root = Path(__file__).parents[2]
    for page in _PAGES:
        assert "A hostile record ends" in (root / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("cut", range(len(_RECORD)))
def test_no_part_of_it_is_read(cut: int) -> None:
    """But for nothing at all, which is an Example without a feature."""
    columns = decode(records_of([_RECORD[:cut]]))
    assert bool(columns.malformed) == bool(cut)
