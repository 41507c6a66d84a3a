"""The command `schemagen`, and `python -m schemagen`."""

import gc
import os
import sys

try:
    from .interrupts import end_at_interrupts, ignore_interrupts
except KeyboardInterrupt:
    os._exit(130)


def main() -> None:
    """Run the command line, which Ctrl-C ends at any time."""
    end_at_interrupts(sys.argv[1:])
    try:
        from .cli import main as command

        command(prog_name="schemagen")
    finally:
        ignore_interrupts()
        gc.freeze()  # or Python looks for garbage once more before the process ends


if __name__ == "__main__":
    main()
