"""Compares this checkout with a commit on random schemas, rows, data and damage.

python tests/net/diff_head.py REV --seed 1 --examples 300

Both run as programs of their own (`one_side.py`) on the same cases; then their outcomes are
compared: generated code, bytes of records, errors of refused rows, manifests, values that
both readers deliver, exit codes and findings. A difference is no fault by itself: each is
printed once, with the number of its cases, both sides of the first, and its schema.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from random_schemas import Drawing

_HERE = Path(__file__).parent
ROOT = _HERE.parents[1]

_SHOWN_LINES = 12


@dataclass
class Comparison:
    """What two versions did differently.

    Attributes:
        differences: the number of a case, the place in its outcome, and how it differs.
        generated: how many schemas were right.
    """

    differences: list[tuple[int, str, str]] = field(default_factory=list)
    generated: int = 0

    @property
    def by_place(self) -> dict[str, list[tuple[int, str, str]]]:
        """The differences by their place, whatever its numbers are."""
        found: dict[str, list[tuple[int, str, str]]] = {}
        for difference in self.differences:
            found.setdefault(re.sub(r"\d+", "*", difference[1]), []).append(difference)
        return found


def install(revision: str, directory: Path) -> Path:
    """Install a commit of this repository into a directory, with its core compiled."""
    command = ("git", "archive", revision)
    archive = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if archive.returncode:  # git has said why
        sys.exit(2)
    with tempfile.TemporaryDirectory() as source:
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
            files.extractall(source, filter="data")
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install")
        options = ("--quiet", "--no-deps", "--no-build-isolation")
        target = ("--target", str(directory), source)
        subprocess.run([*pip, *options, *target], check=True)
    return directory


def run_side(
    version: Path,
    directory: Path,
    seed: str,
    numbers: Iterable[int],
    left: Path,
    *,
    tensorflow: bool,
) -> dict[int, Any]:
    """Run cases with the schemagen in a directory, and return their outcomes."""
    given = os.environ.get("PYTHONPATH")
    paths = [str(version), *([given] if given else [])]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3"}
    environment = {**os.environ, **quiet, "PYTHONPATH": os.pathsep.join(paths)}
    arguments = [str(directory), seed, ",".join(map(str, numbers)), str(left)]
    found = subprocess.run(
        [
            *(sys.executable, str(_HERE / "one_side.py"), *arguments),
            *(["--tensorflow"] if tensorflow else []),
        ],
        cwd=version,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    # The installed schemagen may be another one.
    assert Path(found.stdout.split("\n")[-2]).is_relative_to(version), found.stdout
    with open(directory / "outcomes.jsonl", encoding="utf-8") as file:
        return dict(map(json.loads, file))


def compare(
    before: Path,
    seed: str,
    numbers: Iterable[int],
    *,
    after: Path = ROOT,
    tensorflow: bool = True,
) -> Comparison:
    """Run cases with the schemagen of two directories, and compare their outcomes."""
    numbers = list(numbers)
    found = Comparison()
    with tempfile.TemporaryDirectory() as directory:
        left, other = Path(directory, "before"), Path(directory, "after")
        sides = [
            run_side(version, place, seed, numbers, left, tensorflow=tensorflow)
            for version, place in ((before, left), (after, other))
        ]
    for number in numbers:
        one, another = (side[number] for side in sides)
        found.generated += one["generate"].get("exit") == 0
        found.differences += [(number, *each) for each in different(one, another)]
    return found


def different(before: Any, after: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield the places in which two outcomes differ, and how."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if key == "findings" and key in before and key in after:
                sides = (_by_rule(each[key]) for each in (before, after))
                yield from different(*sides, f"{at}/{key}")
            elif key not in before or key not in after:
                value = str(before.get(key, after.get(key)))[:200]
                yield f"{at}/{key}", f"{'-' if key in before else '+'} {value}"
            else:
                yield from different(before[key], after[key], f"{at}/{key}")
    elif (
        isinstance(before, list)
        and isinstance(after, list)
        and len(before) == len(after)
    ):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from different(*pair, f"{at}/{number}")
    elif repr(before) != repr(after):  # NaN equals NaN, and 0.0 does not equal -0.0
        lines = (str(each).splitlines() for each in (before, after))
        changed = [
            line[:500]
            for line in difflib.unified_diff(*lines, n=0, lineterm="")
            if not line.startswith(("---", "+++", "@@"))
        ]
        yield at, "\n".join(changed[:_SHOWN_LINES])


def _by_rule(findings: Any) -> dict[str, Any]:
    """Return findings by rule and field or line, so that one more moves no others."""
    found: dict[str, Any] = {}
    for each in findings:
        field = each.get("data", {}).get("field", each["location"]["line"])
        name = f"{each['rule']} {field}"
        while name in found:
            name += "+"
        found[name] = each
    return found


def main() -> int:
    """Compare, and print what differs: 0 if nothing does, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="a commit, such as main or HEAD~3")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--examples", type=int, default=300)
    parser.add_argument("--case", type=int, help="only this one")
    chosen = parser.parse_args()
    numbers = range(chosen.examples) if chosen.case is None else [chosen.case]
    with tempfile.TemporaryDirectory() as directory:
        before = install(chosen.revision, Path(directory, "installed"))
        found = compare(before, chosen.seed, numbers)
    for place, differences in found.by_place.items():
        number, _, how = differences[0]
        cases = len({each for each, _, _ in differences})
        print(f"{place}: {cases} cases, first case {number}")
        print("    " + how.replace("\n", "\n    "))
    cases = dict.fromkeys(each[0][0] for each in found.by_place.values())
    for number in cases:
        print(f"\ncase {number} of seed {chosen.seed}:")
        print(Drawing(f"{chosen.seed}/{number}").schema().text)
    print(
        f"{chosen.revision} and this checkout, seed {chosen.seed}: {len(numbers)} cases, "
        f"{found.generated} with a right schema, {len(found.by_place)} differences"
    )
    return 1 if found.differences else 0


if __name__ == "__main__":
    sys.exit(main())
