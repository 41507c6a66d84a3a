"""Exported models: served by tensorflow alone, they answer what `predict` answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace


SCHEMA = """
from typing import Annotated
import numpy as np
from pydantic import BaseModel
from schemagen import *

class Place(BaseModel):
    town: str
    height: Annotated[float | None, Scalar("float32")] = None

class Visit(Record):
    scan: Annotated[np.ndarray, Image(shape=(8, 8, 1))]
    photo: Annotated[np.ndarray, Image((None, None, 3), encoding="png", resize=(6, 6))]
    tokens: Annotated[list[int], VarLen("int64", ragged=True)]
    sentences: Annotated[list[list[int]], Ragged("int64")]
    points: Annotated[np.ndarray, VarLen("float32", item_shape=(2,), ragged=True)]
    counts: Annotated[dict, Sparse((9,), index_key="where")]
    words: list[str]
    place: Place
    title: str | None = None
    kind: Annotated[int, Label(classes=("a", "b", "c"))]
    number: Annotated[int, Scalar("int64", role="info")]
    trust: Annotated[float, Scalar("float32", role="weight")]

class Seen(SequenceRecord):
    frame: Annotated[list[np.ndarray], Steps(Image((4, 4, 1)))]
    speed: Annotated[list[float], Steps(Scalar("float32"))]
    note: str
    kind: Annotated[int, Label(num_classes=2)]
    size: Annotated[float, Scalar("float32", role="target")]

class Segmented(Record):
    image: Annotated[np.ndarray, Image((8, 8, 3))]
    area: Annotated[np.ndarray, Mask((8, 8), num_classes=2)]

"""

# A serving process: it has tensorflow, and neither keras nor generated code.
SERVE = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        absent = ("keras", "schemagen", "generated")
        return None if name.split(".")[0] in absent else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
import numpy as np, tensorflow as tf

for directory in sys.argv[1:]:
    signatures = tf.saved_model.load(f"{directory}/served").signatures
    given = np.load(f"{directory}/examples.npz", allow_pickle=True)
    outputs = signatures["serving_default"](examples=tf.constant(given["examples"]))
    arrays = {key: value.numpy() for key, value in outputs.items()}
    np.savez(f"{directory}/answers.npz", **arrays)
"""


def _visit(number: int) -> dict[str, Any]:
    noise = np.random.default_rng(number)
    length = number % 4
    return {
        "scan": noise.integers(0, 256, (8, 8, 1), dtype=np.uint8),
        "photo": noise.integers(0, 256, (5 + number, 7, 3), dtype=np.uint8),
        "tokens": noise.integers(1, 9, length),
        "sentences": [noise.integers(1, 9, size) for size in range(length)],
        "points": noise.random((length, 2), np.float32),
        "counts": {3: 0.5, number: 1.0},
        "words": ["red", "green"][:length],
        "place": {"town": f"town {length}", "height": 2.5 if length else None},
        "title": f"the {number}th of them" if length else None,
        "kind": number % 3,
        "number": number,
        "trust": 1.0,
    }


def _seen(number: int) -> dict[str, Any]:
    noise = np.random.default_rng(number)
    steps = number % 3 + 1
    return {
        "frame": noise.integers(0, 256, (steps, 4, 4, 1), dtype=np.uint8),
        "speed": noise.random(steps, np.float32),
        "note": f"note {number}",
        "kind": number % 2,
        "size": float(number),
    }


ROWS: dict[str, Callable[[int], dict[str, Any]]] = {
    "visit": _visit,
    "seen": _seen,
}
COUNT = 8


