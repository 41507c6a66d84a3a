"""Measure what tests notice of a part of the source: branch coverage and killed mutants.

    python tests/net/mutants.py --room schemagen/evolution --tests tests/evolution
    python tests/net/mutants.py --room ... --tests ... --same-as ../old-checkout
    python tests/net/mutants.py --room ... --work DIR  # run the tests once for many rooms

A mutant is the source with one small change, such as `<` for `<=`. It is killed if a test
fails. Only tests that execute the changed line run, the shortest first. Tests run in a copy
of the checkout; those that fail there without a mutant are left out. Each mutant has a
process of its own, forked from one that has imported TensorFlow.

Needs coverage and pytest-cov.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_COPIED = (
    "schemagen",
    "templates",
    "schemas",
    "generated",
    "tests",
    "docs",
    "demo",
    "benchmarks",
)

_OPTIONS = ["-q", "-p", "no:cacheprovider"]

_COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*"}

# In a program that a test starts, the test's name is the context.
_COVERAGE = """\
[run]
branch = true
parallel = true
source = {root}/schemagen
data_file = {root}/.coverage
context = ${{PYTEST_CURRENT_TEST-}}
patch = subprocess
"""

# Reads pytest's options, a line a run, and answers with its exit code. The limit is one of
# processor time, since other work may slow a run down.
_SERVER = """\
import json, os, resource, sys
import numpy, pydantic, hypothesis, pytest, tensorflow
for line in sys.stdin:
    seconds, *options = json.loads(line)
    child = os.fork()
    if not child:
        os.setsid()
        empty = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(empty, number)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        os._exit(pytest.main(options))
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@dataclass(frozen=True)
class Mutant:
    """A line with a change.

    Attributes:
        path: the file, relative to the checkout.
        line: its number.
        before: the line.
        after: the changed line.
    """

    path: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        """Return the place and both lines."""
        change = f"  - {self.before.strip()}\n  + {self.after.strip()}"
        return f"{self.path}:{self.line}\n{change}"


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield a part of the source, and the text to replace it with."""
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            text = _COMPARISONS[type(operator)]
            yield node, f"{ast.unparse(left)} {text} {ast.unparse(right)}"
        case ast.BoolOp(op=operator, values=values):
            text = " or " if isinstance(operator, ast.And) else " and "
            yield node, f"({text.join(ast.unparse(value) for value in values)})"
        case ast.BinOp(left=left, op=operator, right=right):
            if type(operator) in _OPERATORS:
                text = _OPERATORS[type(operator)]
                yield node, f"{ast.unparse(left)} {text} {ast.unparse(right)}"
        case ast.Constant(value=bool(value)):
            yield node, str(not value)
        case ast.Constant(value=int(value)):
            yield node, str(value + 1)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield test, f"(not ({ast.unparse(test)}))"
        case ast.Return(value=ast.AST()):
            yield node, "return None"
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield node, "pass"


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk through code that runs: no annotations, and nothing for type checkers."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child
            yield from _nodes(child)


def mutants_of(root: Path, path: str) -> Iterator[Mutant]:
    """Yield the mutants of a file: changes within one line that still compile."""
    text = (root / path).read_text(encoding="utf-8")
    lines = text.split("\n")
    for node in _nodes(ast.parse(text)):
        for part, new in _changes(node):
            if part.lineno != part.end_lineno:
                continue
            before = lines[part.lineno - 1]
            line = before.encode()
            changed = (
                line[: part.col_offset] + new.encode() + line[part.end_col_offset :]
            )
            mutant = Mutant(path, part.lineno, before, changed.decode())
            if mutant.after != before and _compiles(lines, mutant):
                yield mutant


def _compiles(lines: Sequence[str], mutant: Mutant) -> bool:
    changed = [*lines[: mutant.line - 1], mutant.after, *lines[mutant.line :]]
    try:
        ast.parse("\n".join(changed))
    except SyntaxError:
        return False
    return True


def _files(root: Path, rooms: Sequence[str]) -> list[str]:
    found: list[str] = []
    for room in rooms:
        whole = root / room
        files = [whole] if whole.is_file() else sorted(whole.rglob("*.py"))
        found += [file.relative_to(root).as_posix() for file in files]
    return found


def _once(root: Path, path: str) -> set[str]:
    """Return the lines that occur once in a file."""
    file = root / path
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    counted = Counter(text.split("\n"))
    return {line for line, number in counted.items() if number == 1}


def chosen(
    root: Path, rooms: Sequence[str], number: int, seed: int, other: Path | None
) -> list[Mutant]:
    """Choose mutants by chance; with another checkout, those that both can have."""
    found: list[Mutant] = []
    for path in _files(root, rooms):
        both = _once(root, path) & _once(other, path) if other else None
        found += [m for m in mutants_of(root, path) if both is None or m.before in both]
    unique = {(m.path, m.before, m.after): m for m in found}
    order = sorted(unique, key=lambda key: random.Random(f"{seed}{key}").random())
    return [unique[key] for key in order[:number]]


class Checkout:
    """A copy of a checkout that tests run in.

    Attributes:
        seconds: how long each test takes that passes, by its id.
        covering: the ids of the tests that execute a line; "" is for lines that run
            when a module is imported.
    """

    def __init__(self, work: Path) -> None:
        self._work = work
        self._report = work / "report.xml"
        self._rules = work / "coverage.ini"
        self._server: subprocess.Popen[str] | None = None
        self._changes = 0
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(work),
            "COVERAGE_RCFILE": str(self._rules),
            "OMP_NUM_THREADS": "1",
            "TF_NUM_INTRAOP_THREADS": "1",
        }
        self.seconds: dict[str, float] = {}
        self.covering: dict[tuple[str, int], set[str]] = {}

    def fill(self, root: Path) -> None:
        """Copy a checkout."""
        for name in _COPIED:
            if (root / name).exists():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(root / name, self._work / name, ignore=ignored)
        for file in root.iterdir():
            if file.is_file() and file.name != ".git":
                shutil.copy(file, self._work / file.name)

    def run(self, tests: Sequence[str], marker: str) -> None:
        """Run tests once, and keep what they execute."""
        rules = _COVERAGE.format(root=self._work)
        self._rules.write_text(rules, encoding="utf-8")
        options = ["--cov", "--cov-context=test", "--cov-report="]
        options += [f"--cov-config={self._rules}", f"--junit-xml={self._report}"]
        options += ["-o", "junit_family=xunit1", "-m", marker, *tests]
        subprocess.run(
            [sys.executable, "-m", "pytest", *_OPTIONS, *options],
            cwd=self._work,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            check=False,
        )

    def measure(self, rooms: Sequence[str]) -> tuple[int, int]:
        """Return how many branches of the rooms the tests take, of all."""
        from coverage import Coverage

        self.seconds = self._passed()
        coverage = Coverage(config_file=str(self._rules))
        coverage.load()
        data = coverage.get_data()
        paths = _files(self._work, rooms)
        for path in paths:
            found = data.contexts_by_lineno(str(self._work / path))
            for line, contexts in found.items():
                names = {_test_of(context) for context in contexts}
                self.covering[path, line] = {
                    name for name in names if not name or name in self.seconds
                }
        document = self._work / "coverage.json"
        files = [str(self._work / path) for path in paths]
        coverage.json_report(include=files, outfile=str(document), ignore_errors=True)
        totals = json.loads(document.read_text())["totals"]
        return totals["covered_branches"], totals["num_branches"]

    def _passed(self) -> dict[str, float]:
        passed: dict[str, float] = {}
        for case in ElementTree.parse(self._report).iter("testcase"):
            if case.find("failure") is None and case.find("error") is None:
                file = case.get("file") or ""
                inner = (case.get("classname") or "").removeprefix(
                    file.removesuffix(".py").replace("/", ".")
                )
                parts = [file, *filter(None, inner.split(".")), case.get("name") or ""]
                passed["::".join(parts)] = float(case.get("time") or 0)
        return passed

    def kills(self, mutant: Mutant, limit: float) -> bool:
        """Tell whether a test fails on a mutant, or does not end.

        Args:
            mutant: the change.
            limit: how many seconds of tests to run at most.
        """
        contexts = self.covering.get((mutant.path, mutant.line), set())
        if not contexts:
            return False
        by_time = sorted(self.seconds, key=lambda test: self.seconds[test])
        tests = [test for test in by_time if test in contexts]
        if "" in contexts:
            tests += [test for test in by_time if test not in contexts]
        total = itertools.accumulate(self.seconds[test] for test in tests)
        tests = [test for test, end in zip(tests, total, strict=True) if end <= limit]
        if not tests:
            return False
        file = self._work / mutant.path
        text, times = file.read_text(encoding="utf-8"), file.stat().st_mtime
        lines = text.split("\n")
        lines[mutant.line - 1] = mutant.after
        file.write_text("\n".join(lines), encoding="utf-8")
        # Compiled modules are told apart by the seconds of their time.
        self._changes += 1
        os.utime(file, (times + self._changes, times + self._changes))
        try:
            return self._fails(tests)
        finally:
            file.write_text(text, encoding="utf-8")
            os.utime(file, (times, times))

    def _fails(self, tests: Sequence[str]) -> bool:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-c", _SERVER],
                cwd=self._work,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        listed = self._work / "listed.txt"
        listed.write_text("\n".join(tests), encoding="utf-8")
        seconds = 60 + 5 * round(sum(self.seconds[test] for test in tests))
        options = [seconds, *_OPTIONS, "-x", f"@{listed}"]
        self._server.stdin.write(json.dumps(options) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline()) not in (0, 5)


def _test_of(context: str) -> str:
    """Return the id of a test from the context that coverage has for it."""
    name = context.partition("|")[0] or context.partition("|")[2]
    for phase in (" (setup)", " (call)", " (teardown)"):
        name = name.removesuffix(phase)
    return name


def main() -> None:
    """Measure, and print what survived."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("--room", nargs="+", required=True, help="files or folders")
    arguments.add_argument("--tests", nargs="+", default=["tests"])
    arguments.add_argument("--marker", default="not slow", help="pytest's -m")
    arguments.add_argument("--number", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--root", type=Path, default=Path(), help="the checkout")
    arguments.add_argument(
        "--same-as", type=Path, help="another checkout, for equal mutants"
    )
    arguments.add_argument(
        "--work", type=Path, help="a directory to keep the copy and its coverage in"
    )
    arguments.add_argument(
        "--limit", type=float, default=120, help="seconds of tests for each mutant"
    )
    given = arguments.parse_args()
    root = given.root.resolve()
    other = given.same_as.resolve() if given.same_as else None
    mutants = chosen(root, given.room, given.number, given.seed, other)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as scratch:
        work = (given.work or Path(scratch)).resolve()
        checkout = Checkout(work)
        if not (work / "report.xml").exists():
            work.mkdir(exist_ok=True)
            checkout.fill(root)
            checkout.run(given.tests, given.marker)
        taken, branches = checkout.measure(given.room)
        tests = len(checkout.seconds)
        print(f"{tests} tests, branches {taken} of {branches}", flush=True)
        killed = 0
        for mutant in mutants:
            if checkout.kills(mutant, given.limit):
                killed += 1
            else:
                print(f"survived: {mutant}", flush=True)
    minutes = (time.monotonic() - begun) / 60
    print(f"{killed} of {len(mutants)} mutants killed, {minutes:.0f} minutes")


if __name__ == "__main__":
    main()
