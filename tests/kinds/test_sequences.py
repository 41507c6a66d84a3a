"""Sequences: their limits, what is padded on disk, and lists of lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from stored_features import blobs, changed, ints, refusal, stored

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Label, Ragged, Record, VarLen

class Document(Record):
    head: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]
    tail: Annotated[np.ndarray, VarLen("float64", item_shape=(2,), max_length=2, too_long="keep_tail")]
    ids: Annotated[list[int], VarLen("int32", max_length=4, pad_on_disk=True, padding_value=-1)]
    words: Annotated[list[str], VarLen("string", max_length=2, too_long="keep_tail", pad_on_disk=True)]
    points: Annotated[np.ndarray, VarLen("float32", item_shape=(2,), max_length=2, pad_on_disk=True)]
    sentences: list[list[str]]
    numbers: Annotated[list[list[float]], Ragged("float32", ragged=False, max_length=2)]
    edges: Annotated[list[list[int]] | None, Ragged("int64", row_lengths_key="edges/n")] = None
    topic: Annotated[int, Label(num_classes=2)]
"""

ROW: dict[str, Any] = {
    "head": [1, 2, 3, 4, 5],
    "tail": [[1, 2], [3, 4], [5, 6]],
    "ids": [7, 8],
    "words": ["a", "b", "c"],
    "points": [[0.5, 1.0]],
    "sentences": [["to", "be"], [], ["or"]],
    "numbers": [[0.5], [1.0, 2.0]],
    "edges": [[1], [2, 3]],
    "topic": 1,
}


@pytest.fixture(scope="module")
def serialize(package: Workspace) -> Callable[..., bytes]:
    """Write a row that differs from ROW in some fields."""
    serializer = package.module("document", "serializer")
    return lambda **change: serializer.serialize(**{**ROW, **change})


@pytest.fixture(scope="module")
def parse(package: Workspace) -> Callable[..., Any]:
    """Parse a batch, as tf.data does."""
    parser = package.module("document", "parser")
    signature = [tf.TensorSpec((None,), tf.string)]
    graph = tf.function(parser.parse_batch, input_signature=signature)
    return lambda *records: graph(tf.constant(records))


def test_what_is_too_long_is_cut_when_written(serialize: Callable[..., bytes]) -> None:
    """The first or the last items stay, and items are cut whole."""
    features = stored(serialize())
    assert features["head"].int64_list.value == [1, 2, 3]
    (tail,) = features["tail"].bytes_list.value
    assert np.frombuffer(tail, "<f8").tolist() == [3, 4, 5, 6]
    assert features["words"].bytes_list.value == [b"b", b"c"]


def test_what_is_cut_off_is_checked_all_the_same(
    package: Workspace, serialize: Callable[..., bytes]
) -> None:
    """A wrong item is refused wherever it stands, by row and by batch."""
    with pytest.raises(ValueError, match="field 'head': found float64 values"):
        serialize(head=[1, 2, 3, 4, 5.5])
    columns = {name: [value] for name, value in ROW.items()}
    columns["head"] = [[1, 2, 3, 4, 5.5]]
    with pytest.raises(ValueError, match="row 0: field 'head': found float64 values"):
        package.module("document", "serializer").serialize_batch(**columns)


@pytest.mark.slow
def test_what_is_too_long_is_cut_when_read(
    serialize: Callable[..., bytes], parse: Callable[..., Any]
) -> None:
    """Files of other code may hold more than a row has here."""
    longer = changed(
        serialize(),
        head=ints(*range(9)),
        tail=blobs(np.arange(10, dtype="<f8").tobytes()),
    )
    batch = parse(longer, serialize(head=[], tail=[]))
    assert batch["head"].numpy().tolist() == [[0, 1, 2], [0, 0, 0]]
    assert batch["tail"].numpy().tolist() == [[[6, 7], [8, 9]], [[0, 0], [0, 0]]]


def test_rows_are_filled_up_on_disk(
    serialize: Callable[..., bytes], parse: Callable[..., Any]
) -> None:
    """Any length up to the limit becomes the limit, in files and in static shapes."""
    data = serialize(words=["x"])
    assert stored(data)["ids"].int64_list.value == [7, 8, -1, -1]
    assert stored(data)["words"].bytes_list.value == [b"x", b""]
    assert stored(data)["points"].float_list.value == [0.5, 1.0, 0.0, 0.0]
    batch = parse(data, serialize(ids=[], points=[]))
    assert batch["ids"].numpy().tolist() == [[7, 8, -1, -1], [-1] * 4]
    assert batch["points"].shape == (2, 2, 2)


