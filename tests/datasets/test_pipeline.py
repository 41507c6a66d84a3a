"""From files to batches: which files are read, in which order, and what elements are."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import every_kind
import numpy as np
import pytest
import tensorflow as tf
from every_kind import numbers
from manifests import count_one_more

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import Data, MakeDataset, PackageOf, Workspace

_SCHEMA = """
from typing import Annotated
from schemagen import Label, Record, Text

class Informed(Record):
    number: int
    source: Annotated[str, Text(role="info")]

class Labelled(Record):
    kind: Annotated[int, Label(num_classes=5)]

class Noted(Record):
    source: Annotated[str, Text(role="info")]
"""
_ROWS = 23


def _round_robin(shards: int, rows: int = _ROWS) -> list[int]:
    return [n for shard in range(shards) for n in range(shard, rows, shards)]


@pytest.fixture
def directory(package: Workspace, tmp_path: Path) -> Path:
    """A directory with a split of three shards, and another one of fewer records."""
    write = package.module("small", "serializer").write_dataset
    for split, rows in (("train", _ROWS), ("test", 5)):
        write(map(every_kind.small, range(rows)), tmp_path / "data", split, shards=3)
    return tmp_path / "data"


# What is in an element.


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("shards", [1, 3, 8])
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_without_training_every_record_comes_once_in_order(
    data: Data, make_dataset: MakeDataset, shards: int, batch_size: int
) -> None:
    """Without training every record comes once, file after file, each time alike."""
    dataset = make_dataset(data(rows=_ROWS, shards=shards), batch_size=batch_size)
    assert numbers(dataset) == _round_robin(shards)
    assert numbers(dataset) == _round_robin(shards)
    sizes = [len(target) for _, target in dataset]
    assert sizes[:-1] == [batch_size] * (len(sizes) - 1)
    assert len(dataset) == len(sizes) == -(-_ROWS // batch_size)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("drop_remainder", [True, False])
def test_elements_are_features_targets_weights_and_info(
    data: Data, package: Workspace, drop_remainder: bool
) -> None:
    """Features, a dict of targets, weights and info, of the shapes of the schema."""
    dataset = package.module("every", "pipeline").make_dataset(
        data("every", 7, 2), batch_size=2, info=True, drop_remainder=drop_remainder
    )
    features, targets, weights, info = dataset.element_spec
    rows = 2 if drop_remainder else None
    assert features["spots"] == tf.RaggedTensorSpec(
        (rows, None, 2), tf.float32, ragged_rank=1
    )
    expected = {
        "photo": tf.TensorSpec((rows, 4, 6, 3), tf.uint8),
        "picture": tf.TensorSpec((rows, 5, 7, 3), tf.uint8),
        "tokens": tf.TensorSpec((rows, None), tf.int64),
        "words": tf.TensorSpec((rows, None), tf.string),
        "note": tf.TensorSpec((rows,), tf.string),
        "note_present": tf.TensorSpec((rows,), tf.bool),
        "vector": tf.TensorSpec((rows, 2, 3), tf.float64),
        "height": tf.TensorSpec((rows,), tf.float32),
    }
    assert {name: features[name] for name in expected} == expected
    assert targets["price"] == weights == tf.TensorSpec((rows,), tf.float32)
    assert info["comment_present"] == tf.TensorSpec((rows,), tf.bool)
    for features, targets, weights, info in dataset.as_numpy_iterator():
        there = info["number"] % 3 > 0
        np.testing.assert_array_equal(targets["kind"], info["number"] % 7)
        np.testing.assert_array_equal(targets["price"], info["number"] / 2)
        np.testing.assert_array_equal(weights, np.where(there, 0.5, 1))
        np.testing.assert_array_equal(features["note_present"], there)
        np.testing.assert_array_equal(info["comment_present"], there)
        np.testing.assert_array_equal(np.isnan(features["height"]), ~there)


def _operations(dataset: Any) -> Iterator[str]:
    """Yield the name of each dataset that one is made of."""
    yield type(dataset).__name__
    for each in dataset._inputs():
        yield from _operations(each)


def test_few_datasets_are_between_files_and_batches(
    data: Data, make_dataset: MakeDataset
) -> None:
    """What an expert writes, a number for each batch, and one check of the numbers."""
    found = [*_operations(make_dataset(data(), batch_size=8, training=True))]
    assert len(found) <= 21, found


def test_elements_without_targets_are_features_alone(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """The dict of features alone, or a pair of it and the info that is asked for."""
    package = package_of(_SCHEMA)
    write = package.module("informed", "serializer").write_dataset
    write([{"number": 3, "source": "here"}], tmp_path, "all")
    make = package.module("informed", "pipeline").make_dataset
    (features,) = make(tmp_path, batch_size=2).as_numpy_iterator()
    assert features == {"number": [3]}
    ((features, info),) = make(tmp_path, batch_size=2, info=True).as_numpy_iterator()
    assert (features, info) == ({"number": [3]}, {"source": [b"here"]})
    with pytest.raises(DatasetError, match="pad_to_max_length=True"):
        make(tmp_path, batch_size=2, pad_to_max_length=True)  # there is nothing to pad


def test_targets_are_left_out_on_request(data: Data, make_dataset: MakeDataset) -> None:
    """As models are asked for predictions."""
    features, *_ = make_dataset(data(), batch_size=5, fields=["number"], targets=False)
    assert {name: t.numpy().tolist() for name, t in features.items()} == {
        "number": [0, 4, 8, 12, 16]
    }


@pytest.mark.parametrize(
    ("record", "row"), [("labelled", {"kind": 3}), ("noted", {"source": "x"})]
)
def test_record_without_inputs_is_refused(
    package_of: PackageOf, tmp_path: Path, record: str, row: dict[str, Any]
) -> None:
    """There is nothing that a model could take; `parse_batch` reads such records."""
    package = package_of(_SCHEMA)
    package.module(record, "serializer").write_dataset([row], tmp_path, "train")
    make = package.module(record, "pipeline").make_dataset
    with pytest.raises(DatasetError, match="role='input'"):
        make(tmp_path, "train", batch_size=4, info=record == "noted")
    parse = package.module(record, "parser").parse_batch
    files = tf.data.Dataset.list_files(f"{tmp_path}/train-*")
    (batch,) = tf.data.TFRecordDataset(files).batch(32).map(parse)
    assert set(batch) == set(row)
    with pytest.raises(ValueError, match=r"fields=\[\]"):
        parse(tf.constant([b""]), [])


@pytest.mark.parametrize("record", ["small", "clip"])
def test_a_single_record_is_not_a_batch(package: Workspace, record: str) -> None:
    """Inside of a graph and outside."""
    parse = package.module(record, "parser").parse_batch
    for function in (parse, tf.function(parse, autograph=False)):
        with pytest.raises(ValueError, match=r"string \[B\]"):
            function(tf.constant(b"record"))


# Where the records come from.


def test_sources_of_each_form_give_what_they_name(
    directory: Path, make_dataset: MakeDataset
) -> None:
    """A directory, a glob, a list of files and one file give what they name."""
    paths = sorted(directory.glob("train-*"))
    one = _round_robin(3)[8:16]
    assert one[:2] == [1, 4]
    for source, split, expected in (
        (directory, "train", _round_robin(3)),
        (str(directory), "test", _round_robin(3, 5)),
        (f"{directory}/train-*.tfrecord", None, _round_robin(3)),
        (paths, None, _round_robin(3)),
        (list(map(str, paths[::-1])), None, [*range(2, 23, 3), *one, *range(0, 23, 3)]),
        (paths[1], None, one),
        ([str(paths[1])], None, one),
    ):
        assert numbers(make_dataset(source, split, batch_size=4)) == expected


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("name", ["a.tfrecord", "a", "a.tfrecord.gz"])
def test_files_without_a_manifest_are_read_by_content(
    make_dataset: MakeDataset,
    package: Workspace,
    tmp_path: Path,
    name: str,
    compression: str,
) -> None:
    """Without a manifest they are read by content, whatever their names; empty ones too."""
    serialize = package.module("small", "serializer").serialize
    path = tmp_path / name
    content = b""
    for rows in (0, 5):
        with tf.io.TFRecordWriter(str(path), compression) as writer:
            for number in range(rows):
                writer.write(serialize(**every_kind.small(number)))
        assert numbers(make_dataset(path, batch_size=4)) == list(range(rows))
        content = path.read_bytes()
    path.write_bytes(content * 2)  # several members in a row
    assert numbers(make_dataset(path, batch_size=4)) == [*range(5), *range(5)]
    path.write_bytes(b"")
    assert numbers(make_dataset(path, batch_size=4)) == []


def test_files_of_mixed_compression_are_read_if_unlisted(
    directory: Path, make_dataset: MakeDataset
) -> None:
    """Without a manifest each is read by its own; listed ones have to be as listed."""
    paths = sorted(directory.glob("train-*"))
    paths[1].write_bytes(gzip.compress(paths[1].read_bytes()))
    with pytest.raises(DatasetError, match=str(paths[1])):
        make_dataset(paths, batch_size=4)
    (directory / "manifest.json").unlink()
    assert numbers(make_dataset(paths, batch_size=4)) == _round_robin(3)


def _with_text(directory: Path) -> str:
    (directory / "notes.txt").write_text("no records here, only text")
    return f"{directory}/notes.txt"


def _with_bytes(directory: Path) -> str:
    (directory / "notes.txt").write_bytes(b"\xffno records here")
    return f"{directory}/[nt]*"


def _without_manifest(directory: Path) -> Path:
    (directory / "manifest.json").unlink()
    return directory


def _without_shard(directory: Path) -> Path:
    (directory / "train-00001-of-00003.tfrecord").unlink()
    return directory


def _with_short_shard(directory: Path) -> Path:
    path = directory / "train-00001-of-00003.tfrecord"
    path.write_bytes(path.read_bytes()[:-7])
    return directory


# what is asked for, with which split, and what the error names
_REFUSED: dict[str, tuple[Callable[[Path], Any], Any, tuple[str, ...]]] = {
    "no directory": (lambda path: path / "nowhere", None, ("nowhere",)),
    "an empty glob": (lambda path: f"{path}/nowhere-*", None, ("nowhere-*",)),
    "no file of a list": (lambda path: [path / "nowhere"], None, ("nowhere",)),
    "an empty list": (lambda path: [], None, ()),
    "a listed directory": (lambda path: [path], None, ("data",)),
    "the manifest": (lambda path: path / "manifest.json", None, ("data'",)),
    "no split": (lambda path: path, "valid", ("'valid'", "test, train")),
    "a misspelt split": (lambda path: path, "trian", ("'trian'", "'train'")),
    "a split twice": (lambda path: path, ["train", "train"], ("'train'",)),
    "one of two splits": (lambda path: path, None, ("test, train",)),
    "a split of files": (lambda path: f"{path}/train-*", "train", ("'train'",)),
    "a text": (_with_text, None, ("notes.txt", "no records h")),
    "other bytes in a glob": (_with_bytes, None, ("notes.txt", "ff 6e 6f")),
    "no manifest": (_without_manifest, "train", ("manifest.json", "/train-*'")),
    "a shard too few": (_without_shard, "train", ("train-00001-of-00003.tfrecord",)),
    "a short shard": (_with_short_shard, "train", ("train-00001-of-00003.tfrecord",)),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_wrong_sources_are_refused(
    directory: Path, make_dataset: MakeDataset, case: str
) -> None:
    """Before anything is read; the error names the file, or what there is."""
    source, split, words = _REFUSED[case]
    with pytest.raises(DatasetError) as caught:
        make_dataset(source(directory), split, batch_size=4)
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize(
    "pattern",
    [
        "train-{}-of-00003.tfrecord",
        "train-{}-of-00003",
        "train.tfrecord-{}-of-00003",
        "train-{}-of-00003.tfrecord.gz",
    ],
)
def test_an_incomplete_glob_of_any_names(
    directory: Path, make_dataset: MakeDataset, tmp_path: Path, pattern: str
) -> None:
    """It is not read as a whole split, which may count its shards from 1."""
    content = (directory / "train-00000-of-00003.tfrecord").read_bytes()
    for number in ("00001", "00003"):
        (tmp_path / pattern.format(number)).write_bytes(content)
    with pytest.raises(DatasetError, match=r"-\*-of-00003.*0000"):
        make_dataset(f"{tmp_path}/train*", batch_size=4)
    (tmp_path / pattern.format("00002")).write_bytes(content)
    dataset = make_dataset(f"{tmp_path}/train*", batch_size=4)
    assert numbers(dataset) == 3 * list(range(0, _ROWS, 3))


def test_a_file_with_a_record_too_few_is_an_error(
    directory: Path, make_dataset: MakeDataset
) -> None:
    """A manifest whose counts differ from the files is found out while reading."""
    count_one_more(directory, 0)
    dataset = make_dataset(directory, "train", batch_size=4)
    found = r"/train-00000-of-00003.tfrecord: .* 8 records.* 9"
    with pytest.raises(tf.errors.InvalidArgumentError, match=found):
        numbers(dataset)
