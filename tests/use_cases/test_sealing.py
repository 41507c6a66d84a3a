"""Files of another program get a manifest: from then on they are held to it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from command_line import run
from data.messages import sequence_example, write_file
from digit_rows import rows
from inferring.inference import many
from manifests import edited_manifest, reverse_classes
from pictures import picture

from generated import DatasetError, SchemaMismatchError
from generated.digit.pipeline import make_dataset
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("adopt_in_process")


def foreign(directory: Path, name: str, count: int, **options: Any) -> Path:
    """Write records as another program would: a file with a name of its own."""
    write_dataset(rows(count), directory / ".new", "x", **options)
    [written] = (directory / ".new").glob("x-*")
    path = written.rename(directory / name)
    for left in (directory / ".new").iterdir():
        left.unlink()
    (directory / ".new").rmdir()
    return path


def verify(data: Path, *more: str) -> Result:
    """Verify data against this project's records."""
    return run("verify", data, "--project", ROOT, *more)


def seal(data: Path, *more: str) -> Result:
    """Verify and seal data as digits."""
    return verify(data, "--record", "digit", "--seal", *more)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two splits in three files, of names that schemagen does not write."""
    data = tmp_path / "old"
    foreign(data, "train_a.tfrecord", 20)
    foreign(data, "val_1.tfrecord", 5)
    foreign(data, "val_2.tfrecord", 6)
    return data


def manifest_of(data: Path) -> dict[str, Any]:
    """Return what a manifest says."""
    found: dict[str, Any] = json.loads((data / "manifest.json").read_text())
    return found


def test_sealed_files_are_read_as_if_schemagen_had_written_them(data: Path) -> None:
    """By split, with a known length, in shares; and they keep their names and bytes."""
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    done = seal(data)
    assert done.exit_code == 0, done.output
    assert f"sealed {data}/manifest.json: val 11, train_a 20 records" in done.output
    assert {name: (data / name).read_bytes() for name in before} == before
    assert len(open_split(data, "val")) == 11
    assert int(make_dataset(data, "val", batch_size=2).cardinality()) == 6
    shares = [
        make_dataset(data, "val", batch_size=1, shard=(index, 2)).cardinality()
        for index in range(2)
    ]
    assert sum(map(int, shares)) == 11
    assert len(open_split(data, "train_a[:50%]")) == 10
    assert len(open_split(data / "val_1.tfrecord")) == 5
    assert verify(data).exit_code == 0


def test_a_changed_file_or_schema_is_noticed(data: Path) -> None:
    """At opening: this is what sealing is for."""
    seal(data)
    path = data / "val_2.tfrecord"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DatasetError, match=r"val_2\.tfrecord: found \d+ bytes"):
        open_split(data, "val")
    path.write_bytes(content)
    with edited_manifest(data) as manifest:
        reverse_classes(manifest["spec"])
    with pytest.raises(SchemaMismatchError, match="class id 0"):
        open_split(data, "val")


def test_files_with_findings_are_not_sealed(data: Path) -> None:
    """Nothing is written, and the exit code is 1."""
    write_file(data / "val_3.tfrecord", many(lambda at: {"other": at}))
    done = seal(data)
    assert done.exit_code == 1
    assert not (data / "manifest.json").exists()
    assert not list(data.glob(".*"))


def test_added_files_are_checked_alone_and_put_behind(data: Path) -> None:
    """A new file of a split, and a new split; readers of what was there read on."""
    seal(data)
    split = open_split(data, "val")
    first = split[0]["image"]
    foreign(data, "val_3.tfrecord", 4)
    foreign(data, "test.tfrecord", 3)
    said = verify(data)
    assert said.exit_code == 1
    assert "--add" in said.output
    done = verify(data, "--add")
    assert done.exit_code == 0, done.output
    assert "test: 3 records" in done.output
    assert "train_a: 20 records" not in done.output
    assert (split[0]["image"] == first).all()
    assert len(split) == 11
    assert len(open_split(data, "val")) == 15
    assert len(open_split(data, "test")) == 3
    files = [shard["file"] for shard in manifest_of(data)["splits"]["val"]["shards"]]
    assert files == [f"val_{number}.tfrecord" for number in (1, 2, 3)]
    assert verify(data).exit_code == 0
    again = verify(data, "--add")
    assert (again.exit_code, "nothing to add" in again.output) == (0, True)


def test_an_added_file_of_another_kind_is_refused(data: Path) -> None:
    """The manifest stays as it was."""
    seal(data)
    before = (data / "manifest.json").read_bytes()
    write_file(data / "val_3.tfrecord", many(lambda at: {"other": at}))
    assert verify(data, "--add").exit_code == 1
    (data / "val_3.tfrecord").unlink()
    foreign(data, "val_3.tfrecord", 4, compression="GZIP")
    done = verify(data, "--add")
    assert done.exit_code == 2
    assert "compression" in done.output
    assert (data / "manifest.json").read_bytes() == before


def test_sealing_again_states_the_schema_again(data: Path, tmp_path: Path) -> None:
    """As after the doubts of an inferred schema were resolved."""
    out = tmp_path / "schemas" / "digit.py"
    done = run("adopt", data, "--out", out, "--project", tmp_path, "--seal")
    assert "sealed " in done.output
    assert verify(data, "--record", "digit").exit_code == 1
    assert seal(data).exit_code == 0
    assert verify(data, "--record", "digit").exit_code == 0
    assert len(open_split(data, "val")) == 11
    [named] = data.glob("val_1*")
    assert seal(named).exit_code == 2  # its split has a second file


def test_files_of_directories_are_sealed_where_they_are(tmp_path: Path) -> None:
    """Each directory gets a manifest of its own."""
    foreign(tmp_path / "train", "a.tfrecord", 6)
    foreign(tmp_path / "val", "b.tfrecord", 4)
    assert seal(tmp_path).exit_code == 0
    assert len(open_split(tmp_path / "train")) == 6
    assert len(open_split(tmp_path / "val", "val")) == 4


def test_compressed_files_are_sealed(tmp_path: Path) -> None:
    """They have no index, and are read in order."""
    foreign(tmp_path, "train.gz", 6, compression="GZIP")
    assert seal(tmp_path).exit_code == 0
    assert len(list(open_split(tmp_path))) == 6
    assert not list(tmp_path.glob(".*.index"))


def test_splits_of_schemagen_state_their_schema_again(data: Path) -> None:
    """Next to sealed ones: all splits of a directory have to be read by one reader."""
    seal(data)
    write_dataset(rows(4), data, "day2")
    with edited_manifest(data) as before:
        reverse_classes(before["spec"])
    with pytest.raises(SchemaMismatchError, match="--seal"):
        open_split(data, "val")
    done = seal(data)
    assert done.exit_code == 0, done.output
    assert "the schema has changed: field 'digit': class id 0" in done.output
    assert len(open_split(data, ["day2", "val"])) == 15
    found = manifest_of(data)["splits"]["day2"]
    assert found == before["splits"]["day2"]
    foreign(data, "day2_b.tfrecord", 3).rename(data / "day2-1.tfrecord")
    assert verify(data, "--add").exit_code == 2


def test_sealed_files_are_never_replaced(data: Path) -> None:
    """They are the only copy, and another program made them."""
    seal(data)
    for options in ({}, {"overwrite": True}):
        with pytest.raises(DatasetError, match="files of another program"):
            write_dataset(rows(3), data, "val", **options)
    write_dataset(rows(3), data, "val-day2")
    assert len(open_split(data, ["val", "val-day2"])) == 14
    assert verify(data).exit_code == 0


def test_sealing_without_a_record_or_all_records_is_refused(data: Path) -> None:
    """A record, all records, and a manifest to add to."""
    assert verify(data, "--seal").exit_code == 2
    assert verify(data, "--add", "--record", "digit").exit_code == 2
    assert seal(data, "--limit", "3").exit_code == 2
    assert not (data / "manifest.json").exists()


def test_several_splits_are_read_as_one(tmp_path: Path) -> None:
    """In the order of the list; this is how records are appended."""
    write_dataset(rows(5), tmp_path, "train")
    with pytest.raises(DatasetError, match="split=\\['train', 'train-day2'\\]"):
        write_dataset(rows(7), tmp_path, "train")
    write_dataset(rows(7), tmp_path, "train-day2", shards=2)
    both = open_split(tmp_path, ["train-day2", "train"])
    assert len(both) == 12
    assert (both[7]["image"] == open_split(tmp_path, "train")[0]["image"]).all()
    records = make_dataset(tmp_path, ["train", "train-day2"], batch_size=12)
    assert int(records.cardinality()) == 1
    assert len(next(iter(records))[1]) == 12
    for wrong in ([], ["train", "train"], [1], 1):
        with pytest.raises(DatasetError, match="expected the name of a split"):
            open_split(tmp_path, wrong)  # type: ignore[arg-type]
    with pytest.raises(DatasetError, match="no split 'test'"):
        open_split(tmp_path, ["train", "test"])


def adopt(root: Path, data: Path, *more: str) -> Result:
    """Adopt data in a directory."""
    return run(
        "adopt", data, "--out", root / "schemas" / "x.py", "--project", root, *more
    )


def test_adopt_seals_what_it_has_verified(tmp_path: Path) -> None:
    """And says how to seal again once its doubts are resolved."""
    messages = many(lambda i: {"image": picture(4 + i % 2, 5), "label": i % 3}, 12)
    data = write_file(tmp_path / "old" / "train.tfrecord", messages)
    done = adopt(tmp_path, data.parent, "--seal")
    assert done.exit_code == 0, done.output
    assert f"sealed {data.parent}/manifest.json: train 12 records\n" in done.output
    assert "--record x --seal`" in done.output
    assert run("verify", data.parent).exit_code == 0
    assert manifest_of(data.parent)["record"] == "x"


def test_adopt_ends_with_1_while_keys_with_data_are_left_out(tmp_path: Path) -> None:
    """They are named; a list that never has a value is no loss."""
    messages = [
        sequence_example(
            {"y": 1}, {"lists": [[1, 2], [b"a"]], "ok": [[1], [2]], "no": [[]]}
        )
        for _ in range(12)
    ]
    data = write_file(tmp_path / "a.tfrecord", messages)
    done = adopt(tmp_path, data)
    assert done.exit_code == 1, done.output
    assert "left out 'lists': " in done.output
    messages = [
        sequence_example({"y": 1}, {"ok": [[1], [2]], "no": [[]]}) for _ in range(12)
    ]
    data = write_file(tmp_path / "a.tfrecord", messages)
    done = adopt(tmp_path, data, "--force")
    assert done.exit_code == 0, done.output


def test_infer_says_what_makes_its_schema_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of a project's schemas, `schemagen generate` does not find it."""
    data = write_file(
        tmp_path / "a.tfrecord", many(lambda at: {"a": at, "label": at % 2})
    )
    monkeypatch.chdir(tmp_path)
    outside = run("infer", data, "--out", "x.py")
    assert "run `schemagen init`, then move x.py to schemas/" in outside.output
    inside = run("infer", data, "--out", "schemas/x.py")
    assert "Next: run `schemagen init`, then run `schemagen generate`" in inside.output
    assert run("init").exit_code == 0
    done = run("infer", data, "--out", "schemas/x.py", "--force")
    assert "Next: run `schemagen generate`" in done.output
    moved = run("infer", data, "--out", "x.py", "--force")
    assert "Next: move x.py to schemas/" in moved.output


