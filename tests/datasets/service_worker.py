"""Two workers of a tf.data service, as a program that knows nothing of any record.

python service_worker.py DISPATCHER

It prints "ready", and goes on until it is killed: workers take half a minute to stop.
"""

from __future__ import annotations

import sys

import tensorflow as tf


def main() -> None:
    service = tf.data.experimental.service
    config = service.WorkerConfig(sys.argv[1], heartbeat_interval_ms=100)
    workers = [service.WorkerServer(config) for _ in range(2)]
    print("ready", flush=True)
    workers[0].join()


if __name__ == "__main__":
    main()
