"""Shards of remote directories, whose names say which run has written them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from digit_rows import row, rows

from generated import DatasetError, check_files
from generated.digit import serializer as digit
from generated.digit.reader import open_split
from generated.digit.serializer import Writer, write_dataset

pytestmark = pytest.mark.usefixtures("memory")

ROOT = Path(__file__).parents[2]
URL = "memory://bucket/data"


def _write_rows(writer: Writer, start: int, stop: int) -> None:
    for number in range(start, stop):
        writer.write(**row(number))


def scans_of(split: str = "train") -> list[int]:
    return [each["scan"].item() for each in open_split(URL, split)]


def _half(split: str) -> Any:
    """Begin to write a split of two shards, of which one is written."""
    plan = digit.plan_dataset(URL, split, shards=2, rows=20, run="job", overwrite=True)
    digit.begin(plan)
    digit.write_part(rows(20), plan, 0)
    return plan


def test_published_split_of_a_lost_manifest_is_not_removed(memory: Any) -> None:
    """The claim of its run stays; each way of writing it again is refused."""
    plan = digit.plan_dataset(URL, "train", shards=2, rows=20, run="job")
    digit.write_parts(rows(20), plan, part=(0, 1))
    digit.publish(plan)
    manifest = memory.cat("/bucket/data/manifest.json")
    memory.rm("/bucket/data/manifest.json")
    digit.abandon(plan)
    with pytest.raises(DatasetError, match="the manifest is lost"):
        write_dataset(rows(5), URL, "train")
    with pytest.raises(DatasetError, match="the manifest is lost"):
        digit.begin(plan)
    memory.pipe("/bucket/data/manifest.json", manifest)
    assert check_files(URL) == []
    assert scans_of() == list(range(20))


def test_commands_leave_out_shards_of_a_run_that_is_not_published() -> None:
    """They are no part of the data yet: nothing is found, and nothing of them sealed."""
    write_dataset(rows(4), URL, "train")
    plan = _half("val")
    for more in ([], ["--add"], ["--record", "digit", "--seal"]):
        result = run("verify", URL, "--project", ROOT, *more)
        assert result.exit_code == 0, result.output
        assert "val" not in result.output
    digit.write_part(rows(20), plan, 1)
    assert digit.publish(plan) == 20
    assert scans_of("val") == list(range(20))


def test_glob_of_two_runs_is_refused_without_a_manifest(memory: Any) -> None:
    """Such as of a split that is being replaced."""
    write_dataset(rows(10)[::-1], URL, "train", shards=2)
    _half("train")
    memory.rm("/bucket/data/manifest.json")
    with pytest.raises(DatasetError, match="split 'train' is being written"):
        open_split(f"{URL}/train-*")


def test_glob_of_a_run_that_is_not_published_is_refused() -> None:
    """Its shards are there from the moment each is written."""
    with Writer(URL, "train", shard_bytes=20_000) as writer:
        _write_rows(writer, 0, 700)
        with pytest.raises(DatasetError, match="split 'train' is being written"):
            open_split(f"{URL}/train-*")
    assert len(open_split(f"{URL}/train-*")) == 700


def test_threads_may_share_a_writer() -> None:
    """Each record is written once and whole."""
    with Writer(URL, "train", shard_bytes=20_000) as writer:
        with ThreadPoolExecutor(4) as pool:
            starts = range(0, 2000, 500)
            list(pool.map(lambda at: _write_rows(writer, at, at + 500), starts))
        assert writer.records == 2000
    assert check_files(URL) == []
    assert sorted(scans_of()) == list(range(2000))


def test_split_that_is_replaced_is_read_until_it_is_published(memory: Any) -> None:
    """By the directory; and nothing but the new split is left."""
    write_dataset(rows(10), URL, "train", shards=2)
    plan = _half("train")
    assert scans_of() == list(range(10))
    digit.write_part(rows(20), plan, 1)
    digit.publish(plan)
    assert scans_of() == list(range(20))
    assert len(memory.glob("/bucket/data/train-*")) == 2


def test_killed_run_of_a_lost_manifest_is_removed_alone(memory: Any) -> None:
    """Its receipts tell its shards from those of a published split."""

    def failing() -> Iterator[dict[str, Any]]:
        yield from rows(400)
        raise KeyError

    with pytest.raises(KeyError):
        write_dataset(failing(), URL, "train", shard_bytes=20_000)
    assert memory.glob("/bucket/data/train-*")
    with pytest.warns(RuntimeWarning, match="removing what an interrupted run"):
        write_dataset(rows(5), URL, "train")
    assert len(memory.glob("/bucket/data/train-*")) == 1
    assert scans_of() == list(range(5))


def test_writer_that_was_interrupted_in_a_shard_publishes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the error: of the records that wait, some may be lost."""
    writer = Writer(URL, "train")

    def interrupted(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("schemagen.runtime.writing.writer.frame_records", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _write_rows(writer, 0, 1000)
    with pytest.raises(DatasetError, match="ended the writing, and nothing was publ"):
        writer.close()
