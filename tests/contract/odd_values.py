"""Values that no field is declared with: what a program may give a writer by mistake."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np


def _fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("this object fails")


def _stop(*_: Any, **__: Any) -> Any:
    raise StopIteration


def _object(name: str = "Odd", **methods: Any) -> Any:
    """Return an instance of a class with some methods."""
    return type(name, (), methods)()


class _FailingList(list[Any]):
    __iter__ = _fail


class _ListOfNoLength(list[Any]):
    __len__ = _fail


class _FailingText(str):
    encode = __str__ = __repr__ = _fail
    __slots__ = ()


class _FailingTime(datetime):
    __ne__ = __eq__ = _fail
    __hash__ = datetime.__hash__


class _FailingFloat(float):
    __ne__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _fail
    __hash__ = float.__hash__


class _FailingMapping(Mapping[Any, Any]):
    __getitem__ = __iter__ = _fail

    def __len__(self) -> int:
        return 2


class _FailingDict(dict[Any, Any]):
    keys = values = items = __iter__ = __getitem__ = _fail


class _NoClass:
    __class__ = property(_fail)  # type: ignore[assignment]


class _Member(Enum):
    TEXT = "a"
    NUMBER = 1


class _Tensor:
    """Looks as a tensor of PyTorch does, whose memory is gone."""

    requires_grad = False
    device = SimpleNamespace(type="cpu")
    dtype = "torch.float32"
    numpy = _fail


_Tensor.__module__ = "torch"


def _recursive() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def _recursive_dict() -> dict[int, Any]:
    found: dict[int, Any] = {}
    found[0] = found
    return found


def _deep() -> list[Any]:
    found: list[Any] = [1]
    for _ in range(2000):
        found = [found]
    return found


def _failing_rows() -> Iterator[Any]:
    yield 1
    _fail()


_PAIRS = np.dtype([("a", "i4"), ("b", "f4")])
_HUGE = 10**5000  # more digits than Python writes
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n" + bytes(20), b"\xff\xd8\xff\xe0" + bytes(20)

ODD: dict[str, Callable[[], Any]] = {
    # masks
    "masked": lambda: np.ma.masked,
    "masked in a list": lambda: [1, np.ma.masked],
    "masked in lists": lambda: [[1, np.ma.masked]],
    "masked array": lambda: np.ma.array([1, 2], mask=[False, True]),
    "masked array in a list": lambda: [np.ma.array([1], mask=[True])],
    "masked beside an array": lambda: [np.array([1.0, 2.0]), [1.0, np.ma.masked]],
    # arrays
    "array in lists": lambda: [[1, np.array([2])]],
    "scalar array in lists": lambda: [[1, np.array(2.5)]],
    "arrays of two shapes": lambda: [np.zeros(2), np.zeros((2, 2))],
    "bools beside an array": lambda: [np.array([1, 2]), [True, 2]],
    "array of objects": lambda: np.array([object(), None], object),
    "array of integers as objects": lambda: np.array([1, 2], object),
    "array of arrays": lambda: np.array([np.array(1), [2]], object),
    "scalar array": lambda: np.array(5),
    "scalar array of an object": lambda: np.array(object()),
    "scalar array of text": lambda: np.array("x"),
    "scalar array of None": lambda: np.array(None, object),
    "structured array": lambda: np.zeros(2, _PAIRS),
    "structured scalar": lambda: np.zeros(2, _PAIRS)[0],
    "void": lambda: np.void(b"abc"),
    "array of text": lambda: np.array(["a", "b"]),
    "array of bytes": lambda: np.array([b"a"]),
    "matrix": lambda: np.zeros((2, 2)).view(np.matrix),
    "array of 32 dimensions": lambda: np.zeros((1,) * 32),
    "array of no size": lambda: np.zeros((0, 0, 0)),
    "read-only array": lambda: np.broadcast_to(np.float32(1), (2, 2)),
    "long double": lambda: np.longdouble("1e400"),
    "array of long doubles": lambda: np.array(["1e400"], np.longdouble),
    "array of complex": lambda: np.array([1j, 2]),
    # objects of which a method fails, or returns nonsense
    "failing __array__": lambda: _object(__array__=_fail),
    "stopping __array__": lambda: _object(__array__=_stop),
    "__array__ of text": lambda: _object(__array__=lambda *_, **__: "x"),
    "failing __len__": lambda: _object(__len__=_fail, __getitem__=_fail),
    "__len__ below 0": lambda: _object(__len__=lambda _: -1, __getitem__=_fail),
    "huge __len__": lambda: _object(__len__=lambda _: 10**30, __getitem__=_fail),
    "failing __iter__": lambda: _object(__iter__=_fail),
    "failing list": lambda: _FailingList([1, 2]),
    "list of no length": lambda: _ListOfNoLength([1, 2]),
    "failing __float__": lambda: _object(__float__=_fail),
    "failing __index__": lambda: _object(__index__=_fail),
    "failing __index__ in a list": lambda: [1, _object(__index__=_fail)],
    "__index__ of text": lambda: [1, _object(__index__=lambda _: "x")],
    "__index__": lambda: _object(__index__=lambda _: 1),
    "failing __eq__": lambda: _object(__eq__=_fail, __ne__=_fail, __hash__=_fail),
    "failing __bool__": lambda: _object(__bool__=_fail),
    "failing __hash__": lambda: _object(__hash__=_fail),
    "failing __repr__": lambda: _object(__repr__=_fail, __str__=_fail),
    "failing text": lambda: _FailingText("a"),
    "failing time": lambda: _FailingTime(2020, 1, 1),
    "failing float": lambda: _FailingFloat(1.5),
    "failing NaN": lambda: _FailingFloat("nan"),
    "failing mapping": _FailingMapping,
    "failing dict": lambda: _FailingDict({0: 1.0}),
    "failing dict of members": lambda: _FailingDict(x=1, spot=[1.0, 2.0]),
    "no class": _NoClass,
    "no name": lambda: _object(""),
    "mock": MagicMock,
    "mock of an array": lambda: MagicMock(spec=np.ndarray),
    "mock of a list": lambda: MagicMock(spec=list),
    "mock of text": lambda: MagicMock(spec=str),
    "tensor": _Tensor,
    "tensor in a list": lambda: [_Tensor()],
    # other containers
    "generator": lambda: (number for number in range(2)),
    "failing generator": _failing_rows,
    "iterator": lambda: iter([1]),
    "range": lambda: range(3),
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset("a"),
    "dict": lambda: {"a": 1},
    "dict of odd keys": lambda: {(1, 2, 3): 1, None: 2},
    "dict of objects": lambda: {0: object()},
    "dict of NaN": lambda: {float("nan"): 1.0},
    "dict of a huge index": lambda: {10**30: 1.0},
    "pair with an object": lambda: ([0, object()], [1.0, 2.0]),
    "pair with a mask": lambda: ([1], [np.ma.masked]),
    "three lists": lambda: ([1], [2], [3]),
    "ragged": lambda: [[1, 2], [3]],
    "list and number": lambda: [[1], 2],
    "lists of nothing": lambda: [[[]]],
    "list that holds itself": _recursive,
    "lists that hold themselves": lambda: ([1, _recursive()], [_recursive()]),
    "dict that holds itself": _recursive_dict,
    "list of 2000 levels": _deep,
    "list of None": lambda: [None],
    "list of an object": lambda: [object()],
    # numbers
    "huge integer": lambda: _HUGE,
    "huge negative integer": lambda: -(10**400),
    "list of a huge integer": lambda: [_HUGE],
    "huge integer and float": lambda: [0.5, 10**400],
    "Decimal": lambda: Decimal("1.5"),
    "signalling NaN": lambda: Decimal("sNaN"),
    "Fraction": lambda: Fraction(1, 3),
    "complex": lambda: 1j,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "numpy's bool": lambda: np.True_,
    # times
    "NaT": lambda: np.datetime64("NaT"),
    "list of NaT": lambda: [np.datetime64("NaT")],
    "array of times": lambda: np.array(["2020-01-01"], "M8[s]"),
    "duration": lambda: np.timedelta64(5, "s"),
    "longest duration": lambda: timedelta.max,
    "time before all": lambda: datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))),
    "date": lambda: date(2020, 1, 1),
    "time": lambda: time(1),
    # text and bytes
    "text": lambda: "x",
    "lone surrogate": lambda: "a\ud800",
    "list of a lone surrogate": lambda: ["\ud800"],
    "numpy's text": lambda: np.str_("a"),
    "numpy's bytes": lambda: np.bytes_(b"a"),
    "bytes": lambda: b"\xff\x00",
    "no bytes": lambda: b"",
    "bytes like a PNG": lambda: _PNG,
    "bytes like a JPEG": lambda: _JPEG,
    "list of bytes like a PNG": lambda: [_PNG],
    "bytearray": lambda: bytearray(b"ab"),
    "memoryview": lambda: memoryview(b"abcd"),
    "memoryview with gaps": lambda: memoryview(b"abcd")[::2],
    "path": lambda: Path("x"),
    # others
    "enum member of text": lambda: _Member.TEXT,
    "enum member of a number": lambda: _Member.NUMBER,
    "class": lambda: int,
    "function": lambda: _fail,
    "module": lambda: sys,
    "ellipsis": lambda: ...,
    "exception": lambda: ValueError("x"),
    "object": object,
}
"""What makes a new value, by what it is."""
