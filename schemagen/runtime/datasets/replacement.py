"""Noticing that data was replaced while a dataset reads it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..shared.errors import DatasetError
from ..shared.requirements import tf
from .callbacks import call_python, unless
from .files import Files, state_of
from .manifests import Opened, in_threads, read_manifest, stated

_ADVICE = "make the dataset again with make_dataset to read what is there now"


def as_opened(found: Sequence[Files]) -> tf.data.Dataset:
    """Return a dataset of one element, or of an error if files were replaced.

    While the manifest's text is what it was, all that runs is one read of it in the
    graph. Otherwise Python compares what it says of the splits that are read, since
    other splits may be written. Files without a manifest are compared by their size
    and modification time.

    Args:
        found: the files as they were when the dataset was made.
    """
    manifests = [each for files in found for each in files.manifests]
    # A graph that holds the paths itself may read the files when it is optimized.
    once = tf.data.Dataset.from_tensors([each.path for each in manifests] or [""])

    def problem() -> tuple[str, list[str]]:
        return next(_problems(found), ""), []

    def compared(paths: tf.Tensor) -> tf.Tensor:
        message, _ = call_python(problem, [])
        return unless(message, paths)

    if any(files.states for files in found):
        return once.map(compared)
    opened = _hash(tf.constant([each.text for each in manifests])).numpy()

    def is_unchanged(paths: tf.Tensor) -> tf.Tensor:
        texts = [tf.io.read_file(path) for path in tf.unstack(paths)]
        return tf.reduce_all(_hash(tf.stack(texts)) == opened)

    unchanged = once.filter(is_unchanged).ignore_errors()
    return unchanged.concatenate(once.map(compared)).take(1)


def _hash(texts: tf.Tensor) -> tf.Tensor:
    return tf.strings.to_hash_bucket_fast(texts, 2**63 - 1)


def _problems(found: Sequence[Files]) -> Iterator[str]:
    for files in found:
        for opened in files.manifests:
            yield from _replaced_splits(opened)
        paths = list(files.states)
        for path, state in zip(paths, in_threads(_state, paths), strict=True):
            if state and state != files.states[path]:
                yield (
                    f"{path}: its size or modification time is not what it was when the "
                    f"dataset was made, so that it was replaced or changed; {_ADVICE}"
                )


def _state(path: str) -> str:
    """Return a file's state; one that cannot be read is a fault of its own."""
    try:
        return state_of(path)
    except tf.errors.OpError:
        return ""


def _replaced_splits(opened: Opened) -> Iterator[str]:
    """Yield what a manifest says no more of splits, one text each."""
    why, now = "", {}
    try:
        found = read_manifest(os.path.dirname(opened.path))
        if found is None:
            why = "there is no manifest now"
        else:
            now = {name: stated(found[1], name) for name in found[1].splits}
    except DatasetError as error:
        why = f"its manifest cannot be read now ({error})"
    for name, split in opened.splits.items():
        if now.get(name) != split:
            reason = "it was written again" if name in now else "it is not there now"
            yield (
                f"{opened.path}: split {name!r} is not what it was when the dataset was "
                f"made: {why or reason}; {_ADVICE}"
            )
