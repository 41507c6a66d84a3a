"""A worker of a tf.data service, as a program that knows nothing of any record.

python service_worker.py DISPATCHER

It prints "ready", and ends once its standard input does.
"""

from __future__ import annotations

import sys

import tensorflow as tf


def main() -> None:
    service = tf.data.experimental.service
    config = service.WorkerConfig(sys.argv[1], heartbeat_interval_ms=100)
    worker = service.WorkerServer(config)
    print("ready", worker._address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
