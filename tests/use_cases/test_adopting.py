"""Adopting data: one command from files to a project that reads them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from click.testing import Result
from command_line import make_project, run
from damaged_files import flip_bit
from data.messages import write_file
from inferring.inference import many
from pictures import picture


def adopt(root: Path, data: Path, out: str = "schemas/x.py", *more: str) -> Result:
    """Adopt data in a directory."""
    return run("adopt", data, "--out", root / out, "--project", root, *more)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file of pictures with labels."""
    rows = many(lambda i: {"image": picture(4 + i % 2, 5), "label": i % 3}, 12)
    return write_file(tmp_path / "old" / "train.tfrecord", rows)


def test_a_directory_becomes_a_project_that_reads_the_data(
    tmp_path: Path, data: Path
) -> None:
    """Settings, schema and code; what is left to decide comes last."""
    root = tmp_path / "project"
    root.mkdir()
    done = adopt(root, data)
    assert done.exit_code == 0, done.output
    assert (root / "pyproject.toml").exists()
    assert [path.name for path in (root / "schemas").iterdir()] == ["x.py"]
    assert (root / "generated" / "x" / "pipeline.py").exists()
    said = done.output.split("\n")
    assert "    image   uint8 [1, 5, 5, 3]" in said
    assert "    target  int64 [1]" in said
    schema = (root / "schemas" / "x.py").read_text().splitlines()
    doubted = [n for n, line in enumerate(schema, 1) if "# doubt: " in line]
    found = re.findall(r"^  \S+/schemas/x\.py:(\d+): (\w+)$", done.output, re.M)
    assert [(int(line), field in schema[int(line)]) for line, field in found] == [
        (line, True) for line in doubted
    ]
    assert len(found) == 3


def test_without_tensorflow_the_reader_reads_the_data(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealed and complete, with exit code 0."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    text = "import sys\nsys.modules['tensorflow'] = None\n"
    (hidden / "sitecustomize.py").write_text(text)
    path = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(hidden), path]))
    root = tmp_path / "project"
    root.mkdir()
    done = adopt(root, data, "schemas/x.py", "--seal")
    assert done.exit_code == 0, done.output
    said = done.output.split("\n")
    assert "read 10 records with generated/x/reader.py, such as" in said
    assert "    image  uint8 [1, 5, 5, 3]" in said
    assert "    label  int64 [1]" in said


@pytest.mark.usefixtures("adopt_in_process")
def test_a_project_keeps_its_settings(tmp_path: Path, data: Path) -> None:
    """Its code is written where they say."""
    root = make_project(tmp_path / "project", {})
    settings = root / "pyproject.toml"
    settings.write_text('[tool.schemagen]\noutput = "made"\nschemas = "declared"\n')
    before = settings.read_bytes()
    refused = adopt(root, data)
    assert refused.exit_code == 2
    assert not (root / "schemas" / "x.py").exists()
    assert adopt(root, data, "declared/x.py").exit_code == 0
    assert settings.read_bytes() == before
    assert (root / "made" / "x" / "parser.py").exists()


@pytest.mark.usefixtures("adopt_in_process")
def test_what_the_pipeline_cannot_read_is_said(tmp_path: Path) -> None:
    """With its own words, and exit code 1; everything is written all the same."""
    rows = many(lambda i: {"image_id": i, "labels": [i / 7] * 9, "sha1": b"\xff" * 9})
    done = adopt(tmp_path, write_file(tmp_path / "a.tfrecord", rows))
    assert done.exit_code == 1
    said = " ".join(done.output.split())
    assert "role='input', such as 'sha1' or 'image_id', or" in said
    assert "is it 'sha1', 'image_id'? Give it role=\"input\"" in said
    assert (tmp_path / "generated" / "x" / "parser.py").exists()


@pytest.mark.usefixtures("adopt_in_process")
def test_few_records_that_differ_are_doubts_and_findings(tmp_path: Path) -> None:
    """The schema is of the others, and `verify` names the record."""
    rows = many(lambda i: {"x": [i / 7] * (7 if i == 150 else 6), "label": i % 3}, 200)
    done = adopt(tmp_path, write_file(tmp_path / "a.tfrecord", rows))
    assert done.exit_code == 1
    assert "1 of 200 records has 7 values, unlike the others" in done.output
    assert "record 150" in done.output
    assert "Vector((6,))" in (tmp_path / "schemas" / "x.py").read_text()


@pytest.mark.usefixtures("adopt_in_process")
def test_damage_that_verify_finds_ends_with_exit_code_1(
    tmp_path: Path, data: Path
) -> None:
    """The schema is of the records that can be read."""
    flip_bit(data, -20)
    done = adopt(tmp_path, data)
    assert done.exit_code == 1
    assert "checksum" in done.stderr
    assert "train: 11 records in 1 file" in done.stdout


@pytest.mark.usefixtures("adopt_in_process")
def test_a_schema_that_is_there_is_overwritten_by_force_only(
    tmp_path: Path, data: Path
) -> None:
    """It may be somebody's work."""
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "x.py").write_text("# mine\n")
    assert adopt(tmp_path, data).exit_code == 2
    assert (tmp_path / "schemas" / "x.py").read_text() == "# mine\n"
    assert not (tmp_path / "pyproject.toml").exists()
    assert adopt(tmp_path, data, "schemas/x.py", "--force").exit_code == 0


@pytest.mark.usefixtures("adopt_in_process")
def test_a_record_is_declared_once_in_a_project(tmp_path: Path, data: Path) -> None:
    """A second file of the same record is refused, and names the first one."""
    done = adopt(tmp_path, data, "schemas/x.py", "--seal")
    assert done.exit_code == 0, done.output
    again = adopt(tmp_path, data.parent, "schemas/y.py")
    assert again.exit_code == 2
    assert re.search(
        r"schemas/x\.py: SG104 \S*schemas/x\.py already declares X$", again.stderr, re.M
    )
    assert not (tmp_path / "schemas" / "y.py").exists()
    for file, options in (("y.py", ("--name", "Y")), ("x.py", ("--force",))):
        out = tmp_path / "schemas" / file
        assert run("infer", data.parent, "--out", out, *options).exit_code == 0
