"""Inference with what code states of the keys, and where the data contradicts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from schemagen.cli import main
from schemagen.data.decoding import decode
from schemagen.data.infer import Hints, KeyHint, NamesHint, draft_record, gather
from schemagen.data.records import records_of
from schemagen.data.verify import verify
from schemagen.schema_source import schema_source
from schemagen.schema_source.checking import wrong_with
from schemagen.use_cases.infer import Inferred, infer

from .messages import example, picture, write_file

RECORDS = 30
Row = Callable[[int], Mapping[str, Any]]


def noise(size: int, seed: int) -> bytes:
    """Return bytes that are nothing."""
    return np.random.default_rng(seed).bytes(size)


def parser(returned: str, **features: str) -> str:
    """Return the code that parses features and returns something of `f`."""
    items = "".join(f'"{key}": tf.io.{said}, ' for key, said in features.items())
    return (
        "import tensorflow as tf\n"
        f"SPEC = {{{items}}}\n"
        "def parse(record):\n"
        "    f = tf.io.parse_single_example(record, SPEC)\n"
        f"    return {returned}\n"
    )


BYTES, INT, FLOAT = (
    f"FixedLenFeature([], tf.{dtype})" for dtype in ("string", "int64", "float32")
)


def inferred(row: Row, code: str, directory: Path) -> tuple[Inferred, str]:
    """Return the schema of records and code, which the records match."""
    data = directory / "train.tfrecord"
    write_file(data, [example(row(number)) for number in range(RECORDS)])
    (directory / "code.py").write_text(code)
    out = directory / "found.py"
    found = infer(data, out, code=[directory / "code.py"])
    assert not verify(data, spec=found.spec, workers=1).findings
    text = out.read_text().split("\n\n\n", 1)[1]
    return found, text.replace(f"{directory.as_posix()}/", "")


CASES: dict[str, tuple[Row, str, str]] = {
    "raw pixels of a stated shape are an image": (
        lambda i: {"x": noise(84 * 84 * 4, i)},
        parser('tf.reshape(tf.io.decode_raw(f["x"], tf.uint8), [84, 84, 4])', x=BYTES),
        """\
    # code.py:5: decode_raw to uint8, reshaped to (84, 84, 4)
    x: Annotated[np.ndarray, Image((84, 84, 4))]
""",
    ),
    "raw numbers of a stated shape are a Vector": (
        lambda i: {"x": np.arange(i, i + 6, dtype="<f8").tobytes()},
        parser('tf.reshape(tf.io.decode_raw(f["x"], tf.float64), (2, 3))', x=BYTES),
        """\
    # code.py:5: decode_raw to float64, reshaped to (2, 3)
    x: Annotated[np.ndarray, Vector((2, 3), dtype="float64")]
""",
    ),
    "raw numbers without a shape are as many as there are": (
        lambda i: {"x": noise(10, i)},
        parser('tf.io.decode_raw(f["x"], tf.int16)', x=BYTES),
        """\
    # code.py:5: decode_raw to int16
    # doubt: 5 int16 numbers: of which shape?
    x: Annotated[np.ndarray, Vector((5,), dtype="int16", encoding="raw")]
""",
    ),
    "a size that is not stated follows from the bytes": (
        lambda i: {"x": noise(24, i)},
        parser('tf.reshape(tf.io.decode_raw(f["x"], tf.int32), [-1, 3])', x=BYTES),
        """\
    # code.py:5: decode_raw to int32, reshaped to (?, 3)
    x: Annotated[np.ndarray, Vector((2, 3), dtype="int32", encoding="raw")]
""",
    ),
    "a batch of one is no dimension of a record": (
        lambda i: {"x": noise(24, i)},
        parser('tf.reshape(tf.io.decode_raw(f["x"], tf.int32), [-1, 2, 3])', x=BYTES),
        """\
    # code.py:5: decode_raw to int32, reshaped to (?, 2, 3)
    x: Annotated[np.ndarray, Vector((2, 3), dtype="int32", encoding="raw")]
""",
    ),
    "sizes under other keys belong to the pixels": (
        lambda i: {"x": noise((4 + i) * 7 * 3, i), "a": 4 + i, "b": 7},
        parser(
            'tf.reshape(tf.io.decode_raw(f["x"], tf.uint8), [f["a"], f["b"], 3])',
            x=BYTES,
            a=INT,
            b=INT,
        ),
        """\
    # code.py:5: decode_raw to uint8, reshaped to ('a', 'b', 3)
    # doubt: sizes from 4x7 to 33x7: batches of several need resize=(height, width)
    x: Annotated[np.ndarray, Image((None, 7, 3), height_key="a", width_key="b")]
""",
    ),
    "all sizes under one key are those of a Tensor": (
        lambda i: {"x": noise((i + 1) * 2 * 4, i), "dims": [i + 1, 2]},
        parser(
            'tf.reshape(tf.io.decode_raw(f["x"], tf.int32), f["dims"])',
            x=BYTES,
            dims="FixedLenFeature([2], tf.int64)",
        ),
        """\
    # code.py:5: decode_raw to int32, reshaped to the sizes in 'dims'
    x: Annotated[np.ndarray, Tensor((None, 2), dtype="int32", shape_key="dims")]
