"""A real tf.data service on loopback: its workers together read each record once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tensorflow as tf
from every_kind import numbers, values

if TYPE_CHECKING:
    from conftest import Data, Workspace

_SERVICE = tf.data.experimental.service


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """The address of a dispatcher with two workers.

    They are in a process of their own and have no Python of ours: all that they run is
    in the graph.
    """
    dispatcher = _SERVICE.DispatchServer()
    address = dispatcher.target.removeprefix("grpc://")
    script = str(Path(__file__).with_name("service_worker.py"))
    with subprocess.Popen(
        [sys.executable, script, address], stdout=subprocess.PIPE, text=True
    ) as workers:
        assert workers.stdout is not None
        assert workers.stdout.readline() == "ready\n"
        yield dispatcher.target
        workers.kill()


@pytest.mark.slow
@pytest.mark.parametrize("training", [False, True])
def test_repeated_epochs_are_whole(
    service: str, data: Data, package: Workspace, training: bool
) -> None:
    """In two epochs, one after the other, so many times, or without end."""
    make = package.module("small", "pipeline").make_dataset
    options: dict[str, Any] = {"training": training, "service": service}
    dataset = make(data(), batch_size=7, **options)
    for _ in range(2):
        assert sorted(numbers(dataset)) == list(range(50))
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY
    found = numbers(make(data(), batch_size=7, repeat=2, **options))
    assert sorted(found[:50]) == sorted(found[50:]) == list(range(50))
    endless = make(data(), batch_size=1, repeat=True, **options)
    found = numbers(endless.take(125))
    for epoch in (found[:50], found[50:100]):
        assert sorted(epoch) == list(range(50))
    assert len(set(found[100:])) == 25


@pytest.mark.slow
def test_split_overwritten_between_epochs_is_refused(
    service: str, package: Workspace, tmp_path: Path
) -> None:
    """The reader compares manifests, as the workers have no Python."""
    write = package.module("small", "serializer").write_dataset
    make = package.module("small", "pipeline").make_dataset
    rows = [{"number": number, "tokens": [], "kind": 0} for number in range(50)]
    write(rows, tmp_path / "data", "train", shards=4)
    dataset = make(tmp_path / "data", batch_size=7, service=service)
    assert sorted(numbers(dataset)) == list(range(50))
    write(rows[::-1], tmp_path / "data", "train", shards=4, overwrite=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=str(tmp_path)):
        numbers(dataset)


@pytest.mark.slow
def test_a_seed_does_not_repeat_an_epoch(
    service: str, data: Data, package: Workspace
) -> None:
    """Workers begin again with each epoch: a seed would give each the same order."""
    make = package.module("small", "pipeline").make_dataset
    # One file goes to one worker, so that nothing but the shuffling moves records.
    options: dict[str, Any] = {"training": True, "seed": 1, "service": service}
    dataset = make(data(shards=1), batch_size=4, **options)
    first, second = numbers(dataset), numbers(dataset)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(50))


@pytest.mark.slow
def test_batches_by_length_and_of_some_fields(
    service: str, data: Data, package: Workspace
) -> None:
    """Workers do whatever comes before them in the pipeline."""
    make = package.module("small", "pipeline").make_dataset
    dataset = make(
        data(),
        batch_size=4,
        fields=["number", "tokens"],
        bucket_by="tokens",
        bucket_boundaries=(5, 10),
        pad_to_max_length=True,
        service=service,
    )
    assert sorted(numbers(dataset)) == list(range(50))
    assert dataset.element_spec[0]["tokens"].shape == (None, 40)


@pytest.mark.slow
def test_augmentation_is_done_by_the_reader(
    service: str, data: Data, package: Workspace
) -> None:
    """A function of the user's may be any Python: it does not go to the workers."""
    seen = []

    def negate(features: dict[str, Any]) -> dict[str, Any]:
        def called(numbers: Any) -> Any:
            seen.append(len(numbers))
            return -numbers

        number = tf.numpy_function(called, [features["number"]], tf.int64)
        return {**features, "number": tf.ensure_shape(number, (None,))}

    make = package.module("small", "pipeline").make_dataset
    options: dict[str, Any] = {"training": True, "augment": negate}
    found = numbers(make(data(), batch_size=7, service=service, **options))
    assert sorted(found) == list(range(-49, 1))
    assert sum(seen) == 50


@pytest.mark.slow
def test_records_of_every_kind(service: str, data: Data, package: Workspace) -> None:
    """Ragged and sparse tensors too come through as they are without a service."""
    make = package.module("every", "pipeline").make_dataset
    directory = data("every", 5, 2)

    def elements(**options: Any) -> list[Any]:
        # Alone in a batch, no record depends on those next to it.
        found = [*make(directory, batch_size=1, info=True, **options)]
        return sorted((values(each) for each in found), key=lambda e: str(e[-1]))

    assert elements(service=service) == elements()
