"""Lists of any length: numbers, items of a fixed shape, strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from math import isfinite, prod
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..cells.cells import Source
from ..cells.checks import Check, Checks
from ..cells.columns import Rows
from ..cells.decoded import Form, Shape, Values
from ..cells.delivered import Delivered
from ..cells.part import BYTES, Part, values_part, with_missing
from ..cells.written import RawRows, Stored, Written, written_numbers
from ..shared.dtypes import DTYPES, ITEMS, RAW_ONLY, STRINGS
from ..shared.errors import Problem
from ..shared.values import (
    NO_RANGE,
    Numbers,
    check_shape,
    described,
    inside,
    range_text,
    shape_text,
)
from .box_sides import Sides, box_problems
from .changes import (
    BOX,
    BOX_IMAGE,
    BOX_SCALED,
    CLASSES,
    DTYPE,
    ENCODING,
    FINITE,
    FORM,
    GROUP,
    ITEM_SHAPE,
    LIMIT,
    OFFSET,
    PAD_ON_DISK,
    PADDING,
    TOO_LONG,
    VALUES,
)
from .classes import (
    Classed,
    ClassValues,
    Names,
    Renamed,
    StoredAs,
    accepts_classes,
    class_problems,
    resolved_classes,
)
from .kind import Default
from .limits import Listed
from .numbers import NumbersKind, numbers_in
from .parameters import (
    Count,
    ItemShape,
    Name,
    OneOf,
    Padding,
    Size,
    TooLong,
    declared,
    parameter,
)
from .python_types import is_list_of, is_numbers, item_name, item_types
from .ranges import Ranged
from .text import TEXT, encode_text

_OF_CLASSES = ("offset", "values", "renamed")
_NOT_OF_CLASSES = ("item_shape", "exact", "min", "max", "pad_on_disk", "box")


@declared
class VarLen(Listed, Ranged):
    """A sequence of any length from 0: numbers, items of a fixed shape, strings.

    Attributes:
        dtype: of the items; "string" is text, "bytes" opaque.
        max_length: the most items a row may have; None for any number.
        item_shape: the shape of one item; items are stored flat.
        padding_value: what fills a batch up to its longest row; 0 means "" for
            strings, False for bools, and -1, no class, for classes.
        ragged: deliver a RaggedTensor in place of a padded batch.
        exact: refuse floats that dtype cannot hold exactly, instead of rounding them.
        finite: refuse NaN and infinities.
        too_long: what becomes of more than `max_length` items, when writing and when
            reading: "error" refuses them, "keep_head" keeps the first and "keep_tail"
            the last of them.
        pad_on_disk: fill shorter rows up to `max_length` with `padding_value` when
            writing; readers then get a fixed shape.
        group: a name that fields with equally many items share; checked when writing
            and when reading.
        box: the items are boxes: the names of their four numbers, in this order, such as
            ("ymin", "xmin", "ymax", "xmax"), or with "width" and "height". Or one of
            these, of a list that is one side of boxes, with the others in its group.
        box_image: the field of the image inside of which they are, if they are in pixels.
        box_scaled: whether readers scale them with this image, and deliver float32; by
            default if it has `resize`.
        encoding: "list" stores an int64 or float list, "raw" little-endian bytes, as
            many as the row has items. Dtypes that the lists of tf.train.Example cannot
            hold, such as float64, are always raw.
        classes: the items are classes: their names in the order of their ids. Rows give
            ids from 0 or names, batches have ids. The dtype is int64.
        vocabulary: a file of the names, one a line, next to the schema file.
        offset: what is added to a class id where it is stored.
        values: the integer that is stored for each class, such as (5, 3, 9).
        stored: "id", or "text" for the classes' names themselves.
        renamed: from the names that classes had in earlier data to those of today.
    """

    dtype: Annotated[str, OneOf(ITEMS)] = parameter(*DTYPE)
    max_length: Size | None = parameter(*LIMIT, default=None)
    item_shape: ItemShape = parameter(*ITEM_SHAPE, default=())
    padding_value: Padding = parameter(*PADDING, default=0)
    ragged: bool = parameter(default=False)
    exact: bool = parameter(default=False)
    finite: bool = parameter(*FINITE, default=True)
    too_long: TooLong = parameter(*TOO_LONG, default="error", omit_default=True)
    pad_on_disk: bool = parameter(*PAD_ON_DISK, default=False, omit_default=True)
    group: Name | None = parameter(*GROUP, default=None, omit_default=True)
    box: Sides | None = parameter(*BOX, default=None, omit_default=True)
    box_image: Name | None = parameter(*BOX_IMAGE, default=None, omit_default=True)
    box_scaled: bool | None = parameter(*BOX_SCALED, default=None, omit_default=True)
    encoding: Literal["list", "raw"] = parameter(
        *ENCODING, default="list", omit_default=True
    )
    classes: Names | None = parameter(*CLASSES, default=(), omit_default=True)
    vocabulary: Name | None = parameter(default=None, omit_default=True)
    offset: Count = parameter(*OFFSET, default=0, omit_default=True)
    stored: StoredAs = parameter(*FORM, default="id", omit_default=True)
    renamed: Renamed = parameter(default=(), omit_default=True)
    values: ClassValues = parameter(*VALUES, default=(), omit_default=True)

    kind: ClassVar[str] = "VarLen"
    layers: ClassVar[tuple[str, ...]] = ("dense", "normalization", "vocabulary")
    holds: ClassVar[str] = (
        "a list or np.ndarray of its dtype; of classes a list of int or str"
    )
    num_classes: ClassVar[int | None] = None
    takes_default: ClassVar[Default] = "empty"
    selectable: ClassVar[bool] = True

    def form(self) -> type[VarLen]:
        if self.classes:
            return ClassList
        if self.dtype in STRINGS:
            return FilledStrings if self.pad_on_disk else StringList
        return FilledNumbers if self.pad_on_disk else NumberList

    @property
    def python_type(self) -> str:
        if self.classes:
            return "list[str]"
        return "np.ndarray" if self.item_shape else f"list[{item_name(self.dtype)}]"

    def accepts(self, python_type: Any) -> bool:
        if self.classes:
            return accepts_classes(python_type, named=True)
        if self.dtype in STRINGS:
            return is_list_of(python_type, *item_types(self.dtype))
        return is_numbers(python_type, self.dtype)

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        yield from limit_problems(self)
        if self.pad_on_disk and (self.ragged or self.max_length is None):
            yield Problem(
                "pad_on_disk=True with ragged=True or no max_length",
                "max_length=n: what is padded on disk has one length",
            )
        padding = self.padding_value
        if self.pad_on_disk and self.finite and _is_infinite(padding):
            yield Problem(
                f"padding_value={padding!r} with pad_on_disk=True",
                "finite=False: readers refuse what is on disk otherwise",
            )
        if self.item_shape and self.dtype in STRINGS:
            yield Problem(f"item_shape with dtype {self.dtype!r}", "single strings")
        if self.encoding == "raw" and self.dtype in STRINGS:
            yield Problem(f"encoding='raw' with dtype {self.dtype!r}", "numbers")
        yield from padding_problems(self.dtype, self.padding_value)
        yield from self._class_problems()
        yield from box_problems(self, self.item_shape)
        if self.box is not None and self.pad_on_disk and padding:
            yield Problem(
                f"box with pad_on_disk=True and padding_value={padding!r}",
                "padding_value=0, an empty box",
            )

    def _class_problems(self) -> Iterator[Problem]:
        """Yield parameters that do not go with classes, or need classes."""
        given = [name for name in _OF_CLASSES if getattr(self, name)]
        given += ["stored"] if self.stored == "text" else []
        if not (self.classes or self.vocabulary):
            if given:
                yield Problem(
                    f"{given[0]} without classes", "classes=('car', 'person')"
                )
            return
        yield from class_problems(self)
        others = [
            name
            for name in _NOT_OF_CLASSES
            if getattr(self, name) not in (None, (), False)
        ]
        others += [] if self.encoding == "list" else ["encoding"]
        if self.dtype != "int64" or others:
            yield Problem(
                f"classes with {', '.join([f'dtype {self.dtype!r}', *others])}",
                "dtype 'int64', which batches have, and none of "
                f"{', '.join(_NOT_OF_CLASSES)}",
            )
        if self.padding_value in range(1, len(self.classes or ())):
            yield Problem(
                f"padding_value={self.padding_value!r}, the id of a class", "such as -1"
            )

    def _range_problems(self) -> Iterator[Problem]:
        padding = self.padding_value
        if not self.pad_on_disk or self.range == NO_RANGE:
            return
        if isinstance(padding, (int, float)) and not inside(
            np.asarray(padding), self.range
        ):
            yield Problem(
                f"padding_value={padding!r} with pad_on_disk=True",
                f"one of the {range_text(*self.range)}",
            )

    def resolved(self, name: str) -> Self:
        padding: Any = padding_of(self.dtype, self.padding_value)
        if self.classes:
            padding = padding or -1
        # What is always raw says so by its dtype.
        encoding: Any = "list" if self.dtype in RAW_ONLY else self.encoding
        changed = {"padding_value": padding, "encoding": encoding}
        return replace(super().resolved(name), **changed, **resolved_classes(self))

    def make_parts(self) -> tuple[Part, ...]:
        most = None
        if self.max_length is not None and self.too_long == "error":
            most = self.max_length * prod(self.item_shape)
        part = values_part(self.key, self.dtype, None, most, raw=self._is_raw)
        missing = b"" if self.optional and part.encoding == "raw" else None
        item_size = prod(self.item_shape)
        if self._is_raw:
            item_size *= DTYPES[self.dtype].size
        return (replace(part, missing=missing, item_size=item_size),)

    @cached_property
    def delivered(self) -> Delivered:
        return self._delivers_items((None, *self.item_shape))

    @property
    def _is_raw(self) -> bool:
        return self.encoding == "raw" or self.dtype in RAW_ONLY

    @property
    def checks(self) -> Checks:
        count = prod(self.item_shape)
        return (
            *super().checks,
            *self.checks_of_items(),
            *((whole_items(self.item_shape),) if count != 1 else ()),
            *self._limit.checks(count),
        )

    def checks_of_items(self) -> Checks:
        """Return the checks of what the list holds, whatever its length."""
        if self.dtype in DTYPES:
            return self.checks_of_numbers()
        return (TEXT,) if self.dtype == "string" else ()

    def cells(self, source: Source) -> tuple[Any, ...]:
        return (self.items(source),)

    def items(self, source: Source, *, fill: bool = False) -> Any:
        """Return what is stored under the list's key; see `Source.read`."""
        (part,) = self.parts
        if self.dtype in DTYPES:
            shape = self.delivered.shape
            return numbers_in(source, part, self.dtype, shape, fill=fill)
        return source.read(part, f"{part.text} ({self.dtype})", fill=fill)

    def unpack(self, *cells: Any) -> Any:
        (found,) = cells
        return self.unpacked(found, str(self.dtype))

    def unpacked(self, found: Any, dtype: str) -> Any:
        """Return the lists of checked cells, whose items have a dtype."""
        kept = self._limit.kept(found.lists(dtype, self.item_shape))
        return kept if self.ragged else found.padded(kept, self.delivered.filler)


