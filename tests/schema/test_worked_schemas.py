"""The three schemas of this repository and the data that goes with them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from palmerpenguins import load_penguins_raw
from PIL import Image as Pillow
from sklearn.datasets import load_digits

from demo import digits, penguins, photos
from generated.digit import parser as digit_parser
from generated.digit import pipeline as digit_pipeline
from generated.digit import serializer as digit_serializer
from generated.penguin import parser as penguin_parser
from generated.penguin import pipeline as penguin_pipeline
from generated.penguin import serializer as penguin_serializer
from generated.photo import parser as photo_parser
from generated.photo import pipeline as photo_pipeline
from generated.photo import serializer as photo_serializer
from schemas.digit import Digit
from schemas.penguin import Penguin
from schemas.photo import Photo

SOURCES = {"digit": digits, "penguin": penguins, "photo": photos}
CLASSES = {"digit": Digit, "penguin": Penguin, "photo": Photo}
PARSERS = {"digit": digit_parser, "penguin": penguin_parser, "photo": photo_parser}
WRITERS = {
    "digit": digit_serializer.write_dataset,
    "penguin": penguin_serializer.write_dataset,
    "photo": photo_serializer.write_dataset,
}
SPLITS = ("train", "test")


@dataclass(frozen=True)
class Stored:
    """A split on disk: the rows it was written from, and what it holds.

    Attributes:
        rows: what was written.
        serialized: the records, in the same order.
        batch: what the generated parser makes of them all.
    """

    rows: list[dict[str, Any]]
    serialized: list[bytes]
    batch: dict[str, np.ndarray]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with each record's data, written by the generated writers."""
    root = tmp_path_factory.mktemp("data")
    for record, source in SOURCES.items():
        for split, rows in source.rows().items():
            WRITERS[record](rows, root / record, split, shards=1)
    return root


@pytest.fixture(scope="module")
def stored(data: Path) -> dict[tuple[str, str], Stored]:
    """Each split of each record, read back."""
    found = {}
    for record, source in SOURCES.items():
        rows = source.rows()
        for split in SPLITS:
            (path,) = map(str, (data / record).glob(f"{split}-*"))
            serialized = list(tf.data.TFRecordDataset(path).as_numpy_iterator())
            batch = PARSERS[record].parse_batch(tf.constant(serialized))
            found[record, split] = Stored(
                rows[split],
                serialized,
                {name: tensor.numpy() for name, tensor in batch.items()},
            )
    return found


def both(
    stored: dict[tuple[str, str], Stored], record: str, field: str
) -> Iterator[Any]:
    """Yield a field's values in train and then in test."""
    for split in SPLITS:
        yield from stored[record, split].batch[field]


# --- What is written is what is in the source -------------------------------------


@pytest.mark.parametrize("record", SOURCES)
def test_every_row_of_the_sources_is_a_valid_record(record: str) -> None:
    """The schema's class accepts all that the demo writes."""
    for rows in SOURCES[record].rows().values():
        for row in rows:
            CLASSES[record](**row)


@pytest.mark.parametrize("record", SOURCES)
def test_a_field_too_few_is_refused(record: str) -> None:
    """The rows are as complete as they have to be: without its target none passes."""
    row = SOURCES[record].rows()["test"][0]
    target = {"digit": "digit", "penguin": "species", "photo": "photograph"}[record]
    del row[target]
    with pytest.raises(ValueError, match=f"{target}\n  Field required"):
        CLASSES[record](**row)


@pytest.mark.slow
def test_digits_are_the_scans_of_the_source(
    stored: dict[tuple[str, str], Stored],
) -> None:
    """Image and label of all 1,797 records equal the source's arrays."""
    source = load_digits()
    scans = list(both(stored, "digit", "scan"))
    assert sorted(scans) == list(range(1797))
    images = np.stack(list(both(stored, "digit", "image")))
    assert images.shape == (1797, 8, 8, 1)
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(images[..., 0], source.images[scans] * 15)
    np.testing.assert_array_equal(
        list(both(stored, "digit", "digit")), source.target[scans]
    )


