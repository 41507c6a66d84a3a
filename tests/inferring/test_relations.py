"""Keys that copy the target, measure other keys, or name their record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from data.messages import example, sequence_example, write_file
from pictures import picture

from .inference import found_in, infer, many

NAMES = ("beagle", "pug", "tabby", "siamese", "manx")
KINDS = ("dog", "dog", "cat", "cat", "cat")
RECORDS = 60

_RANDOM = np.random.default_rng(64)
_IDS = _RANDOM.integers(0, len(NAMES), RECORDS).tolist()
_LENGTHS = _RANDOM.integers(1, 9, RECORDS).tolist()


def row(at: int, **more: Any) -> dict[str, Any]:
    """Return a record with a label, a feature of noise, and further keys."""
    noise = np.random.default_rng(at).normal()
    return {"label": _IDS[at], "size": float(noise + _IDS[at] / 5)} | more


# What a key holds of a record, and what its doubt says of the target.
COPIES: dict[str, tuple[Callable[[int], Any], str]] = {
    "text": (lambda i: NAMES[_IDS[i]], "one to one with the target 'label'"),
    "one-hot": (lambda i: [int(n == _IDS[i]) for n in range(5)], "one to one"),
    "float": (lambda i: float(_IDS[i]), "one to one"),
    "fractions": (lambda i: _IDS[i] / 4.5, "one to one"),
    "another id": (lambda i: 900 - 7 * _IDS[i], "5 values in 60 records"),
    "coarse": (
        lambda i: KINDS[_IDS[i]],
        "'label' determines it: each of 5 values goes with",
    ),
    "flag": (lambda i: int(_IDS[i] == 2), "'label' determines it"),
    "fine": (lambda i: 2 * _IDS[i] + i % 2, "each of its 10 values goes with one of"),
}


@pytest.mark.parametrize("case", COPIES)
def test_a_copy_of_the_target_is_info_with_a_doubt(tmp_path: Path, case: str) -> None:
    """Under a key that says nothing of it."""
    value, said = COPIES[case]
    rows = [example(row(i, z=value(i))) for i in range(RECORDS)]
    fields, comments = found_in(tmp_path, rows)
    assert (fields["z"].role, fields["size"].role) == ("info", "input")
    assert said in comments["z"]
    assert "the answer away" in comments["z"]


# What is an input in spite of the target.
OTHERS: dict[str, Callable[[int], Any]] = {
    "noisy": lambda i: NAMES[_IDS[i] if i % 9 else 0],
    "unique text": lambda i: f"a {NAMES[_IDS[i]]} that is number {i}",
    "independent": lambda i: i % 3,
    "measured": lambda i: _IDS[i] + i / 99,
    "constant": lambda i: "x",
    "tokens": lambda i: [_IDS[i], i, 7],
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_only_goes_with_the_target_is_an_input(tmp_path: Path, case: str) -> None:
    """As it should: it is what a model learns from."""
    rows = [example(row(i, z=OTHERS[case](i))) for i in range(RECORDS)]
    fields, comments = found_in(tmp_path, rows)
    assert fields["z"].role == "input"
    assert "the answer away" not in comments.get("z", "")


@pytest.mark.parametrize("count", [4, 8])
def test_few_records_tell_no_copy(tmp_path: Path, count: int) -> None:
    """As any two keys go together in them."""
    rows = many(lambda i: {"label": i % 2, "z": 5 - i % 2, "x": i / 7}, count)
    fields, _ = found_in(tmp_path, rows)
    assert fields["z"].role == "input"


def test_copies_of_whole_records_tell_nothing(tmp_path: Path) -> None:
    """Two records, written again and again."""
    rows = many(lambda i: {"label": i % 2, "x": [i % 2, 3, 4], "t": f"say {i % 2}"})
    fields, _ = found_in(tmp_path, rows)
    assert (fields["x"].role, fields["t"].role) == ("input", "input")


def test_of_two_targets_that_copy_each_other_the_classes_stay(tmp_path: Path) -> None:
    """A one-hot target next to its ids would be learned twice."""
    rows = [
        example(row(i, label_one_hot=[int(n == _IDS[i]) for n in range(5)]))
        for i in range(RECORDS)
    ]
    fields, _ = found_in(tmp_path, rows)
    assert (fields["label"].role, fields["label_one_hot"].role) == ("target", "info")


def test_the_same_values_are_a_copy_of_a_quantity(tmp_path: Path) -> None:
    """Even if no value occurs twice."""
    prices = np.random.default_rng(5).normal(size=RECORDS).tolist()
    rows = many(
        lambda i: {"target": prices[i], "z": prices[i], "x": prices[i] + i % 2}, RECORDS
    )
    fields, comments = found_in(tmp_path, rows)
    roles = {key: each.role for key, each in fields.items()}
    assert roles == {"target": "target", "z": "info", "x": "input"}
    assert "the same values as the target 'target'" in comments["z"]


def test_names_that_go_with_ids_become_the_classes(tmp_path: Path) -> None:
    """Whatever the key of the names is."""
    rows = [example(row(i, animal=NAMES[_IDS[i]])) for i in range(RECORDS)]
    fields, comments = found_in(tmp_path, rows)
    assert fields["label"].kind.classes == NAMES
    assert "the names are those of 'animal', which go one to one" in comments["label"]
    assert fields["animal"].role == "info"


# Further keys of a record, and what the number `z` is said to be.
SIZES: dict[str, tuple[Callable[[int, int], dict[str, Any]], str]] = {
    "values": (lambda n, i: {"x": [0.5] * n}, "the number of values of 'x'"),
    "bytes": (lambda n, i: {"x": b"\xff" * n}, "the number of bytes of 'x'"),
    "padding": (
        lambda n, i: {"x": [i + 1] * n + [0] * (9 - n)},
        "the number of values without the zeros at the end of 'x'",
    ),
    "mask": (
        lambda n, i: {"x": [1] * n + [0] * (9 - n), "ids": [i + 1] * n + [0] * (9 - n)},
        "the number of values",
    ),
    "tensor": (
        lambda n, i: {"x": tf.io.serialize_tensor(np.full((3, n), i / 7)).numpy()},
        "the size 1 of the shape of 'x'",
    ),
}


@pytest.mark.parametrize("case", SIZES)
def test_a_number_that_is_always_a_size_is_info(tmp_path: Path, case: str) -> None:
    """The note says of what; a size that is off in one record is a number."""
    more, said = SIZES[case]
    rows = [row(i, z=_LENGTHS[i], **more(_LENGTHS[i], i)) for i in range(RECORDS)]
    fields, comments = found_in(tmp_path, list(map(example, rows)))
    assert fields["z"].role == "info"
    assert said in comments["z"]
    rows[31]["z"] += 1
    fields, _ = found_in(tmp_path, list(map(example, rows)))
    assert fields["z"].role == "input"


def test_the_number_of_steps_is_info(tmp_path: Path) -> None:
    """Next to a feature list."""
    rows = [
        sequence_example({"z": n, "x": 0.5 * n}, {"step": [[i / 7]] * n})
        for i, n in enumerate(_LENGTHS)
    ]
    fields, comments = found_in(tmp_path, rows)
    assert (fields["z"].role, fields["x"].role) == ("info", "input")
    assert "the number of steps of 'step'" in comments["z"]


NAMED: list[tuple[Callable[[int], Any], str]] = [
    (lambda i: f"tile_{i}_{i + 3}", "info"),
    (lambda i: f"1089-134686-{i:04}", "info"),
    (lambda i: i + 17, "info"),
    (lambda i: f"tile_{i // 2}", "input"),
    (lambda i: f"it is tile {i}", "input"),
    (lambda i: "CCO" * (i + 1), "input"),
    (lambda i: 3 * i, "input"),
]


@pytest.mark.parametrize(("value", "role"), NAMED)
def test_a_name_of_each_record_is_info(
    tmp_path: Path, value: Callable[[int], Any], role: str
) -> None:
    """Words with digits, and numbers in a row, if none occurs twice."""
    fields, comments = found_in(
        tmp_path, many(lambda i: {"z": value(i), "x": i % 7 / 3, "y": i / 9}, 120)
    )
    assert fields["z"].role == role
    assert ("not to learn from?" in comments.get("z", "")) == (role == "info")


def test_ids_of_users_are_inputs_though_none_repeats(tmp_path: Path) -> None:
    """A model embeds them."""
    rows = many(lambda i: {"user_id": i + 1, "x": i / 7, "label": i % 2}, 120)
    fields, _ = found_in(tmp_path, rows)
    assert fields["user_id"].role == "input"


@pytest.mark.parametrize("key", ["shape", "x_shape"])
def test_a_flat_list_and_its_shape_are_one_tensor(tmp_path: Path, key: str) -> None:
    """The product of the sizes is the length, in every record."""
    rows = many(lambda i: {"x": [i / 7] * (6 * (i % 4 + 1)), key: [i % 4 + 1, 6]})
    fields, comments = found_in(tmp_path, rows)
    kind = fields["x"].kind
    assert (kind.kind, kind.shape, kind.shape_key) == ("Tensor", (None, 6), key)
    assert ("are these its own?" in comments["x"]) == (key == "shape")


def test_bands_of_one_length_have_one_shape(tmp_path: Path) -> None:
    """The square, where only some look like pictures."""
    y, x = np.mgrid[-1:1:12j, -1:1:12j]

    def band(at: int, *, smooth: bool) -> np.ndarray:
        random = np.random.default_rng(at)
        if not smooth:
            return random.normal(size=144)
        down, right = random.normal(size=2) / 4
        return np.exp(-3 * ((y - down) ** 2 + (x - right) ** 2)).ravel()

    rows = many(
        lambda i: {f"band_{n}": band(9 * i + n, smooth=n % 2 == 0) for n in range(6)}
    )
    fields, comments = found_in(tmp_path, rows)
    assert {key: each.kind.shape for key, each in fields.items()} == dict.fromkeys(
        fields, (12, 12)
    )
    assert "the shape is that of 'band_" in comments["band_1"]


def test_target_of_tokens_is_not_learned_as_quantities(tmp_path: Path) -> None:
    """It is for a model of one's own; what is recommended is an input."""
    rows = many(
        lambda i: {
            "masked_lm_ids": [i + 5, 7],
            "target_item_id": i % 7,
            "hist_item_ids": [i] * (i % 3 + 1),
            "label": i % 2,
        }
    )
    fields, comments = found_in(tmp_path, rows)
    roles = {key: each.role for key, each in fields.items()}
    assert roles == {
        "masked_lm_ids": "info",
        "target_item_id": "input",
        "hist_item_ids": "input",
        "label": "target",
    }
    assert "would learn as quantities" in comments["masked_lm_ids"]


