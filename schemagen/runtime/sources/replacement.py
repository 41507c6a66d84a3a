"""Noticing that data was replaced while it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.files import in_threads
from .files import Files, state_of
from .manifests import Opened, stated, text_of

_ADVICE = "open it again to read what is there now"


def replaced(found: Sequence[Files]) -> str:
    """Say what is not as it was when it was opened, or return "".

    Manifests are compared by what they say of the splits that are read, since other
    splits may be written; files without one by their size and modification time.
    """
    manifests = chain.from_iterable(files.manifests for files in found)
    splits = chain.from_iterable(map(_replaced_splits, manifests))
    return next(splits, "") or next(_changed_files(found), "")


def _changed_files(found: Sequence[Files]) -> Iterator[str]:
    for files in found:
        yield from filter(None, in_threads(_changed, list(files.states.items())))


def _changed(listed: tuple[str, str]) -> str:
    path, state = listed
    try:
        same = state_of(path) == state
    except OSError:
        same = True  # a fault of its own
    if same:
        return ""
    return (
        f"{path}: its size or modification time is not what it was when it "
        f"was opened: it was replaced or changed; {_ADVICE}"
    )


def _replaced_splits(opened: Opened) -> Iterator[str]:
    """Yield what a manifest says no more of splits, one text each."""
    why, now = "", {}
    try:
        text = text_of(opened.path)
        if text == opened.text:
            return
        if text is None:
            why = "the manifest is gone"
        else:
            found = manifest.loads(text, opened.path)
            now = {name: stated(found, name) for name in found.splits}
    except DatasetError as error:
        why = f"its manifest cannot be read now ({error})"
    for name, split in opened.splits.items():
        if now.get(name) != split:
            reason = "it was written again" if name in now else "it is not there now"
            yield (
                f"{opened.path}: split {name!r} is not what it was when it was "
                f"opened: {why or reason}; {_ADVICE}"
            )
