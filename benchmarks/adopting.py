"""How often `infer` says what an expert says of the files of public repositories.

    python -m benchmarks.adopting [--sheet fifth] [--files DIRECTORY] [--every]

The sheets in `benchmarks/sheets/` list data sets of public repositories, with commits and
checksums, and what an expert in the field declares, written down from the code of each
repository before `infer` was run. The files are not part of this project: a sheet is scored
by the evidence that is recorded of them, or by the files, if they are under DIRECTORY as
`<owner>+<name>/<path in the repository>`. The rules of `infer` were changed
while the misses on all sheets were read, one sheet after the other.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schemagen.data.infer import Drafted, Evidence, draft_record
from schemagen.findings import SchemagenError
from schemagen.spec.model import FieldSpec
from schemagen.use_cases.infer import infer

from .evidence import measured, recorded, root_of, sheet_of

ASPECTS = ("role", "kind", "shape")


@dataclass
class Score:
    """The answers of one sheet.

    Attributes:
        right: of each aspect, how many answers are what the expert says.
        asked: how many there are.
        doubted: how many of the wrong ones have the truth in a doubt.
        misses: the wrong ones, in words.
    """

    right: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    doubted: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def add(
        self, aspect: str, where: str, *, right: bool, doubted: bool, words: str
    ) -> None:
        """Count one answer."""
        self.asked[aspect] += 1
        self.right[aspect] += right
        if not right:
            self.doubted[aspect] += doubted
            said = "in doubt" if doubted else "WRONG"
            self.misses.append(f"{where}: {aspect} {said}: {words}")


def judge(
    sheet: Sequence[Mapping[str, Any]], evidence: Mapping[str, Evidence]
) -> Score:
    """Compare what is inferred with what an expert says.

    Args:
        sheet: the data sets.
        evidence: what is measured of each, by its name.
    """
    score = Score()
    for entry in sheet:
        if entry["records"] != "other":
            judge_record(score, entry, draft_record(evidence[entry["name"]], "Found"))
    return score


def judge_refusals(
    score: Score, sheet: Sequence[Mapping[str, Any]], files: Path
) -> None:
    """Count the data sets of other messages that are refused."""
    for entry in sheet:
        if entry["records"] == "other":
            _judge_other(score, entry, root_of(entry, files))


def judge_record(score: Score, entry: Mapping[str, Any], draft: Drafted) -> None:
    """Compare one record that is inferred with what an expert says."""
    for key, expected in entry["keys"].items():
        _judge_key(score, f"{entry['name']}: {key}", key, expected, draft)
    for group in entry.get("groups", ()):
        _judge_group(score, entry["name"], group, draft)


def _judge_other(score: Score, entry: Mapping[str, Any], root: Path) -> None:
    with TemporaryDirectory() as directory:
        try:
            keys = len(infer(root / entry["data"], f"{directory}/x.py").spec.fields)
        except SchemagenError:
            keys = 0
    words = f"{keys} keys, expected a refusal of {entry['other']}"
    score.add("message", entry["name"], right=not keys, doubted=False, words=words)


def _judge_key(
    score: Score, where: str, key: str, expected: Mapping[str, Any], draft: Drafted
) -> None:
    own = {each.key: each for each in draft.spec.fields}
    further = {entry.key: each for each in draft.spec.fields for entry in each.parts}
    found = own.get(key)
    if found is None and key in further:
        owner = further[key].key
        wanted = expected.get("part_of", "")
        said = f"part of {owner}, expected {wanted or expected.get('kind')}"
        right = owner == wanted or wanted in further or "info" in expected["role"]
        for aspect in ("role", "kind"):
            score.add(aspect, where, right=right, doubted=False, words=said)
        return
    if found is None:
        reason = draft.left_out.get(key, "not read")
        right = "kind" not in expected or not expected["kind"]
        for aspect in ("role", "kind"):
            score.add(aspect, where, right=right, doubted=True, words=reason)
        return
    doubts = _doubts(draft, found)
    roles = expected["role"]
    named = _named_role(key, found, roles, doubts)
    score.add(
        "role",
        where,
        right=found.role in roles or (named and not expected.get("obvious", True)),
        doubted=named,
        words=f"{found.role}, expected {' or '.join(roles)}",
    )
    kinds, kind = expected.get("kind") or (), found.kind.kind
    if kinds:
        words = f"{kind}, expected {' or '.join(kinds)}"
        named = _named_kind(kinds, expected, doubts)
        right = kind in kinds or (named and not expected.get("obvious_kind", True))
        score.add(
            "kind",
            where,
            right=right,
            doubted=named,
            words=words,
        )
    if "shape" in expected and "part_of" not in expected:
        shape, wanted = _shape(found), expected["shape"]
        dtype = getattr(found.kind, "dtype", "")
        dtypes = expected.get("dtype") or [dtype]
        named = _named_shape(wanted, dtypes, dtype, doubts)
        also = expected.get("also_shape", wanted)
        same = _same(shape, wanted) or _same(shape, also)
        right = same and (dtype in dtypes or dtype == "")
        right = right or (named and not expected.get("obvious_shape", True))
        score.add(
            "shape",
            where,
            right=right,
            doubted=named,
            words=f"{shape} {dtype}, expected {wanted} {' or '.join(dtypes)}",
        )


def _judge_group(score: Score, name: str, group: Sequence[str], draft: Drafted) -> None:
    own = {each.key: each for each in draft.spec.fields}
    groups = {getattr(own[key].kind, "group", None) for key in group if key in own}
    fixed = all(
        key in own and own[key].kind.kind in ("Vector", "Scalar", "Tensor", "Label")
        for key in group
    )
    right = len(groups) == 1 and (None not in groups or fixed)
    words = f"{', '.join(group)} in groups {sorted(map(str, groups))}"
    score.add("group", name, right=right, doubted=False, words=words)


def _doubts(draft: Drafted, found: FieldSpec) -> str:
    said = [*draft.comments.get(found.name, ()), *draft.comments.get("", ())]
    return "\n".join(text for text in said if text.startswith("doubt: "))


def _named_role(key: str, found: FieldSpec, roles: Sequence[str], doubts: str) -> bool:
    lines = doubts.split("\n")
    return any(
        (repr(key) in line or f"'{found.name}'" in line) and role in line
        for line in lines
        for role in (*roles, "answers")
    ) or ("weight" in roles and "weight" in doubts)


def _named_kind(kinds: Sequence[str], expected: Mapping[str, Any], doubts: str) -> bool:
    words = {
        "Image": ("Image", "pixels", "images"),
        "Label": ("Label", "class"),
        "MultiLabel": ("MultiLabel", "classes"),
        "Scalar": ("value that may", "bool"),
        "VarLen": ("list", "padding"),
        "Vector": ("numbers", "row"),
        "Tensor": ("numbers", "Tensor"),
        "Mask": ("Mask", "class for each pixel"),
    }
    return any(word in doubts for kind in kinds for word in words.get(kind, (kind,)))


def _named_shape(wanted: Any, dtypes: Sequence[str], found: str, doubts: str) -> bool:
    sizes = [size for size in wanted or () if size is not None]
    said = all(re.search(rf"\b{size:,}\b", doubts) for size in sizes)
    dtype = found in dtypes or any(dtype in doubts for dtype in dtypes)
    return bool(doubts) and said and dtype


def _shape(found: FieldSpec) -> list[int | None]:
    kind = getattr(found.kind, "step", None) or found.kind
    shape = list(getattr(kind, "shape", ()))
    if kind.kind == "VarLen":
        shape = [None, *kind.item_shape]
        if kind.pad_on_disk:
            shape[0] = kind.max_length
    elif kind.kind == "Images":
        shape = [kind.count, *shape]
    elif kind.kind == "MultiLabel":
        shape = [kind.count]
    elif kind.kind == "Ragged":
        shape = [None, None]
    return shape if kind is found.kind else [None, *shape]


def _same(found: list[int | None], wanted: Sequence[int | None] | None) -> bool:
    """Return whether shapes agree; sizes of 1 at the end, and sizes that happen to agree.

    Files in which a size never varies cannot show that it could.
    """
    one, other = list(found), list(wanted or ())
    if len(one) == 4 == len(other) + 1:
        one.pop(0)  # of each image
    while len(one) > len(other) and one[-1] == 1:
        one.pop()
    while len(other) > len(one) and other[-1] == 1:
        other.pop()
    return len(one) == len(other) and all(
        b is None or a == b for a, b in zip(one, other, strict=True)
    )


def lines(score: Score) -> Iterator[str]:
    """Yield the shares as a table."""
    yield "| | asked | right | truth in a doubt | neither |"
    yield "| --- | --- | --- | --- | --- |"
    for aspect, asked in score.asked.items():
        right, doubted = score.right[aspect], score.doubted[aspect]
        shares = (right / asked, doubted / asked, (asked - right - doubted) / asked)
        yield f"| {aspect} | {asked} | " + " | ".join(f"{s:.1%}" for s in shares) + " |"


def main() -> None:
    """Print the shares of a sheet."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=Path, help="read these, not the evidence")
    parser.add_argument("--sheet", default="fifth")
    parser.add_argument("--every", action="store_true", help="print each miss")
    chosen = parser.parse_args()
    sheet = sheet_of(chosen.sheet)
    if chosen.files is None:
        score = judge(sheet, recorded(chosen.sheet))
    else:
        score = judge(sheet, measured(sheet, chosen.files))
        judge_refusals(score, sheet, chosen.files)
    print("\n".join(lines(score)))
    if chosen.every:
        print("\n".join(score.misses))


if __name__ == "__main__":
    main()
