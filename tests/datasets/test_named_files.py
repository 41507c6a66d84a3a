"""What opening finds: files are those that a manifest lists, however they are named."""

from __future__ import annotations

import copy
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from schemagen.runtime.shared.errors import DatasetError, SchemaMismatchError
from schemagen.runtime.shared.tfrecord import frame, read_records
from schemagen.runtime.sources.files import find_files
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
        find_files(source, split, spec)
    return str(caught.value)


def _ways(directory: Path) -> list[Any]:
    """The directory, a glob, a list, and a file: the first shard is in each."""
    files = sorted(map(str, directory.glob("train-*")))
    return [directory, f"{directory}/train-*", files, files[0]]


_ADVICE = (
    "restore it, or write the split again (`schemagen verify` compares every byte)"
)


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
            min(two.glob("train-*")).read_bytes(),
            second.read_bytes(),
            b"".join(map(frame, [*records[:-1], last])),
        ]
    for other in others:
        first.write_bytes(other)
        for source in _ways(one):
            found = _refused(source, spec)
            assert found.startswith(f"{first}: found the last bytes ")
            assert found.endswith(_ADVICE)
        first.write_bytes(content)
        assert find_files(one, "train", spec).records == (4, 4, 4)
    (two / "manifest.json").replace(one / "manifest.json")
    for source in _ways(one):
        assert str(first) in _refused(source, spec)


def test_shards_without_recorded_tails_are_compared_by_size_alone(
    directory: Path,
) -> None:
    """Manifests of format 1 have no tails."""
    found = _manifest(directory)
    text = manifest.dumps(found)
    tails = [shard.tail for shard in found.splits["train"].shards]
    assert [len(tail or "") for tail in tails] == [32, 32, 32]
    for shard in found.splits["train"].shards:
        text = text.replace(f',\n          "tail": "{shard.tail}"', "")
    lines = text.replace('"format": 2', '"format": 1').splitlines(keepends=True)
    (directory / "manifest.json").write_text("".join([lines[0], *lines[2:]]))
    first, second, _ = sorted(directory.glob("train-*"))
    shutil.copy(second, first)
    assert find_files(directory, "train", found.spec).records == (4, 4, 4)


def test_shard_cut_off_after_a_record_is_refused(directory: Path) -> None:
    """A glob would otherwise read one record less."""
    spec = _manifest(directory).spec
    first = min(directory.glob("train-*"))
    records = list(read_records(first))
    first.write_bytes(b"".join(map(frame, records[:-1])))
    for source in _ways(directory):
        assert _refused(source, spec).startswith(f"{first}: found ")


def test_listed_files_have_the_records_of_the_manifest(directory: Path) -> None:
    """A glob and a list know how many records there are, as a directory does."""
    spec = _manifest(directory).spec
    whole, glob, files, file = (find_files(way, None, spec) for way in _ways(directory))
    assert whole == glob == files
    assert file.records == (4,)


def test_damaged_manifest_is_refused_for_the_files_next_to_it(directory: Path) -> None:
    """The message says how to read them all the same."""
    path = directory / "manifest.json"
    spec = _manifest(directory).spec
    path.write_bytes(path.read_bytes().replace(b"small", b"smell", 1))
    for source in _ways(directory)[1:]:
        found = _refused(source, spec)
        assert found.startswith(f"{path}: not a whole manifest (")
        assert found.endswith("move manifest.json out of the directory")
    path.rename(directory.parent / "manifest.json")
    assert find_files(f"{directory}/train-*", None, spec).records is None


def test_linked_shards_are_held_to_their_manifest(
    directory: Path, tmp_path: Path
) -> None:
    """The schema is compared, and so are size, last bytes and number of records."""
    spec = _manifest(directory).spec
    first = min(directory.glob("train-*"))
    link = tmp_path / "link.tfrecord"
    link.symlink_to(first)
    assert find_files(link, None, spec).records == (4,)
    with pytest.raises(SchemaMismatchError):
        find_files(link, None, _narrowed(spec))
    first.write_bytes(first.read_bytes()[:-1])
    assert _refused(link, spec).startswith(f"{link}: found ")