def test_pictures_of_answers_are_not_inputs(tmp_path: Path) -> None:
    """Next to the picture that they are of."""
    rows = many(lambda i: {"image": picture(8, 8), "mask": picture(8, 8, seed=i)})
    fields, comments = found_in(tmp_path, rows)
    assert (fields["image"].role, fields["mask"].role) == ("input", "info")
    assert "declare a Mask" in comments["mask"]


def test_float_pictures_are_images(tmp_path: Path) -> None:
    """Raw float32 of a key that names a picture."""
    y, x = np.mgrid[-1:1:16j, -1:1:16j]
    photo = [
        np.repeat(np.exp(-((y - i / 60) ** 2) - x**2)[..., None], 3, 2)
        for i in range(30)
    ]
    data = write_file(
        tmp_path / "a",
        many(lambda i: {"image": photo[i].astype("<f4").tobytes(), "label": i % 2}),
    )
    kind = infer(data, tmp_path / "x.py").fields["image"].kind
    assert (kind.kind, kind.shape, kind.dtype) == ("Image", (16, 16, 3), "float32")


def test_numbered_sizes_are_those_of_a_tensor(tmp_path: Path) -> None:
    """As `x_size_0` and `x_size_1`. Measurements of such names are inputs."""
    rows = many(
        lambda i: {
            "x": [i / 7] * (6 * (i % 4 + 1)),
            "x_size_0": i % 4 + 1,
            "x_size_1": 6,
            "spacing": [0.5, i / 9, 0.25],
            "spacing_size_0": 3,
            **{"dim_0": i / 3, "dim_1": i % 5, "shape_0": i * i},
        }
    )
    fields, _ = found_in(tmp_path, rows)
    assert fields["x"].kind.shape_key == ("x_size_0", "x_size_1")
    assert fields["spacing_size_0"].role == "info"
    assert {fields[key].role for key in ("dim_0", "dim_1", "shape_0")} == {"input"}