""",
    ),
    "bytes of another size are what the data says": (
        lambda i: {"x": noise(27, i)},
        parser('tf.reshape(tf.io.decode_raw(f["x"], tf.uint8), [3, 3])', x=BYTES),
        "reshaped to (3, 3): the data has 27 bytes",
    ),
    "images that code takes for raw numbers are images": (
        lambda i: {"x": picture(6, 5, seed=i)},
        parser('tf.reshape(tf.io.decode_raw(f["x"], tf.uint8), [6, 5, 3])', x=BYTES),
        "reshaped to (6, 5, 3): the data holds png images",
    ),
    "images that code reads in two ways are images, with a doubt": (
        lambda i: {"x": picture(6, 5, seed=i)},
        parser(
            'tf.io.decode_png(f["x"]) if P else tf.io.decode_raw(f["x"], tf.uint8)',
            x=BYTES,
        ),
        """\
    # doubt: code.py:5 has decode_png and code.py:5 has decode_raw to uint8
    x: Annotated[bytes, Image((6, 5, 3), encoding="png")]
""",
    ),
    "numbers that are not finite may be so": (
        lambda i: {"x": np.array([i, np.nan], "<f4").tobytes()},
        parser('tf.reshape(tf.io.decode_raw(f["x"], tf.float32), [2])', x=BYTES),
        'Vector((2,), encoding="raw", finite=False)',
    ),
    "of two dtypes the data takes the one that fits, with a doubt": (
        lambda i: {"x": noise(6, i)},
        parser(
            'tf.io.decode_raw(f["x"], tf.float64), tf.io.decode_raw(f["x"], tf.int16)',
            x=BYTES,
        ),
        """\
    # doubt: 3 int16 numbers: of which shape?
    # doubt: code.py:5 has decode_raw to float64 and code.py:5 has decode_raw to int16
    x: Annotated[np.ndarray, Vector((3,), dtype="int16", encoding="raw")]
""",
    ),
    "a list that is reshaped has that shape": (
        lambda i: {"x": np.arange(6) * 0.5 + i},
        parser('tf.reshape(f["x"], (2, 3))', x="FixedLenFeature([6], tf.float32)"),
        """\
    # code.py:5: reshaped to (2, 3)
    x: Annotated[np.ndarray, Vector((2, 3))]
""",
    ),
    "ids are as many classes as one_hot has, with names": (
        lambda i: {"x": float(i), "kind": i % 2},
        'NAMES_OF_CLASSES = ["a", "b", "c"]\n'
        + parser('f["x"], tf.one_hot(f["kind"], 3)', x=FLOAT, kind=INT),
        """\
    # code.py:6: 3 classes, the target
    # code.py:1: NAMES_OF_CLASSES, 3 names
    kind: Literal["a", "b", "c"]
""",
    ),
    "ids that are counted from 1 have an offset": (
        lambda i: {"x": float(i), "kind": i % 2 + 1},
        parser('f["x"], tf.one_hot(f["kind"] - 1, 3)', x=FLOAT, kind=INT),
        "kind: Annotated[int, Label(num_classes=3, offset=1)]",
    ),
    "an id above the classes of the code is a doubt": (
        lambda i: {"x": float(i), "kind": i % 5},
        parser('f["x"], tf.one_hot(f["kind"], 3)', x=FLOAT, kind=INT),
        "3 classes, the target: the data has 0 to 4",
    ),
    "names of as many classes as there are ids are offered": (
        lambda i: {"label": i % 3},
        'LABELS = ["a", "b", "c"]\n' + parser("f", label=INT),
        "# doubt: are its classes those of LABELS (code.py:1), 'a' to 'c'?",
    ),
    "what code returns second is the target": (
        lambda i: {"rooms": i, "price": i / 7},
        parser('f["rooms"], f["price"]', rooms=INT, price=FLOAT),
        """\
    # code.py:5: the target
    price: Annotated[float, Scalar("float32", role="target")]
""",
    ),
    "integers that are the target may be classes": (
        lambda i: {"rooms": i, "y_true": i % 40},
        parser('f["rooms"], f["y_true"]', rooms=INT, y_true=INT),
        """\
    # code.py:5: the target
    # doubt: whole numbers that a model learns as quantities: or ids of classes?
    y_true: Annotated[int, Scalar("int64", role="target")]
