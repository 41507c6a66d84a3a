"""`to_torch`, `collate` and views under PyTorch and JAX, without TensorFlow."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from digit_rows import rows
from schemagen.runtime.arrays.torch import collate
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset
from torchdata.stateful_dataloader import StatefulDataLoader

from generated import DatasetError, mix
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

COUNT = 301


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split of numbered records."""
    root = tmp_path_factory.mktemp("digits")
    write_dataset(rows(COUNT), root, "train", shards=4)
    return root


@pytest.fixture
def split(directory: Path) -> Any:
    return open_split(directory, "train")


def scans(batches: Any) -> list[list[int]]:
    """Return the numbers of the records of each batch."""
    return [batch["scan"].tolist() for batch in batches]


def stateful(dataset: Any, workers: int) -> Any:
    """Return a loader that knows the states of its workers."""
    return StatefulDataLoader(dataset, batch_size=None, num_workers=workers)


class TestDataset:
    """The dataset of `to_torch`."""

    @pytest.mark.parametrize("workers", [0, 1, 2, 3])
    def test_any_number_of_workers_delivers_the_same(
        self, split: Any, workers: int
    ) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        loader = DataLoader(dataset, batch_size=None, num_workers=workers)
        assert scans(loader) == scans(split.batches(16, shuffle_seed=1))
        assert len(dataset) == len(loader) == 19
        assert all(
            isinstance(each, torch.Tensor) for each in next(iter(dataset)).values()
        )

    def test_it_shows_the_tensors(self, split: Any) -> None:
        shown = repr(split.to_torch(16)).split("\n")
        assert shown[0] == "batches of 16 records:"
        fields = [line.split() for line in shown[1:]]
        batch = next(iter(split.to_torch(16)))
        assert [name for name, *_ in fields] == list(batch)
        assert ["scan", "int64", "[16]"] in fields

    def test_workers_that_live_on_see_the_next_epoch(self, split: Any) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        loader = DataLoader(
            dataset, batch_size=None, num_workers=2, persistent_workers=True
        )
        for epoch in (0, 3, 1):
            dataset.set_epoch(epoch)
            expected = scans(split.batches(16, shuffle_seed=1, epoch=epoch))
            assert scans(loader) == expected

    @pytest.mark.parametrize("workers", [0, 2])
    @pytest.mark.parametrize("options", [{}, {"pack": {"ink_runs": 16}}])
    def test_a_stateful_loader_goes_on(
        self, split: Any, workers: int, options: dict[str, Any]
    ) -> None:
        def loader() -> Any:
            dataset = split.to_torch(8, shuffle_seed=1, epoch=2, **options)
            return stateful(dataset, workers)

        def runs(batches: Any) -> list[Any]:
            return [batch["ink_runs"].tolist() for batch in batches]

        whole = runs(loader())
        begun = loader()
        first = runs(islice(begun, 3))
        state = begun.state_dict()
        again = loader()
        again.load_state_dict(state)
        assert first + runs(again) == whole
        assert len(whole) > 4

    @pytest.mark.parametrize("workers", [0, 2])
    def test_packed_rows_have_a_length_and_values_for_each_segment(
        self, split: Any, workers: int
    ) -> None:
        options: dict[str, Any] = {"pack": {"ink_runs": 16}, "per_segment": ["scan"]}
        dataset = split.to_torch(8, shuffle_seed=1, **options)
        for epoch in range(2):
            dataset.set_epoch(epoch)
            expected = [*split.batches(8, shuffle_seed=1, epoch=epoch, **options)]
            assert len(dataset) == len(expected)
            loader = DataLoader(dataset, batch_size=None, num_workers=workers)
            for batch, arrays in zip(loader, expected, strict=True):
                for name, column in arrays.items():
                    assert batch[name].tolist() == column.tolist()

    def test_another_number_of_readers_goes_on(self, split: Any) -> None:
        begun = split.to_torch(16, shuffle_seed=1, shard=(0, 2))
        first = [*islice(begun, 2)]
        assert len(first) == 2
        state = begun.state_dict()
        found: list[int] = []
        for reader in range(3):
            rest = split.to_torch(8, shuffle_seed=1, shard=(reader, 3))
            rest.load_state_dict(state)
            found += chain.from_iterable(scans(rest))
        whole = [*chain.from_iterable(scans(split.batches(16, shuffle_seed=1)))]
        assert sorted(found) == sorted(whole[64:])

    @pytest.mark.parametrize("workers", [0, 2])
    def test_a_state_of_another_epoch_is_refused(
        self, split: Any, workers: int
    ) -> None:
        begun = stateful(split.to_torch(16, shuffle_seed=1), workers)
        next(iter(begun))
        state = begun.state_dict()
        for other in (
            split.to_torch(16, shuffle_seed=2),
            split.to_torch(16),
            split.select(range(200)).to_torch(16, shuffle_seed=1),
            split.to_torch(16, shuffle_seed=1, block=8),
        ):
            again = stateful(other, workers)
            again.load_state_dict(state)
            with pytest.raises(Exception, match="the state was made with"):
                list(again)

    @pytest.mark.parametrize("size", [16, 8])
    @pytest.mark.parametrize("workers", [1, 2, 3])
    def test_a_state_of_other_workers_is_refused(
        self, split: Any, size: int, workers: int
    ) -> None:
        """The error names the state that any number of workers takes."""
        begun = stateful(split.to_torch(16, shuffle_seed=1), 2)
        next(iter(begun))
        again = stateful(split.to_torch(size, shuffle_seed=1), workers)
        again.load_state_dict(begun.state_dict())
        if (size, workers) == (16, 2):
            assert len(list(again)) == 18
            return
        with pytest.raises(Exception, match=r"save dataset.state_dict\(after=count\)"):
            list(again)

    @pytest.mark.parametrize("workers", [0, 2, 3])
    def test_states_that_are_saved_at_any_time_are_exact(
        self, split: Any, workers: int
    ) -> None:
        """Before the first batch, and again before anything is read."""

        def loader() -> Any:
            return stateful(split.to_torch(32, shuffle_seed=1), workers)

        whole = scans(loader())
        for stop in (0, 1, 4):
            begun = loader()
            batches = iter(begun)
            first = scans(islice(batches, stop))
            state = begun.state_dict()
            for _ in range(2):
                begun = loader()
                begun.load_state_dict(state)
                iter(begun)
                state = begun.state_dict()
            again = loader()
            again.load_state_dict(state)
            assert first + scans(again) == whole

    @pytest.mark.parametrize("workers", [0, 1, 2])
    def test_a_state_of_an_ended_epoch_begins_the_next(
        self, split: Any, workers: int
    ) -> None:
        """After its last batch, as long as the loop has not ended, no batch is left."""

        def loader() -> Any:
            return stateful(split.to_torch(32, shuffle_seed=1), workers)

        def epoch(number: int) -> list[list[int]]:
            return scans(split.batches(32, shuffle_seed=1, epoch=number))

        begun = loader()
        for _ in begun:
            last = begun.state_dict()
        ended = begun.state_dict()
        for state, named, expected, following in (
            (last, None, [], 1),
            (ended, None, epoch(1), 2),
            (ended, 0, epoch(0), 1),
            (ended, 3, epoch(3), 4),
        ):
            again = loader()
            again.load_state_dict(state)
            if named is not None:
                again.dataset.set_epoch(named)
            assert scans(again) == expected
            assert scans(again) == epoch(following)

    def test_another_epoch_than_that_of_a_state_begins(self, split: Any) -> None:
        begun = split.to_torch(32, shuffle_seed=1)
        next(iter(begun))
        state = begun.state_dict()
        for epoch, skipped in ((3, 0), (0, 1)):
            dataset = split.to_torch(32, shuffle_seed=1)
            dataset.load_state_dict(state)
            dataset.set_epoch(epoch)
            again = split.to_torch(32, shuffle_seed=1)
            again.load_state_dict(dataset.state_dict())
            expected = scans(split.batches(32, shuffle_seed=1, epoch=epoch))[skipped:]
            assert scans(dataset) == scans(again) == expected

    def test_a_dataset_goes_back_to_a_state(self, split: Any) -> None:
        """The epoch that was set before the last loop is not that of the next one."""
        dataset = split.to_torch(32, shuffle_seed=1)
        next(iter(dataset))
        state = dataset.state_dict()
        dataset.set_epoch(1)
        list(dataset)
        dataset.load_state_dict(state)
        assert scans(dataset) == scans(split.batches(32, shuffle_seed=1))[1:]

    @pytest.mark.parametrize("workers", [0, 1, 3])
    def test_a_loader_goes_back_to_a_state(self, split: Any, workers: int) -> None:
        """Its workers begin one after another, and none of them drops the state."""
        dataset = split.to_torch(32, shuffle_seed=1)
        loader = stateful(dataset, workers)
        whole = [
            scans(split.batches(32, shuffle_seed=1, epoch=epoch)) for epoch in range(3)
        ]
        dataset.set_epoch(0)
        batches = iter(loader)
        assert scans(islice(batches, 2)) == whole[0][:2]
        state = loader.state_dict()
        assert scans(batches) == whole[0][2:]
        for epoch in (1, 0, 2):
            dataset.set_epoch(epoch)
            assert scans(loader) == whole[epoch]
            loader.load_state_dict(state)
            assert scans(loader) == whole[0][2:]

    def test_the_epoch_of_a_state_is_that_of_its_batches(self, split: Any) -> None:
        dataset = split.to_torch(32, shuffle_seed=1)
        batches = iter(dataset)
        first = scans(islice(batches, 2))
        dataset.set_epoch(1)
        again = split.to_torch(32, shuffle_seed=1)
        again.load_state_dict(dataset.state_dict())
        whole = scans(split.batches(32, shuffle_seed=1))
        assert first + scans(again) == whole
        again.set_epoch(1)
        assert scans(again) == scans(split.batches(32, shuffle_seed=1, epoch=1))

    def test_any_arrays_of_functions_become_tensors(self, split: Any) -> None:
        changed = split.map(
            lambda batch: {
                "x": batch["moments"][::-1],
                "y": batch["scan"].astype(">i4"),
            },
            batched=True,
        )
        batch = next(iter(changed.to_torch(4)))
        assert batch["y"].tolist() == [0, 1, 2, 3]

    @pytest.mark.parametrize("state", [{"a": 1}, None, "x"])
    def test_what_is_no_state_is_refused(self, split: Any, state: Any) -> None:
        with pytest.raises(DatasetError, match="expected what state_dict"):
            split.to_torch(16).load_state_dict(state)

    def test_wrong_options_are_refused_at_once(self, split: Any) -> None:
        for name in ("shufle_seed", "shuffle"):
            with pytest.raises(TypeError, match=r"no option .*'shuffle_seed'"):
                split.to_torch(16, **{name: 1})
        with pytest.raises(TypeError, match="load_state_dict"):
            split.to_torch(16, resume={})
        with pytest.raises(DatasetError, match="shard"):
            split.to_torch(16, shard=(2, 2))

    def test_ranks_of_a_process_group_share_the_records(self, directory: Path) -> None:
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        ranks = [
            context.Process(target=_rank, args=(directory, rank, queue))
            for rank in (0, 1)
        ]
        for each in ranks:
            each.start()
        found = dict(queue.get(timeout=120) for _ in ranks)
        for each in ranks:
            each.join()
        split = open_split(directory, "train")
        for rank in (0, 1):
            expected = scans(split.batches(8, shuffle_seed=1, shard=(rank, 2)))
            assert found[rank] == expected

    def test_views_are_datasets_too(self, split: Any) -> None:
        both = mix([split.select(range(100)), split.select(range(100, 301))], [1, 2])
        changed = both.map(_scaled)
        loader = DataLoader(
            changed.to_torch(16, shuffle_seed=1), batch_size=None, num_workers=2
        )
        batches = [*loader]
        assert scans(batches) == scans(both.batches(16, shuffle_seed=1))
        assert batches[0]["image"].dtype == torch.float32


