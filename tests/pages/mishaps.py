"""What goes wrong by hand and with schemagen, as the last table of docs/comparison.md says.

Each function is a line of the table. The program runs next to those of the page.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import by_hand
import numpy as np
import pets
import tensorflow as tf
from generated.pet_photo.pipeline import make_dataset
from generated.pet_photo.serializer import write_dataset

from generated import DatasetError, RecordError


def fails(error, text, call, *arguments, **options):
    said = ""
    try:
        call(*arguments, **options)
    except error as caught:
        said = str(caught)
    assert text in said, said or "no error"
    return said


def read_by_hand(directory):
    """Return all rows: not by `unbatch`, which dies of a batch of empty lists."""
    batches = by_hand.make_dataset(directory, "train")
    return [
        {name: values[index] for name, values in features.items()}
        for features, breed in batches
        for index in range(len(breed))
    ]


def read(data, split="train"):
    return list(make_dataset(data, split, batch_size=1))


def rows(change=None):
    found = list(pets.rows("train"))
    if change is not None:
        change(found[50])
    return found


def both_wrote_the_same():
    hand = [
        features for features, _ in by_hand.make_dataset("by_hand", "test").unbatch()
    ]
    ours = [f for f, _ in make_dataset("data", "test", batch_size=32).unbatch()]
    assert len(hand) == len(ours) == 32
    for one, other in zip(hand, ours, strict=True):
        for name in ("note", "measurements"):
            length = len(np.trim_zeros(one[name].numpy(), "b"))
            np.testing.assert_array_equal(one[name][:length], other[name][:length])
        difference = np.abs(one["photo"].numpy().astype(int) - other["photo"].numpy())
        assert difference.mean() < 8  # two JPEG encoders


def a_missing_list():
    example = tf.train.Example.FromString(by_hand.serialize(rows()[0]))
    del example.features.feature["note"]
    os.makedirs("lists")
    with tf.io.TFRecordWriter("lists/train-00000-of-00001.tfrecord") as writer:
        writer.write(example.SerializeToString())
    [features] = read_by_hand("lists")
    assert features["note"].shape == (0,)
    text = fails(tf.errors.InvalidArgumentError, "note", read, "lists/train-*", None)
    assert "train-00000-of-00001.tfrecord" in text
    assert "record 0" in text


def four_measurements():
    wrong = rows(lambda row: row.update(measurements=row["measurements"][:4]))
    by_hand.write(wrong, "four", "train", 4)
    text = fails(tf.errors.InvalidArgumentError, "measurements", read_by_hand, "four")
    assert "tfrecord" not in text
    text = fails(RecordError, "measurements", write_dataset, wrong, "four_s", "train")
    assert "50" in text


def a_nan():
    def change(row):
        row["measurements"][2] = math.nan

    by_hand.write(rows(change), "nan", "train", 4)
    train = by_hand.make_dataset("nan", "train")
    model = by_hand.build_model(train)
    assert math.isnan(model.evaluate(train, verbose=0)[0])
    text = fails(
        RecordError, "measurements", write_dataset, rows(change), "nan_s", "train"
    )
    assert "50" in text


def a_failure_while_writing():
    def change(row):
        row["breed"] = "poodle"

    fails(ValueError, "poodle", by_hand.write, rows(change), "half", "train", 4)
    assert 0 < len(read_by_hand("half")) < 96
    fails(
        RecordError, "poodle", write_dataset, rows(change), "half_s", "train", shards=4
    )
    assert not list(Path("half_s").glob("*.tfrecord"))


def a_shard_is_missing():
    by_hand.write(rows(), "shard", "train", 4)
    write_dataset(rows(), "shard_s", "train", shards=4)
    for directory in ("shard", "shard_s"):
        Path(directory, "train-00002-of-00004.tfrecord").unlink()
    assert len(read_by_hand("shard")) == 72
    fails(DatasetError, "train-00002-of-00004.tfrecord", read, "shard_s")


def classes_are_sorted():
    by_hand.BREEDS[:] = ["beagle", "tabby", "pug"]
    train = by_hand.make_dataset("by_hand", "train")
    by_hand.build_model(train).fit(train, verbose=0)


def the_schema_changed(schema, again):
    import subprocess

    path = Path("schemas/pet_photo.py")
    text = path.read_text()
    path.write_text(text.replace('("beagle", "pug", "tabby")', schema))
    for command in (["-m", "schemagen", "generate"], ["-c", again]):
        subprocess.run([sys.executable, *command], check=True)
    path.write_text(text)


READ = """
from generated.pet_photo.pipeline import make_dataset
make_dataset("data", "train", batch_size=32)
"""
REFUSED = """
from generated import SchemaMismatchError
from generated.pet_photo.pipeline import make_dataset
try:
    make_dataset("data", "train", batch_size=32)
except SchemaMismatchError as error:
    assert "breed" in str(error) and "tabby" in str(error), error
else:
    raise SystemExit("no error")
"""

both_wrote_the_same()
a_missing_list()
four_measurements()
a_nan()
a_failure_while_writing()
a_shard_is_missing()
classes_are_sorted()
the_schema_changed('("beagle", "tabby", "pug")', REFUSED)
the_schema_changed('("beagle", "pug", "tabby", "siamese")', READ)
print("all is as the page says")
