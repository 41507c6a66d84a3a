"""One process that generates or checks, and says what each stage of it took.

    python -m benchmarks.generating.stages DIRECTORY COMMAND

Seconds are those of the processor, and a stage's are its own: without those of the
stages inside of it.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

START = "start Python"
IMPORTS = "import schemagen"
REST = "everything else"

STAGES = {
    "find the project": ("schemagen.use_cases.generate", "find_project"),
    "load the schema files": ("schemagen.use_cases.generate", "load_schemas"),
    "resolve records to specs": ("schemagen.use_cases.generate", "resolve"),
    "load templates": ("jinja2", "Environment.compile"),
    "render": ("schemagen.use_cases.generate", "render"),
    "read what is there": ("schemagen.use_cases.generate", "read_existing"),
    "plan": ("schemagen.use_cases.generate", "make_plan"),
    "compile": ("schemagen.codegen.render", "check_python"),
    "write": ("schemagen.use_cases.generate", "apply"),
}
"""The functions that are looked at: modules, and names as they are used there."""


class Clock:
    """Seconds by stage, of which one is under way at a time."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = defaultdict(float)
        self._under_way = [START]
        self._since = 0.0

    def begin(self, stage: str) -> None:
        """Begin a stage inside of that which is under way."""
        self._count()
        self._under_way.append(stage)

    def end(self) -> None:
        """Go back to the stage around this one."""
        self._count()
        self._under_way.pop()

    def _count(self) -> None:
        now = time.process_time()
        self.taken[self._under_way[-1]] += now - self._since
        self._since = now

    def watch(self, stage: str, module: str, name: str) -> None:
        """Count what a function takes as a stage."""
        *outer, last = name.split(".")
        owner: Any = importlib.import_module(module)
        for part in outer:
            owner = getattr(owner, part)
        function: Callable[..., Any] = getattr(owner, last)

        def watched(*arguments: Any, **options: Any) -> Any:
            self.begin(stage)
            try:
                return function(*arguments, **options)
            finally:
                self.end()

        setattr(owner, last, watched)


def run(directory: str, command: str) -> dict[str, float]:
    """Generate or check a project.

    Returns:
        Seconds of the processor, by stage, from the start of the process.
    """
    clock = Clock()
    clock.begin(IMPORTS)
    importlib.import_module("schemagen.use_cases.generate")
    cli: Any = importlib.import_module("schemagen.cli")
    clock.end()
    for stage, (module, name) in STAGES.items():
        clock.watch(stage, module, name)
    clock.begin(REST)
    with redirect_stdout(sys.stderr):
        try:
            cli.main([command, "--project", directory])
        except SystemExit as ended:
            if ended.code:
                raise
    clock.end()
    return dict(clock.taken)


def main() -> None:
    """Run a command, and print what it took as JSON."""
    print(json.dumps(run(*sys.argv[1:])))


if __name__ == "__main__":
    main()
