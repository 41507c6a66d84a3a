"""A directory with a folder for each split is read like one with a manifest of splits."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from digit_rows import rows
from manifests import edited_manifest, reverse_classes

from generated import DatasetError, check_files, mix
from generated.digit.pipeline import make_dataset
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

COUNTS = {"train": 12, "test": 5}
ROOT = Path(__file__).parents[2]


def write(where: str) -> str:
    """Write a folder for each split."""
    for name, count in COUNTS.items():
        write_dataset(rows(count), f"{where}/{name}", name)
    return where


@pytest.fixture(params=["local", "remote"])
def data(request: pytest.FixtureRequest, tmp_path: Path, memory: Any) -> str:
    """The directory, on this machine and behind a URL."""
    return write(str(tmp_path / "gz") if request.param == "local" else "memory://gz")


def labels(batches: Any) -> list[int]:
    """Return the labels of all records."""
    return [int(label) for _, targets in batches for label in np.ravel(targets)]


def test_a_split_is_the_folder_of_its_name(data: str) -> None:
    """For both readers, with slices, as part of a mixture, and several as one."""
    for name, count in COUNTS.items():
        folder = open_split(f"{data}/{name}")
        assert len(open_split(data, name)) == len(folder) == count
        found = labels(make_dataset(data, name, batch_size=2))
        assert found == labels(make_dataset(f"{data}/{name}", batch_size=2))
        assert len(found) == count
    assert len(open_split(data, "train[:50%]")) == 6
    assert len(open_split(data, ["test", "train"])) == 17
    both = make_dataset(data, ["test", "train"], batch_size=1)
    assert int(both.cardinality()) == 17
    sources = {f"{data}:train": 0.5, f"{data}/test": 0.5}
    assert next(iter(make_dataset(sources, batch_size=2)))
    assert len(mix([open_split(data, "train"), open_split(data, "test")])) > 0


def test_the_files_of_all_folders_are_checked(data: str, memory: Any) -> None:
    """Or of the one that is named."""
    assert not check_files(data)
    assert not check_files(data, "train")
    with pytest.raises(DatasetError, match="no split 'val'; there are: test, train"):
        check_files(data, "val")
    if "://" in data:
        [file] = memory.glob("/gz/test/*.tfrecord")
        memory.rm(file)
    else:
        Path(data, "test/test-00000-of-00001.tfrecord").unlink()
    assert not check_files(data, "train")
    [problem] = check_files(data)
    assert "gz/test/test-00000" in problem


@pytest.mark.parametrize("split", ["val", "../gz/train", "/train", ""])
def test_the_error_names_the_folders(data: str, split: str) -> None:
    """Of a split that none has, and where no split is named."""
    said = f"^{data}: no manifest.json, and no split {split!r}; .*: test, train$"
    for read in (partial(make_dataset, batch_size=1), open_split):
        with pytest.raises(DatasetError, match=said):
            read(data, split)
        with pytest.raises(DatasetError, match=r"no split was named; .*: test, train$"):
            read(data)


def test_a_folder_with_several_splits_is_named_itself(data: str) -> None:
    """What its split is would be a guess; the name of a single one does not count."""
    write_dataset(rows(2), f"{data}/val", "day1")
    assert len(open_split(data, "val")) == 2
    write_dataset(rows(2), f"{data}/val", "day2")
    with pytest.raises(
        DatasetError, match=f"day1, day2; pass the folder, '{data}/val'"
    ):
        open_split(data, "val")


def test_files_next_to_their_folder_are_ambiguous(data: str, memory: Any) -> None:
    """The error names both; files of other splits do not matter."""
    if "://" in data:
        [file] = memory.glob("/gz/train/*.tfrecord")
        memory.copy(file, "/gz/train-00000-of-00001.tfrecord")
    else:
        [path] = Path(data, "train").glob("*.tfrecord")
        shutil.copy(path, Path(data, "train-00000-of-00001.tfrecord"))
    said = f"'train' is a folder and files such as train-0.*'{data}/train'"
    with pytest.raises(DatasetError, match=said):
        open_split(data, "train")
    assert len(open_split(data, "test")) == 5


def test_a_manifest_decides_alone(data: str) -> None:
    """Folders next to it are other data."""
    write_dataset(rows(3), data, "val")
    assert len(open_split(data, "val")) == 3
    with pytest.raises(DatasetError, match="no split 'train'; there are: val"):
        open_split(data, "train")


def test_folders_without_a_manifest_are_named_with_a_glob(tmp_path: Path) -> None:
    """One that matches their files, and not some of another layout."""
    data = Path(write(str(tmp_path / "gz")))
    for name in COUNTS:
        (data / name / "manifest.json").unlink()
        [path] = (data / name).glob("*.tfrecord")
        path.rename(data / name / "part.tfrecord.gz")
    for source, split in ((data, "train"), (data / "train", None), (data, None)):
        with pytest.raises(
            DatasetError, match=f"glob such as '{data}/train/\\*.tfrecord.gz'"
        ):
            open_split(source, split)
    assert len(list(open_split(f"{data}/train/*.tfrecord.gz"))) == 12


def verified(*arguments: str | Path, code: int = 0) -> str:
    """Return what `schemagen verify` prints."""
    done = run("verify", *arguments, "--project", ROOT)
    assert done.exit_code == code, done.output
    return done.output


def test_the_command_line_reads_folders_with_manifests(
    data: str, tmp_path: Path
) -> None:
    """All of them, or one; and finds what is missing in one."""
    found = verified(data)
    assert "train: 12 records" in found
    assert "test: 5 records" in found
    assert "in the manifest" in found
    assert "test: 5 records" not in verified(data, "--split", "train")
    document = run("inspect", data, "--format", "json")
    assert document.exit_code == 0, document.output
    assert run("diff", data, data).exit_code == 0
    out = tmp_path / "digit.py"
    assert run("infer", data, "--out", out).exit_code == 0
    assert "by its manifest" in run("infer", data, "--out", out, "--force").output
    write_dataset(rows(2), f"{data}/other", "a")
    write_dataset(rows(2), f"{data}/other", "b")
    done = run("verify", data)
    assert done.exit_code == 2
    assert "directories with a manifest.json of their own" in done.output


def test_what_is_wrong_in_a_folder_is_found(tmp_path: Path) -> None:
    """A file that is missing or new, and another schema."""
    data = Path(write(str(tmp_path / "gz")))
    [path] = (data / "train").glob("*.tfrecord")
    shutil.copy(path, data / "train" / "more.tfrecord")
    (data / "test" / "test-00000-of-00001.tfrecord").unlink()
    found = verified(data, code=1)
    assert f"{data}/train/more.tfrecord: SG504" in found
    assert f"{data}/test/test-00000-of-00001.tfrecord: SG502" in found
    (data / "train" / "more.tfrecord").unlink()
    shutil.rmtree(data / "test")
    with edited_manifest(data / "train") as manifest:
        reverse_classes(manifest["spec"])
    assert f"{data}/train/manifest.json: SG511" in verified(
        data, "--record", "digit", code=1
    )
