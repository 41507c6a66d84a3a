"""Stored values in numpy: a check keeps the rows that are right, and notes a fault.

Fields are read one after the other from the features of many records (`ColumnSource`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..images.formats import sniff, undecoded, with_article
from ..native import BYTES, FLOAT, INT64, NOTHING, joined
from ..shared import base64_text
from ..shared.dtypes import DTYPES, from_bits
from ..shared.errors import Problem
from ..shared.values import shortened
from .cells import Cells, Source
from .checks import BytesCheck, Check
from .columns import Column, Rows, StepColumn, column_of, extents
from .decoded import RaggedRows, Shape, Values, split_rows
from .faults import Fault, Features, first_of_rows, listed, missing, near, shown_bytes
from .part import Part, amount
from .tensor_proto import read_tensor

if TYPE_CHECKING:
    from .selection import Choose

_RAW = "raw"
"""The kind of a column of numbers that were bytes."""

_MOST = 1 << 40

_NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True)
class Notes:
    """What is noted of a field while it is read.

    Attributes:
        label: the field's name in messages.
        trusted: whether the core has found all to be as the kind's plan says.
        packed: whether there are no records yet, but what a kind has packed in each of its
            parts for every row.
        choose: which items of lists are read; None for all.
        thorough: whether files are decoded to see that they can be.
        faults: what is wrong, in the order of the checks.
    """

    label: str
    trusted: bool = False
    packed: bool = False
    choose: Choose | None = None
    thorough: bool = False
    faults: list[Fault] = field(default_factory=list)

    def add(
        self,
        rule: str,
        what: str,
        expected: str,
        rows: NDArray[np.int64],
        found: Callable[[int], str],
        cause: Callable[[int], str] = lambda at: "",
        key: str = "",
    ) -> None:
        """Note a fault, if any row has it; arguments are those of `Fault`."""
        if len(rows):
            self.faults.append(Fault(rule, what, expected, rows, found, cause, key))


@dataclass(frozen=True)
class ArrayCells(Cells):
    """The values under one key, of the rows that are right so far.

    Attributes:
        notes: of the field.
        column: the rows and their values.
        shown: the values that messages show, if not these.
    """

    notes: Notes
    column: Column
    shown: Column | None = None
    xp = np

    @property
    def label(self) -> str:  # type: ignore[override]
        return self.notes.label

    @property
    def values(self) -> NDArray[Any]:
        return self.column.values

    @property
    def lengths(self) -> NDArray[np.int64]:
        return self.column.lengths

    @property
    def sizes(self) -> NDArray[np.int64]:
        column, sizes = self.column, self.column.sizes
        return sizes if len(sizes) == len(column) else column.sums(sizes)

    @property
    def owners(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.column)), self.column.lengths)

    @property
    def absent(self) -> bool:
        return False  # rows without a value are not read

    def are_nan(self, numbers: Any) -> Any:
        return np.isnan(numbers)

    def only(self, keep: NDArray[np.bool_]) -> ArrayCells:
        """Return some of the rows: bool [rows]."""
        shown = self.shown and self.shown.only(keep)
        return self.of(self.column.only(keep), shown)

    def of(self, column: Column, shown: Column | None = None) -> ArrayCells:
        """Return what another column holds."""
        if column is self.column:
            return self
        return ArrayCells(self.notes, column, shown)

    def at(self, key: str) -> ArrayCells:
        """Return the same rows, of whose faults another key is the place."""
        return self.of(replace(self.column, key=key))

    def with_rows(self, rows: NDArray[np.int64]) -> ArrayCells:
        """Return further rows, without a value, among these."""
        column = self.column
        every = np.concatenate([column.rows, rows])
        lengths = np.concatenate([column.lengths, np.zeros(len(rows), np.int64)])
        order = np.argsort(every, kind="stable")
        return self.of(replace(column, rows=every[order], lengths=lengths[order]))

    def chosen(self, lengths: Rows | None = None) -> tuple[Rows, Rows] | None:
        """Return the places of the items that are read, and their number in each row.

        Args:
            lengths: int64 [rows], how many items each row has; those of values if None.

        Returns:
            int64 [sum] and int64 [rows]; None if all are read.
        """
        if self.notes.choose is None:
            return None
        lengths = self.lengths if lengths is None else lengths
        positions, counts = self.notes.choose(self.column.rows, lengths)
        return positions + np.repeat(np.cumsum(lengths) - lengths, counts), counts

    def selected(self) -> ArrayCells:
        """Return the rows with the values that are read."""
        if (chosen := self.chosen()) is None:
            return self
        places, counts = chosen
        values = self.values[places]
        return self.of(replace(self.column, lengths=counts, values=values))

    def are_text(self) -> NDArray[np.bool_]:
        """Return which bytes values are UTF-8."""
        data = joined(self.column.data, self.column.values)
        if not len(data) or data.max() < 0x80:
            return np.ones(len(self.values), np.bool_)
        return np.array([_is_utf8(each) for each in self.column.bytes_values()])

    # Values.

    def raw(self, dtype: str, count: int | None = None) -> ArrayCells:
        """Return the numbers in bytes, as `DType.memory`."""
        column, data = self.column, joined(self.column.data, self.column.values)
        found = DTYPES[dtype]
        values: NDArray[Any]
        if found.in_numpy:
            values = data.view(found.numpy.newbyteorder("<"))
        else:
            values = from_bits(data, found)
        lengths = self.sizes // found.size
        return self.of(replace(column, kind=_RAW, lengths=lengths, values=values))

    def in_turn(self, others: Sequence[ArrayCells]) -> ArrayCells:
        """Return the single bytes values of these and other cells as one list of each row.

        Args:
            others: cells of other keys, which have the same rows.
        """
        columns = [self.column, *(each.column for each in others)]
        values, data = [each.values for each in columns], self.column.data
        if any(each.data is not data for each in columns):
            starts = np.cumsum([0, *(len(each.data) for each in columns)])
            values = [each + start for each, start in zip(values, starts, strict=False)]
            data = np.concatenate([each.data for each in columns])
        joined = replace(
            self.column,
            lengths=np.full(len(self.column), len(columns)),
            values=np.stack(values, axis=1).reshape(-1, 2),
            data=data,
            keys=tuple(each.key for each in columns),
        )
        return self.of(joined)

    def base64(self, expected: str) -> ArrayCells:
        """Return the bytes that base64 text stands for."""
        check = BytesCheck(
            "SG528",
            "bytes are not base64 text",
            base64_text.decoded,
            f"base64 text of {expected}",
            _cause_of_text,
        )
        (found,) = checked((self,), check)
        contents = [*map(base64_text.decoded, found.column.bytes_values())]
        return found.of(of_bytes(found.column, contents))

    def ids_of(
        self, known: Sequence[bytes] | Sequence[int], none: bytes | int
    ) -> ArrayCells:
        column = self.column
        stored: Any = (
            column.bytes_values() if column.kind == BYTES else column.values.tolist()
        )
        places = {none: -1, **{each: at for at, each in enumerate(known)}}
        ids = [places.get(each, -2) for each in stored]
        found = replace(column, kind=INT64, values=np.array(ids, np.int64))
        return self.of(found, self.column)

    def classes(self, count: int) -> list[NDArray[np.int64]]:
        return split_rows(self.values, self.lengths)

    def with_values(self, values: NDArray[Any]) -> ArrayCells:
        return self.of(replace(self.column, values=values))

    def bytes(self) -> list[bytes]:
        """Return the values of bytes, one after the other."""
        return list(self.column.bytes_values())

    def _texts(self) -> list[str]:
        column = self.column
        data = joined(column.data, column.values).tobytes()
        if not data.isascii():
            return [*map(bytes.decode, column.bytes_values())]
        text, ends = data.decode(), np.cumsum(column.sizes).tolist()
        return [text[start:end] for start, end in pairwise([0, *ends])]

    def flat(self, dtype: str) -> Any:
        """Return the values of all rows, one after the other, as numbers or strings."""
        if dtype == "string":
            return self._texts()
        if dtype == "bytes":
            return self.bytes()
        return self.values.astype(DTYPES[dtype].numpy, copy=False)

    def dense(self, dtype: str, shape: Shape) -> Values:
        flat = self.flat(dtype)
        if isinstance(flat, list):
            size = prod(cast("tuple[int, ...]", shape))
            step = range(0, len(flat), size)
            return [flat[at : at + size] for at in step] if shape else flat
        return cast("Values", flat.reshape(len(self.column), *shape))

    def lists(self, dtype: str, item_shape: tuple[int, ...] = ()) -> Values:
        flat = self.flat(dtype)
        lengths = self.lengths // max(1, prod(item_shape))
        if not isinstance(flat, list):
            flat = flat.reshape(-1, *item_shape)
        if (chosen := self.chosen(lengths)) is not None:
            places, lengths = chosen
            flat = _at(flat, places)
        if isinstance(flat, list):
            return split_rows(flat, lengths)
        return RaggedRows(flat, lengths)

    def of_steps(self, found: ArrayCells, values: Values) -> list[Any]:
        if isinstance(values, RaggedRows):
            values = list(values)
        if not len(self.values):
            return [values[:0]] * len(self.column)
        if self.notes.choose is not None:
            places = np.searchsorted(found.column.rows, self.values)
            return split_rows(_at(values, places), self.lengths)
        # The steps of a row follow each other, and all of them are right.
        starts = np.minimum(self.column.starts, len(self.values) - 1)
        firsts_of_rows = np.searchsorted(found.column.rows, self.values[starts])
        pairs = zip(firsts_of_rows.tolist(), self.lengths.tolist(), strict=True)
        return [values[start : start + length] for start, length in pairs]

    def padded(self, lists: Any, filler: Any) -> Any:
        return lists

    def lists_of_lists(self, dtype: str, lengths: ArrayCells) -> list[Any]:
        inner = split_rows(self.flat(dtype), lengths.values)
        return split_rows(inner, lengths.lengths)

    def scaled(self, numbers: Any, scale: float, offset: float) -> NDArray[np.float32]:
        return scaled(numbers, scale, offset)

    def are_products(
        self, counts: NDArray[np.int64], sizes: Sequence[Any]
    ) -> NDArray[np.bool_]:
        wanted = reduce(np.multiply, sizes, np.ones(len(self.column)))
        return np.asarray(counts == wanted)

    def deserialized(
        self, dtype: str, shape: Shape, expected: str
    ) -> tuple[ArrayCells, list[ArrayCells]]:
        read = partial(read_tensor, dtype=dtype, shape=shape)
        what = "serialized tensor does not match the schema"
        (found,) = checked((self,), BytesCheck("SG528", what, read, expected))
        column = found.column
        tensors = [*map(read, column.bytes_values())]
        contents = np.array([each.content for each in tensors], np.int64)
        places = column.values[:, :1] + contents.reshape(-1, 2)
        sizes = np.array([each.shape for each in tensors], np.int64)
        axes = sizes.reshape(len(tensors), len(shape)).T
        of_one = replace(column, kind=INT64, lengths=np.ones_like(column.lengths))
        return found.of(replace(column, values=places)), [
            found.of(replace(of_one, values=axis)) for axis in axes
        ]

    def sums(self) -> NDArray[np.int64]:
        # Larger numbers are damage; their sums must not wrap around.
        return self.column.sums(np.minimum(self.values, _MOST))

    def tensors(
        self, dtype: str, shape: Shape, sizes: Sequence[Any], filler: Any
    ) -> Values:
        numbers = self.raw(dtype) if self.column.kind == BYTES else self
        flat = numbers.flat(dtype)
        if None not in shape:
            return cast("Values", flat.reshape(-1, *shape))
        count = len(self.column)
        table = np.stack([np.broadcast_to(size, count) for size in sizes], axis=1)
        rows = split_rows(flat, np.prod(table, axis=1))
        pairs = zip(rows, table.tolist(), strict=True)
        return [row.reshape(size) for row, size in pairs]

    def sparse(
        self,
        dtype: str,
        shape: tuple[int, ...],
        axes: Sequence[ArrayCells],
        *,
        dense: bool,
    ) -> Values:
        indices = np.stack([axis.values for axis in axes], axis=1)
        values = self.flat(dtype)
        if not dense:
            pairs = (split_rows(each, self.lengths) for each in (indices, values))
            return list(zip(*pairs, strict=True))
        found: NDArray[Any] = np.zeros((len(self.column), *shape), values.dtype)
        found[(self.owners, *indices.T)] = values
        return found


def _at(values: Any, places: Rows) -> Any:
    """Return the values at some places, of an array or a list."""
    if isinstance(values, np.ndarray):
        return values[places]
    return [values[at] for at in places.tolist()]


def checked(
    cells: tuple[ArrayCells, ...], *checks: Check | BytesCheck
) -> tuple[ArrayCells, ...]:
    """Return the rows for which checks hold, and note a fault for each that does not.

    Args:
        cells: of all parts of a field, which have the same rows.
        checks: what has to be right of them.
    """
    if cells[0].notes.trusted:
        return cells
    for check in checks:
        if isinstance(check, BytesCheck):
            keep = _refused_each(check, cells)
        else:
            keep = _refused(check, cells)
        if keep is not None:
            cells = tuple(each.only(keep) for each in cells)
    return cells


def _refused(check: Check, cells: tuple[ArrayCells, ...]) -> NDArray[np.bool_] | None:
    """Note which rows a check refuses; return the others, None for all: bool [rows]."""
    own = cells[check.part]
    if check.dtype in DTYPES and own.column.kind == BYTES:
        own = own.raw(check.dtype)
    right = check.right(*cells[: check.part], own, *cells[check.part + 1 :])
    if np.all(right):
        return None
    count = len(own.column)
    if check.by_row:
        keep = np.broadcast_to(right, count)
        wrong = own.column.only(~keep)
        if check.numbers is None:
            words = _words_of_rows(wrong)
        else:
            words = _words_of_numbers(check, check.numbers(*cells), ~keep)
        cause: Callable[[int], str] = _no_cause
        if check.cause is not None:
            cause = partial(check.cause, wrong)
    else:
        at = np.flatnonzero(~np.reshape(right, -1))
        rows, first = first_of_rows(np.cumsum(own.lengths), at)
        keep = np.ones(count, np.bool_)
        keep[rows] = False
        words, cause = _words_of_values(check, own, rows, first)
    what = check.rule, check.what, check.expected
    own.notes.add(*what, own.column.rows[~keep], words, cause, own.column.key)
    return keep


def _words_of_numbers(
    check: Check, numbers: Sequence[Any], wrong: NDArray[np.bool_]
) -> Callable[[int], str]:
    """Return the words for the rows that a check refuses, given numbers of all rows."""
    shown = [np.broadcast_to(each, len(wrong))[wrong].tolist() for each in numbers]
    return lambda at: str(check.found).format(*(each[at] for each in shown))


def _words_of_rows(wrong: Column) -> Callable[[int], str]:
    def words(at: int) -> str:
        start = wrong.starts[at]
        return shortened(wrong.values[start : start + wrong.lengths[at]].tolist())

    return words


def _words_of_values(
    check: Check, own: ArrayCells, rows: NDArray[Any], first: NDArray[Any]
) -> tuple[Callable[[int], str], Callable[[int], str]]:
    """Return the words for wrong values and their causes.

    Args:
        check: that refuses them.
        own: the cells.
        rows: the refused rows.
        first: the first wrong value of each.
    """
    column = own.shown or own.column

    def value(at: int) -> Any:
        if column.kind == BYTES:
            return column.bytes_at(first[at])
        return column.values[first[at]]

    def words(at: int) -> str:
        if callable(check.found):
            return check.found(value(at))
        text = (shown_bytes if column.kind == BYTES else str)(value(at))
        row = rows[at]
        place = f" at [{first[at] - column.starts[row]}]"
        return f"{text}{place if column.lengths[row] > 1 else ''}"

    cause, share = check.cause, len(rows) / len(column)
    return words, (lambda at: cause(value(at), share)) if cause else _no_cause


def _refused_each(
    check: BytesCheck, cells: tuple[ArrayCells, ...]
) -> NDArray[np.bool_] | None:
    """Note the rows with a value that a function raises a Problem for, likewise."""
    own = cells[0]
    column = own.column
    problems: dict[int, tuple[int, Problem]] = {}  # the first one of each row
    ends = np.cumsum(own.lengths)
    for at, data in enumerate(column.bytes_values()):
        try:
            check.test(data)
        except Problem as problem:
            row = int(np.searchsorted(ends, at, "right"))
            # A traceback would keep the memory of these records.
            problems.setdefault(row, (at, problem.with_traceback(None)))
    if not problems:
        return None
    by_expected: dict[tuple[str, str], list[int]] = {}
    for row, (value, refusal) in problems.items():
        expected = check.expected or refusal.expected
        key = column.keys[value % len(column.keys)] if column.keys else column.key
        by_expected.setdefault((expected, key), []).append(row)
    for (expected, key), rows in by_expected.items():

        def found(at: int, rows: list[int] = rows, key: str = key) -> str:
            value, refusal = problems[rows[at]]
            if column.keys:
                return f"{refusal.found} under {key!r}"
            place = value - column.starts[rows[at]]
            alone = column.lengths[rows[at]] == 1
            return refusal.found if alone else f"{refusal.found} at [{place}]"

        def why(at: int, rows: list[int] = rows) -> str:
            value, refusal = problems[rows[at]]
            if refusal.advice or own.notes.packed:
                return refusal.advice
            return check.cause(column.bytes_at(value))

        what = check.rule, check.what, expected
        own.notes.add(*what, column.rows[rows], found, why, key)
    keep = np.ones(len(column), np.bool_)
    keep[list(problems)] = False
    return keep


def _no_cause(at: int) -> str:
    return ""


def scaled(numbers: NDArray[Any], scale: float, offset: float) -> NDArray[np.float32]:
    """Return numbers times a scale plus an offset, as float32."""
    return numbers.astype(np.float32) * np.float32(scale) + np.float32(offset)


def of_bytes(column: Column, contents: Sequence[bytes]) -> Column:
    """Return a column with other bytes values, one for each of its own."""
    sizes = np.fromiter(map(len, contents), np.int64, len(contents))
    data = np.frombuffer(b"".join(contents), np.uint8)
    return replace(column, values=extents(sizes), data=data)


def _cause_of_text(data: bytes) -> str:
    other = undecoded(data)
    form = other.title if other else sniff(data)
    if form is None:
        return ""
    return f"{with_article(form)} as it is: declare it without transfer_encoding"


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True)
class ColumnSource(Source):
    """The features of some records, of which one field is read.

    Attributes:
        features: of the records.
        notes: of the field.
    """

    features: Features
    notes: Notes

    def read(
        self,
        part: Part,
        expected: str,
        *,
        needed_by: ArrayCells | None = None,
        fill: bool = False,
    ) -> ArrayCells:
        found = ArrayCells(
            self.notes, column_of(self.features.by_key, part.key, part.kind)
        )
        if self.notes.packed:
            return found.base64(expected) if part.transfer_encoding else found
        if self.notes.trusted:
            return found
        self._note_other_types(part, expected)
        found = found.only(self.features.live[found.column.rows])
        lacking = _NOTHING
        if len(found.column) < len(self.features.live):
            lacking = self._lacking(part, expected, needed_by, fill=fill)
        if part.count is not None:
            right = found.lengths == part.count
            wrong = found.column.only(~right)
            self.notes.add(
                "SG524",
                "wrong number of values",
                expected,
                wrong.rows,
                partial(_amount, wrong),
                key=part.key,
            )
            found = found.only(right)
        if part.transfer_encoding:
            found = found.base64(expected)
        return found.with_rows(lacking) if fill and len(lacking) else found

    def having(self, parts: Sequence[Part]) -> ArrayCells:
        """Return the rows that have a value of bytes, not an empty one, in any part."""
        cells = [
            ArrayCells(self.notes, self.features.column(part.key, part.kind))
            for part in parts
        ]
        rows = np.unique(
            np.concatenate([each.column.rows[each.sizes > 0] for each in cells])
        )
        return cells[0].of(replace(cells[0].column, rows=rows))

    def _lacking(
        self, part: Part, expected: str, needed_by: ArrayCells | None, *, fill: bool
    ) -> NDArray[np.int64]:
        """Return the rows that have no list under a part's key, and may be without."""
        features = self.features
        lacking = features.live & ~features.present(part.key)
        needed = np.zeros_like(lacking)
        if needed_by is not None and not (fill and features.optional):
            column = needed_by.column
            needed = features.mask_of(
                column.rows[column.lengths > 0] if fill else column.rows
            )
        elif needed_by is None and not features.optional:
            needed = features.live
        missed = np.flatnonzero(lacking & needed)
        if len(missed):
            self.notes.faults.append(missing(features, part.key, expected, missed))
        return np.flatnonzero(lacking & ~needed)

    def _note_other_types(self, part: Part, expected: str) -> None:
        """Note lists of another type under a part's key."""
        for other in self.features.by_key.get(part.key, ()):
            if other.kind not in (part.kind, NOTHING):
                other = other.only(self.features.live[other.rows])
                words = partial(_amount, other), partial(_cause_of_type, part, other)
                what = "SG523", "wrong feature type", expected
                self.notes.add(*what, other.rows, *words, part.key)

    def steps(self, part: Part, limit: Any) -> tuple[ArrayCells, ColumnSource]:
        key = part.key
        features, found = self.features, self.features.steps.get(key)
        if found is None:
            found = StepColumn(key, _NOTHING, _NOTHING, ())
        if not features.optional:
            lacking = features.live & ~features.mask_of(found.rows)
            self._note_missing_lists(key, np.flatnonzero(lacking))
        # A step is a row of its own, and its values are those under no key.
        count = int(found.steps.sum())
        memory = np.empty(0, np.uint8)
        column = Column(key, INT64, found.rows, found.steps, np.arange(count), memory)
        live = features.live[np.repeat(found.rows, found.steps)]
        columns = {each.kind: replace(each, key="") for each in found.columns}
        bare = columns.pop(NOTHING, None) if part.count is None else None
        if bare is not None:  # such a step has an empty list, as TensorFlow reads it
            lists = column_of({"": tuple(columns.values())}, "", part.kind)
            filled = ArrayCells(self.notes, lists).with_rows(bare.rows)
            columns[part.kind] = filled.column
        steps = ArrayCells(self.notes, column).only(features.live[found.rows])
        if self.notes.choose is not None:
            (steps,) = checked((steps,), *limit.checks())
            steps = steps.selected()
            live = np.zeros(count, np.bool_)
            live[steps.values] = True
        return steps, ColumnSource(
            Features(live, {"": tuple(columns.values())}),
            Notes(self.notes.label, packed=self.notes.packed),
        )

    def complete(self, steps: ArrayCells, inside: Source) -> ArrayCells:
        assert isinstance(inside, ColumnSource)
        column, ends = steps.column, np.cumsum(steps.column.lengths)
        right = np.ones(len(column), np.bool_)
        for fault in inside.notes.faults:
            # The first such step of each record.
            at = np.flatnonzero(np.isin(column.values, fault.rows))
            places, first = first_of_rows(ends, at)
            numbers = first - (ends - column.lengths)[places]
            which = np.searchsorted(fault.rows, column.values[first]).tolist()
            self.notes.faults.append(
                Fault(
                    fault.rule,
                    f"in a step: {fault.what}",
                    fault.expected,
                    column.rows[places],
                    partial(_found_in_step, fault, numbers, which),
                    lambda at, fault=fault, which=which: fault.cause(which[at]),  # type: ignore[misc]
                    column.key,
                )
            )
            right[places] = False
        return steps.only(right)

    def _note_missing_lists(self, key: str, rows: NDArray[np.int64]) -> None:
        """Note rows that have no feature list under a key."""
        features = self.features

        def lists(at: int) -> list[str]:
            row = int(rows[at])
            return [key for key, each in features.steps.items() if row in each.rows]

        def found(at: int) -> str:
            if key in features.keys_of(int(rows[at])):
                return f"{key!r} as a feature of the context"
            return f"no feature list {key!r}; there are: {listed(lists(at))}"

        self.notes.add(
            "SG522",
            "required feature list is missing",
            "a feature list",
            rows,
            found,
            lambda at: near(key, lists(at), features.known),
            key,
        )

    def aligned(self, *some: ArrayCells) -> tuple[ArrayCells, ...]:
        first = some[0].column.rows
        if all(np.array_equal(first, each.column.rows) for each in some[1:]):
            return some
        rows = reduce(np.intersect1d, [each.column.rows for each in some])
        mask = self.features.mask_of(rows)
        return tuple(each.only(mask[each.column.rows]) for each in some)

    def sized(
        self, cells: ArrayCells, image: Any
    ) -> tuple[ArrayCells, NDArray[np.int64]]:
        rows, sizes = image.sizes_in(self.features)
        table = np.zeros((len(self.features.live), 2), np.int64)
        table[rows] = sizes
        found = cells.only(self.features.mask_of(rows)[cells.column.rows])
        return found, table[found.column.rows]

    checked = staticmethod(checked)

    def present(
        self, cells: tuple[ArrayCells, ...], *parts: Part
    ) -> tuple[ArrayCells, ...]:
        there = [self.features.present(part.key) for part in parts]
        keep = np.logical_and.reduce(there)[cells[0].column.rows]
        return tuple(each.only(keep) for each in cells)


def _amount(column: Column, at: int) -> str:
    return amount(int(column.lengths[at]), column.kind)


def _found_in_step(
    fault: Fault, numbers: NDArray[np.int64], which: list[int], at: int
) -> str:
    is_missing = fault.rule == "SG522"
    words = "no value" if is_missing else fault.found(which[at])
    return f"{words} in step {numbers[at]}"


def _cause_of_type(part: Part, column: Column, at: int) -> str:
    if {column.kind, part.kind} == {FLOAT, INT64}:
        return "written as another type of number: declare the dtype it has"
    if part.kind == BYTES:
        return "written as a list of numbers, declared as bytes"
    return "written as bytes, declared as a list of numbers"
