"""Where rows come from: sources for each shard, what has an index, any iterable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import tee
from typing import Any, Protocol

from ..shared.errors import DatasetError, RecordError, position
from ..shared.values import described

# A dict, a named tuple, or an instance of a schema's class, which gives its fields one
# by one.
Row = Mapping[str, Any] | Iterable[tuple[str, Any]]


class RowSequence(Protocol):
    """What has a length, and a row at each index from 0."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Row: ...


RowSource = Iterable[Row] | RowSequence | Sequence[Callable[[], Iterable[Row]]]
"""What `write_dataset` takes rows from."""


# What tables and single records have, which can be iterated, but not by rows.
_NOT_OF_ROWS = ("iloc", "to_dicts", "to_pylist", "model_fields")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a row that its source could not read, but knows to be there."""

    error: RecordError


@dataclass(frozen=True)
class Parts:
    """A source of its own for each shard.

    Attributes:
        callables: return the rows of one shard each, in any process.
        length: None, since no one knows before.
    """

    callables: Sequence[Callable[[], Iterable[object]]]
    length: None = None

    def __len__(self) -> int:
        """Return how many parts there are."""
        return len(self.callables)

    def rows(self, part: int) -> Iterator[object]:
        """Yield the rows of a part; errors as `Stream`."""
        try:
            rows = self.callables[part]()
        except Exception as error:
            error.add_note(f"when shard {part} asked its source for rows")
            raise
        _check(rows, part)
        return _following(rows, 0, part)


@dataclass(frozen=True)
class Indexed:
    """Rows that any process can load by their position.

    Attributes:
        items: has a length, and a row at each index.
        length: how many rows there are.
    """

    items: RowSequence
    length: int

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[object]:
        """Yield the rows from one position to another.

        A row that the source refuses to load with a RecordError is `Unreadable`.

        Raises:
            DatasetError: there are not as many rows.
            Exception: whatever the source raises, with the position as note.
        """
        check_start(start, self.length)
        return _loaded(self.items, range(start, self.length if stop is None else stop))

    def at(self, positions: Iterable[int]) -> Iterator[object]:
        """Yield the rows at some positions; rows and errors are those of `rows`."""
        return _loaded(self.items, positions)

    def positions(self, shard: int, shards: int) -> range:
        """Return where the rows of one of several shards of nearly equal size are."""
        return range(
            shard * self.length // shards,
            (shard + 1) * self.length // shards,
        )


@dataclass(frozen=True)
class Stream:
    """Rows that come one after the other, in one process.

    Attributes:
        iterable: gives them; perhaps once only.
        length: how many rows there are, if it is known.
    """

    iterable: Iterable[object]
    length: int | None = None

    def rows(self, start: int = 0) -> Iterator[object]:
        """Yield the rows from a position on, passing by those before.

        Raises:
            DatasetError: there are not as many rows.
            RecordError: raised by the source, which cannot go on after it.
            Exception: whatever else the source raises, with the position as note.
        """
        return _following(self.iterable, start, None)


Source = Parts | Indexed | Stream


def fields_of(row: Any) -> dict[str, Any]:
    """Return the values of a dict, a named tuple or an instance of a schema's class.

    Raises:
        TypeError, ValueError: the row is not of these types.
    """
    named = getattr(type(row), "_asdict", None)  # as of DataFrame.itertuples
    return dict(row) if named is None else named(row)


def source_of(value: Any) -> Source:
    """Tell what kind of source this is.

    Args:
        value: a list of callables without arguments, each returning the rows of one
            shard; or what has a length and rows by index, such as a list or a
            dataset in PyTorch's style; or any other iterable of rows.

    Raises:
        TypeError: none of these, with what to give instead.
    """
    if isinstance(value, (list, tuple)) and value and callable(value[0]):
        for at, item in enumerate(value):
            if not callable(item):
                raise TypeError(
                    f"the source has callables and at {at} {described(item)}, "
                    "expected a callable for each shard, or rows alone"
                )
        return Parts(value)
    _check(value, None)
    cls = type(value)
    by_index = hasattr(cls, "__len__") and hasattr(cls, "__getitem__")
    # PyTorch's has __getitem__ only to say that it has none.
    by_index &= "IterableDataset" not in {base.__name__ for base in cls.__mro__}
    # A split of compressed files, too, whose rows come in order only.
    by_index &= not getattr(value, "is_sequential", False)
    length = _length_of(value)
    if by_index and length is not None:
        return Indexed(value, length)
    return Stream(value, length)


def _check(value: Any, shard: int | None) -> None:
    """Refuse what is not an iterable of rows; it is not touched otherwise."""
    cls = type(value)
    is_iterable = hasattr(cls, "__iter__") or hasattr(cls, "__getitem__")
    other = isinstance(value, (str, bytes, bytearray, memoryview, Mapping))
    other |= any(hasattr(cls, name) for name in _NOT_OF_ROWS)
    if other or not is_iterable:
        source = "the source" if shard is None else f"shard {shard}: its source"
        raise TypeError(
            f"{source} is {described(value)}, expected an iterable of rows, such as a "
            "list of dicts or a generator"
        )


def _length_of(value: object) -> int | None:
    """Return how many rows there are, where that is known."""
    if not isinstance(value, Sized):
        return None
    try:
        return len(value)
    except TypeError:  # tf.data says so where it does not know
        return None


def check_start(start: int, found: int) -> None:
    """See that a source has the rows before `start`.

    Raises:
        DatasetError: it has fewer.
    """
    if found < start:
        raise DatasetError(
            f"the source has {found} rows, expected at least {start}, which an earlier "
            "run has read from it; start again without resume"
        )


def _loaded(items: RowSequence, positions: Iterable[int]) -> Iterator[object]:
    # Only a split itself has it, and reads several records at once. A class that derives
    # from one may have another __getitem__.
    together = vars(type(items)).get("_rows_at")
    if together is not None:
        positions, asked = tee(positions)
        rows = together(items, asked)
    for index in positions:
        try:
            row: object = items[index] if together is None else next(rows)
        except RecordError as error:
            row = Unreadable(error)
        except StopIteration as error:  # would end this generator, not the program
            raise RuntimeError(
                f"the source raised StopIteration for {position(index)}"
            ) from error
        except Exception as error:
            error.add_note(f"while the source loaded {position(index)}")
            raise
        yield row


def _following(
    rows: Iterable[object], start: int, part: int | None
) -> Iterator[object]:
    number = -1
    try:
        # Not in a loop of its own: this is as fast as going through `rows` itself.
        for number, row in enumerate(rows):
            if number >= start:
                yield row
    except RecordError as error:
        raise RecordError(
            error.field,
            error.found,
            error.expected,
            "the source itself raised this and cannot go on; only one with a length "
            "and rows by index can leave out what it cannot read",
            number + 1,
            part,
        ) from error
    except Exception as error:
        error.add_note(f"while the source made {position(number + 1, part)}")
        raise
    check_start(start, number + 1)
