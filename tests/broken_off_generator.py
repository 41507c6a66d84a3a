"""Break a run of the generator off at each of its steps, and let the next repair it.

Run as `python broken_off_generator.py HOW PROJECT`. A step is whatever Python reports
of the file system (opening, renaming, removing, listing) below the output directory.
HOW is what happens there: `fail` (the disk refuses), `interrupt` (Ctrl-C), `kill`, or
`halve` (killed while a file is half-written). Prints the number of steps.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

from schemagen.config import find_project
from schemagen.findings import SchemagenError
from schemagen.use_cases import generate as project

NOT_REACHED = 77

Tree = dict[str, bytes | None]


def tree(root: Path) -> Tree:
    """Return every path below a directory with its contents."""
    return {
        path.relative_to(root).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
    }


def restore(root: Path, files: Tree) -> None:
    """Bring a directory to given contents."""
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
    for name, data in files.items():
        if data is None:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(data)


def break_off(how: str, step: int, output: str) -> list[int]:
    """Arrange for something to happen at a step; return the steps there were so far."""
    done = [0]

    def happen() -> None:
        if how == "fail":
            raise OSError(errno.ENOSPC, "No space left on device")
        if how == "interrupt":
            raise KeyboardInterrupt
        os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" and not event.startswith("os."):
            return
        if any(isinstance(a, str | Path) and output in str(a) for a in arguments):
            done[0] += 1
            if done[0] == step:
                happen()

    original = Path.write_bytes

    def half(self: Path, data: Any) -> int:
        done[0] += 1
        if done[0] == step:
            original(self, data[: len(data) // 2])
            happen()
        return original(self, data)

    if how == "halve":
        Path.write_bytes = half  # type: ignore[method-assign]
    else:
        sys.addaudithook(hook)
    return done


def run(how: str, step: int, root: Path) -> int:
    """Generate in a child that is broken off; return how it ended."""
    child = os.fork()
    if child == 0:
        done = break_off(how, step, str(root / "generated"))
        try:
            project.generate(root)
        except (SchemagenError, KeyboardInterrupt):
            os._exit(1)
        os._exit(0 if done[0] >= step else NOT_REACHED)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(how: str, root: Path) -> int:
    """Break off at each step; return how many there are."""
    found = find_project(root)
    specs = project.load_specs(found)
    rendered = project.render(specs)
    project.load_specs = lambda _: specs
    project._rendered = lambda *_: rendered
    output = root / "generated"
    before = tree(output)
    new = {file.path: file.text.encode() for file in rendered}
    packages = {str(Path(path).parent) for path in new} - {"."}
    after: Tree = {**dict.fromkeys(packages), **new}
    assert before != after
    for step in count(1):
        restore(output, before)
        ended = run(how, step, root)
        if ended == NOT_REACHED:
            assert tree(output) == after
            return step - 1
        for path, data in tree(output).items():
            hidden = path.rsplit("/", 1)[-1].startswith(".")
            known = (before.get(path), new.get(path))
            assert hidden or data is None or data in known, (step, path)
            assert not (hidden and ended == 1 and how == "fail"), (step, path)
        project.generate(root)
        assert tree(output) == after, (step, ended)
    raise AssertionError


if __name__ == "__main__":
    print(main(sys.argv[1], Path(sys.argv[2]).resolve()))
