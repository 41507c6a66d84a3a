"""`docs/training.md` is run: what it shows trains, is saved, and is served."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
TEXT = PAGE.read_text(encoding="utf-8")

# The data of the README, fewer of them.
WRITE = """
import numpy as np
from generated.pet_photo.serializer import write_dataset

random = np.random.default_rng(0)
rows = [
    {
        "photo": random.integers(0, 256, (64, 64, 3), dtype=np.uint8),
        "note": random.integers(1, 50, index % 5),
        "measurements": random.normal(size=5).astype(np.float32),
        "breed": index % 3,
        "age_years": None if index % 4 else 2.5,
    }
    for index in range(96)
]
write_dataset(rows, "data", "train")
write_dataset(rows[:8], "data", "test")
"""

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
assert strategy.num_replicas_in_sync == 2
(answer,) = signatures["serving_default"](examples=tf.constant([request])).values()
assert answer.shape == (1, 3)
(instance,) = json.loads(body)["instances"]
assert base64.b64decode(instance["b64"]) == request
assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
assert half.layers[-1].compute_dtype == "float32"
"""


def _run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_works_from_top_to_bottom(tmp_path: Path) -> None:
    """The blocks are one program; test_training_program.py runs the commands."""
    _run("-m", "schemagen", "init", cwd=tmp_path)
    _run("-m", "schemagen", "generate", cwd=tmp_path)
    _run("-c", WRITE, cwd=tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    program = tmp_path / "page.py"
    program.write_text("\n".join([BEFORE, *blocks, CHECK]), encoding="utf-8")
    _run("page.py", cwd=tmp_path)
    assert (tmp_path / "models" / "pet_photo" / "1" / "saved_model.pb").is_file()


def test_every_option_of_the_program_is_in_its_help_or_on_the_page() -> None:
    """What the page names is there to be asked for."""
    template = PAGE.parent.parent / "templates" / "init" / "train.py.jinja"
    options = set(
        re.findall(r'add\("(--[a-z-]+)"', template.read_text(encoding="utf-8"))
    )
    (section,) = re.findall(
        r"^## A program to start from\n(.*?)^## ", TEXT, re.M | re.S
    )
    named = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", section)) - {"--train"}
    assert named
    assert named <= options
