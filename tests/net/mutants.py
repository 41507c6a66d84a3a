"""Measure what tests notice of a part of the source: branch coverage and killed mutants.

    python tests/net/mutants.py --room schemagen/evolution --tests tests/evolution
    python tests/net/mutants.py --room ... --tests ... --same-as ../old-checkout

A mutant is the source with one small change, such as `<` for `<=`. It is killed if a test
fails. Only tests that execute the changed line run, the shortest first. Tests run in a copy
of the checkout; those that fail there without a mutant are left out.
"""

from __future__ import annotations

import argparse
import ast
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

_SECONDS = 240
_COPIED = ("schemagen", "templates", "schemas", "generated", "tests", "docs", "demo")

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

_COVERAGE = """\
[run]
branch = true
parallel = true
source = {root}/schemagen
data_file = {root}/.coverage
patch = subprocess
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
    """A copy of a checkout that tests run in."""

    def __init__(
        self, root: Path, scratch: Path, tests: Sequence[str], marker: str
    ) -> None:
        self._scratch = scratch
        self._python = [sys.executable, "-m"]
        self._options = ["-q", "-p", "no:cacheprovider", "-m", marker]
        self._tests = list(tests)
        for name in _COPIED:
            if (root / name).exists():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(root / name, scratch / name, ignore=ignored)
        for file in root.iterdir():
            if file.is_file() and file.name != ".git":
                shutil.copy(file, scratch / file.name)
        self.seconds: dict[str, float] = {}
        self.covering: dict[tuple[str, int], set[str]] = {}

    def _pytest(self, *options: str, seconds: float | None = None) -> int:
        command = [*self._python, "pytest", *self._options, *options]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self._scratch),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COVERAGE_RCFILE": str(self._scratch / "coverage.ini"),
        }
        process = subprocess.Popen(
            command,
            cwd=self._scratch,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return -9

    def measure(self, rooms: Sequence[str]) -> tuple[int, int]:
        """Run all tests, and return how many branches of the rooms they take, of all."""
        from coverage import Coverage

        rules = _COVERAGE.format(root=self._scratch)
        (self._scratch / "coverage.ini").write_text(rules, encoding="utf-8")
        report = self._scratch / "report.xml"
        self._pytest(
            *self._tests,
            "--cov",
            "--cov-context=test",
            "--cov-report=",
            f"--cov-config={self._scratch / 'coverage.ini'}",
            f"--junit-xml={report}",
            "-o",
            "junit_family=xunit1",
        )
        passed = self._passed(report)
        coverage = Coverage(config_file=str(self._scratch / "coverage.ini"))
        coverage.load()
        data = coverage.get_data()
        for path in _files(self._scratch, rooms):
            for line, contexts in data.contexts_by_lineno(
                str(self._scratch / path)
            ).items():
                names = {context.partition("|")[0] for context in contexts}
                self.covering[path, line] = {n for n in names if not n or n in passed}
        self.seconds = passed
        found = self._scratch / "coverage.json"
        files = [str(self._scratch / path) for path in _files(self._scratch, rooms)]
        coverage.json_report(include=files, outfile=str(found), ignore_errors=True)
        totals = json.loads(found.read_text())["totals"]
        return totals["covered_branches"], totals["num_branches"]

    def _passed(self, report: Path) -> dict[str, float]:
        """Return the seconds of each test that passed, by its id."""
        passed: dict[str, float] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("failure") is None and case.find("error") is None:
                file = case.get("file") or ""
                inner = (case.get("classname") or "").removeprefix(
                    file.removesuffix(".py").replace("/", ".")
                )
                parts = [file, *filter(None, inner.split(".")), case.get("name") or ""]
                passed["::".join(parts)] = float(case.get("time") or 0)
        return passed

    def kills(self, mutant: Mutant) -> bool:
        """Tell whether a test fails on a mutant, or takes too long."""
        contexts = self.covering.get((mutant.path, mutant.line), set())
        if not contexts:
            return False
        by_time = sorted(self.seconds, key=lambda test: self.seconds[test])
        direct = [test for test in by_time if test in contexts]
        rest = (
            [test for test in by_time if test not in contexts] if "" in contexts else []
        )
        file = self._scratch / mutant.path
        text = file.read_text(encoding="utf-8")
        lines = text.split("\n")
        lines[mutant.line - 1] = mutant.after
        file.write_text("\n".join(lines), encoding="utf-8")
        try:
            return any(self._fails(tests) for tests in (direct, rest) if tests)
        finally:
            file.write_text(text, encoding="utf-8")

    def _fails(self, tests: Sequence[str]) -> bool:
        listed = self._scratch / "listed.txt"
        listed.write_text("\n".join(tests), encoding="utf-8")
        seconds = _SECONDS + 3 * sum(self.seconds[test] for test in tests)
        return self._pytest("-x", f"@{listed}", seconds=seconds) not in (0, 5)


def main() -> None:
    """Measure, and print what survived."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("--room", nargs="+", required=True, help="files or folders")
    arguments.add_argument("--tests", nargs="+", required=True, help="what pytest runs")
    arguments.add_argument("--marker", default="not slow", help="pytest's -m")
    arguments.add_argument("--number", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--root", type=Path, default=Path(), help="the checkout")
    arguments.add_argument(
        "--same-as", type=Path, help="another checkout, for equal mutants"
    )
    given = arguments.parse_args()
    root = given.root.resolve()
    other = given.same_as.resolve() if given.same_as else None
    mutants = chosen(root, given.room, given.number, given.seed, other)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as scratch:
        checkout = Checkout(root, Path(scratch), given.tests, given.marker)
        taken, branches = checkout.measure(given.room)
        print(
            f"{len(checkout.seconds)} tests, branches {taken} of {branches}", flush=True
        )
        killed = 0
        for mutant in mutants:
            if checkout.kills(mutant):
                killed += 1
            else:
                print(f"survived: {mutant}", flush=True)
    minutes = (time.monotonic() - begun) / 60
    print(f"{killed} of {len(mutants)} mutants killed, {minutes:.0f} minutes")


if __name__ == "__main__":
    main()
