"""What each option does to the records: each comes once an epoch, in the order said."""

from __future__ import annotations

import inspect
import json
import math
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from every_kind import values
from schemagen.runtime.parsing.nesting import flattened
from schemagen.runtime.storage.manifest import TAIL_BYTES

if TYPE_CHECKING:
    from conftest import Data, Workspace

ALL = list(range(50))
MakeDataset = Callable[..., Any]


@pytest.fixture
def make_dataset(package: Workspace) -> MakeDataset:
    """`make_dataset` of the small record."""
    found: MakeDataset = package.module("small", "pipeline").make_dataset
    return found


def _numbers(dataset: Any) -> list[int]:
    return [int(n) for features, _ in dataset for n in features["number"]]


def _refused(make: MakeDataset, source: Any, **options: Any) -> str:
    with pytest.raises(Exception, match=r".") as caught:
        make(source, **{"batch_size": 4, **options})
    assert type(caught.value).__name__ == "DatasetError"
    return str(caught.value)


# fields


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("fields", "delivered"),
    [
        (["photo"], {"photo"}),
        (("count", "height"), {"count", "count_present", "height"}),
        ({"place_x", "place_note"}, {"place_x", "place_note", "place_note_present"}),
        (["flags", "flags"], {"flags", "flags_present"}),
    ],
)
def test_some_fields(
    data: Data, package: Workspace, fields: Any, delivered: set[str]
) -> None:
    """Each comes with its mask, and as it does among all; targets are not touched."""
    make = package.module("every", "pipeline").make_dataset
    directory = data("every", 7, 2)
    parse = package.module("every", "parser").parse_batch
    ((features, targets, _, info),) = make(
        directory, batch_size=7, fields=fields, info=True
    )
    assert set(features) == delivered
    assert set(targets) == {"things", "kind", "price"}
    assert set(info) == {"number", "blob", "comment", "comment_present"}
    records = [*tf.data.TFRecordDataset(sorted(map(str, directory.glob("train*"))))]
    whole = flattened(parse(tf.stack(records)))
    for name in delivered:
        assert values(features[name]) == values(whole[name])


def test_fields_without_targets(data: Data, package: Workspace) -> None:
    """A dict of them alone, or next to what is carried along."""
    make = package.module("bare", "pipeline").make_dataset
    write = package.module("bare", "serializer").write_dataset
    directory = data().parent / "unlabelled"
    write([{"number": n, "sort": n % 7} for n in range(5)], directory, "train")
    (features,) = make(directory, batch_size=5, fields=["number"], targets=False)
    assert {name: t.numpy().tolist() for name, t in features.items()} == {
        "number": [0, 1, 2, 3, 4]
    }
    _, sorts, weights = next(iter(make(directory, batch_size=5)))
    assert sorts.numpy().tolist() == [0, 1, 2, 3, 4]
    assert weights.numpy().tolist() == [1.0] * 5


