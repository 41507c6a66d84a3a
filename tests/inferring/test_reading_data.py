"""What is read to infer from, what is refused, and what the command writes."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Annotated

import pytest
import schemagen
from command_line import run, snapshot
from damaged_files import flip_bit
from data.messages import example, number, sequence_example, write_data, write_file
from manifests import edited_manifest
from schemagen import Record, Scalar

from .inference import found_in, infer


def rows(count: int, start: int = 0) -> list[bytes]:
    """Return records with a number each."""
    return [example({"a": at}) for at in range(start, start + count)]


def refusal(data: Path, out: Path, *options: str) -> str:
    """Return what the command prints of data that it refuses; nothing is written."""
    before = snapshot(out.parent)
    refused = run("infer", data, "--out", out, *options)
    assert refused.exit_code == 2
    assert snapshot(out.parent) == before
    return refused.output


def test_the_first_records_of_each_file_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as are read by default; small files leave the rest to large ones."""
    monkeypatch.setattr("schemagen.use_cases.infer.SAMPLE", 30)
    files = [tmp_path / f"train-{n:05}-of-00003.tfrecord" for n in range(3)]
    for at, (path, count) in enumerate(zip(files, (2, 50, 50), strict=True)):
        write_file(path, rows(count, 100 * at))
    found = infer(tmp_path, tmp_path / "x.py")
    assert found.read == "30 records, the first ones of each of 3 files"
    assert found.read in found.text.splitlines()[0]
    whole = infer(tmp_path, tmp_path / "y.py", limit=0)
    assert "102 records of 3 files" in whole.read
    limited = infer(files[2], tmp_path / "z.py", limit=7)
    assert limited.read == "the first 7 records of a file"
    assert infer(files[0], tmp_path / "w.py", limit=2).read == "2 records of a file"


def test_one_split_can_be_named(tmp_path: Path) -> None:
    """Others may hold something else; files may be compressed."""
    write_file(tmp_path / "train-00000-of-00001", rows(3), "GZIP")
    write_file(tmp_path / "test-00000-of-00001", [b"no example"])
    found = infer(tmp_path, tmp_path / "x.py", split="train")
    assert "3 records" in found.read


def test_damage_and_other_messages_are_counted(tmp_path: Path) -> None:
    """In the schema's header; the other records are read."""
    path = write_file(tmp_path / "records", [*rows(30), b"\xff\xff"])
    flip_bit(path, 100)
    result = run("infer", path, "--out", tmp_path / "x.py")
    assert result.exit_code == 1
    for part in (
        "from 30 records of a file\n",
        "1 place could not be read, the first at record 3",
        "1 record is not a tf.train.Example",
    ):
        assert part in result.output
    header = (tmp_path / "x.py").read_text().partition("import")[0]
    assert header.count(": 1.") == 2


def test_all_damages_are_counted(tmp_path: Path) -> None:
    """Of a file with many, too."""
    path = write_file(tmp_path / "records", rows(40))
    size = path.stat().st_size // 40
    for at in range(30):
        flip_bit(path, at * size + 20)
    result = run("infer", path, "--out", tmp_path / "x.py")
    assert "30 places could not be read, the first at record 0" in result.output
    assert "Places that could not be read: 30." in (tmp_path / "x.py").read_text()


OTHER = b"\x12\x03abc" * 9


@pytest.mark.parametrize(
    ("records", "text"),
    [
        ([], ""),
        ([OTHER], "Example"),
        ([b"\x22\x01a"], "Example"),
        ([b""], "Example"),
        ([example({"a": 1}), OTHER, OTHER], "2 of 3"),
        ([example({"a": 1}), sequence_example({}, {"b": [1]})], ""),
        ([example({"a": None})], "keys"),
        ([sequence_example({"a": 1}, {"b": [[1], [0.5]]})], "feature lists"),
        ([example({f"k{at}": at for at in range(2001)})], "2,000"),
    ],
)
def test_what_is_no_training_data_is_refused(
    records: list[bytes], text: str, tmp_path: Path
) -> None:
    """With what to do, and nothing is written."""
    path = write_file(tmp_path / "records", records)
    refused = refusal(path, tmp_path / "x.py")
    for part in (" SG442 ", "to do: "):
        assert part in refused
    assert text in refused.splitlines()[0]


def test_a_file_is_only_overwritten_by_force(tmp_path: Path) -> None:
    """What is there is somebody's work."""
    path = write_file(tmp_path / "records", rows(3))
    out = tmp_path / "x.py"
    out.write_text("mine")
    refused = refusal(path, out)
    for part in (f" SG404 {out} exists", "--force"):
        assert part in refused
    assert run("infer", path, "--out", out, "--force").exit_code == 0
    assert "class X(Record):" in out.read_text()


