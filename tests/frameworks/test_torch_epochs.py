"""Epochs of loops over `to_torch`: they advance by themselves, and states go on in them."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import random
import warnings
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from digit_rows import rows
from schemagen.runtime.arrays.torch import collate
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader, IterableDataset, Subset
from torchdata.stateful_dataloader import StatefulDataLoader

from generated import DatasetError
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

COUNT = 301


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A split of numbered records."""
    root = tmp_path_factory.mktemp("digits")
    write_dataset(rows(COUNT), root, "train", shards=4)
    return open_split(root, "train")


@pytest.fixture(autouse=True)
def few_threads() -> Iterator[None]:
    """Workers of loaders share two cores with this process."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*worker processes in total")
        yield
    torch.set_num_threads(before)


def scans(batches: Any) -> list[list[int]]:
    """Return the numbers of the records of each batch."""
    return [batch["scan"].tolist() for batch in batches]


def epoch_of(split: Any, number: int, size: int = 16) -> list[list[int]]:
    """Return the batches of an epoch as `batches` delivers them."""
    return scans(split.batches(size, shuffle_seed=1, epoch=number))


def loader_of(dataset: Any, workers: int = 0, **options: Any) -> Any:
    """Return a loader of whole batches."""
    return DataLoader(dataset, batch_size=None, num_workers=workers, **options)


def noisy(row: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Add a random number to a record."""
    return {"scan": row["scan"], "noise": rng.random()}


LOADERS: dict[str, dict[str, Any]] = {
    "no workers": {},
    "one worker": {"workers": 1},
    "workers": {"workers": 3},
    "persistent workers": {"workers": 2, "persistent_workers": True},
}


