"""Generated code with the installed versions: `make test-versions` runs this in each pair.

What it shows of each pair of versions is the table in docs/versions.md.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import ModuleOf

pytestmark = [
    pytest.mark.integration,
    # Those of other packages, about versions of Python and numpy to come.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:input .* has the same value:RuntimeWarning"),
]

ROWS = range(12)


def keras_of(minimum: tuple[int, int]) -> Any:
    """Return Keras; skips the test where it is older."""
    keras = pytest.importorskip("keras")
    if tuple(map(int, keras.__version__.split(".")[:2])) < minimum:
        pytest.skip(f"Keras {keras.__version__}")
    return keras


@pytest.fixture(scope="session")
def data(module_of: ModuleOf, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for each record, each with the rows above."""
    from every_kind import clip, every, small

    root = tmp_path_factory.mktemp("data")
    for record, row in (("every", every), ("clip", clip), ("small", small)):
        write_dataset = module_of(record, "serializer").write_dataset
        write_dataset(map(row, ROWS), root / record, "train", shards=2)
    return root


@pytest.fixture(scope="session")
def fields(module_of: ModuleOf) -> list[str]:
    """The fields of the record of every kind that the installed Keras takes."""
    keras = keras_of((3, 5))
    model = module_of("every", "model")
    kinds = {
        given.field or name: given.only_tensorflow
        for name, given in model.INPUTS.items()
    }
    if tuple(map(int, keras.__version__.split(".")[:2])) >= (3, 9):
        return list(kinds)
    with pytest.raises(ValueError, match=r"from Keras 3\.9 on only: leave them out"):
        model.build_model()
    return [name for name, kind in kinds.items() if "ragged" not in kind]


def read(module_of: ModuleOf, data: Path, record: str, **options: Any) -> Any:
    make_dataset = module_of(record, "pipeline").make_dataset
    return make_dataset(data / record, "train", batch_size=4, **options)


def test_every_kind_is_written_and_read(module_of: ModuleOf, data: Path) -> None:
    """Each row comes back once, with its values."""
    from every_kind import every

    names = ("photo", "vector", "film", "spots", "tokens", "words", "lists", "bag")
    found = {}
    for features, targets, _, info in read(module_of, data, "every", info=True):
        columns = {name: features[name] for name in names}
        columns["bag"] = tf.sparse.to_dense(columns["bag"])
        for at, number in enumerate(info["number"].numpy()):
            found[int(number)] = {name: column[at] for name, column in columns.items()}
            assert targets["kind"][at] == number % 7
    assert sorted(found) == list(ROWS)
    for number, values in found.items():
        row = every(number)
        np.testing.assert_array_equal(values["photo"], row["photo"])
        np.testing.assert_array_equal(values["vector"], row["vector"])
        np.testing.assert_array_equal(
            values["film"][0], tf.io.decode_png(row["film"][0])
        )
        np.testing.assert_array_equal(values["spots"].numpy(), row["spots"])
        assert values["tokens"].numpy().tolist()[: len(row["tokens"])] == row["tokens"]
        assert values["words"].numpy().tolist()[: len(row["words"])] == [
            word.encode() for word in row["words"]
        ]
        assert values["lists"].to_list() == row["lists"]
        assert values["bag"].numpy().tolist() == [
            row["bag"].get(at, 0) for at in range(9)
        ]


def test_sequences_are_written_and_read(module_of: ModuleOf, data: Path) -> None:
    """Steps come back in their order."""
    from every_kind import clip

    for features, _, info in read(module_of, data, "clip", info=True):
        for at, number in enumerate(info["number"].numpy()):
            speeds = clip(int(number))["speeds"]
            assert features["speeds"][at].numpy().tolist()[: len(speeds)] == speeds
            poses = clip(int(number))["poses"]
            np.testing.assert_array_equal(features["poses"][at].numpy(), poses)


def test_training_data_is_shuffled_repeated_and_shared(
    module_of: ModuleOf, data: Path
) -> None:
    """Each of two readers gets half of the records, in an order of each epoch."""
    seen = []
    for index in range(2):
        options = {"shard": (index, 2), "seed": 1, "cache": True}
        mine = read(module_of, data, "small", training=True, repeat=2, **options)
        numbers = [int(n) for features, _ in mine for n in features["number"].numpy()]
        assert len(numbers) == len(ROWS)
        seen += numbers
    assert sorted(seen) == sorted([*ROWS, *ROWS])


def test_a_damaged_record_is_an_error_or_left_out(
    module_of: ModuleOf, data: Path, tmp_path: Path
) -> None:
    """The error names the file and the record; the other records are read."""
    copy = tmp_path / "small"
    shutil.copytree(data / "small", copy)
    damaged = copy / "train-00000-of-00002.tfrecord"
    content = bytearray(damaged.read_bytes())
    content[20] ^= 255
    damaged.write_bytes(content)
    with pytest.raises(Exception, match=rf"{damaged.name}.*record 0"):
        list(read(module_of, tmp_path, "small"))
    some = read(module_of, tmp_path, "small", on_corrupt="skip")
    numbers = [int(n) for features, _ in some for n in features["number"].numpy()]
    assert len(numbers) == len(ROWS) - 1