@pytest.mark.slow
def test_fields_that_are_left_out_may_be_broken(
    make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """They are not parsed at all; once they are asked for, they are refused."""
    example = tf.train.Example()
    example.features.feature["number"].int64_list.value.append(3)
    example.features.feature["kind"].int64_list.value.append(1)
    example.features.feature["tokens"].bytes_list.value.append(b"no tokens")
    with tf.io.TFRecordWriter(str(tmp_path / "file")) as writer:
        writer.write(example.SerializeToString())
    source = str(tmp_path / "file")
    for options in ({}, {"cache_decoded": True}):
        found = make_dataset(source, batch_size=1, fields=["number"], **options)
        assert _numbers(found) == [3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(make_dataset(source, batch_size=1))


def test_fields_that_are_none(data: Data, package: Workspace) -> None:
    """The names are a closed set, so that the nearest is suggested."""
    make = package.module("small", "pipeline").make_dataset
    with pytest.raises(ValueError, match="no input field 'tokns'") as caught:
        make(data(), batch_size=4, fields=["tokns"])
    assert str(caught.value) == (
        "no input field 'tokns': expected names out of number, tokens; "
        "did you mean 'tokens'?"
    )
    with pytest.raises(ValueError, match="no input field 'kind'") as caught:
        make(data(), batch_size=4, fields=["kind"])
    assert str(caught.value).endswith(
        "number, tokens; targets and weights always come with make_dataset and are not "
        "listed in fields"
    )
    with pytest.raises(ValueError, match=r"fields=\[\]: expected names out of number"):
        make(data(), batch_size=4, fields=[])
    with pytest.raises(TypeError, match="fields='number': expected a collection"):
        make(data(), batch_size=4, fields="number")
    with pytest.raises(ValueError, match="no input field 'count_present'"):
        package.module("every", "pipeline").make_dataset(
            data("every", 7, 2), batch_size=4, fields=["count_present"]
        )


# repeat


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("cache", [False, True])
def test_epochs_are_complete_one_after_the_other(
    data: Data, make_dataset: MakeDataset, training: bool, cache: bool
) -> None:
    """No batch has records of two: each epoch ends with its own smaller batch."""
    dataset = make_dataset(
        data(), batch_size=7, training=training, repeat=3, cache=cache
    )
    sizes = [len(kinds) for _, kinds in dataset]
    assert sizes == [7, 7, 7, 7, 7, 7, 7, 1] * 3
    assert len(dataset) == 24
    found = _numbers(dataset)
    epochs = [tuple(found[at : at + 50]) for at in range(0, len(found), 50)]
    assert [sorted(epoch) for epoch in epochs] == [ALL] * 3
    assert len(set(epochs)) == (3 if training else 1)


@pytest.mark.slow
def test_once_is_one_epoch(data: Data, make_dataset: MakeDataset) -> None:
    """`repeat=1` is no repetition, and True is one without end."""
    assert len(_numbers(make_dataset(data(), batch_size=4, repeat=1))) == 50
    endless = make_dataset(data(), batch_size=10, repeat=True)
    assert endless.cardinality() == tf.data.INFINITE_CARDINALITY
    assert Counter(_numbers(endless.take(15))) == dict.fromkeys(ALL, 3)


@pytest.mark.parametrize("repeat", [0, -1, 1.5, "2", None])
def test_wrong_numbers_of_epochs(
    data: Data, make_dataset: MakeDataset, repeat: Any
) -> None:
    """There is no zeroth part of an epoch."""
    assert _refused(make_dataset, data(), repeat=repeat) == (
        f"repeat={repeat!r}: expected True, False or how many epochs"
    )


# cache


@pytest.fixture
def own(data: Data, tmp_path: Path) -> Path:
    """A copy of the records that may be changed."""
    directory: Path = shutil.copytree(data(), tmp_path / "data")
    return directory


def _spoil(directory: Path) -> None:
    """Make nothing of the files, of the same size as before."""
    for path in directory.glob("train*"):
        size = path.stat().st_size  # opening compares it, and the last bytes
        path.write_bytes(bytes(size - TAIL_BYTES) + path.read_bytes()[-TAIL_BYTES:])


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("decoded", [False, True])
def test_a_cache_in_a_file_is_read_by_the_next_dataset(
    own: Path, make_dataset: MakeDataset, tmp_path: Path, training: bool, decoded: bool
) -> None:
    """With any seed and in any later process; files of records are not read then."""

    def make(seed: int) -> Any:
        return make_dataset(
            own,
            batch_size=4,
            training=training,
            seed=seed,
            cache=tmp_path / "deep" / "cache",
            cache_decoded=decoded,
        )

    first = make(1)
    epochs = [_numbers(first), _numbers(first)]
    _spoil(own)
    second = make(1)
    assert [_numbers(second), _numbers(second)] == epochs
    assert sorted(epochs[0]) == sorted(epochs[1]) == ALL
    assert (epochs[0] == epochs[1]) is not training
    other = _numbers(make(2))
    assert sorted(other) == ALL
    assert (other == epochs[0]) is not training
    assert len(list((tmp_path / "deep").glob("*.index"))) == 1


def test_a_cache_in_memory_is_nobody_elses(
    own: Path, make_dataset: MakeDataset
) -> None:
    """It goes with the dataset, whose later epochs do without files."""
    dataset = make_dataset(own, batch_size=4, training=True, cache=True)
    assert sorted(_numbers(dataset)) == ALL
    _spoil(own)
    assert sorted(_numbers(dataset)) == ALL
    with pytest.raises(tf.errors.OpError):
        _numbers(make_dataset(own, batch_size=4, cache=True))


@pytest.mark.slow
def test_a_cache_is_never_that_of_other_data(
    package: Workspace, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """Neither of what stood in the same files before, nor of another part of it."""
    write = package.module("small", "serializer").write_dataset
    cache = tmp_path / "cache"

    def read(**options: Any) -> list[int]:
        return _numbers(
            make_dataset(tmp_path / "d", batch_size=4, cache=cache, **options)
        )

    def rows(numbers: range) -> list[dict[str, Any]]:
        return [{"number": n, "tokens": [], "kind": 0} for n in numbers]

    write(iter(rows(range(8))), tmp_path / "d", "train", shards=2)
    assert read() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert read(shard=(0, 2)) == [0, 2, 4, 6]
    assert read(shard=(1, 2)) == [1, 3, 5, 7]
    context = tf.distribute.InputContext(2, 1, 2)
    assert read(shard=context) == [1, 3, 5, 7]
    assert sorted(read(training=True)) == list(range(8))
    assert read() == [0, 2, 4, 6, 1, 3, 5, 7]
    write(iter(rows(range(10, 18))), tmp_path / "d", "train", shards=2, overwrite=True)
    assert read() == [10, 12, 14, 16, 11, 13, 15, 17]
    assert len(list(tmp_path.glob("cache-*.index"))) == 5


@pytest.mark.slow
def test_a_cache_of_files_without_a_manifest(
    own: Path, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """Its name depends on the files' order, sizes and times."""
    files = sorted(map(str, own.glob("train*")))
    cache = tmp_path / "cache"

    def read(files: list[str]) -> list[int]:
        return _numbers(make_dataset(files, batch_size=4, cache=cache))

    assert read(files) == read(files) == sorted(ALL, key=lambda n: n % 4)
    assert read(files[::-1]) == sorted(ALL, key=lambda n: -(n % 4))
    assert read(files[:1]) == ALL[::4]


def test_an_epoch_that_was_not_finished_leaves_no_cache(
    data: Data, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """What is there of it is not taken for the whole."""
    dataset = make_dataset(data(), batch_size=4, cache=tmp_path / "cache")
    iterator = iter(dataset)
    next(iterator)
    del iterator
    for _ in range(2):
        assert sorted(_numbers(dataset)) == ALL


@pytest.mark.slow
def test_a_cached_mixture_is_that_of_its_weights(
    data: Data, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """Other weights are other records."""
    one, other = str(data()), str(data(rows=30, shards=2))

    def read(weight: float) -> list[int]:
        weights = {one: 1.0, other: weight}
        dataset = make_dataset(
            weights, batch_size=4, training=True, seed=1, cache=tmp_path / "cache"
        )
        first = _numbers(dataset)
        assert sorted(first) == sorted(_numbers(dataset))
        return sorted(first)

    assert read(0.1) != read(10.0)
    assert len(list(tmp_path.glob("cache-*.index"))) == 2


def test_a_place_where_no_cache_can_be(
    data: Data, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """It is found out before anything is read."""
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file" / "cache")
    assert _refused(make_dataset, data(), cache=path).startswith(f"cache={path!r}: ")
    for wrong in ("", 7, 0, None):
        for decoded in (False, True):
            assert _refused(
                make_dataset, data(), cache=wrong, cache_decoded=decoded
            ) == (f"cache={wrong!r}: expected True, for memory, or the path of a file")


# cache_decoded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "rows", "batch_size"),
    [("every", 11, 4), ("clip", 11, 4), ("loose", 5, 1)],
)
def test_what_is_kept_decoded_is_what_would_be_parsed(
    data: Data, package: Workspace, record: str, rows: int, batch_size: int
) -> None:
    """Of every kind, in both epochs: the values, dtypes and what is known of shapes."""
    make = package.module(record, "pipeline").make_dataset
    options: dict[str, Any] = {"batch_size": batch_size, "info": True}
    plain = make(data(record, rows, 2), **options)
    kept = make(data(record, rows, 2), cache_decoded=True, **options)
    assert kept.element_spec == plain.element_spec
    assert len(kept) == len(plain)
    expected = [values(element) for element in plain]
    for _ in range(2):
        assert [values(element) for element in kept] == expected


@pytest.mark.slow
def test_shuffled_records_keep_their_parts_together(
    data: Data, package: Workspace
) -> None:
    """Decoded and kept in a file, in another order each epoch; alone, to compare."""
    make = package.module("clip", "pipeline").make_dataset
    directory = data("clip", 11, 2)
    expected = sorted(str(values(each)) for each in make(directory, batch_size=1))
    dataset = make(directory, batch_size=1, training=True, cache_decoded=True, seed=1)
    epochs = [[str(values(each)) for each in dataset] for _ in range(3)]
    assert [sorted(epoch) for epoch in epochs] == [expected] * 3
    assert len(set(map(tuple, epochs))) == 3


def test_decoded_records_are_padded_to_the_batch_that_they_come_in(
    data: Data, make_dataset: MakeDataset
) -> None:
    """In each epoch with others."""
    dataset = make_dataset(
        data(), batch_size=4, training=True, cache_decoded=True, drop_remainder=True
    )
    for features, _ in (*dataset, *dataset):
        tokens = features["tokens"].numpy()
        lengths = [n * 7 % 23 for n in features["number"].numpy()]
        assert tokens.shape == (4, max(lengths))
        for row, number, length in zip(
            tokens, features["number"], lengths, strict=True
        ):
            assert row.tolist() == [number] * length + [0] * (len(row) - length)
    assert len(dataset) == 12


# drop_remainder, pad_to_max_length


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("cache_decoded", [False, True])
def test_batches_of_one_shape(
    data: Data, make_dataset: MakeDataset, training: bool, cache_decoded: bool
) -> None:
    """Everything is known before the first batch, as compilers want it."""
    dataset = make_dataset(
        data(),
        batch_size=4,
        training=training,
        drop_remainder=True,
        pad_to_max_length=True,
        cache_decoded=cache_decoded,
    )
    features, kinds = dataset.element_spec
    assert features["tokens"] == tf.TensorSpec((4, 40), tf.int64)
    assert features["number"] == kinds == tf.TensorSpec((4,), tf.int64)
    assert len(dataset) == 12
    found = Counter(_numbers(dataset))
    assert found.total() == len(found) == 48
    for batch, _ in dataset:
        for number, row in zip(batch["number"], batch["tokens"].numpy(), strict=True):
            length = int(number) * 7 % 23
            assert row.tolist() == [number] * length + [0] * (40 - length)


@pytest.mark.slow
def test_only_rows_with_a_limit_are_filled_up(data: Data, package: Workspace) -> None:
    """Of each the filler is its own; the others stay as long as the longest."""
    make = package.module("every", "pipeline").make_dataset
    fields = ["frames", "tokens", "pairs", "words", "place_word"]
    ((features, *_),) = make(
        data("every", 7, 2), batch_size=7, fields=fields, pad_to_max_length=True
    )
    assert {name: tuple(t.shape) for name, t in features.items()} == {
        "frames": (7, 8, 3, 3, 1),
        "tokens": (7, 8),
        "pairs": (7, 8, 2),
        "words": (7, 2),
        "place_word": (7, 9),
    }
    assert (features["tokens"][:, 7] == -7).numpy().all()
    assert (features["pairs"][:, 7] == 9).numpy().all()
    assert (features["place_word"][:, 8] == b"-").numpy().all()
    assert not features["frames"][:, 7].numpy().any()


# bucket_by


def _bucket(length: int, boundaries: tuple[int, ...]) -> int:
    return sum(length >= boundary for boundary in boundaries)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("boundaries", [(5, 10), (1,), (100,), (1, 2, 3, 22)])
def test_rows_of_a_batch_are_of_one_bucket(
    data: Data, make_dataset: MakeDataset, training: bool, boundaries: tuple[int, ...]
) -> None:
    """All records once, each with its own target."""
    dataset = make_dataset(
        data(),
        batch_size=4,
        training=training,
        bucket_by="tokens",
        bucket_boundaries=boundaries,
    )
    for _ in range(2):
        found = []
        for features, kinds in dataset:
            numbers = features["number"].numpy().tolist()
            assert len({_bucket(n * 7 % 23, boundaries) for n in numbers}) == 1
            assert kinds.numpy().tolist() == [n % 7 for n in numbers]
            assert len(numbers) <= 4
            found += numbers
        assert sorted(found) == ALL
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY


_LENGTHS = {
    "frames": lambda n: n * 5 % 8,
    "tokens": lambda n: n * 5 % 8,
    "halves": lambda n: n * 5 % 8,
    "spots": lambda n: n % 4,
    "pairs": lambda n: n % 5,
    "words": lambda n: n % 3,
    "flags": lambda n: n * 5 % 8 if n % 3 else 0,
    "lists": lambda n: n * 5 % 8,
    "lines": lambda n: n % 4,
    "place_left": lambda n: n % 4,
    "place_word": lambda n: n % 4,
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("field", _LENGTHS)
def test_buckets_by_the_length_of_any_kind(
    data: Data, package: Workspace, field: str
) -> None:
    """Items are counted, whatever they are: float64 bytes, points, lists, pictures."""
    module = package.module("every", "pipeline")
    dataset = module.make_dataset(
        data("every", 20, 2),
        batch_size=3,
        fields=["truth"],
        info=True,
        bucket_by=field,
        bucket_boundaries=(2, 4, 6),
    )
    assert set(module.make_dataset.__self__.lengths) == set(_LENGTHS)
    found = []
    for *_, info in dataset:
        numbers = info["number"].numpy().tolist()
        assert len({_bucket(_LENGTHS[field](n), (2, 4, 6)) for n in numbers}) == 1
        found += numbers
    assert sorted(found) == list(range(20))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("field", ["frames", "speeds", "poses", "words"])
def test_buckets_by_steps(data: Data, package: Workspace, field: str) -> None:
    """The steps of a SequenceExample are counted too."""
    dataset = package.module("clip", "pipeline").make_dataset(
        data("clip", 20, 2),
        batch_size=3,
        fields=["name"],
        info=True,
        bucket_by=field,
        bucket_boundaries=(2, 4),
    )
    found = []
    for *_, info in dataset:
        numbers = info["number"].numpy().tolist()
        lengths = [
            (n % 5 if n % 3 else 0) if field == "words" else n * 5 % 8 for n in numbers
        ]
        assert len({_bucket(length, (2, 4)) for length in lengths}) == 1
        found += numbers
    assert sorted(found) == list(range(20))


def test_full_batches_of_each_bucket(data: Data, make_dataset: MakeDataset) -> None:
    """What does not fill a batch is left out bucket by bucket."""
    dataset = make_dataset(
        data(),
        batch_size=4,
        bucket_by="tokens",
        bucket_boundaries=(5, 10),
        drop_remainder=True,
    )
    sizes = Counter(_bucket(n * 7 % 23, (5, 10)) for n in ALL)
    found = _numbers(dataset)
    assert len(found) == len(set(found)) == sum(n // 4 * 4 for n in sizes.values())
    assert {len(kinds) for _, kinds in dataset} == {4}


def test_wrong_buckets(
    data: Data, make_dataset: MakeDataset, package: Workspace
) -> None:
    """A field that does not vary, and boundaries that are none."""

    def refused(**options: Any) -> str:
        return _refused(make_dataset, data(), **options)

    assert refused(bucket_boundaries=(3,)) == (
        "bucket_boundaries without bucket_by: name the field"
    )
    assert refused(bucket_by="toknes", bucket_boundaries=(3,)) == (
        "bucket_by='toknes': expected a field whose length varies, one of tokens; "
        "did you mean 'tokens'?"
    )
    every = package.module("every", "pipeline").make_dataset
    refusal = _refused(
        every, data("every", 7, 2), bucket_by="scan", bucket_boundaries=(3,)
    )
    assert refusal.endswith(
        "; a Tensor cannot be bucketed; declare a list of rows of one size as "
        "VarLen(item_shape=...)"
    )
    for wrong in ((), (3, 3), (5, 2), (0, 4), (-1,)):
        message = refused(bucket_by="tokens", bucket_boundaries=wrong)
        assert message.startswith(f"bucket_boundaries={wrong!r}: expected lengths that")
    assert refused(bucket_by="tokens", bucket_boundaries=(3,), cache_decoded=True) == (
        "cache_decoded=True with bucket_by: choose one of them"
    )


# seed, deterministic


def _orders(make_dataset: MakeDataset, source: Any, threads: int) -> list[list[int]]:
    dataset = make_dataset(source, batch_size=4, training=True, seed=11)
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    options.threading.max_intra_op_parallelism = threads
    dataset = dataset.with_options(options)
    return [_numbers(dataset) for _ in range(3)]


@pytest.mark.slow
def test_the_order_is_the_seeds_alone(
    data: Data, make_dataset: MakeDataset, package: Workspace
) -> None:
    """With any number of threads, in any process; and another one in each epoch."""
    epochs = _orders(make_dataset, data(), 1)
    assert len(set(map(tuple, epochs))) == 3
    assert _orders(make_dataset, data(), 8) == epochs
    options = {"batch_size": 4, "training": True, "seed": 11}
    script = Path(__file__).with_name("checkpoint_reader.py")
    command = [str(script), str(package.root), package.package, str(data())]
    command += [json.dumps(options), "save", str(data().parent / "unused"), "0"]
    out = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=True
    ).stdout
    assert list(chain(*json.loads(out.splitlines()[-1]))) == epochs[0]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "options", [{"cache": True}, {"cache_decoded": True}, {"shard": (1, 2)}]
)
def test_a_seed_goes_with_other_options(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """The same order in two datasets, other ones in each epoch and with other seeds."""

    def epochs(seed: int | None) -> list[tuple[int, ...]]:
        dataset = make_dataset(
            data(), batch_size=4, training=True, seed=seed, **options
        )
        return [tuple(_numbers(dataset)) for _ in range(2)]

    first = epochs(1)
    assert epochs(1) == first
    assert len({*first, *epochs(2), *epochs(None), *epochs(None)}) == 8


@pytest.mark.parametrize("training", [False, True])
def test_batches_that_come_when_they_are_ready(
    data: Data, make_dataset: MakeDataset, training: bool
) -> None:
    """Without a promised order, each record comes once all the same."""
    dataset = make_dataset(data(), batch_size=4, training=training, deterministic=False)
    for _ in range(2):
        assert sorted(_numbers(dataset)) == ALL
    assert len(dataset) == 13


# True or False


@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_flags_are_no_words(data: Data, make_dataset: MakeDataset, wrong: Any) -> None:
    """Any word would count as True; the signature tells which options are flags."""
    parameters = inspect.signature(make_dataset).parameters.items()
    flags = [name for name, each in parameters if each.annotation == "bool"]
    assert {"training", "deterministic", "one_hot"} <= {*flags}
    for name in flags:
        refusal = _refused(make_dataset, data(), **{name: wrong})
        assert refusal == f"{name}={wrong!r}: expected True or False"


def test_flags_of_numpy(data: Data, make_dataset: MakeDataset) -> None:
    """Comparisons of arrays give such."""
    yes, no = np.True_, np.False_
    options = {"drop_remainder": yes, "deterministic": yes, "cache_decoded": no}
    found = make_dataset(data(), batch_size=7, training=no, targets=yes, **options)
    assert len(_numbers(found)) == len(found) * 7 == 49
    assert len(list(make_dataset(data(), batch_size=50, training=yes, info=no))) == 1


# Mixtures


@pytest.fixture
def sources(
    package: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Directories of 400 records each: "low" are numbered from 0, "high" from 1000."""
    write = package.module("bare", "serializer").write_dataset
    found = {}
    for name, first in (("low", 0), ("high", 1000)):
        found[name] = tmp_path_factory.mktemp(name)
        rows = ({"number": first + n, "sort": n % 7} for n in range(400))
        write(rows, found[name], "train", shards=2)
    return found


def _mixture(
    package: Workspace, sources: dict[str, Path], weights: Any, **options: Any
) -> Any:
    make = package.module("bare", "pipeline").make_dataset
    mixture = {str(sources[name]): weight for name, weight in weights.items()}
    return make(mixture, **{"batch_size": 16, "seed": 5, **options})


def _numbers_of_three(dataset: Any) -> list[int]:
    return [int(n) for features, *_ in dataset for n in features["number"]]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("weight", [3, 1, 0.25])
def test_sources_are_mixed_by_their_weights(
    package: Workspace, sources: dict[str, Path], training: bool, weight: float
) -> None:
    """Up to the end of the first, no record twice, and in order where it is promised."""
    mixture = {"low": weight, "high": 1}
    dataset = _mixture(package, sources, mixture, training=training)
    found = _numbers_of_three(dataset)
    assert len(found) == len(set(found))
    low = [n for n in found if n < 1000]
    high = [n for n in found if n >= 1000]
    assert 400 in (len(low), len(high))
    assert len(low) / len(found) == pytest.approx(weight / (weight + 1), abs=0.06)
    if not training:
        for part in (low, high):
            assert part == sorted(part, key=lambda n: n % 2)
    # The same draws with the same seed; others in the next epoch.
    again = _mixture(package, sources, mixture, training=training)
    assert _numbers_of_three(again) == found
    assert _numbers_of_three(again) != found
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY


@pytest.mark.slow
def test_a_mixture_is_repeated_by_epochs(
    package: Workspace, sources: dict[str, Path]
) -> None:
    """Each ends when the first source is used up, and none has a record twice."""
    mixture = {"low": 1, "high": 1}
    once = _mixture(package, sources, mixture, training=True)
    twice = _mixture(package, sources, mixture, training=True, repeat=2)
    first = _numbers_of_three(once)
    found = _numbers_of_three(twice)
    assert found[: len(first)] == first
    second = found[len(first) :]
    assert len(second) == len(set(second)) > 600


def test_one_source_with_a_weight_is_that_source(
    package: Workspace, sources: dict[str, Path]
) -> None:
    """All of it, and its cardinality."""
    dataset = _mixture(package, sources, {"low": 0.5})
    assert sorted(_numbers_of_three(dataset)) == list(range(400))
    assert len(dataset) == 25


@pytest.mark.slow
def test_a_mixture_is_divided_among_readers(
    package: Workspace, sources: dict[str, Path]
) -> None:
    """Each mixes its own part of each source."""
    parts = [
        _numbers_of_three(
            _mixture(package, sources, {"low": 1, "high": 1}, shard=(index, 2))
        )
        for index in range(2)
    ]
    assert not set(parts[0]) & set(parts[1])
    assert {n % 2 for n in parts[0]} == {0}


@pytest.mark.parametrize("weight", [0, -1, math.nan, math.inf, "1", None, True])
def test_weights_that_are_none(
    package: Workspace, sources: dict[str, Path], weight: Any
) -> None:
    """A source that is not wanted is left out of the dict."""
    with pytest.raises(Exception, match="found the weight") as caught:
        _mixture(package, sources, {"low": weight, "high": 1})
    assert type(caught.value).__name__ == "DatasetError"
    assert str(caught.value) == (
        f"source {str(sources['low'])!r}: found the weight {weight!r}, expected a "
        "positive number"
    )


def test_a_mixture_of_nothing(data: Data, make_dataset: MakeDataset) -> None:
    """It is no dataset."""
    assert _refused(make_dataset, {}) == "an empty dict of sources"


# augment


def _drawn(features: dict[str, Any], seed: Any) -> dict[str, Any]:
    shape = tf.shape(features["number"])
    noise = tf.random.stateless_uniform(shape, seed, 0, 2**40, tf.int64)
    return {**features, "noise": noise}


def _noise(dataset: Any) -> list[int]:
    return [int(n) for features, _ in dataset for n in features["noise"]]


@pytest.mark.slow
def test_a_function_with_a_seed(data: Data, make_dataset: MakeDataset) -> None:
    """Draws repeat with the dataset's seed, and differ by batch and by epoch."""

    def epochs(seed: int) -> list[list[int]]:
        dataset = make_dataset(
            data(), batch_size=4, training=True, seed=seed, augment=_drawn
        )
        return [_noise(dataset) for _ in range(2)]

    first = epochs(1)
    assert epochs(1) == first
    drawn = [*first[0], *first[1], *epochs(2)[0]]
    assert len(set(drawn)) == len(drawn) == 150


@pytest.mark.slow
def test_a_function_with_a_default_gets_no_seed(
    data: Data, make_dataset: MakeDataset
) -> None:
    """A second parameter that has a value already is the function's own affair."""

    def shifted(features: dict[str, Any], by: int = 100) -> dict[str, Any]:
        return {**features, "number": features["number"] + by}

    dataset = make_dataset(data(), batch_size=4, training=True, augment=shifted)
    assert sorted(_numbers(dataset)) == list(range(100, 150))
    same = make_dataset(data(), batch_size=4, training=True, augment=dict)
    assert sorted(_numbers(same)) == ALL


@pytest.mark.parametrize("options", [{"cache": True}, {"cache_decoded": True}])
def test_no_cache_holds_what_was_drawn(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """Every epoch is augmented again."""
    dataset = make_dataset(
        data(), batch_size=4, training=True, augment=_drawn, **options
    )
    assert not set(_noise(dataset)) & set(_noise(dataset))
    assert len(dataset) == 13


@pytest.mark.parametrize("wrong", [True, "flip"])
def test_an_augmentation_that_is_no_function(
    data: Data, make_dataset: MakeDataset, wrong: Any
) -> None:
    """It is refused without training too."""
    for training in (False, True):
        assert _refused(make_dataset, data(), training=training, augment=wrong) == (
            f"augment={wrong!r}: expected a function of the features; flips and crops "
            "are declared in the schema, as augment=Augment(...) of the image"
        )


# One record


@pytest.mark.parametrize("record", ["small", "clip"])
def test_a_single_record_is_no_vector(package: Workspace, record: str) -> None:
    """Inside of a graph and outside."""
    parse = package.module(record, "parser").parse_batch
    words = r"expected serialized records, string \[B\], found a single one; put it"
    for function in (parse, tf.function(parse, autograph=False)):
        with pytest.raises(ValueError, match=words):
            function(tf.constant(b"record"))


# cardinality, and datasets of few records or none


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("options", "batches"),
    [
        ({}, 8),
        ({"training": True}, 8),
        ({"drop_remainder": True}, 7),
        ({"repeat": 3}, 24),
        ({"repeat": 3, "drop_remainder": True}, 21),
        ({"cache": True}, 8),
        ({"cache": True, "training": True, "repeat": 2}, 16),
        ({"cache_decoded": True}, 8),
        ({"cache_decoded": True, "drop_remainder": True, "repeat": 2}, 14),
        ({"shard": (0, 2)}, 4),
        ({"shard": (0, 3)}, 3),
        ({"shard": (1, 3)}, 3),
        ({"shard": (1, 3), "drop_remainder": True}, 2),
        ({"training": True, "augment": _drawn}, 8),
        ({"training": True, "augment": _drawn, "repeat": 2}, 16),
        ({"deterministic": False}, 8),
        ({"pad_to_max_length": True}, 8),
        ({"fields": ["number"]}, 8),
    ],
)
def test_the_number_of_batches_is_known(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any], batches: int
) -> None:
    """From the manifest, before anything is read; and that is how many come."""
    dataset = make_dataset(data(), batch_size=7, **options)
    assert len(dataset) == batches == sum(1 for _ in dataset)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batch_size": 51}, "the 50 records are fewer than batch_size=51"),
        (
            {"batch_size": 51, "bucket_by": "tokens", "bucket_boundaries": (3,)},
            "the 50 records are fewer than batch_size=51",
        ),
        (
            {"batch_size": 26, "shard": (0, 2)},
            "the 25 records of the smallest part are fewer than batch_size=26",
        ),
        ({"batch_size": 50}, ""),
        ({"batch_size": 25, "shard": (0, 2)}, ""),
        ({"batch_size": 51, "drop_remainder": False}, ""),
    ],
)
def test_batches_larger_than_the_data(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any], words: str
) -> None:
    """Leaving them out leaves nothing, which is said at the caller's line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = make_dataset(data(), **{"drop_remainder": True, **options})
    assert bool(list(found)) is not bool(words)
    said = [each for each in caught if "drop_remainder" in str(each.message)]
    assert len(said) == bool(words)
    if words:
        assert str(said[0].message) == (
            f"drop_remainder=True leaves no batch: {words}; make the batches smaller"
        )
        assert (said[0].category, said[0].filename) == (RuntimeWarning, __file__)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"training": True, "seed": 1},
        {"drop_remainder": True},
        {"repeat": 2},
        {"cache_decoded": True, "training": True},
        {"bucket_by": "tokens", "bucket_boundaries": (3,)},
        {"training": True, "augment": _drawn},
        {"on_corrupt": "skip"},
        {"pad_to_max_length": True},
    ],
)
def test_no_records_at_all(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """Neither an error nor a batch, and the shapes of a dataset with records."""
    empty = make_dataset(data(rows=0, shards=2), batch_size=4, **options)
    assert list(empty) == []
    assert (
        empty.element_spec == make_dataset(data(), batch_size=4, **options).element_spec
    )


@pytest.mark.slow
def test_files_without_records_among_others(
    data: Data, make_dataset: MakeDataset
) -> None:
    """More files than records: those of some readers are empty."""
    directory = data(rows=3, shards=5)
    assert _numbers(make_dataset(directory, batch_size=4)) == [0, 1, 2]
    training = make_dataset(directory, batch_size=4, training=True, repeat=2)
    assert sorted(_numbers(training)) == [0, 0, 1, 1, 2, 2]
    parts = [
        _numbers(make_dataset(directory, batch_size=4, shard=(n, 5))) for n in range(5)
    ]
    assert parts == [[0], [1], [2], [], []]
