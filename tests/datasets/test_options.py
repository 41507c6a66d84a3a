"""What each option does to the records: each comes once an epoch, in the order said."""

from __future__ import annotations

import inspect
import math
import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from every_kind import numbers, values

from generated import DatasetError

if TYPE_CHECKING:
    from conftest import Data, MakeDataset, Workspace

ALL = list(range(50))


# What is refused.

_BUCKETS = {"bucket_by": "tokens", "bucket_boundaries": (3,)}

# options that are refused, each by itself
_VALUES = {
    "batch_size": [0, "8"],
    "shuffle_buffer": [0],
    "seed": ["a"],
    "repeat": [0, -1, 1.5, "2", None],
    "cache": ["", 7, 0, None],
    "augment": [True, "flip"],
    "on_corrupt": ["skpi"],
    "shard": [3, "0/2", (1,), (0, 2, 3), (0.0, 2), (True, 2), (2, 2), (-1, 2), (0, 0)],
}

# options; the class of the error; and what it has to name
_WRONG: list[tuple[dict[str, Any], type[Exception], tuple[str, ...]]] = [
    *(
        ({name: value}, DatasetError, (f"{name}={value!r}",))
        for name, wrong in _VALUES.items()
        for value in wrong
    ),
    *(
        ({**_BUCKETS, "bucket_boundaries": wrong}, DatasetError, (f"{wrong!r}",))
        for wrong in ((), (3, 3), (5, 2), (0, 4), (-1,))
    ),
    ({"bucket_boundaries": (3,)}, DatasetError, ("bucket_boundaries", "bucket_by")),
    ({**_BUCKETS, "bucket_by": "toknes"}, DatasetError, ("'toknes'", "'tokens'")),
    ({**_BUCKETS, "bucket_by": "number"}, DatasetError, ("'number'", "tokens")),
    *(
        ({**_BUCKETS, "batch_size": sizes}, DatasetError, (f"batch_size={sizes!r}",))
        for sizes in ([], [4], [4, 2, 1], [4, 0], [4, "2"], (4, True))
    ),
    ({"batch_size": [4, 2]}, DatasetError, ("batch_size=[4, 2]", "bucket_by")),
    ({"augment": "flip", "training": True}, DatasetError, ("augment='flip'",)),
    ({"augment": lambda one: (one, 1), "training": True}, TypeError, ("tuple",)),
    (
        {"augment": lambda x, y: (x, y), "training": True},
        TypeError,
        ("tuple", "targets", "seed"),
    ),
    ({"batch_size": None}, DatasetError, ("unbatch", "parse_example")),
    ({"fields": ["tokns"]}, ValueError, ("'tokns'", "number, tokens", "'tokens'")),
    ({"fields": ["kind"]}, ValueError, ("'kind'", "number, tokens")),
    ({"fields": []}, ValueError, ("fields=[]", "number, tokens")),
    ({"fields": "number"}, TypeError, ("fields='number'",)),
    ({"batch": 8}, TypeError, ("'batch'", "'batch_size'")),
]


@pytest.mark.parametrize(("options", "error", "words"), _WRONG)
def test_wrong_options_are_refused(
    data: Data,
    make_dataset: MakeDataset,
    options: dict[str, Any],
    error: type[Exception],
    words: tuple[str, ...],
) -> None:
    """Before anything is read; the error names the option, its value and the nearest."""
    with pytest.raises(error) as caught:
        make_dataset(data(), **{"batch_size": 4, **options})
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_a_flag_that_is_not_a_bool_is_refused(
    data: Data, make_dataset: MakeDataset, wrong: Any
) -> None:
    """Any word would count as True; the signature tells which options are flags."""
    parameters = inspect.signature(make_dataset).parameters.items()
    flags = [name for name, each in parameters if each.annotation == "bool"]
    assert {"training", "deterministic", "info"} <= {*flags}
    for name in flags:
        with pytest.raises(DatasetError, match=f"{name}={wrong!r}"):
            make_dataset(data(), **{"batch_size": 4, name: wrong})


@pytest.mark.parametrize("weight", [0, -1, math.nan, math.inf, "1", None, True])
def test_wrong_weights_of_sources_are_refused(
    data: Data, make_dataset: MakeDataset, weight: Any
) -> None:
    """A source that is not wanted is left out of the dict; one has to be there."""
    other = str(data(rows=30, shards=2))
    with pytest.raises(DatasetError, match=rf"{data()}.*{weight!r}"):
        make_dataset({str(data()): weight, other: 1}, batch_size=4)
    with pytest.raises(DatasetError):
        make_dataset({}, batch_size=4)


