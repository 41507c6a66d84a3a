"""A worker of a tf.data service that is killed: what its reader gets, and how long it waits."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import Data, Workspace

_HERE = Path(__file__).parent
_ROWS, _FILES = 3_000, 6

# In seconds: that a reader waits for a batch of a worker that is started again, which
# takes as long as the import of TensorFlow; and of one that is not; and after which a test
# gives up.
_PATIENCE, _TIMEOUT, _LIMIT = 180, 15, 240

pytestmark = pytest.mark.slow

Process = subprocess.Popen[str]


def _started(script: str, *arguments: object) -> Process:
    return subprocess.Popen(
        [sys.executable, str(_HERE / script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _line(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


class Cluster:
    """A dispatcher, two workers in processes of their own, and a reader in another one."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._dispatcher = tf.data.experimental.service.DispatchServer()
        self.target: str = self._dispatcher.target
        with socket.socket() as one, socket.socket() as other:
            for free in (one, other):
                free.bind(("localhost", 0))
            self._ports = [free.getsockname()[1] for free in (one, other)]
        self.workers = [self._worker(0), self._worker(1)]

    def _kept(self, process: Process) -> Process:
        """Return a process that ends with the test, or when its time is up."""
        timer = threading.Timer(_LIMIT, process.kill)
        timer.start()
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        self._stack.callback(timer.cancel)
        return process

    def _worker(self, number: int) -> Process:
        address = self.target.removeprefix("grpc://")
        worker = self._kept(_started("service_worker.py", address, self._ports[number]))
        assert _line(worker) == "ready"
        return worker

    def reader(
        self,
        package: Workspace,
        directory: Path,
        epochs: int,
        timeout: int = _PATIENCE,
    ) -> Process:
        where = (package.root, package.package, directory)
        return self._kept(
            _started("service_reader.py", *where, self.target, timeout, epochs)
        )

    def kill(self, number: int) -> None:
        """Kill a worker, as a machine that is taken away."""
        self.workers[number].kill()
        self.workers[number].wait()

    def restart(self, number: int) -> None:
        """Start a worker at the address of one that was killed."""
        self.workers[number] = self._worker(number)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack)


def _begun(reader: Process, batches: int) -> list[int]:
    """Begin an epoch, and return the numbers of its first batches."""
    assert reader.stdin is not None
    reader.stdin.write("\n")
    reader.stdin.flush()
    return [number for _ in range(batches) for number in json.loads(_line(reader))]


def _rest(reader: Process) -> tuple[list[int], str]:
    """Return the numbers of an epoch's remaining batches, and how it ends."""
    found: list[int] = []
    while (line := _line(reader)).startswith("["):
        found += json.loads(line)
    return found, line


def test_worker_that_is_started_again_in_an_epoch_loses_records_which_is_an_error(
    cluster: Cluster, data: Data, package: Workspace
) -> None:
    """What it had begun is not read again; the next epoch has each record once."""
    directory = data(rows=_ROWS, shards=_FILES)
    reader = cluster.reader(package, directory, epochs=2)
    found = _begun(reader, 10)
    cluster.kill(0)
    cluster.restart(0)
    rest, end = _rest(reader)
    found += rest
    assert len(set(found)) == len(found) < _ROWS
    assert f" {_ROWS} " in end
    assert f"[{len(found)}]" in end
    _begun(reader, 0)
    again, end = _rest(reader)
    assert end == "end"
    assert sorted(again) == list(range(_ROWS))


def test_worker_that_never_returns_is_an_error_in_time(
    cluster: Cluster, data: Data, package: Workspace
) -> None:
    """The reader gets what the other one reads, waits, and says how long and why."""
    directory = data(rows=_ROWS, shards=_FILES)
    reader = cluster.reader(package, directory, epochs=1, timeout=_TIMEOUT)
    found = _begun(reader, 10)
    cluster.kill(0)
    rest, end = _rest(reader)
    found += rest
    assert len(set(found)) == len(found) < _ROWS
    assert f"service `{cluster.target}`: " in end
    assert f" {_TIMEOUT} " in end
