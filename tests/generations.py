"""Files of remote directories, whose names say which run has written them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_SHARD = re.compile(r"(.+?)-(\d{5})(?:-of-\d{5})?\.[0-9a-f]{24}\.tfrecord(.*)")
_INDEX = re.compile(r"(\..+\.[0-9a-f]{8})\.[0-9a-f]{12}\.index")


def without_runs(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Files of a directory by their names without runs; what the manifest says as JSON.

    Equal for a remote directory and a local one that hold the same.
    """
    manifest = json.loads(files["manifest.json"])
    del manifest["crc32c"]
    names = {name: name for name in files} | {
        name: f"{found[1]}.index" for name in files if (found := _INDEX.fullmatch(name))
    }
    for split in manifest["splits"].values():
        split.pop("run", None)
        for shard in split["shards"]:
            if found := _SHARD.fullmatch(shard["file"]):
                number = f"{found[2]}-of-{len(split['shards']):05d}"
                plain = f"{found[1]}-{number}.tfrecord{found[3]}"
                names[shard["file"]] = shard["file"] = plain
    return {names[name]: data for name, data in files.items()} | {
        "manifest.json": manifest
    }


def shard_at(url: str, number: int) -> tuple[str, str]:
    """The URL of a shard in a directory, and its path in the file system of the URL."""
    import fsspec

    files, where = fsspec.url_to_fs(url)
    (path,) = files.glob(f"{where}/train-{number:05d}-of-*")
    return url + str(path).removeprefix(where), str(path)


def is_of_run(name: str) -> bool:
    """Whether a file is a shard whose name says which run has written it."""
    return _SHARD.fullmatch(name) is not None