def whole_items(shape: tuple[int, ...]) -> Check:
    """Return the check that values make whole items of a shape."""
    count = prod(shape)
    return Check(
        "SG524",
        "values are not a whole number of items",
        f"items of {count} values (shape {shape_text(shape)})",
        lambda cells: cells.lengths % count == 0,
        by_row=True,
        numbers=lambda cells: (cells.lengths,),
        found="{} values",
    )


class NumberList(NumbersKind, VarLen):
    """A list of numbers, or of items of a fixed shape."""

    @property
    def shape_of_rows(self) -> Shape:
        return (None, *self.item_shape)

    @cached_property
    def delivered(self) -> Delivered:
        return self._scaled(super().delivered)

    def store(self, value: Any) -> Sequence[Stored]:
        if (
            type(value) is np.ndarray
            and value.ndim
            and value.shape[1:] == self.item_shape
            and self._limit.keeps(len(value))
            and self._numbers.accepts(value)
        ):
            return (self._stored(value),)
        return (self._stored(self._numbers.raw(self._limit.cut(self.convert(value)))),)

    def pack(self, values: Any, rows: int) -> Sequence[Written]:
        items, lengths = self.concatenated(values)
        items, lengths = self._fitted(items, lengths)
        array = self._numbers.raw(items)
        counts = lengths * prod(self.item_shape)
        if self._raw:
            sizes = counts * DTYPES[self.dtype].size
            return (Written(RawRows(array, sizes)),)
        return (written_numbers(self.parts[0], array, counts),)

    def _fitted(self, items: NDArray[Any], lengths: Rows) -> tuple[NDArray[Any], Rows]:
        """Return the items of all rows as they are stored, and the number of each."""
        return self._limit.cut_rows(items, lengths)

    def concatenated(self, values: Any) -> tuple[NDArray[Any], Rows]:
        """Return all rows' items in one array, and the number of each row's."""
        if isinstance(values, np.ndarray):
            array = self._numbers.convert(values)
            check_shape(array, (None, None, *self.item_shape))
            lengths = np.full(len(array), array.shape[1], np.int64)
            return array.reshape(-1, *self.item_shape), lengths
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        kinds = set(map(type, values))
        if kinds == {np.ndarray}:
            if len({(row.dtype, row.shape[1:]) for row in values}) > 1:
                raise Problem("rows of different dtypes or shapes", "rows of one kind")
            joined: Any = np.concatenate(values)
        elif kinds <= {list, tuple}:
            joined = list(chain.from_iterable(values))
        else:
            raise Problem("rows of different types", "rows of one type")
        array = self._numbers.convert(joined)
        if array.shape == (0,):  # rows without an item, which have no shape
            array = array.reshape((0, *self.item_shape))
        check_shape(array, (int(lengths.sum()), *self.item_shape))
        return array, lengths


