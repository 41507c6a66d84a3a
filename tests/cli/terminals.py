"""Running programs on a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shown:
    """What a program has printed, and its exit code.

    Attributes:
        terminal: what the terminal got.
        stdout: what stdout got, if that was no terminal.
        code: the exit code.
    """

    terminal: str
    stdout: str
    code: int


def on_terminal(
    arguments: Sequence[str],
    cwd: Path,
    *,
    piped: bool = False,
    columns: int = 80,
    environment: Mapping[str, str] | None = None,
) -> Shown:
    """Run Python with stderr, and stdout unless it is piped, on a pseudo-terminal."""
    variables = {
        **os.environ,
        "TERM": "xterm",
        **(environment or {}),
    }
    controller, terminal = pty.openpty()
    size = struct.pack("HHHH", 24, columns, 0, 0)  # it has none at first
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
    out = cwd / ".stdout"
    with out.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=cwd,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=file if piped else terminal,
            stderr=terminal,
        )
    os.close(terminal)
    pieces = []
    try:
        while piece := os.read(controller, 1 << 16):
            pieces.append(piece)
    except OSError:  # Linux's end of a terminal
        pass
    finally:
        os.close(controller)
    code = process.wait()
    stdout = out.read_text()
    out.unlink()
    return Shown(b"".join(pieces).decode(), stdout, code)


def after_bars(text: str) -> str:
    """Return what is left on a terminal's last lines when lines are overwritten."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for piece in line.split("\r"):
            shown = piece + shown[len(piece) :]
        lines.append(shown.rstrip())
    return "\n".join(lines)
