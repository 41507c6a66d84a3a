"""Caches in memory or in files, which are never those of other data."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from ..shared.errors import DatasetError
from ..shared.requirements import tf

Cache = bool | str | os.PathLike[str]


def check_cache(cache: object) -> None:
    """Refuse what is neither True or False nor a path.

    Raises:
        DatasetError: it is neither.
    """
    path = isinstance(cache, (str, os.PathLike)) and os.fspath(cache)
    if not isinstance(cache, bool) and not path:
        raise DatasetError(
            f"cache={cache!r}: expected True, for memory, or the path of a file"
        )


def cached(
    dataset: tf.data.Dataset, cache: Cache, contents: Sequence[object]
) -> tf.data.Dataset:
    """Keep what a dataset delivers in its first epoch.

    TensorFlow reads a cache's file regardless of who wrote it and of the data.
    So the file's name ends with a digest of all that its content depends on.

    Args:
        dataset: of anything.
        cache: True for memory, or the path that names of files begin with.
        contents: all that the content depends on; `repr` has to tell it.

    Raises:
        DatasetError: there can be no file at such a path.
    """
    if isinstance(cache, bool):
        return dataset.cache()
    digest = hashlib.sha256(repr(tuple(contents)).encode()).hexdigest()[:16]
    path = f"{os.fspath(cache)}-{digest}"
    directory = os.path.dirname(path)
    try:
        if directory:
            tf.io.gfile.makedirs(directory)
    except tf.errors.OpError as error:
        raise DatasetError(f"cache={cache!r}: {error.message}") from None
    return dataset.cache(path)