def _scaled(row: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    image = row["image"].astype(np.float32) / 255 + rng.normal(0, 0.1, (8, 8, 1))
    return {"image": image.astype(np.float32), "scan": row["scan"]}


def _rank(directory: Path, rank: int, queue: Any) -> None:
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29511"
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    split = open_split(directory, "train")
    loader = DataLoader(
        split.to_torch(8, shuffle_seed=1),
        batch_size=None,
        num_workers=2,
        multiprocessing_context="spawn",
    )
    queue.put((rank, scans(loader)))
    torch.distributed.destroy_process_group()


class Wrapper(Dataset[Any]):
    """What people write first: records that are changed one by one."""

    def __init__(self, split: Any) -> None:
        self.split = split

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, index: int) -> dict[str, Any]:
        row = self.split[index]
        return {
            "image": torch.as_tensor(row["image"]).permute(2, 0, 1).float(),
            "runs": row["ink_runs"],
            "score": None if index % 2 else 3.5,
            "name": f"scan {row['scan']}",
            "nested": {"digit": row["digit"]},
        }


def _damage(directory: Path, numbers: set[int]) -> None:
    """Change a byte of some records of a split with one file."""
    [path] = directory.glob("train-*")
    data, at = bytearray(path.read_bytes()), 0
    for number in range(max(numbers) + 1):
        size = int.from_bytes(data[at : at + 8], "little")
        data[at + 12] ^= number in numbers
        at += 8 + 4 + size + 4
    path.write_bytes(data)


