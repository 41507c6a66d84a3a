"""Records of five shapes to write."""

from __future__ import annotations

import numpy as np

from ..shapes import Row, Shape, mix, numbers, pictures, tokens


def _vector(count: int, chance: np.random.Generator) -> list[Row]:
    return [
        {
            "vector": chance.normal(size=4096).astype(np.float32),
            "label": int(chance.integers(10)),
        }
        for _ in range(count)
    ]


def _tokens(count: int, chance: np.random.Generator) -> list[Row]:
    return [{"tokens": tokens(chance, 512)} for _ in range(count)]


SHAPES = (
    Shape("mix", "mix", 16384, 256, mix),
    Shape("vector", "embedding", 2048, 64, _vector),
    Shape("tabular", "tabular", 16384, 256, numbers),
    Shape("tokens", "tokens", 8192, 256, _tokens),
    Shape("jpeg", "jpeg", 1024, 64, pictures),
)
