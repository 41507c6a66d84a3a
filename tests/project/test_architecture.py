"""The order of imports that docs/architecture.md states, and the shape of modules."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest
import schemagen

ROOT = Path(schemagen.__file__).parent
PAGE = ROOT.parent / "docs" / "architecture.md"
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


@cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module, such as "runtime/interface.py"."""
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


@cache
def imported(module: str) -> frozenset[str]:
    """Return the full names that a module imports, also inside of functions."""
    return frozenset(_imported(module))


def _imported(module: str) -> Iterator[str]:
    package = ("schemagen", *Path(module).parent.parts)
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            origin = [*base, *(node.module or "").split(".")]
            name = ".".join(part for part in origin if part)
            yield from (f"{name}.{alias.name}" for alias in node.names)


def file_of(name: str) -> str:
    """Return the file that is an imported name or defines it; "" if it is not ours."""
    parts = name.split(".")[1:]
    for end in (len(parts), len(parts) - 1):
        path = "/".join(parts[:end])
        for file in (f"{path}.py", f"{path}/__init__.py"):
            if name.startswith("schemagen.") and file in MODULES:
                return file
    return ""


def parts_in_order(prefix: str) -> list[str]:
    """Return the parts of a table in docs/architecture.md, from the first row on."""
    return re.findall(
        rf"^\| `{prefix}/(\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE
    )


def third_party(module: str) -> set[str]:
    """Return the packages outside the standard library that a module imports."""
    names = {name.split(".")[0] for name in imported(module)}
    return names - set(sys.stdlib_module_names) - {"schemagen"}


def parts_with(package: str) -> set[str]:
    """Return the parts of schemagen that import a package."""
    found = {module for module in MODULES if package in third_party(module)}
    return {Path(module).parts[0].removesuffix(".py") for module in found}


def room_of(module: str) -> str:
    """Return the part of a module; in `data/` the folder or the module there."""
    parts = Path(module).with_suffix("").parts
    return "/".join(parts[: 2 if parts[0] == "data" else 1])


def test_the_places_to_look_exist() -> None:
    """Paths are in schemagen/ or templates/; a name alone follows the path before it."""
    section = PAGE.read_text("utf-8").split("## Where to look")[1].split("\n## ")[0]
    for line in section.splitlines()[6:]:
        place = line.split(" | ")[-1]
        folder = ROOT
        for path in re.findall(r"`([\w/]+(?:/|\.py))`", place):
            found = folder / path if "/" not in path else ROOT / path
            if path.startswith("templates/"):
                found = ROOT.parent / path
            assert found.exists(), line
            folder = found if found.is_dir() else found.parent


@pytest.mark.parametrize(("prefix", "depth"), [("schemagen", 0), ("runtime", 1)])
def test_each_part_imports_only_parts_of_rows_above_its_own(
    prefix: str, depth: int
) -> None:
    """The tables of docs/architecture.md list all parts, the lowest first."""
    order = parts_in_order(prefix)
    inner = [m for m in MODULES if depth == 0 or m.startswith("runtime/")]
    files = {m: Path(m).parts for m in inner if not m.endswith("runtime/__init__.py")}
    assert set(order) == {parts[depth].removesuffix(".py") for parts in files.values()}
    for module, parts in files.items():
        own = order.index(parts[depth].removesuffix(".py"))
        for name in map(file_of, imported(module)):
            if (
                name
                and name != "__init__.py"
                and not name.endswith("runtime/__init__.py")
            ):
                part = Path(name).parts[depth].removesuffix(".py")
                assert order.index(part) <= own, f"{module} imports {name}"


def test_the_runtime_has_no_cycle() -> None:
    """Imports inside of functions count too."""
    graph = {
        module: set(map(file_of, imported(module))) - {module}
        for module in MODULES
        if module.startswith("runtime/")
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_rooms_have_no_cycle() -> None:
    """Neither parts nor what is in `data/`. Imports inside of functions count too."""
    graph: dict[str, dict[str, str]] = {}
    for module in MODULES:
        own = room_of(module)
        for name in filter(None, map(file_of, imported(module))):
            other = room_of(name)
            if other != own:
                graph.setdefault(own, {})[other] = f"{module} imports {name}"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = pairwise(reversed(error.args[1]))
        pytest.fail("\n".join(graph[own][other] for own, other in cycle))


def test_the_runtime_stands_alone() -> None:
    """It imports nothing of the rest of schemagen, nor what only the generator needs."""
    for module in MODULES:
        if module.startswith("runtime/"):
            ours = {name for name in imported(module) if name.startswith("schemagen.")}
            assert all(name.startswith("schemagen.runtime") for name in ours), module
            assert not third_party(module) & {"pydantic", "jinja2", "click"}, module


def test_libraries_stay_in_their_parts() -> None:
    """Another command line or another way to declare records would change one part."""
    assert parts_with("click") == {"cli"}
    assert parts_with("pydantic") == {"documents", "schema", "settings"}
    assert parts_with("jinja2") == {"codegen", "data", "display"}
    assert parts_with("tensorflow") | parts_with("keras") == {"runtime"}


def test_one_module_prints() -> None:
    """It escapes the commands of services that keep logs."""
    printing = {
        module
        for module in MODULES
        if module.startswith("cli/")
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("click.echo", "click.secho", "print")
    }
    assert printing == {"cli/printing.py"}


def test_modules_say_their_subject() -> None:
    """Each has a docstring, and a name that says something."""
    vague = {"utils", "util", "helpers", "common", "manager", "misc"}
    for module in MODULES:
        assert ast.get_docstring(tree_of(module)), module
        assert not {part.removesuffix(".py") for part in Path(module).parts} & vague


def classes_by_name(prefix: str = "") -> dict[str, list[str]]:
    """Return where classes of each name are, without the underscore of private ones.

    Args:
        prefix: what the paths of modules begin with.
    """
    found: dict[str, list[str]] = {}
    for module in MODULES:
        for node in ast.walk(tree_of(module)) if module.startswith(prefix) else ():
            if isinstance(node, ast.ClassDef):
                place = f"{module}:{node.lineno}"
                found.setdefault(node.name.lstrip("_"), []).append(place)
    return found


def words() -> set[str]:
    """Return the words of docs/architecture.md, as classes are named by them."""
    section = PAGE.read_text("utf-8").split("## Words")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ,]+) \|", section, re.MULTILINE)
    return {word.title() for row in rows[1:] for word in row.split(", ")}


# Words of the code alone that are one class each, too.
CLASS_WORDS = {
    *("Stored", "Column", "Rule", "Picture", "Numbers", "Sample", "Place", "Classes"),
    "Meaning",
}


@pytest.mark.parametrize(
    "room",
    [f"{room}/" for room in parts_in_order("schemagen") if room != "runtime"]
    + [f"runtime/{room}/" for room in parts_in_order("runtime")],
)
def test_no_two_classes_of_a_room_have_one_name(room: str) -> None:
    """A reader who searches for a name finds one thing. Rooms of one module are files."""
    path = room if (ROOT / room).is_dir() else f"{room.removesuffix('/')}.py"
    found = classes_by_name(path)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


@pytest.mark.parametrize("word", sorted(words() | CLASS_WORDS))
def test_a_word_names_one_class(word: str) -> None:
    """Words of docs/architecture.md mean one thing, so not two classes of the package."""
    assert len(classes_by_name().get(word, [])) <= 1, classes_by_name()[word]