def test_a_compiled_model_trains(module_of: ModuleOf, data: Path) -> None:
    """A step of `fit` is a graph, which XLA compiles where it can."""
    keras_of((3, 5))
    module = module_of("small", "model")
    dataset = read(module_of, data, "small")
    model = module.build_model()
    module.adapt(model, dataset)
    assert np.isfinite(model.fit(dataset, verbose=0).history["loss"]).all()
    assert model.predict(dataset, verbose=0).shape == (len(ROWS), 7)


@pytest.fixture(scope="session")
def dataset(module_of: ModuleOf, data: Path, fields: list[str]) -> Any:
    """Batches of the record of every kind, as the model below takes them."""
    return read(module_of, data, "every", fields=fields)


@pytest.fixture(scope="session")
def trained(module_of: ModuleOf, dataset: Any, fields: list[str]) -> Any:
    """A model that has seen data, after one epoch."""
    module = module_of("every", "model")
    model = module.build_model(fields=fields)
    module.check_dataset(model, dataset)
    module.adapt(model, dataset)
    model.run_eagerly = True  # compiling so many layers takes a minute
    losses = model.fit(dataset, epochs=1, verbose=0).history
    assert np.isfinite(list(losses.values())).all()
    return model


@pytest.fixture(scope="session")
def features(dataset: Any) -> Any:
    """A batch for the model above."""
    (element,) = dataset.take(1)
    return element[0]


def test_a_model_of_every_kind_adapts_and_trains(trained: Any) -> None:
    """With what this Keras takes; means and vocabularies are those of the data."""
    assert trained.get_layer("truth_normalization").adapt_mean.shape == (1,)
    indices = trained.get_layer("tokens_vocabulary")(np.array([[-7, 0, 1, 99]]))
    assert np.array(indices)[0, 0] == 0
    assert np.array(indices)[0, 3] == 1
    assert (np.array(indices)[0, 1:3] > 1).all()


def test_a_model_is_saved_and_loaded(
    trained: Any, features: Any, tmp_path: Path
) -> None:
    """It predicts the same, vocabularies included."""
    keras = keras_of((3, 5))
    trained.save(tmp_path / "every.keras")
    expected = trained(features)
    loaded = keras.models.load_model(tmp_path / "every.keras")
    for name, found in loaded(features).items():
        np.testing.assert_allclose(found, expected[name], rtol=1e-5, atol=1e-6)


def test_an_exported_model_is_served(
    trained: Any, module_of: ModuleOf, tmp_path: Path, capfd: Any
) -> None:
    """From serialized records, silently while it is written."""
    from every_kind import every

    serialize = module_of("every", "serializer").serialize
    parse_batch = module_of("every", "parser").parse_batch
    module_of("every", "model").export_serving(trained, tmp_path / "served")
    assert "Saved artifact" not in capfd.readouterr().out
    records = tf.constant([serialize(**every(number)) for number in range(3)])
    served = tf.saved_model.load(str(tmp_path / "served")).signatures
    found = served["serving_default"](examples=records)
    parsed = parse_batch(records)
    flat = {
        name: parsed["place"][name.removeprefix("place_")]
        if name.startswith("place_")
        else parsed[name]
        for name in trained.input
    }
    for name, expected in trained(flat).items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-4, atol=1e-5)


def test_a_head_is_replaced(module_of: ModuleOf, data: Path) -> None:
    """By name, whatever its last layer is called; losses are weighted by name."""
    keras = keras_of((3, 5))
    dataset = read(module_of, data, "every", fields=["photo", "tokens"])
    module = module_of("every", "model")
    model = module.build_model(
        fields=["photo", "tokens"],
        head={"price": keras.layers.Dense(1, name="mine")},
        loss_weights={"things": 0.5},
    )
    module.adapt(model, dataset)
    model.run_eagerly = True
    found = model.evaluate(dataset, verbose=0, return_dict=True)
    assert {"kind_loss", "price_loss"} <= set(found)


def test_scaled_pixels_are_refused(trained: Any, features: Any) -> None:
    """By the trained model too."""
    scaled = {**features, "photo": tf.cast(features["photo"], tf.float32) / 255}
    with pytest.raises(ValueError, match=r"'photo': found 0\.\d+ in float32, expected"):
        trained.predict(scaled, verbose=0)


def test_models_need_keras_3(module_of: ModuleOf) -> None:
    """An older one is refused at the import of a model, with the versions that are needed."""
    keras: ModuleType = pytest.importorskip("keras")
    if keras.__version__.startswith("3."):
        assert module_of("every", "model").INPUTS
    else:
        with pytest.raises(
            ImportError, match=r"found Keras 2.*need Keras 3\.5 or later"
        ):
            module_of("every", "model")
