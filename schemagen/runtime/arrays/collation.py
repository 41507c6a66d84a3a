"""From rows to columns: values of records that functions have changed, or that are mixed.

And columns of one shape: lists that are padded to the lengths that the schema allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..native import padded
from ..records.decoder import Batch, Collator, Decoder
from ..shared.errors import NO_LIMIT, DatasetError, Problem
from ..shared.tensors import array_of
from ..shared.values import described

Collators = Mapping[str, Collator]
"""What makes columns of the fields of a schema, by their labels."""

DType = np.dtype[Any] | type
"""The dtype of numbers; or `str` or `bytes`; or `dict` of nested values."""


class DTypes:
    """The dtypes of fields: of each, that of the value that was read first.

    In another process, other values are read first.
    """

    def __init__(self) -> None:
        self._first: dict[str, tuple[DType, int]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what this process has read."""
        return {"_first": {}}

    def get(self, label: str) -> DType | None:
        """Return the dtype of a field; None if no value was read."""
        return self._first.get(label, (None, 0))[0]

    def first(self, label: str, dtype: DType, source: int) -> tuple[DType, int]:
        """Return the dtype of a field, and where its first value was.

        Args:
            label: of the field.
            dtype: of another value, which is the first one if none was read before.
            source: the number of its record, or of its split.
        """
        return self._first.setdefault(label, (dtype, source))


