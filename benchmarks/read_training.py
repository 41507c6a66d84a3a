"""`model.fit` on few records, from `make_dataset` and from numpy arrays."""

from __future__ import annotations

from functools import partial
from typing import Any

import keras
import numpy as np

from generated.digit import model, pipeline, serializer

from .agreement import Agreement
from .measure import Way, empty, side_by_side
from .program import Part, Setting
from .read_ways import OURS
from .reading import of_dataset
from .records import Row, columns_of
from .report import Target, targets_table, times_table

OURS_CACHED = "ours, cache=True"
ARRAYS = "numpy arrays in memory"

FIT_TARGETS = (
    Target(OURS, ARRAYS, {"digits": 1.5}, at_most=True),
    Target(OURS_CACHED, ARRAYS, {}, at_most=True),
)

_EPOCHS = 20
_BATCH = 32


def digits(count: int) -> list[Row]:
    """Return rows of the record digit with random values."""
    random = np.random.default_rng(0)
    return [
        {
            "image": random.integers(0, 241, (8, 8, 1), np.uint8),
            "ink_runs": random.integers(1, 9, int(random.integers(8, 20))),
            "moments": random.normal(size=8).astype(np.float32),
            "digit": int(random.integers(10)),
            "scan": scan,
        }
        for scan in range(count)
    ]


def small_model() -> keras.Model:
    """Return a model of the image alone whose steps take little time."""

    def encoder(pixels: Any) -> Any:
        scaled = keras.layers.Rescaling(1 / 255, dtype="float32")(pixels)
        return keras.layers.Dense(64, "relu")(keras.layers.Flatten()(scaled))

    return model.build_model(fields=("image",), encoders={"image": encoder})


def fit(setting: Setting) -> dict[str, Any]:
    """Train on digits; in the round that does not count, functions are traced.

    Raises:
        Different: a dataset does not deliver the records.
    """
    rows = digits(setting.count(1_347))
    setting.say(f"{len(rows)} digits, {_EPOCHS} epochs, {setting.rounds} rounds")
    empty(setting.scratch)
    directory = setting.scratch / "data"
    serializer.write_dataset(rows, directory, "train", shards=4)
    agreement = Agreement(rows)

    def ours(name: str, **options: Any) -> Way:
        options |= {"training": True, "shuffle_buffer": 10_000, "fields": ("image",)}
        dataset = pipeline.make_dataset(directory, batch_size=_BATCH, **options)
        way = of_dataset(dataset, lambda e: {**e[0], "digit": e[1]}, shuffled=True)
        agreement.check(name, way)
        return partial(train, dataset, shuffle=False)

    def train(*data: Any, **options: Any) -> None:
        network.fit(*data, epochs=_EPOCHS, verbose=0, **options)

    network = small_model()
    columns = columns_of(rows)
    arrays = ({"image": columns["image"]}, columns["digit"])
    ways: dict[str, Way] = {
        OURS: ours(OURS),
        OURS_CACHED: ours(OURS_CACHED, cache=True),
        ARRAYS: partial(train, *arrays, batch_size=_BATCH, shuffle=True),
    }
    facts = {"records": f"{len(rows):,}", "epochs": str(_EPOCHS)}
    times = side_by_side(ways, setting.rounds)
    empty(setting.scratch)
    return {"digits": {"facts": facts, "seconds": times}}


def _fit_tables(found: dict[str, Any]) -> str:
    times = times_table("model.fit: seconds", found, "seconds", 1)
    return f"{times}\n{targets_table('how many times', found, 'seconds', FIT_TARGETS)}"


FIT = Part(fit, _fit_tables)
