"""Decoders of users: functions from bytes to arrays, in numpy and in TensorFlow graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..images import pixels
from ..shared.dtypes import DTYPES
from ..shared.errors import DatasetError
from ..shared.requirements import lazy_tf as tf
from ..shared.values import shape_text
from ..tensorflow.graph import checked
from ..tensorflow.python_calls import call_numpy
from .decoded import Shape, Values


def is_name(text: str) -> bool:
    """Return whether a text has the form "package.module:function"."""
    module, colon, function = text.partition(":")
    words = [*module.split("."), *function.split(".")]
    return bool(colon) and all(map(str.isidentifier, words))


@dataclass(frozen=True)
class OwnDecoder:
    """A function that a schema names, and what it has to return.

    Attributes:
        label: the field's name in messages.
        name: "package.module:function"; it takes bytes.
        dtype: of the array that it returns.
        shape: of this array; None for a size that varies.
    """

    label: str
    name: str
    dtype: str
    shape: Shape

    @cached_property
    def function(self) -> Callable[[bytes], Any]:
        """The function, imported when it is first asked for.

        Raises:
            DatasetError: it cannot be imported.
        """
        module, _, path = self.name.partition(":")
        try:
            found = attrgetter(path)(import_module(module))
        except Exception as error:  # of any class: the module is not ours
            raise DatasetError(
                f"field {self.label!r}: the decoder {self.name!r} cannot be imported: "
                f"{type(error).__name__}: {error}; its module has to be installed, or on "
                "the PYTHONPATH, where data is read"
            ) from error
        return cast("Callable[[bytes], Any]", found)

    def arrays(self, contents: Sequence[bytes]) -> Values:
        """Decode bytes, on all cores: one array if the shape is fixed, or one for each.

        Raises:
            UndecodableError: the function fails, or returns something else.
        """
        self._dtype, self.function  # noqa: B018 - not in threads, whose errors are of data
        found = pixels.each(self._array, contents)
        if None in self.shape:
            return found
        shape = cast("tuple[int, ...]", self.shape)
        return np.stack(found) if found else np.empty((0, *shape), self._dtype)

    @property
    def _dtype(self) -> np.dtype[Any]:
        return DTYPES[self.dtype].numpy

    def _called(self, data: bytes) -> Any:
        try:
            return self.function(data)
        except Exception:  # may be of the threads: numpy.load has one before 3.11.8
            return self.function(data)

    def _array(self, data: bytes) -> NDArray[Any]:
        try:
            found = self._called(data)
            array = np.array(found)  # the function may use its memory again
        except Exception as error:  # of any class: the function is not ours
            words = f"{self.name} raised {type(error).__name__}: {error}"
            raise ValueError(words) from error
        fits = len(array.shape) == len(self.shape) and all(
            size in (None, found)
            for size, found in zip(self.shape, array.shape, strict=True)
        )
        if array.dtype != self._dtype or not fits:
            words = "None"
            if found is not None:
                words = f"{array.dtype} {shape_text(array.shape)}"
            raise ValueError(
                f"{self.name} returned {words}, expected "
                f"{self.dtype} {shape_text(self.shape)}"
            )
        return array

    def tensor(self, data: Any, absent: Any) -> Any:
        """Decode bytes in a graph, and fill a batch up with zeros to its largest array.

        Args:
            data: string [B].
            absent: bool [B], which rows have none; or False.

        Returns:
            dtype [B, *shape].
        """
        self.function  # noqa: B018 - an error where the graph is made
        dtype = tf.as_dtype(self.dtype)
        none = tf.fill(tf.shape(data), False) | absent
        batch, message = call_numpy(self._batch, [data, none], [dtype, tf.string])
        batch.set_shape((data.shape[0], *self.shape))
        message.set_shape((1,))
        return checked(batch, message == b"", f"field {self.label!r}:", message)

    def _batch(
        self, data: NDArray[Any], absent: NDArray[np.bool_]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return a batch, and the message of an error, bytes [1]: b"" for none."""
        rows = np.flatnonzero(~absent)
        values: Values = []
        message = ""
        try:
            values = self.arrays(data[rows].tolist())
        except pixels.UndecodableError as error:
            message = str(error)
        said = np.array([message.encode()], object)
        if isinstance(values, np.ndarray) and len(rows) == len(data):
            return values, said
        sizes = [[size or 0 for size in self.shape], *(each.shape for each in values)]
        batch = np.zeros((len(data), *np.max(sizes, axis=0)), self._dtype)
        for row, array in zip(rows.tolist(), values, strict=not message):
            place: Any = (row, *map(slice, array.shape))
            batch[place] = array
        return batch, said