class Collation:
    """Makes columns of what a function of records has returned.

    The values of a field have one dtype: that of the record that was read first. None and
    empty lists have none.

    Args:
        collators: of the fields of the schema.
        error: returns the error of some records, given their numbers and the reason.
        place: returns what to call a record, given its number.
    """

    def __init__(
        self,
        collators: Collators,
        error: Callable[[Sequence[int], str], DatasetError],
        place: Callable[[int], str],
    ) -> None:
        self._collators = collators
        self._error = error
        self._place = place
        self._dtypes = DTypes()

    def columns(
        self,
        rows: Sequence[Mapping[str, Any]],
        numbers: Sequence[int],
        prefix: str = "",
    ) -> Batch:
        """Return rows as columns by name, with masks `<name>_present` for missing values.

        Fields of the schema have the masks that its batches have, others one if a value is
        missing.

        Args:
            rows: at least one.
            numbers: of their records.
            prefix: of the labels of the rows' fields, where they are nested.

        Raises:
            DatasetError: rows do not have the same fields, or values make no column.
        """
        columns: Batch = {}
        for name in self._names(rows, numbers, prefix):
            values, label = [row[name] for row in rows], prefix + name
            if any(isinstance(value, Mapping) for value in values):
                dtypes = [*map(self._dtype_of, values, numbers, [label] * len(rows))]
                self._dtype(label, dtypes, numbers)
                columns[name] = self.columns(values, numbers, f"{label}.")
                continue
            known = self._collators.get(label)
            present = np.array([value is not None for value in values])
            columns[name] = self._column(values, numbers, present, label)
            if known.masked if known else not present.all():
                columns.setdefault(f"{name}_present", present)
        return columns

    def checked(
        self, batch: Mapping[Any, Any], numbers: Sequence[int], prefix: str = ""
    ) -> Batch:
        """Return columns that a function of batches has returned, as arrays or lists.

        Args:
            batch: the columns.
            numbers: of the records.
            prefix: of the labels of the columns, where they are nested.

        Raises:
            DatasetError: they are no columns, or those of more or fewer records.
        """
        found: Batch = {}
        for name, column in batch.items():
            self._check_name(name, numbers)
            label = prefix + name
            if isinstance(column, Mapping):
                self._dtype(label, [dict], numbers, together=True)
                found[name] = self.checked(column, numbers, f"{label}.")
            elif isinstance(column, (list, tuple)):
                self._check_count(column, numbers, label)
                found[name] = self._listed(column, numbers, label)
            else:
                found[name] = self._whole(column, numbers, label)
        return found

    def items(
        self, values: Sequence[Any], numbers: Sequence[int], label: str
    ) -> tuple[NDArray[Any], Rows]:
        """Return the items of lists one behind the other, and how many each has.

        Args:
            values: a list of each record; None for a missing one.
            numbers: of the records.
            label: of the field.

        Returns:
            [sum of lengths, ...] and int64 [N].
        """
        arrays = []
        for value, number in zip(values, numbers, strict=True):
            arrays.append(self._array([] if value is None else value, number, label))
            if not arrays[-1].ndim:
                words = f"field {label!r}: found {described(value)}, expected a list"
                raise self._error([number], words)
        dtype = self._dtype(label, [*map(dtype_of, arrays)], numbers)
        filled = [at for at, array in enumerate(arrays) if array.size]
        self._check_shapes(
            [arrays[at].shape[1:] for at in filled],
            [numbers[at] for at in filled],
            label,
        )
        none = [np.empty(0, _in_numpy(dtype) if dtype else np.int64)]
        flat = np.concatenate([arrays[at] for at in filled] or none)
        return flat, np.fromiter(map(len, arrays), np.int64, len(arrays))

    def check(
        self,
        rows: Sequence[Mapping[Any, Any]],
        numbers: Sequence[int],
        prefix: str = "",
    ) -> None:
        """Refuse values of different dtypes; those of dates and of lists in lists are not known.

        Args:
            rows: with any fields.
            numbers: of their records.
            prefix: of the labels of the rows' fields, where they are nested.
        """
        for row, number in zip(rows, numbers, strict=True):
            for name, value in row.items():
                self._check_name(name, [number])
                label = prefix + name
                first = self._dtypes.get(label)
                try:
                    dtype = self._dtype_of(value, number, label)
                except DatasetError:
                    if first is not None and not isinstance(value, (list, tuple)):
                        raise
                    continue
                self._dtype(label, [dtype], [number])
                if isinstance(value, Mapping):
                    self.check([value], [number], f"{label}.")

    def _check_name(self, name: object, numbers: Sequence[int]) -> None:
        if not isinstance(name, str):
            words = f"found {name!r} as the name of a field, expected a text"
            raise self._error(numbers, words)

    def _check_count(self, column: Any, numbers: Sequence[int], label: str) -> None:
        if len(column) != len(numbers):
            raise self._error(
                numbers,
                f"column {label!r} has {len(column)} rows, expected {len(numbers)}",
            )

    def _check_shapes(
        self, shapes: Sequence[tuple[int, ...]], numbers: Sequence[int], label: str
    ) -> None:
        for shape, number in zip(shapes, numbers, strict=True):
            if shape != shapes[0]:
                raise self._error(
                    [number],
                    f"field {label!r}: found the shape {shape}, and {shapes[0]} in "
                    f"{self._place(numbers[0])}, which cannot be batched; bring all to one "
                    "shape, or to lists of numbers, which are padded",
                )

    def _names(
        self, rows: Sequence[Any], numbers: Sequence[int], prefix: str
    ) -> list[str]:
        first = next(row for row in rows if isinstance(row, Mapping))
        names = ", ".join(map(str, first))
        for row, number in zip(rows, numbers, strict=True):
            if not isinstance(row, Mapping):
                label, words = prefix.removesuffix("."), described(row)
                raise self._error(
                    [number],
                    f"field {label!r}: found {words}, and dicts in other records; return "
                    f"a dict with {names} for each",
                )
            if row.keys() != first.keys():
                odd = next(
                    each for each in (*first, *row) if (each in row) != (each in first)
                )
                raise self._error(
                    [number],
                    f"field {prefix + str(odd)!r}: found the fields "
                    f"{', '.join(map(str, row))}, and {names} in other records; return "
                    "the same fields for each record, and None for a value that is "
                    "missing",
                )
        for name in first:
            self._check_name(name, numbers[:1])
        return list(first)

    def _array(self, value: Any, number: int, label: str) -> NDArray[Any]:
        try:
            return array_of(value)
        except Problem as problem:
            raise self._error([number], f"field {label!r}: {problem}") from None

    def _dtype_of(self, value: Any, number: int, label: str) -> DType | None:
        if value is None or isinstance(value, Mapping):
            return None if value is None else dict
        return dtype_of(self._array(value, number, label))

    def _dtype(
        self,
        label: str,
        dtypes: Sequence[DType | None],
        numbers: Sequence[int],
        *,
        together: bool = False,
    ) -> DType | None:
        """Return the dtype of a field; None if it is not known.

        Args:
            label: of the field.
            dtypes: of some of its values, None for those that have none.
            numbers: of their records.
            together: whether the values are columns of all records.

        Raises:
            DatasetError: a value has another one.
        """
        held = self._dtypes.get(label)
        if not {*dtypes} - {None, held}:
            return held
        for at, dtype in enumerate(dtypes):
            if dtype is None:
                continue
            held, where = self._dtypes.first(label, dtype, numbers[at])
            if dtype != held:
                raise self._error(
                    numbers if together else [numbers[at]],
                    f"field {label!r}: found {_name(dtype)}, and {_name(held)} in "
                    f"{self._place(where)}, which was read first; return one dtype, "
                    "such as by .astype(...)",
                )
        return held

    def _column(
        self,
        values: Sequence[Any],
        numbers: Sequence[int],
        present: NDArray[np.bool_],
        label: str,
    ) -> Any:
        """Return a value for each row; missing ones are filled."""
        known, rows = self._collators.get(label), np.flatnonzero(present)
        given = [values[row] for row in rows.tolist()]
        own = [numbers[row] for row in rows.tolist()]
        if known and _is_listed(known, given):
            rest = iter(self._lists(given, own, label))
            return [next(rest) if there else known.nothing() for there in present]
        if known and _is_deep(known, given):
            lists = self._lists(given, own, label)
            return self._alike(known, label).filled(rows, lists, len(values))
        arrays = [
            self._array(value, n, label) for value, n in zip(given, own, strict=True)
        ]
        dtype = self._dtype(label, [*map(dtype_of, arrays)], own)
        if known:
            known = self._alike(known, label)
        if not arrays:
            if known is None:
                raise self._error(
                    numbers,
                    f"field {label!r}: missing in all {len(values)} rows of a batch, so "
                    "its type is unknown; return a value in place of None",
                )
            return known.missing(len(values))
        dtype = dtype or (known.dtype if known else arrays[0].dtype)
        if len({array.shape for array in arrays}) > 1:
            ranks = {array.ndim for array in arrays}
            if known and known.listed and len(ranks) == 1:
                rest, nothing = iter(arrays), arrays[0][:0]
                return [next(rest) if there else nothing for there in present]
            if ranks != {1} and not (
                known and known.codec.delivered.padded and len(ranks) == 1
            ):
                self._check_shapes([array.shape for array in arrays], own, label)
            return _padded(arrays, present, dtype, known.filler if known else 0)
        column = np.empty((len(values), *arrays[0].shape), _in_numpy(dtype))
        if len(arrays) < len(values):
            column[:] = fitting(known.absent if known else 0, dtype)
        for row, array in zip(rows.tolist(), arrays, strict=True):
            column[row] = array[()]
        return column

    def _alike(self, known: Collator, label: str) -> Collator:
        """Return a collator with the dtype that a function has given its field."""
        dtype = self._dtypes.get(label)
        if dtype is None or _in_numpy(dtype) == known.dtype:
            return known
        found = copy(known)
        found.dtype = _in_numpy(dtype)
        found.filler = fitting(known.filler, dtype)
        found.absent = fitting(known.absent, dtype)
        return found

    def _whole(self, column: Any, numbers: Sequence[int], label: str) -> NDArray[Any]:
        """Return a column of a function of batches that is no list."""
        try:
            array = array_of(column)
        except Problem as problem:
            raise self._error(numbers, f"column {label!r}: {problem}") from None
        if not array.ndim:
            words = f"found {described(column)}, expected an array or a list"
            raise self._error(numbers, f"column {label!r}: {words}")
        self._check_count(array, numbers, label)
        self._dtype(label, [dtype_of(array)], numbers, together=True)
        return array

    def _listed(
        self, column: Sequence[Any], numbers: Sequence[int], label: str
    ) -> NDArray[Any] | list[Any]:
        """Return a column of a function of batches that is a list.

        Of numbers or texts, it is an array.
        """
        lists = self._lists(column, numbers, label)
        single = all(isinstance(each, np.ndarray) and not each.ndim for each in lists)
        dtype = self._dtypes.get(label)
        if not (single and lists and dtype):
            return lists
        return np.array([each[()] for each in lists], _in_numpy(dtype))

    def _lists(
        self, values: Sequence[Any], numbers: Sequence[int], label: str
    ) -> list[Any]:
        """Return lists in lists with arrays inside; lists of texts stay as they are."""
        known = self._collators.get(label)
        is_sparse = known is not None and known.codec.delivered.layout == "sparse"

        def listed(value: Any, number: int) -> Any:
            if _is_pair(value) and is_sparse:
                indices, items = (self._array(each, number, label) for each in value)
                return indices, items
            if isinstance(value, (list, tuple)) and any(map(_has_rank, value)):
                return [listed(each, number) for each in value]
            array = self._array(value, number, label)
            is_text = array.dtype.kind == "O" or not array.size
            return value if is_text and isinstance(value, list) else array

        found = [listed(*each) for each in zip(values, numbers, strict=True)]
        pairs = [
            (dtype_of(array), number)
            for value, number in zip(found, numbers, strict=True)
            for array in _leaves(value)
        ]
        self._dtype(label, [each for each, _ in pairs], [number for _, number in pairs])
        return found


