"""Random chains of loops, stops and states against a naive model: nothing is lost or twice."""

from __future__ import annotations

import json
import os
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from digit_rows import rows
from torch.utils.data import DataLoader

from generated import mix
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

COUNT = 97

# CI runs the first ones; CHAINS=5000 runs more.
CHAINS = int(os.environ.get("CHAINS", "60"))


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A split of numbered records."""
    root = tmp_path_factory.mktemp("chains")
    write_dataset(rows(COUNT), root, "train", shards=3)
    return open_split(root, "train")


class Chain:
    """Ranks that read the same epochs, and what a naive model says that they read.

    Args:
        split: of numbered records.
        seed: of all choices.
    """

    def __init__(self, split: Any, seed: int) -> None:
        self.random = random.Random(seed)
        chosen = self.random
        views = [
            split,
            split.select(range(chosen.randrange(COUNT))),
            split.balanced("digit"),
            mix([split.select(range(40)), split.select(range(40, COUNT))], [1, 2]),
            mix([split.select(range(20)), split.balanced("digit")], stop="last"),
            mix([split, split.select(range(30))], stop="last", weights_of="ink_runs"),
        ]
        self.view = chosen.choice(views)
        self.options: dict[str, Any] = {
            "shuffle_seed": chosen.choice([None, 1, 7]),
            "block": chosen.choice([None, None, 2, 5]),
        }
        if chosen.random() < 0.3:
            self.options["pack"] = {"ink_runs": chosen.choice([4, 8, 32])}
        self.epoch = chosen.choice([0, 0, 3])
        self.state: Any = None
        self.seen: Counter[Any] = Counter()
        self.build(self.epoch)

    def build(self, epoch: int) -> None:
        """Make datasets and loaders, of another number of ranks and workers."""
        chosen = self.random
        self.ranks = chosen.choice([1, 1, 2, 3])
        self.workers = chosen.choice([0] * 16 + [1, 2, 2, 3])
        self.size = chosen.choice([1, 3, 8, 50])
        self.datasets = [
            self.view.to_torch(
                self.size, epoch=epoch, shard=(rank, self.ranks), **self.options
            )
            for rank in range(self.ranks)
        ]
        persistent = bool(self.workers) and chosen.random() < 0.5
        self.loaders = [
            DataLoader(
                dataset,
                batch_size=None,
                num_workers=self.workers,
                persistent_workers=persistent,
            )
            for dataset in self.datasets
        ]
        self.persistent = persistent

    def whole(self, epoch: int) -> Counter[Any]:
        """Return what one reader reads in an epoch."""
        return Counter(
            item
            for batch in self.view.batches(5, epoch=epoch, **self.options)
            for item in self.items(batch)
        )

    def items(self, batch: Any) -> list[Any]:
        """Return what a batch holds: numbers of records, or packed rows."""
        if "pack" in self.options:
            return [tuple(row) for row in batch["ink_runs"].tolist()]
        return batch["scan"].tolist()

    def loop(self, count: int | None) -> None:
        """Let each rank read some batches, or all."""
        for loader in self.loaders:
            expected = len(loader)
            batches: Iterator[Any] = islice(loader, count)
            found = [*batches]
            assert len(found) == (expected if count is None else count)
            for batch in found:
                self.seen.update(self.items(batch))

    def step(self) -> None:
        """Read an epoch, or the rest of one, whole or in part."""
        chosen = self.random
        if self.state is None and chosen.random() < 0.3:
            self.epoch = chosen.randrange(9)
            for dataset in self.datasets:
                dataset.set_epoch(self.epoch)
        fewest = min(len(dataset) for dataset in self.datasets)
        if not fewest or chosen.random() < 0.5:
            self.loop(None)
            assert self.seen == self.whole(self.epoch)
            self.begin_next()
            return
        count = chosen.randint(1, fewest)
        self.loop(count)
        assert self.seen <= self.whole(self.epoch)
        if chosen.random() < 0.6:
            self.stop(count)
        else:
            self.begin_next()

    def begin_next(self) -> None:
        """Expect the next epoch."""
        self.epoch, self.state = self.epoch + 1, None
        self.seen.clear()

    def stop(self, count: int) -> None:
        """Go on with the state of one rank, mostly with other loaders."""
        chosen = self.random
        states = [dataset.state_dict(after=count) for dataset in self.datasets]
        if not self.workers:
            states += [dataset.state_dict() for dataset in self.datasets]
        assert all(state == states[0] for state in states)
        self.state = json.loads(json.dumps(chosen.choice(states)))
        if self.persistent or chosen.random() < 0.7:
            self.build(chosen.choice([0, 5]))
        for dataset in self.datasets:
            dataset.load_state_dict(self.state)
            if chosen.random() < 0.3:
                dataset.set_epoch(self.epoch)


@pytest.mark.parametrize("seed", range(0, CHAINS, 20))
def test_loops_deliver_each_record_once(split: Any, seed: int) -> None:
    """With any ranks, workers, batch sizes, blocks, mixtures and packed rows."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*worker processes in total")
        warnings.filterwarnings("ignore", message="Length of IterableDataset")
        for number in range(seed, seed + 20):
            chain = Chain(split, number)
            for _ in range(5):
                chain.step()
