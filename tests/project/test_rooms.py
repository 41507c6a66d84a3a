"""`make test ROOM=data`: the folders of tests that belong to a folder of the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rooms import ROOMS

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TESTS / "rooms.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_folder_of_tests_is_in_a_room() -> None:
    """A folder that is added runs with some room, and rooms name no other."""
    found = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("*/test_*.py")}
    assert {folder for folders in ROOMS.values() for folder in folders} == found


def test_each_folder_of_the_code_is_a_room() -> None:
    """Whoever has changed a file knows the room from its path; some are of one module."""
    package = ROOT / "schemagen"
    parts = [*package.iterdir(), *(package / "runtime").iterdir()]
    folders = {path.name for path in parts if list(path.glob("*.py"))} - {"runtime"}
    modules = {path.stem for path in parts if path.suffix == ".py"}
    assert folders <= set(ROOMS)
    assert set(ROOMS) <= folders | modules | {"docs", "templates", "project"}


def test_a_room_is_a_list_of_folders_and_another_name_lists_the_rooms() -> None:
    """Without a room, all tests run."""
    assert _run("data").stdout.split() == [f"tests/{name}" for name in ROOMS["data"]]
    assert _run().stdout == "tests\n"
    unknown = _run("kitchen")
    assert unknown.returncode == 2
    assert all(room in unknown.stderr for room in ROOMS)
