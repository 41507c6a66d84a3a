"""The shape of the house: who may import whom, and how long a module may be."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import schemagen
from import_rules import RUNTIME, SCHEMAGEN, table

ROOT = Path(schemagen.__file__).parent
DOCUMENTATION = ROOT.parent / "docs" / "architecture.md"
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))

ALLOWED = {part.name: {*part.imports} for part in SCHEMAGEN}
RUNTIME_ALLOWED = {part.name: {*part.imports} for part in RUNTIME}

# The modules that read data or make models; no one else may wait for tensorflow.
TENSORFLOW = {
    module
    for module in MODULES
    if module.startswith(
        tuple(
            f"runtime/{room}/" for room in ("datasets", "faults", "models", "parsing")
        )
    )
} | {"runtime/sources/file_access.py"}
TENSORFLOW -= {
    "runtime/datasets/__init__.py",
    "runtime/faults/__init__.py",
    "runtime/faults/rescan.py",
    "runtime/datasets/selection.py",
    "runtime/datasets/sharing.py",
    "runtime/models/__init__.py",
    "runtime/parsing/__init__.py",
}


@cache
def text_of(module: str) -> str:
    return (ROOT / module).read_text(encoding="utf-8")


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(text_of(module))


@cache
def imported(module: str) -> frozenset[str]:
    """Return the full names that a module of schemagen imports, wherever in it."""
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


def part_of(module: str) -> str:
    """Return the part of the house that a file is in."""
    return Path(module).parts[0].removesuffix(".py")


def runtime_part_of(module: str) -> str:
    """Return the part of the runtime that a file is in."""
    return Path(module).parts[1].removesuffix(".py")


def module_of(name: str) -> str:
    """Return the file that defines an imported name, or is it; "" if no file here is."""
    parts = name.split(".")[1:]
    for end in (len(parts), len(parts) - 1):
        path = "/".join(parts[:end])
        for file in (f"{path}.py", f"{path}/__init__.py"):
            if name.startswith("schemagen.") and file in MODULES:
                return file
    return ""


def third_party(module: str) -> set[str]:
    """Return the packages outside the standard library that a module imports."""
    names = {name.split(".")[0] for name in imported(module)}
    return names - set(sys.stdlib_module_names) - {"schemagen"}


def importers_of(*packages: str) -> set[str]:
    return {module for module in MODULES if third_party(module) & set(packages)}


def test_the_imports_are_read_from_the_files() -> None:
    """What the tests below look at is there: relative, absolute and inner imports."""
    assert "schemagen.spec.model.RecordSpec" in imported("codegen/render.py")
    assert "schemagen.schema.loading.LoadedRecord" in imported("spec/resolve.py")
    assert "schemagen.use_cases.generate" in imported("cli/generating.py")
    assert "numpy" in imported("runtime/shared/values.py")
    assert len(MODULES) > 40


def test_imports_point_one_way() -> None:
    """No part imports one that is above it."""
    for module in MODULES:
        part = part_of(module)
        inner = [name for name in imported(module) if name.split(".")[0] == "schemagen"]
        found = {name.split(".")[1] for name in inner}
        if part in ("__init__", "__main__"):
            found &= set(ALLOWED)
        assert found <= ALLOWED[part] | {part}, module


def test_one_package_knows_the_template_language() -> None:
    """Nothing else would change with another template language.

    The page of `inspect --html` and what notebooks show are printed by it too, with
    all text escaped.
    """
    assert {Path(module).parent.as_posix() for module in importers_of("jinja2")} == {
        "codegen/templates",
        "data/report",
        "display",
    }


def test_pydantic_stays_in_the_schema_language() -> None:
    """Specs, templates and tools would not notice another way to declare records."""
    assert {part_of(module) for module in importers_of("pydantic")} == {"schema"}
    # Kinds leave the values of fields to the Record.
    assert importers_of("pydantic_core") <= {*importers_of("pydantic"), "kinds/kind.py"}
    users = {
        module
        for module in MODULES
        if any(name.startswith("schemagen.schema.") for name in imported(module))
        and part_of(module) != "schema"
    }
    schema_source = {
        "checking.py",
        "naming.py",
        "nesting.py",
        "source.py",
    }
    spec = {
        "augmentations.py",
        "checks.py",
        "groups.py",
        "keys.py",
        "lifetime.py",
        "messages.py",
        "resolve.py",
    }
    assert users == {
        "__init__.py",
        "use_cases/compare.py",
        "use_cases/generate.py",
        "use_cases/notebook.py",
        *(f"spec/{name}" for name in spec),
        *(f"schema_source/{name}" for name in schema_source),
    }


def test_tensorflow_stays_where_data_is_read_and_models_are_made() -> None:
    """The generator and the writer of data run without it.

    One module imports it, and says how to install it; the others take it from there.
    """
    requirements = "runtime/shared/requirements.py"
    assert importers_of("tensorflow", "keras") == {requirements}
    taking = {
        module
        for module in MODULES
        if any(
            name.startswith("schemagen.runtime.shared.requirements.")
            for name in imported(module)
        )
    }
    assert taking == TENSORFLOW


def test_only_the_command_line_knows_click() -> None:
    """Everything that a command does can be done from Python."""
    assert {part_of(module) for module in importers_of("click")} == {"cli"}


def test_the_runtime_imports_downwards() -> None:
    """Its parts import only those below them, and nothing of the rest of schemagen.

    It is copied into output directories, where the rest is not.
    """
    inner = [module for module in MODULES if module.startswith("runtime/")]
    packages = {part.name: part.packages for part in RUNTIME}
    assert len(inner) > 100
    for module in inner:
        names = [name.split(".") for name in imported(module)]
        assert all(name[1] == "runtime" for name in names if name[0] == "schemagen")
        if Path(module).parent.as_posix() == "runtime" and "__init__" in module:
            continue
        part = runtime_part_of(module)
        found = {name[2] for name in names if name[:2] == ["schemagen", "runtime"]}
        assert found <= RUNTIME_ALLOWED[part] | {part}, module
        assert third_party(module) <= {*(packages[part] or ())}, module


def test_the_runtime_has_no_cycle() -> None:
    """Also inside of its parts, and with imports inside of functions."""
    graph = {
        module: {name for name in map(module_of, imported(module)) if name != module}
        for module in MODULES
        if module.startswith("runtime/")
    }
    order = TopologicalSorter(graph)
    order.prepare()  # raises CycleError, which names the modules


def test_packages_of_the_runtime_export_nothing() -> None:
    """So an import reaches what it names, and vendored copies are small."""
    for module in MODULES:
        if module.startswith("runtime/") and module.endswith("/__init__.py"):
            assert not imported(module), module


def test_the_documentation_has_the_rules() -> None:
    """The tables are these, word for word."""
    text = DOCUMENTATION.read_text(encoding="utf-8")
    assert table(SCHEMAGEN, "schemagen/") in text
    assert table(RUNTIME, "runtime/") in text


def test_the_picture_has_the_order_of_the_imports() -> None:
    """In CONTRIBUTING.md, each part imports only from parts of lines below its own."""
    page = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = page.split("```text\n")[1].split("```")[0]
    lines = [line.split("  ")[0] for line in picture.splitlines() if line[0].isalpha()]
    level = {name: i for i, line in enumerate(lines) for name in line.split(" · ")}
    assert len(level) == 12
    for name in level:
        for other in ALLOWED[name] & set(level):
            assert level[name] < level[other], (name, other)


def test_modules_have_one_subject() -> None:
    """Each has a docstring, at most 400 lines, and no name that fits any subject."""
    vague = {"utils", "util", "helpers", "common", "manager", "misc"}
    for module in MODULES:
        assert ast.get_docstring(tree_of(module)), module
        assert text_of(module).count("\n") <= 400, module
        assert not {p.removesuffix(".py") for p in Path(module).parts} & vague, module


def test_templates_say_what_they_are() -> None:
    """There is one for each generated or started file, and one for each kind."""
    from schemagen.codegen.templates.environment import templates_directory
    from schemagen.kinds.registry import KINDS

    directory = templates_directory()
    found = {p.relative_to(directory).as_posix() for p in directory.rglob("*.jinja")}
    parts = {"__init__", "serializer", "parser", "pipeline", "model"}
    assert found == {
        *(f"{part}.py.jinja" for part in parts),
        *(f"kinds/{kind.lower()}.jinja" for kind in KINDS),
        "kinds/parts.jinja",
        "init/train.py.jinja",
    }
