"""The command line of a benchmark: options, a run, tables, a document."""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import schemagen

from .report import replace_part, table

LIBRARIES = (
    "numpy",
    "keras",
    "pillow",
    "protobuf",
    "tensorflow",
    "tensorflow-datasets",
    "tfx-bsl",
    "pyarrow",
)

# Generated packages are imported by name, and a process never forgets a name.
_numbers = itertools.count()


class Generated:
    """The code of the measured records, generated into a new directory.

    Attributes:
        root: the directory, from which the package is imported.
        package: the name of the generated package.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = f"bench_generated_{next(_numbers)}"
        shutil.copytree(Path(__file__).parent / "schemas", root / "schemas")
        settings = f'[tool.schemagen]\noutput = "{self.package}"\n'
        (root / "pyproject.toml").write_text(settings, encoding="utf-8")
        schemagen.generate(root)
        sys.path.insert(0, str(root))
        importlib.invalidate_caches()

    def module(self, path: str) -> Any:
        """Import a module of the package, such as "mix.serializer"."""
        return importlib.import_module(f"{self.package}.{path}")


@dataclass(frozen=True)
class Setting:
    """The options of a run.

    Attributes:
        root: a directory for all files, removed at the end.
        rounds: how many count, for each comparison.
        shapes: the names of the shapes to measure.
        share: of the records of a full run.
        bytes: how much to write or read where memory is measured.
    """

    root: Path
    rounds: int
    shapes: tuple[str, ...]
    share: float
    bytes: int

    @cached_property
    def generated(self) -> Generated:
        """The code of the measured records."""
        return Generated(self.root / "project")

    @property
    def scratch(self) -> Path:
        """A directory that is emptied again and again."""
        return self.root / "scratch"

    def count(self, full: int) -> int:
        """Return the number of records where a full run takes `full`."""
        return max(2, round(full * self.share))

    def say(self, text: str) -> None:
        """Print progress to stderr."""
        print(f"... {text}", file=sys.stderr, flush=True)


class Part(NamedTuple):
    """One of the measurements: results as JSON can hold them, and their tables."""

    measure: Callable[[Setting], dict[str, Any]]
    markdown: Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class Program:
    """A benchmark.

    Attributes:
        name: such as "write".
        description: for `--help`.
        parts: its measurements, by name.
        shapes: the names of the records that it measures with.
        bytes: how much a full run writes or reads to measure memory.
        libraries: whose versions it prints.
    """

    name: str
    description: str
    parts: Mapping[str, Part]
    shapes: Sequence[str]
    bytes: float = 0
    libraries: Sequence[str] = LIBRARIES

    def mark(self, part: str) -> str:
        """Return the mark of a part's place in the document."""
        return f"{self.name}: {part}"

    def run(self, arguments: Sequence[str] | None = None) -> None:
        """Measure and print tables; write results where the options say."""
        options = self._options(arguments)
        start = time.perf_counter()
        results: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as directory:
            setting = Setting(
                Path(directory),
                options.rounds or (3 if options.quick else 7),
                options.shapes,
                options.share or (0.25 if options.quick else 1.0),
                int(options.bytes or self.bytes * (0.1 if options.quick else 1)),
            )
            for part in options.parts:
                setting.say(part)
                results[part] = self.parts[part].measure(setting)
        minutes = (time.perf_counter() - start) / 60
        found = {
            "date": time.strftime("%Y-%m-%d"),
            **machine(self.libraries),
            "run": f"{setting.rounds} rounds, {setting.share:g} of the records, "
            f"{minutes:.0f} minutes",
        }
        texts = {"conditions": _conditions(found)}
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
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks.{self.name}", description=self.description
        )
        for option, known in (
            ("--parts", tuple(self.parts)),
            ("--shapes", self.shapes),
        ):
            parser.add_argument(
                option,
                type=_some_of(known),
                default=tuple(known),
                help=f"some of {','.join(known)}",
            )
        parser.add_argument("--rounds", type=int, help="rounds that count; 7")
        parser.add_argument("--share", type=float, help="of the records; 1")
        size = f"bytes where memory is measured; {self.bytes:g}"
        parser.add_argument("--bytes", type=float, help=size)
        quick = "3 rounds of a quarter of the records, and a tenth of the bytes"
        parser.add_argument("--quick", action="store_true", help=quick)
        parser.add_argument("--json", type=Path, help="write the results there")
        document = "put the tables between the marks in this file"
        parser.add_argument("--document", type=Path, help=document)
        return parser.parse_args(arguments)


def _some_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of arguments such as "mix,jpeg"."""

    def names(text: str) -> tuple[str, ...]:
        chosen = tuple(text.split(","))
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(
                f"no {', '.join(unknown)}; there are {', '.join(known)}"
            )
        return chosen

    return names


def _conditions(found: Mapping[str, str]) -> str:
    """Return a table of when and where a benchmark ran, and of the versions."""
    rest = dict(found)
    run = f"{rest.pop('date')}; {rest.pop('run')}"
    place = ", ".join(rest.pop(name) for name in ("processor", "memory", "system"))
    versions = ", ".join(f"{name} {version}" for name, version in rest.items())
    return table(["run", run], [["machine", place], ["versions", versions]])


def machine(libraries: Sequence[str]) -> dict[str, str]:
    """Return the processor, the system and the versions of libraries."""
    used, there = len(os.sched_getaffinity(0)), os.cpu_count()
    cores = f"{there} cores" if used == there else f"{used} of {there} cores"
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    found = {
        "processor": f"{_processor()}, {cores}",
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
    }
    for library in libraries:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            found[library] = "not installed"
    return found


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line for line in text.splitlines() if "model name" in line]
    return names[0].split(":", 1)[1].strip() if names else platform.machine()


def keep_to_cores(count: int) -> None:
    """Restrict this process and its children to some cores."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
