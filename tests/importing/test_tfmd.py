"""Imports of TensorFlow Metadata's schemas."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from schemagen.interop.imports import import_schema
from schemagen.interop.imports.tfmd import import_tfmd
from schemagen.interop.imports.tfmd_mapping import DERIVED, STRUCT, TABLE
from schemagen.interop.imports.tfmd_mapping import PRESENCE as SAID_OF_ANY

from .sources import example, feature, parsers_of, refusal

HERE = Path(__file__).parent
EVERY = HERE / "every.pbtxt"
PACKAGE = "imported_from_tfmd"

REFUSED = """
feature { name: "inner" type: STRUCT struct_domain { feature { name: "x" type: INT } } }
feature { name: "lists" type: INT value_counts { value_count { min: 1 } } }
feature { name: "sum" type: INT lifecycle_stage: VALIDATION_DERIVED }
feature { name: "good" type: INT }
"""


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The parser that comes of a schema with everything in it."""
    root = tmp_path_factory.mktemp("tfmd")
    with parsers_of(root, PACKAGE, "tfmd", {"trip": EVERY}) as found:
        yield found["trip"]


NEEDED = {
    "fare": feature(7.5),
    "grid": feature(1, 2, 3, 4),
    "three": feature(0.5, 1.5, 2.5),
    "some": feature(1, 2),
    "many": feature(1, 2, 3),
    "points": feature(1.0, 2.0, 3.0, 4.0),
    "blob": feature(b"?"),
    "text": feature(b"a trip"),
    "payment": feature(b"Credit Card"),
    "paid": feature(1),
    "month": feature(12),
    "row_values": feature(1, 2, 3),
    "row_lengths": feature(2, 0, 1),
}
FULL = {
    "tip": feature(0.5),
    "link": feature(b"a:b"),
    "colour": feature(b"blue"),
    "answer": feature(b"yes"),
    "share": feature(0.25),
    "target": feature(3),
    "at": feature(5, 98),
    "value": feature(0.5, 1.5),
    "amount": feature(1.0, 2.0),
    "weight": feature(0.5, 0.25),
    "usual": feature(8),
}


def parsed(parser: Any, *parts: dict[str, tf.train.Feature]) -> dict[str, Any]:
    """Return one record, parsed."""
    features = {name: value for part in parts for name, value in part.items()}
    found: dict[str, Any] = parser.parse_batch(tf.constant([example(features)]))
    return found


def test_generated_code_parses_data_of_the_schema(parser: Any) -> None:
    """Values are what the features hold, whatever they have become."""
    found = parsed(parser, NEEDED, FULL)
    assert found["fare"].numpy().tolist() == [7.5]
    assert found["grid"].numpy().tolist() == [[[1, 2], [3, 4]]]
    assert found["three"].numpy().tolist() == [[0.5, 1.5, 2.5]]
    assert found["points"].numpy().tolist() == [[[1.0, 2.0], [3.0, 4.0]]]
    assert found["text"].numpy().tolist() == [b"a trip"]
    assert found["payment"].numpy().tolist() == [1]  # the second of the domain
    assert found["colour"].numpy().tolist() == [1]
    assert found["answer"].numpy().tolist() == [1]
    assert found["paid"].numpy().tolist() == [True]
    assert found["month"].numpy().tolist() == [11]  # counted from 0
    assert found["rows"].to_list() == [[[1, 2], [], [3]]]
    assert found["usual"].numpy().tolist() == [8]
    dense = tf.sparse.to_dense(found["thin"]).numpy()[0]
    assert (dense[5], dense[98], dense.shape) == (0.5, 1.5, (100,))
    assert found["amount"].numpy().tolist() == [[1.0, 2.0]]


def test_what_need_not_be_there_may_be_missing(parser: Any) -> None:
    """Presence, environments and stages make fields optional."""
    found = parsed(parser, NEEDED)
    assert found["usual"].numpy().tolist() == [7]
    assert found["target_present"].numpy().tolist() == [False]
    assert found["colour"].numpy().tolist() == [-1]


def test_the_schema_reads_like_one_of_a_person(tmp_path: Path) -> None:
    """Domains are types, comments docstrings, and what nothing checks is doubtful."""
    text = import_schema(str(EVERY), "tfmd", tmp_path / "trip.py").text
    assert 'class Trip(Record):\n    """One trip."""' in text
    assert '    fare: float\n    """In dollars."""' in text
    assert "    # doubt: from 0.0 to 1.0\n    share: float | None = None\n" in text
    assert "    # doubt: only in TRAINING\n    target: int | None = None\n" in text
    assert "    # doubt: its stage is PLANNED\n" in text
    assert "    # doubt: not kept: skew_comparator\n" in text
    assert "    # doubt: at least 2 values\n    many: list[int]\n" in text
    assert "one of 'Acme'" in text
    assert 'VarLen("float32", group="amounts")' in text


def test_every_row_of_the_table_is_met(tmp_path: Path) -> None:
    """Each row is the outcome of a feature."""
    (tmp_path / "refused.pbtxt").write_text(REFUSED)
    outcomes = [
        *import_tfmd(str(EVERY)).outcomes,
        *import_tfmd(str(tmp_path / "refused.pbtxt")).outcomes,
    ]
    assert {outcome.row for outcome in outcomes} | {SAID_OF_ANY} == set(TABLE)


def test_what_an_example_does_not_hold_is_refused(tmp_path: Path) -> None:
    """Structs, lists of lists and what is calculated, all at once."""
    (tmp_path / "schema.pbtxt").write_text(REFUSED)
    text = refusal(tmp_path / "schema.pbtxt", "tfmd", tmp_path)
    assert text.count("SG462") == 3
    assert f"SG462 inner: {STRUCT.becomes}" in text
    assert f"SG462 lists: {STRUCT.becomes}" in text
    assert f"SG462 sum: {DERIVED.becomes}" in text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"feature { nam: 3 }", "it is no schema of TensorFlow Metadata"),
        (b"\xff\xfe", "it is no text"),
    ],
)
def test_other_files_are_told_apart(data: bytes, message: str, tmp_path: Path) -> None:
    """The finding has the words of the parser of the text format."""
    (tmp_path / "schema.pbtxt").write_bytes(data)
    text = refusal(tmp_path / "schema.pbtxt", "tfmd", tmp_path)
    assert f"SG461 it cannot be imported: {message}" in text


def test_without_tensorflow_metadata_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "tensorflow_metadata.proto.v0", None)
    text = refusal(EVERY, "tfmd", tmp_path)
    assert "SG407" in text
    assert 'pip install "schemagen[tfmd]"' in text
