"""Who may write a split, and its publication by any number of processes."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from digit_rows import contents, hidden, is_published_claim, listed, rows, written
from generations import without_runs
from schemagen.runtime.shared.errors import DatasetError, SchemaMismatchError
from schemagen.runtime.writing.plan import Plan

from generated import check_files
from generated.digit import serializer as digit

_ROWS = 20


def _plan(directory: Path, *, run: str = "one", overwrite: bool = False) -> Plan:
    return digit.plan_dataset(
        directory, "train", shards=3, rows=_ROWS, run=run, overwrite=overwrite
    )


def test_publishing_again_changes_nothing(tmp_path: Path) -> None:
    """With receipts in any order and twice, or without, and by a publisher that is late."""
    directory = tmp_path / "data"
    alone = written(tmp_path / "alone", rows(_ROWS), shards=3)
    plan = _plan(directory)
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    for found in ([*receipts[::-1], *receipts], receipts, None):
        assert digit.publish(plan, found) == _ROWS
        assert listed(directory) == alone


def test_three_publishers_at_once_publish_once(tmp_path: Path) -> None:
    """Each returns the number of records."""
    written(tmp_path / "alone", rows(_ROWS), shards=3)
    for overwrite in (False, True):
        run = f"overwrites: {overwrite}"
        plan = _plan(tmp_path / "data", run=run, overwrite=overwrite)
        receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
        with ThreadPoolExecutor(3) as pool:
            tasks = [pool.submit(digit.publish, plan, receipts) for _ in range(3)]
            assert [task.result() for task in tasks] == [_ROWS] * 3
        assert listed(tmp_path / "data") == listed(tmp_path / "alone")


def test_publishing_too_early_names_the_missing_shards(tmp_path: Path) -> None:
    """And changes nothing."""
    plan = _plan(tmp_path / "data")
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 2))
    before = contents(tmp_path / "data")
    for found in (receipts, None):
        with pytest.raises(DatasetError, match=r"1 of 3 shards .*: 1;"):
            digit.publish(plan, found)
    assert contents(tmp_path / "data") == before


def test_receipt_of_another_run_is_refused(tmp_path: Path) -> None:
    """Its file may be of other data."""
    plan = _plan(tmp_path / "data")
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    strange = replace(receipts[0], run="two")
    with pytest.raises(DatasetError, match=r"shard 0 .*'two'"):
        digit.publish(plan, [*receipts, strange])


def test_receipt_of_another_split_is_refused(tmp_path: Path) -> None:
    """Jobs that write several splits have one id for all of their runs."""
    train = _plan(tmp_path / "data")
    receipts = digit.write_parts(rows(_ROWS), train, part=(0, 1))
    val = replace(train, split="val")
    digit.begin(val)
    with pytest.raises(DatasetError, match="expected receipts of this run and split"):
        digit.publish(val, receipts)
    assert digit.publish(train, receipts) == _ROWS


def test_file_that_is_gone_is_named_and_nothing_changes(tmp_path: Path) -> None:
    """The split of before stays."""
    directory = tmp_path / "data"
    old = written(directory, rows(7), shards=2)
    plan = _plan(directory, overwrite=True)
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    (directory / receipts[1].file).unlink()
    with pytest.raises(DatasetError, match=re.escape(receipts[1].file)):
        digit.publish(plan, receipts)
    with pytest.raises(DatasetError, match=r"1 of 3 shards .*: 1;"):
        digit.publish(plan)
    assert old.items() <= contents(directory).items()
    digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    assert digit.publish(plan) == _ROWS
    written(tmp_path / "alone", rows(_ROWS), shards=3)
    assert listed(directory) == listed(tmp_path / "alone")


@pytest.mark.parametrize("overwrite", [False, True])
def test_rank_that_starts_again_after_publication_leaves_nothing(
    tmp_path: Path, overwrite: bool
) -> None:
    """It is told that there is nothing to do; also where it was to replace a split."""
    directory = tmp_path / "data"
    if overwrite:
        written(directory, rows(7))
    plan = _plan(directory, overwrite=overwrite)
    digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    digit.publish(plan)
    before = contents(directory)
    with pytest.raises(DatasetError, match=f"'train'.* {_ROWS} records; this run has"):
        digit.write_parts(rows(_ROWS), plan, part=(0, 2))
    with pytest.raises(DatasetError, match="was published"):
        digit.write_part(rows(_ROWS), plan, 0)
    digit.abandon(plan)
    assert contents(directory) == before
    assert digit.publish(plan) == _ROWS


def _receipts_of(receipts: list[Any], directory: Path, plan: Plan) -> list[Path]:
    """Leave what a process leaves that is killed while it cleans up after publication."""
    left = [directory / plan.receipt_name(receipt.shard) for receipt in receipts]
    for path, receipt in zip(left, receipts, strict=True):
        path.write_text(receipt.to_json())
    (directory / plan.lock_name).touch()
    return [*left, directory / plan.lock_name]


@pytest.mark.parametrize("again", ["publish", "write_parts"])
def test_what_a_killed_publisher_has_left_goes_with_the_next_process(
    tmp_path: Path, again: str
) -> None:
    """Of the run that has published the split: another publisher, or a rank."""
    plan = _plan(tmp_path)
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    digit.publish(plan)
    before = contents(tmp_path)
    left = _receipts_of(receipts, tmp_path, plan)
    if again == "publish":
        assert digit.publish(plan) == _ROWS
    else:
        with pytest.raises(DatasetError, match="nothing is left to do"):
            digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    assert not any(path.exists() for path in left)
    assert contents(tmp_path) == before


def test_claim_of_a_published_run_goes_when_the_next_run_begins(
    tmp_path: Path,
) -> None:
    """Until then other writers are told that the split exists, and not of the run."""
    directory = tmp_path / "data"
    plan = _plan(directory)
    digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    digit.publish(plan)
    with pytest.raises(DatasetError, match=rf"{_ROWS} records; pass overwrite=True"):
        digit.write_dataset(rows(3), directory, "train")
    assert digit.publish(plan) == _ROWS
    digit.write_dataset(rows(3), directory, "train", overwrite=True)
    assert contents(directory) == listed(directory)
    with pytest.raises(DatasetError, match="nothing to publish"):
        digit.publish(plan)


def test_published_run_with_other_options_is_told_to_take_another_id(
    tmp_path: Path,
) -> None:
    """It may be a rank of the published run that was started wrongly."""
    plan = _plan(tmp_path / "data")
    digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    digit.publish(plan)
    before = contents(tmp_path / "data")
    with pytest.raises(DatasetError, match=r"overwrite=False .*another run="):
        digit.begin(replace(plan, overwrite=True))
    assert contents(tmp_path / "data") == before


def test_run_whose_published_split_is_gone_begins_again(tmp_path: Path) -> None:
    """As after `rm data/*`, which leaves hidden files."""
    directory = tmp_path / "data"
    plan = _plan(directory)
    digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    digit.publish(plan)
    alone = listed(directory)
    for path in directory.glob("[!.]*"):
        path.unlink()
    with pytest.raises(DatasetError, match="nothing to publish"):
        digit.publish(plan)
    digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    assert digit.publish(plan) == _ROWS
    assert listed(directory) == alone


def test_other_writers_are_refused_while_a_run_is_registered(tmp_path: Path) -> None:
    """Until it is published or abandoned; also of this machine and process."""
    directory = tmp_path / "data"
    plan = _plan(directory)
    digit.write_parts(rows(_ROWS), plan, part=(0, 2))
    before = contents(directory)
    for attempt in (
        lambda: digit.write_dataset(rows(3), directory, "train"),
        lambda: digit.write_dataset(rows(3), directory, "train", resume=True),
        lambda: digit.Writer(directory, "train"),
    ):
        with pytest.raises(DatasetError, match=r"'one'.*abandon\(plan\)"):
            attempt()
        assert contents(directory) == before
    with pytest.raises(DatasetError, match=r"'one'.* run="):
        digit.begin(_plan(directory, run="two"))
    assert contents(directory) == before
    digit.write_dataset(rows(3), directory, "test")
    digit.abandon(plan)
    digit.abandon(plan)
    assert not hidden(directory)
    digit.write_dataset(rows(3), directory, "train")


def test_run_is_refused_while_a_writer_is_at_work(tmp_path: Path) -> None:
    """And where the split exists."""
    directory = tmp_path / "data"
    with digit.Writer(directory, "train") as writer:
        writer.write(**rows(1)[0])
        with pytest.raises(DatasetError, match="'train'"):
            digit.begin(_plan(directory))
    with pytest.raises(DatasetError, match=r"'train'.* 1 "):
        digit.begin(_plan(directory))


def test_run_that_is_replaced_publishes_nothing(tmp_path: Path) -> None:
    """By a writer or a run with take_over=True, which warns of it."""
    directory = tmp_path / "data"
    plan = _plan(directory)
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    before = contents(directory)
    with pytest.raises(DatasetError, match=r"'one'.*take_over=True"):
        digit.write_dataset(rows(3), directory, "train", overwrite=True)
    assert contents(directory) == before
    with pytest.warns(RuntimeWarning, match=r"'train'.*'one'"):
        digit.write_dataset(rows(3), directory, "train", take_over=True)
    new = contents(directory)
    assert not hidden(directory)
    for found in (receipts, None):
        with pytest.raises(DatasetError, match="nothing to publish"):
            digit.publish(plan, found)
    with pytest.raises(DatasetError, match="'one'"):
        digit.write_part(rows(_ROWS), plan, 0)
    assert contents(directory) == new


def test_run_that_takes_over_goes_on_after_a_restart(tmp_path: Path) -> None:
    """Its processes may be told to take over, or not."""
    directory = tmp_path / "data"
    digit.begin(_plan(directory))
    plan = replace(_plan(directory, run="two"), take_over=True)
    with pytest.warns(RuntimeWarning, match=r"'train'.*'one'"):
        digit.write_parts(rows(_ROWS), plan, part=(0, 2))
    digit.write_parts(rows(_ROWS), replace(plan, take_over=False), part=(1, 2))
    assert digit.publish(plan) == _ROWS


def test_process_with_another_plan_is_told_what_differs(tmp_path: Path) -> None:
    """All processes of a run write the same."""
    plan = _plan(tmp_path / "data")
    digit.begin(plan)
    with pytest.raises(DatasetError, match=r"shards=3 \(here 4\)"):
        digit.begin(replace(plan, shards=4))


def test_publisher_with_another_plan_is_told_what_differs(tmp_path: Path) -> None:
    """Such as another compression, which names and the manifest would have."""
    plan = _plan(tmp_path / "data")
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    before = contents(tmp_path / "data")
    for found in (receipts, None):
        with pytest.raises(DatasetError, match=r"compression=None \(here 'GZIP'\)"):
            digit.publish(replace(plan, compression="GZIP"), found)
        with pytest.raises(DatasetError, match=r"rows=20 \(here 19\)"):
            digit.publish(replace(plan, rows=19), found)
    with pytest.raises(SchemaMismatchError, match=r"'photo'.*'digit'"):
        digit.publish(replace(plan, record="photo"), receipts)
    assert contents(tmp_path / "data") == before


def test_run_that_never_began_is_not_published(tmp_path: Path) -> None:
    """Whatever split is there, also an equal one, or if there is no directory at all."""
    directory = tmp_path / "data"
    with pytest.raises(DatasetError, match=str(directory)):
        digit.publish(_plan(directory))
    digit.abandon(_plan(directory))
    for count in (7, _ROWS):
        written(directory, rows(count), shards=3, overwrite=True)
        for overwrite in (False, True):
            with pytest.raises(DatasetError, match=rf"'train'.* {count} "):
                digit.publish(_plan(directory, overwrite=overwrite))
    with pytest.raises(DatasetError, match="'train'"):
        digit.begin(_plan(directory))


def test_publishing_again_keeps_the_report_of_refused_rows(tmp_path: Path) -> None:
    """The receipts, which have these rows, are gone then."""
    source = rows(_ROWS)
    source[5]["digit"] = 17
    plan = digit.plan_dataset(
        tmp_path / "data", "train", shards=3, rows=_ROWS, on_error="skip"
    )
    digit.write_parts(source, plan, part=(0, 1))
    report = tmp_path / "refused.jsonl"
    with pytest.warns(RuntimeWarning, match="1 row"):
        digit.publish(plan, refused=report)
    text = report.read_text()
    assert digit.publish(plan, refused=report) == _ROWS - 1
    assert report.read_text() == text != ""


def test_manifest_that_names_the_run_of_a_split_is_read(tmp_path: Path) -> None:
    """Earlier versions wrote that; the next publication leaves it out."""
    alone = written(tmp_path / "alone", rows(7))
    written(tmp_path / "data", rows(7))
    path = tmp_path / "data" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["crc32c"]  # the seal of the text before
    manifest["splits"]["train"]["run"] = "0123456789ab"
    path.write_text(json.dumps(manifest))
    assert check_files(tmp_path / "data") == []
    assert written(tmp_path / "data", rows(7), overwrite=True) == alone


def test_what_is_not_a_plan_or_a_receipt_is_refused(tmp_path: Path) -> None:
    """Such as their JSON."""
    plan = _plan(tmp_path / "data")
    digit.begin(plan)
    with pytest.raises(TypeError, match=r"Plan\.from_json"):
        digit.begin(plan.to_json())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Receipt\.from_json"):
        digit.publish(plan, ["{}"])  # type: ignore[list-item]


def test_run_on_a_remote_directory_leaves_the_files_of_one_process(
    tmp_path: Path,
) -> None:
    """There are no locks there."""
    import fsspec

    system = fsspec.filesystem("memory")
    system.store.clear()
    alone = written(tmp_path / "alone", rows(_ROWS), shards=3)
    plan = digit.plan_dataset("memory://bucket/d", "train", shards=3, rows=_ROWS)
    digit.begin(plan)
    with pytest.raises(DatasetError, match="'train'"):
        digit.write_dataset(rows(3), "memory://bucket/d", "train")
    receipts = digit.write_parts(rows(_ROWS), plan, part=(0, 1))
    with ThreadPoolExecutor(3) as pool:
        tasks = [pool.submit(digit.publish, plan, receipts) for _ in range(3)]
        assert [task.result() for task in tasks] == [_ROWS] * 3
    names = [path.rsplit("/", 1)[1] for path in system.find("/bucket/d")]
    found = {name: system.cat(f"/bucket/d/{name}") for name in names}
    system.store.clear()
    assert [name for name in names if is_published_claim(name, found[name])]
    there = {
        name: data for name, data in found.items() if not is_published_claim(name, data)
    }
    assert without_runs(there) == without_runs(alone)