""",
    ),
    "what code returns third is the weight": (
        lambda i: {"rooms": i, "price": i / 7, "trust": 1 / (i + 1)},
        parser(
            'f["rooms"], f["price"], f["trust"]', rooms=INT, price=FLOAT, trust=FLOAT
        ),
        'trust: Annotated[float, Scalar("float32", role="weight")]',
    ),
    "values of another list are a doubt": (
        lambda i: {"x": i},
        parser('f["x"]', x=FLOAT),
        "float values in the code, int64 values in the data",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_hints_join_the_data(name: str, tmp_path: Path) -> None:
    row, code, expected = CASES[name]
    found, text = inferred(row, code, tmp_path)
    flat = " ".join(text.replace("#  ", "").split())
    assert " ".join(expected.split()) in flat
    assert found.code == (
        f"{(tmp_path / 'code.py').as_posix()}:{code.count('CLASSES = ') + code.count('LABELS = ') + 2}",
    )


def test_hints_that_agree_leave_no_doubt_where_the_data_alone_has_one(
    tmp_path: Path,
) -> None:
    row, code, _ = CASES["raw pixels of a stated shape are an image"]
    found, _ = inferred(row, code, tmp_path)
    alone = infer(tmp_path / "train.tfrecord", tmp_path / "alone.py")
    doubts = [each.doubts - len(each.lacking) for each in (found, alone)]
    assert doubts == [0, 1]


def test_code_of_other_data_changes_nothing(tmp_path: Path) -> None:
    """A description is of the data if half of its keys are in it."""
    code = parser('tf.io.decode_raw(f["x"], tf.int16)', x=BYTES, y=INT, z=INT)
    found, text = inferred(lambda i: {"x": noise(10, i)}, code, tmp_path)
    assert "int16" not in text
    assert found.code == ()
    assert found.notes == ("none of 1 descriptions in the code has keys of this data",)


def test_the_command_says_which_code_is_not_read(tmp_path: Path) -> None:
    code = parser('f["x"], f["y"]', x=BYTES, y=INT)
    inferred(lambda i: {"x": noise(10, i)}, code, tmp_path)
    (tmp_path / "old.py").write_text("print 1\n")
    arguments = ["infer", str(tmp_path / "train.tfrecord"), "--code", str(tmp_path)]
    result = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "a.py")])
    assert result.exit_code == 0, result.output
    assert "  with 1 description of this data in code\n" in result.output
    assert "old.py: line 1: Missing parentheses" in result.output
    assert "code.py:2 requires 'y', which no record has" in result.output


def _random_hint(random: np.random.Generator) -> KeyHint:
    """Return what no code would say of a key, but for a part of it."""
    dtypes = ("uint8", "bool", "int16", "float32", "float64", "string")
    sizes = (None, 1, 2, 3, 4, 6, "id", "dims", "pixels", "nowhere")
    shapes: list[tuple[int | str | None, ...] | str] = ["dims", "label", "pixels"]
    for _ in range(int(random.integers(4))):
        rank = int(random.integers(4))
        shapes.append(
            tuple(sizes[int(n)] for n in random.integers(len(sizes), size=rank))
        )
    order = random.permutation(len(shapes))
    count = int(random.integers(2, 6))
    return KeyHint(
        wire=str(random.choice(["", "", "bytes", "int64", "float"])),
        numbers=tuple(map(str, random.choice(dtypes, int(random.integers(3))))),
        shapes=tuple(shapes[int(at)] for at in order),
        num_classes=int(random.choice([0, count])),
        offset=int(random.integers(3)),
        classes=tuple("abcdef"[:count]) if random.random() < 0.3 else (),
        role=str(random.choice(["", "input", "target", "weight"])),
        said=("code.py:1: something",),
    )


@pytest.mark.parametrize("seed", range(60))
def test_hints_of_any_sort_give_schemas_that_the_data_matches(
    seed: int, tmp_path: Path
) -> None:
    """The schema loads, and every record that it was inferred from is verified."""
    random = np.random.default_rng(seed)
    row: dict[str, Callable[[int], Any]] = {
        "pixels": lambda i: noise(24, i),
        "sized": lambda i: noise((i % 3 + 1) * 12, i),
        "id": lambda i: i % 3 + 1,
        "dims": lambda i: [i % 3 + 1, 2, 6],
        "label": lambda i: i % 4 - int(seed % 2),
        "text": lambda i: f"text {i % 5}",
        "photo": lambda i: picture(6, 4, seed=i),
        "grid": lambda i: np.arange(6) * 0.5,
        "flag": lambda i: i % 2,
        "price": lambda i: None if seed % 3 == 0 and i == 4 else i / 3,
        "list": lambda i: [float(i)] * (i % 4),
    }
    rows = [{key: made(i) for key, made in row.items()} for i in range(RECORDS)]
    messages = [
        example({key: value for key, value in each.items() if value is not None})
        for each in rows
    ]
    hints = Hints(
        {key: _random_hint(random) for key in row}, (NamesHint("X", ("a", "b", "c")),)
    )
    found = draft_record(gather([decode(records_of(messages))]), "Found", hints=hints)
    text = schema_source(found.spec, comments=found.comments)
    assert wrong_with(text, found.spec) == ()
    data = write_file(tmp_path / "data.tfrecord", messages)
    assert not verify(data, spec=found.spec, workers=1).findings


def test_names_of_another_number_of_classes_are_a_doubt(tmp_path: Path) -> None:
    """Whichever is right, it is not silent."""
    code = 'CLASS_NAMES = ["a", "b", "c"]\n' + parser(
        'f["x"], tf.one_hot(f["label"], 10)', x=INT, label=INT
    )
    _, text = inferred(lambda i: {"x": i, "label": i % 3}, code, tmp_path)
    assert "10 classes, and 3 names in" in " ".join(text.replace("#", "").split())
