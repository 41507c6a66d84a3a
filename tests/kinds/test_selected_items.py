"""`select`: which frames of clips are read, in both readers, and that others are not."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from pictures import picture
from schemagen.runtime.shared.errors import DatasetError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import *

class Clip(Record):
    number: int
    frames: Annotated[list[bytes], Images(
        (None, None, 3), encoding="png", max_count=30, resize=(4, 4), group="g")]
    times: Annotated[list[float], VarLen("float64", group="g")]
    words: Annotated[list[str], VarLen("string", ragged=True, group="g")]
    points: Annotated[np.ndarray, VarLen("int16", item_shape=(2,), encoding="raw", group="g")]
    acts: Annotated[list[int], VarLen("int64", classes=("run", "sit"), group="g", role="input")]
    fixed: Annotated[list[bytes], Images((4, 5, 3), encoding="png", count=6)]
    still: Annotated[list[bytes] | None, Images((4, 5, 3), encoding="png", count=3)] = None
    maybe: Annotated[list[bytes] | None, Images((4, 5, 3), encoding="png")] = None
    filled: Annotated[list[int], VarLen("int64", max_length=9, pad_on_disk=True)]
    answer: Annotated[int, Label(num_classes=5)]

class Film(SequenceRecord):
    number: int
    frames: Annotated[list[bytes], Steps(
        Image((None, None, 3), encoding="png", resize=(4, 4)), group="g", max_length=30)]
    acts: Annotated[list[int], Steps(Label(num_classes=9), group="g", role="input", max_length=30)]
    raw: Annotated[np.ndarray, Steps(Image((2, 1, 3)), group="g", max_length=30)]
    words: Annotated[list[str], Steps(Text(), group="g", ragged=True, max_length=30)]
    head: Annotated[list[float], Steps(
        Scalar("float32"), max_length=6, too_long="keep_head")]
    answer: Annotated[int, Label(num_classes=5)]
"""

LENGTHS = (13, 0, 1, 30, 8, 5, 21)
ROWS = len(LENGTHS)
OF_CLIP = {"frames": "g", "times": "g", "words": "g", "points": "g", "acts": "g"}
OF_FILM = {"frames": "g", "acts": "g", "raw": "g", "words": "g"}


def every_third_backwards(length: int) -> range:
    """A function that another process can import."""
    return range(length - 1, -1, -3)


def ends(length: int) -> list[int]:
    """The first frame twice, and the last one."""
    return [0, length - 1, 0]


