"""Labels on disk: counted from another number, by name, and several a record."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.encoding.label import Label, MultiLabel

if TYPE_CHECKING:
    pass

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import Label, MultiLabel, Record

NAMES = tuple(f"n{number:05}" for number in range(3000))

class Labelled(Record):
    counted: Annotated[int, Label(num_classes=1000, offset=1)]
    unknown: Annotated[int | None, Label(num_classes=3, offset=1)] = None
    named: Annotated[str, Label(classes=("a", "b", "c", "d", "e", "f"), stored="text")]
    unnamed: Annotated[str | None, Label(classes=("a", "b"), stored="text")] = None
    usual: Annotated[str, Label(classes=("a", "b"), stored="text")] = "b"
    many: Annotated[int, Label(classes=NAMES, stored="text")] = 0
    tags: Annotated[list[int], MultiLabel(num_classes=4, offset=1)]
    words: Annotated[list[str], MultiLabel(classes=("a", "b", "c"), stored="text")]
    colours: Annotated[Any, MultiLabel(classes=("red", "blue"))]
    late: Annotated[np.ndarray | None, MultiLabel(num_classes=2)] = None
"""
RECORD = "labelled"

_ROW: dict[str, Any] = {
    "counted": 0,
    "named": "c",
    "tags": [3, 0],
    "words": ["c", "a"],
    "colours": [],
}


def _stored(**features: list[Any]) -> bytes:
    """Return an Example with lists of ids or names, as any other program writes it."""
    example = tf.train.Example()
    for key, values in features.items():
        feature = example.features.feature[key]
        if values and isinstance(values[0], str):
            feature.bytes_list.value.extend(value.encode() for value in values)
        else:
            feature.int64_list.value.extend(values)
    found: bytes = example.SerializeToString()
    return found


def _read(parser: Any, name: str, *values: list[Any]) -> Any:
    """Return what a field is read as, eagerly and in a graph alike."""
    batch = tf.constant([_stored(**{name: items}) for items in values])
    found = parser.parse_batch(batch, [name])[name].numpy().tolist()
    graph = tf.function(lambda data: parser.parse_batch(data, [name]))
    assert graph(batch)[name].numpy().tolist() == found
    return found


