"""`docs/training.md`, `docs/serving.md` and `docs/recipes.md` are executed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "training.md").read_text(encoding="utf-8")
SERVING = (DOCS / "serving.md").read_text(encoding="utf-8")

# The strategy of the page has two devices, also where there is one. Other models train
# without tracing, which takes longer than a few batches.
BEFORE = """
import keras
import tensorflow as tf

compile_model = keras.Model.compile

def compile_eagerly(model, *args, **options):
    eager = not tf.distribute.has_strategy()
    compile_model(model, *args, **{**options, "run_eagerly": eager})

keras.Model.compile = compile_eagerly

(cpu,) = tf.config.list_physical_devices("CPU")
halves = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, halves)
"""

CHECK = """
assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
assert half.layers[-1].compute_dtype == "float32"
"""

CHECK_RECIPES = """
assert np.mean(accuracies) > 0.8
assert counts.tolist() == [250, 250, 250]
assert sum(1 for _ in rotated) == sum(1 for _ in varied) == 10
drawn_classes = [targets["verdict"] for _, targets in steps]
assert np.bincount(np.concatenate(drawn_classes), minlength=3).min() > 100
assert losses[-1] < 4
assert strategy.num_replicas_in_sync == 2
assert [len(small.input), len(tenth)] == [1, 1]
"""

CHECK_SERVING = """
assert answer["breed"].shape == (1, 3)
(instance,) = json.loads(body)["instances"]
assert base64.b64decode(instance["b64"]) == request
"""


def _run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _program(page: str) -> list[str]:
    """Return the Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", page, re.S)


def test_the_pages_train_save_and_serve_a_model(tmp_path: Path) -> None:
    """The blocks of each page are one program; serving continues with the saved model.

    test_training_program.py runs the commands.
    """
    _run("-m", "schemagen", "init", cwd=tmp_path)
    _run("-m", "schemagen", "generate", cwd=tmp_path)
    write, *train = _program(TEXT)
    _run("-c", write, cwd=tmp_path)
    for name, blocks in (
        ("training.py", [BEFORE, *train, CHECK]),
        ("serving.py", [*_program(SERVING), CHECK_SERVING]),
    ):
        (tmp_path / name).write_text("\n".join(blocks), encoding="utf-8")
        _run(name, cwd=tmp_path)
    assert (tmp_path / "models" / "pet_photo" / "1" / "saved_model.pb").is_file()


def test_the_recipes_run(tmp_path: Path) -> None:
    """In one program. tests/frameworks runs `ddp.py`."""
    _run("-m", "schemagen", "init", cwd=tmp_path)
    programs = [BEFORE]
    for block in _program((DOCS / "recipes.md").read_text(encoding="utf-8")):
        if file := re.match(r"# (\S+\.py)\n", block):
            (tmp_path / file[1]).write_text(block, encoding="utf-8")
        else:
            programs.append(block)
    _run("-m", "schemagen", "generate", cwd=tmp_path)
    _run("write_reviews.py", cwd=tmp_path)
    text = "\n".join([*programs, CHECK_RECIPES])
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    _run("program.py", cwd=tmp_path)


def test_every_option_of_the_program_is_in_its_help_or_on_the_page() -> None:
    """What the page names is there to be asked for."""
    template = DOCS.parent / "templates" / "init" / "train.py.jinja"
    options = set(
        re.findall(r'add\("(--[a-z-]+)"', template.read_text(encoding="utf-8"))
    )
    (section,) = re.findall(
        r"^## A program to start from\n(.*?)^## ", TEXT, re.M | re.S
    )
    named = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", section)) - {"--train"}
    assert named
    assert named <= options
