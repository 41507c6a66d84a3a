"""What becomes of files and records that cannot be read: an error, or a skip.

Python runs at the start and end of an epoch, to see that data was not replaced; once
something has gone wrong, when it reads the files a second time; and to read what
TensorFlow cannot.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..cells.selection import SelectionError
from ..shared.errors import DatasetError
from ..shared.options import RaiseOrSkip
from ..shared.requirements import tf
from ..sources.generation import replaced
from ..sources.records import FileRecords, opening_problem, with_command
from ..sources.shards import Shards
from ..sources.shares import FilePart
from ..storage.manifest import wrong_count
from .calls import after, call_python
from .error_report import Parser, fault_of, fault_of_all, refused

_SHOWN = 3

_UNEXPLAINED = (
    "records could not be read or parsed, and can be now: was the disk or the network "
    "down, or was there too little memory?"
)


def place_of(record: bytes, found: Iterable[Shards]) -> str:
    """Return the file of a record, and its number in that file.

    Records do not carry with them where they are from, since that would cost more than
    a tenth of reading; so that files are searched once something is wrong.
    """
    for shards in found:
        for file in shards.files:
            for number, each in enumerate(FileRecords(file)):
                if each == record:
                    return f"{file.path}: record {number}"
    return "a record that is no longer in the files"


def first_problem(shards: Shards, parser: Parser, batch_size: int) -> str:
    """Say what is wrong first in files, one after the other, or return "".

    Args:
        shards: the files.
        parser: how records are parsed.
        batch_size: how many records are parsed together.
    """
    together = ""
    for file in shards.files:
        problem = opening_problem(file)
        if problem:
            return problem
        found, count = iter(FileRecords(file)), 0
        while piece := list(islice(found, batch_size)):
            records = [each for each in piece if isinstance(each, bytes)]
            try:
                message = fault_of_all(records, parser) if records else ""
            except SelectionError as error:
                return f"{file.path}: record {count + error.row}: {error}"
            bad = refused(records, parser) if message else set()
            for number, each in enumerate(piece):
                if isinstance(each, DatasetError):
                    return with_command(file.path, str(each))
                if number in bad:
                    place = f"{file.path}: record {count + number}"
                    return with_command(file.path, f"{place}: {fault_of(each, parser)}")
            together = together or message
            count += len(piece)
        if file.records is not None and file.records != count:
            problem = wrong_count(file.path, count, file.records)
            return with_command(file.path, problem)
    return together


class Faults:
    """Finds out what is wrong with what cannot be read, and raises or counts it.

    Args:
        found: the files that are read, of each source.
        parser: how records are parsed.
        on_corrupt: "raise" an error that names file, record and field; or "skip",
            which counts them for a report at the end of each epoch.
        batch_size: how many records are parsed together.
        counted: whether the records of an epoch are counted later on.

    Attributes:
        skips: whether what is corrupt is skipped.
    """

    def __init__(
        self,
        found: Sequence[Shards],
        parser: Parser,
        on_corrupt: RaiseOrSkip = "raise",
        batch_size: int = 1,
        *,
        counted: bool = False,
    ) -> None:
        self.skips = on_corrupt == "skip"
        self._found = found
        self._parser = parser
        self._batch_size = batch_size
        self._counted = counted
        self._lock = threading.Lock()
        self._problem = ""
        self._skipped = 0
        self._first: list[str] = []

    def by_python(self, shards: Shards) -> bool:
        """Return whether Python reads some files, rather than TensorFlow."""
        cut_off_is_noticed = self._counted or not shards.is_compressed
        return (
            self.skips
            or shards.is_copied
            or not shards.is_settled
            or not cut_off_is_noticed
            or shards.not_in_tensorflow != ""
        )

    def records(
        self, shards: Shards, part: FilePart, *, begins: bool = False
    ) -> Iterator[bytes]:
        """Yield the sound records of a part of a file.

        Args:
            shards: of which it is one.
            part: which part.
            begins: whether to see that data was not replaced before.

        Raises:
            DatasetError: the file is not the one that is listed, or is damaged and
                nothing is skipped.
        """
        file = shards.files[part.file]
        path = file.path
        if begins:
            self._problem = ""  # of an earlier epoch
            if problem := replaced(self._found):
                self._raise(problem)
        if problem := opening_problem(file):
            self._raise_unless_skipped(problem)
            self._skip([shards.only((file,))], [problem])
            return
        contents, problems, count = FileRecords(file), list[str](), 0
        for number, record in enumerate(contents):
            if number == part.stop:
                break
            count += 1
            if isinstance(record, DatasetError):
                problems.append(str(record))
                self._raise_unless_skipped(with_command(path, problems[0]))
            elif number >= part.first and (number - part.first) % part.step == 0:
                yield record
        lost = 0
        if file.records is not None and part.stop is None:
            lost = file.records - count
            if lost and not problems:
                problems.append(wrong_count(path, count, file.records))
                self._raise_unless_skipped(with_command(path, problems[0]))
                lost -= 1
            elif lost:
                problems[-1] += f"; the {lost} after it cannot be read either"
        whole = part.stop is None and not problems and file.listed
        if whole and file.checksum not in ("", contents.crc32c):
            self._raise(
                f"{path}: found the CRC-32C {contents.crc32c}, expected the {file.checksum} "
                "that the manifest lists: the file was replaced or changed; "
                "restore it, or write the split again"
            )
        self._skip([shards.only((file,))], problems, len(problems) + max(0, lost))

    def any_record(self) -> bytes | None:
        """Return a record; an empty one if none can be read, None if there are none."""
        damaged = False
        for shards in self._found:
            for file in shards.files:
                for found in FileRecords(file):
                    if isinstance(found, bytes):
                        return found
                    damaged = True
        return b"" if damaged else None

    def ended(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        """See at the end of a dataset that data was not replaced, and report skips."""
        end = tf.data.Dataset.range(1).flat_map(
            lambda _: after(self.compared(report=self.skips), dataset)
        )
        return dataset.concatenate(end)

    def compared(self, *, report: bool = False) -> tf.Tensor:
        """See that data was not replaced: string [0], or an error.

        Args:
            report: tell what was skipped.
        """

        def compare() -> tuple[str, list[bytes]]:
            problem = self._replaced()
            if report and not problem:
                self._report()
            return problem, []

        return call_python(compare, [])

    def judged(self, missing: tf.Tensor) -> tf.Tensor:
        """See at the end that data was not replaced, or say why batches are missing.

        Args:
            missing: whether some are.

        Returns:
            string [0], or an error; always one if batches are missing.
        """

        def judge(missing: tf.Tensor) -> tuple[str, list[bytes]]:
            if not missing:
                return self._replaced(), []
            problem = self._replaced() or self._problem
            for shards in self._found:
                problem = problem or first_problem(
                    shards, self._parser, self._batch_size
                )
            self._problem = ""
            # The files may have been replaced while they were looked at.
            return self._replaced() or problem or _UNEXPLAINED, []

        return call_python(judge, [missing])

    def _replaced(self) -> str:
        """Say how data was replaced, or is gone where that is not skipped."""
        return replaced(self._found, gone=not self.skips)

    def sifted(self, serialized: tf.Tensor) -> tf.Tensor:
        """Return the records of a piece that can be parsed: string [N]."""

        def sift(serialized: tf.Tensor) -> tuple[str, list[bytes]]:
            records = serialized.numpy().tolist()
            bad = refused(records, self._parser)
            # Looking for a record takes as long as reading the files once more.
            shown = sorted(bad)[: self._unreported()]
            problems = [self._problem_of(records[number]) for number in shown]
            self._skip(self._found, problems, len(bad))
            return "", [each for at, each in enumerate(records) if at not in bad]

        return call_python(sift, [serialized])

    def _problem_of(self, record: bytes) -> str:
        return f"{place_of(record, self._found)}: {fault_of(record, self._parser)}"

    def _unreported(self) -> int:
        """Return how many more problems a report would show."""
        with self._lock:
            return _SHOWN - len(self._first)

    def _raise_unless_skipped(self, problem: str) -> None:
        if not self.skips:
            self._raise(problem)

    def _skip(
        self, found: Sequence[Shards], problems: list[str], count: int = 1
    ) -> None:
        """Count what is skipped.

        Args:
            found: the files that it may be from. The others are compared at the end.
            problems: in words; not all of them, if there are more.
            count: how many there are.

        Raises:
            DatasetError: the data was replaced.
        """
        if not problems:
            return
        if problem := replaced(found):
            self._raise(problem)
        with self._lock:
            self._skipped += count
            self._first += problems[: _SHOWN - len(self._first)]

    def _raise(self, problem: str) -> None:
        """Raise an error, which is the answer if the graph leaves it out."""
        self._problem = replaced(self._found) or problem
        raise DatasetError(self._problem)

    def _report(self) -> None:
        """Tell what has been skipped since the last report."""
        with self._lock:
            skipped, first = self._skipped, self._first
            self._skipped, self._first = 0, []
        if skipped:
            shown = "".join(f"\n  {problem}" for problem in first)
            more = f"\n  and {skipped - len(first)} more" * (skipped > len(first))
            tf.get_logger().warning("corrupt and skipped: %d%s%s", skipped, shown, more)
