"""Publishing on stores, whose locks are leases: one that is lost ends its run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Any

import pytest
from digit_rows import rows
from fsspec.implementations.memory import MemoryFileSystem

from generated import check_files
from generated.digit import serializer as digit
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

pytestmark = pytest.mark.usefixtures("memory")

URL = "memory://bucket/leases"
LOCK = "/bucket/leases/.manifest.lock"


def before_each(
    patch: pytest.MonkeyPatch, act: Callable[[str, str], object], *methods: str
) -> None:
    """Call a function with the method and the first path before each operation."""
    for method in methods:
        original = getattr(MemoryFileSystem, method)

        def acting(
            self: Any,
            path: str,
            *arguments: Any,
            method: str = method,
            original: Any = original,
            **options: Any,
        ) -> Any:
            act(method, str(path))
            return original(self, path, *arguments, **options)

        patch.setattr(MemoryFileSystem, method, acting)


@pytest.mark.parametrize("step", range(5))
@pytest.mark.filterwarnings("ignore:.*its publication is completed now")
def test_publisher_that_lost_its_lease_changes_nothing_of_others(
    memory: Any,
    monkeypatch: pytest.MonkeyPatch,
    lease_of: Callable[[float], None],
    step: int,
) -> None:
    """Wherever another process takes over: at most files that it has replaced are removed."""
    lease_of(1.0)
    write_dataset(rows(9), URL, "train", shards=2)
    before = {*memory.find("/bucket/leases")}
    steps: list[tuple[str, str]] = []

    def taken_over(method: str, path: str) -> None:
        is_own = ".run." in path or path.endswith((".receipt", ".lock"))
        if memory.exists(LOCK) and not is_own:
            steps.append((method, path))
            if len(steps) == step + 1:
                memory.store[LOCK] = memory.store[LOCK].__class__(
                    memory, LOCK, b"another process\n"
                )

    with monkeypatch.context() as patch:
        before_each(patch, taken_over, "pipe_file", "rm_file")
        with pytest.raises(OSError, match=r"lease .*lost.*another process") as caught:
            write_dataset(rows(30), URL, "train", shards=2, overwrite=True)
    assert caught.value.filename == f"{URL}/.manifest.lock"
    is_committed = any(path.endswith("manifest.json") for _, path in steps)
    became = "'train' is published" if is_committed else "nothing new of split 'train'"
    assert became in str(caught.value)
    # Behind the step that was under way.
    for method, path in steps[step + 1 :]:
        assert method == "rm_file"
        assert path in before
        assert is_committed
    write_dataset(rows(3), URL, "test")
    assert check_files(URL) == []
    assert len([*open_split(URL, "train")]) in (9, 30)


@pytest.mark.parametrize("fails", ["rarely", "always"])
def test_lease_that_cannot_be_renewed_is_lost(
    monkeypatch: pytest.MonkeyPatch, lease_of: Callable[[float], None], fails: str
) -> None:
    """Once it has failed for as long as a lease lasts; a failure alone does no harm."""
    lease_of(1.0)
    renewals = []

    def act(method: str, path: str) -> None:
        if path.endswith(".index"):
            sleep(2)
        elif path == LOCK:
            renewals.append(path)
            if fails == "always" or len(renewals) == 2:
                raise OSError(5, "refused")

    before_each(monkeypatch, act, "pipe_file")
    if fails == "always":
        with pytest.raises(OSError, match=r"lost: .*not renewed.*refused"):
            write_dataset(rows(6), URL, "train", shards=6)
    else:
        assert write_dataset(rows(6), URL, "train", shards=6) == 6
        assert len(renewals) > 2


def test_of_waiters_for_a_dead_holder_only_one_takes_over(
    memory: Any, monkeypatch: pytest.MonkeyPatch, lease_of: Callable[[float], None]
) -> None:
    """The others find its text, and wait for it; also where the store is slow."""
    lease_of(2.0)
    memory.pipe_file(LOCK, b"of a dead process\n")
    slow = {"rm_file": 0.3, "pipe_file": 0.03}
    holders = [0, 0]  # now, and at most
    mutex = threading.Lock()

    def act(method: str, path: str) -> None:
        if path == LOCK:
            sleep(slow.pop(method, 0.0))  # the first one is slow
        if method == "pipe_file" and path.endswith("/manifest.json"):
            with mutex:
                holders[0] += 1
                holders[1] = max(holders)
            sleep(0.5)
            with mutex:
                holders[0] -= 1

    before_each(monkeypatch, act, *slow)

    def write(number: int) -> None:
        write_dataset(rows(3), URL, f"split-{number}")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    assert holders == [0, 1]
    assert [len(open_split(URL, f"split-{number}")) for number in range(3)] == [3] * 3


def test_rank_that_begins_late_removes_nothing_that_others_have_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of the others begin and end after it has found no claim."""
    plan = digit.plan_dataset(URL, "train", shards=4, rows=20, run="job")
    others: list[Any] = []

    def act(method: str, path: str) -> None:
        if path.endswith("manifest.json") and not others:
            others.append(None)
            others.extend(digit.write_parts(rows(20), plan, part=(1, 2)))

    before_each(monkeypatch, act, "cat_file")
    mine = digit.write_parts(rows(20), plan, part=(0, 2))
    assert [receipt.shard for receipt in others[1:]] == [1, 3]
    assert digit.publish(plan, [*mine, *others[1:]]) == 20
    assert check_files(URL) == []
