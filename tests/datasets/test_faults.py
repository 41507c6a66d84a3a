"""What cannot be read: an error that names it, or a skip that is counted."""

from __future__ import annotations

import gzip
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.faults import faults
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.shared.tfrecord import frame, read_records

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_SCHEMA = """
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

class Other(Record):
    city: str
    people: int
"""
_ROWS = 40


@pytest.fixture
def package(package_of: PackageOf) -> Workspace:
    """The generated package for the schema above."""
    return package_of(_SCHEMA)


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
def make_dataset(package: Workspace) -> Callable[..., tf.data.Dataset]:
    """`make_dataset` of the record, in batches of eight."""
    module = package.module("thing", "pipeline")

    def make(*source: Any, **options: Any) -> tf.data.Dataset:
        found: tf.data.Dataset = module.make_dataset(
            *source, **{"batch_size": 8, **options}
        )
        return found

    return make


MakeDataset = Callable[..., tf.data.Dataset]


@pytest.fixture
def reports(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
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


def _numbers(dataset: tf.data.Dataset) -> list[int]:
    elements = (
        element[0] if isinstance(element, tuple) else element for element in dataset
    )
    return [int(n) for features in elements for n in features["number"]]


def _message(dataset: tf.data.Dataset) -> str:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        _numbers(dataset)
    return str(caught.value).replace("`", "'")


def _changed(path: Path, number: int, change: Callable[[Any], object]) -> None:
    """Change a record of a file without a manifest, in a frame that is right."""
    _unlisted(path.parent)
    records = list(read_records(path))
    example = tf.train.Example.FromString(records[number])
    change(example.features.feature)
    records[number] = example.SerializeToString(deterministic=True)
    path.write_bytes(b"".join(map(frame, records)))


def _unlisted(directory: Path) -> str:
    """Take a directory's manifest away, and return a glob of its files."""
    (directory / "manifest.json").unlink(missing_ok=True)
    return f"{directory}/train-*"


def _first(directory: Path) -> Path:
    return directory / "train-00000-of-00002.tfrecord"


_ABANDONED = """
import gc
import threading
import time

import tensorflow as tf
from schemagen.runtime.faults.callbacks import call_python

running, abandoned, over = threading.Event(), threading.Event(), threading.Event()
calls = []

def work():
    calls.append(1)
    if len(calls) == 1:
        return "", []
    running.set()
    abandoned.wait()
    garbage = [[] for _ in range(100_000)]  # enough for a collection
    over.set()
    return "", []

dataset = tf.data.Dataset.range(2).map(lambda _: call_python(work, [])).prefetch(1)
cycle = [iter(dataset)]
next(cycle[0])
cycle.append(cycle)
running.wait()
del cycle
abandoned.set()
assert over.wait(60)
time.sleep(1)
assert gc.isenabled()
"""


def test_iterator_abandoned_while_python_runs_for_it_ends() -> None:
    """The thread that runs Python must not collect the iterator, which waits for it."""
    subprocess.run([sys.executable, "-c", _ABANDONED], timeout=120, check=True)


# Damaged files.


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[3 * len(content) // 4 - 20] ^= 1
    path.write_bytes(content)


def _flip_a_length(path: Path) -> None:
    content = bytearray(path.read_bytes())
    records = list(read_records(path))
    content[sum(len(record) + 16 for record in records[:6])] ^= 1
    path.write_bytes(content)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_a_flipped_bit_is_found_with_its_file(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    compression: str | None,
    listed: bool,
    training: bool,
) -> None:
    """Whatever the compression, and whether or not a manifest tells what there is."""
    directory = data(compression=compression)
    (path,) = directory.glob("train-00000*")
    _flip(path)
    source = directory if listed else _unlisted(directory)
    message = _message(make_dataset(source, training=training))
    assert f"{path}: record " in message


@pytest.mark.parametrize("listed", [True, False])
def test_a_damaged_record_is_counted_from_0(
    data: Callable[..., Path], make_dataset: MakeDataset, listed: bool
) -> None:
    """The number is that of the record in its file."""
    directory = data()
    _flip_a_length(_first(directory))
    source = directory if listed else _unlisted(directory)
    found = _message(make_dataset(source))
    assert f"{_first(directory)}: record 6: the checksum of the length" in found


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_a_file_cut_off_is_found(
    package: Workspace, make_dataset: MakeDataset, tmp_path: Path, compression: str
) -> None:
    """Without a manifest too, in the middle of a record."""
    serialize = package.module("thing", "serializer").serialize
    path = tmp_path / "a.tfrecord"
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for number in range(20):
            writer.write(serialize(**_row(number)))
    path.write_bytes(path.read_bytes()[:-20])
    assert f"{path}: record 19: " in _message(make_dataset(path))


def test_a_file_that_is_gone_or_rewritten_is_named(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """Also after the dataset was made; tensorflow would try to open it for ever."""
    directory = data()
    dataset = make_dataset(directory)
    content = _first(directory).read_bytes()
    _first(directory).write_bytes(content[:100])
    assert "found 100 bytes, expected the" in _message(dataset)
    _first(directory).unlink()
    assert f"{_first(directory)}: it was there when" in _message(dataset)


@pytest.mark.timeout(120)
@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "options", [{}, {"repeat": True, "training": True}, {"cache": True}]
)
@pytest.mark.parametrize("compression", [None, "GZIP"])
@pytest.mark.parametrize("listed", [False, True])
def test_file_removed_between_its_check_and_its_opening_is_named(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    options: dict[str, Any],
    compression: str | None,
    listed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """TensorFlow would try to open it for ever."""
    directory = data(compression=compression)
    source = [directory] if listed else [_unlisted(directory)]
    dataset = make_dataset(*source, **options)
    monkeypatch.setattr(faults, "opening_problem", lambda path, size: "")
    monkeypatch.setattr(faults, "changed", lambda path, state: "")
    paths = sorted(directory.glob("train-*"))
    for path in paths[1:] if options else paths:
        path.unlink()
    assert "it was there when the dataset was made" in _message(dataset)


def test_a_file_that_is_compressed_behind_the_manifest_s_back(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """Files without a manifest are read by content; listed ones must be as listed."""
    directory = data()
    path = _first(directory)
    path.write_bytes(gzip.compress(path.read_bytes()))
    for source in (directory, f"{directory}/train-*"):
        with pytest.raises(Exception, match="expected the"):
            make_dataset(source)
    assert sorted(_numbers(make_dataset(_unlisted(directory)))) == list(range(_ROWS))


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_members_in_a_row_are_whole(
    package: Workspace, make_dataset: MakeDataset, tmp_path: Path, compression: str
) -> None:
    """A GZIP file of several members says the size of the last one only."""
    serialize = package.module("thing", "serializer").serialize
    path = tmp_path / "a"
    content = b""
    for start in (0, 10):
        with tf.io.TFRecordWriter(str(path), compression) as writer:
            for number in range(start, start + 10):
                writer.write(serialize(**_row(number)))
        content += path.read_bytes()
    path.write_bytes(content)
    assert _numbers(make_dataset(path)) == list(range(20))


# Records that are not what they should be.


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


_WRONG = {
    _missing: "field 'kind': found no feature 'kind', expected 1 int64 value; there "
    "are: number, photo, pixels, sizes, tokens",
    _of_another_kind: "field 'kind': found 1 float value, expected 1 int64 value",
    _too_many: "field 'sizes': found 12 float values, expected 3 float values",
    _as_floats: "field 'pixels': expected 48 bytes (uint8 [4, 4, 3]), found sizes [192]"
    "; that is the size of as many float32 or int32 numbers: stored as such, read as "
    "uint8?",
    _as_a_picture: "; they begin like a PNG: declare its encoding in the schema",
    _undecodable: "field 'photo': ",
    _out_of_range: "field 'kind': expected class ids from 0 to 4, found [7]",
    _too_long: "field 'tokens': expected at most 5 items, found lengths [6]",
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
    _changed(_first(directory), 13, change)
    message = _message(make_dataset(f"{directory}/train-*", training=training))
    assert f"[{_first(directory)}: record 13: " in message
    assert _WRONG[change] in message


def test_a_file_of_another_schema(
    package: Workspace, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """Its keys are shown, and the nearest one."""
    serialize = package.module("other", "serializer").serialize
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(serialize(city="Bern", people=134_000))
    message = _message(make_dataset(tmp_path / "a"))
    assert f"{tmp_path}/a: record 0: field 'number': found no feature" in message
    assert "there are: city, people" in message


def test_a_foreign_protobuf(make_dataset: MakeDataset, tmp_path: Path) -> None:
    """Bytes that are no Example at all."""
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(b"\xff\xff\xff no protobuf")
    message = _message(make_dataset(tmp_path / "a"))
    assert f"{tmp_path}/a: record 0: found bytes that are no tf.train.Ex" in message


def test_bytes_that_are_not_utf8_are_escaped_in_errors(package: Workspace) -> None:
    """TensorFlow shows the message that it cannot parse, in which keys may be anything."""
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
    model = module.build_model()
    module.adapt(model, make_dataset(directory))
    _changed(_first(directory), 13, _out_of_range)
    with pytest.raises(tf.errors.InvalidArgumentError, match="record 13: field `kind`"):
        model.fit(make_dataset(f"{directory}/train-*"), verbose=0)


@pytest.mark.slow
def test_a_program_that_fails_ends(
    data: Callable[..., Path], package: Workspace
) -> None:
    """Threads of tensorflow that still look at pictures do not keep it from ending."""
    directory = data()
    for number in (3, 9, 17):
        _changed(_first(directory), number, _undecodable)
    program = (
        f"from {package.package}.thing.pipeline import make_dataset\n"
        f"for _ in make_dataset({str(directory / 'train-*')!r}, batch_size=4): pass"
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
    reports: Callable[[], list[str]],
    training: bool,
) -> None:
    """Only the record itself is lost; a report follows each epoch."""
    directory = data()
    before = _numbers(make_dataset(directory))
    _changed(_first(directory), 13, _out_of_range)
    _changed(_first(directory), 5, _undecodable)
    source = f"{directory}/train-*"
    dataset = make_dataset(source, training=training, on_corrupt="skip")
    expected = sorted(set(before) - {before[13], before[5]})
    for epoch in range(1, 3):
        assert sorted(_numbers(dataset)) == expected
        assert len(reports()) == epoch
        assert "corrupt and skipped: 2\n" in reports()[-1]
        assert f"{_first(directory)}: record 13: field 'kind'" in reports()[-1]
        assert f"{_first(directory)}: record 5: field 'photo'" in reports()[-1]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("listed", [True, False])
def test_records_behind_a_damaged_one_are_read(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Callable[[], list[str]],
    listed: bool,
) -> None:
    """Where its length is known; tensorflow gives up the rest of the file."""
    directory = data()
    before = _numbers(make_dataset(directory))
    _flip(_first(directory))
    source = directory if listed else _unlisted(directory)
    found = _numbers(make_dataset(source, on_corrupt="skip"))
    assert len(found) == _ROWS - 1
    assert set(found) < set(before)
    assert "corrupt and skipped: 1\n" in reports()[0]


@pytest.mark.slow
def test_behind_a_damaged_length_a_file_ends(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Callable[[], list[str]],
) -> None:
    """Nothing tells where the next record begins; the other files are read."""
    directory = data()
    before = _numbers(make_dataset(directory))
    _flip_a_length(_first(directory))
    found = _numbers(make_dataset(directory, on_corrupt="skip"))
    assert found == before[:6] + before[_ROWS // 2 :]
    assert "corrupt and skipped: 14\n" in reports()[0]
    assert (
        "record 6: the checksum of the length does not match; nor can" in reports()[0]
    )


@pytest.mark.timeout(120)
def test_file_removed_between_its_check_and_its_opening_is_skipped(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is one thing that could not be read."""
    directory = data()
    dataset = make_dataset(_unlisted(directory), on_corrupt="skip")
    monkeypatch.setattr(faults, "opening_problem", lambda path, size: "")
    monkeypatch.setattr(faults, "changed", lambda path, state: "")
    _first(directory).unlink()
    assert len(_numbers(dataset)) == _ROWS // 2
    assert str(_first(directory)) in reports()[0]


def test_a_file_that_is_gone_is_skipped(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Callable[[], list[str]],
) -> None:
    """It is one thing that could not be read, and does not hang."""
    directory = data()
    dataset = make_dataset(directory, on_corrupt="skip")
    _first(directory).unlink()
    assert len(_numbers(dataset)) == _ROWS // 2
    assert "is not there now" in reports()[0]


@pytest.mark.slow
def test_full_batches_stay_full(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """With drop_remainder, a lost record is replaced by the next one."""
    directory = data()
    _changed(_first(directory), 13, _out_of_range)
    source = f"{directory}/train-*"
    dataset = make_dataset(source, on_corrupt="skip", drop_remainder=True)
    assert [len(features["number"]) for features, _ in dataset] == [8, 8, 8, 8]
    assert dataset.element_spec[0]["number"].shape == (8,)
    loose = make_dataset(source, on_corrupt="skip")
    assert [len(features["number"]) for features, _ in loose] == [8, 8, 8, 8, 7]


@pytest.mark.slow
def test_a_batch_of_nothing_else_is_left_out(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """An empty batch would be of no use to a model."""
    directory = data()
    for number in range(8):
        _changed(_first(directory), number, _out_of_range)
    dataset = make_dataset(f"{directory}/train-*", on_corrupt="skip")
    assert [len(features["number"]) for features, _ in dataset] == [8] * 4


@pytest.mark.slow
def test_each_epoch_of_a_repeated_dataset_is_reported(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Callable[[], list[str]],
) -> None:
    """At the end of each pass over the files."""
    directory = data()
    _changed(_first(directory), 3, _out_of_range)
    source = f"{directory}/train-*"
    dataset = make_dataset(source, on_corrupt="skip", repeat=3)
    assert len(_numbers(dataset)) == 3 * (_ROWS - 1)
    skipped = [int(text.split("skipped: ")[1].split("\n")[0]) for text in reports()]
    assert sum(skipped) == 3


def test_nothing_is_reported_where_all_is_well(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    reports: Callable[[], list[str]],
) -> None:
    """No news is good news."""
    assert len(_numbers(make_dataset(data(), on_corrupt="skip"))) == _ROWS
    assert reports() == []


def test_other_words_are_refused(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """With the nearest that there is."""
    with pytest.raises(Exception, match=r"on_corrupt='skpi': .*did you mean 'skip'"):
        make_dataset(data(), on_corrupt="skpi")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size=0: expected a positive int"),
        ({"batch_size": "8"}, "batch_size='8': expected a positive int"),
        ({"shuffle_buffer": 0}, "shuffle_buffer=0: expected a positive int"),
        ({"seed": "a"}, "seed='a': expected an int, or None"),
        ({"service_timeout": 0}, "service_timeout=0: expected a positive int"),
    ],
)
def test_options_that_are_none_are_refused(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    options: dict[str, Any],
    message: str,
) -> None:
    """Before anything is read, in plain words."""
    with pytest.raises(Exception, match=message):
        make_dataset(data(), **options)


def test_augment_has_to_return_features(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """A function for `map`, of features and targets, is not one for `augment`."""
    with pytest.raises(TypeError, match="augment has returned tuple, expected a dict"):
        make_dataset(data(), training=True, augment=lambda one, other: (one, other))


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

class Deep(Record):
    number: int
    pixels: Annotated[np.ndarray, Image(
        shape=(4, 4, None), channels_key="c", resize=(2, 2), role="info")]
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
        with pytest.raises(DatasetError) as caught:
            make_dataset(data, batch_size=2, info=field == "classes")
        assert str(caught.value) == (
            f"batch_size=2: field {field!r}: images of any size cannot be batched; "
            "declare resize=(height, width) in the schema, or use batch_size=1"
        )
        assert len(list(make_dataset(data, batch_size=1))) == 2


@pytest.mark.slow
def test_pictures_that_make_no_batch(tmp_path: Path, package_of: PackageOf) -> None:
    """Each can be parsed, and two together cannot: the error says why."""
    package = package_of(_ANY_SIZE)
    rows = [{"number": n, "pixels": np.zeros((4, 4, n), np.uint8)} for n in (1, 2)]
    package.module("deep", "serializer").write_dataset(rows, tmp_path, "train")
    make_dataset = package.module("deep", "pipeline").make_dataset
    said = "images of different numbers of channels cannot be batched; use batch_size=1"
    with pytest.raises(tf.errors.InvalidArgumentError, match=said) as caught:
        list(make_dataset(tmp_path, batch_size=2, info=True))
    assert "a batch of 2 records cannot be parsed" in str(caught.value)
    assert len(list(make_dataset(tmp_path, batch_size=1, info=True))) == 2
