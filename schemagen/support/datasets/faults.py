"""What becomes of files and records that cannot be read: an error, or a skip.

All of this is Python that a graph calls once something has gone wrong, and at the
beginning and end of a file; as long as all is well it costs next to nothing.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Literal

from ..errors import DatasetError, did_you_mean
from ..requirements import tf
from .diagnosis import Parser, fault_of, fault_of_all, refused
from .survey import inflated_size_ends_with, opening_problem, place_of, surveyed

OnCorrupt = Literal["raise", "skip"]

_SHOWN = 3

# How long to wait at the end of a program until tensorflow's threads have left Python,
# and for how long none may have been there, in seconds.
_PATIENCE, _QUIET = 10.0, 0.2

# How many of them are there, and when the last one left.
_CALLS = {"running": 0.0, "last": float("-inf")}
_COUNTING = threading.Lock()
_ENDED = threading.Event()
_ENDING = "the program is ending"


@contextmanager
def _counted() -> Iterator[None]:
    with _COUNTING:
        _CALLS["running"] += 1
    try:
        yield
    finally:
        with _COUNTING:
            _CALLS["running"] -= 1
            _CALLS["last"] = time.monotonic()


@atexit.register
def _end() -> None:
    """Let what is running end, and nothing new begin.

    A thread of tensorflow that is in Python while the interpreter ends would never come
    back, and whoever waits for it would not either.
    """
    _ENDED.set()
    deadline = time.monotonic() + _PATIENCE
    while _running(since=time.monotonic() - _QUIET) and time.monotonic() < deadline:
        time.sleep(_QUIET / 2)


def _running(since: float) -> bool:
    """Tell whether Python is running on a thread of tensorflow, or was a moment ago."""
    return _CALLS["running"] > 0 or _CALLS["last"] > since


class Faults:
    """Finds out what is wrong with what cannot be read, and tells or counts it.

    Args:
        paths: the files that are read.
        parser: how records are parsed.
        on_corrupt: "raise" an error that names file, record and field; or "skip",
            which counts them for a report at the end of each epoch.

    Raises:
        DatasetError: on_corrupt is neither.
    """

    def __init__(
        self, paths: Sequence[str], parser: Parser, on_corrupt: OnCorrupt
    ) -> None:
        if on_corrupt not in ("raise", "skip"):
            near = did_you_mean(on_corrupt, ("raise", "skip"))
            raise DatasetError(
                f"on_corrupt={on_corrupt!r}: expected 'raise' or 'skip'"
                + (f"; {near}" if near else "")
            )
        self.skips = on_corrupt == "skip"
        self._paths = paths
        self._parser = parser
        self._lock = threading.Lock()
        self._skipped = 0
        self._first: list[str] = []

    def opened(self, path: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
        """Return the path if the file can be opened: string [1], or [0] to skip it."""

        def open_(path: tf.Tensor, size: tf.Tensor) -> tuple[str, list[str]]:
            name = path.numpy().decode()
            problem = opening_problem(name, int(size))
            return self._judge([problem] if problem else []), [name] * (not problem)

        message, paths = _python(open_, [path, size])
        return _unless(message, paths)

    def rest(
        self,
        path: tf.Tensor,
        records: tf.Tensor,
        size: tf.Tensor,
        expected: tf.Tensor,
    ) -> tf.Tensor:
        """Return what stands in a file behind what has been read of it: string [N].

        That is asked for where tensorflow has stopped too early, for whatever reason,
        or may have. If it was a passing one, the records can be read now.

        Args:
            path: the file.
            records: how many have been read.
            size: the bytes of these with their frames.
            expected: how many there should be; -1 if nobody has said.
        """

        def read(
            path: tf.Tensor, records: tf.Tensor, size: tf.Tensor, expected: tf.Tensor
        ) -> tuple[str, list[bytes]]:
            name = path.numpy().decode()
            if inflated_size_ends_with(name, int(size)):
                return "", []
            found = list(islice(surveyed(name), int(records), None))
            problems = [str(each) for each in found if isinstance(each, DatasetError)]
            good = [each for each in found if isinstance(each, bytes)]
            lost = max(0, int(expected) - int(records) - len(found))
            if problems and lost:
                problems[-1] += f"; nor can the {lost} behind it be read"
            return self._judge(problems, len(problems) + lost), good

        message, rest = _python(read, [path, records, size, expected])
        return _unless(message, rest)

    def sifted(self, serialized: tf.Tensor) -> tf.Tensor:
        """Return the records of a batch that can be parsed: string [N]."""

        def sift(serialized: tf.Tensor) -> tuple[str, list[bytes]]:
            records = serialized.numpy().tolist()
            bad = refused(records, self._parser)
            # Looking for a record takes as long as reading the files once more.
            shown = sorted(bad)[: self._unreported()]
            problems = [self._problem(records[number]) for number in shown]
            good = [each for number, each in enumerate(records) if number not in bad]
            return self._judge(problems, len(bad)), good

        message, good = _python(sift, [serialized])
        return _unless(message, good)

    def told(self, serialized: tf.Tensor) -> tf.Tensor:
        """Raise an error that names the first record of a batch that cannot be parsed.

        Raises:
            tf.errors.InvalidArgumentError: there is one, or all cannot be parsed
                together. Nothing is raised if this batch is not the one that was
                refused.
        """

        def tell(serialized: tf.Tensor) -> tuple[str, list[bytes]]:
            records = serialized.numpy().tolist()
            bad = refused(records, self._parser)
            if bad:
                return self._problem(records[min(bad)]), []
            return fault_of_all(records, self._parser), []

        message, nothing = _python(tell, [serialized])
        return _unless(message, nothing)

    def _problem(self, record: bytes) -> str:
        place = place_of(record, self._paths)
        return f"{place}: {fault_of(record, self._parser)}"

    def _unreported(self) -> int:
        """Return how many more problems a report would show."""
        with self._lock:
            return _SHOWN - len(self._first)

    def _judge(self, problems: list[str], count: int | None = None) -> str:
        """Count what is skipped, or return the message of an error to raise.

        Args:
            problems: in words; not all of them, if `count` says how many there are.
            count: how many there are.
        """
        if not self.skips:
            return problems[0] if problems else ""
        with self._lock:
            self._skipped += len(problems) if count is None else count
            self._first += problems[: _SHOWN - len(self._first)]
        return ""

    def report(self) -> None:
        """Tell what has been skipped since the last report."""
        with self._lock:
            skipped, first = self._skipped, self._first
            self._skipped, self._first = 0, []
        if skipped:
            shown = "".join(f"\n  {problem}" for problem in first)
            more = f"\n  and {skipped - len(first)} more" * (skipped > len(first))
            tf.get_logger().warning("corrupt and skipped: %d%s%s", skipped, shown, more)


def _python(
    function: Callable[..., Any], inputs: list[Any]
) -> tuple[tf.Tensor, tf.Tensor]:
    """Call Python from a graph; it returns a message and strings."""

    def called(*arguments: tf.Tensor) -> list[tf.Tensor]:
        with _counted():
            ended = _ENDED.is_set()
            message, strings = (_ENDING, []) if ended else function(*arguments)
        return [tf.constant(message), tf.constant(strings, tf.string)]

    message, strings = tf.py_function(called, inputs, [tf.string, tf.string])
    message.set_shape(())
    strings.set_shape((None,))
    return message, strings


def _unless(message: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Return a value, or raise an error if there is a message."""
    # An assertion would show quotation marks with backslashes.
    shown = tf.strings.regex_replace(message, "'", "`")
    raised = tf.debugging.Assert(message == "", [shown])
    with tf.control_dependencies([raised]):
        return tf.identity(value)