def test_files_keep_their_places_when_sealed_again(data: Path) -> None:
    """So numbers and slices stay those of the same records."""
    (data / "val_2.tfrecord").rename(data / "val_3.tfrecord")
    seal(data)
    foreign(data, "val_2.tfrecord", 4)
    assert verify(data, "--add").exit_code == 0
    before = [shard["file"] for shard in manifest_of(data)["splits"]["val"]["shards"]]
    assert before == [f"val_{number}.tfrecord" for number in (1, 3, 2)]
    assert seal(data).exit_code == 0
    after = [shard["file"] for shard in manifest_of(data)["splits"]["val"]["shards"]]
    assert after == before


def test_two_that_add_at_once_list_a_file_once(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is new is compared with the manifest under its lock."""
    seal(data)
    foreign(data, "val_3.tfrecord", 4)

    opened = Path.open

    def later(self: Path, *arguments: Any, **options: Any) -> Any:
        if self.name == "val_3.tfrecord":
            monkeypatch.setattr(Path, "open", opened)
            assert verify(data, "--add").exit_code == 0
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", later)
    done = verify(data, "--add")
    assert done.exit_code == 2
    assert "another process has sealed val_3.tfrecord" in done.output
    assert len(open_split(data, "val")) == 15


def test_foreign_files_that_are_not_sealed_yet_are_not_overwritten(data: Path) -> None:
    """They wait for `--add`."""
    seal(data)
    path = foreign(data, "day2-00000-of-00001.tfrecord", 4)
    for options in ({}, {"overwrite": True}):
        with pytest.raises(DatasetError, match="--add"):
            write_dataset(rows(3), data, "day2", **options)
    assert path.exists()


@pytest.mark.parametrize(
    "options", [["--add"], ["--seal"], ["--add", "--record", "digit"]]
)
def test_a_damaged_manifest_is_the_finding(data: Path, options: list[str]) -> None:
    """It says how to seal the files again, which restores it."""
    assert seal(data).exit_code == 0
    path = data / "manifest.json"
    before = path.read_bytes()
    path.write_bytes(before[:-40])
    done = verify(data, *options)
    assert done.exit_code == 1, done.output
    assert "SG501" in done.stderr
    assert "SG442" not in done.stderr
    said = " ".join(done.stderr.split())
    advice = r"remove it and then .*`schemagen verify DATA --record NAME --seal`"
    assert re.search(advice, said)
    path.unlink()
    assert seal(data).exit_code == 0
    assert path.read_bytes() == before
