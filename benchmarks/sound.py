"""Reading sound: both readers, and by hand with soundfile and tf.audio.

python -m benchmarks.sound prints the median time of each way as a ratio to that by hand. The
ways take turns, in one process.
"""

from __future__ import annotations

import importlib
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import tensorflow as tf

RATE, SECONDS, RECORDS, BATCH, ROUNDS = 16000, 2, 600, 50, 5

_SCHEMA = """
from typing import Annotated

from schemagen import Audio, Record


class Sound(Record):
    sound: Annotated[bytes, Audio({rate}, encoding={encoding!r})]
    number: int
"""


def _rows() -> Iterator[dict[str, Any]]:
    chance = np.random.default_rng(0)
    for number in range(RECORDS):
        noise = chance.normal(0, 200, RATE * SECONDS)
        tone = 8000 * np.sin(np.arange(RATE * SECONDS) * chance.uniform(0.01, 0.2))
        yield {"sound": (noise + tone).astype(np.int16), "number": number}


def _by_soundfile(path: str) -> None:
    """Read with soundfile, one file after the other, and stack batches."""
    batch = []
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
        features = tf.train.Example.FromString(record).features.feature
        data = features["sound"].bytes_list.value[0]
        batch.append(soundfile.read(io.BytesIO(data), dtype="float32")[0])
        if len(batch) == BATCH:
            np.stack(batch)
            batch = []


def _by_tensorflow(path: str) -> tf.data.Dataset:
    """Return a dataset with tf.audio.decode_wav, as an expert writes it."""
    description = {"sound": tf.io.FixedLenFeature((), tf.string)}

    def parse(record: Any) -> Any:
        data = tf.io.parse_single_example(record, description)["sound"]
        return tf.audio.decode_wav(data).audio

    dataset = tf.data.TFRecordDataset(path).map(parse, tf.data.AUTOTUNE)
    return dataset.padded_batch(BATCH).prefetch(tf.data.AUTOTUNE)


def _exhaust(batches: Any) -> None:
    for _ in batches:
        pass


def _measure(encoding: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        Path("schemas").mkdir()
        Path("pyproject.toml").write_text(
            '[tool.schemagen]\noutput = "bench_sound"\n', encoding="utf-8"
        )
        schema = _SCHEMA.format(rate=RATE, encoding=encoding)
        Path("schemas/sound.py").write_text(schema, encoding="utf-8")
        subprocess.run([sys.executable, "-m", "schemagen", "generate"], check=True)
        sys.path.insert(0, directory)
        part = "bench_sound.sound"
        write_dataset = importlib.import_module(f"{part}.serializer").write_dataset
        open_split = importlib.import_module(f"{part}.reader").open_split
        make_dataset = importlib.import_module(f"{part}.pipeline").make_dataset
        write_dataset(_rows(), "data", "train", shards=1)
        (path,) = map(str, Path("data").glob("*.tfrecord"))
        split = open_split("data", "train")
        dataset = make_dataset("data", "train", batch_size=BATCH)
        by_hand = _by_tensorflow(path)
        ways: dict[str, Callable[[], object]] = {
            "soundfile": lambda: _by_soundfile(path),
            "open_split": lambda: _exhaust(split.batches(BATCH)),
            "make_dataset": lambda: _exhaust(dataset),
        }
        if encoding == "wav":
            ways["tf.audio"] = lambda: _exhaust(by_hand)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for way in ways.values():  # the first epoch also makes graphs
            way()
        for _ in range(ROUNDS):
            for name, way in ways.items():
                start = time.perf_counter()
                way()
                times[name].append(time.perf_counter() - start)
        medians = {name: statistics.median(each) for name, each in times.items()}
        for name, median in medians.items():
            rate, ratio = RECORDS / median, median / medians["soundfile"]
            print(f"{encoding} {name}: {rate:,.0f} records/s, {ratio:.2f} of soundfile")


if __name__ == "__main__":
    _measure(sys.argv[1] if sys.argv[1:] else "wav")
