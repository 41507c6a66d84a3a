"""Splits that are made of others: selected, changed, mixed and balanced."""

from __future__ import annotations

import io
import itertools
import math
import operator
import pickle
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from digit_rows import rows, scans
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tiers import examples

from generated import DatasetError, mix
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

if TYPE_CHECKING:
    from conftest import PackageOf

COUNT = 300

Row = dict[str, Any]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three splits of numbered records."""
    root = tmp_path_factory.mktemp("digits")
    write_dataset(rows(COUNT), root, "train", shards=3)
    write_dataset(rows(100), root, "extra", shards=2)
    write_dataset(rows(40), root, "few")
    return root


@pytest.fixture
def train(directory: Path) -> Any:
    return open_split(directory, "train")


@pytest.fixture
def extra(directory: Path) -> Any:
    return open_split(directory, "extra")


class TestSelect:
    """Some records, which are a split again."""

    @pytest.mark.parametrize(
        ("chosen", "numbers"),
        [
            (slice(10, 20), range(10, 20)),
            (slice(None, None, -100), [299, 199, 99]),
            (range(5, 0, -2), [5, 3, 1]),
            ([7, 3, 7], [7, 3, 7]),
            (np.array([-1, 0]), [299, 0]),
            (np.arange(COUNT) % 100 == 4, [4, 104, 204]),
            ([], []),
            (range(3, 3), []),
        ],
    )
    def test_selected_records_come_in_the_order_given(
        self, train: Any, chosen: Any, numbers: Any
    ) -> None:
        some = train.select(chosen)
        assert len(some) == len(numbers)
        assert scans(some.batches(4)) == [*numbers]
        assert [row["scan"] for row in some] == [*numbers]
        assert sorted(scans(some.batches(4, shuffle_seed=1))) == sorted(numbers)
        for at, number in enumerate(numbers):
            assert some[at]["scan"] == number

    @pytest.mark.parametrize(
        ("chosen", "error"),
        [
            ([300], IndexError),
            (range(0, 301), IndexError),
            (np.ones(5, bool), IndexError),
            ([1.5], TypeError),
            ("train", TypeError),
        ],
    )
    def test_a_selection_of_other_records_is_refused(
        self, train: Any, chosen: Any, error: Any
    ) -> None:
        with pytest.raises(error):
            train.select(chosen)

    def test_a_selection_of_a_selection(self, train: Any) -> None:
        some = train.select(range(100, 200)).select([3, 1])
        assert scans(some.batches(2)) == [103, 101]
        assert some.to_arrow()["scan"].to_pylist() == [103, 101]
        assert scans([some[:]]) == [103, 101]

    def test_a_state_is_of_the_selection(self, train: Any) -> None:
        some, others = train.select(range(50)), train.select(range(1, 51))
        batches = some.batches(8, shuffle_seed=1)
        first = [*islice(batches, 3)]
        rest = some.batches(8, shuffle_seed=1, resume=batches.state())
        assert sorted(scans([*first, *rest])) == list(range(50))
        with pytest.raises(DatasetError, match="other data"):
            others.batches(8, shuffle_seed=1, resume=batches.state())

    @pytest.mark.parametrize(
        ("name", "numbers"),
        [
            ("train[:80%]", range(240)),
            ("train[80%:]", range(240, 300)),
            ("train[100:200]", range(100, 200)),
            ("train[-10:]", range(290, 300)),
            ("train[:-290]", range(10)),
            ("train[:]", range(300)),
            ("train[200:100]", []),
            ("train[10%:400]", range(30, 300)),
        ],
    )
    def test_slices_stand_behind_names(
        self, directory: Path, name: str, numbers: Any
    ) -> None:
        assert scans(open_split(directory, name).batches(64)) == [*numbers]

    @pytest.mark.parametrize("name", ["train[a:b]", "train[5]", "train[1:2:3]"])
    def test_other_slices_are_refused(self, directory: Path, name: str) -> None:
        with pytest.raises(DatasetError, match=r"such as train\[:80%\]"):
            open_split(directory, name)

    @pytest.mark.parametrize(
        ("part", "count"), [("-1%:", 0), (":-1%", 40), ("-50%:", 20)]
    )
    def test_a_percent_of_few_records_is_none(
        self, directory: Path, part: str, count: int
    ) -> None:
        """And not all, which would be training data."""
        assert len(open_split(directory, f"few[{part}]")) == count

    def test_large_ranges_are_looked_at_in_no_time(self, train: Any) -> None:
        with pytest.raises(IndexError):
            train.select(range(10**15))

    def test_a_slice_of_compressed_files(self, tmp_path: Path) -> None:
        write_dataset(rows(50), tmp_path, "train", shards=3, compression="GZIP")
        part = open_split(tmp_path, "train[20:30]")
        assert scans(part.batches(4)) == list(range(20, 30))
        assert scans(part.batches(4, shard=(1, 2))) == list(range(21, 30, 2))


class TestMap:
    """Functions of records and of batches."""

    def test_fields_are_changed_added_and_left_out(self, train: Any) -> None:
        def change(row: Row) -> Row:
            image = row["image"].astype("float32") / 255
            return {"image": image, "twice": 2 * row["scan"], "text": "x"}

        changed = train.map(change)
        batch = next(changed.batches(8))
        assert {name: each.dtype.kind for name, each in batch.items()} == {
            **{"image": "f", "twice": "i", "text": "O"},
        }
        assert batch["image"].max() <= 1
        assert batch["twice"].tolist() == [2 * n for n in range(8)]
        assert changed[5]["twice"] == 10
        assert [row["twice"] for row in islice(changed, 3)] == [0, 2, 4]

    def test_lists_are_padded_as_the_schema_says(self, train: Any) -> None:
        plain, same = train, train.map(lambda row: row)
        for one, other in zip(plain.batches(32), same.batches(32), strict=True):
            assert one.keys() == other.keys()
            for name, column in one.items():
                assert column.dtype == other[name].dtype
                np.testing.assert_array_equal(column, other[name])

    def test_a_function_of_batches_gets_them(self, train: Any) -> None:
        sizes = []

        def twice(batch: Row) -> Row:
            sizes.append(len(batch["scan"]))
            return {"twice": batch["scan"] * 2}

        changed = train.map(twice, batched=True)
        found = [n for batch in changed.batches(128) for n in batch["twice"].tolist()]
        assert found == [2 * n for n in range(COUNT)]
        assert sorted(sizes) == [44, 128, 128]
        assert changed[7] == {"twice": 14}
        assert changed[[7, 3]]["twice"].tolist() == [14, 6]

    @pytest.mark.parametrize("batched", [False, True])
    def test_random_numbers_are_those_of_the_record(
        self, train: Any, batched: bool
    ) -> None:
        """For any batches and readers, and after resuming; others in another epoch."""

        def one(row: Row, rng: np.random.Generator) -> Row:
            return {"scan": row["scan"], "x": rng.random()}

        def several(batch: Row, rngs: list[np.random.Generator]) -> Row:
            return {"scan": batch["scan"], "x": np.array([r.random() for r in rngs])}

        split = train.map(several if batched else one, batched=batched)

        def drawn(*readers: Any) -> dict[int, float]:
            return {
                scan: x
                for batches in readers
                for batch in batches
                for scan, x in zip(
                    batch["scan"].tolist(), batch["x"].tolist(), strict=True
                )
            }

        order = {"shuffle_seed": 3, "epoch": 1}
        whole = drawn(split.batches(7, **order))
        assert len(set(whole.values())) == COUNT
        thirds = (split.batches(11, **order, shard=(i, 3)) for i in range(3))
        assert drawn(*thirds) == whole
        begun = split.batches(7, **order)
        first = drawn(islice(begun, 5))
        rest = drawn(split.batches(9, **order, resume=begun.state()))
        assert {**first, **rest} == whole
        assert drawn(split.batches(7, shuffle_seed=3, epoch=2)) != whole
        twice = split.map(lambda row, rng: {**row, "y": rng.random()})
        batch = next(twice.batches(8, **order))
        assert (batch["x"] != batch["y"]).all()

    @pytest.mark.parametrize("seed", [-1, 2**62])
    def test_any_seed_gives_each_record_its_own_numbers(
        self, train: Any, seed: int
    ) -> None:
        drawn = train.map(lambda row, rng: {"x": rng.random()})
        batch = next(drawn.batches(4, shuffle_seed=seed))
        assert len(set(batch["x"].tolist())) == 4

    def test_an_error_names_the_record(self, train: Any) -> None:
        def fails(row: Row) -> Row:
            if row["scan"] == 205:
                raise KeyError("missing")
            return row

        split = train.map(fails)
        said = r"train-00002-of-00003.tfrecord: record 5: map\(fails\): KeyError: 'missing'"
        with pytest.raises(DatasetError, match=said) as caught:
            list(split.batches(16))
        assert isinstance(caught.value.__cause__, KeyError)
        with pytest.raises(DatasetError, match=said):
            split[205]

    @pytest.mark.parametrize(
        ("function", "batched", "said"),
        [
            (lambda row: None, False, "it returned None, expected a dict"),
            (
                lambda row: {"x": object()},
                False,
                "field 'x': found an object, expected",
            ),
            (lambda row: {"x": np.zeros((row["scan"] + 1, 2))}, False, "one shape"),
            (
                lambda row: {"image": np.zeros((row["scan"] + 1, 2, 1))},
                False,
                "one shape",
            ),
            (
                lambda batch: {"x": 1},
                True,
                "column 'x': found int 1, expected an array",
            ),
            (lambda row: {str(row["scan"]): 1}, False, "return the same fields"),
            (lambda row: {"x": None}, False, "field 'x': missing in all 16 rows"),
            (lambda batch: {"x": [1]}, True, "column 'x' has 1 rows, expected 16"),
            (lambda batch: 5, True, "a value of the type int, expected columns"),
        ],
    )
    def test_wrong_results_are_refused(
        self, train: Any, function: Any, batched: bool, said: str
    ) -> None:
        with pytest.raises(DatasetError, match=said):
            next(train.map(function, batched=batched).batches(16))

    def test_what_is_no_function_is_refused(self, train: Any) -> None:
        with pytest.raises(TypeError, match="expected a function of a record"):
            train.map(5)

    def test_missing_values_have_a_mask(self, train: Any) -> None:
        split = train.map(lambda row: {"x": row["scan"] if row["scan"] % 2 else None})
        batch = next(split.batches(4))
        assert batch["x"].tolist() == [0, 1, 0, 3]
        assert batch["x_present"].tolist() == [False, True, False, True]

    def test_a_changed_split_is_in_arrow_and_pickles(self, train: Any) -> None:
        split = train.map(_with_length).select([3, 4])
        assert split.to_arrow()["length"].to_pylist() == [
            len(train[n]["ink_runs"]) for n in (3, 4)
        ]
        assert pickle.loads(pickle.dumps(split))[0].keys() == split[0].keys()


def _with_length(row: Row) -> Row:
    return {**row, "length": len(row["ink_runs"])}


class TestMix:
    """Several splits as one."""

    def test_each_has_its_share_and_its_own_order(self, train: Any, extra: Any) -> None:
        both = mix([train, extra], weights=[3, 1])
        assert len(both) == 400
        named = mix(
            [
                train.map(lambda row: {"scan": row["scan"], "of": "train"}),
                extra.map(lambda row: {"scan": row["scan"], "of": "extra"}),
            ],
            weights=[3, 1],
        )
        found = [
            (of, scan)
            for batch in named.batches(64, shuffle_seed=1)
            for of, scan in zip(batch["of"], batch["scan"].tolist(), strict=True)
        ]
        assert scans(both.batches(64, shuffle_seed=1)) == [scan for _, scan in found]
        for start in range(0, 400, 4):
            assert sum(of == "extra" for of, _ in found[start : start + 4]) == 1
        for name, split in (("train", train), ("extra", extra)):
            own = [scan for of, scan in found if of == name]
            assert own == scans(split.batches(64, shuffle_seed=1))

    def test_a_mixture_ends_with_the_first_split_that_is_used_up(
        self, train: Any, extra: Any
    ) -> None:
        equally = mix([train, extra])
        assert 200 <= len(equally) <= 201
        assert len(scans(equally.batches(7))) == len(equally)
        assert sorted(scans(equally.batches(7)))[:4] == [0, 0, 1, 1]

    @pytest.mark.parametrize(
        "weights", [[0.7, 0.3], [1, 3.3], [1e-9, 1], [12345, 54321]]
    )
    def test_a_mixture_of_any_weights_has_its_length(
        self, train: Any, extra: Any, weights: list[float]
    ) -> None:
        both = mix([train, extra], weights)
        assert len(scans(both.batches(64, shuffle_seed=2))) == len(both)

    def test_records_are_read_by_number(self, train: Any, extra: Any) -> None:
        both = mix([train, extra], [1, 1])
        whole = scans(both.batches(64))
        assert scans([both[[5, 2, 5]]]) == [whole[5], whole[2], whole[5]]
        assert both[3]["scan"] == whole[3]
        assert both.select([9, 0]).to_arrow()["scan"].to_pylist() == [
            whole[9],
            whole[0],
        ]
        changed = mix([train.map(lambda row: row), extra])
        assert scans([changed[[5, 2, 5]]]) == [whole[5], whole[2], whole[5]]

    def test_a_mixture_is_shared_and_resumed(self, train: Any, extra: Any) -> None:
        both = mix([train, extra], [2, 1])
        whole = scans(both.batches(8, shuffle_seed=1))
        readers = [both.batches(8, shuffle_seed=1, shard=(i, 2)) for i in range(2)]
        first = [batch for reader in readers for batch in islice(reader, 2)]
        assert sorted(scans(first)) == sorted(whole[:32])
        state = readers[0].state()
        rest = [
            both.batches(5, shuffle_seed=1, shard=(i, 3), resume=state)
            for i in range(3)
        ]
        assert sorted(scans(b for each in rest for b in each)) == sorted(whole[32:])

    def test_a_dict_of_sources_is_mixed(self, directory: Path) -> None:
        found = open_split({f"{directory}:train": 3, f"{directory}:extra": 1})
        assert len(found) == 400
        assert len(open_split({directory: 3}, "train[:10%]")) == 30

    def test_compressed_files_are_mixed(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            write_dataset(rows(20), tmp_path, name, shards=2, compression="GZIP")
        both = mix([open_split(tmp_path, name) for name in ("a", "b")])
        assert sorted(scans(both.batches(3))) == sorted([*range(20), *range(20)])

    def test_splits_that_do_not_go_together_are_refused(
        self, directory: Path, train: Any
    ) -> None:
        some = open_split(directory, "extra", fields=["scan"])
        with pytest.raises(DatasetError, match="split 1 has another field 'image'"):
            mix([train, some])
        with pytest.raises(DatasetError, match="positive number"):
            mix([train, train], [1, 0])
        with pytest.raises(DatasetError, match="1 weights for 2 splits"):
            mix([train, train], [1])
        with pytest.raises(DatasetError, match="found none"):
            mix([])

    def test_splits_that_functions_have_made_unlike_are_refused(
        self, train: Any, extra: Any
    ) -> None:
        added = train.map(lambda row: {**row, "more": 1})
        for splits in ([added, extra], [extra, added]):
            with pytest.raises(DatasetError, match="'more' is in some splits"):
                next(mix(splits).batches(8))
        floats = extra.map(lambda row: {**row, "image": row["image"] / 255})
        with pytest.raises(DatasetError, match="is uint8 in split 0, and float64"):
            next(mix([train, floats]).batches(8))
        with pytest.raises(TypeError, match="expected a list of splits"):
            mix(train, [1])

    def test_an_error_names_the_file_of_its_split(self, train: Any, extra: Any) -> None:
        def fails(row: Row) -> Row:
            raise ValueError("no")

        with pytest.raises(DatasetError, match=r"extra-0000\d-of-00002"):
            list(mix([train, extra.map(fails)]).batches(8))


def mixed_order(sizes: list[int], weights: list[int], stop: str) -> list[list[int]]:
    """Draw record by record: which split each is of, and which of its records."""
    common = math.gcd(*weights)
    counts = [weight // common for weight in weights]
    pattern = sorted(
        ((turn + 0.5) / count, at)
        for at, count in enumerate(counts)
        for turn in range(count)
    )
    drawn = [0] * len(sizes)
    found: list[list[int]] = []
    for _, at in itertools.cycle(pattern):
        if stop == "first" and drawn[at] == sizes[at]:
            return found
        if stop == "last" and all(map(operator.ge, drawn, sizes)):
            return found
        found.append([at, drawn[at]])
        drawn[at] += 1
    return found


_DECLARED_UNLIKE = """
from typing import Annotated
from schemagen import Label, Record, Scalar