class TestCollate:
    """`collate` makes batches of any rows."""

    @pytest.mark.parametrize("workers", [0, 2])
    def test_a_wrapper_is_collated(self, split: Any, workers: int) -> None:
        loader = DataLoader(
            Wrapper(split), batch_size=8, num_workers=workers, collate_fn=collate
        )
        batch = next(iter(loader))
        assert batch["image"].shape == (8, 1, 8, 8)
        assert batch["runs"].tolist()[3] == [3, 3, 3, 0]
        assert batch["score"].tolist() == [3.5, 0] * 4
        assert batch["score_present"].tolist() == [True, False] * 4
        assert batch["name"][:2] == ["scan 0", "scan 1"]
        assert batch["nested"]["digit"].tolist() == [*range(8)]

    def test_subsets_and_datasets_behind_each_other(self, split: Any) -> None:
        both = ConcatDataset([split, Subset(split, range(5))])
        loader = DataLoader(both, batch_size=100, collate_fn=collate)
        every = [*chain.from_iterable(scans(loader))]
        assert every == [*range(COUNT), *range(5)]
        assert collate([split[0], split[4]])["ink_runs"].shape == (2, 4)

    @pytest.mark.parametrize("workers", [0, 2])
    @pytest.mark.filterwarnings("ignore:.* left out")
    def test_corrupt_records_are_left_out(self, tmp_path: Path, workers: int) -> None:
        """A batch is smaller then, and one of corrupt records alone is an error."""
        write_dataset(rows(8), tmp_path, "train")
        _damage(tmp_path, {1, 4, 5})
        split = open_split(tmp_path, "train", on_corrupt="skip")
        options: dict[str, Any] = {"num_workers": workers, "collate_fn": collate}
        for dataset in (split, Subset(split, range(8))):
            loader = DataLoader(dataset, batch_size=4, **options)
            assert scans(loader) == [[0, 2, 3], [6, 7]]
        loader = DataLoader(split, batch_size=2, **options)
        with pytest.raises(DatasetError, match="record 4 and 1 more: all records"):
            list(loader)

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            (
                [{"x": np.zeros((2, 3))}, {"x": np.zeros((3, 3))}],
                "bring all to one shape",
            ),
            ([{"x": None}, {"x": None}], "missing in all 2 rows"),
            ([{"x": 1}, {"y": 1}], "return the same fields"),
            ([{"x": object()}, {"x": object()}], "found an object, expected a number"),
        ],
    )
    def test_what_makes_no_batch_is_named(self, rows: Any, said: str) -> None:
        with pytest.raises(DatasetError, match=f"field 'x': .*{said}"):
            collate(rows)


@pytest.mark.parametrize("rows", [[], [(1, 2)], {"a": 1}])
def test_what_are_no_rows_is_refused(rows: Any) -> None:
    with pytest.raises(DatasetError, match="collate: expected rows"):
        collate(rows)


def test_jax_traces_once_in_an_epoch(split: Any) -> None:
    import jax

    traces = 0

    @jax.jit
    def total(batch: dict[str, Any]) -> Any:
        nonlocal traces
        traces += 1
        return batch["ink_runs"].sum()

    options = {"shuffle_seed": 1, "drop_remainder": True}
    for batch in split.batches(8, **options, pad_to_max_length=True):
        total(batch)
    assert traces == 1
    for batch in split.batches(8, **options, pack={"ink_runs": 32}):
        total(batch)
    assert traces == 2


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Workers of loaders share two cores with this process."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