class StringList(VarLen):
    """A list of strings."""

    def convert(self, value: Any) -> list[bytes]:
        text = self.dtype == "string"
        expected = f"a list of {'str' if text else 'bytes'}"
        if isinstance(value, np.ndarray) and value.ndim == 1:
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            raise Problem(described(value), expected)
        wanted = str if text else bytes
        for at, item in enumerate(value):
            if not isinstance(item, wanted):
                raise Problem(f"{described(item)} at [{at}]", expected)
        return [encode_text(item) if text else item for item in value]

    def store(self, value: Any) -> Sequence[Stored]:
        strings: list[bytes] = self._limit.cut(self.convert(value))
        return (strings,)


class FilledList(VarLen):
    """A list that is padded to its largest length when it is written."""

    selectable: ClassVar[bool] = False

    def make_parts(self) -> tuple[Part, ...]:
        count, filler = prod(self._filled_shape), self.delivered.filler
        part = values_part(self.key, self.dtype, count, raw=self._is_raw)
        if part.encoding != "raw":
            part = replace(part, shape=self._filled_shape)
        if not self.optional:
            return (part,)
        if part.stored == BYTES and part.encoding != "raw":
            return (replace(part, missing=filler.encode()),)
        return (with_missing(part, self.dtype, filler, count),)

    @cached_property
    def delivered(self) -> Delivered:
        return self._delivers_items(self._filled_shape)

    @property
    def _filled_shape(self) -> tuple[int, ...]:
        return (self.max_length or 0, *self.item_shape)

    @property
    def checks(self) -> Checks:
        return self.checks_of_items()

    def unpacked(self, found: Any, dtype: str) -> Any:
        return found.dense(dtype, self._filled_shape)


