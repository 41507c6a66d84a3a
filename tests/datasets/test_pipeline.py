"""From files to batches: every record once, in the order that was promised."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector

class Plain(Record):
    number: int
    kind: Annotated[int, Label(num_classes=5)]

class Full(Record):
    photo: Annotated[np.ndarray, Image(shape=(4, 6, 3))]
    picture: Annotated[bytes, Image(shape=(None, None, 3), encoding="png", resize=(5, 7))]
    tokens: Annotated[list[int], VarLen(dtype="int64")]
    points: Annotated[list, VarLen(dtype="float32", item_shape=(2,), ragged=True)]
    words: list[str]
    note: str | None = None
    size: Annotated[np.ndarray, Vector(shape=(2, 3), dtype="float64")]
    count: int | None = None
    height: float | None = None
    kind: Annotated[int, Label(num_classes=5)]
    price: Annotated[float, Scalar("float32", role="target")]
    weight: Annotated[float, Scalar("float32", role="weight")] = 1.0
    source: Annotated[str, Text(role="info")]
    comment: Annotated[bytes | None, Scalar("bytes")] = None

class Bare(Record):
    number: int

class BareWithInfo(Record):
    number: int
    source: Annotated[str, Text(role="info")]

class Labelled(Record):
    kind: Annotated[int, Label(num_classes=5)]

class Noted(Record):
    source: Annotated[str, Text(role="info")]
"""
_ROWS = 23

MakeDataset = Callable[..., tf.data.Dataset]


@pytest.fixture
def package(package_of: PackageOf) -> Workspace:
    """The generated package for the schema above."""
    return package_of(_SCHEMA)


@pytest.fixture
def make_dataset(package: Workspace) -> MakeDataset:
    """`make_dataset` of the plain record."""
    found: MakeDataset = package.module("plain", "pipeline").make_dataset
    return found


def _plain(rows: int = _ROWS) -> list[dict[str, int]]:
    return [{"number": n, "kind": n % 5} for n in range(rows)]


@pytest.fixture
def data(package: Workspace, tmp_path: Path) -> Callable[..., Path]:
    """Write plain records to a directory, numbered from 0."""
    write = package.module("plain", "serializer").write_dataset

    def make(rows: int = _ROWS, split: str = "train", **options: Any) -> Path:
        write(iter(_plain(rows)), tmp_path, split, **options)
        return tmp_path

    return make


def _numbers(dataset: tf.data.Dataset) -> list[int]:
    """The numbers of the records, in the order in which they come."""
    return [int(n) for features, _ in dataset for n in features["number"]]


def _round_robin(shards: int, rows: int = _ROWS) -> list[int]:
    return [n for shard in range(shards) for n in range(shard, rows, shards)]


