"""What tests of all kinds share: making a project out of schema text."""

from __future__ import annotations

import ctypes
import gc
import importlib
import itertools
import os
import random
import runpy
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import fsspec
import pytest
import schemagen
from command_line import run_program
from hypothesis import HealthCheck, Phase, settings

# Two processes share two cores, where further threads stand in each other's way; and
# oneDNN looks through each graph once more. Together it was a seventh of the time.
for _name, _value in (
    ("OMP_NUM_THREADS", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("TF_ENABLE_ONEDNN_OPTS", "0"),
    ("TF_NUM_INTRAOP_THREADS", "1"),
):
    os.environ.setdefault(_name, _value)

# What programs print depends on these, which CI services and terminals set differently.
for _name in (
    *("CI", "TERM", "COLUMNS", "GITHUB_WORKSPACE"),
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"),
):
    os.environ.pop(_name, None)

# Tests make thousands of files durable: milliseconds each on a disk, none in memory.
_MEMORY = "/dev/shm"
_ROOM = 8 << 30
if os.path.isdir(_MEMORY):
    _found = os.statvfs(_MEMORY)
    if _found.f_bavail * _found.f_frsize > _ROOM and not _found.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)

# Shells start background jobs with Ctrl-C ignored, which programs that tests start inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `make test` runs a third of the examples, the same in each run; `pytest` alone runs all of
# them. The full tier draws others in each run, and prints their seed.
# Other work on the machine may slow a test down.
settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # Explanations of a failure trace each line, and take minutes.
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.register_profile(
    "quick", settings.get_profile("default"), max_examples=33, derandomize=True
)
settings.register_profile(
    "full", settings.get_profile("default"), derandomize=False, print_blob=True
)
settings.load_profile("default")

_PYPROJECT = '[tool.schemagen]\nschemas = "schemas"\noutput = "{output}"\n'

# Generated packages are imported by name, and a process keeps a name for good.
_numbers = itertools.count()


class Workspace:
    """A project in a temporary directory, with an output package of its own name.

    Attributes:
        root: the project's directory.
        package: the name of the output package.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = f"generated_{next(_numbers)}"
        (root / "schemas").mkdir(parents=True)
        text = _PYPROJECT.format(output=self.package)
        (root / "pyproject.toml").write_text(text, encoding="utf-8")

    def schema(self, text: str, name: str = "records.py") -> Path:
        """Write a schema file and return its path."""
        path = self.root / "schemas" / name
        path.write_text(text, encoding="utf-8")
        return path

    def generate(self) -> None:
        """Run the generator on the project."""
        schemagen.generate(self.root)
        importlib.invalidate_caches()

    def record(self, name: str) -> Any:
        """Return the class of a record, from the schema file."""
        return runpy.run_path(str(self.root / "schemas" / "records.py"))[name]

    def module(self, record: str, part: str) -> ModuleType:
        """Import a generated module, such as ("digit", "parser")."""
        return importlib.import_module(f"{self.package}.{record}.{part}")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw the seed of a full run, which all of its processes share."""
    options = config.option
    if options.hypothesis_profile == "full" and options.hypothesis_seed is None:
        options.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the seed: `--hypothesis-seed` repeats the run."""
    if config.option.hypothesis_profile == "full":
        seed = config.option.hypothesis_seed
        terminalreporter.write_line(f"--hypothesis-seed={seed}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases of a test as slow that come after its `quick_cases`."""
    seen: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("quick_cases")
        if marker is not None:
            function = item.nodeid.partition("[")[0]
            seen[function] += 1
            if seen[function] > marker.args[0]:
                item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def imported_for_good() -> None:
    """Do not look through all of tensorflow's modules for garbage, again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def eager_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train models without tracing, which takes longer than a few batches."""
    import keras

    compile_model = keras.Model.compile

    def compile_eagerly(model: Any, *args: Any, **options: Any) -> None:
        compile_model(model, *args, **{**options, "run_eagerly": True})

    monkeypatch.setattr(keras.Model, "compile", compile_eagerly)


@pytest.fixture(scope="module", autouse=True)
def no_heap_of_models() -> Iterator[None]:
    """Let go of the models and graphs of a module; they are gigabytes in the end."""
    yield
    if "keras" in sys.modules:
        sys.modules["keras"].utils.clear_session()
    gc.collect()
    with suppress(AttributeError, OSError):  # only glibc keeps what was freed
        ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="session", autouse=True)
def quick_programs() -> None:
    """Give programs that tests start what is in `lean`."""
    others = os.environ.get("PYTHONPATH")
    lean = str(Path(__file__).parent / "lean")
    os.environ["PYTHONPATH"] = os.pathsep.join([lean, *([others] if others else [])])


@pytest.fixture
def memory() -> Iterator[Any]:
    """The file system in memory of fsspec, empty before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat requests to stores that have failed at once."""
    monkeypatch.setattr("schemagen.runtime.storage.remote._PAUSES", (0.0, 0.0))


@pytest.fixture
def adopt_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `adopt` read the first records in this process, which has TensorFlow."""
    program = SimpleNamespace(run=run_program)
    monkeypatch.setattr("schemagen.use_cases.adopt.subprocess", program)


@pytest.fixture
def local_files(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[FileIO]], None]:
    """Let another class open the local files of splits."""

    def opened_by(kind: type[FileIO]) -> None:
        monkeypatch.setattr("schemagen.runtime.storage.local.FileIO", kind)

    return opened_by


PackageOf = Callable[[str], Workspace]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """An empty project whose generated code can be imported."""
    found = Workspace(tmp_path / "project")
    sys.path.insert(0, str(found.root))
    yield found
    sys.path.remove(str(found.root))
    for name in [n for n in sys.modules if n.split(".")[0] == found.package]:
        del sys.modules[name]


@pytest.fixture
def make_package(workspace: Workspace) -> Callable[[str], Workspace]:
    """Write one schema file, generate, and return the project."""

    def make(text: str) -> Workspace:
        workspace.schema(text)
        workspace.generate()
        return workspace

    return make


@pytest.fixture(scope="session")
def package_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackageOf]:
    """Generate a schema's code once for all tests that ask with the same text."""
    made: dict[str, Workspace] = {}

    def make(text: str) -> Workspace:
        if text not in made:
            found = Workspace(tmp_path_factory.mktemp("shared") / "project")
            found.schema(text)
            found.generate()
            sys.path.insert(0, str(found.root))
            made[text] = found
        return made[text]

    yield make
    for found in made.values():
        sys.path.remove(str(found.root))


@pytest.fixture(scope="module")
def package(request: pytest.FixtureRequest, package_of: PackageOf) -> Workspace:
    """The code generated for the test module's `SCHEMA`."""
    return package_of(request.module.SCHEMA)


@pytest.fixture(scope="module")
def serializer(request: pytest.FixtureRequest, package: Workspace) -> ModuleType:
    """The generated `serializer` of the test module's `RECORD`."""
    return package.module(request.module.RECORD, "serializer")


@pytest.fixture(scope="module")
def parser(request: pytest.FixtureRequest, package: Workspace) -> ModuleType:
    """The generated `parser` of the test module's `RECORD`."""
    return package.module(request.module.RECORD, "parser")
