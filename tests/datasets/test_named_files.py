"""What opening finds: files are those that a manifest lists, however they are named."""

from __future__ import annotations

import copy
import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from schemagen.runtime.shared.errors import DatasetError, SchemaMismatchError
from schemagen.runtime.shared.tfrecord import frame, read_records
from schemagen.runtime.sources.opening import open_shards
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.manifest import Manifest, Spec

if TYPE_CHECKING:
    from conftest import Workspace

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


def _manifest(directory: Path) -> Manifest:
    found = manifest.load(directory)
    assert found is not None
    return found


def _narrowed(spec: Spec) -> Spec:
    """A spec of fewer classes than were written."""
    other = copy.deepcopy(spec)
    other["fields"][-1] |= {"num_classes": 2}
    return other


def _refused(source: Any, spec: Spec, split: str | None = None) -> str:
    with pytest.raises(DatasetError) as caught:
        open_shards(source, split, spec)
    return str(caught.value)


def _ways(directory: Path) -> list[Any]:
    """The directory, a glob, a list, and a file: the first shard is in each."""
    files = sorted(map(str, directory.glob("train-*")))
    return [directory, f"{directory}/train-*", files, files[0]]


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_shard_of_equal_size_and_other_contents_is_refused(
    package: Workspace, tmp_path: Path, compression: str | None
) -> None:
    """A copied shard, one of another directory, and one with another last record."""
    one = _write(package, tmp_path / "one", compression=compression)
    two = _write(package, tmp_path / "two", 40, compression=compression)
    spec = _manifest(one).spec
    first, second, _ = sorted(one.glob("train-*"))
    content = first.read_bytes()
    others = [bytes([*content[:-1], content[-1] ^ 1])]
    if compression is None:
        records = list(read_records(first))
        last = bytes([*records[-1][:-1], records[-1][-1] ^ 1])
        others += [
            b"".join(map(frame, records[:-1])),  # a glob would read a record less
            min(two.glob("train-*")).read_bytes(),
            second.read_bytes(),
            b"".join(map(frame, [*records[:-1], last])),
        ]
    for other in others:
        first.write_bytes(other)
        for source in _ways(one):
            assert _refused(source, spec).startswith(f"{first}: ")
        first.write_bytes(content)
        assert open_shards(one, "train", spec).records == (4, 4, 4)
    (two / "manifest.json").replace(one / "manifest.json")
    for source in _ways(one):
        assert str(first) in _refused(source, spec)


def test_shards_without_recorded_tails_are_compared_by_size_alone(
    directory: Path,
) -> None:
    """Manifests of format 1 have no tails."""
    spec = _manifest(directory).spec
    path = directory / "manifest.json"
    content = json.loads(path.read_text())
    del content["crc32c"]
    for shard in content["splits"]["train"]["shards"]:
        assert len(shard.pop("tail")) == 32
    path.write_text(json.dumps({**content, "format": 1}))
    first, second, _ = sorted(directory.glob("train-*"))
    shutil.copy(second, first)
    assert open_shards(directory, "train", spec).records == (4, 4, 4)


def test_damaged_manifest_is_refused_for_the_files_next_to_it(directory: Path) -> None:
    """Without it they can be read."""
    path = directory / "manifest.json"
    spec = _manifest(directory).spec
    path.write_bytes(path.read_bytes().replace(b"small", b"smell", 1))
    for source in _ways(directory)[1:]:
        assert _refused(source, spec).startswith(f"{path}: ")
    path.rename(directory.parent / "manifest.json")
    assert open_shards(f"{directory}/train-*", None, spec).records is None


def test_another_record_is_refused_in_one_line(directory: Path) -> None:
    """Its fields have nothing to do with those that are expected."""
    spec = {**_narrowed(_manifest(directory).spec), "record": "large"}
    with pytest.raises(SchemaMismatchError) as caught:
        open_shards(directory, "train", spec)
    assert "\n  record: written 'small', expected 'large' (SG220)\n" in str(
        caught.value
    )
    assert str(caught.value).count("(SG") == 1


def test_a_split_of_a_file_is_refused(directory: Path) -> None:
    """The message says what the source is, and what to do."""
    path = min(directory.glob("train-*"))
    with pytest.raises(DatasetError, match=r"a file, and split='train' needs a data"):
        open_shards(path, "train", _manifest(directory).spec)


