"""Run a command and print its seconds, processor seconds and memory as JSON.

    python -S -E generate_alone.py DIRECTORY COMMAND ...

It imports next to nothing, because Linux counts the memory of the parent process as
resident in its child.
"""

import json
import os
import sys
import time


def run(directory: str, command: list[str]) -> dict[str, float]:
    """Run a command in a directory, with its output to stderr, and measure it."""
    start = time.perf_counter()
    process = os.fork()
    if process == 0:
        os.chdir(directory)
        os.dup2(2, 1)
        os.execv(command[0], command)
    _, status, usage = os.wait4(process, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "seconds": time.perf_counter() - start,
        "processor": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    }


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2:])))
