"""Calling Python from the graphs of datasets, and its errors as they are.

TensorFlow puts a text of its own around an error of a graph. It can be left out where Python
gets the error: in the iterators of `make_dataset` and `to_tf`, and in `fit` and the like of a
generated model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from ..shared.requirements import tf
from ..tensorflow.python_calls import ENDING, call_numpy, counted

_ASSERTION = "schemagen_reading"
"""The name of the operations whose errors hold nothing but a message."""

_MESSAGE = re.compile(
    rf"assertion failed: \[([^\n]*)\]\s*\[\[.*{{{{node (?:\S*/)?{_ASSERTION}(_\d+)?}}}}"
)

# What TensorFlow makes of an error in a generator, as in `to_tf`.
_OF_GENERATOR = re.compile(r"DatasetError: (.*?)\nTraceback \(most recent", re.DOTALL)


def call_python(
    function: Callable[..., tuple[str, list[bytes]]], inputs: list[Any]
) -> tf.Tensor:
    """Call Python from a graph.

    Args:
        function: returns the message of an error, or "", and strings.
        inputs: its arguments.

    Returns:
        The strings: string [N].

    Raises:
        tf.errors.InvalidArgumentError: when the graph runs, if there is a message.
    """

    def called(*arguments: tf.Tensor) -> list[tf.Tensor]:
        message, strings = ENDING, list[bytes]()
        with counted() as goes_on:
            if goes_on:
                message, strings = function(*arguments)
        # An assertion would show quotation marks with backslashes.
        shown = tf.constant(message.replace("'", "`"))
        return [shown, tf.constant(strings, tf.string)]

    message, strings = tf.py_function(called, inputs, [tf.string, tf.string])
    message.set_shape(())
    strings.set_shape((None,))
    raised = tf.raw_ops.Assert(condition=message == "", data=[message], name=_ASSERTION)
    with tf.control_dependencies([raised]):
        return tf.identity(strings)


def call_for_numbers(function: Callable[..., Any], lengths: tf.Tensor) -> Any:
    """Call Python from a graph, with lengths and for numbers.

    Args:
        function: from int64 [B] to int64 [N] and int64 [B], of numpy.
        lengths: its argument.
    """
    numbers, counts = call_numpy(function, [lengths], [tf.int64, tf.int64])
    return tf.ensure_shape(numbers, (None,)), tf.ensure_shape(counts, lengths.shape)


def after(done: tf.Tensor, dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return an empty dataset like another one, once a tensor has been computed."""
    with tf.control_dependencies([done]):
        return dataset.take(0)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise errors of reading without TensorFlow's text, and others as they are."""
    try:
        yield
    except tf.errors.OpError as error:
        if found := _OF_GENERATOR.search(error.message):
            raise type(error)(None, None, found[1]) from None
        found = _MESSAGE.search(error.message)
        if found is None:
            raise
        # The assertion has escaped the bytes of its message.
        text = found[1].encode().decode("unicode_escape")
        text = text.encode("latin-1").decode(errors="backslashreplace")
        raise type(error)(None, None, text) from None


def with_plain_errors(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return a dataset whose iterators raise errors of reading as `plain_errors` does.

    What is made of it by `map`, `take` and the like has TensorFlow's iterators.
    """
    base: Any = type(dataset)
    dataset.__class__ = _plain_dataset(base)
    return dataset


@cache
def _plain_dataset(base: Any) -> Any:
    class PlainDataset(base):  # type: ignore[misc]
        def __iter__(self) -> Any:
            iterator = super().__iter__()
            base: Any = type(iterator)
            iterator.__class__ = _plain_iterator(base)
            return iterator

    return PlainDataset


@cache
def _plain_iterator(base: Any) -> Any:
    class PlainIterator(base):  # type: ignore[misc]
        def __next__(self) -> Any:
            with plain_errors():
                return super().__next__()

    return PlainIterator