# Which records, in which order.


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("shards", [1, 3, 8])
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_evaluation(
    data: Callable[..., Path], make_dataset: MakeDataset, shards: int, batch_size: int
) -> None:
    """Without training every record comes once, file after file, each time alike."""
    dataset = make_dataset(data(shards=shards), batch_size=batch_size)
    assert _numbers(dataset) == _round_robin(shards)
    assert _numbers(dataset) == _round_robin(shards)
    sizes = [len(target) for _, target in dataset]
    assert sizes[:-1] == [batch_size] * (len(sizes) - 1)
    assert len(dataset) == len(sizes) == -(-_ROWS // batch_size)


def test_features_and_targets_stay_together(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """However records are shuffled, each keeps its own label."""
    dataset = make_dataset(data(shards=3), batch_size=4, training=True)
    for features, kinds in dataset:
        np.testing.assert_array_equal(features["number"] % 5, kinds)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("shards", [1, 3, 8])
@pytest.mark.parametrize("cache", [False, True])
def test_training(
    data: Callable[..., Path], make_dataset: MakeDataset, shards: int, cache: bool
) -> None:
    """In training every record comes once an epoch, in another order each time."""
    dataset = make_dataset(
        data(shards=shards), batch_size=4, training=True, seed=1, cache=cache
    )
    epochs = [_numbers(dataset) for _ in range(3)]
    for epoch in epochs:
        assert sorted(epoch) == list(range(_ROWS))
        assert epoch != _round_robin(shards)
    assert len(set(map(tuple, epochs))) == 3


@pytest.mark.slow
def test_a_seed_makes_it_repeatable(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """The same seed gives the same epochs, another seed others."""
    directory = data(shards=3)

    def epochs(seed: int) -> list[list[int]]:
        dataset = make_dataset(directory, batch_size=4, training=True, seed=seed)
        return [_numbers(dataset) for _ in range(2)]

    assert epochs(7) == epochs(7)
    assert epochs(7) != epochs(8)


def test_a_small_buffer_reads_all(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """A shuffle buffer smaller than the data loses nothing."""
    dataset = make_dataset(data(), batch_size=4, training=True, shuffle_buffer=2)
    assert sorted(_numbers(dataset)) == list(range(_ROWS))


@pytest.mark.parametrize("training", [False, True])
def test_repeat(
    data: Callable[..., Path], make_dataset: MakeDataset, training: bool
) -> None:
    """Repeated, each round of records is a whole epoch, without end."""
    dataset = make_dataset(data(), batch_size=1, training=training, repeat=True)
    assert dataset.cardinality() == tf.data.INFINITE_CARDINALITY
    found = _numbers(dataset.take(3 * _ROWS))
    rounds = [found[at : at + _ROWS] for at in range(0, len(found), _ROWS)]
    assert [sorted(one) for one in rounds] == [list(range(_ROWS))] * 3
    assert (rounds[0] == rounds[1]) is not training


def test_drop_remainder(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """The smaller last batch is left out, and all others have a static size."""
    dataset = make_dataset(data(), batch_size=4, drop_remainder=True)
    assert [len(target) for _, target in dataset] == [4] * 5
    assert len(dataset) == 5
    features, target = dataset.element_spec
    assert target.shape == (4,)
    assert features["number"].shape == (4,)


def test_cache(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """After the first epoch a cached dataset does not need its files any more."""
    directory = data(shards=3)
    cached = make_dataset(directory, batch_size=4, cache=True)
    plain = make_dataset(directory, batch_size=4)
    assert _numbers(cached) == _numbers(plain)
    for path in directory.glob("train*"):
        path.unlink()
    assert _numbers(cached) == _round_robin(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not there now"):
        _numbers(plain)


@pytest.mark.parametrize("training", [False, True])
def test_augment(
    data: Callable[..., Path], make_dataset: MakeDataset, training: bool
) -> None:
    """Augmentation changes features in training, and never in evaluation."""

    def negate(features: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        return {**features, "number": -features["number"]}

    dataset = make_dataset(data(), batch_size=4, training=training, augment=negate)
    sign = -1 if training else 1
    assert sorted(_numbers(dataset)) == sorted(sign * n for n in range(_ROWS))


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("options", [{}, {"training": True}, {"cache": True}])
@pytest.mark.parametrize("shards", [None, 3])
@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_a_split_without_records(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    options: dict[str, Any],
    shards: int | None,
    compression: str | None,
) -> None:
    """An empty split is an empty dataset, with all its dtypes and shapes."""
    directory = data(0, shards=shards, compression=compression)
    dataset = make_dataset(directory, batch_size=4, **options)
    assert _numbers(dataset) == []
    assert len(dataset) == 0
    assert dataset.element_spec[1] == tf.TensorSpec((None,), tf.int64)


# What is in an element.


def _full(number: int) -> dict[str, Any]:
    noise = np.random.default_rng(number)
    return {
        "photo": noise.integers(0, 256, (4, 6, 3)).astype(np.uint8),
        "picture": _png(noise.integers(0, 256, (3 + number, 4, 3)).astype(np.uint8)),
        "tokens": list(range(number)),
        "points": np.ones((number, 2), np.float32),
        "words": ["w"] * number,
        "note": None if number else "first",
        "size": np.full((2, 3), number / 3),
        "count": number or None,
        "height": None,
        "kind": number % 5,
        "price": number / 2,
        "weight": number + 1.0,
        "source": f"source {number}",
        "comment": None if number else b"\xff",
    }


def _png(pixels: Any) -> bytes:
    found: bytes = tf.io.encode_png(pixels).numpy()
    return found


@pytest.fixture
def full(package: Workspace, tmp_path: Path) -> Path:
    """A directory with four full records."""
    write = package.module("full", "serializer").write_dataset
    write(map(_full, range(4)), tmp_path, "train")
    return tmp_path


@pytest.mark.slow
def test_several_targets_and_weights(full: Path, package: Workspace) -> None:
    """Elements are features, a dict of targets, and the weights."""
    dataset = package.module("full", "pipeline").make_dataset(full, batch_size=3)
    (features, targets, weights), (_, last, _) = dataset
    assert sorted(features) == [
        "count",
        "count_present",
        "height",
        "note",
        "note_present",
        "photo",
        "picture",
        "points",
        "size",
        "tokens",
        "words",
    ]
    assert sorted(targets) == ["kind", "price"]
    assert targets["kind"].numpy().tolist() == [0, 1, 2]
    assert targets["price"].numpy().tolist() == [0.0, 0.5, 1.0]
    assert last["kind"].numpy().tolist() == [3]
    assert weights.numpy().tolist() == [1.0, 2.0, 3.0]
    assert features["note_present"].numpy().tolist() == [True, False, False]
    assert features["count_present"].numpy().tolist() == [False, True, True]
    assert np.isnan(features["height"].numpy()).all()


@pytest.mark.slow
def test_info_comes_last(full: Path, package: Workspace) -> None:
    """Fields that are not modelled come as the last member, if asked for."""
    dataset = package.module("full", "pipeline").make_dataset(
        full, batch_size=4, info=True
    )
    ((features, targets, weights, info),) = dataset
    assert "source" not in features
    assert sorted(targets) == ["kind", "price"]
    assert weights.shape == (4,)
    assert sorted(info) == ["comment", "comment_present", "source"]
    assert info["source"].numpy().tolist() == [f"source {n}".encode() for n in range(4)]
    assert info["comment"].numpy().tolist() == [b"\xff", b"", b"", b""]
    assert info["comment_present"].numpy().tolist() == [True, False, False, False]


@pytest.mark.parametrize("drop_remainder", [False, True])
def test_static_shapes(full: Path, package: Workspace, drop_remainder: bool) -> None:
    """Every shape that the schema fixes is known before the first batch."""
    dataset = package.module("full", "pipeline").make_dataset(
        full, batch_size=2, info=True, drop_remainder=drop_remainder
    )
    features, targets, weights, info = dataset.element_spec
    rows = 2 if drop_remainder else None
    ragged = features.pop("points")
    assert isinstance(ragged, tf.RaggedTensorSpec)
    assert (ragged.shape.as_list(), ragged.dtype) == ([rows, None, 2], tf.float32)
    assert {n: (s.shape.as_list(), s.dtype.name) for n, s in features.items()} == {
        "photo": ([rows, 4, 6, 3], "uint8"),
        "picture": ([rows, 5, 7, 3], "uint8"),
        "tokens": ([rows, None], "int64"),
        "words": ([rows, None], "string"),
        "note": ([rows], "string"),
        "note_present": ([rows], "bool"),
        "size": ([rows, 2, 3], "float64"),
        "count": ([rows], "int64"),
        "count_present": ([rows], "bool"),
        "height": ([rows], "float32"),
    }
    assert targets["price"] == tf.TensorSpec((rows,), tf.float32)
    assert weights == tf.TensorSpec((rows,), tf.float32)
    assert info["comment_present"] == tf.TensorSpec((rows,), tf.bool)


def test_records_without_targets(package: Workspace, tmp_path: Path) -> None:
    """Without targets an element is the dict of features alone."""
    package.module("bare", "serializer").write_dataset([{"number": 3}], tmp_path, "all")
    make = package.module("bare", "pipeline").make_dataset
    (features,) = make(tmp_path, batch_size=2)
    assert {name: t.numpy().tolist() for name, t in features.items()} == {"number": [3]}


def test_records_with_info_and_without_targets(
    package: Workspace, tmp_path: Path
) -> None:
    """Without targets, info still is the last member of a pair."""
    write = package.module("bare_with_info", "serializer").write_dataset
    write([{"number": 3, "source": "here"}], tmp_path, "all")
    make = package.module("bare_with_info", "pipeline").make_dataset
    ((features, info),) = make(tmp_path, batch_size=2, info=True)
    assert features["number"].numpy().tolist() == [3]
    assert info["source"].numpy().tolist() == [b"here"]


# Where the records come from.


def test_record_without_inputs_is_refused(package: Workspace, tmp_path: Path) -> None:
    """There is nothing that a model could take; `parse_batch` reads such records."""
    for record, row in {"labelled": {"kind": 3}, "noted": {"source": "x"}}.items():
        directory = tmp_path / record
        package.module(record, "serializer").write_dataset([row], directory, "train")
        make = package.module(record, "pipeline").make_dataset
        for options in ({}, {"info": True}) if record == "noted" else ({},):
            with pytest.raises(Exception, match=r".") as caught:
                make(directory, "train", batch_size=4, **options)
            assert type(caught.value).__name__ == "DatasetError"
            such = ", such as 'source'" if record == "noted" else ""
            assert str(caught.value) == (
                "the record has no field of the role input, so that a dataset would "
                f"have no features; declare one with role='input'{such}, or read all "
                "fields with parse_batch: "
                "tf.data.TFRecordDataset(files).batch(32).map(parse_batch)"
            )
        parse = package.module(record, "parser").parse_batch
        files = tf.data.Dataset.list_files(f"{directory}/train-*")
        (batch,) = tf.data.TFRecordDataset(files).batch(32).map(parse)
        assert set(batch) == set(row)
        with pytest.raises(ValueError, match=r"fields=\[\]: expected names out of "):
            parse(tf.constant([b""]), [])


def test_unknown_options_are_refused(make_dataset: MakeDataset) -> None:
    """The nearest option is named."""
    with pytest.raises(TypeError, match="no option 'batch'; did you mean 'batch_size'"):
        make_dataset("data", "train", batch=8)


@pytest.mark.slow
def test_sources(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """A directory, a glob and a list of files give the same records."""
    directory = data(shards=3)
    paths = sorted(directory.glob("train-*"))
    for source in (directory, str(directory), f"{directory}/train-*.tfrecord", paths):
        assert _numbers(make_dataset(source, batch_size=4)) == _round_robin(3)
    backwards = make_dataset(list(map(str, paths[::-1])), batch_size=4)
    assert sorted(_numbers(backwards)) == list(range(_ROWS))
    assert _numbers(backwards) != _round_robin(3)


@pytest.mark.slow
def test_a_single_file(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """Who names one file gets its records, be it one of many."""
    directory = data(shards=3)
    path = directory / "train-00001-of-00003.tfrecord"
    for source in (path, str(path), [path]):
        found = _numbers(make_dataset(source, batch_size=4))
        assert found == list(range(1, _ROWS, 3))


@pytest.mark.slow
def test_the_only_split_needs_no_name(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """A directory's only split is meant; of two, one has to be named."""
    directory = data(5, "test")
    assert _numbers(make_dataset(directory, batch_size=4)) == list(range(5))
    data(3, "train")
    assert _numbers(make_dataset(directory, "train", batch_size=4)) == [0, 1, 2]
    assert _numbers(make_dataset(directory, "test", batch_size=4)) == list(range(5))
    with pytest.raises(Exception, match=r"no split was named") as caught:
        make_dataset(directory, batch_size=4)
    assert str(caught.value) == (
        f"{directory}/manifest.json: no split was named; there are: test, train; name "
        "one, such as split='train'"
    )


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", ["a.tfrecord", "a", "a.tfrecord.gz"])
@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_files_of_others(
    make_dataset: MakeDataset,
    package: Workspace,
    tmp_path: Path,
    name: str,
    compression: str,
) -> None:
    """Files without a manifest are read by their content, whatever their names say."""
    serialize = package.module("plain", "serializer").serialize
    with tf.io.TFRecordWriter(str(tmp_path / name), compression) as writer:
        for row in _plain(5):
            writer.write(serialize(**row))
    assert _numbers(make_dataset(tmp_path / name, batch_size=4)) == list(range(5))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ["a.tfrecord", "a", "a.tfrecord.gz"])
@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_empty_files_of_others(
    make_dataset: MakeDataset, tmp_path: Path, name: str, compression: str
) -> None:
    """A file without records, compressed or of no bytes at all, is an empty dataset."""
    with tf.io.TFRecordWriter(str(tmp_path / name), compression):
        pass
    assert _numbers(make_dataset(tmp_path / name, batch_size=4)) == []
    (tmp_path / name).write_bytes(b"")
    assert _numbers(make_dataset(tmp_path / name, batch_size=4)) == []


def test_files_of_mixed_compression(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """Each file of a list is read by its own compression."""
    directory = data(shards=2)
    (directory / "manifest.json").unlink()
    first, second = sorted(directory.glob("train-*"))
    second.write_bytes(gzip.compress(second.read_bytes()))
    assert _numbers(make_dataset([first, second], batch_size=4)) == _round_robin(2)


def _refused(make_dataset: MakeDataset, *source: Any) -> str:
    with pytest.raises(Exception, match=r".") as caught:
        make_dataset(*source, batch_size=4)
    assert type(caught.value).__name__ == "DatasetError"
    return str(caught.value)


def test_nothing_there(make_dataset: MakeDataset, tmp_path: Path) -> None:
    """Sources that do not exist are named."""
    nowhere = tmp_path / "nowhere"
    expected = f"{nowhere}: no such directory or file"
    assert _refused(make_dataset, nowhere) == expected
    assert _refused(make_dataset, f"{nowhere}-*") == f"{nowhere}-*: no file matches"
    assert _refused(make_dataset, [nowhere]) == f"{nowhere}: no such file"
    assert _refused(make_dataset, []) == "an empty list of files"
    assert _refused(make_dataset, [tmp_path]).startswith(f"{tmp_path}: a directory in")


def test_no_manifest(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """Shards without a manifest are not guessed at; the message says how to go on."""
    directory = data()
    (directory / "manifest.json").unlink()
    assert _refused(make_dataset, directory) == (
        f"{directory}: no manifest.json, so it is unknown which files are complete "
        "and which schema wrote them; to read files without one, pass a glob such as "
        f"'{directory}/train-*'"
    )


def test_an_unknown_split(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """A split that is not there is named next to those that are."""
    directory = data()
    data(3, "test")
    known = f"{directory}/manifest.json: no split {{!r}}; there are: test, train"
    assert _refused(make_dataset, directory, "valid") == known.format("valid")
    assert _refused(make_dataset, directory, "trian") == (
        known.format("trian") + "; did you mean 'train'?"
    )
    assert _refused(make_dataset, directory, ["train", "test"]) == (
        "split=['train', 'test']: expected the name of one split, such as 'train'"
    )


def test_a_split_of_files(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """Files have no splits: naming one next to a glob is a mistake."""
    pattern = f"{data()}/train-*"
    assert _refused(make_dataset, pattern, "train") == (
        "split='train' is for a data directory; the source names files itself"
    )


def test_a_missing_shard(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """A shard that the manifest lists has to be there."""
    path = data(shards=3) / "train-00001-of-00003.tfrecord"
    path.unlink()
    assert _refused(make_dataset, path.parent) == (
        f"{path}: missing, and the manifest lists it; restore it from a copy, or write the split again"
    )


def test_a_short_shard(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """A shard of another size than was written is refused before it is read."""
    path = data(shards=3) / "train-00001-of-00003.tfrecord"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-7])
    assert _refused(make_dataset, path.parent) == (
        f"{path}: found {size - 7} bytes, expected the {size} that the manifest lists; "
        "restore it from a copy, or write the split again"
    )


def test_an_incomplete_glob(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """A glob that finds some shards of a split is not read as the whole of it."""
    directory = data(shards=4)
    (directory / "train-00002-of-00004.tfrecord").unlink()
    assert _refused(make_dataset, f"{directory}/train-*") == (
        f"{directory}/train-*-of-00004: 1 of 4 shards are not there, the first is "
        "00002; pass a list of files to read only a part"
    )


@pytest.mark.parametrize(
    "pattern",
    [
        "train-{}-of-00003",
        "train.tfrecord-{}-of-00003",
        "train.record-{}-of-00003",
        "train-{}-of-00003.tfrecord.gz",
    ],
)
def test_an_incomplete_glob_of_any_names(
    data: Callable[..., Path],
    make_dataset: MakeDataset,
    tmp_path: Path,
    pattern: str,
) -> None:
    """ImageNet's have no suffix, and those of TFDS have it before the numbers."""
    content = (data(shards=1) / "train-00000-of-00001.tfrecord").read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    for number in ("00000", "00002"):
        (other / pattern.format(number)).write_bytes(content)
    stem = pattern.split("-{}")[0]
    assert _refused(make_dataset, f"{other}/train*") == (
        f"{other}/{stem}-*-of-00003: 1 of 3 shards are not there, the first is 00001; "
        "pass a list of files to read only a part"
    )


def test_a_glob_of_shards_that_count_from_one(
    data: Callable[..., Path], make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """All of them are there."""
    content = (data(shards=1) / "train-00000-of-00001.tfrecord").read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    for number in ("00001", "00002"):
        (other / f"train-{number}-of-00002").write_bytes(content)
    dataset = make_dataset(f"{other}/train*", batch_size=4)
    assert len(_numbers(dataset)) == 2 * _ROWS


def test_a_foreign_file(
    data: Callable[..., Path], make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """A file that holds no records is refused by name, in a glob too."""
    (tmp_path / "notes.txt").write_text("no records here, only text")
    assert _refused(make_dataset, f"{data()}/[nt]*").startswith(
        f"{tmp_path}/notes.txt: not a TFRecord file: it begins with 'no records h', "
    )
    (tmp_path / "notes.txt").write_bytes(b"\xffno records here")
    assert _refused(make_dataset, tmp_path / "notes.txt").startswith(
        f"{tmp_path}/notes.txt: not a TFRecord file: it begins with ff 6e 6f"
    )


def test_a_manifest_is_no_source(
    data: Callable[..., Path], make_dataset: MakeDataset
) -> None:
    """Its directory is."""
    path = data() / "manifest.json"
    assert _refused(make_dataset, path) == (
        f"{path}: the manifest of a data directory; pass the directory, "
        f"{str(path.parent)!r}"
    )


def test_a_record_too_few(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """A manifest whose counts differ from the files is found out while reading."""
    directory = data()
    path = directory / "manifest.json"
    content = json.loads(path.read_text())
    del content["crc32c"]
    content["splits"]["train"]["records"] += 1
    content["splits"]["train"]["shards"][0]["records"] += 1
    path.write_text(json.dumps(content))
    dataset = make_dataset(directory, batch_size=4)
    found = (
        f"{directory}/train-00000-of-00001.tfrecord: found 23 records, expected the 24"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=found):
        _numbers(dataset)


def test_a_flipped_bit(data: Callable[..., Path], make_dataset: MakeDataset) -> None:
    """A shard of the right size with damaged bytes is found out while reading."""
    directory = data()
    path = directory / "train-00000-of-00001.tfrecord"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    found = r"train-00000-of-00001\.tfrecord: record \d+: the checksum of the record"
    with pytest.raises(tf.errors.InvalidArgumentError, match=found):
        _numbers(make_dataset(directory, batch_size=4))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [False, True])
def test_an_epoch_counts_each_record_once(
    package: Workspace, tmp_path: Path, training: bool
) -> None:
    """Equal records are no reason to drop one: as many come as were written."""
    write = package.module("plain", "serializer").write_dataset
    write([{"number": n % 3, "kind": 0} for n in range(9)], tmp_path, "t", shards=2)
    make = package.module("plain", "pipeline").make_dataset
    found = _numbers(make(tmp_path, batch_size=2, training=training))
    assert Counter(found) == {0: 3, 1: 3, 2: 3}