def test_files_are_known_by_the_manifest_next_to_them_alone(
    directory: Path, tmp_path: Path
) -> None:
    """A link in a directory of links is held to it; a link elsewhere is a file of its own."""
    spec = _manifest(directory).spec
    linked, other = tmp_path / "linked", tmp_path / "other"
    for where, names in ((linked, "*"), (other, "train-*")):
        where.mkdir()
        for path in directory.glob(names):
            (where / path.name).symlink_to(path)
    assert open_shards(f"{linked}/train-*", None, spec).records == (4, 4, 4)
    with pytest.raises(SchemaMismatchError):
        open_shards(f"{linked}/train-*", None, _narrowed(spec))
    assert open_shards(f"{other}/train-*", None, _narrowed(spec)).records is None
    first = min(directory.glob("train-*"))
    first.write_bytes(first.read_bytes()[:-1])
    assert _refused(f"{linked}/train-*", spec).startswith(f"{linked / first.name}: ")


def test_unlisted_file_is_warned_of_and_refused_in_a_glob_of_listed_ones(
    directory: Path,
) -> None:
    """A user who names a file of another program means it; a glob may find it."""
    spec = _manifest(directory).spec
    other = directory / "other.tfrecord"
    other.write_bytes(frame(b"a record"))
    files = [*_ways(directory)[2], str(other)]
    with pytest.warns(RuntimeWarning, match=str(other)) as told:
        assert open_shards(files, None, spec).records is None
    assert len(told) == 1
    with pytest.warns(RuntimeWarning, match="oth"):
        open_shards(f"{directory}/oth*", None, spec)
    with warnings.catch_warnings(action="error"):
        open_shards(f"{directory}/train-*", None, spec)
    assert _refused(f"{directory}/*.tfrecord", spec).startswith(f"{other}: ")


def test_shard_under_two_names_is_refused(directory: Path) -> None:
    """Two spellings of its path would give its records twice; a glob finds no links."""
    spec = _manifest(directory).spec
    first = min(directory.glob("train-*"))
    again = f"{directory}/./{first.name}"
    said = _refused([first, again], spec)
    assert said.startswith(f"{again}: ")
    assert str(first) in said
    other = directory / "train-other.tfrecord"
    other.symlink_to(first)
    assert _refused(f"{directory}/train-*", spec).startswith(f"{other}: ")
    assert open_shards([first, first], None, spec).records == (4, 4)


def test_unlisted_file_with_the_name_of_a_shard_is_refused(directory: Path) -> None:
    """A shard of an earlier write is not read with the present ones."""
    spec = _manifest(directory).spec
    stale = directory / "train-00000-of-00001.tfrecord"
    stale.write_bytes(frame(b"a record"))
    for source in (f"{directory}/train-*", [stale], stale):
        assert _refused(source, spec).startswith(f"{stale}: ")
    (directory / "valid-00000-of-00001.tfrecord").write_bytes(stale.read_bytes())
    with pytest.warns(RuntimeWarning, match="valid-"):
        open_shards(f"{directory}/valid-*", None, spec)


@pytest.mark.parametrize("renamed", [0, 1])
def test_split_under_publication_is_read_by_its_directory(
    directory: Path, renamed: int
) -> None:
    """By the hidden names of its files, and by no glob or list of others."""
    found = _manifest(directory)
    split = found.splits["train"]
    ways = _ways(directory)[1:]
    names = [f".train-{at:05}.{'a' * 12}.tmp" for at in range(len(split.shards))]
    for name, shard in list(zip(names, split.shards, strict=True))[renamed:]:
        (directory / shard.file).rename(directory / name)
    splits = {"train": split.hidden_as(names)}
    manifest.save(directory, replace(found, splits=splits))
    files = open_shards(directory, "train", found.spec).files
    listed = [shard.bytes for shard in split.shards]
    sizes = [file.at_its_name(lambda path: Path(path).stat().st_size) for file in files]
    assert sizes == listed == [file.size for file in files]
    for source in ways:
        said = _refused(source, found.spec)
        if renamed or isinstance(source, str):
            assert "split 'train' is being published" in said