@pytest.mark.parametrize("split", SPLITS)
def test_what_digits_derive_comes_from_the_scan_beside_it_alone(
    stored: dict[tuple[str, str], Stored], split: str
) -> None:
    """Runs and moments, worked out again from each stored image, are as stored."""
    batch = stored["digit", split].batch
    for image, runs, moments in zip(
        batch["image"][..., 0], batch["ink_runs"], batch["moments"], strict=True
    ):
        expected = [
            len(list(run))
            for row in image
            for is_ink, run in groupby(row >= 120)
            if is_ink
        ]
        assert [run for run in runs if run] == expected
        weights = image / image.sum()
        down = sum(weights[i].sum() * i for i in range(8))
        right = sum(weights[:, i].sum() * i for i in range(8))
        spread_down = math.sqrt(
            sum(weights[i].sum() * (i - down) ** 2 for i in range(8))
        )
        assert moments[:4] == pytest.approx(
            [image.sum() / (240 * 64), down, right, spread_down], rel=1e-5
        )


def words_of(comment: str) -> tuple[str, ...]:
    """Split a comment into words, in another way than the demo."""
    kept = "".join(c if c.isalnum() else " " for c in comment.lower())
    return tuple(kept.split())


def test_penguins_are_the_rows_of_the_raw_table(
    stored: dict[tuple[str, str], Stored],
) -> None:
    """Every value of every bird comes back, the missing ones as missing."""
    columns = [
        "Culmen Length (mm)",
        "Culmen Depth (mm)",
        "Flipper Length (mm)",
        "Body Mass (g)",
        "Delta 15 N (o/oo)",
        "Delta 13 C (o/oo)",
    ]
    expected: Counter[tuple[Any, ...]] = Counter()
    for row in load_penguins_raw().to_dict("records"):
        comment = row["Comments"] if isinstance(row["Comments"], str) else None
        expected[
            row["Species"].split(" ")[0],
            row["Island"],
            row["Individual ID"],
            tuple(str(np.float32(row[column])) for column in columns),
            {"FEMALE": 0, "MALE": 1}.get(row["Sex"], -1),
            row["Clutch Completion"] == "Yes",
            comment,
            words_of(comment or ""),
        ] += 1
    found: Counter[tuple[Any, ...]] = Counter()
    for split in SPLITS:
        batch = stored["penguin", split].batch
        for i in range(len(batch["species"])):
            measured = (
                batch[name][i]
                for name in (
                    "bill_length_mm",
                    "bill_depth_mm",
                    "flipper_length_mm",
                    "body_mass_g",
                    "delta_15_n",
                    "delta_13_c",
                )
            )
            found[
                ("Adelie", "Chinstrap", "Gentoo")[batch["species"][i]],
                ("Biscoe", "Dream", "Torgersen")[batch["island"][i]],
                batch["individual"][i].decode(),
                tuple(map(str, measured)),
                int(batch["sex"][i]),
                bool(batch["full_clutch"][i]),
                batch["comment"][i].decode() if batch["comment_present"][i] else None,
                tuple(word.decode() for word in batch["comment_words"][i] if word),
            ] += 1
    assert found == expected
    assert expected.total() == 344


def test_missing_measurements_come_through_as_nan(
    stored: dict[tuple[str, str], Stored],
) -> None:
    """As many values are missing as in the source, and the label knows -1 for none."""
    missing = {
        name: sum(map(math.isnan, both(stored, "penguin", name)))
        for name in ("bill_length_mm", "body_mass_g", "delta_15_n", "delta_13_c")
    }
    assert missing == {
        "bill_length_mm": 2,
        "body_mass_g": 2,
        "delta_15_n": 14,
        "delta_13_c": 13,
    }
    assert list(both(stored, "penguin", "sex")).count(-1) == 11


def test_a_bird_without_comment_has_a_sequence_of_length_zero(
    stored: dict[tuple[str, str], Stored],
) -> None:
    """The empty sequence is written as a value of its own; the comment is left out."""
    empty = 0
    for split in SPLITS:
        found = stored["penguin", split]
        for row, serialized in zip(found.rows, found.serialized, strict=True):
            feature = tf.train.Example.FromString(serialized).features.feature
            assert feature["comment_words"].WhichOneof("kind") == "bytes_list"
            words = feature["comment_words"].bytes_list.value
            assert list(words) == [word.encode() for word in row["comment_words"]]
            assert ("comment" in feature) == bool(words)
            empty += not words
    assert empty == 290


