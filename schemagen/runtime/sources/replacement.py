"""Noticing that data was replaced while it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.files import FileState, in_threads
from ..storage.manifest import Split
from .files import Files, state_of
from .manifests import Opened, check_shards, stated, text_of

_ADVICE = "open it again to read the new data"


class Generation:
    """The generation of some files: what manifests said of them when they were found.

    Manifests are compared by what they say about the splits that are read, since other
    splits may be written.

    Args:
        files: which.
    """

    def __init__(self, files: Files) -> None:
        self._manifests = files.manifests
        self._equal = {opened.path: opened.text for opened in files.manifests}

    def check(self) -> None:
        """Compare the manifests with what they were.

        Raises:
            DatasetError: a split was written again, or its manifest is gone.
        """
        for opened in self._manifests:
            for problem in self._problems(opened):
                raise DatasetError(problem)

    def _problems(self, opened: Opened) -> Iterator[str]:
        """Yield what a manifest says no more of splits, one text each."""
        why, now = "", {}
        text = text_of(opened.path)
        if text == self._equal[opened.path]:
            return
        if text is None:
            why = "the manifest was deleted"
        else:
            try:
                found = manifest.loads(text, opened.path)
                now = {name: stated(found, name) for name in found.splits}
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


def check_state(path: str, state: FileState, found: FileState) -> None:
    """Compare the state of a file that no manifest lists with what it was.

    Raises:
        DatasetError: it is another one.
    """
    if found != state:
        raise DatasetError(
            f"{path}: its size or modification time is not what it was when it "
            f"was opened: it was replaced or changed; {_ADVICE}"
        )


def replaced(found: Sequence[Files]) -> str:
    """Say what is not as it was when it was found, or return ""."""
    try:
        for files in found:
            Generation(files).check()
        for files in found:
            in_threads(_check, list(files.states.items()))
    except DatasetError as error:
        return str(error)
    return ""


def changed(found: Sequence[Files]) -> str:
    """Say which local file is not the one that its manifest lists, or return "".

    Sizes and last bytes are compared. Files of a store change with their manifest.
    """
    listed = [
        (path, shard)
        for files in found
        for path, shard in zip(files.paths, files.shards, strict=True)
        if shard and "://" not in path
    ]
    try:
        check_shards([path for path, _ in listed], [shard for _, shard in listed])
    except DatasetError as error:
        return str(error)
    return ""


def _check(listed: tuple[str, FileState]) -> None:
    path, state = listed
    try:
        found = state_of(path)
    except OSError:
        return  # a fault of its own
    check_state(path, state, found)