def _is_listed(known: Collator, values: Sequence[Any]) -> bool:
    """Tell whether a column is a list: of lists of any length, or of sparse tensors."""
    if known.codec.delivered.layout == "sparse":
        return all(map(_is_pair, values))
    return known.listed and known.codec.delivered.batchable


def _is_deep(known: Collator, values: Sequence[Any]) -> bool:
    """Tell whether values are lists in lists of any lengths, which are padded."""
    delivered = known.codec.delivered
    if None not in delivered.shape[1:] or not delivered.padded or known.listed:
        return False
    lists = any(isinstance(value, (list, tuple)) for value in values)
    return lists and {rank for v in values for rank in _ranks(v)} <= {
        len(delivered.shape)
    }


def _is_pair(value: Any) -> bool:
    """Tell whether a value may be the indices and the values of a sparse tensor."""
    return isinstance(value, tuple) and len(value) == 2


def _has_rank(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or bool(getattr(value, "ndim", 0))


def _ranks(value: Any) -> set[int]:
    """Return the ranks of lists in lists that may have arrays inside."""
    if isinstance(value, (list, tuple)):
        return {1 + rank for each in value for rank in _ranks(each)}
    return {getattr(value, "ndim", 0)}


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the arrays, and the lists of texts, of lists in lists."""
    if isinstance(value, tuple):  # a sparse tensor
        yield value[1]
    elif isinstance(value, list) and any(map(_has_rank, value)):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def dtype_of(values: Any) -> DType | None:
    """Return the dtype of an array, or of a list of texts; None of an empty one."""
    is_array = isinstance(values, np.ndarray)
    if not (values.size if is_array else values):
        return None
    if is_array and values.dtype.kind != "O":
        found: np.dtype[Any] = values.dtype
        return found
    return str if isinstance(values.item(0) if is_array else values[0], str) else bytes


def _name(dtype: DType) -> str:
    return dtype.__name__ if isinstance(dtype, type) else dtype.name


def _in_numpy(dtype: DType) -> np.dtype[Any]:
    return np.dtype(object) if isinstance(dtype, type) else dtype


def fitting(value: Any, dtype: DType) -> Any:
    """Return a value if a dtype holds it, or else its zero: what values are filled with."""
    if isinstance(dtype, type):
        return value if isinstance(value, dtype) else dtype()
    if dtype.kind == "O":
        return value if isinstance(value, (str, bytes)) else ""
    try:
        with np.errstate(all="ignore"):
            held = np.asarray(value).astype(dtype)[()]
    except (TypeError, ValueError, OverflowError):
        return np.zeros((), dtype)[()]
    # Floats are rounded.
    return held if dtype.kind not in "biu" or held == value else np.zeros((), dtype)[()]


def _padded(
    arrays: Sequence[NDArray[Any]],
    present: NDArray[np.bool_],
    dtype: DType,
    filler: Any,
) -> NDArray[Any]:
    """Pad arrays of one rank to the largest of each size."""
    found, padding = _in_numpy(dtype), fitting(filler, dtype)
    if arrays[0].ndim == 1 and found.kind != "O":
        lengths = np.zeros(len(present), np.int64)
        lengths[present] = list(map(len, arrays))
        flat = np.concatenate([each for each in arrays if each.size])
        return padded(flat, lengths, int(lengths.max(initial=0)), padding)
    shape = np.max([array.shape for array in arrays], axis=0)
    column = np.full((len(present), *shape), padding, found)
    for row, array in zip(np.flatnonzero(present).tolist(), arrays, strict=True):
        column[row][tuple(map(slice, array.shape))] = array
    return column


def flat_items(values: Sequence[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the items of lists one behind the other."""
    if not values:
        return np.empty(0, dtype)
    return np.concatenate([np.asarray(value, dtype) for value in values])


def merged(
    parts: Sequence[tuple[Rows, Batch]],
    splits: Sequence[int],
    count: int,
    collators: Collators,
    dtypes: DTypes,
    prefix: str = "",
) -> Batch:
    """Return the columns of some rows as one.

    Args:
        parts: which rows, int64 [N], and their columns.
        splits: the number of the split of each part.
        count: how many rows there are.
        collators: of the fields of the schema.
        dtypes: of the fields of all splits.
        prefix: of the labels of the columns, where they are nested.

    Raises:
        DatasetError: splits have different fields, or a field of different dtypes.
    """
    found: Batch = {}
    masks = {
        name
        for _, batch in parts
        for name in batch
        if name.removesuffix("_present") in batch and name.endswith("_present")
    }
    for rows, batch in parts:
        batch |= {name: np.ones(len(rows), np.bool_) for name in masks - batch.keys()}
        if odd := sorted(batch.keys() ^ parts[0][1].keys()):
            raise DatasetError(
                f"mix: field {prefix + odd[0]!r} is in some splits and not in others; "
                "change all of them with map, or none"
            )
    for name, first in parts[0][1].items():
        columns, label = [(rows, batch[name]) for rows, batch in parts], prefix + name
        for split, (_, column) in zip(splits, columns, strict=True):
            if isinstance(column, (np.ndarray, Mapping)):
                check_alike(dtypes, label, column, split)
        if isinstance(first, Mapping):
            found[name] = merged(columns, splits, count, collators, dtypes, f"{label}.")
        elif all(isinstance(column, np.ndarray) for _, column in columns):
            if len({column.ndim for _, column in columns}) > 1:
                each = {str(list(column.shape[1:])) for _, column in columns}
                raise DatasetError(
                    f"mix: field {label!r} has the shapes {' and '.join(sorted(each))} in "
                    f"splits {', '.join(map(str, splits))}; change all of them with map, "
                    "or none"
                )
            dtype = dtypes.get(label) or first.dtype
            found[name] = _merged_arrays(columns, count, dtype, collators.get(label))
        else:
            values: list[Any] = [None] * count
            for rows, column in columns:
                for row, value in zip(rows.tolist(), column, strict=True):
                    values[row] = value
            found[name] = values
    return found


def check_alike(dtypes: DTypes, label: str, column: Any, split: int) -> None:
    """Refuse a column of a split whose dtype in another split is another one.

    Args:
        dtypes: those of all splits.
        label: of the field.
        column: an array, or a dict of columns.
        split: the number of the split.

    Raises:
        DatasetError: names both splits.
    """
    dtype = dict if isinstance(column, Mapping) else dtype_of(column)
    if dtype is None:
        return
    held, other = dtypes.first(label, dtype, split)
    if dtype != held:
        one, two = sorted([(other, _name(held)), (split, _name(dtype))])
        raise DatasetError(
            f"mix: field {label!r} is {one[1]} in split {one[0]}, and {two[1]} in split "
            f"{two[0]}; return one dtype, such as by .astype(...), from map of both"
        )


def _merged_arrays(
    columns: Sequence[tuple[Rows, NDArray[Any]]],
    count: int,
    dtype: DType,
    known: Collator | None,
) -> NDArray[Any]:
    """Return the rows of arrays as one, padded to the largest of each size."""
    shapes = [column.shape[1:] for _, column in columns]
    shape = tuple(np.max(shapes, axis=0).astype(int).tolist())
    if set(shapes) == {shape}:
        merged = np.empty((count, *shape), _in_numpy(dtype))
        for rows, column in columns:
            merged[rows] = column
        return merged
    padding = fitting(known.filler if known else 0, dtype)
    merged = np.full((count, *shape), padding, _in_numpy(dtype))
    for rows, column in columns:
        inside: Any = (rows, *map(slice, column.shape[1:]))
        merged[inside] = column
    return merged


def padded_to_limits(decoder: Decoder) -> Callable[[Batch], Batch]:
    """Return what pads the lists of a batch to the lengths that the schema allows.

    Raises:
        DatasetError: no list that is read has a maximum length.
    """
    limits = {
        tuple(each.codec.label.split(".")): (limit, each.filler)
        for name, limit in decoder.record.max_lengths.items()
        for each in (decoder.collators.get(decoder.record[name].label),)
        if each and not each.listed
    }
    if not limits:
        raise DatasetError(NO_LIMIT)

    def padded(batch: Batch) -> Batch:
        found = dict(batch)
        for (*outer, last), (limit, filler) in limits.items():
            place = found
            for name in outer:
                place[name] = dict(place[name])
                place = place[name]
            if last in place:
                place[last] = _lengthened(place[last], limit, filler)
        return found

    return padded


def _lengthened(column: Any, limit: int, filler: Any) -> Any:
    """Pad a column [rows, length, ...] to a length; what is longer stays.

    So does what a function has made of it, if it is no column of lists.
    """
    if not isinstance(column, np.ndarray) or column.ndim < 2:
        return column
    missing = limit - column.shape[1]
    if missing <= 0:
        return column
    ends = [(0, 0)] * column.ndim
    ends[1] = (0, missing)
    return np.pad(column, ends, constant_values=fitting(filler, column.dtype))