class FilledNumbers(FilledList, NumberList):
    """A list of numbers that is padded when it is written."""

    @cached_property
    def delivered(self) -> Delivered:
        return self._scaled(super().delivered)

    def store(self, value: Any) -> Sequence[Stored]:
        items = self.convert(value)
        filled, _ = self._fitted(items, np.array([len(items)]))
        return (self._stored(self._numbers.raw(filled)),)

    def _fitted(self, items: NDArray[Any], lengths: Rows) -> tuple[NDArray[Any], Rows]:
        self._limit.check(int(lengths.max(initial=0)))
        items, lengths = super()._fitted(items, lengths)
        rows, (most, *shape) = len(lengths), self._filled_shape
        filled = np.full((rows, most, *shape), self.delivered.filler, items.dtype)
        filled[np.arange(most) < lengths[:, np.newaxis]] = items
        return filled.reshape(-1, *shape), np.full(rows, most)


class FilledStrings(FilledList, StringList):
    """A list of strings that is padded when it is written."""

    def convert(self, value: Any) -> list[bytes]:
        strings = super().convert(value)
        self._limit.check(len(strings))
        return strings

    def store(self, value: Any) -> Sequence[Stored]:
        (strings,) = super().store(value)
        (most,) = self._filled_shape
        padding = [encode_text(self.delivered.filler)] * (most - len(strings))
        return ([*strings, *padding],)