@pytest.mark.parametrize("split", SPLITS)
def test_photos_keep_their_size_on_disk_and_get_one_size_when_read(
    stored: dict[tuple[str, str], Stored], split: str
) -> None:
    """The JPEG has the size of the cut; the batch is 48x48 and shows the same."""
    found = stored["photo", split]
    assert found.batch["crop"].shape == (len(found.rows), 48, 48, 3)
    assert found.batch["crop"].dtype == np.uint8
    sizes = set()
    for i, serialized in enumerate(found.serialized):
        feature = tf.train.Example.FromString(serialized).features.feature
        (jpeg,) = feature["crop"].bytes_list.value
        top, left, height, width = found.batch["box"][i]
        name = photos.NAMES[found.batch["photograph"][i]]
        cut = photos.photographs()[name][top : top + height, left : left + width]
        pixels = np.asarray(Pillow.open(BytesIO(jpeg)))
        assert pixels.shape == (height, width, 3)
        assert abs(pixels.astype(float) - cut).mean() < 6
        assert found.batch["crop"][i].mean((0, 1)) == pytest.approx(
            cut.mean((0, 1)), abs=4
        )
        sizes.add((height, width))
    assert len(sizes) > len(found.rows) / 2


# --- Nothing leaks from the training data into the held-out data ------------------


def test_no_scan_of_digits_is_in_train_and_test(
    stored: dict[tuple[str, str], Stored],
) -> None:
    """Neither by number nor by what is on it; and the split keeps the proportions."""
    train, test = (stored["digit", split].batch for split in SPLITS)
    assert not set(train["scan"]) & set(test["scan"])
    pictures = [{image.tobytes() for image in b["image"]} for b in (train, test)]
    assert not pictures[0] & pictures[1]
    share = np.bincount(test["digit"]) / (
        np.bincount(train["digit"]) + np.bincount(test["digit"])
    )
    assert share == pytest.approx(0.25, abs=0.01)


def test_no_nest_of_penguins_is_in_train_and_test(
    stored: dict[tuple[str, str], Stored],
) -> None:
    """Mates, and birds found again in another year, are on one side."""
    nests = {}
    for split in SPLITS:
        batch = stored["penguin", split].batch
        nests[split] = {
            (species, individual.decode().split("A")[0])
            for species, individual in zip(
                batch["species"], batch["individual"], strict=True
            )
        }
    assert not nests["train"] & nests["test"]
    species = [
        np.bincount(stored["penguin", split].batch["species"]) for split in SPLITS
    ]
    assert species[1] / (species[0] + species[1]) == pytest.approx(0.25, abs=0.03)


def test_no_pixel_of_photos_is_in_train_and_test(
    stored: dict[tuple[str, str], Stored],
) -> None:
    """The lowest row that train has of a photograph is above test's highest."""
    boxes = {split: stored["photo", split].batch["box"] for split in SPLITS}
    train, test = boxes["train"], boxes["test"]
    assert (train[:, 0] + train[:, 2]).max() <= test[:, 0].min()


@pytest.mark.parametrize(
    ("record", "pipeline", "inputs"),
    [
        ("digit", digit_pipeline, {"image", "ink_runs", "moments"}),
        ("photo", photo_pipeline, {"crop"}),
        (
            "penguin",
            penguin_pipeline,
            {
                "bill_length_mm",
                "bill_depth_mm",
                "flipper_length_mm",
                "body_mass_g",
                "delta_15_n",
                "delta_13_c",
                "sex",
                "full_clutch",
                "comment",
                "comment_present",
                "comment_words",
            },
        ),
    ],
    ids=["digit", "photo", "penguin"],
)
def test_what_would_tell_the_answer_is_no_input(
    data: Path, record: str, pipeline: Any, inputs: set[str]
) -> None:
    """A model gets neither the island, nor a bird's or a scan's number, nor a box."""
    dataset = pipeline.make_dataset(data / record, "test", batch_size=8)
    features, _ = dataset.element_spec
    assert set(features) == inputs
