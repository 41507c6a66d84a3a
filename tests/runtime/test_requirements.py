"""Generated code where tensorflow or keras is not installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

from schemagen.runtime.shared.requirements import has_keras

PET = """\
from typing import Annotated

import numpy as np

from schemagen import Image, Label, Record


class Pet(Record):
    photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="png")]
    age: float
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
"""


@pytest.fixture
def unloaded(package_of: PackageOf) -> Iterator[Workspace]:
    """A generated package of which no module has been imported yet."""
    package = package_of(PET)
    loaded = _modules_of(package)
    for name in loaded:
        del sys.modules[name]
    yield package
    for name in _modules_of(package):
        del sys.modules[name]
    sys.modules.update(loaded)


def _modules_of(package: Workspace) -> dict[str, ModuleType]:
    """Return its modules, and those of the runtime that need tensorflow or keras."""
    names = (package.package, "schemagen.runtime.datasets", "schemagen.runtime.models")
    return {
        name: module
        for name, module in sys.modules.items()
        if name.startswith(tuple(f"{each}." for each in names)) or name in names
    }


@pytest.mark.parametrize(
    ("missing", "part"),
    [
        ("tensorflow", "parser"),
        ("tensorflow", "pipeline"),
        ("tensorflow", "model"),
        ("keras", "model"),
    ],
)
def test_a_module_whose_requirement_is_not_installed_says_what_to_install(
    unloaded: Workspace, monkeypatch: pytest.MonkeyPatch, missing: str, part: str
) -> None:
    """The ImportError names the missing package and the command that installs it."""
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not installed
    with pytest.raises(ImportError) as caught:
        unloaded.module("pet", part)
    assert f"{missing} " in str(caught.value)
    assert 'pip install "schemagen-tfrecord[tensorflow]"' in str(caught.value)
    assert caught.value.name == missing


@pytest.mark.parametrize("version", ["2.15.0", "3.4.1"])
def test_a_model_with_an_old_keras_says_which_is_needed(
    unloaded: Workspace, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """Importing it is an ImportError with both versions; the pipeline does without."""
    old = ModuleType("keras")
    old.__version__ = version  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keras", old)
    unloaded.module("pet", "pipeline")
    with pytest.raises(ImportError) as caught:
        unloaded.module("pet", "model")
    for word in (version, "3.5", "2.16", "schemagen-tfrecord[tensorflow]"):
        assert word in str(caught.value)


@pytest.mark.parametrize("version", ["3.9.0", "3.10.0", "3.15.0rc1", "10.0.0"])
def test_versions_of_keras_compare_as_numbers(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """3.10 is later than 3.9."""
    keras = ModuleType("keras")
    keras.__version__ = version  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keras", keras)
    assert has_keras(3, 9)
    assert has_keras(3, 10) == (version != "3.9.0")


def test_a_broken_installation_is_not_called_missing(
    unloaded: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an installed tensorflow lacks is reported by its own name."""
    requirements = importlib.import_module("schemagen.runtime.shared.requirements")

    def lacking(name: str) -> ModuleType:
        raise ModuleNotFoundError("No module named 'absl'", name="absl")

    monkeypatch.setattr(requirements, "import_module", lacking)
    with pytest.raises(ModuleNotFoundError, match="No module named 'absl'"):
        unloaded.module("pet", "parser")
