"""Labels on disk: counted from another number, by name, and several a record."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from stored_features import blobs, example, ints

if TYPE_CHECKING:
    from conftest import Workspace

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
    return example(
        {
            key: blobs(*map(str.encode, values))
            if values and isinstance(values[0], str)
            else ints(*values)
            for key, values in features.items()
        }
    )


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


_STARS = """
from typing import Annotated
from schemagen import Label, MultiLabel, Record

STARS = ("1", "2", "3", "4", "5")

class Stars(Record):
    one: Annotated[int, Label(classes=STARS)] = 0
    many: Annotated[list[int], MultiLabel(classes=STARS)] = []
    same: Annotated[int, Label(classes=("0", "1", "2"))] = 0
    words: Annotated[int, Label(classes=("a", "b"))] = 0
    padded: Annotated[int, Label(classes=("01", "10"))] = 0
    unnamed: Annotated[int, Label(num_classes=3)] = 0
"""


@pytest.fixture
def stars(make_package: Callable[[str], Workspace]) -> ModuleType:
    """A serializer that has not warned of anything yet."""
    return make_package(_STARS).module("stars", "serializer")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"one": 3}, "'one'.*3.*'4'.*'3'"),
        ({"one": np.int64(3)}, "'one'.*3.*'4'.*'3'"),
        ({"many": [3, 4]}, "'many'.*'[14]'"),
        ({"many": np.array([0, 3])}, "'many'.*'[14]'"),
    ],
)
def test_an_id_that_reads_as_another_class_is_named_once(
    stars: ModuleType, row: dict[str, Any], said: str
) -> None:
    """Ids count from 0, so that the id 3 is the class "4"."""
    with pytest.warns(RuntimeWarning, match=said) as warned:
        first = stars.serialize(**row)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stars.serialize(**row) == first


@pytest.mark.parametrize("field", ["same", "words", "padded", "unnamed"])
def test_ids_that_read_as_no_other_class_are_not_named(
    stars: ModuleType, field: str
) -> None:
    """Names that are their own ids, or no numbers of ids, cannot be confused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stars.serialize(**{field: 1})
        stars.serialize_batch(**{field: [1, 0, 1]})


@pytest.mark.parametrize("values", [[3, 0], np.array([3, 0])], ids=["list", "array"])
def test_ids_in_columns_that_read_as_another_class_are_named(
    stars: ModuleType, values: Any
) -> None:
    """As rows are."""
    with pytest.warns(RuntimeWarning, match="3.*'4'"):
        stars.serialize_batch(one=values)


_OBJECTS = """
from typing import Annotated
from schemagen import Label, Record, VarLen

NAMES = ("car", "bus")

class Street(Record):
    sign: Annotated[int | str, Label(values=(-1, 1), classes=("no", "yes"))]
    maybe: Annotated[int | None, Label(values=(-1, 1), role="info")] = None
    count: Annotated[int, Label(num_classes=2, role="info")] = 0
    category: Annotated[list[str], VarLen("int64", classes=NAMES, offset=1)] = []
    word: Annotated[list[str], VarLen("int64", classes=NAMES, stored="text")] = []
"""


@pytest.fixture
def street(make_package: Callable[[str], Workspace]) -> Workspace:
    """A package of labels of -1 and 1, and of lists of classes."""
    return make_package(_OBJECTS)


def test_lists_of_classes_are_read_by_name(street: Workspace, tmp_path: Path) -> None:
    """As labels are; batches are padded with the empty name."""
    serializer = street.module("street", "serializer")
    assert (
        serializer.CLASSES["category"] == serializer.CLASSES["word"] == ("car", "bus")
    )
    rows: list[dict[str, Any]] = [
        {"sign": "no", "category": ["bus", 0], "word": [1]},
        {"sign": 1, "maybe": 0, "category": []},
    ]
    serializer.write_dataset(rows, tmp_path, "train")
    open_split = street.module("street", "reader").open_split
    split = open_split(tmp_path, "train", class_names=True)
    assert (split[0]["sign"], split[0]["category"]) == ("no", ["bus", "car"])
    assert split[[0, 1]]["category"].tolist() == [["bus", "car"], ["", ""]]
    assert split.to_arrow()["word"].to_pylist() == [["bus"], []]
    ids = open_split(tmp_path, "train")[[0, 1]]
    assert ids["category"].tolist() == [[1, 0], [-1, -1]]
    assert (ids["sign"].tolist(), ids["maybe"].tolist()) == ([0, 1], [-1, 0])


def test_values_of_rows_are_ids_of_classes(street: Workspace) -> None:
    """-1 is not one, and the message says what it stands for in files."""
    serialize = street.module("street", "serializer").serialize
    with pytest.raises(ValueError, match=r"-1 is what files hold for the class id 0"):
        serialize(sign=-1)


@pytest.mark.parametrize(
    ("few", "said"), [(True, "the default None"), (False, "values=(-1, 1)")]
)
def test_verify_says_what_minus_one_may_be(
    street: Workspace, tmp_path: Path, few: bool, said: str
) -> None:
    """No class where it is rare, and else a class of its own."""
    counts = [-1 if number % (20 if few else 2) == 0 else 1 for number in range(100)]
    records = [_stored(sign=[1], count=[each]) for each in counts]
    path = str(tmp_path / "train.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    found = schemagen.verify(path, record=street.record("Street"))
    (wrong,) = found.findings
    assert (wrong.rule, wrong.records) == ("SG527", sum(each == -1 for each in counts))
    assert said in wrong.finding().advice


def test_an_unknown_value_is_refused_with_the_known_ones(
    street: Workspace,
) -> None:
    """0 is between -1 and 1, and no class."""
    parser = street.module("street", "parser")
    for message in _refusals(parser, "sign", [0]):
        assert "one of the values -1, 1" in message
