"""Run a command and print what it took, as JSON: seconds, processor and memory.

    python -S -E alone.py DIRECTORY COMMAND ...

It imports next to nothing: to what a process had resident, Linux counts what the one
that began it had.
"""

import json
import os
import sys
import time


def run(directory: str, command: list[str]) -> dict[str, float]:
    """Wait for a command in a directory; what it prints goes to stderr.

    Returns:
        Its exit code; the seconds it took, those of the processor, and the most bytes
        that were resident.
    """
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
