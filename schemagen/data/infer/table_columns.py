"""The columns of a table of Arrow: their values, and what their types say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...findings import SchemagenError, refused
from ...runtime.cells.columns import Rows
from ...runtime.shared.frame_columns import INT64_DECIMALS
from ..formatting import plural
from ..tables import HELD

# Arrow's names of dtypes that have another one here.
_DTYPES = {"halffloat": "float16", "float": "float32", "double": "float64"}

# More values of one column are no classes.
_MOST_CLASSES = 1000

# Every float below it that has no fraction is an integer of its own.
_WHOLE_END = 2.0**53

# No integer of 64 bits is that large.
_INTEGERS_END = 2.0**64

# So large a share of different numbers has to differ as float32, too.
_DISTINCT = 0.99


@dataclass(frozen=True)
class Values:
    """The values of a column, or of the items of its lists.

    Attributes:
        dtype: of a value: that of a number, "string", "bytes", or "" if it is unknown.
        missing: which of them are missing.
        numbers: the numbers as int64 or float32; None for bytes.
        content: the bytes of strings; None for numbers.
        facts: more parameters of their field.
        notes: what is said of them.
        doubts: what is doubtful.
    """

    dtype: str
    missing: NDArray[np.bool_]
    numbers: NDArray[Any] | None = None
    content: Sequence[bytes] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class ListValues:
    """The lists of a column, without those that are null.

    Attributes:
        lengths: how many items each has.
        totals: how many values each has in all its items.
        sizes: the sizes of each item, if it is a list itself; -1 if they vary.
        items: the values, an array of Arrow.
    """

    lengths: Rows
    totals: Rows
    sizes: tuple[int, ...]
    items: Any

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of all lists; None if they differ or are empty."""
        lengths = np.unique(self.lengths)
        if len(lengths) != 1 or -1 in self.sizes or not lengths[0]:
            return None
        return (int(lengths[0]), *self.sizes)


@dataclass(frozen=True)
class TableColumn:
    """A column, or a member of the structs in one.

    Attributes:
        path: its name; for a member the names of the column and of the structs before it.
        values: its values, or those of its lists.
        missing: the rows that have none.
        lists: its lists; None for single values.
    """

    path: tuple[str, ...]
    values: Values
    missing: NDArray[np.bool_]
    lists: ListValues | None = None

    @property
    def key(self) -> str:
        """The key of its field."""
        return "/".join(self.path)

    def refused(
        self, where: str, what: str, found: str, expected: str
    ) -> SchemagenError:
        """Return the error for a column that no field can hold."""
        return _refused(where, self.path, what, found, expected)


def columns_of(table: Any, where: str) -> Iterator[TableColumn]:
    """Yield the columns of a `pyarrow.Table`, and the members of its structs in their place.

    Args:
        table: with rows.
        where: its name in errors.

    Raises:
        SchemagenError: a column that no field can hold.
    """
    names = table.schema.names
    for name in names:
        if names.count(name) > 1:
            raise _refused(where, (name,), "is there twice", "", "names that differ")
        array = table[name].unify_dictionaries().combine_chunks()
        yield from _columns(where, (name,), array)


def _columns(where: str, path: tuple[str, ...], array: Any) -> Iterator[TableColumn]:
    import pyarrow as pa

    kind, missing = array.type, np.asarray(array.is_null())
    if not path[-1]:
        found, expected = f"{kind} without a name", "a name for each column"
        raise _refused(where, path, "has no name", found, expected)
    if pa.types.is_struct(kind):
        if missing.any():
            nulls = plural(int(missing.sum()), "row")
            what = "is a struct that is null, and a nested model is never missing"
            raise _refused(where, path, what, nulls, "members that are null")
        for at in range(kind.num_fields):
            inner = (*path, kind.field(at).name)
            yield from _columns(where, inner, array.field(at))
        return
    lists = _lists(array) if _is_list(kind) else None
    values = _values(array if lists is None else lists.items, single=lists is None)
    if values is None or (lists is not None and "unit" in values.facts):
        raise _refused(where, path, "has a type that no field holds", str(kind), HELD)
    if lists is None:
        yield TableColumn(path, values, values.missing)
        return
    nulls = lists.items.null_count
    varies = -1 in lists.sizes or values.content is not None
    if nulls or (varies and len(lists.sizes) > 1):
        found = "null among their items" if nulls else "items whose shape varies"
        expected = "lists of values, of lists of values, or of arrays of one shape"
        what = "has lists that no field holds"
        raise _refused(where, path, what, found, expected)
    yield TableColumn(path, values, missing, lists)


def _refused(
    where: str, path: Sequence[str], what: str, found: str, expected: str
) -> SchemagenError:
    return refused(
        where,
        f"column {'.'.join(path)!r} {what}",
        rule="SG442",
        found=found,
        expected=expected,
        advice="change the column, or leave it out",
    )


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    known = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(kind) for is_kind in known)


def _items(array: Any) -> tuple[Rows, Any]:
    """Return the lengths of the lists that there are, and their items."""
    import pyarrow.compute as pc

    there = array.drop_null()
    lengths = np.asarray(pc.list_value_length(there)).astype(np.int64)
    return lengths, pc.list_flatten(there)


def _lists(array: Any) -> ListValues:
    """Return lists, and their items as far as these are lists again."""
    lengths, items = _items(array)
    totals = lengths
    sizes: tuple[int, ...] = ()
    while _is_list(items.type) and not items.null_count:
        fixed = getattr(items.type, "list_size", -1)
        inner, items = _items(items)
        found = np.unique(inner)
        sizes += (int(found[0]) if len(found) == 1 and found[0] else fixed,)
        ends, sums = np.cumsum(totals), np.append(0, np.cumsum(inner))
        totals = sums[ends] - sums[ends - totals]
    return ListValues(lengths, totals, sizes, items)


