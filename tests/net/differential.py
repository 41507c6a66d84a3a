"""Compares this schemagen with version 0.2.0 on random schemas, rows, data and damage.

python tests/net/differential.py --seed 1 --examples 300

Both run as programs of their own (`one_side.py`) on the same cases; then their outcomes are
compared: bytes of records, specs, manifests, exit codes, findings and errors, but no texts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from random_schemas import Drawing

_HERE = Path(__file__).parent
ROOT = _HERE.parents[1]
WHEEL = _HERE.parent / "baseline" / "schemagen-0.2.0-py3-none-any.whl"

# Where outcomes differ from those of 0.2.0: a pattern of places, and the reason. With
# `MANY` examples or more, a pattern that matches nothing is reported.
INTENDED: tuple[tuple[str, str], ...] = (
    (
        "/damage */verify/findings/SG521 *",
        "what protobuf reads and TensorFlow's parser refuses is not a finding any more",
    ),
    ("/damage */verify/splits/*/files", "a missing file is not counted"),
    ("/damage */verify/findings/SG505 *", "empty shards among others are normal"),
    ("/damage */verify/exit", "nothing but SG505 was found"),
    ("*/generate/findings/SG124 *", "several targets by default are named once"),
    ("*/verify/findings/SG522 *+", "sizes of a missing field are one fault of a row"),
    (
        "/damage */verify/findings/SG529 *",
        "a row whose values or indices are missing has no second fault",
    ),
    ("*/verify/findings/*/data/split", "splits are listed in another order"),
)
MANY = 300


@dataclass
class Comparison:
    """What two versions did differently.

    Attributes:
        differences: the number of a case, the place in its outcome, and how it differs.
        generated: how many schemas were right.
        used: how often each pattern of `INTENDED` matched.
    """

    differences: list[tuple[int, str, str]] = field(default_factory=list)
    generated: int = 0
    used: Counter[str] = field(default_factory=Counter)


def install_baseline(directory: Path) -> Path:
    """Install version 0.2.0 into a directory, without what it depends on."""
    command = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
    options = ("--no-index", "--disable-pip-version-check", "--target", str(directory))
    subprocess.run([*command, *options, str(WHEEL)], check=True)
    return directory


def run_side(
    version: Path, directory: Path, seed: str, numbers: Iterable[int], left: Path
) -> dict[int, Any]:
    """Run cases with the schemagen in a directory, and return their outcomes."""
    given = os.environ.get("PYTHONPATH")
    paths = [str(version), *([given] if given else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    arguments = [str(directory), seed, ",".join(map(str, numbers)), str(left)]
    found = subprocess.run(
        [sys.executable, str(_HERE / "one_side.py"), *arguments],
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


def compare(seed: str, numbers: Iterable[int], head: Path = ROOT) -> Comparison:
    """Run cases with both versions, and compare their outcomes."""
    numbers = list(numbers)
    found = Comparison()
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        baseline = install_baseline(scratch / "0.2.0")
        left = scratch / "before"
        before = run_side(baseline, left, seed, numbers, left)
        after = run_side(head, scratch / "after", seed, numbers, left)
    for number in numbers:
        found.generated += before[number]["generate"].get("exit") == 0
        for place, how in different(before[number], after[number]):
            patterns = [each for each, _ in INTENDED if fnmatch(place, each)]
            found.used.update(patterns)
            if not patterns:
                found.differences.append((number, place, how))
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
                which = "before" if key in before else "now"
                yield f"{at}/{key}", f"only {which}: {value}"
            else:
                yield from different(before[key], after[key], f"{at}/{key}")
    elif (
        isinstance(before, list)
        and isinstance(after, list)
        and len(before) == len(after)
    ):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from different(*pair, f"{at}/{number}")
    elif type(before) is not type(after) or before != after:
        yield at, f"{str(before)[:500]}\n      now {str(after)[:500]}"


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
    """Compare, and print what differs with the schemas."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--examples", type=int, default=300)
    parser.add_argument("--case", type=int, help="only this one")
    parser.add_argument("--head", type=Path, default=ROOT, help="another checkout")
    chosen = parser.parse_args()
    numbers = range(chosen.examples) if chosen.case is None else [chosen.case]
    found = compare(chosen.seed, numbers, chosen.head.absolute())
    cases = dict.fromkeys(number for number, _, _ in found.differences)
    for number in cases:
        print(f"case {number} of seed {chosen.seed}:")
        print(Drawing(f"{chosen.seed}/{number}").schema().text)
        for place, how in ((p, h) for n, p, h in found.differences if n == number):
            print(f"  {place}\n      was {how}")
    print(
        f"seed {chosen.seed}: {len(numbers)} cases, {found.generated} with a right schema, "
        f"{len(cases)} differ"
    )
    unused = [each for each, _ in INTENDED if not found.used[each]]
    if len(numbers) >= MANY and unused:
        print("intended differences that did not occur:", *unused, sep="\n  ")
        return 1
    return 1 if cases else 0


if __name__ == "__main__":
    sys.exit(main())
