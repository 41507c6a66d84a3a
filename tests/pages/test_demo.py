"""The demo: what it learns, what it says, what it draws, and what `make` runs."""

from __future__ import annotations

import os
import subprocess
import tomllib
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demo import __main__ as demo
from demo import records, training

ROOT = Path(__file__).resolve().parents[2]


def task(record: str, data: Path) -> training.Task:
    """Return what the demo learns of a record."""
    (found,) = (task for task in records.tasks(data) if task.record == record)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "epochs", "accuracy"), [("digit", 10, 0.96), ("penguin", 6, 0.93)]
)
def test_a_generated_model_learns_from_all_inputs(
    tmp_path: Path, record: str, epochs: int, accuracy: float
) -> None:
    """Accuracy on held-out records: what is promised for digits, and near for birds."""
    assert records.write(record, tmp_path)["test"] > 80
    reduced = replace(task(record, tmp_path), epochs=epochs)
    run = training.fit(reduced, training.ALL, None)
    assert len(run.test) == epochs
    assert run.accuracy >= accuracy
    found = training.answers(reduced, run.model)
    assert (found.truth == found.predicted).mean() == pytest.approx(run.accuracy)


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_the_demo_reports_and_draws_each_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accuracies of all inputs and of single ones are printed; pictures are written."""
    whole = records.tasks

    def reduced(data: Path) -> list[training.Task]:
        return [
            replace(task, epochs=1, alone=dict(list(task.alone.items())[:1]))
            for task in whole(data)
        ]

    monkeypatch.setattr(records, "tasks", reduced)
    demo.main(tmp_path / "data", tmp_path / "out")
    said = capsys.readouterr().out
    for text in ("digit: wrote 1,347 records", "photo: wrote   192 records"):
        assert text in said
    assert said.count("    all inputs together") == 2
    for name in ("digit", "penguin", "photo"):
        assert f"drew {tmp_path / 'out' / name}.png" in said
        with Image.open(tmp_path / "out" / f"{name}.png") as picture:
            assert picture.width > 1500
            pixels = np.asarray(picture.convert("RGB"))
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 200
        # Paper around the drawing, and ink on all of it.
        assert (pixels[:10] == 255).all()
        quarters = np.array_split(pixels, 4, axis=1)
        assert min(quarter.std() for quarter in quarters) > 10


def made(target: str, tmp_path: Path, *options: str) -> str:
    """Return the commands that make would run, without running them."""
    command = ["make", "--dry-run", f"VENV={tmp_path / 'venv'}", *options, target]
    # What a `make` that runs these tests tells its children is not for this one.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    environment.pop("MFLAGS", None)
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize(
    ("target", "extra", "command"),
    [("demo", "demo", "-m demo"), ("check", "dev", "mypy")],
)
def test_make_installs_what_a_target_needs_and_only_once(
    tmp_path: Path, target: str, extra: str, command: str
) -> None:
    """On a new machine it makes the environment; afterwards it goes straight on."""
    first = made(target, tmp_path, "PYTHON=python3.12")
    assert "python3.12 -m venv" in first
    assert f"--editable '.[{extra}]'" in first
    assert "--constraint constraints.txt" in first
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / f"{extra}.installed").touch()
    second = made(target, tmp_path)
    assert "pip" not in second
    assert command in first
    assert command in second


def test_constraints_name_a_version_of_every_direct_dependency() -> None:
    """Plain versions, no hashes and no addresses, so that any index will do.

    What the benchmarks compare with, and what reads exports, lives in environments of
    its own.
    """
    lines = chain.from_iterable(
        path.read_text(encoding="utf-8").splitlines()
        for path in ROOT.glob("constraints*.txt")
    )
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pin) == 2 and pin[1][0].isdigit() for pin in pins)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    extras = project["optional-dependencies"].values()
    wanted = {
        requirement.split(">")[0].split("[")[0].strip()
        for requirement in [*project["dependencies"], *chain(*extras)]
    }
    assert wanted - {"schemagen"} <= {name for name, _ in pins}
