"""What cannot be read: an error that names it, or a skip that is counted."""

from __future__ import annotations

import gc
import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from every_kind import numbers
from schemagen.runtime.shared.compression import COMPRESSIONS
from schemagen.runtime.storage.files import FileState
from schemagen.runtime.storage.local import LocalFiles
from tfrecord_files import flip_bit, read_records, write_records

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record, Scalar, VarLen, Vector

class Thing(Record):
    number: int
    pixels: Annotated[np.ndarray, Image(shape=(4, 4, 3))]
    photo: Annotated[bytes, Image(shape=(8, 8, 3), encoding="png")]
    sizes: Annotated[np.ndarray, Vector(shape=(3,), dtype="float32")]
    tokens: Annotated[list[int], VarLen(dtype="int64", max_length=5)]
    kind: Annotated[int, Label(num_classes=5)]
"""
_ROWS = 40
_IN_ORDER = [*range(0, _ROWS, 2), *range(1, _ROWS, 2)]
"""The numbers of the records, shard after shard."""

# Of the text that TensorFlow and autograph put around messages.
FRAME = re.compile(r"\{\{|\[Op:|assertion failed|in user code|Graph execution")

MakeDataset = Callable[..., tf.data.Dataset]
Reports = Callable[[], list[str]]


def _row(number: int) -> dict[str, Any]:
    return {
        "number": number,
        "pixels": np.full((4, 4, 3), number, np.uint8),
        "photo": np.full((8, 8, 3), number, np.uint8),
        "sizes": np.arange(3, dtype=np.float32),
        "tokens": [1] * (number % 5 + 1),
        "kind": number % 5,
    }


@pytest.fixture
def data(package: Workspace, tmp_path: Path) -> Callable[..., Path]:
    """Write records, numbered from 0, into two shards."""

    def make(**options: Any) -> Path:
        write = package.module("thing", "serializer").write_dataset
        options = {"shards": 2, **options}
        write(map(_row, range(_ROWS)), tmp_path / "data", "train", **options)
        return tmp_path / "data"

    return make


@pytest.fixture
def make_dataset(package: Workspace) -> MakeDataset:
    """`make_dataset` of the record, in batches of eight."""
    module = package.module("thing", "pipeline")

    def make(*source: Any, **options: Any) -> tf.data.Dataset:
        found: tf.data.Dataset = module.make_dataset(
            *source, **{"batch_size": 8, **options}
        )
        return found

    return make


@pytest.fixture
def reports(caplog: pytest.LogCaptureFixture) -> Iterator[Reports]:
    """What has been reported as skipped."""
    logger = tf.get_logger()
    before = logger.propagate
    logger.propagate = True
    with caplog.at_level(logging.WARNING, logger.name):
        yield lambda: [
            record.getMessage()
            for record in caplog.records
            if "skipped" in record.getMessage()
        ]
    logger.propagate = before


def _message(dataset: tf.data.Dataset) -> str:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        numbers(dataset)
    message = str(caught.value)
    assert not FRAME.search(message)
    return message.replace("`", "'")


def _verify(directory: Path) -> str:
    """The end of errors of damaged data."""
    return f"'schemagen verify {directory}' reports everything that is wrong"


def _unlisted(directory: Path) -> str:
    """Take a directory's manifest away, and return a glob of its files."""
    (directory / "manifest.json").unlink(missing_ok=True)
    return f"{directory}/train-*"


def _first(directory: Path) -> Path:
    return min(directory.glob("train-00000-of-00002*"))


# Damaged files.


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


# what happens to a file, what the error says of it, and which of its records are lost
_DAMAGE: dict[str, tuple[Callable[[Path], None], str, range]] = {
    "a bit of a record": (
        lambda path: flip_bit(path, 6, 50),
        "record 6: ",
        range(6, 7),
    ),
    "a bit of a length": (
        lambda path: flip_bit(path, 6, 0),
        "record 6: ",
        range(6, 20),
    ),
    "the end": (_cut, "record 19: ", range(19, 20)),
    "all": (Path.unlink, "", range(20)),
}


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    ("damage", "listed"),
    [
        ("a bit of a record", True),
        ("a bit of a length", False),
        ("the end", False),  # what a manifest lists is refused without its end
        ("all", True),
        ("a bit of a record", False),
        ("a bit of a length", True),
        ("all", False),
    ],
)
def test_damage_is_named_or_skipped(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Reports,
    damage: str,
    listed: bool,
) -> None:
    """By the file and the record's number in it; behind a wrong length a file ends."""
    change, place, lost = _DAMAGE[damage]
    directory = data()
    path = _first(directory)
    source = str(directory) if listed else _unlisted(directory)
    whole = damage == "all"
    if not whole:
        change(path)
    strict, skipping = (
        make_dataset(source, on_corrupt=policy) for policy in ("raise", "skip")
    )
    if whole:  # it is refused on opening, and is one thing that could not be read
        change(path)
        place, lost = "", range(20)
    message = _message(strict)
    assert f"{path}: {place}" in message
    assert whole or message.endswith(_verify(directory))
    found = numbers(skipping)
    assert found == [n for at, n in enumerate(_IN_ORDER) if at not in lost]
    # No one knows how many records are lost of a file that no manifest lists.
    count = 1 if whole or not listed else len(lost)
    assert f": {count}\n" in reports()[0]
    assert f"{path}: {place}" in reports()[0]


