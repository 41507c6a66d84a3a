"""Ways of generating code from schemas: commands in separate directories."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from .generate_schemas import fields_of, in_python, record_name, write_schemas
from .jobs import environment
from .measure import Different, Missing

GENERATE = "ours, generate"
CHANGED = "ours, generate after a change of one schema"
CHECK = "ours, check"
IMPORTS = "Python, with what ours imports"
A = "(a) protoc with its Python plugin"
B = "(b) datamodel-code-generator"
B_BUILTIN = "(b) with its built-in formatter"
B_CHECK = "(b) with its built-in formatter, --check"

_ALONE = Path(__file__).with_name("generate_alone.py")
_OUTPUT = "generated"


@dataclass(frozen=True)
class Way:
    """A command that generates or checks.

    Attributes:
        command: the program and its arguments.
        directory: where it is run.
        output: where it writes, below the directory; empty if it writes nothing.
        before: called before it each time, and not timed.
    """

    command: tuple[str, ...]
    directory: Path
    output: str
    before: Callable[[], object] = lambda: None

    def run(self) -> dict[str, float]:
        """Run the command in a new process; return what `generate_alone` measures.

        Raises:
            RuntimeError: it failed, with its stderr.
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
    """Return functions that prepare each way, with `count` schema files below `root`."""
    root.mkdir(parents=True)
    builtin = ("--formatters", "builtin")
    kept = root / "kept"
    imports = "import click, jinja2, numpy, pydantic"
    return {
        GENERATE: partial(_generate, root / "new", count),
        CHANGED: lambda: replace(
            _generated(kept, count), before=partial(change, kept / "schemas")
        ),
        CHECK: lambda: replace(
            _generated(kept, count), command=_python("schemagen", "check")
        ),
        IMPORTS: lambda: Way((sys.executable, "-c", imports), root, ""),
        A: partial(_protoc, root / "protoc", count),
        B: partial(_models, root / "models", count),
        B_BUILTIN: partial(_models, root / "builtin", count, *builtin),
        B_CHECK: partial(_check_models, root / "checked", count, *builtin),
    }


def _python(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module, *arguments)


def _generate(root: Path, count: int) -> Way:
    """Return the way that generates a project from nothing."""
    write_schemas(root / "schemas", "py", count)
    (root / "pyproject.toml").write_text("[tool.schemagen]\n", encoding="utf-8")
    command = _python("schemagen", "generate")
    return Way(command, root, _OUTPUT, partial(_remove, root))


def _generated(root: Path, count: int) -> Way:
    """Return the way that generates a project whose code is up to date."""
    way = Way(_python("schemagen", "generate"), root, _OUTPUT)
    if not root.exists():
        _generate(root, count).run()
    return way


def change(schemas: Path) -> None:
    """Add a field to the first record, or remove it again."""
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
    arguments = ("-Ischemas", f"--python_out={_OUTPUT}", *names)
    command = _python("grpc_tools.protoc", *arguments)
    return Way(command, root, _OUTPUT, partial(_empty, root))


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


def see_all_fields(way: str, output: Path, count: int) -> None:
    """Look for the fields of `count` records in the Python files named after them.

    Raises:
        Different: a record has no file, or a field is not in it.
    """
    texts: dict[str, str] = {}
    for path in sorted(output.rglob("*.py")):
        # Ours is a package for a record, protoc's module is called photo0000_pb2.
        top = path.relative_to(output).parts[0]
        record = top.removesuffix(".py").removesuffix("_pb2")
        # protoc's Python holds the names in a literal of bytes, partly as escapes.
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\\x([0-9a-f]{2})", lambda hexa: chr(int(hexa[1], 16)), text)
        texts[record] = texts.get(record, "") + text
    for number in range(count):
        record = record_name(number)
        for field in fields_of(number):
            if field.name not in texts.get(record, ""):
                raise Different(f"{way}: {record} is without {field.name!r}")


def bytes_of(output: Path) -> int:
    """Return the size of a directory without bytecode."""
    paths = [path for path in output.rglob("*") if "__pycache__" not in path.parts]
    return sum(path.stat().st_size for path in paths if path.is_file())
