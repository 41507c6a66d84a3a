"""Reads digits under a strategy, as a program of its own, and prints what it got.

python strategy_reader.py workers NUMBER PORT,PORT DIRECTORY...
python strategy_reader.py devices DIRECTORY...
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def numbers(strategy: Any, dataset: Any) -> list[int]:
    """The field `scan` of all records that this process gets."""
    found = []
    for _, _, info in dataset:
        for part in strategy.experimental_local_results(info["scan"]):
            found += part.numpy().tolist()
    return found


def read(strategy: Any, directory: str) -> dict[str, list[int]]:
    """Read a split as the strategy divides it, and as `make_dataset` does."""
    from generated.digit.pipeline import make_dataset

    def of(context: Any) -> Any:
        size = context.get_per_replica_batch_size(10)
        return make_dataset(
            directory, "train", batch_size=size, shard=context, info=True
        )

    whole = make_dataset(directory, "train", batch_size=10, info=True)
    return {
        "divided here": numbers(
            strategy, strategy.distribute_datasets_from_function(of)
        ),
        "divided there": numbers(
            strategy, strategy.experimental_distribute_dataset(whole)
        ),
    }


def main() -> None:
    mode, *directories = sys.argv[1:]
    if mode == "workers":
        number, ports, *directories = directories
        cluster = [f"localhost:{port}" for port in ports.split(",")]
        task = {"type": "worker", "index": int(number)}
        os.environ["TF_CONFIG"] = json.dumps(
            {"cluster": {"worker": cluster}, "task": task}
        )
    import tensorflow as tf

    strategy: Any
    if mode == "workers":
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    else:
        (cpu,) = tf.config.list_physical_devices("CPU")
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 2
        )
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    found = [read(strategy, directory) for directory in directories]
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
