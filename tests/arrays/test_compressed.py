"""Compressed files: their records come in order, and each is there, or is in an error."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from digit_rows import rows, scans
from manifests import edited_manifest
from tfrecord_files import frames

from generated import DatasetError
from generated.digit.reader import open_split
from generated.digit.serializer import serialize, write_dataset

if TYPE_CHECKING:
    from conftest import PackageOf

COUNT = 100


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A hundred numbered records in four shards of compressed files."""
    write_dataset(rows(COUNT), tmp_path, "train", shards=4, compression="GZIP")
    return tmp_path


def second(directory: Path, change: Callable[[bytes], bytes]) -> Path:
    """Change the second shard."""
    path = sorted(directory.glob("train-*"))[1]
    path.write_bytes(change(path.read_bytes()))
    return path


def cut_second(directory: Path) -> Path:
    """Leave half of the second shard."""
    return second(directory, lambda data: data[: len(data) // 2])


def files_alone(directory: Path) -> Any:
    """Open the shards without their manifest."""
    (directory / "manifest.json").unlink()
    return open_split(sorted(directory.glob("train-*")))


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


class TestDamage:
    """What damage the files have is said, or left out and counted."""

    @pytest.mark.parametrize("shard", [(0, 1), (0, 2), (1, 2)])
    def test_a_cut_file_is_named(self, directory: Path, shard: tuple[int, int]) -> None:
        path = cut_second(directory)
        batches = files_alone(directory).batches(4, shard=shard)
        if shard == (0, 2):  # the damaged record is the other reader's
            assert len(scans(batches)) == 41
            return
        with pytest.raises(DatasetError, match=rf"{path.name}: record \d+: .*ends"):
            list(batches)

    def test_a_flipped_byte_is_named(self, directory: Path) -> None:
        path = second(directory, flipped)
        with pytest.raises(DatasetError, match=rf"{path.name}: record \d+: "):
            list(files_alone(directory).batches(4))

    def test_the_records_of_a_cut_file_are_counted(self, directory: Path) -> None:
        """As many are left out as the manifest lists behind the damage."""
        path = cut_second(directory)
        with edited_manifest(directory) as stated:
            shard = stated["splits"]["train"]["shards"][1]
            shard["bytes"] = path.stat().st_size
            shard["tail"] = path.read_bytes()[-16:].hex()
        split_read = open_split(directory, "train", on_corrupt="skip")
        assert len(split_read) == COUNT
        with pytest.warns(RuntimeWarning) as warned:
            found = scans(split_read.batches(COUNT))
        [said] = [str(each.message) for each in warned]
        lost = COUNT - len(found)
        assert 0 < lost < 25
        assert said.startswith(f"{lost} records are left out")
        assert path.name in said
        assert found == [*range(25 + 25 - lost), *range(50, COUNT)]

    def test_damage_behind_the_last_record_is_an_error(self, directory: Path) -> None:
        path = second(directory, lambda data: data[:-6] + bytes(6))
        with pytest.raises(DatasetError, match=path.name):
            list(files_alone(directory).batches(4))

    @pytest.mark.parametrize(("listed", "found"), [(24, 25), (26, 25)])
    @pytest.mark.parametrize("shard", [0, 3])
    def test_a_manifest_with_another_count_is_refused(
        self, directory: Path, listed: int, found: int, shard: int
    ) -> None:
        """No record is dropped, and none is made of nothing."""
        with edited_manifest(directory) as stated:
            split = stated["splits"]["train"]
            split["shards"][shard]["records"] = listed
            split["records"] += listed - found
        said = rf"{shard:05d}-of.*found {found} records, expected the {listed}"
        with pytest.raises(DatasetError, match=said):
            list(open_split(directory, "train"))
        with pytest.raises(DatasetError, match=said):
            list(open_split(directory, "train").batches(7))


PHOTOS = '''
from typing import Annotated

import numpy as np

from schemagen import *


class Photo(Record):
    """A picture."""

    pixels: Annotated[np.ndarray, Image((None, None, 3), encoding="png", resize=(4, 4))]
'''


@pytest.fixture(scope="module")
def photos(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Open a file of nine pictures, of which one cannot be decoded."""
    package = package_of(PHOTOS)
    encode = package.module("photo", "serializer").serialize
    records = [encode(pixels=np.full((9, 9, 3), n, np.uint8)) for n in range(9)]
    at = records[5].index(b"IDAT") + 6
    records[5] = records[5][:at] + bytes(4) + records[5][at + 4 :]
    path = tmp_path_factory.mktemp("photos") / "some.tfrecord.gz"
    path.write_bytes(gzip.compress(frames(records)))

    def make(**options: Any) -> Any:
        return package.module("photo", "reader").open_split(path, **options)

    return make


def test_a_damaged_image_is_named(photos: Any) -> None:
    with pytest.raises(
        DatasetError, match="record 5: field 'pixels': it cannot be decoded"
    ):
        list(photos().batches(2))


def test_a_damaged_image_is_left_out(photos: Any) -> None:
    with pytest.warns(RuntimeWarning, match="record 5: field 'pixels'"):
        found = list(photos(on_corrupt="skip").batches(2))
    assert [batch["pixels"][:, 0, 0, 0].tolist() for batch in found] == [
        *([0, 1], [2, 3], [4], [6, 7], [8]),
    ]


@pytest.mark.parametrize("options", [{}, {"shards": 3}, {"shuffle_seed": 1}])
def test_a_split_is_written_again_without_compression(
    directory: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    """As the error of access by number says."""
    split = open_split(directory, "train")
    with pytest.raises(DatasetError, match="write the split again without it"):
        split[0]
    write_dataset(split, tmp_path / "plain", "train", **options)
    copy = open_split(tmp_path / "plain", "train")
    assert sorted(copy[:]["scan"].tolist()) == [*range(COUNT)]
    if not options:
        assert copy[:]["scan"].tolist() == [*range(COUNT)]


def test_some_records_are_written_again(directory: Path, tmp_path: Path) -> None:
    some = open_split(directory, "train[30:60]")
    write_dataset(some, tmp_path / "plain", "train")
    assert open_split(tmp_path / "plain")[:]["scan"].tolist() == [*range(30, 60)]


def test_a_file_without_a_manifest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "some.gz"
    records = [serialize(**row) for row in rows(7)]
    path.write_bytes(gzip.compress(frames(records)))
    split = open_split(path)
    assert len(split) == 7
    assert scans(split.batches(3, shard=(1, 2))) == [1, 3, 5]


def test_batches_of_damaged_images_alone_are_left_out(photos: Any) -> None:
    with pytest.warns(RuntimeWarning, match="record 5: field 'pixels'"):
        found = list(photos(on_corrupt="skip").batches(1))
    assert [len(batch["pixels"]) for batch in found] == [1] * 8


def test_what_zstd_needs_is_said_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a split is written, and when it is read."""
    write_dataset(rows(3), tmp_path, "train", compression="ZSTD")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    hint = r'pip install "schemagen-tfrecord\[zstd\]"'
    with pytest.raises(DatasetError, match=hint):
        next(iter(open_split(tmp_path, "train").batches(3)))
    with pytest.raises(DatasetError, match=hint):
        write_dataset(rows(3), tmp_path, "test", compression="ZSTD")