def test_skipping_compares_the_files_of_the_damage_alone(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All files are compared at the start and end: many that are damaged take no longer."""
    directory, asked = data(shards=_ROWS), list[str]()
    for path in directory.glob("train-*"):
        flip_bit(path, 0, 50)
    state = LocalFiles.state

    def asking(self: LocalFiles, path: str) -> FileState:
        asked.extend([path] if "train-" in path else [])
        return state(self, path)

    dataset = make_dataset(directory, on_corrupt="skip")
    monkeypatch.setattr(LocalFiles, "state", asking)
    assert numbers(dataset) == []
    assert len(asked) <= 4 * _ROWS


@pytest.mark.parametrize("training", [True, False])
def test_damage_is_named_where_epochs_have_no_end(
    data: Callable[..., Path], make_dataset: MakeDataset, training: bool
) -> None:
    """Even if it leaves nothing of the first epoch, so that there is no other."""
    directory = data(shards=1)
    path = directory / "train-00000-of-00001.tfrecord"
    flip_bit(path, 6, 50)
    dataset = make_dataset(directory, repeat=True, training=training)
    assert f"{path}: record 6: " in _message(dataset)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_damage_of_compressed_files_is_named(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    compression: str,
    listed: bool,
    training: bool,
) -> None:
    """Whether or not a manifest tells what there is; a file that is cut off too."""
    directory = data(compression=compression)
    path = _first(directory)
    content = path.read_bytes()
    at = 3 * len(content) // 4 - 20
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    source = directory if listed else _unlisted(directory)
    message = _message(make_dataset(source, training=training))
    assert f"{path}: record " in message
    assert message.endswith(_verify(directory))
    if not listed:
        path.write_bytes(content[:-20])
        # ZSTD has whole blocks, of up to 128 KiB.
        first = 0 if compression == "ZSTD" else 19
        assert f"{path}: record {first}: " in _message(make_dataset(source))


@pytest.mark.parametrize("options", [{}, {"training": True, "repeat": 2}])
def test_zstd_is_read_by_python_with_a_warning(
    data: Callable[..., Path], make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """All records, in order unless they are shuffled."""
    directory = data(compression="ZSTD")
    with pytest.warns(RuntimeWarning, match="TensorFlow does not read ZSTD"):
        dataset = make_dataset(directory, **options)
    found = numbers(dataset)
    assert sorted(found) == sorted([*range(_ROWS)] * options.get("repeat", 1))
    assert options or found == _IN_ORDER


@pytest.mark.timeout(120)
@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("compression", [None, "GZIP"])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"on_corrupt": "skip"},
        {"repeat": True, "training": True},
        {"repeat": True},
        {"repeat": 3},
        {"cache": True},
    ],
)
def test_file_removed_after_the_dataset_was_made_is_named(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Reports,
    options: dict[str, Any],
    compression: str | None,
    listed: bool,
) -> None:
    """TensorFlow would try to open it for ever."""
    directory = data(compression=compression)
    source = directory if listed else _unlisted(directory)
    dataset = make_dataset(source, **options)
    path = _first(directory)
    path.unlink()
    if "on_corrupt" in options:
        assert len(numbers(dataset)) == _ROWS // 2
        assert f"{path}: " in reports()[0]
    else:
        assert f"{path}: " in _message(dataset)


# Records that are not what they should be.


def _changed(path: Path, number: int, change: Callable[[Any], object]) -> str:
    """Change a record of a file without a manifest, and return a glob of all files."""
    source = _unlisted(path.parent)
    records = read_records(path)
    example = tf.train.Example.FromString(records[number])
    change(example.features.feature)
    records[number] = example.SerializeToString(deterministic=True)
    write_records(path, records)
    return source


def _missing(features: Any) -> None:
    del features["kind"]


def _of_another_kind(features: Any) -> None:
    features["kind"].float_list.value[:] = [1.0]


def _too_many(features: Any) -> None:
    features["sizes"].float_list.value[:] = [1.0] * 12


def _as_floats(features: Any) -> None:
    values = np.zeros((4, 4, 3), np.float32).tobytes()
    features["pixels"].bytes_list.value[:] = [values]


def _as_a_picture(features: Any) -> None:
    features["pixels"].bytes_list.value[:] = [features["photo"].bytes_list.value[0]]


def _undecodable(features: Any) -> None:
    value = features["photo"].bytes_list.value[0]
    features["photo"].bytes_list.value[:] = [value[:50]]


def _out_of_range(features: Any) -> None:
    features["kind"].int64_list.value[:] = [7]


def _too_long(features: Any) -> None:
    features["tokens"].int64_list.value[:] = [1] * 6


def _of_another_schema(features: Any) -> None:
    features.clear()
    features["city"].bytes_list.value[:] = [b"Bern"]
    features["people"].int64_list.value[:] = [134_000]


# what happens to a record; its field; and what is said of that
_WRONG: dict[Callable[[Any], None], tuple[str, tuple[str, ...]]] = {
    _missing: ("kind", ("number, photo, pixels, sizes, tokens",)),
    _of_another_kind: ("kind", ("1 float value", "1 int64 value")),
    _too_many: ("sizes", ("12 float values", "3 float values")),
    _as_floats: ("pixels", ("uint8 [4, 4, 3]", "[192]", "float32")),
    _as_a_picture: ("pixels", ("PNG",)),
    _undecodable: ("photo", ()),
    _out_of_range: ("kind", ("0 to 4", "found 7")),
    _too_long: ("tokens", ("5 items", "found 6")),
    _of_another_schema: ("number", ("city, people",)),
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("change", _WRONG, ids=lambda change: change.__name__)
def test_a_wrong_record_is_named_with_its_field(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    change: Callable[[Any], None],
    training: bool,
) -> None:
    """File, number, field, what was found and what was expected, in one message."""
    directory = data()
    source = _changed(_first(directory), 13, change)
    message = _message(make_dataset(source, training=training))
    field, words = _WRONG[change]
    assert f"{_first(directory)}: record 13: field '{field}': " in message
    assert [word for word in words if word not in message] == []
    assert message.endswith(_verify(_first(directory).parent))


def test_bytes_that_are_no_example_are_named_and_escaped(
    package: Workspace, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """Bytes that are no Example are named; keys may be anything, and are escaped."""
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(b"\xff\xff\xff no protobuf")
    assert f"{tmp_path}/a: record 0: " in _message(make_dataset(tmp_path / "a"))
    parser = package.module("thing", "parser")
    for message in (b"\x0a\xff\xff", b"\x0a\x07\x0a\x05\x0a\x03k\xffy"):
        for parse, given in (
            (parser.parse_batch, [message]),
            (parser.parse_example, message),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"\\xff"):
                parse(tf.constant(given))


@pytest.mark.slow
def test_an_error_ends_model_fit_too(
    data: Callable[..., Path], package: Workspace, make_dataset: MakeDataset
) -> None:
    """Keras takes batches in a graph, where Python cannot catch anything."""
    directory = data()
    module = package.module("thing", "model")
    model = module.build_model(fields=["number"])
    options = {"fields": ["number"]}
    module.adapt(model, make_dataset(directory, **options))
    source = _changed(_first(directory), 13, _out_of_range)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        model.fit(make_dataset(source, **options), verbose=0)
    assert str(caught.value).startswith(f"{_first(directory)}: record 13: field `kind`")


def test_an_image_that_is_refused_is_the_only_message(
    data: Callable[..., Path],
    package: Workspace,
    make_dataset: MakeDataset,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """TensorFlow logs no unused objects, whether a file or a single record is read."""

    def damage(features: Any) -> None:
        features["photo"].bytes_list.value[0] = b"\x89PNG damaged"

    first = _first(data())
    source = _changed(first, 13, damage)
    monkeypatch.setattr(tf.get_logger(), "propagate", True)
    assert "record 13: field 'photo'" in _message(make_dataset(source))
    records = read_records(first)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        package.module("thing", "parser").parse_batch(records)
    assert "png" in str(caught.value)
    assert not FRAME.search(str(caught.value))
    del caught
    gc.collect()
    assert "never used" not in caplog.text


def test_the_name_that_was_given_is_not_suggested(
    data: Callable[..., Path], make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """A feature without values has its key, and a broken link its name."""
    source = _changed(_first(data()), 13, lambda features: features["kind"].Clear())
    message = _message(make_dataset(source))
    assert "field 'kind': found no values" in message
    assert "did you mean" not in message
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(DatasetError) as caught:
        make_dataset(tmp_path / "link")
    assert "did you mean" not in str(caught.value)


def test_names_of_files_are_shown_in_any_script(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """An assertion of TensorFlow escapes all bytes that are not ASCII."""
    first = _first(data())
    _changed(first, 13, _out_of_range)
    renamed = first.rename(first.with_name("größe"))
    assert "größe: record 13: " in _message(make_dataset(renamed))


@pytest.mark.slow
def test_a_program_that_fails_ends(
    data: Callable[..., Path], package: Workspace
) -> None:
    """Threads of tensorflow that still look at pictures do not keep it from ending."""
    directory = data()
    for number in (3, 9, 17):
        source = _changed(_first(directory), number, _undecodable)
    program = (
        f"from {package.package}.thing.pipeline import make_dataset\n"
        f"for _ in make_dataset({source!r}, batch_size=4): pass"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=package.root,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 1
    assert "field `photo`" in ended.stderr


# Skipping.


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [True, False])
def test_what_is_wrong_is_skipped_and_reported(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Reports,
    training: bool,
) -> None:
    """Only the record itself is lost; a report follows each epoch with such records."""
    directory = data()
    assert numbers(make_dataset(directory, on_corrupt="skip")) == _IN_ORDER
    assert reports() == []
    _changed(_first(directory), 13, _out_of_range)
    source = _changed(_first(directory), 5, _undecodable)
    dataset = make_dataset(source, training=training, on_corrupt="skip")
    expected = sorted({*_IN_ORDER} - {_IN_ORDER[13], _IN_ORDER[5]})
    for epoch in range(1, 3):
        assert sorted(numbers(dataset)) == expected
        assert len(reports()) == epoch
        assert ": 2\n" in reports()[-1]
        assert f"{_first(directory)}: record 13: field 'kind'" in reports()[-1]
        assert f"{_first(directory)}: record 5: field 'photo'" in reports()[-1]
    repeated = make_dataset(source, on_corrupt="skip", repeat=3)
    assert len(numbers(repeated)) == 3 * (_ROWS - 2)
    skipped = [text.split("\n")[0].rpartition(": ")[2] for text in reports()[2:]]
    assert sum(map(int, skipped)) == 6


def test_full_batches_stay_full(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """With drop_remainder, a lost record is replaced by the next one."""
    directory = data()
    source = _changed(_first(directory), 13, _out_of_range)
    for drop, last in ((True, []), (False, [7])):
        options = {"on_corrupt": "skip", "drop_remainder": drop}
        sizes = [len(kinds) for _, kinds in make_dataset(source, **options)]
        assert sizes == [8, 8, 8, 8, *last]
    for number in range(8):  # a whole batch
        _changed(_first(directory), number, _out_of_range)
    dataset = make_dataset(source, on_corrupt="skip")
    assert [len(kinds) for _, kinds in dataset] == [8, 8, 8, 7]


# Pictures that make no batch.

_ANY_SIZE = """
from typing import Annotated
import numpy as np
from schemagen import Image, Mask, Record

class Thing(Record):
    photo: Annotated[bytes, Image(shape=(None, None, 3), encoding="png")]

class Ground(Record):
    number: int
    classes: Annotated[np.ndarray, Mask(
        (None, None), encoding="png", num_classes=4, role="info")]
"""


def test_pictures_of_any_size_are_refused_in_batches(
    tmp_path: Path, package_of: PackageOf
) -> None:
    """Before anything is read; alone they are fine."""
    package = package_of(_ANY_SIZE)
    photos = [{"photo": np.zeros((side, 3, 3), np.uint8)} for side in (2, 5)]
    masks = [{"number": n, "classes": np.zeros((n, 3), np.uint8)} for n in (2, 5)]
    for record, field, rows in ("thing", "photo", photos), ("ground", "classes", masks):
        data = tmp_path / record
        package.module(record, "serializer").write_dataset(rows, data, "train")
        make_dataset = package.module(record, "pipeline").make_dataset
        with pytest.raises(DatasetError, match=f"batch_size=2: field '{field}'"):
            make_dataset(data, batch_size=2, info=field == "classes")
        assert len(list(make_dataset(data, batch_size=1))) == 2
        # Without a manifest, the end has to be noticed by a record.
        assert len(list(make_dataset(_unlisted(data), batch_size=1))) == 2