def test_tokens_that_are_read_and_said_are_an_input(tmp_path: Path) -> None:
    """As in data for causal language models, in which labels repeat the tokens."""
    tokens = np.random.default_rng(2).integers(0, 900, (RECORDS, 10)).tolist()
    rows = many(
        lambda i: {"input_ids": tokens[i], "labels": tokens[i], "x": i / 7}, RECORDS
    )
    fields, comments = found_in(tmp_path, rows)
    assert (fields["input_ids"].role, fields["labels"].role) == ("input", "info")
    assert "the same values as 'input_ids'" in comments["labels"]


def test_a_constant_is_the_size_of_nothing_but_what_it_names(tmp_path: Path) -> None:
    """Two doors, next to a position of two numbers."""
    rows = many(
        lambda i: {"pos": [i / 7, i / 9], "num_doors": 2, "num_pos": 2, "label": i % 2}
    )
    fields, _ = found_in(tmp_path, rows)
    assert (fields["num_doors"].role, fields["num_pos"].role) == ("input", "info")


def test_names_of_another_key_are_a_doubt(tmp_path: Path) -> None:
    """Those under a key that names classes come first, and are a note."""
    cameras = ("one", "two", "three", "four", "five")
    rows = [
        example(row(i, camera=cameras[_IDS[i]], label_name=NAMES[_IDS[i]]))
        for i in range(RECORDS)
    ]
    fields, comments = found_in(tmp_path, rows)
    assert fields["label"].kind.classes == NAMES
    assert "are they its own?" not in comments["label"]
    rows = [example(row(i, camera=cameras[_IDS[i]])) for i in range(RECORDS)]
    fields, comments = found_in(tmp_path, rows)
    assert fields["label"].kind.classes == cameras
    assert "doubt: the names are those of 'camera', which go one" in comments["label"]


