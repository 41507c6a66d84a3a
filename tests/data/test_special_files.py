"""Pipes, sockets and devices in place of files: an error, and no waiting for bytes."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import run

from generated import DatasetError
from generated.digit.pipeline import make_dataset
from generated.digit.reader import open_split

_SECONDS = 60

_SPECIAL = {
    "pipe": "a pipe, not a regular file",
    "socket": "a socket, not a regular file",
    "device": "a device, not a regular file",
    "manifest": "a pipe, not a regular file",
    "shard": "a pipe, not a regular file",
}


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """Fail a test that waits for a pipe."""

    def fail(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def special(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is no file, by its kind."""
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    os.mkfifo("pipe.tfrecord")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.tfrecord")
    for directory, name in (("m", "manifest.json"), ("s", "train.tfrecord")):
        Path(directory).mkdir()
        os.mkfifo(Path(directory) / name)
    return {
        "pipe": "pipe.tfrecord",
        "socket": "socket.tfrecord",
        "device": "/dev/zero",
        "manifest": "m",
        "shard": "s",
    }


@pytest.mark.parametrize("kind", _SPECIAL)
def test_each_verb_says_what_is_no_file(special: dict[str, str], kind: str) -> None:
    """It ends with an error at once."""
    for verb, *options in (("verify",), ("inspect",), ("infer", "--out", "schema.py")):
        result = run(verb, special[kind], *options)
        assert result.exit_code in (1, 2), result.output
        assert _SPECIAL[kind] in result.output


@pytest.mark.parametrize("kind", _SPECIAL)
@pytest.mark.parametrize(
    "read", [lambda data: make_dataset(data, batch_size=1), open_split]
)
def test_each_reader_says_what_is_no_file(
    special: dict[str, str], kind: str, read: Callable[[str], object]
) -> None:
    """It raises when it is opened."""
    data = special[kind]
    with pytest.raises(DatasetError, match=_SPECIAL[kind]):
        read(f"{data}/*" if kind == "shard" else data)
