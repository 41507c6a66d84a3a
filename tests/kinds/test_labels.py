"""Labels on disk: counted from another number, by name, and several a record."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.codecs.classes import Label, MultiLabel

SCHEMA = """
from typing import Annotated
from schemagen import Label, MultiLabel, Record

NAMES = tuple(f"n{number:05}" for number in range(3000))

class Labelled(Record):
    unknown: Annotated[int | None, Label(num_classes=3, offset=1)] = None
    many: Annotated[int, Label(classes=NAMES, stored="text")] = 0
    tags: Annotated[list[int], MultiLabel(num_classes=4, offset=1)]
    words: Annotated[list[str], MultiLabel(classes=("a", "b", "c"), stored="text")]
"""
RECORD = "labelled"


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


def test_a_missing_label_stays_apart_from_class_0(parser: Any) -> None:
    """Absent and -1 read as -1; 0, which would be -1 by subtraction, is refused."""
    assert _read(parser, "unknown", [-1], [1], [3]) == [-1, 0, 2]
    absent = tf.constant([_stored(other=[1])])
    assert parser.parse_batch(absent, ["unknown"])["unknown"].numpy().tolist() == [-1]
    for message in _refusals(parser, "unknown", [0]):
        assert "1 to 3" in message


def test_every_one_of_thousands_of_names_is_found(parser: Any) -> None:
    """The search in sorted hashes has no gaps at its ends or between them."""
    names = [_stored(many=[f"n{number:05}"]) for number in range(3000)]
    found = parser.parse_batch(tf.constant(names), ["many"])["many"]
    assert found.numpy().tolist() == list(range(3000))


def test_several_labels_are_read_as_zeros_and_ones(parser: Any) -> None:
    """In any order, and also where the file has one of them twice."""
    assert _read(parser, "tags", [4, 1, 4], [], [2]) == [
        [1, 0, 0, 1],
        [0, 0, 0, 0],
        [0, 1, 0, 0],
    ]
    assert _read(parser, "words", ["b"], ["c", "a", "c"]) == [[0, 1, 0], [1, 0, 1]]


_STARS = ("1", "2", "3", "4", "5")


@pytest.mark.parametrize("value", [3, np.int64(3), [4, 3], np.array([0, 3, 3])])
def test_an_id_that_reads_as_another_class_is_named_once(value: Any) -> None:
    """Ids count from 0, so that the id 3 is the class "4"."""
    many = not isinstance(value, (int, np.integer))
    kind = MultiLabel if many else Label
    stars = kind(classes=_STARS).bound("stars")
    value = sorted(set(value)) if many else value
    expected = "'stars'.*'[14]'" if many else "'stars'.*3.*'4'.*'3'"
    with pytest.warns(RuntimeWarning, match=expected) as warned:
        first = stars.store(value)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stars.store(value) == first


@pytest.mark.parametrize("classes", [("0", "1", "2"), ("a", "b"), ("01", "10"), ()])
def test_other_ids_are_not(classes: tuple[str, ...]) -> None:
    """Names that are their own ids, or no numbers of ids, cannot be confused."""
    label = Label(num_classes=3, classes=classes).bound("x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        label.store(1)
        label.store_column([1, 0, 1], 3)


def test_columns_of_ids_are_named_too() -> None:
    """As rows are, in lists and arrays."""
    for values in ([3, 0], np.array([3, 0])):
        stars = Label(classes=_STARS).bound("stars")
        with pytest.warns(RuntimeWarning, match="3.*'4'"):
            stars.store_column(values, 2)
