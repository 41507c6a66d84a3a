"""What functions return under PyTorch and JAX: tensors, and what has no tensor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from conversions import COUNT, ODD, OTHERS, SAME, WAYS, columns, refusal, returned
from digit_rows import rows
from schemagen.runtime.arrays.torch import collate

from generated import DatasetError
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset


def collated(split: Any) -> list[Any]:
    """Collate rows that a dataset of one's own has made."""
    return columns([collate([split[number] for number in range(COUNT)])])


HERE = {
    **WAYS,
    "to_torch": lambda split: columns(split.to_torch(8)),
}

TENSORS: dict[str, Any] = {
    "a tensor of another dtype": torch.tensor(0.5),
    "an integer tensor": torch.tensor(1),
    "a tensor of bfloat16": torch.tensor(0.5, dtype=torch.bfloat16),
    "a tensor of float8": torch.tensor(0.5).to(torch.float8_e4m3fn),
    "a tensor on another device": torch.zeros((), dtype=torch.float64, device="meta"),
    "a sparse tensor": torch.eye(2, dtype=torch.float64).to_sparse(),
    "tensors of different lengths": [torch.zeros(1), torch.zeros(2)],
    "a dtype": torch.float64,
    "a module": torch.nn.Linear(1, 1),
    "a number of jax": jnp.float32(0.5),
    "bfloat16 of jax": jnp.bfloat16(0.5),
    "a key of jax": jax.random.key(1),
}
"""What no record may have where all others have a float."""

EQUAL: dict[str, Any] = {
    "a tensor": torch.tensor(0.5, dtype=torch.float64),
    "a tensor with a gradient": torch.tensor(
        0.5, dtype=torch.float64, requires_grad=True
    ),
}
"""What is equal to 0.5, which all others have."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split of numbered records."""
    root = tmp_path_factory.mktemp("digits")
    write_dataset(rows(COUNT), root, "train", shards=2)
    return root


@pytest.fixture
def split(directory: Path) -> Any:
    return open_split(directory, "train", fields=["scan"])


@pytest.mark.parametrize("way", [*HERE, "collate"])
@pytest.mark.parametrize("kind", [*OTHERS, *TENSORS])
def test_another_value_is_an_error_that_names_its_record(
    split: Any, kind: str, way: str
) -> None:
    value = {**OTHERS, **TENSORS}[kind]
    mapped = split.map(returned(lambda number: value if number == ODD else 0.5))
    said = refusal(mapped, collated if way == "collate" else HERE[way])
    place = "train-00001-of-00002.tfrecord: record 1: map(function): field 'x'"
    assert (f"collate: row {ODD}: field 'x'" if way == "collate" else place) in said


@pytest.mark.parametrize("way", [*HERE, "collate"])
@pytest.mark.parametrize("kind", [*SAME, *EQUAL])
def test_values_of_one_dtype_are_equal(split: Any, kind: str, way: str) -> None:
    value = {**SAME, **EQUAL}[kind]
    mapped = split.map(returned(lambda number: value if number == ODD else 0.5))
    read = collated if way == "collate" else HERE[way]
    assert read(mapped) == [0.5] * COUNT


@pytest.mark.parametrize("way", [*HERE, "collate"])
@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([0.5, 2.0], dtype=torch.bfloat16),
        jnp.array([0.5, 2.0], jnp.bfloat16),
        [torch.tensor(0.5), torch.tensor(2.0, requires_grad=True)],
        jnp.array([0.5, 2.0]),
    ],
    ids=["bfloat16", "bfloat16 of jax", "a list", "jax"],
)
def test_tensors_are_delivered(split: Any, value: Any, way: str) -> None:
    mapped = split.map(returned(lambda _: value))
    read = collated if way == "collate" else HERE[way]
    assert read(mapped) == [[0.5, 2.0]] * COUNT


def test_columns_of_batches_may_be_tensors(split: Any) -> None:
    for make in (torch.as_tensor, jnp.asarray):
        mapped = split.map(
            lambda batch, make=make: {"x": make(batch["scan"]) / 2}, batched=True
        )
        found = next(iter(mapped.to_torch(8)))["x"]
        assert found.tolist() == [number / 2 for number in range(8)]


def test_a_tensor_without_dimensions_is_no_column(split: Any) -> None:
    mapped = split.map(lambda batch: {"x": torch.tensor(1.0)}, batched=True)
    with pytest.raises(DatasetError, match="column 'x': found a Tensor, expected an"):
        mapped[:8]


def test_bfloat16_without_ml_dtypes_says_what_to_install(
    split: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    half = split.map(lambda row: {"x": torch.ones(2, dtype=torch.bfloat16)})
    with pytest.raises(DatasetError, match=r"schemagen-tfrecord\[ml-dtypes\]"):
        half[:8]


def test_packed_texts_are_lists(split: Any) -> None:
    mapped = split.map(returned(lambda number: ["a"] * (number % 3)))
    found = next(iter(mapped.to_torch(2, pack={"x": 4})))["x"]
    assert np.shape(found) == (2, 4)
