"""`open_split`: records by number, batches in any order, and what is refused."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import row, rows, scans
from schemagen.runtime.shared.compression import COMPRESSIONS
from schemagen.runtime.storage.files import FileState
from tfrecord_files import frame, frames, header, write_records

from generated import DatasetError, mix
from generated.digit.reader import open_split
from generated.digit.serializer import serialize, write_dataset

COUNT = 100


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A hundred numbered records in four shards."""
    write_dataset(rows(COUNT), tmp_path, "train", shards=4)
    return tmp_path


@pytest.fixture
def split(directory: Path) -> Any:
    """The same, opened."""
    return open_split(directory, "train")


@pytest.fixture
def stored(split: Any) -> list[int]:
    """The numbers of the records, in the order in which they are stored."""
    return scans(split.batches(COUNT))


def test_a_record_is_what_was_written(split: Any) -> None:
    for number in (0, 57, -1):
        found = split[number]
        given = row(found["scan"])
        assert list(found) == list(given)
        for name, value in given.items():
            np.testing.assert_array_equal(found[name], value)


def test_records_are_numbered_through_all_shards(split: Any, stored: list[int]) -> None:
    assert len(split) == COUNT
    assert sorted(stored) == list(range(COUNT))
    assert [split[number]["scan"] for number in range(COUNT)] == stored
    assert [found["scan"] for found in split] == stored
    assert split[[3, 99, 3, -1]]["scan"].tolist() == [stored[n] for n in (3, 99, 3, 99)]
    assert split[10:30:7]["scan"].tolist() == stored[10:30:7]
    assert split[np.array([5])]["scan"].tolist() == [stored[5]]


@pytest.mark.parametrize("index", [100, -101, [3, 100]])
def test_a_number_that_no_record_has_is_an_index_error(split: Any, index: Any) -> None:
    with pytest.raises(IndexError, match="100"):
        split[index]


@pytest.mark.parametrize("index", [slice(0, 0), [], np.array([], np.int64)], ids=str)
def test_no_records_are_an_empty_batch(split: Any, index: Any) -> None:
    """Of the shapes and dtypes that other batches have."""
    found, others = split[index], split[:2]
    assert {
        name: (column.dtype, column.shape[2:]) for name, column in found.items()
    } == {name: (column.dtype, column.shape[2:]) for name, column in others.items()}
    assert {len(column) for column in found.values()} == {0}
    assert split._getitems([]) == []
    assert split.to_arrow([]).schema == split.to_arrow([1]).schema


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64])
def test_numbers_have_any_integer_dtype(tmp_path: Path, dtype: Any) -> None:
    """Of splits that are longer than the dtype counts, too."""
    write_dataset(rows(300), tmp_path, "train")
    split = open_split(tmp_path, "train")
    numbers = np.array([3, 1], dtype)
    assert split[numbers]["scan"].tolist() == [3, 1]
    assert split.to_arrow(numbers)["scan"].to_pylist() == [3, 1]
    assert split[numbers[0]]["scan"] == 3


@pytest.mark.parametrize("index", [[1.5], [True, False], [[1], [2]], [2**70]])
def test_indexes_that_are_no_integers_are_refused(split: Any, index: Any) -> None:
    for read in (split.__getitem__, split.to_arrow):
        with pytest.raises(TypeError, match="expected numbers of records"):
            read(index)


def test_texts_are_no_numbers(split: Any) -> None:
    with pytest.raises(TypeError, match="'scan'"):
        split["scan"]


def test_rows_are_padded_to_the_longest_of_their_batch(directory: Path) -> None:
    runs = open_split(directory, "train")[:5]["ink_runs"]
    lists = open_split(directory, "train", ragged="list")[:5]["ink_runs"]
    assert runs.shape == (5, max(map(len, lists)))
    for padded, listed in zip(runs, lists, strict=True):
        assert padded[: len(listed)].tolist() == listed.tolist()
        assert not padded[len(listed) :].any()


