"""One run of `generate --watch`: `python -m schemagen.watched INPUTS DIRECTORY ...`.

INPUTS is the file that says afterwards which files were read; further arguments are
options of `schemagen generate`.
"""

from __future__ import annotations

import sys

from .interrupts import end_at_interrupts, ignore_interrupts


def run(inputs: str, directory: str, *options: str) -> None:
    """Generate, and write down what was read.

    Raises:
        SystemExit: at the end, with the exit code of `schemagen generate`.
    """
    from pathlib import Path

    from .cli import main
    from .inputs import recorded

    with recorded(Path(inputs), Path(directory)):
        main(["generate", "--project", directory, *options], prog_name="schemagen")


if __name__ == "__main__":
    end_at_interrupts(sys.argv[1:])
    try:
        run(*sys.argv[1:])
    finally:
        ignore_interrupts()