class ClassList(Classed, VarLen):
    """A list of classes."""

    def make_parts(self) -> tuple[Part, ...]:
        (part,) = super().make_parts()
        most = self.max_length if self.too_long == "error" else None
        return (replace(part, most=most, item_size=1),)

    @property
    def checks(self) -> Checks:
        return (*super().checks, *self._limit.checks())

    def convert(self, value: Any) -> list[int]:
        return self.ids_of_list(value)

    def store(self, value: Any) -> Sequence[Stored]:
        ids = self._limit.cut(self.convert(value))
        return ([self.stored_as[index] for index in ids],)

    def unpack(self, *cells: Any) -> Any:
        return super().unpack(self.ids(cells[0]))

    def in_form(self, values: Values, form: Form) -> Values:
        return self.names_of_lists(values) if form.names else values


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and not isfinite(value)


def limit_problems(kind: Listed) -> Iterator[Problem]:
    """Yield sequences that are cut, and have no limit."""
    if kind.max_length is None and kind.too_long != "error":
        yield Problem(f"too_long={kind.too_long!r} without a limit", "max_length=n")


def padding_problems(dtype: str, value: object) -> Iterator[Problem]:
    """Yield a padding value that a dtype cannot hold."""
    try:
        padding_of(dtype, value)
    except Problem as problem:
        yield Problem(f"padding_value={value!r}", problem.expected)


def padding_of(dtype: str, value: object) -> bool | int | float | str:
    """Return what fills a batch of a dtype; 0 is "" for strings and False for bools.

    Raises:
        Problem: the dtype cannot hold it.
    """
    if type(value) is int and value == 0 and dtype in ("bool", *STRINGS):
        return False if dtype == "bool" else ""
    if dtype in STRINGS:
        if not isinstance(value, str):
            raise Problem(repr(value), "a str")
        return value
    number = Numbers(dtype).convert(value)
    if number.shape:
        raise Problem(repr(value), "one number")
    return number.real.item()  # type: ignore[no-any-return]