def test_renamed_shards_are_files_that_no_manifest_lists(directory: Path) -> None:
    """Nothing says which schema wrote them, so reading them comes with a warning."""
    spec = _manifest(directory).spec
    renamed = min(directory.glob("train-*")).rename(directory / "renamed.tfrecord")
    with pytest.warns(RuntimeWarning, match=f"{renamed}: nothing says which schema"):
        assert find_files(renamed, None, spec).records is None


def test_unlisted_file_is_warned_of_and_refused_in_a_glob_of_listed_ones(
    directory: Path,
) -> None:
    """A user who names a file of another program means it; a glob may find it."""
    spec = _manifest(directory).spec
    other = directory / "other.tfrecord"
    other.write_bytes(frame(b"a record"))
    files = [*_ways(directory)[2], str(other)]
    with pytest.warns(RuntimeWarning, match=f"1 file not listed .* {other}: ") as told:
        assert find_files(files, None, spec).records is None
    assert len(told) == 1
    with pytest.warns(RuntimeWarning, match="not listed"):
        find_files(f"{directory}/oth*", None, spec)
    with warnings.catch_warnings(action="error"):
        find_files(f"{directory}/train-*", None, spec)
    assert _refused(f"{directory}/*.tfrecord", spec).startswith(
        f"{other}: {directory}/manifest.json does not list it, and lists other files"
    )


def test_shard_under_two_names_is_refused(directory: Path) -> None:
    """A link in a glob or a list would give its records twice."""
    spec = _manifest(directory).spec
    first = min(directory.glob("train-*"))
    other = directory / "train-other.tfrecord"
    other.symlink_to(first)
    for source in (f"{directory}/train-*", [first, other]):
        said = _refused(source, spec)
        assert said.startswith(f"{other}: the same shard of split 'train' as {first}")
    other.unlink()
    assert find_files([first, first], None, spec).records == (4, 4)


def test_unlisted_file_with_the_name_of_a_shard_is_refused(directory: Path) -> None:
    """A shard of an earlier write is not read with the present ones."""
    spec = _manifest(directory).spec
    stale = directory / "train-00000-of-00001.tfrecord"
    stale.write_bytes(frame(b"a record"))
    for source in (f"{directory}/train-*", [stale], stale):
        assert _refused(source, spec).startswith(
            f"{stale}: named as a shard of split 'train', and {directory}/manifest.json "
            "does not list it"
        )
    (directory / "valid-00000-of-00001.tfrecord").write_bytes(stale.read_bytes())
    with pytest.warns(RuntimeWarning, match="not listed"):
        find_files(f"{directory}/valid-*", None, spec)


_JOURNAL = '{"format": 2, "token": "a", "request": {}}\n'


@pytest.mark.parametrize("others", [True, False])
def test_split_under_publication_is_refused(directory: Path, others: bool) -> None:
    """Its entry is not in the manifest, and its journal says that it is published."""
    found = _manifest(directory)
    splits = {"test": found.splits["train"]} if others else {}
    changed = Manifest(found.record, found.fingerprint, found.spec, splits)
    if others:
        shutil.copytree(directory, directory.parent / "other")
        directory = directory.parent / "other"
        for path in directory.glob("train-*"):
            path.with_name(path.name.replace("train", "test")).write_bytes(b"")
    manifest.save(directory, changed)
    if not others:
        (directory / "manifest.json").unlink()
    journal = directory / ".train.journal"
    first = min(directory.glob("train-*"))
    sources: list[tuple[Any, str | None]] = [
        (directory, "train"),
        (directory, None),
    ]
    if not others:
        sources += [(f"{directory}/train-*", None), (first, None)]
    journal.write_text(_JOURNAL + '{"publishing": 3, "token": "a"}\n')
    if not others:
        sources.append((f"{directory}/train-*-of-00009*", None))  # of no shard yet
    for source, split in sources:
        assert _refused(source, found.spec, split) == (
            f"{directory}: split 'train' is being published, or its publication was "
            "interrupted; wait for its writer, or if none is running, run any writer "
            "for this directory again, which completes the publication"
        )
    for text in ("", _JOURNAL, _JOURNAL + '{"publishing": 3, "token": "b"}\n'):
        journal.write_text(text)
        found_now = _refused(directory, found.spec, "train")
        assert "being published" not in found_now