def _values(array: Any, *, single: bool) -> Values | None:
    """Return the values of an array; None if no field holds such.

    Args:
        array: without lists and structs.
        single: whether each is the value of a row.
    """
    import pyarrow as pa

    types, kind = pa.types, array.type
    missing = np.asarray(array.is_null())
    if types.is_null(kind):
        return Values("", missing)
    if types.is_dictionary(kind):
        found = _categories(array, missing) if single else None
        return found or _values(array.dictionary_decode(), single=single)
    if types.is_boolean(kind):
        return Values("bool", missing, _numpy(array, False, np.int64))
    if types.is_integer(kind):
        # Of uint64, what is larger than int64 is a large number in any case.
        numbers = _numpy(array)
        if numbers.dtype == np.uint64:
            numbers = np.minimum(numbers, np.uint64(np.iinfo(np.int64).max))
        return Values(str(kind), missing, numbers.astype(np.int64))
    if types.is_decimal(kind):
        if kind.scale <= 0 and kind.precision <= INT64_DECIMALS:
            return Values("int64", missing, _numpy(array.cast(pa.int64())))
        return _floats(array.cast(pa.float64()), "float64", single=single)
    if types.is_floating(kind):
        integers = _whole(array) if single and types.is_float64(kind) else None
        return integers or _floats(array, _DTYPES[str(kind)], single=single)
    if types.is_date(kind):
        array = array.cast(pa.date32()).cast(pa.timestamp("s"))
        return Values("int64", missing, _integers(array), facts={"unit": "s"})
    if types.is_timestamp(kind):
        return Values("int64", missing, _integers(array), facts={"unit": kind.unit})
    if types.is_duration(kind) or types.is_time(kind):
        facts = {"unit": kind.unit, "duration": True}
        notes = ("the time since midnight",) if types.is_time(kind) else ()
        return Values("int64", missing, _integers(array), facts=facts, notes=notes)
    text = str(kind).removeprefix("large_").removesuffix("_view")
    if text.startswith("fixed_size_binary"):
        text = "binary"
    if text not in ("string", "binary"):
        return None
    content = array.cast(pa.large_binary()).drop_null().to_pylist()
    return Values("string" if text == "string" else "bytes", missing, content=content)


def _numpy(array: Any, filler: Any = 0, dtype: Any = None) -> NDArray[Any]:
    found: NDArray[Any] = np.asarray(array.fill_null(filler))
    return found.astype(dtype) if dtype else found


def _integers(times: Any) -> NDArray[Any]:
    """Return times as the integers that Arrow stores."""
    width = times.type.bit_width
    return _numpy(times.view(f"int{width}"), dtype=np.int64)


def _categories(array: Any, missing: NDArray[np.bool_]) -> Values | None:
    """Return the ids of categories; None for what is not text, empty or too much."""
    names = array.dictionary.to_pylist()
    texts = all(isinstance(name, str) and name for name in names)
    if (
        not texts
        or len(set(names)) < len(names)
        or not 2 <= len(names) <= _MOST_CLASSES
    ):
        return None
    facts = {"classes": tuple(names), "num_classes": len(names)}
    return Values("int64", missing, _numpy(array.indices, dtype=np.int64), facts=facts)


def _whole(array: Any) -> Values | None:
    """Return the integers that a frame holds as floats, since some are missing.

    Those that may have lost digits stay floats, with a doubt.
    """
    numbers = _numpy(array, np.nan)
    missing = np.isnan(numbers)
    there = numbers[~missing]
    largest = abs(there).max(initial=0)
    whole = (there == np.rint(there)).all() and largest < _INTEGERS_END
    if not (whole and missing.any() and len(there)):
        return None
    if largest >= _WHOLE_END:
        doubt = (
            "whole numbers of 2**53 and more, some of them missing: integers that may have "
            "lost digits as floats? Read them as integers with nulls, such as Int64 of pandas"
        )
        return replace(_floats(array, "float64", single=True), doubts=(doubt,))
    integers = np.where(missing, 0, numbers).astype(np.int64)
    doubt = "whole numbers, some of them missing: integers, or floats?"
    return Values("int64", missing, integers, doubts=(doubt,))


def _floats(array: Any, dtype: str, *, single: bool) -> Values:
    """Return floats, of which NaN is missing where it is the value of a row.

    Those of float64 become float32, in which models compute, unless they are too large or
    become the same numbers.
    """
    numbers, missing = _numpy(array, 0.0), np.asarray(array.is_null())
    missing = missing | np.isnan(numbers) if single else missing
    there = numbers[~missing]
    # What is out of the range of float32 is its largest number in statistics.
    most = np.finfo(np.float32).max if dtype == "float64" else np.inf
    within = np.clip(
        numbers, -most, most, where=np.isfinite(numbers), out=numbers.copy()
    )
    narrow = within.astype(np.float32)
    note = ""
    if (within[~missing] != there)[np.isfinite(there)].any():
        note = "beyond the range of float32"
    elif single and dtype == "float64":
        distinct = len(np.unique(there))
        if len(np.unique(narrow[~missing])) < _DISTINCT * distinct:
            note = "different numbers would be the same as float32"
    declared = "float32" if dtype == "float64" and not note else dtype
    return Values(declared, missing, narrow, notes=(note,) if note else ())
