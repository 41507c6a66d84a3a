"""The command line: options in, findings and an exit code out."""

from __future__ import annotations

import io
import re
import sys
from collections import UserDict
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import click

from ..findings import ExitCode
from ..progress import showing
from ..runtime.interface import DISTRIBUTION
from .exit_codes import ending
from .help import TASKS, CommandGroup
from .printing import wanted
from .reporting import Output

_PLACES = {name: place for task in TASKS.values() for name, place in task.items()}


class _Commands(UserDict[str, click.Command]):
    """The commands by their names, each imported when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in self.data:
            module, _, function = _PLACES[name].partition(".")
            self[name] = getattr(import_module(f".{module}", __package__), function)
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)

    def __contains__(self, name: object) -> bool:
        return name in _PLACES


class _Group(CommandGroup):
    """Turns what goes wrong into the documented exit codes."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        output = Output(_asked_format(sys.argv[1:] if args is None else args))
        extra |= {"obj": output, "standalone_mode": False, "color": wanted()}
        with ending(output):
            # What returns a number has ended early, as --help does.
            sys.exit(super().main(args, *rest, **extra) or ExitCode.CLEAN)

    def invoke(self, ctx: click.Context) -> Any:
        with ending(ctx.obj), showing():
            return super().invoke(ctx)


def _asked_format(arguments: Sequence[str]) -> str:
    """Return the value of `--format`, also where the rest is wrong.

    It is "text" without the option, and for an unknown format.
    """
    found = re.findall(r"--format[= ](\S+)", " ".join(arguments))
    return found[-1] if found and found[-1] in ("json", "github") else "text"


@click.group(
    cls=_Group,
    commands=_Commands(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.version_option(package_name=DISTRIBUTION)
def main() -> None:
    """Generate the code that reads and writes TensorFlow training data.

    A record is declared once, as a class in a schema file. schemagen generates its
    serializer, parser, tf.data pipeline and Keras model.

    Exit codes: 0 clean; 1 findings; 2 the request cannot be carried out; 3 a bug;
    130 interrupted. `schemagen COMMAND --help` shows options and examples.
    """
    for stream in (sys.stdout, sys.stderr):
        # What a terminal's encoding lacks is shown escaped: no name ends a run.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
