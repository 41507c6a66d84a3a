"""Noticing that files are not those of the generation that was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.directory import reader_of
from ..storage.files import FileState
from ..storage.manifest import SplitEntry, difference, missing_problem
from .manifests import OpenedManifest, stated, text_of
from .shards import File, Shards, of_each

_ADVICE = "open it again to read the new data"


class Generation:
    """The generation of some files: what manifests said of them when they were found.

    Manifests are compared by what they say about the splits that are read, since other
    splits may be written.

    Args:
        shards: the files.
    """

    def __init__(self, shards: Shards) -> None:
        self._manifests = shards.manifests
        self._equal = {opened.path: opened.text for opened in shards.manifests}
        self._states: dict[str, FileState] = {}

    def check(self) -> None:
        """Compare the manifests with what they were.

        Raises:
            DatasetError: a split was written again, or its manifest is gone.
        """
        for opened in self._manifests:
            for problem in self._problems(opened):
                raise DatasetError(problem)

    def _problems(self, opened: OpenedManifest) -> Iterator[str]:
        """Yield what a manifest says no more of splits, one text each."""
        why, now = "", {}
        state = _state_of(opened.path)
        if state and state == self._states.get(opened.path):
            return
        text = text_of(opened.path)
        if text == self._equal[opened.path]:
            self._know(opened.path, state)
            return
        if text is None:
            why = "the manifest was deleted"
        else:
            try:
                read = manifest.loads(text, opened.path)
                now = {name: stated(read, name) for name in read.splits}
            except DatasetError as error:
                why = f"its manifest cannot be read now ({error})"
        for name, split in opened.splits.items():
            if not _still_there(split, now.get(name)):
                reason = "it was written again" if name in now else "it was deleted"
                yield (
                    f"{opened.path}: split {name!r} is not what it was when it was "
                    f"opened: {why or reason}; {_ADVICE}"
                )
                return
        if text is not None:
            self._equal[opened.path] = text
            self._know(opened.path, state)

    def _know(self, path: str, state: FileState | None) -> None:
        """Take a manifest for what it is as long as it has the state from before."""
        if state and state.is_distinct:
            self._states[path] = state


def _state_of(path: str) -> FileState | None:
    """Return the state of a manifest; None if it cannot be told."""
    try:
        return reader_of(path).state(path)
    except OSError:
        return None


def _still_there(split: SplitEntry, now: SplitEntry | None) -> bool:
    """Return whether a split has all that it had; files may be added behind."""
    if now is None:
        return False
    shards = now.shards[: len(split.shards)]
    return replace(now, shards=shards, index=split.index) == split


def check_state(file: File, now: FileState) -> None:
    """Compare the state of a file with what it was when it was opened.

    Raises:
        DatasetError: it is another one.
    """
    if now != file.state:
        raise DatasetError(
            f"{file.path}: its size, modification time or inode is not what it was when "
            f"it was opened: it was replaced or changed; {_ADVICE}"
        )


def check_same(file: File, now: FileState, read: Callable[[int, int], bytes]) -> None:
    """Refuse a file that is not the one that was opened.

    Args:
        file: the file as it was opened.
        now: its state now.
        read: returns its bytes now, from a position to another one.

    Raises:
        DatasetError: its size or last bytes are not those that the manifest lists, or
            its state is another one.
        OSError: it cannot be read.
    """
    if file.listed and (problem := difference(file.path, file.listed, now.size, read)):
        raise DatasetError(problem)
    check_state(file, now)


def check_all_same(files: Iterable[File], *, gone: bool = True) -> None:
    """Refuse files of which one, at its path, is not the one that was opened.

    Listed files of a store change with their manifest, and are not asked for.

    Args:
        files: the files as they were opened.
        gone: refuse files that cannot be found or read, too.

    Raises:
        DatasetError: one is another, or cannot be found or read.
    """

    def compare(path: str, file: File) -> None:
        reader = reader_of(path)
        check_same(file, reader.state(path), partial(reader.read, path))

    def unreadable(file: File) -> str:
        try:
            file.at_current_path(partial(compare, file=file))
        except OSError as error:
            return unreadable_problem(file, error)
        return ""

    asked = [file for file in files if not (file.is_remote and file.listed)]
    for problem in of_each(unreadable, asked):
        if gone and problem:
            raise DatasetError(problem)


def check_listed(files: Iterable[File]) -> None:
    """Refuse files that did not have the size or last bytes that a manifest lists.

    Raises:
        DatasetError: a file is missing or is another one.
    """
    for file in files:
        if file.error and file.listed:
            raise DatasetError(unreadable_problem(file, file.error))
        if file.difference:
            raise DatasetError(file.difference)


def unreadable_problem(file: File, error: OSError) -> str:
    """Say why a file that was there, or that a manifest lists, cannot be read."""
    if not isinstance(error, FileNotFoundError):
        return f"{file.path}: it cannot be read: {error.strerror or error}"
    if file.listed:
        return missing_problem(file.path)
    return f"{file.path}: it was deleted after it was opened"


def replaced(read: Sequence[Shards], *, gone: bool = False) -> str:
    """Say what is not as it was when it was opened, or return "".

    An overwrite replaces the manifest before any file. So files are compared before it,
    and if one is another because its split was written again, the manifest says so.

    Args:
        read: the files.
        gone: whether a file that cannot be found or read is a problem, too.
    """
    problem, files = "", [file for shards in read for file in shards.files]
    try:
        check_all_same(files, gone=gone)
    except DatasetError as error:
        problem = str(error)
    for shards in read:
        try:
            Generation(shards).check()
        except DatasetError as error:
            return str(error)
    return problem