def test_a_place_where_no_cache_can_be_is_refused(
    data: Data, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """It is found out before anything is read."""
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file" / "cache")
    with pytest.raises(DatasetError, match=f"cache={path!r}"):
        make_dataset(data(), batch_size=4, cache=path)


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
def test_fields_are_delivered_with_their_masks(
    data: Data, package: Workspace, fields: Any, delivered: set[str]
) -> None:
    """Each comes with its mask, and as it does among all; targets are not touched."""
    make = package.module("every", "pipeline").make_dataset
    options = {"batch_size": 7, "info": True}
    ((features, targets, _, info),) = make(
        data("every", 7, 2), fields=fields, **options
    )
    assert set(features) == delivered
    assert set(targets) == {"things", "kind", "price"}
    assert set(info) == {"number", "blob", "comment", "comment_present"}
    ((whole, *_),) = make(data("every", 7, 2), **options)
    for name in delivered:
        assert values(features[name]) == values(whole[name])
    with pytest.raises(ValueError, match="'count_present'"):  # a mask is not a field
        make(data("every", 7, 2), fields=["count_present"], **options)


# repeat


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("cache", [False, True])
def test_epochs_are_complete_one_after_the_other(
    data: Data, make_dataset: MakeDataset, training: bool, cache: bool
) -> None:
    """No batch has records of two: each epoch ends with its own smaller batch."""
    options: dict[str, Any] = {"batch_size": 7, "training": training, "cache": cache}
    dataset = make_dataset(data(), repeat=3, **options)
    sizes = [len(kinds) for _, kinds in dataset]
    assert sizes == [7, 7, 7, 7, 7, 7, 7, 1] * 3
    assert len(dataset) == 24
    found = numbers(dataset)
    epochs = [tuple(found[at : at + 50]) for at in range(0, len(found), 50)]
    assert [sorted(epoch) for epoch in epochs] == [ALL] * 3
    assert len(set(epochs)) == (3 if training else 1)
    endless = make_dataset(data(), repeat=True, **options)
    assert endless.cardinality() == tf.data.INFINITE_CARDINALITY
    assert Counter(numbers(endless.take(24))) == dict.fromkeys(ALL, 3)


def test_endless_epochs_without_a_batch_end(
    data: Data, make_dataset: MakeDataset
) -> None:
    """Of a slice without records, or where drop_remainder leaves out all of them."""
    options: dict[str, Any] = {"batch_size": 60, "repeat": True}
    assert numbers(make_dataset(data(), "train[:0]", **options)) == []
    with pytest.warns(RuntimeWarning, match="leaves no batch"):
        dataset = make_dataset(data(), drop_remainder=True, **options)
    assert numbers(dataset) == []


# cache


@pytest.fixture
def own(data: Data, tmp_path: Path) -> Path:
    """A copy of the records that may be changed."""
    directory: Path = shutil.copytree(data(), tmp_path / "data")
    return directory


def _spoil(directory: Path) -> None:
    """Make nothing of the files, but of their sizes and last bytes, which are compared."""
    for path in directory.glob("train*"):
        size = path.stat().st_size
        path.write_bytes(bytes(size - 16) + path.read_bytes()[-16:])


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [False, True])
def test_a_cache_in_a_file_is_read_by_the_next_dataset(
    own: Path, make_dataset: MakeDataset, tmp_path: Path, training: bool
) -> None:
    """With any seed and in any later process; files of records are not read then."""

    def make(seed: int) -> Any:
        return make_dataset(
            own,
            batch_size=4,
            training=training,
            seed=seed,
            cache=tmp_path / "deep" / "cache",
        )

    first = make(1)
    epochs = [numbers(first), numbers(first)]
    _spoil(own)
    second = make(1)
    assert [numbers(second), numbers(second)] == epochs
    assert sorted(epochs[0]) == sorted(epochs[1]) == ALL
    assert (epochs[0] == epochs[1]) is not training
    other = numbers(make(2))
    assert sorted(other) == ALL
    assert (other == epochs[0]) is not training
    assert len(list((tmp_path / "deep").glob("*.index"))) == 1


