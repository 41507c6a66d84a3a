"""`--limit N` reads only the first N records of each split, whatever the command."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from data.messages import example, write_file

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two splits of two files, each of 20 records whose numbers go up."""
    for split, start in (("train", 0), ("test", 100)):
        for shard in range(2):
            some = [
                example({"number": start + 20 * shard + at, "half": at / 2})
                for at in range(20)
            ]
            write_file(tmp_path / f"data/{split}-{shard:05}-of-00002", some)
    return tmp_path / "data"


def of_inspect(printed: dict[str, Any]) -> list[int]:
    return [each["statistics"]["records"] for each in printed["splits"]]


READ: dict[str, tuple[Callable[[Path], list[Any]], Callable[[Any], list[int]]]] = {
    "inspect": (lambda data: ["inspect", data], of_inspect),
    "diff": (lambda data: ["diff", data, data], lambda found: of_inspect(found)[::2]),
    "verify": (
        lambda data: ["verify", data],
        lambda found: [each["records"] for each in found["splits"]][::-1],
    ),
    "infer": (
        lambda data: ["infer", data, "--out", data.parent / "x.py"],
        lambda found: [found["inferred"]["records"]],
    ),
}


@pytest.mark.parametrize(
    ("limit", "records"), [(5, [5, 5]), (25, [25, 25]), (0, [40, 40])]
)
@pytest.mark.parametrize("command", READ)
def test_so_many_records_are_read(
    data: Path, command: str, limit: int, records: list[int]
) -> None:
    """Of each split the first ones, across its files; 0 is no limit."""
    arguments, read = READ[command]
    done = run(*arguments(data), "--limit", str(limit), "--format", "json")
    assert done.exit_code in (0, 1), done.output
    expected = [sum(records)] if command == "infer" else records
    assert read(json.loads(done.stdout)) == expected


def test_infer_reads_the_first_records_of_a_split(data: Path) -> None:
    """And says so; without a limit, it reads some of each file."""
    out = data.parent / "x.py"
    run("infer", data, "--out", out, "--limit", "5")
    text = " ".join(out.read_text("utf-8").split())
    assert "Inferred from 10 records of 4 files, the first 5 of each split." in text
    whole = run("infer", data, "--out", out, "--force")
    assert "from 80 records of 4 files" in whole.stdout


def test_every_command_describes_it_alike() -> None:
    """One option with one text, wherever a command has it."""
    page = (CHECKOUT / "docs/cli.md").read_text("utf-8")
    rows = re.findall(r"^\| `--limit N` \| (.*?) \|", page, re.M)
    assert len(rows) >= 1
    assert {row.split(" [")[0] for row in rows} == {
        "Only the first N records of each split; 0 for all."
    }
