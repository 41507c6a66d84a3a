"""Noticing that files are not those of the generation that was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.files import FileState
from ..storage.manifest import Split, missing_problem
from .manifests import OpenedManifest, stated, text_of
from .shards import File, Shards, found, of_each

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
        text = text_of(opened.path)
        if text == self._equal[opened.path]:
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


def _still_there(split: Split, now: Split | None) -> bool:
    """Return whether a split has all that it had; files may be added behind."""
    if now is None:
        return False
    shards = now.shards[: len(split.shards)]
    return replace(now, shards=shards, index=split.index) == split


def check_state(path: str, state: FileState | None, now: FileState | None) -> None:
    """Compare the state of a file with what it was.

    Raises:
        DatasetError: it is another one.
    """
    if now != state:
        raise DatasetError(
            f"{path}: its size or modification time is not what it was when it "
            f"was opened: it was replaced or changed; {_ADVICE}"
        )


def check_unlisted(files: Iterable[File]) -> None:
    """Compare those of some files that no manifest lists with what they were.

    Raises:
        DatasetError: one is another.
        OSError: one cannot be found.
    """

    def check(file: File) -> OSError | None:
        try:
            check_state(file.path, file.state, file.state_now())
        except OSError as error:
            return error
        return None

    errors = of_each(check, [file for file in files if not file.listed])
    for error in filter(None, errors):
        raise error


def check_listed(files: Iterable[File]) -> None:
    """Refuse files that did not have the size or last bytes that a manifest lists.

    Raises:
        DatasetError: a file is missing or is another one.
    """
    for file in files:
        if file.is_missing:
            raise DatasetError(missing_problem(file.path))
        if file.error and file.listed:
            raise DatasetError(f"{file.path}: it cannot be read: {file.error.strerror}")
        if file.difference:
            raise DatasetError(file.difference)


def replaced(read: Sequence[Shards]) -> str:
    """Say what is not as it was when it was found, or return ""."""
    try:
        for shards in read:
            Generation(shards).check()
        for shards in read:
            with suppress(OSError):  # which is a fault of its own
                check_unlisted(shards.files)
    except DatasetError as error:
        return str(error)
    return ""


def changed(read: Sequence[Shards]) -> str:
    """Say which local file is not the one that its manifest lists, or return "".

    Sizes and last bytes are compared. Files of a store change with their manifest.
    """
    files = [file for shards in read for file in shards.files]
    listed = [file for file in files if file.listed and not file.is_remote]
    try:
        check_listed(found(listed))
    except DatasetError as error:
        return str(error)
    return ""
