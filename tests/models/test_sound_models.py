"""A user's task with sound: from files to a model that is trained and served."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import schemagen
import tensorflow as tf
from command_line import run
from sounds import flac, tone, wav

if TYPE_CHECKING:
    from conftest import PackageOf

PITCHES = {"low": 300, "high": 1500}

SCHEMA = """
from typing import Annotated
from schemagen import Audio, Label, Record

class Word(Record):
    sound: Annotated[bytes, Audio(16_000, crop=4_000)]
    pitch: Annotated[int, Label(classes=("low", "high"))]

class Lossless(Record):
    sound: Annotated[bytes, Audio(16_000, channels=2, encoding="flac", dtype="int16", max_seconds=1)]
    pitch: Annotated[int, Label(classes=("low", "high"))]
"""


def sounds(count: int, seed: int) -> list[tuple[str, Any]]:
    random = np.random.default_rng(seed)
    names = random.choice([*PITCHES], count)
    return [
        (name, tone(int(random.integers(2_000, 9_000)), PITCHES[name]))
        for name in names
    ]


@pytest.fixture(scope="module")
def package(package_of: PackageOf) -> Any:
    return package_of(SCHEMA)


@pytest.fixture(scope="module")
def data(package: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hundred WAVs of tones, and some to test with."""
    directory = tmp_path_factory.mktemp("words")
    write = package.module("word", "serializer").write_dataset
    for split, count in (("train", 200), ("test", 20)):
        rows = ({"sound": wav(s), "pitch": name} for name, s in sounds(count, count))
        write(rows, directory, split)
    return directory


def test_a_model_learns_from_sound_and_is_served(
    package: Any, data: Path, tmp_path: Path
) -> None:
    """It tells low from high tones after one epoch, in records of any length."""
    module = package.module("word", "model")
    make_dataset = package.module("word", "pipeline").make_dataset
    keras.utils.set_random_seed(4)
    train = make_dataset(data, "train", batch_size=10, training=True, seed=1)
    test = make_dataset(data, "test", batch_size=20)
    model = module.build_model(optimizer=keras.optimizers.Adam(0.003))
    module.adapt(model, train)
    module.check_dataset(model, train)
    module.check_dataset(model, test)
    model.fit(train, epochs=1, verbose=0)
    _, accuracy = model.evaluate(test, verbose=0)
    assert accuracy > 0.9
    module.export_serving(model, tmp_path / "served")
    serve = tf.saved_model.load(tmp_path / "served").signatures["serving_default"]
    records = [*tf.data.TFRecordDataset([*map(str, data.glob("test*.tfrecord"))])]
    served = serve(examples=tf.stack(records))["pitch"].numpy()
    assert np.allclose(served, model.predict(test, verbose=0), atol=1e-4)


def test_padding_does_not_change_what_a_model_says(package: Any) -> None:
    """The same sound has the same features in batches of any length."""
    model = package.module("word", "model").build_model()
    sound = tone(3 * 128, 700).astype(np.float32).reshape(1, -1, 1)
    longer = np.pad(sound, ((0, 0), (0, 40 * 128), (0, 0)))
    alone, padded = (model({"sound": each}).numpy() for each in (sound, longer))
    assert np.allclose(alone, padded, atol=0.02)
    empty = np.zeros((2, 0, 1), np.float32)
    assert model({"sound": empty}).shape == (2, 2)


def test_flac_trains_and_is_served(package: Any, tmp_path: Path) -> None:
    """Samples of 16 bits are brought to the range of floats; a server takes them alone."""
    rows = [
        {"sound": flac(np.stack([s, s], 1)), "pitch": name} for name, s in sounds(8, 1)
    ]
    package.module("lossless", "serializer").write_dataset(rows, tmp_path, "train")
    make_dataset = package.module("lossless", "pipeline").make_dataset
    module = package.module("lossless", "model")
    train = make_dataset(tmp_path, "train", batch_size=4, training=True)
    model = module.build_model()
    model.fit(train, epochs=1, verbose=0)
    rescaled = next(each for each in model.layers if "rescaling" in each.name)
    assert rescaled.scale == 1 / 32_768
    with pytest.warns(
        RuntimeWarning, match=r"'sound'.*decoded int16.*and no `examples`"
    ):
        module.export_serving(model, tmp_path / "served")
    serve = tf.saved_model.load(tmp_path / "served").signatures["serving_default"]
    assert serve.structured_input_signature[1].keys() == {"sound"}
    ((features, _),) = make_dataset(tmp_path, "train", batch_size=8)
    served = serve(**features)["pitch"]
    assert np.allclose(served, model(features), atol=1e-5)


def test_inspect_and_the_page_say_how_it_sounds(data: Path, tmp_path: Path) -> None:
    """Text states durations; the page has a waveform and a player for each record."""
    text = " ".join(run("inspect", data).output.split())
    assert re.search(r"wav 16,000 Hz, 1 channel; [^;]*; 0\.\d+ to 0\.\d+ s, \d", text)
    totals = [e.value for e in schemagen.inspect(data).facts if e.measure == "total"]
    every = sum(len(s) for count in (200, 20) for _, s in sounds(count, count))
    assert sum(totals) == pytest.approx(every / 16_000)
    page = tmp_path / "page.html"
    run("inspect", data, "--html", page)
    html = page.read_text("utf-8")
    players = re.findall(r'<audio [^>]*src="data:audio/wav;base64,([^"]*)"', html)
    listed = 24 + 20
    assert len(players) >= listed  # more of them where records are repeated
    files = {wav(s) for count in (200, 20) for _, s in sounds(count, count)}
    assert {*map(base64.b64decode, players)} <= files
    # In the list of records, and where one is opened.
    assert html.count('<svg class="wave"') == listed + len(players)
    assert "media-src data:" in html