class TestEpochs:
    """Which epoch a loop reads."""

    @pytest.mark.parametrize("options", LOADERS.values(), ids=LOADERS)
    def test_each_loop_reads_the_next_epoch(self, split: Any, options: Any) -> None:
        loader = loader_of(split.to_torch(16, shuffle_seed=1), **options)
        for epoch in range(3):
            assert scans(loader) == epoch_of(split, epoch)

    @pytest.mark.parametrize("options", LOADERS.values(), ids=LOADERS)
    def test_random_numbers_are_those_of_the_epoch(
        self, split: Any, options: Any
    ) -> None:
        changed = split.map(noisy)
        loader = loader_of(changed.to_torch(64, shuffle_seed=1), **options)
        for epoch in range(2):
            expected = changed.batches(64, shuffle_seed=1, epoch=epoch)
            for batch, other in zip(loader, expected, strict=True):
                assert batch["noise"].tolist() == other["noise"].tolist()

    @pytest.mark.parametrize("options", LOADERS.values(), ids=LOADERS)
    def test_a_loop_that_is_left_early_has_begun(
        self, split: Any, options: Any
    ) -> None:
        loader = loader_of(split.to_torch(16, shuffle_seed=1), **options)
        for epoch in range(3):
            assert scans(islice(loader, 2)) == epoch_of(split, epoch)[:2]

    @pytest.mark.parametrize("options", LOADERS.values(), ids=LOADERS)
    def test_an_epoch_that_is_set_is_read_exactly(
        self, split: Any, options: Any
    ) -> None:
        dataset = split.to_torch(16, shuffle_seed=1, epoch=5)
        loader = loader_of(dataset, **options)
        assert scans(loader) == epoch_of(split, 5)
        for epoch in (0, 3, 3):
            dataset.set_epoch(epoch)
            assert scans(loader) == epoch_of(split, epoch)
        assert scans(loader) == epoch_of(split, 4)

    def test_spawned_workers_read_the_next_epoch(self, split: Any) -> None:
        """And the rest of one, which they are given."""
        dataset = split.map(noisy).to_torch(64, shuffle_seed=1)
        assert scans(islice(dataset, 2)) == epoch_of(split, 0, 64)[:2]
        dataset.load_state_dict(dataset.state_dict())
        spawned = {"multiprocessing_context": "spawn", "persistent_workers": True}
        loader = loader_of(dataset, 2, **spawned)
        assert scans(loader) == epoch_of(split, 0, 64)[2:]
        assert scans(loader) == epoch_of(split, 1, 64)

    def test_loaders_of_any_workers_count_the_loops_together(self, split: Any) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        loaders = [loader_of(dataset, workers) for workers in (2, 0, 1)]
        for epoch, loader in enumerate([*loaders, loaders[0]]):
            assert scans(loader) == epoch_of(split, epoch)

    def test_equal_seeds_of_loaders_do_not_repeat_an_epoch(self, split: Any) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        for epoch in range(3):
            torch.manual_seed(0)
            found = scans(islice(loader_of(dataset, 2), 1))
            assert found == epoch_of(split, epoch)[:1]

    def test_two_loaders_at_once_each_read_one_epoch(self, split: Any) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        for _ in range(3):
            pair = zip(loader_of(dataset, 2), loader_of(dataset, 2), strict=True)
            for found in map(scans, zip(*pair, strict=True)):
                assert sorted(chain.from_iterable(found)) == list(range(COUNT))

    @pytest.mark.parametrize(
        "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
    )
    @pytest.mark.parametrize("workers", [0, 2])
    def test_copies_count_alone(self, split: Any, copied: Any, workers: int) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        assert scans(dataset) == epoch_of(split, 0)
        other = loader_of(copied(dataset), workers)
        for epoch in (1, 2):
            assert scans(other) == epoch_of(split, epoch)
        assert scans(dataset) == epoch_of(split, 1)

    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_ranks_that_are_given_the_dataset_count_alone(
        self, split: Any, method: str
    ) -> None:
        dataset = split.to_torch(64, shuffle_seed=1)
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        ranks = [
            context.Process(target=_two_epochs, args=(dataset, queue)) for _ in range(2)
        ]
        for rank in ranks:
            rank.start()
        for _ in ranks:
            first, second, error = queue.get(timeout=120)
            assert [first, second] == [epoch_of(split, n, 64) for n in (0, 1)]
            assert "call to_torch in the process that has the loader" in error
        for rank in ranks:
            rank.join()

    @pytest.mark.parametrize("epoch", [-1, 1.5, "x", True, None])
    def test_epochs_are_integers_from_0(self, split: Any, epoch: Any) -> None:
        with pytest.raises(DatasetError, match="expected a 64-bit integer from 0"):
            split.to_torch(16).set_epoch(epoch)
        with pytest.raises(DatasetError, match="expected a 64-bit integer from 0"):
            split.to_torch(16, epoch=epoch)

    def test_a_dataset_in_another_one_advances_too(self, split: Any) -> None:
        class Twice(IterableDataset[Any]):
            def __init__(self, dataset: Any) -> None:
                self.dataset = dataset

            def __iter__(self) -> Iterator[Any]:
                yield from self.dataset
                yield from self.dataset

        loader = loader_of(Twice(split.to_torch(16, shuffle_seed=1)), 2)
        for first in (0, 2):
            both = epoch_of(split, first) + epoch_of(split, first + 1)
            assert sorted(scans(loader)) == sorted(both)

    @pytest.mark.parametrize("size", [1, 4])
    @pytest.mark.parametrize("workers", [0, 1])
    @pytest.mark.parametrize("collation", [{}, {"collate_fn": collate}])
    def test_a_loader_that_makes_batches_of_batches_is_told_so(
        self, split: Any, size: int, workers: int, collation: Any
    ) -> None:
        loader = DataLoader(
            split.to_torch(16), batch_size=size, num_workers=workers, **collation
        )
        with pytest.raises(DatasetError, match="give the DataLoader batch_size=None"):
            next(iter(loader))

    def test_a_loader_delivers_plain_dicts(self, split: Any) -> None:
        for workers in (0, 1):
            assert type(next(iter(loader_of(split.to_torch(16), workers)))) is dict

    def test_a_batch_without_a_loader_is_a_tree_of_tensors(self, split: Any) -> None:
        batch = next(iter(split.to_torch(16)))
        dtypes = tree_map(lambda tensor: tensor.dtype, batch)
        assert dtypes == {name: tensor.dtype for name, tensor in batch.items()}


