"""Steps of every kind with every parameter, and of lists, for SequenceRecords."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from stored_features import blobs, ints

from ..strategies import numpy_dtype
from .case import Drawn, KindCase, Value
from .images import encoded, picture
from .labels import NAMES
from .numbers import DTYPES, numbers, python_type
from .texts import BLOB, TEXT

MOST = 3


@dataclass(frozen=True)
class Steps:
    """One way of declaring steps.

    Attributes:
        kind: the kind of one step, as source text.
        values: what one step may be.
        dtype: of the tensor; "" for texts and bytes.
        shape: of one step's tensor.
        item: the Python type of one step; "" for an array of all steps.
        more: further parameters of Steps, as source text.
        limit: the most steps that are kept.
        padding: what fills up a batch.
        key: what comes after the field's name in the wire key.
    """

    kind: str
    values: st.SearchStrategy[Value]
    dtype: str = ""
    shape: tuple[int, ...] = ()
    item: str = ""
    more: str = ""
    limit: int | None = None
    padding: Any = 0
    key: str = ""

    def declared(self, name: str) -> str:
        """Return the annotation of a field."""
        python_type = f"list[{self.item}]" if self.item else "np.ndarray"
        key = f", key={name + self.key!r}" if self.key else ""
        return f"Annotated[{python_type}, Steps({self.kind}{self.more}{key})]"

    def tensor(self, steps: Sequence[Value]) -> Any:
        """Return the steps as they are delivered."""
        found = [value.delivered for value in steps]
        if not self.dtype:
            tensor = np.array([*found, None], object)[:-1]
        else:
            dtype = numpy_dtype(self.dtype)
            tensor = np.array(found, dtype).reshape((len(found), *self.shape))
        return tensor.tolist() if "ragged=True" in self.more else tensor

    def draw(self, name: str) -> st.SearchStrategy[Drawn]:
        """Draw values of a field."""

        @st.composite
        def drawn(draw: st.DrawFn) -> Drawn:
            too_many = 2 if self.limit and "keep" in self.more else 0
            longest = (self.limit or MOST) + too_many
            steps = draw(st.lists(self.values, max_size=longest))
            given = [value.given for value in steps]
            forms: list[Any] = [given, tuple(given)]
            if len({getattr(g, "dtype", None) for g in given} - {None}) == 1:
                forms += (
                    [np.stack(given)] if all(hasattr(g, "dtype") for g in given) else []
                )
            kept = steps[-self.limit :] if self.limit else steps
            if self.limit and "keep_tail" not in self.more:
                kept = steps[: self.limit]
            return Drawn(
                draw(st.sampled_from(forms)),
                {},
                {name: self.tensor(kept)},
                {name + self.key: [value.stored for value in kept]},
            )

        return drawn()

    def case(self) -> KindCase:
        """Return the case of a required field."""
        padding = {"": self.padding if self.dtype else b""}
        return KindCase(self.declared, self.draw, padding=padding, steps=True)


def _vectors() -> Iterator[Steps]:
    shapes = ((1,), (3,), (2, 2))
    for index, dtype in enumerate(DTYPES):
        shape = shapes[index % len(shapes)]
        for encoding in ("list", "raw"):
            values = numbers(dtype, shape, raw=encoding == "raw")
            kind = f"Vector({shape}, dtype={dtype!r}, encoding={encoding!r})"
            yield Steps(kind, values, dtype, shape)
    yield Steps(
        "Vector((2,), finite=False)",
        numbers("float32", (2,), finite=False),
        "float32",
        (2,),
        more=", padding_value=-0.5",
        padding=-0.5,
    )
    rounded = numbers("float32", (2,), exact=False)
    yield Steps("Vector((2,), exact=False)", rounded, "float32", (2,), "list[float]")
    yield Steps(
        "Vector((4,), dtype='uint8', encoding='raw', dequantize=(0.5, -3.0))",
        numbers("uint8", (4,), raw=True).map(
            lambda v: v._replace(delivered=v.delivered * np.float32(0.5) - 3)
        ),
        "float32",
        (4,),
        more=", padding_value=-7.5",
        padding=-7.5,
    )


def _scalars() -> Iterator[Steps]:
    for dtype in ("bool", "int64", "uint16", "uint64", "float32", "float64"):
        item = python_type(dtype)
        yield Steps(f"Scalar({dtype!r})", numbers(dtype), dtype, item=item)
    yield Steps("Scalar('bytes')", BLOB, item="bytes")
    yield Steps("Text()", TEXT, item="str")


def _labels() -> Iterator[Steps]:
    def label(drawn: tuple[int, bool]) -> Value:
        at, by_name = drawn
        return Value(NAMES[at] if by_name else at, ints(at), at)

    named = st.tuples(st.integers(0, len(NAMES) - 1), st.booleans()).map(label)
    kind = f"Label(classes={NAMES})"
    yield Steps(kind, named, "int64", item="int | str", padding=-1)
    literal = f"Literal[{', '.join(map(repr, NAMES))}]"
    more = ", role='input'"
    yield Steps("Label()", named, "int64", item=literal, more=more, padding=-1)
    counted = st.integers(0, 299).map(lambda at: Value(at, ints(at), at))
    more = ", padding_value=300"
    yield Steps("Label(num_classes=300)", counted, "int64", more=more, padding=300)


def _pictures(
    form: str, size: tuple[int, ...], read: Callable[[Any], Any]
) -> st.SearchStrategy[Value]:
    def value(seed: int) -> Value:
        shape: Any = size or (1 + seed % 6, 1 + seed % 5, 3)
        data = encoded(picture(shape, seed), form)
        return Value(data, blobs(data), read(tf.io.decode_image(data)))

    return st.integers(0, 99).map(value)


def _images() -> Iterator[Steps]:
    raw = numbers("uint16", (2, 1, 3), raw=True, image=True)
    kind = "Image((2, 1, 3), dtype='uint16')"
    yield Steps(kind, raw, "uint16", (2, 1, 3), "np.ndarray")
    for form, size in (("jpeg", (4, 5, 3)), ("png", (2, 3, 1))):
        values = _pictures(form, size, lambda pixels: pixels.numpy())
        kind = f"Image({size}, encoding={form!r})"
        yield Steps(kind, values, "uint8", size, "np.ndarray | bytes")
    kind = "Image((None, None, 3), encoding='png', resize=(3, 4)"
    values = _pictures(
        "png", (), lambda pixels: np.rint(tf.image.resize(pixels, (3, 4)))
    )
    more = ", padding_value=9"
    yield Steps(f"{kind})", values, "uint8", (3, 4, 3), "bytes", more, padding=9)
    values = _pictures("png", (), lambda pixels: tf.image.resize(pixels, (3, 4)))
    yield Steps(f"{kind}, dtype='float32')", values, "float32", (3, 4, 3), "bytes")


def _base64_texts() -> Iterator[Steps]:
    option = "transfer_encoding='base64'"

    def text(value: Value) -> Value:
        (data,) = value.stored.bytes_list.value
        return value._replace(stored=blobs(base64.standard_b64encode(data)))

    vectors = numbers("int16", (2,), raw=True).map(text)
    kind = f"Vector((2,), dtype='int16', encoding='raw', {option})"
    yield Steps(kind, vectors, "int16", (2,))
    images = numbers("uint8", (2, 1, 3), raw=True, image=True).map(text)
    yield Steps(f"Image((2, 1, 3), {option})", images, "uint8", (2, 1, 3), "np.ndarray")
    yield Steps(f"Scalar('bytes', {option})", BLOB.map(text), item="bytes")


def _limits() -> Iterator[Steps]:
    number = Steps("Scalar('int64')", numbers("int64"), "int64", item="int", limit=2)
    for policy in ("error", "keep_head", "keep_tail"):
        yield replace(number, more=f", max_length=2, too_long={policy!r}")
    yield Steps(
        "Vector((2,), dtype='int8')",
        numbers("int8", (2,)),
        "int8",
        (2,),
        more=", max_length=1, too_long='keep_tail', ragged=True, role='info'",
        limit=1,
        key="/schlüssel \"'{{ k }}",
    )
    yield Steps("Text()", TEXT, item="str", more=", ragged=True")


@dataclass(frozen=True)
class Lists:
    """One way of declaring steps with a list of any length in each.

    Attributes:
        kind: the VarLen of one step, as source text.
        values: what one step may be, given, stored, and delivered as an array or a list.
        item: the Python type of one step.
        dtype: of the tensor; "" for texts and bytes.
        shape: of one item.
        more: further parameters of Steps, as source text.
        ragged: whether it is delivered as a ragged tensor.
        last: of more steps, the number of the last ones that are kept; None for all.
        padding: what fills up a batch.
    """

    kind: str
    values: st.SearchStrategy[Value]
    item: str = "np.ndarray"
    dtype: str = ""
    shape: tuple[int, ...] = ()
    more: str = ""
    ragged: bool = False
    last: int | None = None
    padding: Any = 0

    def tensor(self, steps: Sequence[Value]) -> Any:
        """Return the steps as they are delivered: padded to their longest list."""
        found = [value.delivered for value in steps]
        if self.ragged:
            return [np.asarray(each, object).tolist() for each in found]
        dtype = numpy_dtype(self.dtype) if self.dtype else object
        shape = (len(found), max(map(len, found), default=0), *self.shape)
        table = np.full(shape, self.padding, dtype)
        for row, items in zip(table, found, strict=True):
            for at, item in enumerate(items):
                row[at] = item
        return table

    def declared(self, name: str) -> str:
        """Return the annotation of a field."""
        more = f"{self.more}, ragged={self.ragged}"
        return f"Annotated[list[{self.item}], Steps({self.kind}{more})]"

    def drawn(self, name: str, steps: list[Value]) -> Drawn:
        """Return one value of a field."""
        kept = steps[-self.last :] if self.last else steps
        lists = {name: [value.stored for value in kept]}
        given = [value.given for value in steps]
        return Drawn(given, {}, {name: self.tensor(kept)}, lists)

    def case(self) -> KindCase:
        """Return the case of a required field."""
        steps = st.lists(self.values, max_size=MOST + 1)
        return KindCase(
            self.declared,
            lambda name: steps.map(lambda found: self.drawn(name, found)),
            padding={"": self.padding},
            steps=True,
        )


def _lists_of_texts(of: type, *, most: int | None = None) -> st.SearchStrategy[Value]:
    """Lists of text or bytes, of which `most` are kept from the end."""

    def value(items: list[str]) -> Value:
        data = [item.encode() for item in items]
        kept = data[-most:] if most else data
        return Value(items if of is str else data, blobs(*kept), kept)

    return st.lists(st.sampled_from(["", "é", "two words"]), max_size=3).map(value)


def _lists() -> Iterator[Lists]:
    shapes: tuple[tuple[int, ...], ...] = ((), (2,), ())
    for index, dtype in enumerate(DTYPES):
        shape = shapes[index % len(shapes)]
        raw = index % 2 == 0
        values = numbers(dtype, (None, *shape), raw=raw, longest=3)
        encoding = ("list", "raw")[raw]
        kind = f"VarLen({dtype!r}, item_shape={shape}, encoding={encoding!r})"
        padding = False if dtype == "bool" else 0
        yield Lists(kind, values, "np.ndarray", dtype, shape, padding=padding)
    plain = numbers("int64", (None,), longest=3).map(
        lambda v: v._replace(given=v.delivered.tolist())
    )
    yield Lists("VarLen('int64')", plain, "list[int]", "int64", ragged=True)
    own = numbers("float32", (None, 3), longest=2)
    more = ", max_length=2, too_long='keep_tail', padding_value=-1.5"
    kind = "VarLen('float32', item_shape=(3,), max_length=2)"
    cut = Lists(kind, own, "np.ndarray", "float32", (3,), more, last=2)
    yield replace(cut, padding=-1.5)
    texts = Lists("VarLen('string')", _lists_of_texts(str), "list[str]", padding=b"")
    yield texts
    tail = _lists_of_texts(str, most=2)
    kind = "VarLen('string', max_length=2, too_long='keep_tail')"
    yield Lists(kind, tail, "list[str]", ragged=True, padding=b"")
    opaque = _lists_of_texts(bytes)
    more = ", role='info'"
    yield Lists("VarLen('bytes')", opaque, "list[bytes]", more=more, padding=b"")

    def classes(ids: list[int]) -> Value:
        return Value([NAMES[at] for at in ids], ints(*(at + 1 for at in ids)), ids)

    ids = st.lists(st.integers(0, len(NAMES) - 1), max_size=3).map(classes)
    kind = f"VarLen('int64', classes={NAMES}, offset=1)"
    yield Lists(kind, ids, "list[str]", "int64", padding=-1)


def cases() -> Iterator[KindCase]:
    """Every way of declaring steps."""
    found = [*_vectors(), *_scalars(), *_labels(), *_images(), *_limits()]
    for number, steps in enumerate([*found, *_base64_texts()]):
        case = steps.case()
        yield case
        if number % 3 == 0:
            yield case.optional(steps.tensor([]))
        if number % 4 == 0:
            yield case.optional(steps.tensor([]), default="[]")
    for number, lists in enumerate(_lists()):
        case = lists.case()
        yield case
        if number % 3 == 0:
            yield case.optional(lists.tensor([]))
        if number % 4 == 0:
            yield case.optional(lists.tensor([]), default="[]")