class Cats(Record):
    animal: Annotated[int, Label(classes=("cat", "dog"))]
    weight: Annotated[float, Scalar("float32", key="w")]

class CatsFromOne(Record):
    animal: Annotated[int, Label(classes=("cat", "dog"), offset=1)]
    weight: float

class Dogs(Record):
    animal: Annotated[int, Label(classes=("dog", "cat"))]
    weight: float
"""


_SCALED_UNLIKE = """
from typing import Annotated
import numpy as np
from schemagen import Image, Record, Vector

class {name}(Record):
    photo: Annotated[np.ndarray, Image((8, 8, 1), resize=({size}, {size}))]
    box: Annotated[np.ndarray, Vector((4,), box_image="photo",
        box=("ymin", "xmin", "ymax", "xmax"))]
"""


@pytest.fixture
def unlike(package_of: PackageOf, tmp_path: Path) -> dict[str, Any]:
    """Splits of records that declare a label, or how it is stored, differently."""
    package = package_of(_DECLARED_UNLIKE)
    found = {}
    for at, name in enumerate(("cats", "cats_from_one", "dogs")):
        each = [{"animal": "dog", "weight": at}] * 4
        package.module(name, "serializer").write_dataset(each, tmp_path / name, "train")
        found[name] = package.module(name, "reader").open_split
    return {name: partial(read, tmp_path / name) for name, read in found.items()}


class TestMixOfUnlikeRecords:
    def test_each_is_read_as_its_record_declares(self, unlike: dict[str, Any]) -> None:
        """Key and offset are of files; a mixture of mixtures is no other."""
        cats, others = (unlike[name]() for name in ("cats", "cats_from_one"))
        for both in (mix([cats, others]), mix([others, mix([cats, others])])):
            [batch] = both.select(range(4)).batches(4)
            assert batch["animal"].tolist() == [1] * 4
            assert set(batch["weight"].tolist()) == {0, 1}
            assert {row["animal"] for row in both} == {1}

    def test_boxes_are_scaled_as_their_record_says(
        self, package_of: PackageOf, tmp_path: Path
    ) -> None:
        """Also if the image that says how is not read."""
        splits = []
        for name, size in (("Half", 4), ("Quarter", 2)):
            package = package_of(_SCALED_UNLIKE.format(name=name, size=size))
            row = {"photo": np.zeros((8, 8, 1), np.uint8), "box": [0, 0, 8, 4]}
            where, record = tmp_path / name, name.lower()
            package.module(record, "serializer").write_dataset(
                [row] * 2, where, "train"
            )
            read = package.module(record, "reader").open_split
            splits.append(read(where, fields=["box"]))
        [batch] = mix(splits).batches(4)
        assert batch["box"].tolist()[:2] == [[0, 0, 4, 2], [0, 0, 2, 1]]

    def test_other_classes_are_refused(self, unlike: dict[str, Any]) -> None:
        cats, dogs = unlike["cats"], unlike["dogs"]
        with pytest.raises(DatasetError, match=r"another field 'animal'.*same classes"):
            mix([cats(), dogs()])
        by_name = mix([each(class_names=True) for each in (cats, dogs)])
        assert {row["animal"] for row in by_name} == {"dog"}
        changed = dogs().map(lambda row: {**row, "animal": 1 - row["animal"]})
        assert {row["animal"] for row in mix([cats(), changed])} == {1}

    def test_each_skips_what_it_skips(self, unlike: dict[str, Any]) -> None:
        """A split that raises errors does so next to one that leaves records out."""
        [damaged] = Path(unlike["cats"].args[0]).glob("*.tfrecord")
        content = damaged.read_bytes()
        damaged.write_bytes(content[:14] + b"\xff\xff" + content[16:])
        strict, skipping = (
            unlike["cats"](on_corrupt=each) for each in ("raise", "skip")
        )
        for pair in ([strict, skipping], [skipping, strict]):
            with pytest.raises(DatasetError, match="record 0"):
                list(mix(pair).batches(8))
        with pytest.warns(RuntimeWarning, match="left out"):
            assert len(list(mix([skipping, skipping]).batches(1))) == 6


class TestMixUntilTheLast:
    """Shorter splits begin again until all records have been read."""

    @examples(300)
    @given(data=st.data())
    def test_splits_take_turns_as_in_a_model(
        self, directory: Path, data: st.DataObject
    ) -> None:
        """Also on readers one after the other, in any order."""
        train = open_split(directory, "train")
        sizes = data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=4))
        weights = [data.draw(st.integers(1, 9)) for _ in sizes]
        stop = data.draw(st.sampled_from(["first", "last"]))
        seed = data.draw(st.sampled_from([None, 1]))
        starts = np.cumsum([0, *sizes]).tolist()
        splits = [train.select(range(*each)) for each in itertools.pairwise(starts)]
        both = mix(splits, weights, stop=stop)
        model = mixed_order(sizes, weights, stop)
        assert len(both) == len(model)
        found = scans(both.batches(16, shuffle_seed=seed))
        for at, (size, split) in enumerate(zip(sizes, splits, strict=True)):
            places = [n for n, (of, _) in enumerate(model) if of == at]
            own = [found[place] for place in places]
            once = range(starts[at], starts[at] + size)
            own_order = scans(split.batches(16, shuffle_seed=seed))
            assert own[:size] == own_order[: len(own)]
            for begin in range(0, len(own), size):
                part = own[begin : begin + size]
                assert len({*part}) == len(part)
                assert {*part} <= {*once}
                if seed is None:
                    assert part == [*once][: len(part)]
        read: list[int] = []
        state = None
        for _ in range(data.draw(st.integers(0, 2))):
            readers, size = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 9))
            shares = [
                both.batches(size, shuffle_seed=seed, shard=(i, readers), resume=state)
                for i in range(readers)
            ]
            batches = data.draw(st.integers(0, len(shares[-1])))
            batches -= batches > 0 and batches == len(shares[-1])
            read += scans(b for share in shares for b in islice(share, batches))
            state = shares[0].state()
        assert sorted(read) == sorted(found[: len(read)])
        rest = both.batches(7, shuffle_seed=seed, resume=state)
        assert sorted(read + scans(rest)) == sorted(found)

    def test_each_time_has_another_order(self, train: Any, extra: Any) -> None:
        both = mix([train, extra.select(range(20))], stop="last")
        for epoch in range(2):
            found = scans(both.batches(64, shuffle_seed=1, epoch=epoch))[1::2]
            orders = [found[start : start + 20] for start in range(0, 300, 20)]
            assert len({*map(tuple, orders)}) == 15

    @pytest.mark.parametrize("where", ["inside", "outside"])
    def test_each_time_has_other_random_numbers(
        self, train: Any, extra: Any, where: str
    ) -> None:
        """The same ones for any readers."""

        def drawn(row: Row, random: np.random.Generator) -> Row:
            return {"scan": row["scan"], "drawn": random.random()}

        few = extra.select(range(3))
        if where == "inside":
            both = mix([train.map(drawn), few.map(drawn)], stop="last")
        else:
            both = mix([train, few], stop="last").map(drawn)

        def pairs(batches: Any) -> list[tuple[int, float]]:
            return [
                pair
                for batch in batches
                for pair in zip(batch["scan"], batch["drawn"], strict=True)
            ]

        found = pairs(both.batches(64, shuffle_seed=1))
        of_few = [number for _, number in found[1::2]]
        assert len({*of_few}) == len(of_few) == 299
        shares = [both.batches(7, shuffle_seed=1, shard=(i, 3)) for i in range(3)]
        assert sorted(pairs(b for share in shares for b in share)) == sorted(found)

    def test_a_split_in_a_mixture_of_mixtures_has_another_order_each_time(
        self, train: Any, extra: Any
    ) -> None:
        inner = mix([extra.select(range(10)), extra.select(range(10, 15))], stop="last")
        both = mix([train, inner], [1, 1], stop="last")
        found = scans(both.batches(64, shuffle_seed=1))[1::2]
        orders = [
            tuple(each for each in found[start : start + len(inner)] if each < 10)
            for start in range(0, 300 - len(inner), len(inner))
        ]
        assert len({*orders}) == len(orders) > 10

    def test_a_split_may_be_read_many_times(self, train: Any, extra: Any) -> None:
        both = mix([train.select(range(100)), extra.select([7])], [1, 40], stop="last")
        found = scans(both.batches(64, shuffle_seed=1))
        assert found.count(7) == len(found) - 99 > 3_900
        assert both[len(both) - 1]["scan"] in range(100)

    def test_a_balanced_split_is_mixed(self, train: Any, extra: Any) -> None:
        few = extra.select([*range(10), 11]).balanced("digit")
        both = mix([train, few], stop="last")
        found = scans(both.batches(64, shuffle_seed=1))[1::2]
        expected = sorted(scans(few.batches(9)))
        assert len(few) == 20
        assert sorted(found[:20]) == sorted(found[20:40]) == expected
        assert found[:20] != found[20:40]

    def test_compressed_files_begin_again(self, tmp_path: Path) -> None:
        write_dataset(rows(20), tmp_path, "a", shards=2, compression="GZIP")
        write_dataset(rows(7), tmp_path, "b", compression="GZIP")
        one, other = (open_split(tmp_path, name) for name in ("a", "b"))
        for both in (
            mix([one, other], stop="last"),
            mix([one.map(_with_length), other.map(_with_length)], stop="last"),
        ):
            found = scans(both.batches(3))
            assert found[::2] == [*range(20)]
            assert found[1::2] == [at % 7 for at in range(len(found) // 2)]

    def test_a_state_tells_how_a_mixture_ends(self, train: Any, extra: Any) -> None:
        one, other = (mix([train, train], stop=stop) for stop in ("first", "last"))
        assert len(one) == len(other)
        with pytest.raises(DatasetError, match="other data"):
            one.batches(8, resume=other.batches(8).state())

    def test_an_empty_split_is_not_repeated(self, train: Any) -> None:
        both = mix([train, train.select([])], stop="last")
        with pytest.raises(DatasetError, match="there is no record, and stop='last'"):
            len(both)
        with pytest.raises(
            DatasetError, match="stop='all': expected 'first' or 'last'"
        ):
            mix([train], stop="all")

    def test_records_are_packed(self, train: Any, extra: Any) -> None:
        """Of all repeats, on any readers."""
        both = mix([train, extra.select(range(9))], [2, 1], stop="last")
        options: dict[str, Any] = {"shuffle_seed": 1, "pack": {"ink_runs": 16}}

        def items(batches: Any) -> list[int]:
            return [
                item
                for batch in batches
                for item in batch["ink_runs"][batch["ink_runs_segments"] > 0].tolist()
            ]

        expected = [
            n for n in scans(both.batches(64, shuffle_seed=1)) for _ in [0] * (n % 5)
        ]
        shares = [both.batches(3, **options, shard=(i, 2)) for i in range(2)]
        found = items(batch for share in shares for batch in islice(share, 4))
        state = shares[0].state()
        assert sorted(
            found + items(both.batches(8, **options, resume=state))
        ) == sorted(expected)


class TestMixByItems:
    """Weights are shares of the items of a list."""

    def test_each_has_its_share_of_items(self, train: Any) -> None:
        ones = train.select(range(1, COUNT, 5))
        fours = train.select(range(4, COUNT, 5))
        both = mix([ones, fours], [3, 1], weights_of="ink_runs")
        assert len(both) == 65
        found = scans(both.batches(13))
        assert [sum(n % 5 for n in found if n % 5 == of) for of in (1, 4)] == [60, 20]
        fewer = mix([ones, fours], [3, 1], weights_of="ink_runs").batches(8).state()
        assert len(mix([ones, fours], [12, 1]).batches(8, resume=fewer)) == 9

    def test_lists_of_functions_count(self, train: Any) -> None:
        some = train.select(range(4, COUNT, 5))
        longer = some.map(lambda row: {**row, "ink_runs": [*row["ink_runs"]] * 3})
        both = mix([some, longer], weights_of="ink_runs", stop="last")
        assert sum(len(row["ink_runs"]) == 12 for row in both) == 60
        assert len(both) == 60 + 179

    def test_what_is_not_a_list_is_refused(self, train: Any) -> None:
        with pytest.raises(DatasetError, match="weights_of='digit': no list 'digit'"):
            mix([train, train], weights_of="digit")
        changed = train.map(lambda row: {"made": 1})
        for name, said in (("made", "expected a list"), ("other", "is left")):
            with pytest.raises(DatasetError, match=said):
                len(mix([changed, changed], weights_of=name))
        empty = train.select(range(0, COUNT, 5))
        with pytest.raises(DatasetError, match="all lists are empty"):
            len(mix([train, empty], weights_of="ink_runs"))


class TestRowByRow:
    """Records one by one, several of which are read together."""

    def test_a_split_is_a_source_of_rows(self, train: Any, tmp_path: Path) -> None:
        """In its own order, with what functions have made of them."""
        order = np.random.default_rng(1).permutation(COUNT)
        some = train.select(order).map(lambda row: {**row, "scan": row["scan"] + 1000})
        write_dataset(some, tmp_path, "train", shards=2)
        written = open_split(tmp_path, "train")[:]["scan"]
        assert written.tolist() == (order + 1000).tolist()

    def test_a_class_of_ones_own_is_asked_row_by_row(
        self, train: Any, tmp_path: Path
    ) -> None:
        """It changes what comes one by one."""

        def shifted(split: Any, index: int) -> Row:
            row = train[index]
            return {**row, "scan": row["scan"] + 1000}

        own = type("Shifted", (type(train),), {"__getitem__": shifted})
        some = own(train._view, train._roles)
        write_dataset(some, tmp_path, "train")
        assert min(open_split(tmp_path, "train")[:]["scan"]) == 1000

    def test_a_row_that_cannot_be_read_is_named(
        self, train: Any, tmp_path: Path
    ) -> None:
        def fails(row: Row) -> Row:
            if row["scan"] == 270:
                raise ValueError("odd")
            return row

        with pytest.raises(DatasetError, match="map") as caught:
            write_dataset(train.map(fails), tmp_path, "train")
        assert caught.value.__notes__ == ["while the source loaded row 270"]

    @pytest.mark.parametrize(
        ("size", "taken", "least", "most"), [(1, 100, 121, 300), (1 << 24, 9, 9, 14)]
    )
    def test_as_many_are_read_ahead_as_fit(
        self, train: Any, size: int, taken: int, least: int, most: int
    ) -> None:
        """A few of those of 16 MB, and more and more small ones at a time."""
        made: list[int] = []

        def grown(row: Row) -> Row:
            made.append(row["scan"])
            return {**row, "more": np.empty(size, np.uint8)}

        [*islice(train.map(grown), taken)]
        assert least <= len(made) <= most


class TestBalance:
    """Classes that come equally often."""

    def test_each_class_comes_as_often(self, train: Any) -> None:
        some = train.select([n for n in range(COUNT) if n % 10 or n < 40])
        balanced = some.balanced("digit")
        labels = balanced[:]["digit"]
        found, counts = np.unique(labels, return_counts=True)
        assert found.tolist() == list(range(10))
        assert set(counts.tolist()) == {30}
        assert sorted(labels[:10].tolist()) == list(range(10))
        every = set(scans(balanced.batches(64)))
        assert every == set(scans(some.batches(64)))

    def test_copies_of_a_record_get_other_random_numbers(self, train: Any) -> None:
        """And everything else that a split has, also with corrupt records left out."""
        some = train.select([3, 3, 7, 3])
        drawn = some.map(lambda row, rng: {"scan": row["scan"], "x": rng.random()})
        batch = next(drawn.batches(4))
        assert batch["scan"].tolist() == [3, 3, 7, 3]
        assert len(set(batch["x"].tolist())) == 4
        assert drawn[1]["x"] == batch["x"][1]
        again = [*drawn.batches(1, shuffle_seed=0), *drawn.batches(3, shuffle_seed=0)]
        assert len({x for each in again for x in each["x"].tolist()}) == 4
        assert some.to_arrow([1, 2])["scan"].to_pylist() == [3, 7]
        assert scans(mix([some, train.select([5])], [4, 1]).batches(8))[:1] == [3]
        with pytest.raises(DatasetError, match="record 3: map"):
            some.map(lambda row: 1 / 0)[1]

    def test_functions_behind_an_epoch_are_of_that_epoch(self, train: Any) -> None:
        def drawn(row: Any, rng: Any) -> Any:
            return {"scan": row["scan"], "x": rng.random()}

        changed = train.map(drawn)
        for epoch in (0, 3):
            expected = [*changed.batches(32, shuffle_seed=1, epoch=epoch)]
            behind = train.at_epoch(epoch, shuffle_seed=1).map(drawn)
            found = [*behind.batches(32)]
            assert scans(found) == scans(expected)
            assert all(
                one["x"].tolist() == other["x"].tolist()
                for one, other in zip(found, expected, strict=True)
            )

    @pytest.mark.parametrize("batched", [False, True])
    def test_copies_of_changed_records_do_too(self, train: Any, batched: bool) -> None:
        """Whether records are changed before or after they are selected."""

        def drawn(row: Any, rng: Any) -> Any:
            return {**row, "x": [r.random() for r in rng] if batched else rng.random()}

        changed = train.map(drawn, batched=batched).map(dict)
        twice = changed.select([3, 3, 7, 3])
        batch = next(twice.batches(4))
        assert batch["scan"].tolist() == [3, 3, 7, 3]
        assert len(set(batch["x"].tolist())) == 4
        for some in (changed.select([9, 3, 7]), changed.select(range(1, 9, 2))):
            chosen = [1, 1, 2, 1] if len(some) == 3 else [1, 1, 3, 1]
            again = next(some.select(chosen).batches(4))
            assert again["scan"].tolist() == [3, 3, 7, 3]
            assert again["x"].tolist() == batch["x"].tolist()
        before = train.select([3, 3, 7, 3]).map(drawn, batched=batched)
        assert next(before.batches(4))["x"].tolist() == batch["x"].tolist()

    def test_names_of_classes_will_do(self, directory: Path) -> None:
        split = open_split(directory, "train", class_names=True)
        assert len(split.balanced("digit")) == COUNT

    @pytest.mark.parametrize("field", ["image", "digitt", "scan"])
    def test_a_field_that_has_no_classes_is_refused(
        self, train: Any, field: str
    ) -> None:
        with pytest.raises(DatasetError, match="expected one of digit"):
            train.balanced(field)

    def test_a_label_that_is_not_read_is_refused(self, directory: Path) -> None:
        images = open_split(directory, "train", fields=["image"])
        with pytest.raises(DatasetError, match="none of the fields that are read"):
            images.balanced("digit")


class TestOneShape:
    """Batches of fixed shapes."""

    def test_lists_have_the_length_of_the_schema(self, train: Any) -> None:
        shapes = {
            b["ink_runs"].shape for b in train.batches(10, pad_to_max_length=True)
        }
        assert shapes == {(10, 32)}

    def test_a_list_without_limit_is_refused(self, directory: Path) -> None:
        some = open_split(directory, "train", fields=["scan"])
        with pytest.raises(DatasetError, match="has a maximum length"):
            some.batches(4, pad_to_max_length=True)


KINDS = """
from typing import Annotated, Any
import numpy as np
from schemagen import Image, Ragged, Record, Sparse, VarLen

