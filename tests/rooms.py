"""Which folders of tests belong to a folder of the code: `make test ROOM=data`.

python tests/rooms.py [ROOM] prints the folders of tests, and of no room all of them.
"""

from __future__ import annotations

import sys

ROOMS = {
    # schemagen/
    "cli": ["cli", "use_cases", "messages", "integrations"],
    "codegen": ["codegen", "models", "integrations"],
    "data": ["data", "inferring"],
    "display": ["notebooks", "messages", "cli"],
    "evolution": ["evolution", "baseline"],
    "git": ["integrations", "evolution"],
    "interop": ["interop", "importing"],
    "rules": ["messages", "use_cases"],
    "schema": ["schema", "messages"],
    "schema_source": ["schema_source", "importing"],
    "spec": ["schema", "codegen", "formats"],
    "use_cases": ["use_cases", "cli", "integrations"],
    # schemagen/runtime/
    "arrays": ["arrays", "frameworks"],
    "audio": ["kinds", "data", "contract"],
    "cells": ["kinds", "runtime"],
    "datasets": ["datasets"],
    "engines": ["engines", "distributed"],
    "faults": ["datasets", "data"],
    "images": ["kinds", "data"],
    "kinds": ["kinds", "contract"],
    "models": ["models"],
    "native": ["native", "runtime"],
    "records": ["contract", "arrays"],
    "shared": ["runtime", "native"],
    "sources": ["arrays", "datasets"],
    "storage": ["writing", "distributed", "remote"],
    "tensorflow": ["datasets", "kinds"],
    "writing": ["writing", "distributed"],
    # What is not in schemagen/.
    "docs": ["pages"],
    "templates": ["codegen", "models"],
    "project": ["project", "measuring", "net", "versions"],
}


def main(room: str = "") -> int:
    """Print the folders of a room."""
    if room and room not in ROOMS:
        print(f"No room {room}. ROOM is one of: {', '.join(ROOMS)}", file=sys.stderr)
        return 2
    print(*(f"tests/{folder}" for folder in ROOMS[room]) if room else ["tests"])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
