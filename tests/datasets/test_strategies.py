"""Datasets under tf.distribute: in processes of their own, on real strategies."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import pytest
from digit_rows import rows

from generated.digit.serializer import write_dataset

HERE = Path(__file__).parents[1]
COUNT = 40

pytestmark = pytest.mark.slow


@pytest.fixture
def data(tmp_path: Path) -> Callable[[int], Path]:
    """Return what writes forty digits into so many files."""

    def make(shards: int) -> Path:
        directory = tmp_path / f"data{shards}"
        write_dataset(rows(COUNT), directory, "train", shards=shards)
        return directory

    return make


Steps = list[list[int]]


def results(*commands: tuple[str, ...]) -> list[list[dict[str, Steps]]]:
    """Run readers side by side; return what each has found in each directory."""
    paths = os.pathsep.join([str(HERE / "lean"), str(HERE.parent)])
    with ExitStack() as stack:
        readers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, str(HERE / "strategy_reader.py"), *command],
                    env={**os.environ, "PYTHONPATH": paths},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for command in commands
        ]
        for reader in readers:
            stack.callback(reader.kill)
        found = []
        for reader in readers:
            out, errors = reader.communicate(timeout=600)
            assert reader.returncode == 0, errors
            found.append(json.loads(out.splitlines()[-1]))
    return found


def free_ports(count: int) -> str:
    """Return so many, no two of which are the same."""
    with ExitStack() as stack:
        free = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in free:
            each.bind(("localhost", 0))
        return ",".join(str(each.getsockname()[1]) for each in free)


def of_workers(count: int, *directories: Path) -> list[list[dict[str, Steps]]]:
    """Return what each of so many processes has found in each directory."""
    ports, paths = free_ports(count), map(str, directories)
    read = tuple(paths)
    return results(*(("workers", str(n), ports, *read) for n in range(count)))


def test_two_workers_read_each_record_once(data: Callable[[int], Path]) -> None:
    """By files or by records, with `shard=` or left to TensorFlow."""
    of_both = of_workers(2, data(1), data(4))
    for first, second in zip(*of_both, strict=True):
        for way in ("divided here", "divided there"):
            found = [list(chain(*reader[way])) for reader in (first, second)]
            assert sorted(chain(*found)) == list(range(COUNT)), way
            assert list(map(len, found)) == [COUNT // 2] * 2, way
    by_files = list(chain(*of_both[0][1]["divided here"]))
    assert by_files == [*range(0, COUNT, 4), *range(2, COUNT, 4)]


def test_two_devices_of_one_machine_read_each_record_once(
    data: Callable[[int], Path],
) -> None:
    """One process reads for both: nothing is divided, but each batch."""
    ((found,),) = results(("devices", str(data(4))))
    for way in ("divided here", "divided there"):
        assert sorted(chain(*found[way])) == list(range(COUNT)), way
