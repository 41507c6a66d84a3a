"""Files that may be the wrong ones are sealed only if their user accepts them."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from command_line import run
from data.messages import example, write_file
from inferring.inference import many
from pictures import picture
from tfrecord_files import frames

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("adopt_in_process")

PROGRAM = """
from generated.house.reader import open_split
print(len(list(open_split("old"))))
"""

# Compressed files without records are empty in two ways, which TensorFlow has to read.
IN_TENSORFLOW = f"""{PROGRAM}
from generated.house.pipeline import make_dataset
print(sum(1 for _ in make_dataset("old", batch_size=1)))
"""


def read_by(root: Path, program: str) -> list[int]:
    """Return the numbers that a program with the generated code prints."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return [*map(int, done.stdout.split())]


def house(number: int) -> dict[str, Any]:
    """Return a record of a house; each has a note."""
    return {"sqft": 10.5 + number, "rooms": number % 7, "price": 1.5, "note": 0.5}


def houses(path: Path, count: int = 40, **options: Any) -> Path:
    """Write records of houses."""
    return write_file(path, many(house, count), **options)


def unnoted(number: int) -> dict[str, Any]:
    """Return a record of a house without its note."""
    return {key: value for key, value in house(number).items() if key != "note"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Five shards of a split."""
    for number in range(5):
        houses(tmp_path / "old" / f"train-0000{number}-of-00005")
    return tmp_path / "old"


def adopt(data: Path, *more: str) -> Result:
    """Adopt and seal data in the directory that it is in."""
    root = data.parent
    out = root / "schemas" / "house.py"
    options = ("--out", out, "--project", root, "--force", "--seal")
    return run("adopt", data, *options, *more)


def last_lines(done: Result, count: int) -> list[str]:
    """Return the last lines that a run prints."""
    return done.stdout.splitlines()[-count:]


def test_the_last_lines_say_what_is_sealed_and_how_to_read_it(data: Path) -> None:
    """Behind the doubts and the next steps, and with the split if there are several."""
    done = adopt(data)
    assert done.exit_code == 0, done.output
    assert last_lines(done, 2) == [
        f"sealed {data}/manifest.json: train 200 records",
        f'read with make_dataset("{data}", batch_size=32)',
    ]
    houses(data / "test.tfrecord", 1200)
    done = run("verify", data, "--add")
    assert last_lines(done, 2) == [
        f"sealed {data}/manifest.json: train 200, test 1,200 records",
        f'read with make_dataset("{data}", "train", batch_size=32)',
    ]


@pytest.mark.parametrize(
    ("row", "options"),
    [
        (lambda i: {"image": picture(4 + i % 3, 5), "label": i % 2}, "batch_size=1"),
        (lambda i: {"note": f"id{i}", "label": i % 2}, "batch_size=32, info=True"),
    ],
)
def test_the_call_reads_images_of_any_size_and_records_without_an_input(
    tmp_path: Path, row: Callable[[int], dict[str, Any]], options: str
) -> None:
    """As it is printed."""
    data = tmp_path / "old"
    write_file(data / "train.tfrecord", [example(row(i)) for i in range(60)])
    assert last_lines(adopt(data), 1) == [
        f'read with make_dataset("{data}", {options})'
    ]


def packed(messages: list[bytes]) -> bytes:
    """Return a compressed file of records."""
    return gzip.compress(frames(messages))


WRONG = {
    "empty": ("", b"", "is empty"),
    "lacking": ("", frames(many(unnoted, 40)), "lacks 'note', which other files have"),
    "empty gzip": ("GZIP", b"", "is empty"),
    "no records": ("GZIP", packed([]), "has no records"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_file_that_may_be_the_wrong_one_is_not_sealed(data: Path, kind: str) -> None:
    """The last line says why, the exit code is 1, and nothing is written."""
    compression, content, said = WRONG[kind]
    for path in data.iterdir():
        houses(path, compression=compression)
    wrong = data / "train-00002-of-00005"
    wrong.write_bytes(content)
    done = adopt(data)
    assert done.exit_code == 1, done.output
    why = f"not sealed: {wrong} {said} (seal it anyway with --accept)"
    assert last_lines(done, 1) == [why]
    assert not (data / "manifest.json").exists()
    assert not list(data.glob(".*"))
    done = adopt(data, "--accept")
    assert done.exit_code == 0, done.output
    assert last_lines(done, 2)[0].startswith(f"sealed {data}/manifest.json: train ")
    # What was accepted once is not asked for again.
    again = ("verify", data, "--project", data.parent, "--record", "house", "--seal")
    assert run(*again).exit_code == 0
    assert run("verify", data).exit_code == 0
    numbers = read_by(data.parent, IN_TENSORFLOW if compression else PROGRAM)
    assert set(numbers) == {160 + 40 * (kind == "lacking")}


def test_a_file_of_other_records_is_not_sealed(data: Path) -> None:
    """Also if the schema would take its records, as all fields are optional."""
    assert adopt(data).exit_code == 0
    (data / "manifest.json").unlink()
    schema = data.parent / "schemas" / "house.py"
    fields = "\n".join(f"    {name}: float | None = None" for name in "abcdef")
    schema.write_text(
        f"from schemagen import Record\n\n\nclass House(Record):\n{fields}\n"
    )
    for number in range(5):
        path = data / f"train-0000{number}-of-00005"
        write_file(path, many(lambda at: dict.fromkeys("abcdef", at + 0.5), 40))
    other = write_file(
        data / "train-00003-of-00005",
        many(lambda at: {"a": 0.5, "x": 1, "y": 2, "z": 3}, 40),
    )
    verify = ("verify", data, "--project", data.parent, "--record", "house")
    assert run(*verify).exit_code == 0
    done = run(*verify, "--seal")
    assert done.exit_code == 1
    assert last_lines(done, 1) == [
        f"not sealed: {other} holds other records: they have 1 of the 6 keys of the "
        "schema, and 'x', 'y' and 'z' (seal it anyway with --accept)"
    ]
    assert run(*verify, "--seal", "--accept").exit_code == 0


def test_a_file_of_which_no_schema_is_inferred_is_not_sealed(data: Path) -> None:
    """The error says why, and the last line does not repeat it."""
    write_file(data / "train-00003-of-00005", many(lambda at: {"x": 1, "y": at}, 40))
    done = adopt(data)
    assert done.exit_code == 2
    assert last_lines(done, 1) == ["not sealed: the error says why"]
    assert done.stderr.count("SG442 the files hold 2 kinds of") == 1
    assert not (data / "manifest.json").exists()


def test_what_chance_explains_is_no_reason(tmp_path: Path) -> None:
    """A rare field that a small file lacks, or one that only one of many files has."""

    def rare(number: int) -> dict[str, Any]:
        return house(number) if number % 20 == 7 else unnoted(number)

    data = tmp_path / "old"
    for name in ("train_a", "train_b", "train_c"):
        write_file(data / f"{name}.tfrecord", many(rare, 200))
    write_file(data / "val.tfrecord", many(unnoted, 30))
    done = adopt(data)
    assert done.exit_code == 0, done.output
    (data / "manifest.json").unlink()
    write_file(data / "val.tfrecord", many(unnoted, 300))
    done = adopt(data)
    assert done.exit_code == 1
    assert "val.tfrecord lacks 'note', which other files have" in done.stdout


def test_records_that_the_schema_refuses_are_never_accepted(data: Path) -> None:
    """Nor is a damaged file."""
    assert adopt(data).exit_code == 0
    (data / "manifest.json").unlink()
    path = data / "train-00004-of-00005"
    write_file(path, many(lambda at: {**house(at), "rooms": b"many"}, 40))
    verify = ("verify", data, "--project", data.parent, "--record", "house", "--seal")
    done = run(*verify, "--accept")
    assert done.exit_code == 1
    assert last_lines(done, 1) == ["not sealed: 1 kind of findings"]
    path.write_bytes(houses(path).read_bytes()[:-3])
    assert run(*verify, "--accept").exit_code == 1
    assert not (data / "manifest.json").exists()


def test_an_empty_split_is_sealed_if_it_is_accepted(data: Path) -> None:
    """It is a finding, and an empty split from then on."""
    assert adopt(data).exit_code == 0
    (data / "test.tfrecord").touch()
    assert run("verify", data, "--add").exit_code == 1
    done = run("verify", data, "--add", "--accept")
    assert done.exit_code == 0, done.output
    assert run("verify", data).exit_code == 0
    assert json.loads((data / "manifest.json").read_text())["splits"]["test"]


def test_json_has_what_came_of_it(data: Path) -> None:
    """The manifests and the call, or the reasons."""
    assert adopt(data).exit_code == 0
    verify = ("verify", data, "--project", data.parent, "--record", "house", "--seal")

    def sealing(*more: str) -> Any:
        return json.loads(run(*verify, "--format", "json", *more).stdout)["sealing"]

    found = sealing()
    assert found["sealed"][0]["splits"] == {"train": 200}
    assert found["call"] == f'make_dataset("{data}", batch_size=32)'
    assert not found["reasons"]
    (data / "manifest.json").unlink()
    (data / "train-00001-of-00005").write_bytes(b"")
    found = sealing()
    assert (found["sealed"], found["call"], found["acceptable"]) == ([], "", True)
    assert re.fullmatch(r".*train-00001-of-00005 is empty", found["reasons"][0])
    assert run("verify", data, "--accept").exit_code == 2


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A folder for each of two splits, with files of any names."""
    for split, count in (("train", 30), ("test", 10)):
        for number in range(2):
            houses(tmp_path / "gz" / split / f"part-{number}.tfrecord", count)
    return tmp_path / "gz"


FOLDERS = """
from generated.house.reader import open_split
print(len(open_split("gz", "train")), len(open_split("gz", "test")))
"""

FOLDER_IN_TENSORFLOW = """
from generated.house.pipeline import make_dataset
print(sum(1 for _ in make_dataset("gz", "train", batch_size=1)))
"""


def test_folders_of_splits_are_sealed_and_read(folders: Path) -> None:
    """Each by itself, and by the name of its split in the directory above."""
    done = adopt(folders)
    assert done.exit_code == 0, done.output
    assert last_lines(done, 3) == [
        f"sealed {folders}/train/manifest.json: train 60 records",
        f"sealed {folders}/test/manifest.json: test 20 records",
        f'read with make_dataset("{folders}/train", batch_size=32)',
    ]
    assert read_by(folders.parent, FOLDERS) == [60, 20]
    assert read_by(folders.parent, FOLDER_IN_TENSORFLOW) == [60]
    verify = ("verify", folders, "--project", folders.parent)
    assert run(*verify).exit_code == 0
    again = run(*verify, "--record", "house", "--seal")
    assert last_lines(again, 3) == last_lines(done, 3)
    assert last_lines(run(*verify, "--seal"), 3) == last_lines(done, 3)


def test_files_are_added_to_folders(folders: Path) -> None:
    """To the split that the folder has, whatever its name is; a new folder is sealed."""
    for name in ("train", "test"):
        out = folders.parent / "schemas" / "house.py"
        options = ("--out", out, "--project", folders.parent, "--force", "--seal")
        assert run("adopt", folders / name, *options).exit_code == 0
    manifest = folders / "train" / "manifest.json"
    assert [*json.loads(manifest.read_text())["splits"]] == ["part"]
    assert read_by(folders.parent, FOLDERS) == [60, 20]
    houses(folders / "train" / "new.tfrecord", 5)
    verify = ("verify", folders, "--project", folders.parent)
    assert run(*verify).exit_code == 1
    done = run(*verify, "--add")
    assert done.exit_code == 0, done.output
    assert f"sealed {manifest}: part 65 records" in done.output
    assert read_by(folders.parent, FOLDERS) == [65, 20]
    assert read_by(folders.parent, FOLDER_IN_TENSORFLOW) == [65]
    houses(folders / "val" / "part.tfrecord", 5)
    assert "val: 5 records" in run(*verify).output
    done = run(*verify, "--add")
    assert done.exit_code == 2
    assert f"{folders}/val: no manifest.json to add files to" in done.output
    done = run(*verify, "--record", "house", "--seal")
    assert done.exit_code == 0, done.output
    assert f"sealed {folders}/val/manifest.json: val 5 records" in done.output


def test_what_refuses_one_folder_refuses_all(folders: Path) -> None:
    """No folder is sealed without the others."""
    houses(folders / "test" / "part-1.tfrecord", compression="GZIP")
    done = adopt(folders)
    assert done.exit_code == 1
    assert last_lines(done, 1) == [
        f"not sealed: {folders}/test: split 'test' has files of the compressions GZIP and "
        "none: compress all of them with one, or none"
    ]
    assert not [*folders.rglob("manifest.json"), *folders.rglob(".*")]
    (folders / "test" / "part-1.tfrecord").write_bytes(b"")
    assert adopt(folders).exit_code == 1
    assert not [*folders.rglob("manifest.json"), *folders.rglob(".*")]


def test_files_next_to_sealed_folders_are_not_sealed(folders: Path) -> None:
    """A manifest of their own would hide the folders; one that does is pointed out."""
    assert adopt(folders).exit_code == 0
    (folders / "more" / "val").mkdir(parents=True)
    (folders / "test").rename(folders / "more" / "test")
    loose = houses(folders / "test.tfrecord", 5)
    verify = ("verify", folders, "--project", folders.parent)
    seal = ("--record", "house", "--seal")
    why = (
        f"not sealed: {folders}/manifest.json would hide the splits of folders with a "
        "manifest of their own, more/test/, train/: move the files next to them into a "
        "folder of their own"
    )
    for done in (
        run(*verify, *seal),
        run(*verify, *seal, "--accept"),
        run("verify", loose, *verify[2:], *seal),
        adopt(folders),
    ):
        assert done.exit_code == 1
        assert why in done.output
        assert not (folders / "manifest.json").exists()
    (folders / "train").rename(folders.parent / "train")
    (folders / "more").rename(folders.parent / "more")
    assert run(*verify, *seal).exit_code == 0
    (folders.parent / "train").rename(folders / "train")
    assert "not looked at: train/" in run(*verify).output
    assert "not looked at: train/" in run("inspect", folders).output
    assert run(*verify, "--seal").exit_code == 0  # they are hidden already


def test_sealed_folders_are_splits_of_their_names(folders: Path) -> None:
    """As for readers: also links, and folders of equal names in other folders."""
    assert adopt(folders).exit_code == 0
    (folders / "latest").symlink_to("train")
    (folders / "b").mkdir()
    (folders / "test").rename(folders / "b" / "train")
    verify = ("verify", folders, "--project", folders.parent)
    found = run(*verify).output
    for name, count in (("train", 60), ("latest", 60), ("b/train", 20)):
        assert f"{name}: {count} records in 2 files" in found
        assert f"{name}: {count} records" in run(*verify, "--split", name).output
    program = 'from generated.house.reader import open_split\nprint(len(open_split("gz", "b/train")))'
    assert read_by(folders.parent, program) == [20]
    houses(folders / "b" / "train" / "new.tfrecord", 5)
    done = run(*verify, "--add", "--split", "b/train")
    assert f"sealed {folders}/b/train/manifest.json: test 25 records" in done.output
