"""What names and values say, and which of two readings is the likelier."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemagen
from data.messages import write_file
from pictures import picture

from .inference import found_in, infer, many

RANDOM = np.random.default_rng(18)
SAMPLES = 8


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    """Draw the same numbers in a test, whichever tests run before it."""
    RANDOM.bit_generator.state = np.random.default_rng(18).bit_generator.state


KEYS: dict[str, tuple[str, ...]] = {
    "target": (
        *("label", "labels", "image/class/label", "class_id", "label_idx"),
        *("target", "targets", "y_true", "label_one_hot", "labelOneHot", "bbox"),
        *("bboxes", "start_positions", "masked_lm_ids", "y_train", "target_pose"),
        *("next_sentence_labels", "ground_truth", "rating", "answers/answer_start"),
        *("state/future/x", "transcript", "diagnosis", "output", "gt", "keypoints"),
        *("label_quality", "letters", "taxon", "class_label_id_food", "start_pos_food"),
    ),
    "weight": (
        *("weight", "sample_weight", "example_weights", "is_real_example"),
        *("masked_lm_weights", "class_weight"),
    ),
    "info": (
        *("id", "image_id", "image/filename", "image/key/sha256", "example_ids"),
        *("path", "video_name", "image/source_id", "timestamp", "label_name", "name"),
        *("image/class/text", "url", "base_name", "index", "state/id", "uuid"),
        *("date", "release_date", "test/name", "qid"),
        "image/object/bbox/xmin",  # for which no model has a head
    ),
    "input": (
        *("input_ids", "token_ids", "feat_ids", "ids", "user_id", "movie_id", "age"),
        *("weight_kg", "body_weight", "image/encoded", "x", "classic", "bbox_yaw"),
        *("prev_label_ids", "//", "text", "name_length", "target_size"),
        *("label_length", "labelOrigin", "masked_lm_positions", "mlm_positions"),
    ),
}


@pytest.mark.parametrize("role", KEYS)
def test_a_key_has_the_role_of_public_conventions(tmp_path: Path, role: str) -> None:
    """In any of their spellings, with slashes, underscores or capitals."""
    roles = {}
    for key in KEYS[role]:
        fields, _ = found_in(tmp_path, many(lambda i, key=key: {key: i / 7, "z": 0.5}))
        roles[key] = fields[key].role
    assert roles == dict.fromkeys(KEYS[role], role)


@pytest.mark.parametrize(
    "roles",
    [
        {"x": "input", "y": "input", "label": "target"},
        {"x": "input", "y": "target"},
        {"coarse_label": "target", "fine_label": "target"},
        {"x": "input", "survived": "target"},
        {"survived": "target", "income": "input"},
        {"median_house_value": "target", "median_income": "input", "age": "input"},
        {"tips": "target", "fare": "input"},
        {"mpg": "input", "price": "input"},
        {"previous_score": "input", "x": "input"},
        {"rmsValue": "input", "x": "input"},
    ],
)
def test_a_role_depends_on_the_other_keys(
    tmp_path: Path, roles: dict[str, str]
) -> None:
    """`y` is a coordinate next to a label.

    The likeliest key that is named like the subject of a table is the target.
    """
    keys = [*roles, "z_"]
    rows = many(lambda i: {key: i / (7 + n) for n, key in enumerate(keys)})
    fields, _ = found_in(tmp_path, rows)
    assert {key: fields[key].role for key in roles} == roles


# Values of a key, its kind and role, and what its comment names.
VALUES: list[tuple[str, Callable[[int], Any], str, str, str]] = [
    ("label", lambda i: 100 * (i % 2), "Label", "target", "0, 100 in 30 records"),
    ("label", lambda i: 41_207 + i % 2, "Label", "target", "is 41,208 the highest"),
    ("label", lambda i: i % 5, "Label", "target", "0 to 4 in 30 records"),
    ("label", lambda i: (0, 1, 2, 5)[i % 4], "Label", "target", "0 to 2, 5 in 30"),
    ("survived", lambda i: i % 2, "Label", "target", "the target, by its name?"),
    ("is_fraud", lambda i: i % 2, "Label", "target", "the target, by its name?"),
    ("clicked", lambda i: i % 2, "Label", "target", "0, 1 in 30 records"),
    ("previous_default", lambda i: i % 2, "Scalar", "input", "or a class?"),
    ("k", lambda i: [int(n < i % 3) for n in range(4)], "Vector", "input", ""),
]


@pytest.mark.parametrize("case", range(len(VALUES)))
def test_label_has_the_classes_that_its_values_show(tmp_path: Path, case: int) -> None:
    """There are as many as the highest id says, and one more."""
    key, value, kind, role, said = VALUES[case]
    fields, comments = found_in(tmp_path, many(lambda i: {key: value(i), "z": i / 7}))
    assert (fields[key].kind.kind, fields[key].role) == (kind, role)
    assert said in comments.get(key, "")


@pytest.mark.parametrize(
    ("key", "role"), [("atom_type_id", "input"), ("image_id", "info")]
)
def test_ids_in_lists_are_data_unless_they_are_of_records(
    tmp_path: Path, key: str, role: str
) -> None:
    """A list of atoms has an id each; a list of images names them."""
    fields, _ = found_in(tmp_path, many(lambda i: {key: [i] * (i % 3 + 1)}))
    assert fields[key].role == role


DTYPES: dict[str, Sequence[Callable[[int], Any]]] = {
    "float32": (
        lambda i: RANDOM.normal(size=60),
        lambda i: RANDOM.random(300) * 255,
        lambda i: np.eye(10)[i],
        lambda i: RANDOM.integers(0, 255, 200),
        lambda i: RANDOM.random(100) / 2 + 0.5,
        lambda i: np.where(RANDOM.random(100) < 0.9, 0, RANDOM.random(100)),
        lambda i: np.sin(np.pi * np.arange(40)),
    ),
    "float64": (
        lambda i: RANDOM.normal(size=60),
        lambda i: RANDOM.integers(0, 10, 60),
    ),
    "int64": (
        lambda i: RANDOM.integers(0, 1000, 40),
        lambda i: [i],
        lambda i: RANDOM.integers(-5, 5, 40),
    ),
    "int32": (
        lambda i: RANDOM.integers(0, 60_000, 44),
        lambda i: [i],
        lambda i: RANDOM.integers(-5, 5, 41),
    ),
    "int16": (lambda i: 3000 * np.sin(np.arange(800) / 7) + RANDOM.normal(size=800),),
    "uint16": (lambda i: RANDOM.integers(500, 5000, 300),),
    "uint8": (
        lambda i: RANDOM.integers(0, 256, 3072),
        lambda i: RANDOM.integers(140, 180, 3072),
        lambda i: np.where(RANDOM.random(784) < 0.8, 0, RANDOM.integers(0, 256, 784)),
        lambda i: np.eye(16)[5 * i % 16],
        lambda i: np.insert(RANDOM.integers(0, 256, (400, 3)), 3, 255, axis=1),
        lambda i: np.full(64, 7),
        lambda i: 128 + 40 * np.sin(np.arange(3072) / 30),
    ),
}


def shown(directory: Path, values: Sequence[Any]) -> Any:
    """Return the field that is inferred of raw arrays."""
    rows = [np.asarray(each).tobytes() for each in values]
    fields, _ = found_in(directory, many(lambda i: {"z": rows[i]}, len(rows)))
    return fields["z"].kind


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_dtype_of_raw_numbers_is_seen_by_their_values(
    tmp_path: Path, dtype: str
) -> None:
    """Of distributions that people store, among them the hard ones."""
    stored = np.dtype(dtype).newbyteorder("<")
    found = []
    for values in DTYPES[dtype]:
        some = [np.asarray(values(at)).astype(stored) for at in range(SAMPLES)]
        found.append(shown(tmp_path, some).dtype)
    assert found == [dtype] * len(found)


def spot(height: int, width: int, channels: int) -> np.ndarray:
    """Return a picture of a spot somewhere, with a little noise."""
    down, right = RANDOM.normal(size=2) / 4
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    bright = np.exp(-3 * ((y - down) ** 2 + (x - right) ** 2))[..., np.newaxis]
    noise = RANDOM.integers(0, 30, (height, width, channels))
    found: np.ndarray = bright * RANDOM.integers(50, 200, channels) + noise
    return found.astype(np.uint8)


@pytest.mark.parametrize("shape", [(12, 12, 1), (32, 32, 3)])
def test_square_pictures_are_known_by_their_names(
    tmp_path: Path, shape: tuple[int, int, int]
) -> None:
    """Raw pixels as well as lists of numbers."""
    pictures = [spot(*shape) for _ in range(SAMPLES)]
    rows = many(
        lambda i: {"image": pictures[i].tobytes(), "scan": pictures[i].ravel()}, SAMPLES
    )
    fields, said = found_in(tmp_path, rows)
    kind = fields["image"].kind
    assert (kind.kind, kind.shape) == ("Image", shape)
    assert f"a row of {np.prod(shape):,}" in said["image"]
    assert fields["scan"].kind.shape == (shape if shape[2] > 1 else shape[:2])
    assert "in another order" in said["scan"]


ROWS: dict[str, Callable[[], Any]] = {
    "noise": lambda: RANDOM.integers(0, 256, 784),
    "wave": lambda: 128 + np.sin(np.arange(784) / RANDOM.integers(15, 40)) * 100,
    "walk": lambda: np.cumsum(RANDOM.integers(-1, 2, 784)) + 128,
    "sparse": lambda: np.where(RANDOM.random(784) < 0.9, 0, 1),
    "zeros": lambda: np.zeros(784),
}


@pytest.mark.parametrize("row", ROWS)
def test_rows_of_numbers_are_no_pictures(tmp_path: Path, row: str) -> None:
    """Also where numbers next to each other are alike, as in sound."""
    values = [ROWS[row]().astype(np.uint8) for _ in range(SAMPLES)]
    assert shown(tmp_path, values).kind == "Vector"


# Rows, and the keys that the class's comments offer as a target or an answer.
LACKING: list[tuple[Callable[[int], dict[str, Any]], tuple[str, ...]]] = [
    (
        lambda i: {"Age": i, "Sex": i % 2, "Survived_Passenger": i // 2 % 2},
        ("'Survived_Passenger', 'Sex', 'Age'", 'role="target"'),
    ),
    (
        lambda i: {"image": picture(4, 5), "bbox/xmin": [i / 30] * (i % 3 + 1)},
        ("'bbox/xmin'",),
    ),
    (lambda i: {"filename": f"{i}.jpg"}, ("'filename'", 'role="input"')),
    (
        lambda i: {"name": "a", "labels": [i / 7] * 40, "id": i, "box": [i / 7] * 4},
        ("is it 'id', 'name'?", 'role="input"'),
    ),
    (
        lambda i: {"x": bytes([255]) * (i + 1), "label": i % 2},
        ("it may be 'x', whose bytes are not understood",),
    ),
    (
        lambda i: {"name": f"a{i}", "bbox/xmin": [0.5] * (i % 3 + 1), "label": i % 2},
        ("is it 'name'?",),
    ),
    (lambda i: {"label": i % 2}, ("no other field has values that",)),
    (
        lambda i: {
            **{"a": i % 3, "b": i % 5, "t": [1] * (i % 3 + 1), "image": picture(4, 5)},
            **{"token": i % 2, "height": i % 2, "num_rows": i, "day": i, "mpg": i},
            **{"income": i, "quality": i, "score": i, "salary": i, "price": i},
        },
        ("is it 'mpg', 'price', 'quality', 'salary', 'score', 'income' and 2 more?",),
    ),
]


@pytest.mark.parametrize(("row", "parts"), LACKING)
def test_a_role_that_only_a_person_knows_is_a_doubt(
    tmp_path: Path, row: Callable[[int], dict[str, Any]], parts: tuple[str, ...]
) -> None:
    """The likeliest column first."""
    _, said = found_in(tmp_path, many(row))
    assert [part for part in parts if part not in said[""]] == []


def test_lists_that_are_absent_together_are_a_group(tmp_path: Path) -> None:
    """And those that are absent in more records join them."""

    def row(at: int) -> dict[str, Any]:
        corners = dict.fromkeys(("box/xmin", "box/xmax"), [0.5] * (at % 3 + 1))
        labels = {"box/label": [1] * (at % 3 + 1)} if at % 2 else {}
        return {"z": 0.5} | (corners | labels if at % 5 else {})

    fields, _ = found_in(tmp_path, many(row))
    groups = {fields[key].kind.group for key in row(1) if key != "z"}
    assert len(groups) == 1
    assert None not in groups


@pytest.mark.parametrize("key", ["label", "clicked", "rating", "quality", "is_spam"])
def test_what_zeros_and_ones_are_is_asked_once(tmp_path: Path, key: str) -> None:
    """Whatever rules look at them."""
    _, said = found_in(tmp_path, many(lambda i: {key: i % 2, "z": i / 7}))
    assert len(re.findall("class|highest id|target, by its name", said[key])) < 3
    assert "or a class?" not in said[key] or "highest" not in said[key]


@pytest.mark.parametrize(
    ("ids", "with_picture", "expected"),
    [
        ([0, 1, 1, 255], True, (2, 255, "target")),
        ([0, 1, 1, 2], False, (3, None, "info")),
    ],
)
def test_a_raw_mask_has_its_classes(
    tmp_path: Path, ids: list[int], with_picture: bool, expected: tuple[Any, ...]
) -> None:
    """255 is the border; without a picture of its size a mask is no target."""
    pixels = np.array(ids * 20, np.uint8)
    photo = {"image_raw": spot(8, 10, 3).tobytes()} if with_picture else {}
    fields, _ = found_in(
        tmp_path,
        many(
            lambda i: {
                **{"height": 8, "width": 10, "mask_raw": np.roll(pixels, i).tobytes()},
                **photo,
            }
        ),
    )
    mask = fields["mask_raw"]
    assert mask.kind.kind == "Mask"
    assert (mask.kind.num_classes, mask.kind.ignore, mask.role) == expected


def test_bytes_of_another_size_are_found_by_verify(tmp_path: Path) -> None:
    """Also where nothing says what they hold."""
    noise = [RANDOM.bytes(64) for _ in range(8)]
    data = write_file(tmp_path / "a.tfrecord", many(lambda i: {"blob": noise[i]}, 8))
    spec = infer(data, tmp_path / "x.py").spec
    assert schemagen.verify(data, record=spec).clean
    write_file(data, many(lambda i: {"blob": noise[i][:32]}, 8))
    assert not schemagen.verify(data, record=spec).clean


def test_a_reading_that_is_not_finite_is_declared_so(tmp_path: Path) -> None:
    """Or `verify` would find what the data always was."""
    values = RANDOM.normal(size=(30, 20)).astype("<f4")
    values[25, 3] = np.nan
    data = write_file(
        tmp_path / "a", many(lambda i: {"x": values[i].tobytes(), "y": i / 7})
    )
    found = infer(data, tmp_path / "x.py")
    assert "finite=False" in found.text
    assert schemagen.verify(data, record=found.spec).clean
