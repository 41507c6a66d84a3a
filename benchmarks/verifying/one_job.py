"""One process that verifies a data directory and says how much memory that took.

python -m benchmarks.verifying.one_job DIRECTORY
"""

from __future__ import annotations

import json
import sys
import time

from schemagen.data.verify import verify

from ..jobs import peak


def main() -> None:
    """Verify, and print what it took as JSON."""
    before = peak()
    start = time.perf_counter()
    found = verify(sys.argv[1], workers=1)
    took = time.perf_counter() - start
    taken = {"records": found.records, "seconds": took}
    print(json.dumps(taken | {"before": before, "process": peak()}))


if __name__ == "__main__":
    main()
