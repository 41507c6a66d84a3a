"""Ways of generating code for schemas, each a command in a directory of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from ..jobs import environment
from ..measure import Missing
from .schemas import in_python, record_name, write_schemas
from .targets import (
    B_BUILTIN,
    B_CHECK,
    CHANGED,
    CHECK,
    GENERATE,
    IMPORTS,
    A,
    B,
)

_ALONE = Path(__file__).with_name("alone.py")
_OUTPUT = "generated"


@dataclass(frozen=True)
class Way:
    """A command that generates or checks.

    Attributes:
        command: the program and its arguments.
        directory: where it is run.
        output: where it writes, below the directory; empty if it writes nothing.
        before: what is done before it each time, and not timed.
    """

    command: tuple[str, ...]
    directory: Path
    output: str
    before: Callable[[], object] = lambda: None

    def run(self) -> dict[str, float]:
        """Run the command in a process that does nothing else.

        Returns:
            What `alone.run` does.

        Raises:
            RuntimeError: it failed, with what it said.
        """
        self.before()
        python = (sys.executable, "-S", "-E", str(_ALONE))
        done = subprocess.run(
            [*python, str(self.directory), *self.command],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        taken: dict[str, float] = json.loads(done.stdout)
        if taken.pop("code"):
            raise RuntimeError(f"{' '.join(self.command)} failed:\n{done.stderr}")
        return taken


def makers_of(root: Path, count: int) -> dict[str, Callable[[], Way]]:
    """Return what prepares each way of generating code for so many schemas.

    Args:
        root: a directory that is not there yet, for all of them.
        count: how many schema files there are.
    """
    root.mkdir(parents=True)
    builtin = ("--formatters", "builtin")
    return {
        GENERATE: partial(_generate, root / "new", count),
        CHANGED: partial(_generate_after_a_change, root / "kept", count),
        CHECK: partial(_check, root / "kept", count),
        IMPORTS: partial(_imports, root),
        A: partial(_protoc, root / "protoc", count),
        B: partial(_models, root / "models", count),
        B_BUILTIN: partial(_models, root / "builtin", count, *builtin),
        B_CHECK: partial(_check_models, root / "checked", count, *builtin),
    }


def _python(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module, *arguments)


_GENERATE = _python("schemagen", "generate")


def _generate(root: Path, count: int) -> Way:
    """Return our way from nothing."""
    write_project(root, count)
    return Way(_GENERATE, root, _OUTPUT, partial(_remove, root))


def _generate_after_a_change(root: Path, count: int) -> Way:
    _generated(root, count)
    return Way(_GENERATE, root, _OUTPUT, partial(change, root / "schemas"))


def _check(root: Path, count: int) -> Way:
    _generated(root, count)
    return Way(_python("schemagen", "check"), root, _OUTPUT)


def write_project(root: Path, count: int) -> None:
    """Write a project of ours, of which nothing is generated."""
    write_schemas(root / "schemas", "py", count)
    (root / "pyproject.toml").write_text("[tool.schemagen]\n", encoding="utf-8")


def _generated(root: Path, count: int) -> None:
    """See that there is a project whose code is up to date."""
    if not root.exists():
        write_project(root, count)
        Way(_GENERATE, root, _OUTPUT).run()


def _imports(root: Path) -> Way:
    """Return what every run of ours does at least: what schema files import."""
    imports = "import click, jinja2, numpy, pydantic"
    return Way((sys.executable, "-c", imports), root, "")


def change(schemas: Path) -> None:
    """Give the first record another field, or take that away again."""
    path = schemas / f"{record_name(0)}.py"
    text = in_python(0)
    if path.read_text(encoding="utf-8") == text:
        text += "    rating: float = 0.5\n"
    path.write_text(text, encoding="utf-8")


def _needs(module: str, package: str) -> None:
    if find_spec(module) is None:
        raise Missing(
            f"{package} is not installed; `make bench-generate` sets up an environment "
            "that has it"
        )


def _protoc(root: Path, count: int) -> Way:
    _needs("grpc_tools", "grpcio-tools")
    write_schemas(root / "schemas", "proto", count)
    names = [f"{record_name(number)}.proto" for number in range(count)]
    return Way(
        _python("grpc_tools.protoc", "-Ischemas", f"--python_out={_OUTPUT}", *names),
        root,
        _OUTPUT,
        partial(_empty, root),
    )


def _models(root: Path, count: int, *options: str) -> Way:
    """Return the way from JSON Schemas to pydantic models."""
    _needs("datamodel_code_generator", "datamodel-code-generator")
    write_schemas(root / "schemas", "json", count)
    files = ("--input", "schemas", "--output", _OUTPUT, "--disable-timestamp")
    kinds = ("jsonschema", "--output-model-type", "pydantic_v2.BaseModel")
    command = _python(
        "datamodel_code_generator", *files, "--input-file-type", *kinds, *options
    )
    return Way(command, root, _OUTPUT, partial(_remove, root))


def _check_models(root: Path, count: int, *options: str) -> Way:
    made = _models(root, count, *options)
    made.run()
    return Way((*made.command, "--check"), root, _OUTPUT)


def _remove(root: Path) -> None:
    shutil.rmtree(root / _OUTPUT, ignore_errors=True)


def _empty(root: Path) -> None:
    _remove(root)
    (root / _OUTPUT).mkdir()
