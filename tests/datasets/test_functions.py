"""Functions of datasets: TensorFlow runs them as they are, and few of them call Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from every_kind import numbers

Data = Callable[..., Path]
MakeDataset = Callable[..., Any]

_AS_IT_IS = "experimental_ints_on_device"
"""The attribute of a function that TensorFlow does not optimize for each iterator."""


def _graph_of(dataset: Any) -> tf.compat.v1.GraphDef:
    variant = tf.data.experimental.to_variant(dataset)
    found = tf.raw_ops.DatasetToGraphV2(input_dataset=variant)
    return tf.compat.v1.GraphDef.FromString(found.numpy())


def _functions_of_datasets(graph: tf.compat.v1.GraphDef) -> Iterator[str]:
    """Yield the names of the functions that operations of datasets call."""
    nodes = [*graph.node]
    for function in graph.library.function:
        nodes += function.node_def
    for node in nodes:
        if "Dataset" in node.op:
            yield from (v.func.name for v in node.attr.values() if v.HasField("func"))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"training": True},
        {"training": True, "repeat": True, "shard": (1, 3)},
        {"pad_to_max_length": True, "drop_remainder": True},
    ],
)
def test_no_function_is_optimized_for_each_iterator(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """It would take longer than to read a small split."""
    dataset = make_dataset(data(), batch_size=8, **options)
    graph = _graph_of(dataset)
    as_they_are = {
        f.signature.name: f.attr[_AS_IT_IS].b for f in graph.library.function
    }
    used = [*_functions_of_datasets(graph)]
    assert used
    assert [name for name in used if not as_they_are[name]] == []


@pytest.mark.parametrize("options", [{}, {"training": True}, {"repeat": 2}])
def test_batches_are_counted_without_python(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """It is called by a branch alone, which compares files or says what is wrong."""
    graph = _graph_of(make_dataset(data(), batch_size=8, **options))
    calling = {
        function.signature.name
        for function in graph.library.function
        if any("PyFunc" in node.op for node in function.node_def)
    }
    branches = {
        node.attr[branch].func.name
        for function in graph.library.function
        for node in function.node_def
        for branch in ("then_branch", "else_branch")
    }
    assert len(calling) == 1
    assert calling <= branches
    assert not any("PyFunc" in node.op for node in graph.node)


def test_a_dataset_keeps_what_it_is_made_of(
    data: Data, make_dataset: MakeDataset
) -> None:
    """What its functions call in Python is there in a graph and after other datasets."""
    import gc

    dataset = make_dataset(data(), batch_size=8).map(lambda *element: element).take(9)
    gc.collect()
    assert len(numbers(dataset)) == 50

    @tf.function
    def batches() -> tf.Tensor:
        return dataset.reduce(0, lambda count, *_: count + 1)

    gc.collect()
    assert batches() == 7
