"""Other backends of Keras: they train from the same datasets, or say what they cannot."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import PackageOf

pytestmark = pytest.mark.slow

_SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record, Scalar, Sparse, VarLen, Vector

class Plain(Record):
    image: Annotated[np.ndarray, Image(shape=(4, 4, 1))]
    place: Annotated[np.ndarray, Vector(shape=(3,))]
    height: float | None = None
    count: int | None = None
    group: Annotated[int | None, Label(num_classes=2, role="input")] = None
    tokens: list[int]
    points: Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
    kind: Annotated[int, Label(num_classes=3)]
    size: Annotated[np.ndarray, Vector(shape=(2, 2), role="target")]
    alive: Annotated[bool, Scalar("bool", role="target")]
    weight: Annotated[float, Scalar("float32", role="weight")]

class Special(Record):
    place: Annotated[np.ndarray, Vector(shape=(3,))]
    note: str
    words: list[str]
    loose: Annotated[list[float], VarLen("float32", ragged=True)]
    thin: Annotated[dict[int, float], Sparse(shape=(9,), index_key="at", key="value")]
    kind: Annotated[int, Label(num_classes=3)]
"""

_SCRIPT = """
import importlib, json, sys

root, package, data, work = sys.argv[1:]
sys.path.insert(0, root)
import keras
import numpy as np

def embedded(ids):
    return keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(9, 4)(ids))

def part(record, name):
    return importlib.import_module(f"{package}.{record}.{name}")

def said(build):
    try:
        build()
    except (ValueError, RuntimeError) as error:
        return str(error)
    return ""

keras.utils.set_random_seed(0)
model_of = part("plain", "model")
dataset = part("plain", "pipeline").make_dataset(data, batch_size=8)
own = {"tokens": embedded}
found = {"tokens": said(model_of.build_model)}
model = model_of.build_model(loss_weights={"size": 0.5}, encoders=own)
model_of.check_dataset(model, dataset)
found["backend"] = keras.backend.backend()
found["unready"] = said(lambda: model.fit(dataset, verbose=0))
model_of.adapt(model, dataset)
found["jit"] = model.jit_compile
found["mean"] = np.asarray(
    keras.ops.convert_to_numpy(model.get_layer("place_normalization").adapt_mean)
).tolist()
found["losses"] = model.fit(dataset, epochs=4, verbose=0).history["loss"]
before = model.predict(dataset, verbose=0)
model.save(work + "/model.keras")
after = keras.models.load_model(work + "/model.keras").predict(dataset, verbose=0)
found["equal"] = all(np.array_equal(before[name], after[name]) for name in before)
special = part("special", "model")
found["special"] = said(special.build_model)
fields = [name for name, given in special.INPUTS.items() if not given.only_tensorflow]
found["left"] = list(special.build_model(fields=fields).input)
large = dataset.map(lambda x, *rest: ({**x, "tokens": x["tokens"] + 2**33}, *rest))
found["large"] = said(lambda: model_of.adapt(model_of.build_model(encoders=own), large))
print(json.dumps(found))
"""


def _row(number: int) -> dict[str, Any]:
    noise = np.random.default_rng(number)
    length = number % 4
    row = {
        "image": noise.integers(0, 256, (4, 4, 1)).astype(np.uint8),
        "place": noise.normal(50, 5, 3).astype(np.float32),
        "tokens": [1, 2, 3, 2, 3, 3][: length + 3],
        "points": noise.random((length, 2), np.float32),
        "kind": number % 3,
        "size": noise.random((2, 2), np.float32),
        "alive": number % 2 == 0,
        "weight": 1.0,
    }
    return row if number % 5 else {**row, "height": 1.5, "count": 3, "group": 1}


_ROWS = [_row(number) for number in range(24)]


@pytest.fixture(scope="module", params=["jax", "torch"])
def found(
    request: pytest.FixtureRequest,
    package_of: PackageOf,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """What a process says whose Keras runs on another backend."""
    backend = request.param
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    package = package_of(_SCHEMA)
    data: Path = tmp_path_factory.mktemp("data")
    package.module("plain", "serializer").write_dataset(_ROWS, data, "train")
    work = tmp_path_factory.mktemp("work")
    arguments = [str(path) for path in (package.root, package.package, data, work)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _SCRIPT, *arguments],
        env={**os.environ, "KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert answer["backend"] == backend
    return answer


def test_models_adapt_and_train(found: dict[str, Any]) -> None:
    """To the same means, from the same datasets, and as they are when they are loaded."""
    mean = np.mean([row["place"] for row in _ROWS], axis=0)
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-5)
    assert "adapt(model, dataset)" in found["unready"]
    assert np.isfinite(found["losses"]).all()
    assert found["losses"][-1] < found["losses"][0]
    assert found["equal"] is True
    if found["backend"] == "jax":  # no layer keeps it from compiling the whole step
        assert found["jit"] is True


def test_what_only_tensorflow_takes_is_refused(found: dict[str, Any]) -> None:
    """By name, with the fields that are left; those alone make a model."""
    words = ("'note'", "'words'", "'loose'", "'thin'", "fields=('place',)")
    assert [word for word in words if word not in found["special"]] == []
    assert repr(found["backend"]) in found["special"]
    assert found["left"] == ["place"]
    assert "'tokens'" in found["tokens"]  # their generated encoder looks ids up
    assert repr(found["backend"]) in found["tokens"]


def test_integers_that_would_be_cut_are_refused(found: dict[str, Any]) -> None:
    """JAX has 32 bits by default: a longer id would become another one."""
    assert ("'tokens': found 8589934593" in found["large"]) is (
        found["backend"] == "jax"
    )