def _two_epochs(dataset: Any, queue: Any) -> None:
    """Read with workers, which have nothing to count with, and then alone."""
    try:
        next(iter(loader_of(dataset, 1)))
        error = "none"
    except DatasetError as raised:
        error = str(raised)
    queue.put((scans(dataset), scans(dataset), error))


class TestStates:
    """States by position."""

    @pytest.mark.parametrize("options", LOADERS.values(), ids=LOADERS)
    def test_workers_go_on_after_a_count_of_batches(
        self, split: Any, options: Any
    ) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        loader = loader_of(dataset, **options)
        scans(loader)
        first = scans(islice(loader, 4))
        state = json.loads(json.dumps(dataset.state_dict(after=4)))
        again = split.to_torch(16, shuffle_seed=1)
        again.load_state_dict(state)
        rest = loader_of(again, **options)
        assert len(rest) == 15
        assert first + scans(rest) == epoch_of(split, 1)
        assert len(rest) == 19
        assert scans(rest) == epoch_of(split, 2)

    def test_other_ranks_and_workers_go_on(self, split: Any) -> None:
        """Once more after that, with batches of another size."""
        seen: list[int] = []
        state: Any = None
        for ranks, workers, size, count in (
            (2, 2, 16, 3),
            (3, 0, 5, 2),
            (1, 1, 8, None),
        ):
            for rank in range(ranks):
                dataset = split.to_torch(size, shuffle_seed=1, shard=(rank, ranks))
                if state:
                    dataset.load_state_dict(state)
                loader = loader_of(dataset, workers)
                seen += chain.from_iterable(scans(islice(loader, count)))
            if count:
                state = dataset.state_dict(after=count)
        assert sorted(seen) == list(range(COUNT))

    def test_the_count_is_that_of_the_loop(self, split: Any) -> None:
        """Also where the loop has gone on after a state."""
        dataset = split.to_torch(16, shuffle_seed=1)
        loader = loader_of(dataset, 2)
        seen = []
        for _ in range(3):
            seen += scans(islice(loader, 2))
            dataset.load_state_dict(dataset.state_dict(after=2))
        assert seen + scans(loader) == epoch_of(split, 0)

    @pytest.mark.parametrize("workers", [0, 2])
    def test_the_epoch_says_which_loop_is_meant(self, split: Any, workers: int) -> None:
        """Where a program looks at a few batches in the middle of an epoch."""
        dataset = split.to_torch(16, shuffle_seed=1)
        loader = loader_of(dataset, workers)
        first = scans(islice(loader, 4))
        next(iter(loader))
        state = dataset.state_dict(after=4, epoch=0)
        dataset.load_state_dict(state)
        assert first + scans(loader) == epoch_of(split, 0)
        with pytest.raises(DatasetError, match="epoch=5: no loop has read it"):
            dataset.state_dict(after=4, epoch=5)
        with pytest.raises(TypeError, match="after=count with epoch"):
            dataset.state_dict(epoch=0)

    def test_a_state_is_the_same_for_each_rank_and_way(self, split: Any) -> None:
        states = []
        for rank in range(2):
            for workers in (0, 2):
                dataset = split.to_torch(16, shuffle_seed=1, shard=(rank, 2))
                [*islice(loader_of(dataset, workers), 3)]
                states.append(dataset.state_dict(after=3))
                if not workers:
                    states.append(dataset.state_dict())
            batches = split.batches(16, shuffle_seed=1, shard=(rank, 2))
            [*islice(batches, 3)]
            states.append(batches.state())
        assert all(state == states[0] for state in states)

    def test_the_count_must_be_given_where_workers_read(self, split: Any) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        next(iter(loader_of(dataset, 2)))
        with pytest.raises(DatasetError, match=r"pass state_dict\(after=count\)"):
            dataset.state_dict()
        with pytest.raises(DatasetError, match="after=20: the loop has 19 batches"):
            dataset.state_dict(after=20)
        with pytest.raises(DatasetError, match="after=-1"):
            dataset.state_dict(after=-1)

    def test_a_count_says_nothing_where_batches_may_be_left_out(
        self, tmp_path: Path
    ) -> None:
        write_dataset(rows(8), tmp_path, "train")
        split = open_split(tmp_path, "train", on_corrupt="skip")
        dataset = split.to_torch(2)
        next(iter(dataset))
        with pytest.raises(DatasetError, match="on_corrupt='skip'"):
            dataset.state_dict(after=1)
        again = split.to_torch(2)
        again.load_state_dict(dataset.state_dict())
        assert scans(again) == [[2, 3], [4, 5], [6, 7]]

    @pytest.mark.filterwarnings("ignore:.* left out")
    @pytest.mark.parametrize("workers", [0, 1, 2])
    def test_batches_that_were_left_out_do_not_come_again(
        self, tmp_path: Path, workers: int
    ) -> None:
        write_dataset(rows(12), tmp_path, "train")
        [path] = tmp_path.glob("train-*")
        data, at = bytearray(path.read_bytes()), 0
        for number in range(6):
            size = int.from_bytes(data[at : at + 8], "little")
            data[at + 12] ^= number in (2, 3)
            at += 8 + 4 + size + 4
        path.write_bytes(data)

        def loader() -> Any:
            dataset = open_split(tmp_path, "train", on_corrupt="skip").to_torch(2)
            return StatefulDataLoader(dataset, batch_size=None, num_workers=workers)

        whole = scans(loader())
        assert sorted(chain.from_iterable(whole)) == [0, 1, *range(4, 12)]
        begun = loader()
        first = scans(islice(begun, 3))
        again = loader()
        again.load_state_dict(begun.state_dict())
        assert first + scans(again) == whole

    def test_a_loader_whose_workers_live_needs_another_one(self, split: Any) -> None:
        dataset = split.to_torch(16, shuffle_seed=1)
        loader = loader_of(dataset, 1, persistent_workers=True)
        next(iter(loader))
        dataset.load_state_dict(dataset.state_dict(after=1))
        with pytest.raises(DatasetError, match="make another loader"):
            list(loader)
        assert scans(loader_of(dataset, 1)) == epoch_of(split, 1)

    def test_wrong_states_are_refused_when_they_are_loaded(self, split: Any) -> None:
        state = split.to_torch(16, shuffle_seed=1).state_dict()
        for other in (
            split.to_torch(16),
            split.select([1]).to_torch(4, shuffle_seed=1),
        ):
            with pytest.raises(DatasetError, match="the state was made with"):
                other.load_state_dict(state)
        with pytest.raises(DatasetError, match="expected what state_dict"):
            split.to_torch(16).load_state_dict({"epoch": 0})

    @pytest.mark.parametrize("seed", range(8))
    def test_a_stateful_loader_goes_on_at_any_time(self, split: Any, seed: int) -> None:
        """Also where it takes snapshots only at every n-th step."""
        chosen = random.Random(seed)
        workers = chosen.choice([1, 2, 3])
        options = {
            "batch_size": None,
            "num_workers": workers,
            "snapshot_every_n_steps": chosen.choice([2, 3, 7, 100]),
            "prefetch_factor": chosen.choice([1, 2, 4]),
            "persistent_workers": chosen.random() < 0.3,
        }

        def loader() -> Any:
            return StatefulDataLoader(split.to_torch(16, shuffle_seed=1), **options)

        current = loader()
        for epoch in range(3):
            batches = iter(current)
            first = scans(islice(batches, chosen.randrange(20)))
            is_ended = chosen.random() < 0.3
            first += scans(batches) if is_ended else []
            state = pickle.loads(pickle.dumps(current.state_dict()))
            current = loader()
            current.load_state_dict(state)
            rest = [] if is_ended else scans(current)
            assert first + rest == epoch_of(split, epoch)

    def test_a_dataset_does_not_count_for_a_stateful_loader(self, split: Any) -> None:
        begun = StatefulDataLoader(
            split.to_torch(16, shuffle_seed=1), batch_size=None, num_workers=1
        )
        next(iter(begun))
        again = split.to_torch(16, shuffle_seed=1)
        loader = StatefulDataLoader(again, batch_size=None, num_workers=1)
        loader.load_state_dict(begun.state_dict())
        next(iter(loader))
        with pytest.raises(DatasetError, match="use its state_dict"):
            again.state_dict(after=1)


