"""What becomes of files and records that cannot be read: an error, or a skip.

All of this is Python that a graph calls once something has gone wrong, and at the
beginning and end of a file; as long as all is well it costs next to nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from typing import Literal

from ..shared.errors import DatasetError, did_you_mean
from ..shared.requirements import tf
from .callbacks import call_python, unless
from .error_report import Parser, fault_of, fault_of_all, refused
from .rescan import inflated_size_ends_with, opening_problem, place_of, surveyed

OnCorrupt = Literal["raise", "skip"]

_SHOWN = 3


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

        message, paths = call_python(open_, [path, size])
        return unless(message, paths)

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
            expected: how many there should be; -1 if no one has said.
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

        message, rest = call_python(read, [path, records, size, expected])
        return unless(message, rest)

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

        message, good = call_python(sift, [serialized])
        return unless(message, good)

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

        message, nothing = call_python(tell, [serialized])
        return unless(message, nothing)

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