def test_too_many_for_what_is_filled_up_are_refused(
    serialize: Callable[..., bytes],
) -> None:
    """Without `too_long` a limit is a limit."""
    with pytest.raises(
        ValueError, match="field 'ids': found 5 items, expected at most"
    ):
        serialize(ids=[1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    "features",
    [
        {"ids": ints(1, 2)},
        {"ids": ints(1, 2, 3, 4, 5)},
        {"words": blobs(b"x")},
        {"ids": ints()},
    ],
)
def test_rows_that_are_not_filled_up_are_refused(
    serialize: Callable[..., bytes],
    parse: Callable[..., Any],
    features: dict[str, tf.train.Feature],
) -> None:
    """Another length was not written by this schema."""
    (key,) = features
    assert f"Key: {key}" in refusal(parse, changed(serialize(), **features))


def test_lists_of_lists_come_back_as_they_were(
    serialize: Callable[..., bytes], parse: Callable[..., Any]
) -> None:
    """Empty lists, inside and outside, are told from lists that are missing."""
    rows = [serialize(), serialize(sentences=[], edges=[]), serialize(edges=None)]
    rows.append(serialize(sentences=[[], []], edges=[[]], numbers=[]))
    batch = parse(*rows)
    assert batch["sentences"].to_list() == [
        [[b"to", b"be"], [], [b"or"]],
        [],
        [[b"to", b"be"], [], [b"or"]],
        [[], []],
    ]
    assert batch["edges"].to_list() == [[[1], [2, 3]], [], [], [[]]]
    assert batch["edges_present"].numpy().tolist() == [True, True, False, True]
    assert batch["numbers"][0].numpy().tolist() == [[0.5, 0.0], [1.0, 2.0]]
    assert batch["numbers"].shape == (4, 2, 2)


def test_lists_of_lists_may_be_arrays(serialize: Callable[..., bytes]) -> None:
    """An array of two dimensions, or arrays in a list, hold the same as lists."""
    expected = serialize(edges=[[1, 2], [3, 4]])
    assert serialize(edges=np.array([[1, 2], [3, 4]])) == expected
    assert serialize(edges=[np.array([1, 2]), [3, 4]]) == expected
    assert serialize(edges=(np.array([1, 2]), np.array([3, 4]))) == expected


# What a field is given, and what is said of it.
WRONG_LISTS = [
    ({"sentences": ["to", "be"]}, "found str 'to' at [0], expected a list of lists of"),
    ({"sentences": [["to", 3]]}, "found in list [0] int 3 at [1]"),
    ({"sentences": "to be"}, "found str 'to be', expected a list of lists of string"),
    ({"edges": [1, 2]}, "found int 1 at [0], expected a list of lists of int64"),
    ({"edges": [[1], [0.5]]}, "found in list [1] float64 values, expected int64"),
    ({"edges": [[[1]]]}, "found in list [0] shape [1, 1]"),
    ({"edges": np.zeros((1, 1, 1), int)}, "found int64 [1, 1] at [0], expected a list"),
    ({"edges": {1: [2]}}, "found a dict, expected a list of lists of int64"),
    ({"numbers": [np.array([0.1])]}, "found in list [0] 0.1 at [0] (float64)"),
    ({"numbers": [[1.0]] * 3}, "found 3 items, expected at most 2"),
]


@pytest.mark.parametrize(("change", "message"), WRONG_LISTS)
def test_wrong_lists_are_refused_by_place(
    package: Workspace,
    serialize: Callable[..., bytes],
    change: dict[str, Any],
    message: str,
) -> None:
    """The error names the field, the inner list, and the row of a batch."""
    (name,) = change
    with pytest.raises(ValueError, match=f"field '{name}': ") as caught:
        serialize(**change)
    assert message in str(caught.value)
    columns = {key: [value, change.get(key, value)] for key, value in ROW.items()}
    with pytest.raises(ValueError, match=f"row 1: field '{name}': ") as caught:
        package.module("document", "serializer").serialize_batch(**columns)
    assert message in str(caught.value)


# What is changed in the bytes, and what is said of it.
WRONG_LENGTHS = [
    (
        {"sentences/row_lengths": ints(2, 0)},
        "field 'sentences': expected row lengths that add up to the number of values; "
        "found their sum and that number 2 3",
    ),
    ({"sentences/row_lengths": ints(4, -1)}, "expected row lengths from 0, found -1"),
    (
        {"sentences/row_lengths": None},
        "feature 'sentences/row_lengths' is required, and an Example does not have it",
    ),
    ({"sentences": None}, "feature 'sentences' is required, and an Example does not"),
    ({"edges": None}, "field 'edges': expected row lengths that add up"),
    ({"edges/n": None}, "field 'edges': expected row lengths that add up"),
    ({"numbers/row_lengths": ints(1, 1, 1)}, "expected at most 2 items, found"),
]


@pytest.mark.parametrize(("features", "message"), WRONG_LENGTHS)
def test_row_lengths_have_to_fit_the_values(
    serialize: Callable[..., bytes],
    parse: Callable[..., Any],
    features: dict[str, tf.train.Feature | None],
    message: str,
) -> None:
    """Nothing is shifted from one list to another."""
    text = refusal(parse, changed(serialize(), **features))
    assert message in text.replace("[", "").replace("]", "")


def test_an_instance_of_the_class_gives_back_lists(package: Workspace) -> None:
    """Values come back in the declared types, whole: the writer is who cuts."""
    found: dict[str, Any] = {}
    source = (package.root / "schemas" / "records.py").read_text()
    exec(compile(source, "records.py", "exec", dont_inherit=True), found)
    row = found["Document"](**{**ROW, "edges": np.array([[1, 2]])})
    assert row.edges == [[1, 2]]
    assert row.sentences == ROW["sentences"]
    assert row.head == ROW["head"]


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_a_model_of_such_fields_learns_and_serves(
    package: Workspace, serialize: Callable[..., bytes], tmp_path: Path
) -> None:
    """Lists of lists are encoded by all their values; rows differ by them alone."""
    path = tmp_path / "x.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number in range(8):
            lists = [["to"] * (number % 3), ["be"]]
            writer.write(serialize(sentences=lists, topic=number % 2))
    pipeline, model = (package.module("document", m) for m in ("pipeline", "model"))
    dataset = pipeline.make_dataset(str(path), batch_size=4)
    built = model.build_model()
    model.adapt(built, dataset)
    assert np.isfinite(built.fit(dataset, verbose=0).history["loss"]).all()
    model.export_serving(built, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    base = serialize()
    others = [
        serialize(sentences=[["be"], ["or", "or"]]),
        serialize(numbers=[[2.0], [0.5, 0.5]]),
        serialize(edges=[[1], [3, 3]]),
    ]
    (found,) = served(examples=tf.constant([base, *others])).values()
    assert all(not np.allclose(found[0], row) for row in found[1:])
