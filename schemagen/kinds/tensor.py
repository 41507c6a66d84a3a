"""Tensors of any shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from ..runtime.shared.errors import Problem
from ..runtime.shared.values import (
    FLOATS,
    INTEGERS,
    RAW_ONLY,
    Numbers,
    shortened,
)
from .kind import Kind
from .parameters import (
    FIELD,
    TransferEncoding,
    choice_problems,
    flag_problems,
    key_problems,
    seldom,
    shape_problem,
    transfer_problems,
)
from .python_types import is_array, is_list_of, number_types

DTYPES = ("bool", *INTEGERS, *FLOATS)

_SHARED_WORDS = ("height", "width", "channels")


@dataclass(frozen=True)
class Tensor(Kind):
    """Numbers of a shape some sizes of which may vary from row to row.

    Attributes:
        shape: of one row's value; None for a size that may vary.
        dtype: of its numbers.
        encoding: "raw" stores little-endian bytes and "list" an int64 or float list,
            both with the sizes under `shape_key`. "proto" stores what
            tf.io.serialize_tensor makes of it, sizes and all.
        shape_key: where the sizes are stored: the key of a list of all of them, or
            one key for each dimension, with None for a fixed one that is not stored.
        padding_value: what fills a batch up to its largest tensor.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        transfer_encoding: "base64" stores raw bytes, or those of a serialized tensor,
            as base64 text.
    """

    shape: tuple[int | None, ...]
    dtype: str = "float32"
    encoding: Literal["raw", "proto", "list"] = "raw"
    shape_key: str | tuple[str | None, ...] | None = None
    padding_value: bool | int | float = 0
    exact: bool = False
    finite: bool = True
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Tensor"
    holds: ClassVar[str] = "np.ndarray or a list of its dtype"

    def accepts(self, python_type: Any) -> bool:
        return is_array(python_type) or is_list_of(
            python_type, *number_types(self.dtype)
        )

    def problems(self) -> Iterator[Problem]:
        yield from flag_problems(exact=self.exact, finite=self.finite)
        instead = "encoding='raw' or 'proto'" if self.encoding == "list" else ""
        yield from transfer_problems(self.transfer_encoding, instead)
        wrong = [
            *self._shape_problems(),
            *choice_problems("dtype", self.dtype, DTYPES),
            *choice_problems("encoding", self.encoding, ("raw", "proto", "list")),
        ]
        yield from wrong
        if wrong:  # what else is right depends on it
            return
        if self.encoding == "list" and self.dtype in RAW_ONLY:
            yield Problem(
                f"encoding='list' with dtype {self.dtype!r}",
                "'raw' or 'proto'",
                "the lists of tf.train.Example cannot hold it",
            )
        yield from self._shape_key_problems()
        try:
            self.padding()
        except Problem as problem:
            yield Problem(f"padding_value={self.padding_value!r}", problem.expected)

    def _shape_problems(self) -> Iterator[Problem]:
        shape: object = self.shape
        if not isinstance(shape, tuple) or not all(
            size is None or (type(size) is int and size > 0) for size in shape
        ):
            problem = shape_problem("shape", shape)
            expected = f"{problem.expected} and None"
            yield Problem(problem.found, expected, problem.advice)
        elif not shape and self.encoding != "proto":
            yield Problem("shape=()", "at least one size", "use Scalar for one number")

    def _shape_key_problems(self) -> Iterator[Problem]:
        found = f"shape_key={self.shape_key!r}"
        if self.encoding == "proto":
            if self.shape_key is not None:
                yield Problem(
                    f"{found} with encoding 'proto'", "None", "the bytes say the shape"
                )
        elif self.shape_key is None:
            if None in self.shape:
                yield Problem(
                    f"shape={self.shape!r} and no shape_key",
                    "where the sizes are stored",
                    f"give shape_key='{FIELD}/shape', a list of all sizes, or one key "
                    "for each dimension",
                )
            else:
                yield Problem(
                    f"shape={self.shape!r} and no shape_key",
                    "a size that may vary, or one that is stored",
                    "use Vector for numbers of a fixed shape",
                )
        elif not isinstance(self.shape_key, tuple):
            yield from key_problems("shape_key", self.shape_key)
        else:
            yield from self._keys_problems(self.shape_key)

    def _keys_problems(self, keys: tuple[str | None, ...]) -> Iterator[Problem]:
        found = f"shape_key={keys!r}"
        if len(keys) != len(self.shape):
            yield Problem(found, f"{len(self.shape)} keys, one for each dimension")
            return
        for key, length in zip(keys, self.shape, strict=True):
            yield from key_problems("a key of shape_key", key)
            if key is None and length is None:
                yield Problem(found, "a key for each size that may vary")
        given = [key for key in keys if key is not None]
        if not given:
            yield Problem(found, "at least one key")
        if any(given.count(key) > 1 for key in given):
            yield Problem(found, "each key once")

    def padding(self) -> bool | int | float:
        """Return the padding value as the batch's dtype holds it.

        Raises:
            Problem: it cannot.
        """
        given = self.padding_value
        if self.dtype == "bool" and type(given) is int and given == 0:
            return False
        value = Numbers(self.dtype, finite=False).convert(given)
        if value.shape:
            raise Problem(repr(given), "one number")
        return value.item()  # type: ignore[no-any-return]

    def settled(self, name: str) -> Self:
        return replace(super().settled(name), padding_value=self.padding())

    def layers(self, role: str) -> tuple[str, ...]:
        if role != "input":
            return ()
        return "dense", "normalization"

    def check_default(self, name: str, default: Any) -> None:
        raise Problem(shortened(default), "None")