class Mixed(Record):
    number: int
    words: Annotated[list[str], VarLen("string")]
    names: Annotated[list[list[str]], Ragged("string")]
    table: Annotated[list[list[int]], Ragged("int64", ragged=False)]
    picture: Annotated[np.ndarray, Image((None, None, 3), encoding="png")]
    grid: Annotated[Any, Sparse((3, 3), index_key=("r", "c"))]
    free: Annotated[list[float] | None, VarLen("float32", ragged=True)] = None
"""


@pytest.fixture(scope="module")
def kinds(package_of: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A split with lists of every sort."""
    package = package_of(KINDS)
    some = [
        {
            "number": number,
            "words": [f"word {number} {at}" for at in range(number % 5)],
            "names": [["a"] * at for at in range(number % 3)],
            "table": [[number] * at for at in range(1, number % 4)],
            "picture": np.full((2 + number % 3, 3, 3), number, np.uint8),
            "grid": {(number % 3, 1): 1.5},
            "free": None if number % 2 else [0.5] * (number % 4),
        }
        for number in range(60)
    ]
    directory = tmp_path_factory.mktemp("kinds")
    serializer = package.module("mixed", "serializer")
    for row in some:
        row["picture"] = _png(row["picture"])
    serializer.write_dataset(some, directory, "train", shards=2)
    return package.module("mixed", "reader").open_split(directory, "train")


