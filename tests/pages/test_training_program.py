"""`schemagen init --train`: a program that trains, goes on when killed, and is kept."""

from __future__ import annotations

import csv
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tensorflow as tf
from command_line import run, snapshot

if TYPE_CHECKING:
    from conftest import Workspace


SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, Scalar, Text, Vector

class Sample(Record):
    point: Annotated[np.ndarray, Vector(shape=(2,))]
    words: Annotated[str, Text()]
    kind: Annotated[int, Label(num_classes=2)]

class Weighted(Record):
    point: Annotated[np.ndarray, Vector(shape=(2,))]
    kind: Annotated[int, Label(num_classes=2)]
    size: Annotated[float, Scalar("float32", role="target")]
    trust: Annotated[float, Scalar("float32", role="weight")]

class Bare(Record):
    point: Annotated[np.ndarray, Vector(shape=(2,))]
"""

Rows = Iterator[dict[str, Any]]


PAGE = Path(__file__).parents[2] / "docs" / "training.md"


def _samples(count: int) -> Rows:
    for at in range(count):
        kind = at % 2
        point = [at / count, kind - 0.5]
        yield {"point": point, "words": "odd one" if kind else "even", "kind": kind}


def _weighted(count: int) -> Rows:
    for row in _samples(count):
        del row["words"]
        yield {**row, "size": 2 * row["point"][0], "trust": 1.0 + row["kind"]}


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    """A project with three records and their generated code."""
    workspace.schema(SCHEMA)
    workspace.generate()
    return workspace


def _write(project: Workspace, record: str, rows: Rows, split: str) -> None:
    write = project.module(record, "serializer").write_dataset
    write(rows, project.root / "data", split)


def _init(project: Workspace, record: str, package: str = "") -> None:
    result = run("init", "--train", record, project.root)
    assert result.exit_code == 0, result.output
    package = f"{package or project.package}.{record.lower()}"
    assert result.stdout == (
        "wrote train.py\n\nNext steps:\n"
        "  1. Generate the code of the record, unless it is up to date:\n"
        f"         schemagen generate --project {project.root}\n"
        "  2. Write a split named train with the generated writer, from your own rows:\n"
        f"         from {package}.serializer import write_dataset\n"
        f'         write_dataset(rows, "data/{record.lower()}", "train")\n'
        "  3. Train on that directory; --help lists the options:\n"
        f"         python train.py data/{record.lower()}\n"
        "  4. Change train.py as you like: schemagen does not overwrite it.\n"
    )


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "train.py", "data", "--batch-size", "8", *arguments]


def _train(project: Workspace, *arguments: str) -> str:
    done = subprocess.run(
        _command(*arguments),
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _epochs(history: Path) -> list[int]:
    """Return the epochs of a run's history, those of whole lines."""
    if not history.exists():
        return []
    whole = history.read_text(encoding="utf-8").rpartition("\n")[0]
    return [int(row["epoch"]) for row in csv.DictReader(whole.splitlines())]


def _column(history: Path, name: str) -> list[float]:
    with history.open(newline="", encoding="utf-8") as file:
        return [float(row[name]) for row in csv.DictReader(file)]


