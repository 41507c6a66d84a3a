"""The shape of the house: who may import whom, and how long a module may be."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import schemagen

ROOT = Path(schemagen.__file__).parent
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))

# For each part, the parts that it may import. There is no way back.
ALLOWED: dict[str, set[str]] = {
    "support": set(),
    "findings": set(),
    "rules": set(),
    "interrupts": set(),
    "whole_file": {"findings"},
    "config": {"findings", "output_settings"},
    "output_settings": {"findings"},
    "git": {"support", "findings"},
    "schema": {"support", "findings"},
    "spec": {"support", "findings", "schema"},
    "codegen": {"support", "findings", "spec", "whole_file"},
    "evolution": {"support", "findings", "rules", "git", "spec"},
    "drafting": {"support", "findings", "schema", "spec", "codegen"},
    "neighbours": {"support", "findings", "whole_file", "spec", "drafting"},
    "data": {"support", "findings", "whole_file", "spec", "drafting"},
    "exporting": {"config", "neighbours", "project"},
    "own_templates": {"support", "findings", "config", "codegen", "whole_file"},
    "project": {
        "support",
        "findings",
        "rules",
        "config",
        "git",
        "schema",
        "spec",
        "codegen",
        "evolution",
        "data",
        "own_templates",
    },
    "inputs": {"findings", "config"},
    "watching": {"findings", "config", "inputs"},
    "breaking": {
        "support",
        "findings",
        "config",
        "git",
        "schema",
        "spec",
        "evolution",
        "project",
        "whole_file",
    },
    "explain": {"support", "rules", "evolution"},
    "inferring": {"support", "findings", "spec", "drafting", "data", "whole_file"},
    "starting": {
        "project",
        "own_templates",
        "findings",
        "config",
        "git",
        "codegen",
        "whole_file",
    },
    "testing": {"project", "breaking", "evolution", "findings", "config"},
    "cli": {
        "project",
        "exporting",
        "neighbours",
        "starting",
        "inferring",
        "breaking",
        "explain",
        "evolution",
        "own_templates",
        "findings",
        "rules",
        "config",
        "git",
        "spec",
        "codegen",
        "data",
        "support",
        "watching",
        "whole_file",
        "interrupts",
    },
    "watched": {"cli", "inputs", "interrupts"},
    "__init__": {"schema", "project", "codegen", "config"},
    "__main__": {"cli", "interrupts"},
}

# The modules that read data or make models; nobody else may wait for tensorflow.
TENSORFLOW = {
    "support/adaptation.py",
    "support/agreement.py",
    "support/assembly.py",
    "support/augmentation.py",
    "support/blocks.py",
    "support/layers.py",
    "support/metrics.py",
    "support/multi_label.py",
    "support/record_model.py",
    "support/segmentation.py",
    "support/serving.py",
    "support/vocabularies.py",
    *(
        module
        for module in MODULES
        if module.startswith(("support/datasets/", "support/reading/"))
    ),
} - {
    "support/datasets/__init__.py",
    "support/datasets/calling.py",
    "support/datasets/selection.py",
    "support/reading/__init__.py",
}

# What copied code may need: generated packages are used where schemagen is not.
SUPPORT_NEEDS = {
    "numpy",
    "google_crc32c",
    "google",  # protobuf, which tensorflow brings along
    "PIL",
    "tensorflow",
    "keras",
    "ml_dtypes",
    "fsspec",
    "tqdm",
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
    assert "schemagen.project" in imported("cli/generating.py")
    assert "numpy" in imported("support/values.py")
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

    The page of `inspect --html` is printed by it too, with all text escaped.
    """
    assert {Path(module).parent.as_posix() for module in importers_of("jinja2")} == {
        "codegen/templates",
        "data/report",
    }


def test_pydantic_stays_in_the_schema_language() -> None:
    """Specs, templates and tools would not notice another way to declare records."""
    assert {part_of(module) for module in importers_of("pydantic")} == {"schema"}
    assert importers_of("pydantic_core") <= importers_of("pydantic")
    users = {
        module
        for module in MODULES
        if any(name.startswith("schemagen.schema") for name in imported(module))
        and part_of(module) != "schema"
    }
    drafting = {
        "checking.py",
        "kinds.py",
        "naming.py",
        "nesting.py",
        "source.py",
        "words.py",
    }
    spec = {
        "augmentations.py",
        "checks.py",
        "groups.py",
        "lifetime.py",
        "messages.py",
        "resolve.py",
    }
    assert users == {
        "__init__.py",
        "breaking.py",
        "project.py",
        *(f"spec/{name}" for name in spec),
        *(f"drafting/{name}" for name in drafting),
    }


def test_tensorflow_stays_where_data_is_read_and_models_are_made() -> None:
    """The generator and the writer of data run without it.

    One module imports it, and says how to install it; the others take it from there.
    """
    requirements = "support/requirements.py"
    assert importers_of("tensorflow", "keras") == {requirements}
    taking = {
        module
        for module in MODULES
        if any(
            name.startswith("schemagen.support.requirements.")
            for name in imported(module)
        )
    }
    assert taking == TENSORFLOW


def test_only_the_command_line_knows_click() -> None:
    """Everything that a command does can be done from Python."""
    assert {part_of(module) for module in importers_of("click")} == {"cli"}


def test_shared_code_imports_nothing_of_schemagen() -> None:
    """It is copied into generated packages, where there is no schemagen."""
    for module in MODULES:
        if part_of(module) != "support":
            continue
        depth = len(Path(module).parent.parts)
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= depth, f"{module}:{node.lineno} leaves support/"
        assert "schemagen" not in imported(module), module
        assert third_party(module) <= SUPPORT_NEEDS, module


def test_modules_have_one_subject() -> None:
    """Each has a docstring, at most 400 lines, and no name that fits any subject."""
    vague = {"utils", "util", "helpers", "common", "manager", "misc"}
    for module in MODULES:
        assert ast.get_docstring(tree_of(module)), module
        assert text_of(module).count("\n") <= 400, module
        assert not {p.removesuffix(".py") for p in Path(module).parts} & vague, module


def test_templates_say_what_they_are() -> None:
    """There is one for each generated or started file, and one for each kind."""
    from schemagen.codegen.templates import templates_directory
    from schemagen.spec.model import KINDS

    directory = templates_directory()
    found = {p.relative_to(directory).as_posix() for p in directory.rglob("*.jinja")}
    parts = {"__init__", "serializer", "parser", "pipeline", "model"}
    assert found == {
        *(f"{part}.py.jinja" for part in parts),
        *(f"kinds/{kind.lower()}.jinja" for kind in KINDS),
        "kinds/parts.jinja",
        "init/train.py.jinja",
    }