class TestByNumber:
    """Random numbers of records that a sampler chooses."""

    @pytest.mark.parametrize("workers", [0, 2])
    @pytest.mark.parametrize("persistent", [False, True])
    def test_a_loader_that_shuffles_has_others_in_each_epoch(
        self, split: Any, workers: int, persistent: bool
    ) -> None:
        changed = split.map(noisy)
        for dataset in (changed, Subset(changed, range(COUNT))):
            loader = DataLoader(
                dataset,
                batch_size=32,
                shuffle=True,
                num_workers=workers,
                persistent_workers=persistent and workers > 0,
                collate_fn=collate,
            )
            seen = set()
            for _ in range(2):
                for batch in loader:
                    seen |= {
                        *zip(
                            batch["scan"].tolist(), batch["noise"].tolist(), strict=True
                        )
                    }
            assert len(seen) == 2 * COUNT

    def test_the_seed_of_torch_gives_the_same_numbers(self, split: Any) -> None:
        changed = split.map(noisy)

        def epoch(workers: int) -> Any:
            torch.manual_seed(3)
            loader = DataLoader(
                changed,
                batch_size=32,
                shuffle=True,
                num_workers=workers,
                collate_fn=collate,
            )
            return [batch["noise"].tolist() for batch in loader]

        assert epoch(0) == epoch(0)
        assert epoch(2) == epoch(2)

    def test_a_wrapper_in_a_worker_has_others(self, split: Any) -> None:
        class Wrapper:
            def __len__(self) -> int:
                return COUNT

            def __getitem__(self, number: int) -> Any:
                return changed[number]

        changed = split.map(noisy)
        loader = DataLoader(Wrapper(), batch_size=64, num_workers=1, collate_fn=collate)  # type: ignore[arg-type]
        first, second = ([*chain(*(b["noise"].tolist() for b in loader))] for _ in "12")
        assert not {*first} & {*second}

    def test_a_second_pass_with_the_same_numbers_is_a_warning(self, split: Any) -> None:
        changed = split.map(noisy)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for number in range(COUNT):
                changed[number]
        with pytest.warns(RuntimeWarning, match="use to_torch"):
            changed[0]
        changed = split.map(noisy)
        list(changed)
        with pytest.warns(RuntimeWarning, match=r"at_epoch"):
            list(changed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                list(split)
                list(changed.at_epoch(3))

    @pytest.mark.parametrize(
        "options", [{}, {"shuffle_seed": 1}, {"shuffle_seed": 1, "block": 8}]
    )
    def test_records_of_an_epoch_are_those_of_its_batches(
        self, split: Any, options: Any
    ) -> None:
        changed = split.map(noisy)
        view = changed.at_epoch(4, **options)
        expected = [
            (scan, noise)
            for batch in changed.batches(7, epoch=4, **options)
            for scan, noise in zip(batch["scan"], batch["noise"], strict=True)
        ]
        assert [(row["scan"], row["noise"]) for row in view] == expected
        assert (view[-1]["scan"], view[-1]["noise"]) == expected[-1]
        assert view[[3, 1]]["noise"].tolist() == [expected[3][1], expected[1][1]]
        loader = DataLoader(view, batch_size=20, collate_fn=collate)
        found = [*chain(*(batch["noise"].tolist() for batch in loader))]
        assert found == [noise for _, noise in expected]
