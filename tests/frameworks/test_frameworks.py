"""`open_split` under PyTorch, JAX, Grain and Keras, where TensorFlow is not installed."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import grain
import numpy as np
import pytest
import torch
from schemagen.runtime.arrays.torch import collate, tensors_of
from torch.utils.data import DataLoader

from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

ROOT = Path(__file__).parents[2]
COUNT = 300


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to be in, with a split in `data`."""
    rows = [
        {
            "image": np.full((8, 8, 1), number % 200, np.uint8),
            "ink_runs": [number] * (number % 5),
            "moments": [number / 8] * 8,
            "digit": number % 10,
            "scan": number,
        }
        for number in range(COUNT)
    ]
    write_dataset(rows, tmp_path / "data", "train", shards=4)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def split(directory: Path) -> Any:
    """The same split, opened."""
    return open_split(directory / "data", "train")


def test_tensorflow_is_not_installed() -> None:
    assert find_spec("tensorflow") is None


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_the_programs_of_the_page_run(
    directory: Path,
    backend: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Each in a process of its own, since Keras has one backend in a process."""
    import subprocess

    page = (ROOT / "docs" / "reading-anywhere.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.S)
    printed = "".join(re.findall(r"```text\n(.*?)```", page, re.S))
    program = directory / "page.py"
    program.write_text("\n".join(programs), encoding="utf-8")
    monkeypatch.setenv("KERAS_BACKEND", backend)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    run = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == printed


def test_the_readme_reads_with_pytorch_and_jax(tmp_path: Path) -> None:
    """Its record is declared, generated and written first, as the README says."""
    import subprocess

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    schema, write, *_ = re.findall(r"```python\n(.*?)```", text, re.S)
    section = text.partition("## Read anywhere")[2]
    split, frameworks, *_ = re.findall(r"```py(?:thon)?\n(.*?)```", section, re.S)
    program = "\n".join(
        [
            write,
            split,
            frameworks,
            "import jax, torch",
            "next(iter(loader)), jax.device_put(next(batches))",
        ]
    )
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    generate = [sys.executable, "-m", "schemagen", "generate"]
    subprocess.run([*generate[:-1], "init"], cwd=tmp_path, check=True)
    (tmp_path / "schemas" / "pet_photo.py").write_text(schema, encoding="utf-8")
    subprocess.run(generate, cwd=tmp_path, check=True)
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True)


def test_the_recipe_for_several_gpus_runs_in_two_processes(tmp_path: Path) -> None:
    """On CPUs. Each rank reads half of the records."""
    import subprocess

    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    python = [sys.executable]
    subprocess.run([*python, "-m", "schemagen", "init"], cwd=tmp_path, check=True)
    for name in ("schemas/review.py", "write_reviews.py", "ddp.py"):
        (program,) = re.findall(rf"```python\n(# {name}\n.*?)```", page, re.S)
        (tmp_path / name).write_text(program, encoding="utf-8")
    subprocess.run([*python, "-m", "schemagen", "generate"], cwd=tmp_path, check=True)
    subprocess.run([*python, "write_reviews.py"], cwd=tmp_path, check=True)
    launch = [*python, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    printed = subprocess.check_output([*launch, "ddp.py"], cwd=tmp_path, text=True)
    ranks = re.findall(r"rank (\d): 10 batches, loss 0\.\d+", printed)
    assert sorted(ranks) == ["0", "1"]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_data_loader_read_all_records(split: Any, start: str) -> None:
    split[0]  # files that are open here are not in the way
    loader = DataLoader(
        split,
        batch_size=32,
        shuffle=True,
        num_workers=2,
        collate_fn=collate,
        multiprocessing_context=start,
    )
    scans = torch.cat([batch["scan"] for batch in loader])
    assert sorted(scans.tolist()) == list(range(COUNT))


def test_the_collation_of_pytorch_works_too(split: Any) -> None:
    batch = next(iter(DataLoader(split, batch_size=6)))
    again = collate(split.__getitems__(range(6)))
    assert batch.keys() == again.keys()
    for name, tensor in batch.items():
        torch.testing.assert_close(tensor, again[name])


def test_tensors_share_the_memory_of_arrays(split: Any) -> None:
    batch = split[:5]
    tensors = tensors_of(batch)
    batch["image"][0, 0, 0, 0] = 77
    assert tensors["image"][0, 0, 0, 0] == 77


def test_texts_and_lists_are_lists() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tensors = tensors_of(
        {
            "text": np.array(["one", "two"], object),
            "rows": [np.arange(2), np.arange(3)],
            "inner": {"half": np.ones(2, ml_dtypes.bfloat16)},
        }
    )
    assert tensors["text"] == ["one", "two"]
    assert [len(row) for row in tensors["rows"]] == [2, 3]
    assert tensors["inner"]["half"].dtype == torch.bfloat16


def test_grain_shuffles_and_batches_records(split: Any) -> None:
    source = grain.MapDataset.source(split).shuffle(seed=1)
    scans = [record["scan"] for record in source]
    assert sorted(scans) == list(range(COUNT))
    assert scans != sorted(scans)
    several = source.map(lambda record: record["moments"]).batch(50)
    assert several[0].shape == (50, 8)
