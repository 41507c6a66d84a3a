"""The demo: the steps of the README in a new project: declare, generate, write, train, look."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

from . import drift

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(__file__).parent / "pets.py"
EPOCHS = 5

_NEXT = f"""\
What to try next, after `. {Path(sys.prefix).name}/bin/activate`
  schemagen verify demo/out/pets/data     compare every byte and record with the schema
  schemagen infer 'YOUR/FILES-*' --out schemas/mine.py    make a schema of your own data
  docs/tutorial.md                        go on with files, serving and CI
"""


def main(project: Path = ROOT / "demo" / "out" / "pets", epochs: int = EPOCHS) -> None:
    """Run it.

    Args:
        project: the directory of the project; replaced.
        epochs: how often to go through the training data.
    """
    started = time.perf_counter()
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir(parents=True)
    run = partial(_run, project)
    _title("1. Declare a record: `schemagen init` writes an example")
    run(["-m", "schemagen", "init"])
    print(f"  {_shown(project / 'schemas' / 'pet_photo.py')}")
    _title("2. Generate its code: `schemagen generate`")
    _show(run(["-m", "schemagen", "generate"]))
    _title(f"3. Write data, each value checked, and train for {epochs} epochs")
    program = str(shutil.copy(PROGRAM, project))
    _show(run(["-W", "ignore", program, str(epochs)]))
    _title("4. A mistake is caught: someone sorts the class names by size")
    for command, said in drift.caught(project, run):
        print(f"  $ {command}")
        print(textwrap.indent(said.rstrip(), "    "))
    _title("5. Look at the data")
    run(["-m", "schemagen", "inspect", "data", "--html", "report.html"])
    print(f"  {_shown(project / 'report.html')}")
    print(f"\n{_NEXT}")
    print(f"Done in {time.perf_counter() - started:.0f} s.")


def _run(project: Path, arguments: list[str]) -> str:
    """Run Python in the project, and return what it prints."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(project), str(ROOT)]),
        # No notices, and the same numbers on all CPUs.
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def _title(text: str) -> None:
    print(f"\n{text}", flush=True)


def _show(printed: str) -> None:
    """Print lines of a command, without those of TensorFlow about GPUs."""
    lines = [line for line in printed.splitlines() if "absl" not in line]
    lines = [line for line in lines if "cuda" not in line]
    print(textwrap.indent("\n".join(lines), "  "), flush=True)


def _shown(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


if __name__ == "__main__":
    main()
