"""Files of several kinds of records under one name, and files that hold none."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from schemagen.cli import main
from schemagen.findings import SchemagenError
from schemagen.use_cases.infer import infer

from .messages import many, write_file


def users(number: int = 4) -> list[bytes]:
    """Return records of one kind."""
    return many(lambda i: {"user": i, "age": i, "city": "a"}, number)


def films(number: int = 4) -> list[bytes]:
    """Return records of another kind."""
    return many(lambda i: {"film": i, "year": i, "title": "b", "city": "a"}, number)


def run(*arguments: str | Path) -> Result:
    """Run the verb."""
    return CliRunner().invoke(main, ["infer", *map(str, arguments)])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three files of users, one of films."""
    for name in ("user-0", "user-1", "user-2"):
        write_file(tmp_path / "data" / f"{name}.tfrecord", users())
    write_file(tmp_path / "data" / "films.tfrecord", films())
    return tmp_path / "data"


def test_files_that_share_few_keys_are_refused_with_their_groups(data: Path) -> None:
    """By a file and the keys of each; nothing is written."""
    out = data.parent / "x.py"
    with pytest.raises(SchemagenError) as caught:
        infer(data, out)
    (finding,) = caught.value.findings
    assert finding.rule == "SG442"
    for part in (f"{data}/films.tfrecord", f"{data}/user-0.tfrecord", "'age', 'city'"):
        assert part in finding.found
    assert not out.exists()
    assert infer(f"{data}/user-*.tfrecord", out).read == "all 12 records of 3 files"


def test_merging_declares_all_keys_and_names_the_file_of_each(data: Path) -> None:
    """A key that only one file has is a doubt."""
    out = data.parent / "x.py"
    assert run(data, "--out", out, "--merge").exit_code == 0
    text = out.read_text()
    assert "film: int | None = None" in text
    assert "'films.tfrecord'" in text


def test_a_split_without_labels_is_of_the_same_kind(tmp_path: Path) -> None:
    """Half of the keys of either are enough."""
    write_file(tmp_path / "train.tfrecord", many(lambda i: {"x": i, "label": i % 2}))
    write_file(tmp_path / "test.tfrecord", many(lambda i: {"x": i}))
    text = infer(tmp_path, tmp_path / "x.py").path.read_text()
    assert "'train.tfrecord'" in text


def test_files_without_a_key_are_named_among_others(data: Path, tmp_path: Path) -> None:
    """The schema is written all the same, with exit code 1."""
    (data / "films.tfrecord").unlink()
    write_file(data / "other.tfrecord", [b"some text", b"more of it"])
    done = run(data, "--out", tmp_path / "x.py")
    assert done.exit_code == 1
    assert f"{data}/other.tfrecord" in done.output
    assert (tmp_path / "x.py").exists()
