"""Tensors of any shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from ..runtime.encoding.base import Feature
from ..runtime.encoding.base64_text import in_base64
from ..runtime.encoding.shaped import SerializedTensor, SizedTensor
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import (
    FLOATS,
    INTEGERS,
    RAW_ONLY,
    shape_text,
)
from .field import FieldSpec
from .kind import Default, Kind
from .literals import Code, literal
from .parameters import Name, Number, OneOf, Size, base64_of_numbers, seldom
from .python_types import is_array, is_list_of, number_types
from .storage import INT, Entry, TransferEncoding, count_of, raw, size, values
from .varlen import padding_of, padding_problems
from .view import FieldView, Shape

DTYPES = ("bool", *INTEGERS, *FLOATS)

TensorShape = Annotated[
    tuple[Size | None, ...],
    Field(description="a tuple of positive ints and None, such as (None, 3)"),
]
ShapeKey = Annotated[
    Name | tuple[Name | None, ...],
    Field(description="a key of all sizes, or a tuple with one for each dimension"),
]

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

    shape: TensorShape
    dtype: Annotated[str, OneOf(DTYPES)] = "float32"
    encoding: Literal["raw", "proto", "list"] = "raw"
    shape_key: ShapeKey | None = None
    padding_value: Number = 0
    exact: bool = False
    finite: bool = True
    transfer_encoding: TransferEncoding = seldom(None)

    name: ClassVar[str] = "Tensor"
    takes_default: ClassVar[Default] = "none"
    holds: ClassVar[str] = "np.ndarray or a list of its dtype"
    input_layers: ClassVar[tuple[str, ...]] = ("dense", "normalization")

    def accepts(self, python_type: Any) -> bool:
        return is_array(python_type) or is_list_of(
            python_type, *number_types(self.dtype)
        )

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        if not self.shape and self.encoding != "proto":
            yield Problem("shape=()", "at least one size", "use Scalar for one number")
        elif not self._stores_sizes():
            yield Problem(
                f"shape={self.shape!r} with shape_key={self.shape_key!r}",
                "None with encoding='proto'; else one key of all sizes, or a tuple with "
                "a key for each size that varies",
                "for example shape_key='image/shape'; use Vector for a fixed shape",
            )
        if self.encoding == "list" and self.dtype in RAW_ONLY:
            yield Problem(
                f"encoding='list' with dtype {self.dtype!r}",
                "'raw' or 'proto'",
                "the lists of tf.train.Example cannot hold it",
            )
        if self.encoding == "list" and self.transfer_encoding:
            yield base64_of_numbers("encoding='raw' or 'proto'")
        yield from padding_problems(self.dtype, self.padding_value)

    def _stores_sizes(self) -> bool:
        keys = self.shape_key
        if self.encoding == "proto" or not isinstance(keys, tuple):
            return (self.encoding == "proto") == (keys is None)
        return (
            len(keys) == len(self.shape)
            and any(keys)
            and all(key or size for key, size in zip(keys, self.shape, strict=True))
        )

    def settled(self, name: str) -> Self:
        padding: Any = padding_of(self.dtype, self.padding_value)  # of numbers
        return replace(super().settled(name), padding_value=padding)

    def storage(self, key: str) -> tuple[Entry, ...]:
        if self.encoding == "proto":
            value = raw(key, self.dtype, self.transfer_encoding)
            return (replace(value, encoding="proto"),)
        if self.encoding == "raw":
            value = raw(key, self.dtype, self.transfer_encoding)
        else:
            value = values(key, self.dtype, count_of(self.shape))
        return (value, *self._sizes())

    def _sizes(self) -> Iterator[Entry]:
        """Yield the entries of the stored sizes."""
        keys, rank = self.shape_key, len(self.shape)
        if isinstance(keys, str):
            text = f"the {rank} sizes of a tensor"
            yield Entry(
                keys,
                INT,
                rank,
                part="size",
                bounds=(0, None),
                parameter="shape_key",
                content=text,
                sizes=self.shape,
            )
            return
        for key, length in zip(keys or (), self.shape, strict=False):
            if isinstance(key, str):
                yield size(key, "shape_key", _held(key), length)

    def feature(self, name: str, *, optional: bool) -> Feature:
        feature = self._feature(name, optional=optional)
        return in_base64(feature) if self.transfer_encoding else feature

    def _feature(self, name: str, *, optional: bool) -> Feature:
        if self.encoding == "proto":
            return SerializedTensor(
                name,
                key=self.key or name,
                shape=self.shape,
                dtype=self.dtype,
                optional=optional,
                exact=self.exact,
                finite=self.finite,
            )
        assert self.shape_key is not None
        return SizedTensor(
            name,
            key=self.key or name,
            shape=self.shape,
            dtype=self.dtype,
            shape_key=self.shape_key,
            encoding=self.encoding,
            optional=optional,
            exact=self.exact,
            finite=self.finite,
        )

    def view(self, field: FieldSpec) -> FieldView:
        return TensorView(field)


def _held(key: str) -> str:
    """Say what a key of one size holds, in the word that images have for theirs."""
    last = key.rpartition("/")[2]
    return last if last in _SHARED_WORDS else "one size"


class TensorView(FieldView[Tensor]):
    """Numbers of a shape some sizes of which may vary."""

    size_if_missing: ClassVar[int] = -1

    @property
    def shape(self) -> Shape:
        return self.kind.shape

    @property
    def raw(self) -> bool:
        return self.kind.encoding != "list"

    @property
    def required_sequence(self) -> bool:
        return not self.raw and not self.optional

    @property
    def default_value(self) -> Code:
        return literal(b"")  # of bytes; a list needs none

    @property
    def varies(self) -> bool:
        """Whether a size is known of each row only."""
        return None in self.kind.shape

    @property
    def item_size(self) -> int:
        """How many numbers stand in the fixed dimensions after those that vary."""
        size = 1
        for length in reversed(self.kind.shape):
            if length is None:
                break
            size *= length
        return size

    @property
    def sizes(self) -> Code:
        """The stored sizes as an expression: a tensor, or one for each dimension."""
        keys = self.kind.shape_key
        if not isinstance(keys, tuple):
            return Code(f"stored[{literal(keys)}]")
        each = [
            literal(size) if key is None else f"stored[{literal(key)}]"
            for key, size in zip(keys, self.kind.shape, strict=True)
        ]
        return Code(f"({', '.join(each)}{',' if len(each) == 1 else ''})")

    def _described(self, entry: Entry) -> Code:
        if not isinstance(self.kind.shape_key, str):
            return super()._described(entry)
        rank = len(self.kind.shape)
        missing = literal((self.size_if_missing,) * rank)
        default = f", default_value={missing}" if self.optional else ""
        return Code(f"tf.io.FixedLenFeature({literal((rank,))}, tf.int64{default})")

    @property
    def stored_text(self) -> str:
        if self.kind.encoding == "proto":
            return f"a serialized {self.dtype} tensor"
        return super().stored_text

    @property
    def wanted_value(self) -> str:
        return f"{self.dtype} {shape_text(self.shape)}"

    @property
    def delivers_value(self) -> str:
        sizes = ("B", *("?" if size is None else size for size in self.shape))
        text = f"{self.dtype} [{', '.join(map(str, sizes))}]"
        if not self.varies:
            return text
        return f"{text}, padded with {self.kind.padding_value!r}"

    @property
    def missing_text(self) -> str:
        return "only padding"

    @property
    def feature_class(self) -> str:
        return "SerializedTensor" if self.kind.encoding == "proto" else "SizedTensor"
