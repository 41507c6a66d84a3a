"""Sequences: their limits, what is padded on disk, and lists of lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.shared.errors import RecordError
from stored_features import blobs, changed, ints
from trained_models import train

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Label, Ragged, Record, VarLen

class Document(Record):
    head: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]
    tail: Annotated[np.ndarray, VarLen("float64", item_shape=(2,), max_length=2, too_long="keep_tail")]
    words: Annotated[list[str], VarLen("string", max_length=2, too_long="keep_tail", pad_on_disk=True)]
    sentences: list[list[str]]
    numbers: Annotated[list[list[float]], Ragged("float32", ragged=False, max_length=2)]
    edges: Annotated[list[list[int]] | None, Ragged("int64", row_lengths_key="edges/n")] = None
    topic: Annotated[int, Label(num_classes=2)]
"""

ROW: dict[str, Any] = {
    "head": [1, 2, 3, 4, 5],
    "tail": [[1, 2], [3, 4], [5, 6]],
    "words": ["a", "b", "c"],
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
    graph = tf.function(parser.parse_batch, input_signature=signature, autograph=False)
    return lambda *records: graph(tf.constant(records))


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


def test_lists_of_lists_may_be_arrays(serialize: Callable[..., bytes]) -> None:
    """An array of two dimensions, or arrays in a list, hold the same as lists."""
    expected = serialize(edges=[[1, 2], [3, 4]])
    assert serialize(edges=np.array([[1, 2], [3, 4]])) == expected
    assert serialize(edges=[np.array([1, 2]), [3, 4]]) == expected
    assert serialize(edges=(np.array([1, 2]), np.array([3, 4]))) == expected


def test_a_row_without_items_has_the_shape_of_items(
    package: Workspace, serialize: Callable[..., bytes]
) -> None:
    """Alone and in a batch: an empty list has no shape, an empty array has one."""
    serializer = package.module("document", "serializer")
    columns = {name: [value] for name, value in ROW.items()}
    for empty in ([], np.zeros((0, 2)), np.zeros(0)):
        [batch] = serializer.serialize_batch(**{**columns, "tail": [empty]})
        assert batch == serialize(tail=[])
    wrong = np.zeros((0, 3))
    for write in (
        lambda: serialize(tail=wrong),
        lambda: serializer.serialize_batch(**{**columns, "tail": [wrong]}),
    ):
        with pytest.raises(RecordError, match=r"\[0, 3\]"):
            write()


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_a_model_of_such_fields_learns_and_serves(
    package: Workspace, serialize: Callable[..., bytes], tmp_path: Path
) -> None:
    """Lists of lists are encoded by all their values; rows differ by them alone."""
    rows = [
        {**ROW, "sentences": [["to"] * (at % 3), ["be"]], "topic": at % 2}
        for at in range(8)
    ]
    serve = train(package, "document", rows, tmp_path / "data").served(
        tmp_path / "model"
    )
    base = serialize()
    others = [
        serialize(sentences=[["be"], ["or", "or"]]),
        serialize(numbers=[[2.0], [0.5, 0.5]]),
        serialize(edges=[[1], [3, 3]]),
    ]
    found = serve([base, *others])["topic"]
    assert all(not np.allclose(found[0], row) for row in found[1:])
