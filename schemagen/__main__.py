"""The command `schemagen`, and `python -m schemagen`."""

import gc
import os

try:
    from .interrupts import end_at_interrupts
except KeyboardInterrupt:
    os._exit(130)


def main() -> None:
    """Run the command line, which Ctrl-C ends at any time."""
    end_at_interrupts()
    # Classes, trees and texts are there until the end. To look through them for garbage
    # again and again takes a sixth of a run.
    gc.set_threshold(1_000_000)
    try:
        from .cli import main as command

        command(prog_name="schemagen")
    finally:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit code stands
        gc.freeze()  # or Python looks for garbage once more before the process ends


if __name__ == "__main__":
    main()