class Exported:
    """A record with a model that has seen data, and its rows."""

    def __init__(self, package: Workspace, record: str, directory: Path) -> None:
        self.package = package
        self.record = record
        self.directory = directory
        self.model_module: ModuleType = package.module(record, "model")
        self.rows = list(map(ROWS[record], range(COUNT)))
        package.module(record, "serializer").write_dataset(
            self.rows, directory / "data", "train"
        )
        make = package.module(record, "pipeline").make_dataset
        self.dataset: tf.data.Dataset = make(directory / "data", batch_size=COUNT)
        self.model = self.model_module.build_model()
        self.model_module.adapt(self.model, self.dataset)
        self.path = directory / "served"
        self.model_module.export_serving(self.model, self.path)

    def examples(self, rows: list[Any] | None = None) -> tf.Tensor:
        serialize = self.package.module(self.record, "serializer").serialize
        return tf.constant([serialize(**row) for row in rows or self.rows])

    def predicted(self, model: Any = None) -> dict[str, Any]:
        """What `predict` says of all rows, by target."""
        model = self.model if model is None else model
        found = model.predict(self.features_of(model), verbose=0)
        if isinstance(found, Mapping):
            return dict(found)
        (name,) = self.targets
        return {name: found}

    def features_of(self, model: Any) -> tf.data.Dataset:
        return self.dataset.map(lambda x, *_: {name: x[name] for name in model.input})

    @property
    def targets(self) -> list[str]:
        found: list[str] = {
            "visit": ["kind"],
            "seen": ["kind", "size"],
        }[self.record]
        return found

    def signature(self) -> Any:
        return tf.saved_model.load(str(self.path)).signatures["serving_default"]


ExportedOf = Callable[[str], Exported]


@pytest.fixture(scope="module")
def exported_of(
    package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory
) -> ExportedOf:
    """Export a record's model once."""
    made: dict[str, Exported] = {}

    def make(record: str) -> Exported:
        if record not in made:
            directory = tmp_path_factory.mktemp(record)
            made[record] = Exported(package_of(SCHEMA), record, directory)
        return made[record]

    return make


def unlabelled(serialized: bytes, *keys: str) -> bytes:
    """Take features out of an Example."""
    example = tf.train.Example.FromString(serialized)
    for key in keys:
        del example.features.feature[key]
    found: bytes = example.SerializeToString()
    return found


