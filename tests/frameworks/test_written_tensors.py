"""Tensors of PyTorch and JAX as the values of rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from generated import RecordError
from generated.digit.serializer import serialize, serialize_batch

ROW: dict[str, Any] = {
    "image": np.arange(64, dtype=np.uint8).reshape(8, 8, 1),
    "ink_runs": np.array([3, 1], np.int64),
    "moments": np.arange(8, dtype=np.float32),
    "digit": np.int64(7),
    "scan": np.int64(5),
}
MAKERS: list[Callable[[Any], Any]] = [
    lambda a: torch.as_tensor(np.asarray(a)),
    jnp.asarray,
]


@pytest.mark.parametrize("make", MAKERS, ids=["torch", "jax"])
def test_they_are_written_as_arrays_are(make: Callable[[Any], Any]) -> None:
    """In rows, in lists of rows, and as columns."""
    expected = serialize(**ROW)
    row = {name: make(value) for name, value in ROW.items()}
    assert serialize(**row) == expected
    assert serialize(**{**row, "ink_runs": [make(3), make(1)]}) == expected
    assert serialize_batch(**{n: [v, v] for n, v in row.items()}) == [expected] * 2
    columns = {name: make(np.stack([value, value])) for name, value in ROW.items()}
    assert serialize_batch(**columns) == [expected] * 2


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (torch.zeros(8, requires_grad=True), r"gradient.*pass tensor.detach\(\)"),
        (torch.zeros(8, device="meta"), r"tensor on meta.*pass tensor.cpu\(\)"),
        (torch.zeros(3), r"found shape \[3\]"),
    ],
)
def test_others_are_refused_with_what_to_do(value: Any, said: str) -> None:
    with pytest.raises(RecordError, match=f"field 'moments': .*{said}"):
        serialize(**{**ROW, "moments": value})
    columns = {name: [each, each] for name, each in ROW.items()}
    columns["moments"] = [ROW["moments"], value]
    with pytest.raises(RecordError, match=f"row 1: field 'moments': .*{said}"):
        serialize_batch(**columns)


def test_images_with_their_channels_first_get_advice() -> None:
    with pytest.raises(RecordError, match=r"pass image.transpose\(1, 2, 0\)"):
        serialize(**{**ROW, "image": torch.zeros(1, 8, 8, dtype=torch.uint8)})
    with pytest.raises(RecordError, match=r"pass image\[\.\.\., None\]"):
        serialize(**{**ROW, "image": torch.zeros(8, 8, dtype=torch.uint8)})


def test_a_traced_value_is_refused() -> None:
    @jax.jit
    def write(moments: Any) -> Any:
        serialize(**{**ROW, "moments": moments})
        return moments

    with pytest.raises(RecordError, match=r"field 'moments': .*without an array"):
        write(jnp.zeros(8))
