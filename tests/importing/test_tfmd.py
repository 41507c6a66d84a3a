"""Imports of TensorFlow Metadata's schemas."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from .sources import declared, example, feature, imported, parsers_of, refusals

HERE = Path(__file__).parent
EVERY = HERE / "every.pbtxt"
PACKAGE = "imported_from_tfmd"


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
    "share": feature(0.25),
    "target": feature(3),
    "at": feature(5, 98),
    "value": feature(0.5, 1.5),
    "usual": feature(8),
}


def parsed(parser: Any, *parts: dict[str, tf.train.Feature]) -> dict[str, Any]:
    """Return the values of one record, parsed."""
    features = {name: value for part in parts for name, value in part.items()}
    found = parser.parse_batch(tf.constant([example(features)]))
    found["thin"] = tf.sparse.to_dense(found["thin"])
    return {
        name: (value.to_list() if name == "rows" else value.numpy().tolist())[0]
        for name, value in found.items()
    }


def test_generated_code_parses_data_of_the_schema(parser: Any) -> None:
    """Values are what the features hold, whatever they have become."""
    found = parsed(parser, NEEDED, FULL)
    thin = found.pop("thin")
    assert (thin[5], thin[98], len(thin)) == (0.5, 1.5, 100)
    expected = {
        **{"fare": 7.5, "text": b"a trip", "paid": True, "usual": 8},
        **{"grid": [[1, 2], [3, 4]], "three": [0.5, 1.5, 2.5]},
        **{"points": [[1.0, 2.0], [3.0, 4.0]], "rows": [[1, 2], [], [3]]},
        # By their place in the domain; months are counted from 0.
        **{"payment": 1, "colour": 1, "month": 11},
    }
    assert found.items() >= expected.items()


def test_what_need_not_be_there_may_be_missing(parser: Any) -> None:
    """Presence, environments and stages make fields optional."""
    expected = {"usual": 7, "target_present": False, "colour": -1}
    assert parsed(parser, NEEDED).items() >= expected.items()


LABEL = "Label(classes={}, stored='text', role='input')"
FIELDS = {
    "fare": "float",
    "grid": "Annotated[np.ndarray, Vector((2, 2), dtype='int64')]",
    "three": "Annotated[np.ndarray, Vector((3,))]",
    "tip": "float | None = None",
    "some": "Annotated[list[int], VarLen('int64', max_length=4)]",
    "many": "list[int]",
    "points": "Annotated[np.ndarray, VarLen('float32', item_shape=(2,))]",
    "blob": "bytes",
    "text": "str",
    "link": "list[str] | None = None",
    "photo": "Annotated[bytes | None, Image((None, None, 3), encoding='any')] = None",
    "payment": f"Annotated[str, {LABEL.format(('Cash', 'Credit Card'))}]",
    "colour": f"Annotated[str | None, {LABEL.format(('red', 'blue'))}] = None",
    "tags": "list[str] | None = None",
    "company": "str | None = None",
    "paid": "bool",
    "month": "Annotated[int, Label(num_classes=12, offset=1, role='input')]",
    "share": "float | None = None",
    "target": "int | None = None",
    "idea": "int | None = None",
    "watched": "int | None = None",
    "usual": "int = 7",
    "grouped": "list[int] | None = None",
    "thin": "Annotated[dict[int, float] | None, "
    "Sparse((100,), index_key='at', key='value')] = None",
    "rows": "Annotated[list[list[int]], "
    "Ragged('int64', row_lengths_key='row_lengths', key='row_values')]",
}
DOUBTS = {
    "many": "min: 2",
    "blob": "bytes",
    "link": "url_domain",
    "photo": "size",
    "tags": 'value: "a" value: "b"',
    "company": "min_domain_mass: 0.9",
    "share": "min: 0.0 max: 1.0",
    "target": "SERVING",
    "idea": "PLANNED",
    "watched": "skew_comparator",
}


def test_each_feature_becomes_the_field_of_a_person(tmp_path: Path) -> None:
    """Domains are types, comments docstrings, and what nothing checks is doubtful."""
    done = imported(EVERY, "tfmd", tmp_path / "trip.py")
    assert 'class Trip(Record):\n    """One trip."""' in done.text
    assert '    fare: float\n    """In dollars."""' in done.text
    assert declared(done.text) == {f"Trip.{n}": words for n, words in FIELDS.items()}
    doubts = done.doubts
    assert doubts.keys() == DOUBTS.keys()
    for part, words in DOUBTS.items():
        assert words in doubts[part], part


# A feature, what it becomes, and a word of its doubt.
LONE = [
    ("type: INT deprecated: true shape { }", "int", "deprecated"),
    ("type: INT shape { } int_domain { min: 1 max: 9 }", "int", "min: 1 max: 9"),
    ("type: INT shape { } int_domain { max: 9 is_categorical: true }", "int", "max: 9"),
    ("type: INT shape { } time_domain { }", "int", "time"),
    ("type: INT shape { } int_domain { }", "int", ""),
    ("type: FLOAT shape { } float_domain { disallow_nan: true }", "float", ""),
    ("type: BYTES shape { } time_domain { string_format: '%Y' }", "str", "%Y"),
    ("type: BYTES shape { } string_domain { value: 'a' value: '' }", "str", '""'),
    ("type: BYTES shape { } bool_domain { }", "bytes", "bool_domain"),
    ("type: BYTES image_domain { }", "list[bytes]", "image_domain"),
    ("type: BYTES shape { } mid_domain { }", "str", "mid_domain"),
    ("type: INT shape { dim { size: 2 } dim { } }", "list[int]", "(2, -1)"),
    ("type: INT shape { } in_environment: 'X'", "int", '"X"'),
    ("type: INT shape { } group_presence { }", "int", "group_presence"),
    ("type: INT shape { } lifecycle_stage: BETA", "int", "BETA"),
    ("type: FLOAT shape { dim { size: 1 } }", "float", ""),
]


@pytest.mark.parametrize(("words", "becomes", "doubt"), LONE)
def test_a_feature_that_is_alone_becomes_a_field(
    words: str, becomes: str, doubt: str, tmp_path: Path
) -> None:
    """It is optional, as no presence is asked for."""
    source = tmp_path / "schema.pbtxt"
    source.write_text(f"feature {{ name: 'a' {words} }}")
    done = imported(source, "tfmd", tmp_path / "x.py")
    (field,) = declared(done.text).values()
    assert becomes in field
    assert field.endswith(" = None")
    assert [doubt in remark for remark in done.doubts.values()] == [True] * bool(doubt)


REFUSED = """
feature { name: "inner" type: STRUCT struct_domain { feature { name: "x" type: INT } } }
feature { name: "lists" type: INT value_counts { value_count { min: 1 } } }
feature { name: "unsaid" }
weighted_feature { name: "sum" feature { step: "good" } }
feature { name: "good" type: INT }
"""


def test_what_an_example_does_not_hold_is_left_out(tmp_path: Path) -> None:
    """Structs, lists of lists and weights."""
    (tmp_path / "schema.pbtxt").write_text(REFUSED)
    done = imported(tmp_path / "schema.pbtxt", "tfmd", tmp_path / "x.py")
    assert declared(done.text) == {"X.good": "list[int] | None = None"}
    assert done.left_out.keys() == {"inner", "lists", "unsaid", "sum"}


@pytest.mark.parametrize("data", [b"feature { nam: 3 }", b"\xff\xfe"])
def test_other_files_are_told_apart(data: bytes, tmp_path: Path) -> None:
    """Text that is no schema, and bytes that are no text."""
    (tmp_path / "schema.pbtxt").write_bytes(data)
    (finding,) = refusals(tmp_path / "schema.pbtxt", "tfmd", tmp_path)
    assert finding["rule"] == "SG461"
    assert finding["expected"]


def test_without_tensorflow_metadata_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "tensorflow_metadata.proto.v0", None)
    (finding,) = refusals(EVERY, "tfmd", tmp_path)
    assert finding["rule"] == "SG407"
    assert "[tfmd]" in finding["advice"]