def test_data_that_is_missing_is_an_error_that_says_what_to_do(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory without a manifest, and one without a split to train on."""
    _init(project, "Sample")
    package = f"{project.package}.sample.serializer"
    monkeypatch.syspath_prepend(project.root)
    program = runpy.run_path(str(project.root / "train.py"))
    data = str(project.root / "data")
    with pytest.raises(SystemExit) as caught:
        program["splits_of"](data)
    assert caught.value.code == (
        f"{data} is not a data directory: {data}/manifest.json is missing. Write the "
        f"splits with write_dataset of {package}, and name the directory that it was "
        "given."
    )
    _write(project, "sample", _samples(4), "test")
    with pytest.raises(SystemExit) as caught:
        program["splits_of"](data)
    assert caught.value.code == (
        f"{data} has no split train, but test. Write one with write_dataset of {package}."
    )
    _write(project, "sample", _samples(4), "train")
    assert program["splits_of"](data) == {"train", "test"}


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(project: Workspace) -> None:
    """Killed in the midst, it repeats no epoch that was backed up, and ends as asked."""
    _write(project, "sample", _samples(64), "train")
    _write(project, "sample", _samples(16), "validation")
    _write(project, "sample", _samples(16), "test")
    _init(project, "Sample")
    history = project.root / "runs" / "sample" / "history.csv"
    with subprocess.Popen(
        _command("--epochs", "100000"), cwd=project.root, stdout=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 600
        while len(_epochs(history)) < 3 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
    behind = len(_epochs(history))
    assert behind >= 3
    adapted = (history.parent / "adapted.keras").stat()
    out = _train(project, "--epochs", str(behind + 2))
    assert f"Epoch 1/{behind + 2}\n" not in out
    assert f"Epoch {behind + 2}/{behind + 2}\n" in out
    epochs = _epochs(history)
    # What was logged and not backed up yet when the kill came is done again.
    assert epochs[behind:] in ([behind - 1, behind, behind + 1], [behind, behind + 1])
    assert sorted(set(epochs)) == list(range(behind + 2))
    # It goes on with what it has learned.
    losses = _column(history, "loss")
    assert losses[behind] < losses[0]
    assert (history.parent / "adapted.keras").stat().st_mtime_ns == adapted.st_mtime_ns
    assert re.search(r"^validation \{.*'loss': ", out, re.M)
    assert re.search(r"^test \{.*'loss': ", out, re.M)

    # Started once more it has nothing left to train, and says the same.
    again = _train(project, "--epochs", str(behind + 2))
    assert "Epoch" not in again
    assert again.splitlines()[-3:] == out.splitlines()[-3:]


@pytest.mark.slow
def test_the_best_model_of_all_is_kept_and_exported(project: Workspace) -> None:
    """A run that goes on keeps a best model that it does not surpass."""
    _write(project, "sample", _samples(32), "train")
    _write(project, "sample", _samples(16), "validation")
    _init(project, "sample")
    _train(project, "--epochs", "2", "--run", "here")
    root = project.root / "here"
    lines = (root / "history.csv").read_text(encoding="utf-8").splitlines()
    at = lines[0].split(",").index("val_loss")
    values = lines[2].split(",")
    values[at] = "1e-9"
    (root / "history.csv").write_text("\n".join([*lines[:2], ",".join(values), ""]))
    best = (root / "best.keras").read_bytes()
    _train(project, "--epochs", "4", "--run", "here")
    assert (root / "best.keras").read_bytes() == best
    page = PAGE.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\| file \| \|\n(.*?)\n\n", page, re.M | re.S)
    listed = {name.rstrip("/") for name in re.findall(r"^\| `(.+?)`", shown, re.M)}
    found = {path.name for path in root.iterdir()}
    assert listed - {"tensorboard"} == found - {"tensorboard"}
    serve = tf.saved_model.load(str(root / "served")).signatures["serving_default"]
    serialize = project.module("sample", "serializer").serialize
    examples = [serialize(**row) for row in _samples(4)]
    assert serve(examples=tf.constant(examples))["kind"].shape == (4, 2)


@pytest.mark.slow
def test_several_targets_and_weights_without_a_validation_split(
    project: Workspace,
) -> None:
    """Every record with a target can be trained; what is held out may be nothing."""
    _write(project, "weighted", _weighted(32), "train")
    _init(project, "weighted")
    options = ("--epochs", "3", "--patience", "1", "--precision", "mixed_bfloat16")
    out = _train(project, *options)
    assert (
        "no split to validate on: the best model is that of least training loss" in out
    )
    assert (project.root / "runs" / "weighted" / "served" / "saved_model.pb").exists()


def test_what_is_written_is_clean_and_says_what_it_takes(project: Workspace) -> None:
    """The program is formatted, checked and typed as the project's own code is."""
    _init(project, "sample")
    text = (project.root / "train.py").read_text(encoding="utf-8")
    assert f"from {project.package}.sample.model import adapt" in text
    settings = Path(__file__).parents[2] / "pyproject.toml"
    for command in (
        ("ruff", "check", "--config", str(settings), "train.py"),
        ("ruff", "format", "--check", "--config", str(settings), "train.py"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=project.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_that_exists_is_never_overwritten(project: Workspace) -> None:
    """The second time is refused, whatever the file holds."""
    (project.root / "train.py").write_text("mine")
    before = snapshot(project.root)
    result = run("init", "--train", "sample", project.root)
    assert result.exit_code == 2
    assert "SG404 train.py exists, and is yours" in result.stderr
    assert snapshot(project.root) == before


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("sampel", "SG405 no record 'sampel'"),
        ("sampel", "did you mean 'sample'?"),
        ("bare", "SG406 Bare has no target, and so no loss to train with"),
    ],
)
def test_records_that_cannot_be_trained(
    project: Workspace, record: str, message: str
) -> None:
    """A name that is none, and a record that has nothing to predict."""
    before = snapshot(project.root)
    result = run("init", "--train", record, project.root)
    assert result.exit_code == 2
    assert message in result.stderr
    assert snapshot(project.root) == before


def test_the_program_can_come_before_the_code(workspace: Workspace) -> None:
    """It is made from the schema; a nested output directory is imported as it is."""
    workspace.schema(SCHEMA)
    settings = workspace.root / "pyproject.toml"
    text = settings.read_text(encoding="utf-8").replace(workspace.package, "src/made")
    settings.write_text(text, encoding="utf-8")
    _init(workspace, "sample", "src.made")
    program = (workspace.root / "train.py").read_text(encoding="utf-8")
    assert "from src.made.sample.pipeline import make_dataset\n" in program


def test_outside_of_a_project_there_is_no_program(tmp_path: Path) -> None:
    """It belongs to a project's record."""
    result = run("init", "--train", "sample", tmp_path)
    assert result.exit_code == 2
    assert "SG402 no project here" in result.stderr
    assert not list(tmp_path.iterdir())