SELECTIONS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "first": ({"first": 8}, lambda length: range(min(8, length))),
    "every": ({"every": 4}, lambda length: range(0, length, 4)),
    "both": ({"every": 3, "first": 2}, lambda length: range(0, length, 3)[:2]),
    "function": (every_third_backwards, every_third_backwards),
    "ends": (ends, lambda length: ends(length) if length else []),
    "array": (lambda length: np.arange(length // 2), lambda length: range(length // 2)),
    "nothing": (lambda length: [], lambda length: []),
}
by_selection = pytest.mark.parametrize("name", SELECTIONS)


def frames(number: int, length: int, size: tuple[int, int] = (4, 5)) -> list[bytes]:
    return [picture(*size, seed=100 * number + at) for at in range(length)]


def clip(number: int) -> dict[str, Any]:
    """A row whose lists of the group are numbered."""
    length = LENGTHS[number % ROWS]
    given = {} if number == 3 else {"still": frames(number, 3), "maybe": frames(9, 4)}
    return given | {
        "number": number,
        "frames": frames(number, length, (5, 6)),
        "times": [float(at) for at in range(length)],
        "words": [f"word {at}" for at in range(length)],
        "points": np.array([[at, -at] for at in range(length)], np.int16).reshape(
            -1, 2
        ),
        "acts": [at % 2 for at in range(length)],
        "fixed": frames(50 + number, 6),
        "filled": [1, 2],
        "answer": number % 5,
    }


def film(number: int) -> dict[str, Any]:
    length = LENGTHS[number % ROWS]
    return {
        "number": number,
        "frames": frames(number, length, (5, 6)),
        "acts": [at % 9 for at in range(length)],
        "raw": [np.full((2, 1, 3), at, np.uint8) for at in range(length)],
        "words": [f"word {at}" for at in range(length)],
        "head": [float(at) for at in range(9)],
        "answer": number % 5,
    }


@pytest.fixture(scope="module")
def package(package_of: PackageOf) -> Workspace:
    return package_of(SCHEMA)


@pytest.fixture(scope="module")
def data(package: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for each record."""
    root = tmp_path_factory.mktemp("clips")
    for record, row in (("clip", clip), ("film", film)):
        write = package.module(record, "serializer").write_dataset
        write(map(row, range(ROWS)), root / record, "train")
    return root


def opened(package: Workspace, data: Path, record: str = "clip", **options: Any) -> Any:
    return package.module(record, "reader").open_split(
        data / record, "train", **options
    )


def dataset(
    package: Workspace, data: Path, record: str = "clip", **options: Any
) -> Any:
    make = package.module(record, "pipeline").make_dataset
    options = {"batch_size": ROWS, "targets": False} | options
    return make(data / record, "train", **options)


def check_equal(found: Any, expected: Any, name: str) -> None:
    if isinstance(found, list) or isinstance(expected, list):
        assert len(found) == len(expected), name
        for one, other in zip(found, expected, strict=True):
            check_equal(one, other, name)
        return
    np.testing.assert_array_equal(found, expected, err_msg=name)


def plain(column: Any) -> Any:
    if isinstance(column, tf.RaggedTensor):
        return [[text.decode() for text in row] for row in column.to_list()]
    return column.numpy()


def check_batches_are_equal(
    batch: Mapping[str, Any], features: Mapping[str, Any]
) -> None:
    """Assert that a batch of `open_split` has what `make_dataset` delivers."""
    for name, column in features.items():
        check_equal(batch[name], plain(column), name)


@by_selection
@pytest.mark.parametrize(("record", "group"), [("clip", OF_CLIP), ("film", OF_FILM)])
def test_selected_items_are_those_at_the_positions_in_all_lists_of_a_group(
    package: Workspace, data: Path, record: str, group: dict[str, str], name: str
) -> None:
    selection, positions = SELECTIONS[name]
    whole = opened(package, data, record)
    split = opened(package, data, record, select={"frames": selection})
    for number, length in enumerate(LENGTHS):
        expected, found = whole[number], split[number]
        for field in group:
            chosen = [expected[field][at] for at in positions(length)]
            check_equal([*found[field]], chosen, field)
        others = {each: expected[each] for each in expected.keys() - group.keys()}
        check_equal([found[each] for each in others], [*others.values()], "others")


@by_selection
@pytest.mark.parametrize("record", ["clip", "film"])
def test_both_readers_select_the_same(
    package: Workspace, data: Path, record: str, name: str
) -> None:
    select = {"frames": SELECTIONS[name][0]}
    split = opened(package, data, record, select=select)
    found = dataset(package, data, record, select=select, batch_size=3)
    gc.collect()
    batches = [*split.batches(3)]
    for batch, features in zip(batches, found, strict=True):
        check_batches_are_equal(batch, features)
        assert len(batch["frames"]) == len(batch["number"])


@by_selection
def test_a_field_with_a_count_has_as_many_as_are_selected(
    package: Workspace, data: Path, name: str
) -> None:
    """Its shape is static, and a missing one is zeros, masked."""
    selection, positions = SELECTIONS[name]
    select = {"fixed": selection, "still": selection}
    split = opened(package, data, select=select, fields=["fixed", "still"])
    found = dataset(package, data, select=select, fields=["fixed", "still"])
    batch, features = next(split.batches(ROWS)), next(iter(found))
    check_batches_are_equal(batch, features)
    for field, count in (("fixed", 6), ("still", 3)):
        shape = [len([*positions(count)]), 4, 5, 3]
        assert found.element_spec[field].shape[1:] == shape
        assert batch[field].shape == (ROWS, *shape)
        assert f"uint8 [{ROWS}, {shape[0]}, 4, 5, 3]" in repr(split.batches(ROWS))
        as_tensors = split.to_tf(2).element_spec
        assert as_tensors[field].shape == [None, *shape]
    assert features["still_present"].numpy().tolist() == [n != 3 for n in range(ROWS)]


def test_an_optional_clip_that_is_missing_stays_missing(
    package: Workspace, data: Path
) -> None:
    """A function is not called for a list without items."""
    select = {"maybe": ends}
    split = opened(package, data, select=select, fields=["maybe"])
    assert split[3]["maybe"] is None
    found = dataset(package, data, select=select, fields=["maybe"])
    check_batches_are_equal(next(split.batches(ROWS)), next(iter(found)))


def test_bytes_and_names_are_selected_too(package: Workspace, data: Path) -> None:
    options = {
        "decode_images": False,
        "class_names": True,
        "fields": ["frames", "acts"],
    }
    split = opened(package, data, select={"acts": {"every": 5}}, **options)
    assert split[0]["frames"] == clip(0)["frames"][::5]
    assert split[0]["acts"] == ["run", "sit", "run"]
    assert split[0:2]["frames"].shape == (2, 3)
    arrow = pytest.importorskip("pyarrow") and split.to_arrow()
    assert arrow.column("acts").to_pylist()[0] == ["run", "sit", "run"]


@pytest.mark.parametrize("record", ["clip", "film"])
def test_lists_are_padded_to_the_most_that_is_selected(
    package: Workspace, data: Path, record: str
) -> None:
    for selection, most in (({"first": 8}, 8), ({"every": 4}, 8), ({"random": 3}, 3)):
        select = {"frames": selection}
        options = {"select": select, "fields": ["frames"]}
        split = opened(package, data, record, **options)
        batch = next(split.batches(2, pad_to_max_length=True))
        found = dataset(package, data, record, pad_to_max_length=True, **options)
        assert batch["frames"].shape == (2, most, 4, 4, 3)
        assert found.element_spec["frames"].shape == [None, most, 4, 4, 3]


def test_buckets_are_of_what_is_selected(package: Workspace, data: Path) -> None:
    for selection in ({"every": 4}, lambda length: range(0, length, 4)):
        found = dataset(
            package,
            data,
            select={"frames": selection},
            fields=["number", "times"],
            bucket_by="times",
            bucket_boundaries=(3,),
        )
        small, large = sorted((f["number"].numpy().tolist() for f in found), key=len)[
            ::-1
        ]
        assert {*small} == {1, 2, 4, 5}  # of fewer than nine frames
        assert {*large} == {0, 3, 6}


def test_steps_of_numbers_are_selected(package: Workspace, data: Path) -> None:
    select = {"head": lambda length: range(length - 1, 0, -1)}
    split = opened(package, data, "film", select=select)
    found = dataset(package, data, "film", select=select)
    assert [*split[0]["head"]] == [5, 4, 3, 2, 1]
    check_batches_are_equal(split[:], next(iter(found)))


# Chance.


def positions(batch: Mapping[str, Any], row: int = 0) -> list[int]:
    """The positions of the frames of a row of clips, which `times` tells."""
    return [int(at) for at in batch["times"][row]]


def drawn(split: Any, **options: Any) -> dict[int, list[int]]:
    """The positions that an epoch draws in each record."""
    found = {}
    for batch in split.batches(3, **options):
        for row, number in enumerate(batch["number"].tolist()):
            times = batch["times"][row].tolist()[: min(5, LENGTHS[number])]
            found[number] = times
    return found


@pytest.fixture
def random_split(package: Workspace, data: Path) -> Any:
    options = {"fields": ["number", "frames", "times"]}
    return opened(package, data, select={"frames": {"random": 5}}, **options)


def check_chosen(chosen: Mapping[int, list[float]]) -> None:
    """Assert that there are five different ones in order, or all."""
    for number, times in chosen.items():
        assert times == sorted({*times})
        assert len(times) == min(5, LENGTHS[number])
        assert {*times} <= {*range(LENGTHS[number])}


@pytest.mark.filterwarnings("ignore:records are read a second time")
def test_frames_are_chosen_by_chance_in_their_order(
    package: Workspace, data: Path, random_split: Any
) -> None:
    whole = opened(package, data)
    for number in range(ROWS):
        found, expected = random_split[number], whole[number]
        check_chosen({number: found["times"].tolist()})
        chosen = [expected["frames"][int(at)] for at in found["times"]]
        check_equal([*found["frames"]], chosen, "frames")
        again = random_split[number]["times"]
        assert again.tolist() == found["times"].tolist()


def test_each_epoch_seed_and_record_has_frames_of_its_own(random_split: Any) -> None:
    """Whatever the size of batches, their order and the number of readers are."""
    first = drawn(random_split, shuffle_seed=1, epoch=4)
    check_chosen(first)
    assert first[0] != first[3]
    again: dict[int, list[int]] = {}
    for reader in range(2):
        again |= drawn(random_split, shuffle_seed=1, epoch=4, shard=(reader, 2))
    assert again == first
    at_epoch = random_split.at_epoch(4, shuffle_seed=1)
    assert {row["number"]: row["times"].tolist() for row in at_epoch} == first
    assert drawn(random_split, shuffle_seed=1, epoch=5) != first
    assert drawn(random_split, shuffle_seed=2, epoch=4) != first
    assert drawn(random_split.select(range(3, ROWS)), epoch=2) == {
        number: each
        for number, each in drawn(random_split, epoch=2).items()
        if number >= 3
    }


def test_a_resumed_epoch_draws_what_the_whole_one_does(random_split: Any) -> None:
    options = {"shuffle_seed": 7, "epoch": 1}
    whole = drawn(random_split, **options)
    batches = random_split.batches(3, **options)
    next(batches)
    rest = drawn(random_split, **options, resume=batches.state())
    assert len(rest) == ROWS - 3
    assert rest == {number: whole[number] for number in rest}


def test_a_state_may_go_on_with_another_selection(
    package: Workspace, data: Path, random_split: Any
) -> None:
    batches = random_split.batches(3, shuffle_seed=1)
    next(batches)
    other = opened(package, data, select={"frames": {"first": 2}})
    rest = other.batches(3, shuffle_seed=1, resume=batches.state())
    assert sum(len(batch["number"]) for batch in rest) == ROWS - 3


def test_mixtures_select_what_each_of_their_splits_does(
    package: Workspace, data: Path, random_split: Any
) -> None:
    options = {"fields": ["number", "frames", "times"]}
    firsts = opened(package, data, select={"frames": {"first": 2}}, **options)
    mix = __import__(package.package).mix
    batch = next(mix([random_split, firsts]).batches(2, epoch=3))
    own = next(random_split.batches(1, epoch=3))
    assert batch["times"].tolist()[0] == own["times"].tolist()[0]
    assert batch["times"].tolist()[1][:2] == [0, 1]


def test_a_dataset_chooses_others_in_each_epoch_of_training_alone(
    package: Workspace, data: Path
) -> None:
    def epochs(**options: Any) -> list[dict[int, list[float]]]:
        options |= {"fields": ["number", "times"]}
        found = dataset(package, data, select={"frames": {"random": 5}}, **options)
        each = []
        for _ in range(2):
            chosen: dict[int, list[float]] = {}
            for batch in found:
                for number, times in zip(
                    batch["number"].numpy().tolist(), batch["times"], strict=True
                ):
                    kept = times.numpy().tolist()[: min(5, LENGTHS[number])]
                    chosen[number] = kept
            check_chosen(chosen)
            each.append(chosen)
        return each

    one, two = epochs()
    assert one == two == epochs(batch_size=2)[0]
    assert epochs(seed=5)[0] != one
    one, two = epochs(training=True, seed=3)
    assert one != two
    assert one == epochs(training=True, seed=3)[0]
    assert epochs(training=True, seed=4)[0] != one
    batches = dataset(
        package,
        data,
        select={"frames": {"random": 5}},
        fields=["number", "times"],
        training=True,
        repeat=2,
        seed=1,
        bucket_by="times",
        bucket_boundaries=(4,),
    )
    assert sum(len(batch["number"]) for batch in batches) == 2 * ROWS


def test_each_item_is_chosen_equally_often(package: Workspace, data: Path) -> None:
    """Of thirty frames each of ten epochs chooses three, in both readers."""
    select = {"frames": {"random": 3}}
    split = opened(package, data, select=select, fields=["times"]).select([3])
    by_epoch = [next(split.batches(1, epoch=each)) for each in range(300)]
    found = np.concatenate([batch["times"][0] for batch in by_epoch])
    assert np.bincount(found.astype(int), minlength=30).min() >= 10
    features = dataset(
        package,
        data,
        select=select,
        fields=["times"],
        training=True,
        repeat=300,
        seed=1,
    )
    rows = [batch["times"].numpy() for batch in features]
    found = np.concatenate([r for each in rows for r in each if r.max() > 20])
    counts = np.bincount(found.astype(int), minlength=30)
    assert counts[:21].min() >= 1


# What is not selected.


@pytest.fixture
def damaged(package: Workspace, tmp_path: Path) -> Path:
    """Clips whose frames from the second on are damaged, of both records."""
    for record, row in (("clip", clip), ("film", film)):
        serialize = package.module(record, "serializer").serialize
        (tmp_path / record).mkdir()
        path = tmp_path / record / "train.tfrecord"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for number in (3, 0, 6):
                data = serialize(**row(number))
                for at in range(1, LENGTHS[number]):
                    good = frames(number, LENGTHS[number], (5, 6))[at]
                    data = data.replace(good, bytes(len(good)))
                writer.write(data)
    return tmp_path


@pytest.mark.parametrize("record", ["clip", "film"])
@pytest.mark.parametrize("skip", [False, True])
def test_damage_that_is_not_selected_is_not_found(
    package: Workspace, damaged: Path, record: str, skip: bool
) -> None:
    options: dict[str, Any] = {"fields": ["number", "frames"]}
    options |= {"on_corrupt": "skip"} if skip else {}
    path = damaged / record / "train.tfrecord"
    for selection in ({"first": 1}, lambda length: [0, 0]):
        options["select"] = {"frames": selection}
        split = package.module(record, "reader").open_split(path, **options)
        make = package.module(record, "pipeline").make_dataset
        found = make(path, batch_size=3, targets=False, **options)
        batch, features = split[:], next(iter(found))
        check_batches_are_equal(batch, features)
        assert batch["number"].tolist() == [3, 0, 6]


@pytest.mark.parametrize("record", ["clip", "film"])
def test_damage_that_is_selected_names_the_record(
    package: Workspace, damaged: Path, record: str
) -> None:
    path = damaged / record / "train.tfrecord"
    # Only of the first record, of thirty frames, a damaged one is selected.
    select = {"frames": lambda length: [0, 1] if length == 13 else [0]}
    with pytest.raises(DatasetError, match=r"record 1: field .frames."):
        package.module(record, "reader").open_split(path, select=select)[:]
    make = package.module(record, "pipeline").make_dataset
    with pytest.raises(tf.errors.OpError, match=r"record 1: field .frames."):
        [*make(path, batch_size=3, select=select, fields=["frames"])]


def test_only_selected_frames_are_decoded(
    package: Workspace, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    seen: list[int] = []
    plain_open = Image.open

    def counting(source: BytesIO, **options: Any) -> Any:
        seen.append(1)
        return plain_open(source, **options)

    monkeypatch.setattr(Image, "open", counting)
    for record in ("clip", "film"):
        split = opened(
            package, data, record, select={"frames": {"first": 2}}, fields=["frames"]
        )
        seen.clear()
        assert split[3]["frames"].shape[0] == 2
        assert len(seen) == 2


# What is refused.


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ([], "expected a dict by field"),
        ({"frames": {}}, "a function of the length"),
        ({"frames": 8}, "a function of the length"),
        ({"frames": {"firsst": 8}}, "did you mean 'first'"),
        ({"frames": {"first": 0}}, "expected a 64-bit integer from 1"),
        ({"frames": {"first": 1, "random": 1}}, "`first` or `random`, found both"),
        ({"number": {"first": 1}}, "field 'number' is a Scalar"),
        ({"filled": {"first": 1}}, "field 'filled' is a VarLen"),
        ({"frames": {"first": 1}, "acts": {"first": 1}}, "name one of them"),
        ({"frame": {"first": 1}}, "did you mean 'frames'"),
        ({"fixed": lambda length: [6]}, "returned 6 for 6 items, expected positions"),
    ],
)
def test_other_options_are_refused_by_both_readers(
    package: Workspace, data: Path, select: Any, words: str
) -> None:
    for read in (opened, dataset):
        with pytest.raises((DatasetError, ValueError), match=words):
            read(package, data, select=select)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda length: [30] if length == 30 else [0], "returned 30 for 30 items"),
        (lambda length: [-1] if length == 30 else [0], "returned -1 for 30 items"),
        (
            lambda length: [0.5] if length == 30 else [0],
            "expected positions, integers from 0 to 29",
        ),
        (lambda length: [0] if length < 30 else 1 // 0, "ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize(
    ("record", "on_corrupt"), [("clip", "raise"), ("film", "skip"), ("film", "raise")]
)
def test_wrong_positions_name_field_and_record(
    package: Workspace,
    data: Path,
    record: str,
    function: Any,
    words: str,
    on_corrupt: str,
) -> None:
    """A mistake of a function is not a corrupt record, so it is not skipped."""
    options: Any = {"select": {"frames": function}, "on_corrupt": on_corrupt}
    options["fields"] = ["frames"]
    with pytest.raises(DatasetError, match=f"record 3: field .frames..*{words}"):
        [*opened(package, data, record, **options).batches(2)]
    place = "record 3: " if on_corrupt == "raise" else ""
    with pytest.raises(tf.errors.OpError, match=f"{place}field .frames..*{words}"):
        [*dataset(package, data, record, batch_size=2, **options)]


def test_a_cache_serves_every_selection(
    package: Workspace, data: Path, tmp_path: Path
) -> None:
    for selection in ({"first": 2}, {"every": 2}, {"random": 2}):
        select = {"frames": selection}
        options: Any = {"select": select, "fields": ["frames", "times"]}
        found = dataset(package, data, cache=str(tmp_path / "cache"), **options)
        split = opened(package, data, **options)
        for _ in range(2):
            batches = [*found]
            if "random" not in selection:
                check_batches_are_equal(split[:], batches[0])
    assert len([*tmp_path.glob("cache-*.index")]) == 1


def test_selections_are_pickled_with_functions_that_can_be(
    package: Workspace, data: Path
) -> None:
    split = opened(package, data, select={"frames": every_third_backwards})
    again = pickle.loads(pickle.dumps(split))
    check_equal(again[3]["frames"], split[3]["frames"], "frames")
