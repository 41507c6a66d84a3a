"""`schemagen init --train`: a program that trains, goes on when killed, and is kept."""

from __future__ import annotations

import csv
import math
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
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


def _init(project: Workspace, record: str) -> None:
    result = run("init", "--train", record, project.root)
    assert result.exit_code == 0, result.output
    assert "\n         python train.py data/" in result.stdout


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


@pytest.fixture
def program(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the program of a record defines."""
    _init(project, "Sample")
    monkeypatch.syspath_prepend(project.root)
    return runpy.run_path(str(project.root / "train.py"))


def test_data_that_is_missing_is_an_error_that_says_what_to_do(
    project: Workspace, program: dict[str, Any]
) -> None:
    """A directory without a manifest, and one without a split to train on."""
    data = str(project.root / "data")
    for missing in (f"{data}/manifest.json", "train"):
        with pytest.raises(SystemExit) as caught:
            program["splits_of"](data)
        assert f" {missing}" in str(caught.value.code)
        assert f"{project.package}.sample.serializer" in str(caught.value.code)
        if missing != "train":
            _write(project, "sample", _samples(4), "test")
    _write(project, "sample", _samples(4), "train")
    assert program["splits_of"](data) == {"train", "test"}


def test_a_run_may_begin_without_validation(
    project: Workspace, program: dict[str, Any]
) -> None:
    """Its epochs have no loss to choose by, and the split may be named `val`."""
    history = project.root / "history.csv"
    for epoch, logs in enumerate(({"loss": 3.0}, {"loss": 2.0, "val_loss": 2.5})):
        logger = keras.callbacks.CSVLogger(history, append=True)
        logger.set_model(keras.Model())
        logger.on_train_begin()
        logger.on_epoch_end(epoch, logs)
        logger.on_train_end()
    assert program["losses_so_far"](history, "loss") == [3.0, 2.0]
    first, second = program["losses_so_far"](history, "val_loss")
    assert math.isnan(first)
    assert second == 2.5
    usual = ("validation", "val")
    assert program["one_of"]({"train", "val"}, None, *usual) == "val"
    assert program["one_of"]({"train", "validation", "val"}, None, *usual) == usual[0]
    assert program["one_of"]({"train", "val"}, "train", *usual) == "train"
    assert program["one_of"]({"train"}, None, *usual) is None


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
    names = " ".join(line.split("|")[1] for line in shown.splitlines())
    listed = {name.rstrip("/") for name in re.findall("`(.+?)`", names)}
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
    assert "validat" in _train(project, *options)
    assert (project.root / "runs" / "weighted" / "served" / "saved_model.pb").exists()


def test_what_is_written_is_clean(project: Workspace) -> None:
    """The program is formatted and checked as the project's own code is.

    It may come before the code. A nested output directory is imported as it is.
    """
    settings = Path(__file__).parents[2] / "pyproject.toml"
    _init(project, "sample")
    for command in (["check"], ["format", "--check"]):
        subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--config", settings, "train.py"],
            cwd=project.root,
            check=True,
        )
    program = project.root / "train.py"
    program.unlink()
    path = project.root / "pyproject.toml"
    path.write_text(path.read_text("utf-8").replace(project.package, "src/made"))
    _init(project, "sample")
    assert (
        "\nfrom src.made.sample.pipeline import make_dataset\n" in program.read_text()
    )


@pytest.mark.parametrize(
    ("record", "rule", "near"),
    [
        ("sample", "SG404", ""),
        ("sampel", "SG405", "'sample'"),
        ("bare", "SG406", "Bare"),
    ],
)
def test_what_cannot_be_trained_is_refused(
    project: Workspace, record: str, rule: str, near: str
) -> None:
    """A program that exists, a name that is none, and a record with nothing to predict."""
    if rule == "SG404":
        (project.root / "train.py").write_text("mine")
    before = snapshot(project.root)
    result = run("init", "--train", record, project.root)
    assert result.exit_code == 2
    assert rule in result.stderr
    assert near in result.stderr
    assert snapshot(project.root) == before
    assert run("init", "--train", record, project.root / "schemas").exit_code == 2
