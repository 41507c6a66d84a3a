"""Pages of the documentation that are lived through: each block, in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.S)
_COMMIT = re.compile(r"\([0-9a-f]{10}\)")


def live(root: Path, page: str) -> list[tuple[str, str]]:
    """Carry out a page's blocks in a directory.

    Python is written to the file that its first line names, commands are run, and what
    they print is taken down.

    Returns:
        For each block of text, what it says and what was printed before it.
    """
    bin_directory = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{bin_directory}{os.pathsep}{os.environ['PATH']}",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "a@example.org" for who in ("AUTHOR", "COMMITTER")},
    }
    printed, shown = "", []
    for language, text in _BLOCK.findall(page):
        if language == "python":
            path = root / text.splitlines()[0].removeprefix("# ")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif language == "sh":
            done = subprocess.run(
                ["bash", "-c", text],
                cwd=root,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            printed = done.stdout
            assert done.returncode in (0, 1), printed
        else:
            shown.append((text, printed))
    return shown


def plain(text: str) -> str:
    """Return a text without what differs between runs, its lines as they may wrap."""
    return " ".join(_COMMIT.sub("(1234567890)", text).split())


def assert_shown(shown: list[tuple[str, str]]) -> None:
    """Assert that a page shows what its commands print; `...` at a line's end omits text."""
    for said, printed in shown:
        rest = plain(printed)
        for part in re.split(r"\.\.\.$", said, flags=re.M):
            assert plain(part) in rest, f"{part}\nis not what was printed:\n{printed}"
            rest = rest[rest.index(plain(part)) + len(plain(part)) :]
