"""What opening finds: files are those that a manifest lists, however they are named."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from manifests import edited_manifest
from schemagen.runtime.shared.compression import COMPRESSIONS
from tfrecord_files import frames, read_records, write_records

from generated import DatasetError, SchemaMismatchError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_NARROW = """
from typing import Annotated
from schemagen import Label, Record, VarLen

class Small(Record):
    number: int
    tokens: Annotated[list[int], VarLen("int64", max_length=40)]
    kind: Annotated[int, Label(num_classes=2)]
"""
"""Of fewer classes than are written."""

_ROWS = 12


def _write(package: Workspace, directory: Path, first: int = 0, **options: Any) -> Path:
    """Write records whose sizes do not depend on the first number."""
    rows = [
        {"number": first + at, "tokens": [], "kind": (first + at) % 7}
        for at in range(_ROWS)
    ]
    write = package.module("small", "serializer").write_dataset
    write(rows, directory, "train", **{"shards": 3, **options})
    return directory


@pytest.fixture
def directory(package: Workspace, tmp_path: Path) -> Path:
    """A directory with a split of three shards."""
    return _write(package, tmp_path / "data")


OpenSplit = Callable[..., Any]


@pytest.fixture
def open_split(package: Workspace) -> OpenSplit:
    """`open_split` of the record."""
    found: OpenSplit = package.module("small", "reader").open_split
    return found


@pytest.fixture
def open_narrow(package_of: PackageOf) -> OpenSplit:
    """`open_split` of a schema that cannot read the data."""
    found: OpenSplit = package_of(_NARROW).module("small", "reader").open_split
    return found


def _refused(open_split: OpenSplit, source: Any, split: str | None = None) -> str:
    with pytest.raises(DatasetError) as caught:
        open_split(source, split)
    return str(caught.value)


def _ways(directory: Path) -> list[Any]:
    """The directory, a glob, a list, and a file: the first shard is in each."""
    files = sorted(map(str, directory.glob("train-*")))
    return [directory, f"{directory}/train-*", files, files[0]]


@pytest.mark.parametrize("compression", [None, *COMPRESSIONS])
def test_shard_of_equal_size_and_other_contents_is_refused(
    package: Workspace,
    open_split: OpenSplit,
    tmp_path: Path,
    compression: str | None,
) -> None:
    """A copied shard, one of another directory, and one with another last record."""
    one = _write(package, tmp_path / "one", compression=compression)
    two = _write(package, tmp_path / "two", 40, compression=compression)
    first, second, _ = sorted(one.glob("train-*"))
    content = first.read_bytes()
    others = [bytes([*content[:-1], content[-1] ^ 1])]
    if compression is None:
        records = read_records(first)
        last = bytes([*records[-1][:-1], records[-1][-1] ^ 1])
        others += [
            frames(records[:-1]),  # a glob would read a record less
            min(two.glob("train-*")).read_bytes(),
            second.read_bytes(),
            frames([*records[:-1], last]),
        ]
    for other in others:
        first.write_bytes(other)
        for source in _ways(one):
            assert _refused(open_split, source).startswith(f"{first}: ")
        first.write_bytes(content)
        assert len(open_split(one, "train")) == _ROWS
    (two / "manifest.json").replace(one / "manifest.json")
    for source in _ways(one):
        assert str(first) in _refused(open_split, source)


def test_damaged_manifest_is_refused_for_the_files_next_to_it(
    directory: Path, open_split: OpenSplit
) -> None:
    """Without it they can be read."""
    path = directory / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"small", b"smell", 1))
    for source in _ways(directory)[1:]:
        assert _refused(open_split, source).startswith(f"{path}: ")
    path.rename(directory.parent / "manifest.json")
    assert len(open_split(f"{directory}/train-*")) == _ROWS


def test_another_record_is_refused_in_one_line(
    package: Workspace, directory: Path
) -> None:
    """Its fields have nothing to do with those that are expected."""
    with pytest.raises(SchemaMismatchError) as caught:
        package.module("bare", "reader").open_split(directory, "train")
    assert "\n  record: written 'small', expected 'bare' (SG220)\n" in str(caught.value)
    assert str(caught.value).count("(SG") == 1


def test_a_split_of_a_file_is_refused(directory: Path, open_split: OpenSplit) -> None:
    """The message says what the source is, and what to do."""
    path = min(directory.glob("train-*"))
    with pytest.raises(DatasetError, match=r"a file, and split='train' needs a data"):
        open_split(path, "train")


def test_files_are_known_by_the_manifest_next_to_them_alone(
    directory: Path, open_split: OpenSplit, open_narrow: OpenSplit, tmp_path: Path
) -> None:
    """A link in a directory of links is held to it; a link elsewhere is a file of its own."""
    linked, other = tmp_path / "linked", tmp_path / "other"
    for where, names in ((linked, "*"), (other, "train-*")):
        where.mkdir()
        for path in directory.glob(names):
            (where / path.name).symlink_to(path)
    assert len(open_split(f"{linked}/train-*")) == _ROWS
    with pytest.raises(SchemaMismatchError):
        open_narrow(f"{linked}/train-*")
    assert len(open_narrow(f"{other}/train-*")) == _ROWS
    first = min(directory.glob("train-*"))
    first.write_bytes(first.read_bytes()[:-1])
    said = _refused(open_split, f"{linked}/train-*")
    assert said.startswith(f"{linked / first.name}: ")


@pytest.mark.parametrize("split", [None, "train"])
def test_a_glob_of_directories_is_refused_with_one_of_files(
    directory: Path, open_split: OpenSplit, split: str | None
) -> None:
    """Whether or not a split is named, which a glob does not have."""
    pattern = f"{directory.parent}/{directory.name}*"
    found = _refused(open_split, pattern, split)
    assert found.startswith(f"{directory}: a directory, ")
    assert f"'{directory}/*'" in found


def test_unlisted_file_is_warned_of_and_refused_in_a_glob_of_listed_ones(
    directory: Path, open_split: OpenSplit
) -> None:
    """A user who names a file of another program means it; a glob may find it."""
    other = write_records(directory / "other.tfrecord", [b"a record"])
    files = [*_ways(directory)[2], str(other)]
    with pytest.warns(RuntimeWarning, match=str(other)) as told:
        assert len(open_split(files)) == _ROWS + 1
    assert len(told) == 1
    with pytest.warns(RuntimeWarning, match="oth"):
        open_split(f"{directory}/oth*")
    with warnings.catch_warnings(action="error"):
        open_split(f"{directory}/train-*")
    said = _refused(open_split, f"{directory}/*.tfrecord")
    assert said.startswith(f"{other}: ")


def test_shard_under_two_names_is_refused(
    directory: Path, open_split: OpenSplit
) -> None:
    """Two spellings of its path would give its records twice; a glob finds no links."""
    first = min(directory.glob("train-*"))
    again = f"{directory}/./{first.name}"
    said = _refused(open_split, [first, again])
    assert said.startswith(f"{again}: ")
    assert "read twice" in said
    assert str(first) in said
    other = directory / "train-other.tfrecord"
    other.symlink_to(first)
    said = _refused(open_split, f"{directory}/train-*")
    assert said.startswith(f"{other}: ")
    assert len(open_split([first, first])) == 8


def test_unlisted_file_with_the_name_of_a_shard_is_refused(
    directory: Path, open_split: OpenSplit
) -> None:
    """A shard of an earlier write is not read with the present ones."""
    stale = write_records(directory / "train-00000-of-00001.tfrecord", [b"a record"])
    for source in (f"{directory}/train-*", [stale], stale):
        assert _refused(open_split, source).startswith(f"{stale}: ")
    (directory / "valid-00000-of-00001.tfrecord").write_bytes(stale.read_bytes())
    with pytest.warns(RuntimeWarning, match="valid-"):
        open_split(f"{directory}/valid-*")


@pytest.mark.parametrize("renamed", [0, 1])
def test_split_under_publication_is_read_by_its_directory(
    directory: Path, open_split: OpenSplit, renamed: int
) -> None:
    """By the hidden names of its files, and by no glob or list of others."""
    ways = _ways(directory)[1:]
    with edited_manifest(directory) as stated:
        for at, shard in enumerate(stated["splits"]["train"]["shards"]):
            shard["hidden"] = f".train-{at:05}.{'a' * 12}.tmp"
            if at >= renamed:
                (directory / shard["file"]).rename(directory / shard["hidden"])
    assert sorted(open_split(directory, "train")[:]["number"]) == list(range(_ROWS))
    for source in ways:
        said = _refused(open_split, source)
        if renamed or isinstance(source, str):
            assert "split 'train' is being published" in said