@pytest.mark.parametrize("name", ["x.txt", "2020.py", "_x.py", "a-b.py"])
def test_a_schema_file_can_be_imported(name: str, tmp_path: Path) -> None:
    """Another would never be found again."""
    path = write_file(tmp_path / "records", rows(3))
    assert f" {name} is not the name of a schema file" in refusal(path, tmp_path / name)


@pytest.mark.parametrize("name", ["a b", "Class", "Größe", "1st", "x.y"])
def test_a_class_has_a_name_of_a_class(name: str, tmp_path: Path) -> None:
    """Its package is named after it."""
    path = write_file(tmp_path / "records", rows(3))
    refused = refusal(path, tmp_path / "x.py", f"--name={name}")
    assert f" SG105 the record cannot be called {name!r}" in refused


@pytest.mark.parametrize("name", ["Record", "Label", "Annotated", "Found"])
def test_a_class_may_be_called_like_what_is_imported(name: str, tmp_path: Path) -> None:
    """The import then bears another name."""
    path = write_file(tmp_path / "records", [example({"label": 1, "n": [1, 2]})])
    assert infer(path, tmp_path / "x.py", name=name).spec.class_name == name


def test_the_command_prints_what_was_found_and_what_comes_next(tmp_path: Path) -> None:
    """Keys that are left out, escaped; the next commands can be pasted."""
    records = [
        example({"label": at % 3, "x": 0.5, "bad\x1b": 1 if at else "a"})
        for at in range(30)
    ]
    path = write_file(tmp_path / "records", records)
    out = tmp_path / "pet_photos.py"
    result = run("infer", path, "--out", out, "--name", "PetPhoto")
    for part in (
        f"{out}: PetPhoto, 2 fields",
        "30 records",
        r"'bad\x1b': bytes in 1 record and int64 in 29 records",
        "2 doubts",
        "`schemagen generate`",
        f"`schemagen verify {path} --record pet_photo`",
    ):
        assert part in result.output


def test_field_numbers_that_no_example_has_are_doubts(tmp_path: Path) -> None:
    """Readers pass over them."""
    _, said = found_in(tmp_path, [example({"a": 1}) + number(7, 1)])
    assert "field 7 of the record" in said[""]


def test_verify_agrees_with_what_was_inferred_of_steps(tmp_path: Path) -> None:
    """Of every kind that steps can have."""
    records = [
        sequence_example(
            {"id": f"v{n}"},
            {
                "x": [[0.5, 1.0]] * n,
                "t": list(range(n)),
                "word": ["a"] * n,
                "tokens": [list(range(at % 3)) for at in range(n)],
                "tags": [["a", "b"][: 1 + at % 2] for at in range(n)],
            },
        )
        for n in range(1, 9)
    ]
    path = write_file(tmp_path / "records", records)
    found = infer(path, tmp_path / "x.py")
    assert schemagen.verify(path, record=found.spec).clean
    kinds = {field.label: field.step.kind.kind for field in found.spec.fields[:5]}
    assert kinds == {
        **{"x": "Vector", "t": "Scalar", "word": "Text"},
        **{"tokens": "VarLen", "tags": "VarLen"},
    }


class Count(Record):
    """How many."""

    number: Annotated[int, Scalar("int64", key="a")]
    """Of all."""


CLASS = ast.unparse(ast.parse(inspect.getsource(Count)))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A data directory whose manifest has a schema for each split."""
    data = write_data(tmp_path / "data", Count, {"train": rows(1), "test": rows(1)})
    with edited_manifest(data) as manifest:
        manifest["splits"]["test"] |= {
            "spec": {**manifest["spec"], "doc": "Another."},
            "fingerprint": "0" * 16,
        }
    return data


def test_what_schemagen_has_written_gets_its_schema_back(
    written: Path, tmp_path: Path
) -> None:
    """Names and descriptions included; the records are not looked at."""
    out = tmp_path / "counts.py"
    result = run("infer", written, "--out", out, "--split", "train")
    assert result.exit_code == 0, result.output
    assert ast.unparse(ast.parse(out.read_text()).body[-1]) == CLASS
    file = written / "train-00000-of-00001.tfrecord"
    assert infer(file, tmp_path / "x.py", name="Number").spec.record == "number"


def test_splits_of_several_schemas_are_refused(written: Path, tmp_path: Path) -> None:
    """One file declares what one of them holds."""
    refused = refusal(written, tmp_path / "x.py")
    for part in (" SG442 ", "name a split by --split"):
        assert part in refused
    again = infer(written, tmp_path / "x.py", split="test")
    assert again.spec.doc == "Another."