def _png(pixels: Any) -> bytes:
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "png")
    return data.getvalue()


def test_a_function_that_changes_nothing_changes_no_batch(kinds: Any) -> None:
    """Of any kind, many times: texts are objects, whose memory is their own."""
    for _ in range(10):
        pairs = zip(
            kinds.batches(7, shuffle_seed=1),
            kinds.map(lambda row: row).batches(7, shuffle_seed=1),
            strict=True,
        )
        for plain, mapped in pairs:
            assert plain.keys() == mapped.keys()
            for name, column in plain.items():
                assert type(column) is type(mapped[name])
                np.testing.assert_equal(mapped[name], column)


def test_values_of_any_type_are_delivered(kinds: Any) -> None:
    """Also those whose memory no one can tell."""
    odd = np.array("odd", object)
    mapped = kinds.map(lambda batch: {"x": [odd] * len(batch["number"])}, batched=True)
    assert sum(len(batch["x"]) for batch in mapped.batches(7)) == 60


def test_pictures_of_one_size_are_a_tensor(kinds: Any) -> None:
    resized = kinds.map(lambda row: {"picture": np.zeros((8, 8, 3), np.uint8)})
    assert next(resized.batches(4))["picture"].shape == (4, 8, 8, 3)


def test_packing_a_mixture_keeps_all_values(kinds: Any) -> None:
    few = kinds.map(lambda row: {"ids": np.array([row["number"]])})
    more = kinds.map(lambda row: {"ids": np.array([1000 + row["number"]])})
    packed = next(mix([few, more]).batches(1, pack={"ids": 16}))["ids"][0]
    assert sorted(packed.tolist()) == sorted([*range(8), *range(1000, 1008)])