@pytest.mark.slow
def test_a_model_is_served_by_tensorflow_alone(exported_of: ExportedOf) -> None:
    """A fresh process, without keras and our code, answers as `predict` does.

    To a few units in the last place of float32: kernels may add in another order.
    """
    every = [exported_of(record) for record in ("visit", "seen")]
    for exported in every:
        examples = np.array(exported.examples().numpy(), object)
        np.savez(exported.directory / "examples.npz", examples=examples)
    command = [sys.executable, "-c", SERVE, *(str(found.directory) for found in every)]
    away = every[0].directory
    done = subprocess.run(
        command, cwd=away, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for exported in every:
        expected = exported.predicted()
        found = np.load(exported.directory / "answers.npz")
        assert set(found) == set(expected) == set(exported.targets)
        for target, value in expected.items():
            np.testing.assert_allclose(found[target], value, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_only_inputs_have_to_be_there(exported_of: ExportedOf) -> None:
    """Labels, weights and infos are not asked for, nor does their value matter."""
    exported = exported_of("visit")
    serve = exported.signature()
    (_, given), outputs = serve.structured_input_signature, serve.structured_outputs
    assert given == {"examples": tf.TensorSpec((None,), tf.string, name="examples")}
    assert {n: s.shape.as_list() for n, s in outputs.items()} == {"kind": [None, 3]}
    (example,) = exported.examples(exported.rows[1:2]).numpy()
    bare = unlabelled(example, "kind", "number", "trust")
    another = {**exported.rows[1], "kind": 0, "number": -1, "trust": 0.0}
    for request in (bare, exported.examples([another]).numpy()[0]):
        found = serve(examples=tf.constant([request]))["kind"]
        np.testing.assert_array_equal(
            found, serve(examples=tf.constant([example]))["kind"]
        )


def _with_feature(serialized: bytes, key: str, value: bytes) -> bytes:
    example = tf.train.Example.FromString(serialized)
    example.features.feature[key].bytes_list.value[0] = value
    found: bytes = example.SerializeToString()
    return found


@pytest.mark.slow
def test_bad_bytes_name_the_field(exported_of: ExportedOf) -> None:
    """A client is told which field of its request is wrong."""
    exported = exported_of("visit")
    (example,) = exported.examples(exported.rows[1:2]).numpy()
    serve = exported.signature()
    for request, message in [
        (unlabelled(example, "scan"), "scan"),
        (unlabelled(example, "tokens"), "tokens"),
        (_with_feature(example, "scan", b"123"), "scan"),
        (_with_feature(example, "photo", b"no picture"), "photo"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            serve(examples=tf.constant([example, request]))


@pytest.mark.slow
def test_a_model_on_some_inputs_with_encoders_of_its_own(
    exported_of: ExportedOf, tmp_path: Path
) -> None:
    """Replaced encoders, a replaced head and a subset of inputs: served as it is."""
    exported = exported_of("visit")
    every = exported.model_module.make_inputs()
    inputs = {name: every[name] for name in ("scan", "title_present")}
    flat = keras.layers.Flatten()(keras.layers.Rescaling(1 / 255)(inputs["scan"]))
    present = keras.ops.cast(inputs["title_present"], "float32")
    joined = keras.layers.Concatenate()([flat, keras.ops.expand_dims(present, -1)])
    model = keras.Model(inputs, keras.layers.Dense(3, "softmax")(joined))
    exported.model_module.export_serving(model, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures
    expected = exported.predicted(model)["kind"]
    (example,) = exported.examples(exported.rows[1:2]).numpy()
    request = unlabelled(example, "kind", "tokens", "photo", "place/town")
    found = served["serving_default"](examples=tf.constant([request]))["kind"]
    np.testing.assert_allclose(found, expected[1:2], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_a_model_loaded_from_a_file_is_served(
    exported_of: ExportedOf, tmp_path: Path
) -> None:
    """`.keras` and SavedModel hold the same model, vocabularies included."""
    exported = exported_of("seen")
    exported.model.save(tmp_path / "model.keras")
    model = keras.models.load_model(tmp_path / "model.keras")
    exported.model_module.export_serving(model, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures
    found = served["serving_default"](examples=exported.examples())
    for name, value in exported.predicted().items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:input .* has the same value:RuntimeWarning")
def test_wrong_models_are_refused(exported_of: ExportedOf, tmp_path: Path) -> None:
    """Before anything is written: not adapted, of other inputs, not even a model."""
    exported = exported_of("visit")
    number = keras.Input((), name="number_of_it")
    path = str(tmp_path / "served")
    for model, place, error, words in (
        (exported.model_module.build_model(), path, RuntimeError, "adapt"),
        (keras.Sequential([keras.layers.Dense(1)]), path, TypeError, None),
        (keras.Model(number, number), path, TypeError, None),
        (keras.Model({"titel": number}, number), path, ValueError, "'titel'"),
        (path, exported.model, TypeError, "str"),
        (path, path, TypeError, "str"),
    ):
        with pytest.raises(error, match=words):
            exported.model_module.export_serving(model, place)
    assert not list(tmp_path.iterdir())


def _small_model(package: Workspace) -> tuple[ModuleType, Any]:
    module = package.module("segmented", "model")
    inputs = module.make_inputs()
    pixels = keras.layers.Rescaling(1 / 255)(inputs["image"])
    return module, keras.Model(inputs, keras.layers.Conv2D(2, 1)(pixels))


def test_what_exists_is_replaced_on_request_only(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """A SavedModel needs overwrite=True; what is none is never touched."""
    module, model = _small_model(package_of(SCHEMA))
    path = tmp_path / "models" / "served"
    module.export_serving(model, path)
    before = (path / "saved_model.pb").stat().st_ino
    with pytest.raises(FileExistsError, match=f"{path}.*overwrite=True"):
        module.export_serving(model, path)
    assert (path / "saved_model.pb").stat().st_ino == before
    with pytest.raises(DatasetError, match="overwrite='no'"):
        module.export_serving(model, path, overwrite="no")
    module.export_serving(model, path, overwrite=True)
    assert (path / "saved_model.pb").stat().st_ino != before
    assert [found.name for found in path.parent.iterdir()] == ["served"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    for place in (mine, mine / "notes.txt"):
        with pytest.raises(FileExistsError, match=str(place)):
            module.export_serving(model, place, overwrite=True)
    assert (mine / "notes.txt").read_text() == "mine"


def test_a_model_is_there_while_another_one_takes_its_place(
    package_of: PackageOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill at any moment leaves one of them; what it leaves otherwise goes next time."""
    module, model = _small_model(package_of(SCHEMA))
    path = tmp_path / "served"
    module.export_serving(model, path)
    states: list[bool] = []
    for name in ("rename", "rmtree"):
        original = getattr(tf.io.gfile, name)

        def looking(*arguments: Any, original: Any = original) -> None:
            states.append((path / "saved_model.pb").exists())
            original(*arguments)
            states.append((path / "saved_model.pb").exists())

        monkeypatch.setattr(tf.io.gfile, name, looking)
    for ending in ("tmp", "old"):
        left = tmp_path / f".served.0123456789ab.{ending}"
        left.mkdir()
        (left / "saved_model.pb").write_bytes(b"of a killed export")
    other = tmp_path / ".served2.0123456789ab.tmp"
    other.mkdir()
    module.export_serving(model, path, overwrite=True)
    assert states == [True] * len(states) != []
    assert {found.name for found in tmp_path.iterdir()} == {"served", other.name}
    assert "serving_default" in tf.saved_model.load(str(path)).signatures


def test_a_link_stays_a_link(package_of: PackageOf, tmp_path: Path) -> None:
    """The model that it leads to is replaced, as often as one likes."""
    module, model = _small_model(package_of(SCHEMA))
    path, link = tmp_path / "models" / "first", tmp_path / "current"
    module.export_serving(model, path)
    link.symlink_to(path)
    for _ in range(2):
        module.export_serving(model, link, overwrite=True)
    assert link.is_symlink()
    assert "serving_default" in tf.saved_model.load(str(link)).signatures
    assert [found.name for found in path.parent.iterdir()] == ["first"]


def test_what_has_come_during_an_export_is_not_replaced(
    package_of: PackageOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, model = _small_model(package_of(SCHEMA))
    path = tmp_path / "served"
    save = tf.saved_model.save

    def meanwhile(*arguments: Any, **options: Any) -> None:
        save(*arguments, **options)
        path.mkdir()
        (path / "notes.txt").write_text("mine")

    monkeypatch.setattr(tf.saved_model, "save", meanwhile)
    with pytest.raises(FileExistsError, match="is not a SavedModel"):
        module.export_serving(model, path, overwrite=True)
    assert (path / "notes.txt").read_text() == "mine"
    assert [found.name for found in tmp_path.iterdir()] == ["served"]


def test_a_failure_leaves_the_old_model(
    package_of: PackageOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export that fails half-way leaves nothing of itself and all that was there."""
    module, model = _small_model(package_of(SCHEMA))
    path = tmp_path / "served"
    module.export_serving(model, path)
    save = tf.saved_model.save

    def save_half(*args: Any, **options: Any) -> None:
        save(*args, **options)
        raise OSError("no space left on device")

    monkeypatch.setattr(tf.saved_model, "save", save_half)
    with pytest.raises(OSError, match="no space left"):
        module.export_serving(model, path, overwrite=True)
    assert [found.name for found in tmp_path.iterdir()] == ["served"]
    assert "serving_default" in tf.saved_model.load(str(path)).signatures


def test_other_backends_do_not_export(
    exported_of: ExportedOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that was trained with one is loaded under tensorflow."""
    exported = exported_of("visit")
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(NotImplementedError, match=r"'tensorflow'.*'jax'"):
        exported.model_module.export_serving(exported.model, tmp_path / "served")
    assert not list(tmp_path.iterdir())
