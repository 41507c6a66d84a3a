"""The file: whole or not at all, the same each time, and never somebody else's."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.data.report.writing import specs_of
from schemagen.findings import SchemagenError
from schemagen.kinds.field import FieldSpec
from schemagen.kinds.label import Label

from .conftest import make_report
from .scenes import example, record_spec, write_dataset, write_files

RECORDS = [example({"a": [index], "b": [b"word"]}) for index in range(20)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_files(tmp_path / "data", {"train": RECORDS})
    return tmp_path / "data"


def test_the_command_line_writes_a_page(data: Path, tmp_path: Path) -> None:
    """It says where, and prints nothing else; data that is sound ends with 0."""
    out = tmp_path / "report.html"
    result = run("inspect", data, "--html", out)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert f"wrote {out} (" in result.stderr
    assert out.read_bytes().startswith(b"<!doctype html>")
    assert sorted(os.listdir(tmp_path)) == ["data", "report.html"]


def test_findings_are_on_the_page_and_in_the_exit_code(
    data: Path, tmp_path: Path
) -> None:
    """Damage is no reason not to write it."""
    [shard] = data.iterdir()
    spoilt = bytearray(shard.read_bytes())
    spoilt[60] ^= 1
    shard.write_bytes(spoilt)
    out = tmp_path / "report.html"
    assert run("inspect", data, "--html", out).exit_code == 1
    assert "SG507" in out.read_text(encoding="utf-8")


def test_data_without_a_manifest_is_lent_a_schema(data: Path, tmp_path: Path) -> None:
    """Of the project that `--project` names; sizes are no classes, and its are."""
    project = tmp_path / "project"
    (project / "schemas").mkdir(parents=True)
    (project / "pyproject.toml").write_text("[tool.schemagen]\n")
    (project / "schemas" / "word.py").write_text(
        "from schemagen import Record\n\n\n"
        "class Word(Record):\n"
        "    a: int\n"
        "    b: str\n"
    )
    out = tmp_path / "report.html"
    options = ("--record", "word", "--project", project)
    assert run("inspect", data, "--html", out, *options).exit_code == 0
    assert "Word, schemas/word.py" in out.read_text(encoding="utf-8")
    refused = run("inspect", data, *options)
    assert refused.exit_code == 2
    assert "--record goes with --html" in refused.output


@pytest.mark.parametrize(("start", "classes"), [(0, True), (1, True), (40, False)])
def test_numbers_are_classes_if_they_begin_as_ids_do(
    start: int, classes: bool, tmp_path: Path
) -> None:
    """Without a schema: 0 or 1. Heights of pictures come again as well."""
    records = [example({"size": [start + index % 5]}) for index in range(60)]
    write_files(tmp_path / "data", {"train": records})
    out = make_report(tmp_path / "data", tmp_path / "report.html")
    assert ("looks like a class" in out.read_text(encoding="utf-8")) is classes


@pytest.mark.slow
def test_the_same_data_gives_the_same_bytes(
    scenes_data: Path, scenes_page: Path, tmp_path: Path
) -> None:
    """No time, no random names."""
    again = make_report(scenes_data, tmp_path / "again.html")
    assert again.read_bytes() == scenes_page.read_bytes()


def test_an_earlier_report_is_replaced(data: Path, tmp_path: Path) -> None:
    """And so is an empty file."""
    out = tmp_path / "report.html"
    out.write_bytes(b"")
    make_report(data, out)
    first = out.read_bytes()
    write_files(data, {"train": RECORDS[:5]})
    make_report(data, out)
    assert out.read_bytes() != first


def test_a_file_of_others_is_left_as_it_is(data: Path, tmp_path: Path) -> None:
    """Also one that is HTML; the data is not even read."""
    out = tmp_path / "index.html"
    out.write_text("<!doctype html><title>mine</title>", encoding="utf-8")
    result = run("inspect", data, "--html", out)
    assert result.exit_code == 2
    assert (
        f"{out}: this file is not a report of schemagen, and is left as it is; "
        "delete it, or choose another name"
    ) in result.stderr
    assert "mine" in out.read_text(encoding="utf-8")


def test_where_there_is_no_directory_nothing_is_made(
    data: Path, tmp_path: Path
) -> None:
    """A mistyped path is told before the data is read."""
    result = run("inspect", data, "--html", tmp_path / "no" / "report.html")
    assert result.exit_code == 2
    assert f"there is no directory {tmp_path / 'no'}" in result.stderr
    assert sorted(os.listdir(tmp_path)) == ["data"]


def test_a_missing_package_is_told_with_the_command(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In plain words, before anything is read."""
    original: Callable[..., Any] = builtins.__import__

    def refusing(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "vl_convert":
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refusing)
    result = run("inspect", data, "--html", tmp_path / "report.html")
    assert result.exit_code == 2
    assert (
        "an HTML report needs packages that are not installed: run "
        "`pip install 'schemagen[report]'`"
    ) in result.stderr


def test_a_report_that_cannot_be_finished_leaves_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier one stays, and no part of the new one."""
    out = make_report(data, tmp_path / "report.html")
    before = out.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(SchemagenError, match="No space left on device"):
        make_report(data, out)
    assert out.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["data", "report.html"]


@pytest.mark.slow
def test_many_keys_and_classes_stay_readable(tmp_path: Path) -> None:
    """A thousand of each: the first ones drawn, the others summed up and in tables."""
    names = tuple(f"kind {index}" for index in range(1000))
    label = FieldSpec.of(
        Label, name="kind", key="kind", role="target", num_classes=1000, classes=names
    )
    records = [
        example({"kind": [index], **{f"key{n:03}": [n + index] for n in range(1000)}})
        for index in range(60)
    ]
    data = write_dataset(
        tmp_path / "data",
        record_spec("wide", label),
        {"train": records[:30], "test": records[30:]},
    )
    page = make_report(data, tmp_path / "wide.html").read_text(encoding="utf-8")
    assert len(page) < 5_000_000
    assert page.count("<figure ") < 60
    assert "976 others" in page
    assert page.count('<th scope="row">key') >= 999
    assert "976 more keys are in the table only." in page


def test_specs_of_later_versions_are_passed_over(tmp_path: Path) -> None:
    """The page then says what the files say by themselves."""
    spec = record_spec(
        "odd", FieldSpec.of(Label, name="a", key="a", role="target", num_classes=20)
    )
    data = write_dataset(tmp_path / "data", spec, {"train": RECORDS})
    assert specs_of(data) == {"train": spec}
    assert specs_of(tmp_path / "data" / "*.tfrecord") == {"train": spec}
    found = inspect_data(data)
    assert found.splits["train"].records == 20