def test_a_cache_in_memory_goes_with_its_dataset(
    own: Path, make_dataset: MakeDataset
) -> None:
    """It goes with the dataset, whose later epochs do without files."""
    dataset = make_dataset(own, batch_size=4, training=True, cache=True)
    assert sorted(numbers(dataset)) == ALL
    _spoil(own)
    assert sorted(numbers(dataset)) == ALL
    with pytest.raises(tf.errors.OpError):
        numbers(make_dataset(own, batch_size=4, cache=True))


@pytest.mark.slow
def test_a_cache_is_never_that_of_other_data(
    package: Workspace, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    """Of earlier files, another part, or another order of files without a manifest."""
    write = package.module("small", "serializer").write_dataset
    cache, directory = tmp_path / "cache", tmp_path / "d"

    def read(source: Any = directory, **options: Any) -> list[int]:
        return numbers(make_dataset(source, batch_size=4, cache=cache, **options))

    def rows(first: int) -> list[dict[str, Any]]:
        return [{"number": first + n, "tokens": [], "kind": 0} for n in range(8)]

    write(iter(rows(0)), directory, "train", shards=2)
    assert read() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert read(shard=(0, 2)) == [0, 2, 4, 6]
    assert read(shard=tf.distribute.InputContext(2, 1, 2)) == [1, 3, 5, 7]
    assert sorted(read(training=True)) == list(range(8))
    write(iter(rows(10)), directory, "train", shards=2, overwrite=True)
    assert read() == [10, 12, 14, 16, 11, 13, 15, 17]
    assert len(list(tmp_path.glob("cache-*.index"))) == 5
    (directory / "manifest.json").unlink()
    files = sorted(map(str, directory.glob("train*")))
    assert read(files) == read(files) == [10, 12, 14, 16, 11, 13, 15, 17]
    assert read(files[::-1]) == [11, 13, 15, 17, 10, 12, 14, 16]


# drop_remainder, pad_to_max_length


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("training", [False, True])
def test_batches_are_of_one_shape_or_as_long_as_the_longest(
    data: Data, make_dataset: MakeDataset, training: bool
) -> None:
    """Known before the first batch, as compilers want it; or as long as the longest."""
    for padded in (True, False):
        dataset = make_dataset(
            data(),
            batch_size=4,
            drop_remainder=True,
            pad_to_max_length=padded,
            training=training,
        )
        features, kinds = dataset.element_spec
        shape = (4, 40 if padded else None)
        assert features["tokens"] == tf.TensorSpec(shape, tf.int64)
        assert features["number"] == kinds == tf.TensorSpec((4,), tf.int64)
        assert len(dataset) == 12
        found = []
        for batch, _ in (*dataset, *dataset):
            rows = batch["number"].numpy().tolist()
            lengths = [number * 7 % 23 for number in rows]
            longest = 40 if padded else max(lengths)
            assert batch["tokens"].numpy().tolist() == [
                [number] * length + [0] * (longest - length)
                for number, length in zip(rows, lengths, strict=True)
            ]
            found += rows
        assert len(set(found[:48])) == len(set(found[48:])) == 48


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


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("boundaries", [(5, 10), (1, 2, 3, 22), (1,), (100,)])
def test_rows_of_a_batch_are_of_one_bucket(
    data: Data, make_dataset: MakeDataset, training: bool, boundaries: tuple[int, ...]
) -> None:
    """All records once, each with its own target; or the full batches of each bucket."""
    sizes = Counter(_bucket(n * 7 % 23, boundaries) for n in ALL)
    for full, records in ((False, 50), (True, sum(n // 4 * 4 for n in sizes.values()))):
        dataset = make_dataset(
            data(),
            batch_size=4,
            training=training,
            bucket_by="tokens",
            bucket_boundaries=boundaries,
            drop_remainder=full,
        )
        for _ in range(2):
            found = []
            for features, kinds in dataset:
                rows = features["number"].numpy().tolist()
                assert len({_bucket(n * 7 % 23, boundaries) for n in rows}) == 1
                assert kinds.numpy().tolist() == [n % 7 for n in rows]
                assert len(rows) == 4 or (len(rows) < 4 and not full)
                found += rows
            assert len(found) == len(set(found)) == records
        assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_each_bucket_has_its_own_batch_size(
    data: Data, make_dataset: MakeDataset, training: bool, full: bool
) -> None:
    """Long rows come in small batches; what does not fill one may be left out."""
    boundaries, sizes = (5, 10), [8, 4, 2]
    dataset = make_dataset(
        data(),
        batch_size=sizes,
        training=training,
        bucket_by="tokens",
        bucket_boundaries=boundaries,
        drop_remainder=full,
    )
    assert dataset.element_spec[0]["number"].shape == (None,)
    lengths: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for features, _ in dataset:
        rows = features["number"].numpy().tolist()
        (bucket,) = {_bucket(n * 7 % 23, boundaries) for n in rows}
        lengths[bucket].append(len(rows))
    expected = Counter(_bucket(n * 7 % 23, boundaries) for n in ALL)
    for bucket, size in enumerate(sizes):
        whole, rest = divmod(expected[bucket], size)
        last = [rest] if rest and not full else []
        assert sorted(lengths[bucket], reverse=True) == [size] * whole + last


_LENGTHS = {
    ("every", "frames"): lambda n: n * 5 % 8,
    ("clip", "frames"): lambda n: n * 5 % 8,
    ("every", "tokens"): lambda n: n * 5 % 8,
    ("every", "halves"): lambda n: n * 5 % 8,
    ("every", "spots"): lambda n: n % 4,
    ("every", "pairs"): lambda n: n % 5,
    ("every", "words"): lambda n: n % 3,
    ("every", "flags"): lambda n: n * 5 % 8 if n % 3 else 0,
    ("every", "lists"): lambda n: n * 5 % 8,
    ("every", "lines"): lambda n: n % 4,
    ("every", "place_left"): lambda n: n % 4,
    ("every", "place_word"): lambda n: n % 4,
    ("clip", "speeds"): lambda n: n * 5 % 8,
    ("clip", "poses"): lambda n: n * 5 % 8,
    ("clip", "words"): lambda n: n % 5 if n % 3 else 0,
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("record", "field"), _LENGTHS)
def test_buckets_by_the_length_of_any_kind(
    data: Data, package: Workspace, record: str, field: str
) -> None:
    """Items are counted, whatever they are: float64 bytes, points, pictures, steps."""
    dataset = package.module(record, "pipeline").make_dataset(
        data(record, 20, 2),
        batch_size=3,
        fields=["truth" if record == "every" else "name"],
        info=True,
        bucket_by=field,
        bucket_boundaries=(2, 4, 6),
    )
    found = []
    for *_, info in dataset:
        rows = info["number"].numpy().tolist()
        length_of = _LENGTHS[record, field]
        assert len({_bucket(length_of(n), (2, 4, 6)) for n in rows}) == 1
        found += rows
    assert sorted(found) == list(range(20))


# seed, deterministic


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("options", [{}, {"cache": True}, {"shard": (1, 2)}])
def test_a_seed_goes_with_other_options(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """The same order in two datasets, other ones in each epoch and with other seeds."""

    def epochs(seed: int | None) -> list[tuple[int, ...]]:
        dataset = make_dataset(
            data(), batch_size=4, training=True, seed=seed, **options
        )
        return [tuple(numbers(dataset)) for _ in range(2)]

    first = epochs(1)
    assert epochs(1) == first
    assert len({*first, *epochs(2), *epochs(None), *epochs(None)}) == 8


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


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("weight", [3, 1, 0.25])
def test_sources_are_mixed_by_their_weights(
    package: Workspace, sources: dict[str, Path], training: bool, weight: float
) -> None:
    """Up to the end of the first, no record twice, and in order where it is promised."""
    mixture = {"low": weight, "high": 1}
    dataset = _mixture(package, sources, mixture, training=training)
    found = numbers(dataset)
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
    assert numbers(again) == found
    assert numbers(again) != found
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY


@pytest.mark.slow
def test_a_mixture_is_repeated_and_divided_as_a_source_is(
    package: Workspace, sources: dict[str, Path]
) -> None:
    """Epochs end with the first source that is used up; readers mix their parts."""
    mixture = {"low": 1, "high": 1}
    first = numbers(_mixture(package, sources, mixture, training=True))
    found = numbers(_mixture(package, sources, mixture, training=True, repeat=2))
    assert found[: len(first)] == first
    second = found[len(first) :]
    assert len(second) == len(set(second)) > 600
    one, other = (
        numbers(_mixture(package, sources, mixture, shard=(index, 2)))
        for index in range(2)
    )
    assert not set(one) & set(other)
    assert {n % 2 for n in one} == {0}
    alone = _mixture(package, sources, {"low": 0.5})
    assert sorted(numbers(alone)) == list(range(400))
    assert len(alone) == 25


# augment


def _drawn(features: dict[str, Any], seed: Any) -> dict[str, Any]:
    shape = tf.shape(features["number"])
    noise = tf.random.stateless_uniform(shape, seed, 0, 2**40, tf.int64)
    return {**features, "noise": noise}


def _noise(dataset: Any) -> list[int]:
    return [int(n) for features, _ in dataset for n in features["noise"]]


@pytest.mark.parametrize("options", [{}, {"cache": True}])
def test_an_augmentation_with_a_seed_repeats_with_the_dataset(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """Draws repeat with the dataset's seed, differ by batch and epoch, and are not kept."""

    def epochs(seed: int) -> list[list[int]]:
        dataset = make_dataset(
            data(), batch_size=4, training=True, seed=seed, augment=_drawn, **options
        )
        return [_noise(dataset) for _ in range(2)]

    first = epochs(1)
    assert epochs(1) == first
    drawn = [*first[0], *first[1], *epochs(2)[0]]
    assert len(set(drawn)) == len(drawn) == 150


def test_an_augmentation_with_a_default_gets_no_seed(
    data: Data, make_dataset: MakeDataset
) -> None:
    """A second parameter with a value is the function's own; none runs in evaluation."""

    def shifted(features: dict[str, Any], by: int = 100) -> dict[str, Any]:
        return {**features, "number": features["number"] + by}

    for training, first in ((True, 100), (False, 0)):
        options = {"batch_size": 4, "training": training}
        found = numbers(make_dataset(data(), augment=shifted, **options))
        assert sorted(found) == list(range(first, first + 50))


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
        ({"cache": True, "drop_remainder": True, "repeat": 2}, 14),
        ({"shard": (0, 2)}, 4),
        ({"shard": (0, 3)}, 3),
        ({"shard": (1, 3)}, 3),
        ({"shard": (1, 3), "drop_remainder": True}, 2),
        ({"training": True, "augment": _drawn}, 8),
        ({"training": True, "augment": _drawn, "repeat": 2}, 16),
        ({"deterministic": False}, 8),
        ({"deterministic": False, "training": True}, 8),
        ({"pad_to_max_length": True}, 8),
        ({"fields": ["number"]}, 8),
    ],
)
def test_the_number_of_batches_is_known(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any], batches: int
) -> None:
    """From the manifest, before anything is read; so many come, with each record once."""
    dataset = make_dataset(data(), batch_size=7, **options)
    assert len(dataset) == batches == sum(1 for _ in dataset)
    found = Counter(numbers(dataset))
    assert set(found.values()) == {options.get("repeat", 1)}


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({"batch_size": 51}, True),
        ({"batch_size": 51, **_BUCKETS}, True),
        ({"batch_size": [60, 51], **_BUCKETS}, True),
        ({"batch_size": 26, "shard": (0, 2)}, True),
        ({"batch_size": 50}, False),
        ({"batch_size": 25, "shard": (0, 2)}, False),
        ({"batch_size": 51, "drop_remainder": False}, False),
    ],
)
def test_batches_larger_than_the_data_are_warned_of(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any], warned: bool
) -> None:
    """Leaving them out leaves nothing, which is said at the caller's line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = make_dataset(data(), **{"drop_remainder": True, **options})
    assert bool(list(found)) is not warned
    said = [each for each in caught if "drop_remainder" in str(each.message)]
    assert len(said) == warned
    if warned:
        smallest = np.min(options["batch_size"])
        assert f"batch_size={smallest};" in str(said[0].message)
        assert (said[0].category, said[0].filename) == (RuntimeWarning, __file__)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"training": True, "seed": 1},
        {"drop_remainder": True},
        {"repeat": 2},
        {"cache": True},
        {"cache": True, "training": True},
        _BUCKETS,
        {"training": True, "augment": _drawn},
        {"on_corrupt": "skip"},
        {"pad_to_max_length": True},
    ],
)
def test_a_split_without_records_gives_no_batch(
    data: Data, make_dataset: MakeDataset, options: dict[str, Any]
) -> None:
    """Neither an error nor a batch, and the shapes of a dataset with records."""
    empty = make_dataset(data(rows=0, shards=2), batch_size=4, **options)
    assert list(empty) == []
    full = make_dataset(data(), batch_size=4, **options)
    assert empty.element_spec == full.element_spec