@pytest.mark.parametrize("ids", [(-1, 2**63 - 1), (-(2**63), 2**60 + 1)])
def test_huge_ids_are_no_classes(tmp_path: Path, ids: tuple[int, int]) -> None:
    """They stay numbers."""
    rows = many(lambda i: {"label": ids[i % 2], "x": i / 7})
    fields, _ = found_in(tmp_path, rows)
    assert fields["label"].kind.kind == "Scalar"


def test_several_targets_and_events_are_asked_for(tmp_path: Path) -> None:
    """Above the class, with what to write."""
    rows = many(
        lambda i: (
            {"label": i % 3, "category_id": i * i % 5, "survived": i // 2 % 2}
            | {"x": i / 7}
        )
    )
    _, comments = found_in(tmp_path, rows)
    assert "2 targets, 'category_id', 'label': is one of them" in comments[""]
    assert "'survived': a target, by its name?" in comments[""]


def test_a_target_that_records_lack_is_named_with_the_reason(tmp_path: Path) -> None:
    """A generated model predicts such values, but needs them in every record."""
    rows = many(lambda i: {"x": i / 7} | ({"y_true": i / 9} if i % 3 else {}))
    _, comments = found_in(tmp_path, rows)
    assert "the targets may be 'y_true', which some records lack" in comments[""]


def test_names_of_the_items_of_a_target_give_it_away(tmp_path: Path) -> None:
    """As the letters next to the ids of a captcha."""
    ids = np.random.default_rng(3).integers(0, 26, (RECORDS, 5)).tolist()
    rows = many(
        lambda i: {
            "label": ids[i],
            "text": [chr(97 + each) for each in ids[i]],
            "noise": ids[-i][::-1],
            "x": i / 7,
        },
        RECORDS,
    )
    fields, comments = found_in(tmp_path, rows)
    roles = {key: each.role for key, each in fields.items()}
    assert roles["text"] == "info"
    assert roles["noise"] == "input"
    assert "items go one to one with those of the target 'label'" in comments["text"]
