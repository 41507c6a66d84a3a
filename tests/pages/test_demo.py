"""The demo: what it learns, what it says, what it draws, and what `make` runs."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import digit_training
import pytest

from demo import __main__ as demo
from demo import records

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_demo_shows_each_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It generates, writes, trains twice, has a mistake caught in three places, reports."""
    demo.main(tmp_path / "pets", epochs=2)
    said = capsys.readouterr().out
    for text in ("240 records of train", "SG302", "SG221", "written 'beagle'"):
        assert text in said
    accuracies = re.findall(r"accuracy on test +([\d.]+)%", said)
    assert len(accuracies) == 2
    assert min(map(float, accuracies)) > 50
    assert (tmp_path / "pets" / "report.html").stat().st_size > 100_000


@pytest.mark.slow
def test_the_generated_model_learns_the_digits(tmp_path: Path) -> None:
    """On data that was not drawn by a program, by both ways to read."""
    assert records.write("digit", tmp_path) == {"train": 1347, "test": 450}
    data = tmp_path / "digit"
    assert digit_training.baseline(data) < 0.11
    assert digit_training.with_make_dataset(data, 12) >= 0.95
    assert digit_training.with_open_split(data, 12) >= 0.95


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
    assert wanted - {"schemagen-tfrecord"} <= {name for name, _ in pins}
