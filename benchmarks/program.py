"""What all programs, such as `write`, do: options, a run, tables, a document."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .machine import LIBRARIES, machine
from .report import replace_part, table
from .setting import Setting

_QUICK_SHARE = 0.25
_QUICK_BYTES = 0.1


@dataclass(frozen=True)
class Part:
    """One of the measurements.

    Attributes:
        measure: returns its results, as JSON can hold them.
        markdown: returns them as tables.
    """

    measure: Callable[[Setting], dict[str, Any]]
    markdown: Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class Program:
    """A program that measures.

    Attributes:
        name: what it measures, such as "write".
        description: what it says of itself.
        parts: its measurements, by name; "profile" is one of them.
        shapes: the names of what it measures with.
        bytes: how much a full run writes or reads where memory is measured; 0 if it
            does not.
        libraries: whose versions it tells.
    """

    name: str
    description: str
    parts: Mapping[str, Part]
    shapes: Sequence[str]
    bytes: float = 0
    libraries: Sequence[str] = LIBRARIES

    def mark(self, part: str) -> str:
        """Return what marks the place of a part in the document."""
        return f"{self.name}: {part}"

    def run(self, arguments: Sequence[str] | None = None) -> None:
        """Measure, and print tables; with --json write the numbers to a file too."""
        options = self._options(arguments)
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        start = time.perf_counter()
        results: dict[str, Any] = {}
        with tempfile.TemporaryDirectory(dir=options.scratch) as directory:
            setting = Setting(
                Path(directory),
                options.rounds,
                options.shapes,
                options.share,
                options.bytes,
            )
            for part in options.parts:
                setting.say(part)
                results[part] = self.parts[part].measure(setting)
        seconds = time.perf_counter() - start
        found = conditions(options, self.libraries, seconds)
        texts = {"conditions": table(["", ""], found.items())}
        for part, result in results.items():
            texts[part] = self.parts[part].markdown(result)
        print("\n".join(texts.values()))
        if options.document:
            for part, text in texts.items():
                replace_part(options.document, self.mark(part), text)
        if options.json:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"conditions": found, **results}, indent=1)
            options.json.write_text(text + "\n", encoding="utf-8")

    def _options(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Read the command line."""
        shapes = tuple(self.shapes)
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks.{self.name}", description=self.description
        )
        parser.add_argument(
            "--parts",
            type=some_of(list(self.parts)),
            default=tuple(self.parts),
            help=f"which measurements, of {','.join(self.parts)}",
        )
        parser.add_argument(
            "--shapes",
            type=some_of(shapes),
            default=shapes,
            help=f"which records, of {','.join(shapes)}",
        )
        parser.add_argument("--rounds", type=int, help="how many count; 7")
        parser.set_defaults(bytes=0)
        if self.bytes:
            parser.add_argument(
                "--bytes",
                type=float,
                default=None,
                help=f"how much to {self.name} to see the memory; {self.bytes:g}",
            )
        parser.add_argument(
            "--share",
            type=float,
            default=None,
            help="of the records of a full run; 1",
        )
        parser.add_argument(
            "--quick",
            action="store_true",
            help="3 rounds of a quarter"
            + (f"; {self.bytes * _QUICK_BYTES:g} bytes" if self.bytes else ""),
        )
        parser.add_argument(
            "--profile", choices=shapes, help="only where the time of a shape goes"
        )
        parser.add_argument("--json", type=Path, help="write the results there")
        parser.add_argument(
            "--document",
            type=Path,
            help="put the tables between the marks in this file",
        )
        parser.add_argument(
            "--scratch",
            type=Path,
            help="where to write files, for a moment; else where "
            "the system keeps temporary files",
        )
        options = parser.parse_args(arguments)
        quick = options.quick
        options.rounds = options.rounds or (3 if quick else 7)
        options.bytes = int(
            options.bytes or self.bytes * (_QUICK_BYTES if quick else 1)
        )
        options.share = options.share or (_QUICK_SHARE if quick else 1.0)
        if options.profile:
            options.parts, options.shapes = ("profile",), (options.profile,)
        return options


def some_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Return what turns an argument such as "mix,jpeg" into names that are known."""

    def names(text: str) -> tuple[str, ...]:
        chosen = tuple(text.split(","))
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(
                f"no {', '.join(unknown)}; there are {', '.join(known)}"
            )
        return chosen

    return names


def conditions(
    options: argparse.Namespace, libraries: Sequence[str], seconds: float
) -> dict[str, str]:
    """Return when, where and how much was measured."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        **machine(libraries),
        "run": f"{options.rounds} rounds, {options.share:g} of the records, "
        f"{seconds / 60:.0f} minutes",
    }
