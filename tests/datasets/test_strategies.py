"""Datasets under tf.distribute: in processes of their own, on real strategies."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from generated.digit.serializer import write_dataset

HERE = Path(__file__).parents[1]
COUNT = 40

pytestmark = pytest.mark.slow


@pytest.fixture
def data(tmp_path: Path) -> Callable[[int], Path]:
    """Return what writes forty digits into so many files."""

    def make(shards: int) -> Path:
        write_dataset(
            (
                {
                    "image": np.zeros((8, 8, 1), np.uint8),
                    "ink_runs": [],
                    "moments": np.zeros(8, np.float32),
                    "digit": number % 10,
                    "scan": number,
                }
                for number in range(COUNT)
            ),
            tmp_path / f"data{shards}",
            "train",
            shards=shards,
        )
        return tmp_path / f"data{shards}"

    return make


def results(*commands: tuple[str, ...]) -> list[list[dict[str, list[int]]]]:
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


def free_ports() -> str:
    """Return two, which are not the same."""
    with socket.socket() as one, socket.socket() as other:
        for free in (one, other):
            free.bind(("localhost", 0))
        return f"{one.getsockname()[1]},{other.getsockname()[1]}"


def test_two_workers_read_each_record_once(data: Callable[[int], Path]) -> None:
    """By files or by records, with `shard=` or left to TensorFlow."""
    ports, directories = free_ports(), (str(data(1)), str(data(4)))
    of_both = results(
        *(("workers", str(number), ports, *directories) for number in range(2))
    )
    for first, second in zip(*of_both, strict=True):
        for way in ("divided here", "divided there"):
            assert sorted(first[way] + second[way]) == list(range(COUNT)), way
            assert len(first[way]) == len(second[way]) == COUNT // 2, way
    by_files = of_both[0][1]["divided here"]
    assert by_files == [*range(0, COUNT, 4), *range(2, COUNT, 4)]


def test_two_devices_of_one_machine_read_each_record_once(
    data: Callable[[int], Path],
) -> None:
    """One process reads for both: nothing is divided, but each batch."""
    ((found,),) = results(("devices", str(data(4))))
    for way, numbers in found.items():
        assert sorted(numbers) == list(range(COUNT)), way