def test_some_fields_are_read(directory: Path) -> None:
    split = open_split(directory, "train", fields=["digit", "scan"], class_names=True)
    batch = split[:3]
    assert list(batch) == ["digit", "scan"]
    assert split[0]["digit"] == batch["digit"][0]
    assert isinstance(split[0]["digit"], str)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"fields": ["digitt"]}, "did you mean 'digit'"),
        ({"ragged": "dense"}, "'padded' or 'list'"),
        ({"on_corrupt": "ignore"}, "'raise' or 'skip'"),
        ({"decode_images": "no"}, "True or False"),
        ({"split": "tain"}, "there are: train"),
    ],
)
def test_wrong_options_are_refused(
    directory: Path, options: dict[str, Any], named: str
) -> None:
    with pytest.raises((DatasetError, ValueError), match=named):
        open_split(directory, **{"split": "train", **options})


def scans_of_each(batches: Any) -> list[list[int]]:
    """Return the numbers of the records of each batch."""
    return [batch["scan"].tolist() for batch in batches]


class TestBatches:
    """Epochs: shuffled, shared, resumed."""

    def test_an_epoch_has_each_record_once(self, split: Any, stored: list[int]) -> None:
        assert scans(split.batches(7)) == stored
        shuffled = scans(split.batches(7, shuffle_seed=1))
        assert sorted(shuffled) == sorted(stored)
        assert shuffled != stored
        assert shuffled == scans(split.batches(11, shuffle_seed=1))
        assert shuffled != scans(split.batches(7, shuffle_seed=1, epoch=1))

    def test_blocks_are_shuffled(self, split: Any, stored: list[int]) -> None:
        found = scans(split.batches(7, shuffle_seed=1, block=3))
        assert sorted(found) == sorted(stored)
        assert found != stored

    def test_the_last_batch_may_be_smaller(self, split: Any) -> None:
        batches = split.batches(30)
        assert len(batches) == 4
        assert [len(batch["scan"]) for batch in batches] == [30, 30, 30, 10]
        assert len(list(split.batches(30, drop_remainder=True))) == 3

    def test_shares_of_readers_do_not_overlap(self, split: Any) -> None:
        parts = [
            scans(split.batches(7, shuffle_seed=1, shard=(n, 3))) for n in range(3)
        ]
        assert sorted(map(len, parts)) == [33, 33, 34]
        assert sorted(chain.from_iterable(parts)) == list(range(COUNT))
        options = {"shuffle_seed": 1, "drop_remainder": True}
        whole = [len(split.batches(17, shard=(n, 3), **options)) for n in range(3)]
        assert whole == [1, 1, 1]

    @pytest.mark.parametrize("block", [None, 3])
    def test_batches_go_on_where_they_stopped(
        self, split: Any, block: int | None
    ) -> None:
        options = {"shuffle_seed": 1, "epoch": 2, "block": block}
        every = list(split.batches(7, **options))
        first = split.batches(7, **options)
        for _ in range(4):
            next(first)
        rest = split.batches(7, **options, resume=first.state())
        assert scans(rest) == scans(every[4:])
        assert rest.state()["read"] == [[1, COUNT]]

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"shuffle_seed": 2}, r"shuffle_seed=1 \(now 2\);"),
            ({"epoch": 1, "block": 3}, r"epoch=0 \(now 1\), block=None \(now 3\);"),
        ],
    )
    def test_a_state_of_other_batches_is_refused(
        self, split: Any, options: dict[str, Any], said: str
    ) -> None:
        """By the options that differ."""
        state = split.batches(7, shuffle_seed=1).state()
        with pytest.raises(DatasetError, match=said):
            split.batches(7, **{"shuffle_seed": 1, **options}, resume=state)

    def test_each_step_has_the_same_records_for_any_number_of_readers(
        self, split: Any
    ) -> None:
        """Where their batches have as many records together."""
        whole = scans_of_each(split.batches(12, shuffle_seed=1))
        for readers in (2, 3, 4):
            shares = [
                scans_of_each(
                    split.batches(12 // readers, shuffle_seed=1, shard=(i, readers))
                )
                for i in range(readers)
            ]
            steps = [sorted(chain(*each)) for each in zip(*shares, strict=False)]
            assert steps[:8] == [*map(sorted, whole[:8])]

    def test_all_states_go_on_with_any_number_of_readers(self, split: Any) -> None:
        """From two readers to three, and to one."""
        whole = scans(split.batches(7, shuffle_seed=1))
        for block in (None, 3):
            options = {"shuffle_seed": 1, "block": block}
            seen, state, readers = [], None, 2
            for following in (3, 1):
                shares = [
                    split.batches(5, **options, shard=(i, readers), resume=state)
                    for i in range(readers)
                ]
                for share in shares:
                    seen += scans([next(share), next(share)])
                states = [share.state() for share in shares]
                assert all(each == states[0] for each in states)
                state, readers = states[0], following
            seen += scans(split.batches(9, **options, resume=state))
            assert sorted(seen) == sorted(whole)

    def test_a_reader_with_a_record_less_has_the_same_state(
        self, directory: Path
    ) -> None:
        split = open_split(directory, "train[:9]")
        readers = [split.batches(4, shard=(i, 2)) for i in range(2)]
        seen = scans([next(reader) for reader in readers])
        assert readers[0].state() == readers[1].state()
        for reader in readers:
            rest = scans(split.batches(4, resume=reader.state()))
            assert sorted(seen + rest) == [*range(9)]
        assert scans(readers[0]) == [8]
        assert scans(split.batches(4, resume=readers[0].state())) == []

    @pytest.mark.parametrize(
        "read", [None, [], [[0, 5]], [[2, 500]], [[2]], "x", [[2, -1]], [[2, 1.5]]]
    )
    def test_a_state_that_was_edited_is_refused(self, split: Any, read: Any) -> None:
        state = {**split.batches(7).state(), "read": read}
        with pytest.raises(DatasetError, match="resume: read="):
            split.batches(7, resume=state)

    def test_a_loader_of_pytorch_is_told_what_to_take(self, split: Any) -> None:
        with pytest.raises(TypeError, match=r"split.to_torch\(batch_size, ...\)"):
            split.batches(7)[0]

    @pytest.mark.parametrize("manifest", [True, False])
    def test_a_state_of_other_data_is_refused(
        self, directory: Path, tmp_path: Path, manifest: bool
    ) -> None:
        """Also of as many records. A copy of the data is the same."""

        def opened(where: Path) -> Any:
            if manifest:
                return open_split(where, "train")
            (where / "manifest.json").unlink(missing_ok=True)
            return open_split(sorted(where.glob("train-*")))

        copy, other = tmp_path / "copy", tmp_path / "other"
        shutil.copytree(directory, copy)
        write_dataset(rows(COUNT)[::-1], other, "train", shards=4)
        state = opened(directory).batches(7).state()
        assert len(list(opened(copy).batches(7, resume=state))) == 15
        with pytest.raises(DatasetError, match="made with other data,"):
            opened(other).batches(7, resume=state)

    def test_a_state_is_json(self, split: Any) -> None:
        """Whichever integers the options are."""
        one = np.int64(1)
        options = {"epoch": one, "shuffle_seed": one, "block": np.int32(3)}
        batches = split.batches(
            np.int64(7), shard=(one, np.int64(2)), drop_remainder=np.True_, **options
        )
        state = json.loads(json.dumps(batches.state()))
        assert scans(batches) == scans(
            split.batches(
                *(7,),
                shuffle_seed=1,
                epoch=1,
                block=3,
                shard=(1, 2),
                drop_remainder=True,
            )
        )
        assert scans(
            split.batches(
                np.int64(7), shard=(1, 2), drop_remainder=True, **options, resume=state
            )
        )

    def test_an_error_is_raised_again(self, directory: Path) -> None:
        damaged(directory)
        batches = open_split(directory, "train").batches(7)
        with pytest.raises(DatasetError, match="checksum") as first:
            list(batches)
        for _ in range(2):
            with pytest.raises(DatasetError) as again:
                next(batches)
            assert again.value is first.value

    def test_an_interruption_loses_no_batch_silently(
        self, split: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The batches end there, and their state can be gone on with."""
        batches = split.batches(7)
        found = scans([next(batches)])

        def interrupted(*arguments: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Future, "result", interrupted)
            with pytest.raises(KeyboardInterrupt):
                next(batches)
        with pytest.raises(DatasetError, match="a call was interrupted"):
            next(batches)
        rest = split.batches(7, resume=batches.state())
        assert found + scans(rest) == scans(split.batches(7))

    def test_threads_that_share_batches_get_each_once_or_an_error(
        self, split: Any
    ) -> None:
        batches, found = split.batches(1), list[int]()

        def read() -> None:
            while True:
                try:
                    found.extend(next(batches)["scan"].tolist())
                except DatasetError:
                    continue
                except StopIteration:
                    return

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == list(range(COUNT))

    def test_a_forked_process_does_not_go_on_with_batches(self, split: Any) -> None:
        """It has no thread of its parent, and would wait for ever."""
        batches = split.batches(7)
        next(batches)
        child = os.fork()
        if not child:
            try:
                next(batches)
            except DatasetError as error:
                os._exit(0 if "another process" in str(error) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert len(list(batches)) == 14

    def test_a_block_may_be_larger_than_the_split(self, split: Any) -> None:
        options = {"shuffle_seed": 1, "block": 1 << 62}
        assert sorted(scans(split.batches(7, **options))) == list(range(COUNT))

    def test_threads_end_with_their_batches(self, split: Any) -> None:
        """At the end, at an error, and where a loop is left early."""
        before = threading.active_count()
        for _ in split.batches(7, shuffle_seed=1):
            break
        batches = split.batches(7)
        next(batches)
        del batches
        list(split.batches(7))
        for _ in range(100):
            if threading.active_count() <= before:
                break
            time.sleep(0.02)
        assert threading.active_count() <= before

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"batch_size": 0}, "batch_size=0"),
            ({"batch_size": 2.0}, "batch_size=2.0"),
            ({"batch_size": 1 << 63}, "expected a 64-bit integer from 1"),
            ({"batch_size": 4, "block": 0}, "block=0"),
            ({"batch_size": 4, "block": True}, "block=True"),
            ({"batch_size": 4, "shard": (2, 2)}, r"shard=\(2, 2\)"),
            ({"batch_size": 4, "shard": (0, True)}, r"shard=\(0, True\)"),
            ({"batch_size": 4, "shuffle_seed": True}, "shuffle_seed=True"),
            ({"batch_size": 4, "shuffle_seed": 1.5}, "shuffle_seed=1.5"),
            (
                {"batch_size": 4, "shuffle_seed": 1 << 63},
                "shuffle_seed=9223372036854775808",
            ),
            ({"batch_size": 4, "shuffle_seed": "a"}, "shuffle_seed='a'"),
            ({"batch_size": 4, "epoch": -1}, "epoch=-1"),
            ({"batch_size": 4, "epoch": None}, "epoch=None"),
            ({"batch_size": 4, "drop_remainder": 1}, "drop_remainder=1"),
            ({"batch_size": 4, "resume": "late"}, "resume: "),
        ],
    )
    def test_wrong_options_are_refused(
        self, split: Any, options: dict[str, Any], named: str
    ) -> None:
        with pytest.raises(DatasetError, match=named):
            split.batches(**options)


class TestFiles:
    """Files of others, compressed, damaged and replaced ones."""

    @pytest.mark.parametrize("compression", COMPRESSIONS)
    def test_compressed_files_are_read_in_sequence(
        self, tmp_path: Path, compression: str
    ) -> None:
        write_dataset(rows(COUNT), tmp_path, "train", compression=compression)
        split = open_split(tmp_path, "train")
        assert scans(split.batches(7)) == list(range(COUNT))
        assert scans(split.batches(7, shard=(1, 2))) == list(range(1, COUNT, 2))
        assert [found["scan"] for found in split] == list(range(COUNT))
        for refused in (
            lambda: split[0],
            lambda: split.batches(7, shuffle_seed=1),
            lambda: split.keras(7),
        ):
            with pytest.raises(DatasetError, match="need files without compression"):
                refused()

    def test_inodes_may_have_64_bits(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As of network file systems."""

        def of(found: os.stat_result) -> FileState:
            inode = found.st_ino | 1 << 63
            return FileState(found.st_size, f"{inode}-{found.st_mtime_ns}")

        monkeypatch.setattr(FileState, "of", of)
        split = open_split(directory, "train")
        assert sorted(scans(split.batches(7, shuffle_seed=1))) == list(range(COUNT))

    def test_files_without_a_manifest_are_read(self, tmp_path: Path) -> None:
        paths = [tmp_path / "a.tfrecord", tmp_path / "b.tfrecord", tmp_path / "empty"]
        write_records(paths[0], [serialize(**row(n)) for n in range(3)])
        write_records(paths[1], [serialize(**row(3))])
        write_records(paths[2], [])
        split = open_split(paths)
        assert scans([split[:]]) == [0, 1, 2, 3]
        assert scans(open_split(tmp_path / "?.tfrecord").batches(2)) == [0, 1, 2, 3]

    def test_lists_of_listed_and_other_files_are_read(self, tmp_path: Path) -> None:
        """The index of a split is for its own shards in their order alone."""
        write_dataset(rows(20), tmp_path / "a", "train", shards=2)
        write_dataset(rows(40)[20:], tmp_path / "b", "train", shards=1)
        (tmp_path / "b" / "manifest.json").unlink()
        first, second = sorted((tmp_path / "a").glob("train-*"))
        other = (tmp_path / "b" / "train-00000-of-00001.tfrecord").rename(
            tmp_path / "b" / second.name
        )
        assert scans(open_split([first, other]).batches(7)) == [
            *range(10),
            *range(20, 40),
        ]
        for at, path in enumerate((second, first)):
            (tmp_path / f"train-{at:05}-of-00002.tfrecord").symlink_to(path)
        linked = open_split(f"{tmp_path}/train-*")
        assert scans(linked.batches(7)) == [*range(10, 20), *range(10)]

    def test_urls_of_this_machine_are_paths(self, directory: Path) -> None:
        assert scans(open_split(f"file://{directory}", "train").batches(7))

    def test_a_length_beyond_all_files_is_damage(self, tmp_path: Path) -> None:
        path = tmp_path / "some.tfrecord"
        end = header((1 << 64) - 1) + bytes(100)
        path.write_bytes(frame(serialize(**row(0))) + end)
        with pytest.raises(DatasetError, match="record 1: the file ends"):
            len(open_split(path))
        with pytest.warns(RuntimeWarning, match="record 1: the file ends"):
            assert len(open_split(path, on_corrupt="skip")) == 1

    def test_a_damaged_record_is_named(self, directory: Path) -> None:
        """With the command that reports all that is wrong."""
        path, number = damaged(directory)
        split = open_split(directory, "train")
        named = rf"{path.name}: record 0: .*checksum.*; `schemagen verify {directory}` reports"
        with pytest.raises(DatasetError, match=named):
            split[number]
        with pytest.raises(DatasetError, match=named):
            list(split.batches(7, shuffle_seed=1))
        assert split[number + 1]["scan"] >= 0

    def test_damaged_records_are_left_out(self, directory: Path) -> None:
        damaged(directory)
        split = open_split(directory, "train", on_corrupt="skip")
        with pytest.warns(RuntimeWarning, match="1 record is left out"):
            found = scans(split.batches(7, shuffle_seed=1))
        assert len(found) == COUNT - 1

    def test_batches_of_corrupt_records_alone_are_left_out(
        self, tmp_path: Path
    ) -> None:
        records = [serialize(**row(0)), b"\xff", b"\xff", serialize(**row(3))]
        path = write_records(tmp_path / "some.tfrecord", records)
        split = open_split(path, on_corrupt="skip")
        with pytest.warns(RuntimeWarning, match="record 1: not a tf.train.Example"):
            assert [batch["scan"].tolist() for batch in split.batches(1)] == [[0], [3]]

    def test_a_corrupt_record_has_its_number(self, tmp_path: Path) -> None:
        """What is read by numbers is as long as these: an error, also with skip."""
        records = [serialize(**row(0)), b"\xff", serialize(**row(2))]
        path = write_records(tmp_path / "some.tfrecord", records)
        split = open_split(path, on_corrupt="skip")
        for read in (
            lambda: split[1],
            lambda: split[-2],
            lambda: split[:],
            lambda: split[[2, 1]],
            lambda: split.select([1, 0])[0],
            lambda: split.select([1, 1])[:],
            lambda: split.map(dict)[1:],
            lambda: split.map(dict, batched=True)[1:],
            lambda: mix([split, split])[:],
            lambda: split.to_arrow([0, 1]),
            lambda: split._getitems([0, 1]),
        ):
            with pytest.raises(DatasetError, match=r"record 1: .*: select the others"):
                read()
        others = split.select([0, 2])
        assert len(others) == len(others[:]["scan"]) == 2
        with pytest.raises(DatasetError, match=r"record 1: ((?!select).)*$"):
            open_split(path)[:]

    def test_loaders_of_pytorch_get_the_other_records(self, tmp_path: Path) -> None:
        """As rows and as columns, of the split and of all that is made of it."""
        records = [serialize(**row(0)), b"\xff", serialize(**row(2)), b"\xff"]
        path = write_records(tmp_path / "some.tfrecord", records)
        split = open_split(path, on_corrupt="skip")
        for view, left in (
            (split, [2, 0, 2]),
            (split.select([0, 1, 2, 3]), [2, 0, 2]),
            (split.select([2, 1, 0, 1]), [0, 2, 0]),
            (split.map(dict), [2, 0, 2]),
            (split.map(dict, batched=True), [2, 0, 2]),
            (mix([split, split]), [0, 0]),
            (mix([split.map(dict), split.map(dict, batched=True)]), [0, 0]),
        ):
            with pytest.warns(RuntimeWarning, match="left out, .*record [13]"):
                several = view.__getitems__([2, 1, 0, 3, 2])
            assert [each["scan"] for each in several] == left
            assert several.columns["scan"].tolist() == left
            assert len(several) == len(left)
        for view in (split, split.map(dict), split.map(_averaged, batched=True)):
            with pytest.warns(RuntimeWarning, match="2 records are left out"):
                none = view.__getitems__([3, 1])
            assert len(none) == len([*none]) == 0
            with pytest.raises(DatasetError, match="record 3 and 1 more: all records"):
                assert none.columns
        with pytest.raises(DatasetError, match="record 1: not a"):
            open_split(path).__getitems__([0, 1])

    def test_loops_leave_corrupt_records_out(self, tmp_path: Path) -> None:
        numbers = [0, 1, 2, 13, 4]
        records = [serialize(**row(number)) for number in numbers]
        records[1] = b"\xff"
        path = write_records(tmp_path / "some.tfrecord", records)
        split = open_split(path, on_corrupt="skip")
        with pytest.warns(RuntimeWarning, match="1 record is left out"):
            assert [each["scan"] for each in split] == [0, 2, 13, 4]
        with pytest.warns(RuntimeWarning, match="1 record is left out"):
            assert split.to_arrow()["scan"].to_pylist() == [0, 2, 13, 4]
        for view in (split, split.map(dict), split.map(dict, batched=True)):
            with pytest.warns(RuntimeWarning, match="1 record is left out"):
                balanced = view.balanced("digit")
            assert balanced[:]["scan"].tolist() == [0, 2, 13, 4]

    def test_records_of_another_schema_are_named(self, tmp_path: Path) -> None:
        """By the file, the record and the field, or left out."""
        records = [serialize(**row(n)) for n in range(5)]
        records[3] = records[3].replace(b"\x05scan", b"\x05scam")
        records[3] = records[3].replace(b"scan", b"scam")
        path = write_records(tmp_path / "some.tfrecord", records)
        with pytest.raises(
            DatasetError, match=r"some.tfrecord: record 3: field 'scan'"
        ):
            open_split(path)[[1, 3]]
        split = open_split(path, on_corrupt="skip")
        with pytest.warns(RuntimeWarning, match="record 3: field 'scan'"):
            assert scans(split.batches(2)) == [0, 1, 2, 4]

    @pytest.mark.parametrize(
        ("cut", "problem"),
        [
            (lambda data: data[:-3], "record 4: the file ends 3 bytes too early"),
            (
                lambda data: data + b"1234",
                "record 5: the file ends 4 bytes into a length",
            ),
            (lambda data: b"\1" + data[1:], "record 0: the checksum of the length"),
        ],
    )
    def test_torn_files_are_refused_or_read_up_to_there(
        self, tmp_path: Path, cut: Callable[[bytes], bytes], problem: str
    ) -> None:
        path = tmp_path / "some.tfrecord"
        whole = frames(serialize(**row(n)) for n in range(5))
        path.write_bytes(cut(whole))
        if not path.read_bytes().startswith(b"\1"):
            with pytest.raises(DatasetError, match=f"{problem}.*verify {tmp_path}`"):
                open_split(path)[0]
            with pytest.warns(RuntimeWarning, match=problem):
                assert len(open_split(path, on_corrupt="skip")) >= 4
        else:
            with pytest.raises(DatasetError, match="not a TFRecord file"):
                open_split(path)

    def test_what_is_open_stays_as_it_was(
        self, directory: Path, split: Any, stored: list[int]
    ) -> None:
        """The records of files that are open can be read on."""
        write_dataset(rows(COUNT)[::-1], directory, "train", shards=4, overwrite=True)
        assert scans([split[:]]) == stored


def _averaged(batch: dict[str, Any]) -> dict[str, Any]:
    """Fail with a batch of no records."""
    mean = sum(batch["scan"].tolist()) / len(batch["scan"])
    return {**batch, "scan": batch["scan"] - mean}


def damaged(directory: Path) -> tuple[Path, int]:
    """Change a byte of the second shard; return it and the number of its first record."""
    first, path = sorted(directory.glob("train-*"))[:2]
    data = bytearray(path.read_bytes())
    data[90] ^= 1
    path.write_bytes(data)
    return path, len(open_split(first))


def test_splits_are_sent_to_other_processes(split: Any, stored: list[int]) -> None:
    split[0]
    again = pickle.loads(pickle.dumps(split))
    assert scans([again[:]]) == stored
    assert len(pickle.dumps(split)) < 20_000


def test_neither_tensorflow_nor_keras_is_imported(directory: Path) -> None:
    program = f"""
import sys
from generated.digit.reader import open_split
split = open_split({str(directory)!r}, "train")
assert split[7]["moments"].shape == (8,)
assert len(list(split.batches(32, shuffle_seed=1))) == 4
print([name for name in ("tensorflow", "keras", "torch", "jax", "PIL") if sys.modules.get(name)])
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"