def _refusals(parser: Any, name: str, values: list[Any]) -> Iterator[str]:
    """Yield how a field is refused, eagerly and in a graph."""
    batch = tf.constant([_stored(**{name: values})])
    for parse in (parser.parse_batch, tf.function(parser.parse_batch)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            parse(batch, [name])
        yield caught.value.message.replace("\\", "")  # a graph escapes quotes


def test_ids_on_disk_begin_at_the_offset(serializer: Any, parser: Any) -> None:
    """Class 0 is 1 in the file, and the last class is the number of classes."""
    for index in (0, 999):
        data = serializer.serialize(**{**_ROW, "counted": index})
        stored = tf.train.Example.FromString(data).features.feature["counted"]
        assert list(stored.int64_list.value) == [index + 1]
        assert parser.parse_example(tf.constant(data))["counted"] == index


@pytest.mark.parametrize("stored", [0, 1001, -1, 2**62])
def test_ids_outside_of_the_classes_are_refused(parser: Any, stored: int) -> None:
    """0 is no class of a file that counts from 1, and the message says both numbers."""
    for message in _refusals(parser, "counted", [stored]):
        words = "field 'counted': expected class ids from 1 to 1000, found"
        assert words in message
        assert str(stored) in message


def test_a_missing_label_stays_apart_from_class_0(parser: Any) -> None:
    """Absent and -1 read as -1; 0, which would be -1 by subtraction, is refused."""
    assert _read(parser, "unknown", [-1], [1], [3]) == [-1, 0, 2]
    absent = tf.constant([_stored(other=[1])])
    assert parser.parse_batch(absent, ["unknown"])["unknown"].numpy().tolist() == [-1]
    for message in _refusals(parser, "unknown", [0]):
        assert "expected class ids from 1 to 3, found" in message


def test_names_on_disk_are_read_as_ids(parser: Any) -> None:
    """Each name gives its id, with few classes and with thousands."""
    assert _read(parser, "named", ["f"], ["a"], ["c"]) == [5, 0, 2]
    assert _read(parser, "unnamed", ["b"], [""], ["a"]) == [1, -1, 0]
    assert _read(parser, "usual", ["a"]) == [0]
    names = [[f"n{number:05}"] for number in (0, 1, 1499, 2999)]
    assert _read(parser, "many", *names) == [0, 1, 1499, 2999]


def test_every_one_of_thousands_of_names_is_found(parser: Any) -> None:
    """The search in sorted hashes has no gaps at its ends or between them."""
    names = [_stored(many=[f"n{number:05}"]) for number in range(3000)]
    found = parser.parse_batch(tf.constant(names), ["many"])["many"]
    assert found.numpy().tolist() == list(range(3000))


@pytest.mark.parametrize(
    ("name", "stored", "expected"),
    [
        (
            "named",
            "g",
            "expected one of 6 classes, 'a', 'b', 'c', 'd', 'e', ..., found",
        ),
        ("named", "", "expected one of 6 classes"),
        ("named", "A", "found"),
        ("unnamed", "c", "expected one of 2 classes, 'a', 'b', found"),
        ("usual", "", "expected one of 2 classes"),
        ("many", "n03000", "expected one of 3000 classes, 'n00000', 'n00001'"),
    ],
)
def test_an_unknown_name_is_refused(
    parser: Any, name: str, stored: str, expected: str
) -> None:
    """The message says the field, some of the classes, and the name that was there."""
    for message in _refusals(parser, name, [stored]):
        assert f"field {name!r}: " in message
        assert expected in message
        assert stored in message.rpartition("found")[2]


def test_a_default_is_a_class_and_is_not_written(serializer: Any, parser: Any) -> None:
    """A label by name may have a default, which is read as its id."""
    data = serializer.serialize(**_ROW)
    assert "usual" not in tf.train.Example.FromString(data).features.feature
    assert parser.parse_example(tf.constant(data))["usual"] == 1


def test_ids_and_names_write_the_same_bytes(serializer: Any) -> None:
    """How a class is given does not matter to the file, in rows and in columns."""
    by_id = {**_ROW, "named": 2, "words": np.array([2, 0]), "colours": (1, 0)}
    by_name = {**_ROW, "named": "c", "words": ("c", "a"), "colours": ["blue", 0]}
    data = serializer.serialize(**by_id)
    assert data == serializer.serialize(**by_name)
    columns = {name: [by_id[name], by_name[name]] for name in by_id}
    assert serializer.serialize_batch(**columns) == [data, data]
    columns |= {"named": np.array([2, 2]), "counted": np.array([0, 0])}
    assert serializer.serialize_batch(**columns) == [data, data]


def test_several_labels_are_written_in_the_order_given(serializer: Any) -> None:
    """Nothing is sorted, so that a file can be written as its original was."""
    example = tf.train.Example.FromString(serializer.serialize(**_ROW))
    assert list(example.features.feature["tags"].int64_list.value) == [4, 1]
    assert list(example.features.feature["words"].bytes_list.value) == [b"c", b"a"]
    colours = example.features.feature["colours"]
    assert colours.WhichOneof("kind") == "int64_list"


def test_several_labels_are_read_as_zeros_and_ones(parser: Any) -> None:
    """In any order, and also where the file has one of them twice."""
    assert _read(parser, "tags", [4, 1, 4], [], [2]) == [
        [1, 0, 0, 1],
        [0, 0, 0, 0],
        [0, 1, 0, 0],
    ]
    assert _read(parser, "words", ["b"], ["c", "a", "c"]) == [[0, 1, 0], [1, 0, 1]]


def test_several_labels_outside_of_the_classes_are_refused(parser: Any) -> None:
    """By id and by name, with the field's name."""
    for message in _refusals(parser, "tags", [1, 5]):
        assert "field 'tags': expected class ids from 1 to 4, found" in message
    for message in _refusals(parser, "tags", [0]):
        assert "field 'tags': expected class ids from 1 to 4, found" in message
    for message in _refusals(parser, "words", ["a", "x"]):
        assert (
            "field 'words': expected one of 3 classes, 'a', 'b', 'c', found" in message
        )


def test_no_labels_and_missing_labels_differ(serializer: Any, parser: Any) -> None:
    """An empty list is a value; a required one that is not there is an error."""
    data = serializer.serialize(**{**_ROW, "tags": [], "late": []})
    batch = parser.parse_batch(tf.constant([data, serializer.serialize(**_ROW)]))
    assert batch["late"].numpy().tolist() == [[0, 0], [0, 0]]
    assert batch["late_present"].numpy().tolist() == [True, False]
    with pytest.raises(tf.errors.InvalidArgumentError, match="'tags' is required"):
        parser.parse_batch(tf.constant([_stored(counted=[1])]), ["tags"])


# field, value, words of the refusal
_WRONG = [
    ("counted", 1000, "found class id 1000, expected a class id from 0 to 999"),
    ("counted", -1, "found class id -1, expected"),
    (
        "named",
        "g",
        "found the class 'g', expected a class id from 0 to 5 or one of 'a'",
    ),
    ("many", "n0300", "did you mean 'n"),
    ("tags", 3, "found int 3, expected a list of classes"),
    ("tags", {1, 2}, "sorted() makes a list of it"),
    ("tags", [4], "found class id 4, expected a class id from 0 to 3"),
    ("tags", [True], "found bool True"),
    ("tags", [1, 2, 1], "found the class 1 twice, at [0] and at [2]"),
    ("tags", np.array([0.0, 1.0]), "np.flatnonzero(row)"),
    ("tags", np.array([False, True]), "np.flatnonzero(row)"),
    ("tags", np.zeros((1, 2), int), "found shape [1, 2], expected shape [?]"),
    ("tags", np.ma.array([1], mask=[True]), "found a masked array"),
    ("words", ["a", 0], "found the class 0 twice, at [0] and at [1]"),
    ("words", "a", "found str 'a', expected a list of classes"),
    ("words", ["blu"], "found the class 'blu'"),
    ("words", None, "found None, expected a list of classes"),
]


@pytest.mark.parametrize(("name", "value", "words"), _WRONG)
def test_wrong_labels_are_refused(
    serializer: Any, name: str, value: Any, words: str
) -> None:
    """Row by row and in a batch, which names the row."""
    row = {**_ROW, name: value}
    with pytest.raises(ValueError, match=f"^field {name!r}: .*{re.escape(words)}"):
        serializer.serialize(**row)
    columns = {key: [_ROW.get(key, value), row[key]] for key in row}
    if name in _ROW:
        with pytest.raises(ValueError, match=f"^row 1: field {name!r}: .*"):
            serializer.serialize_batch(**columns)


_STARS = ("1", "2", "3", "4", "5")


@pytest.mark.parametrize("value", [3, np.int64(3), [4, 3], np.array([0, 3, 3])])
def test_an_id_that_reads_as_another_class_is_named_once(value: Any) -> None:
    """Ids count from 0, so that the id 3 is the class "4"."""
    many = not isinstance(value, (int, np.integer))
    kind = MultiLabel if many else Label
    stars = kind("stars", key="stars", num_classes=5, classes=_STARS, optional=False)
    value = sorted(set(value)) if many else value
    expected = (
        r"^field 'stars': 3 is taken for the class id of '4', as ids count from 0; "
        "pass '3' for the class of that name"
    )
    if many:
        expected = r"^field 'stars': . is taken for the class id of"
    with pytest.warns(RuntimeWarning, match=expected) as warned:
        first = b"".join(stars.encode(value))
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert b"".join(stars.encode(value)) == first


@pytest.mark.parametrize("classes", [("0", "1", "2"), ("a", "b"), ("01", "10"), ()])
def test_other_ids_are_not(classes: tuple[str, ...]) -> None:
    """Names that are their own ids, or no numbers of ids, cannot be confused."""
    label = Label("x", key="x", num_classes=3, classes=classes, optional=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        label.encode(1)
        label.encode_column([1, 0, 1], 3)


def test_columns_of_ids_are_named_too() -> None:
    """As rows are, in lists and arrays."""
    for values in ([3, 0], np.array([3, 0])):
        stars = Label(
            "stars", key="stars", num_classes=5, classes=_STARS, optional=False
        )
        with pytest.warns(RuntimeWarning, match="3 is taken for the class id of '4'"):
            stars.encode_column(values, 2)


def test_members_of_an_enum_name_their_classes(serializer: Any) -> None:
    """An Enum's value is the class's name, also inside a list."""
    colour = Enum("colour", {"RED": "red", "BLUE": "blue"})
    named = serializer.serialize(**{**_ROW, "colours": ["blue", "red"]})
    row = {**_ROW, "colours": [colour["BLUE"], colour["RED"]]}
    assert serializer.serialize(**row) == named