def test_masks_that_one_split_lacks_are_filled(kinds: Any) -> None:
    always = kinds.map(lambda row: {"a": 1.0})
    often = kinds.map(lambda row: {"a": None if row["number"] % 3 else 2.0})
    for splits in ([always, often], [often, always]):
        batch = next(mix(splits).batches(8))
        assert batch["a_present"].sum() == 6


def test_a_table_keeps_the_types_of_values(kinds: Any) -> None:
    table = kinds.map(
        lambda row: {"x": np.float32(0.5), "y": np.ones(2, np.float32), "z": (1, 2, 3)}
    ).to_arrow()
    assert [str(each) for each in table.schema.types] == [
        "float",
        "list<item: float>",
        "list<item: int64>",
    ]


@pytest.mark.parametrize("weight", [2**2000, 2**63, float("inf")])
def test_a_weight_beyond_64_bits_is_refused(
    train: Any, extra: Any, weight: float
) -> None:
    """Rather than failing in the arithmetic of shares."""
    with pytest.raises(DatasetError, match="expected a positive number below 2"):
        mix([train, extra], [1, weight])


@pytest.mark.parametrize("digits", [22, 400, 5000])
@pytest.mark.parametrize("unit", ["", "%"])
def test_a_slice_beyond_64_bits_is_refused(
    directory: Path, digits: int, unit: str
) -> None:
    """Whatever number of digits it has."""
    with pytest.raises(DatasetError, match="expected a slice such as"):
        open_split(directory, f"train[:{'9' * digits}{unit}]")


@pytest.mark.parametrize("shard", [(0, 2**63), (2**70, 2**71), (-(2**70), 2)])
def test_a_number_of_readers_beyond_64_bits_is_refused(train: Any, shard: Any) -> None:
    """As any other pair that is no share."""
    with pytest.raises(DatasetError, match="shard="):
        next(iter(train.batches(4, shard=shard)))
