"""The file of a report: whole or not there, reproducible, and never a file of others."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from schemagen import Label
from schemagen.data.inspect.inspecting import inspect_data
from schemagen.data.report.writing import specs_of
from schemagen.findings import SchemagenError

from .conftest import make_report
from .scenes import example, field, record_spec, write_dataset, write_files

RECORDS = [example({"a": [index], "b": [b"word"]}) for index in range(20)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_files(tmp_path / "data", {"train": RECORDS})
    return tmp_path / "data"


def test_sound_data_gives_a_page_and_exit_code_0(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    result = run("inspect", data, "--html", out)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert f"wrote {out} (" in result.stderr
    assert out.read_bytes().startswith(b"<!doctype html>")
    assert sorted(os.listdir(tmp_path)) == ["data", "report.html"]


def test_damaged_data_gives_a_page_with_findings_and_exit_code_1(
    data: Path, tmp_path: Path
) -> None:
    [shard] = data.iterdir()
    spoilt = bytearray(shard.read_bytes())
    spoilt[60] ^= 1
    shard.write_bytes(spoilt)
    out = tmp_path / "report.html"
    assert run("inspect", data, "--html", out).exit_code == 1
    text = out.read_text(encoding="utf-8")
    assert "<b>SG507</b><span>1 record, 5.3 % of train</span>" in text
    assert "train-00000-of-00001.tfrecord, record 1, byte 45</dd>" in text


def test_the_exit_code_is_that_of_the_text(data: Path, tmp_path: Path) -> None:
    """What `verify` alone finds is on the page, and in a line of the output."""
    [shard] = data.iterdir()
    shard.rename(data / "train-00000-of-00002.tfrecord")
    assert run("verify", data).exit_code == 1
    result = run("inspect", data, "--html", tmp_path / "report.html")
    assert result.exit_code == run("inspect", data).exit_code == 0
    assert "`schemagen verify` has 1 kind of finding: the page" in result.stderr
    assert "<b>SG502</b>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_page_names_what_other_records_are(tmp_path: Path) -> None:
    """For the split, and for each file."""
    write_files(tmp_path / "data", {"train": [b"\x38\x01" * 4]})
    out = tmp_path / "report.html"
    assert run("inspect", tmp_path / "data", "--html", out).exit_code == 1
    text = out.read_text(encoding="utf-8")
    assert "<dd>another protobuf message, with field 7 (varint)</dd>" in text
    assert "no key: another protobuf message, with field 7 (varint)" in text
    assert "<b>SG513</b>" in text


def test_record_of_a_project_names_fields_of_data_without_a_manifest(
    data: Path, tmp_path: Path
) -> None:
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


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (range(5), True),
        (range(1, 6), True),
        (range(40, 45), False),  # sizes come again as well
        (range(-1, 4), False),
        (range(20), False),
        ([b"cat", b"dog"], True),
        ([b"cat", b"\x00\xff"], False),
    ],
)
def test_values_look_like_classes_if_they_are_few_and_begin_as_ids_do(
    values: list[Any], classes: bool, tmp_path: Path
) -> None:
    records = [example({"size": [values[i % len(values)]]}) for i in range(60)]
    write_files(tmp_path / "data", {"train": records})
    out = make_report(tmp_path / "data", tmp_path / "report.html")
    assert ("looks like a class" in out.read_text(encoding="utf-8")) is classes


@pytest.mark.slow
def test_same_data_gives_the_same_bytes(
    scenes_data: Path, scenes_page: Path, tmp_path: Path
) -> None:
    again = make_report(scenes_data, tmp_path / "again.html")
    assert again.read_bytes() == scenes_page.read_bytes()


def test_earlier_reports_and_empty_files_are_replaced(
    data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    out.write_bytes(b"")
    make_report(data, out)
    first = out.read_bytes()
    write_files(data, {"train": RECORDS[:5]})
    make_report(data, out)
    assert out.read_bytes() != first


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "index.html",
            "{out}: this file is not a report of schemagen, and is left as it is; "
            "delete it, or choose another name",
        ),
        ("no/report.html", "{out}: there is no directory {out.parent}"),
    ],
)
def test_targets_that_cannot_be_written_are_refused_before_data_is_read(
    data: Path, tmp_path: Path, name: str, message: str
) -> None:
    mine = tmp_path / "index.html"
    mine.write_text("<!doctype html><title>mine</title>", encoding="utf-8")
    [shard] = data.iterdir()
    shard.unlink()
    result = run("inspect", data, "--html", tmp_path / name)
    assert result.exit_code == 2
    assert message.format(out=tmp_path / name) in result.stderr
    assert "mine" in mine.read_text(encoding="utf-8")
    assert sorted(os.listdir(tmp_path)) == ["data", "index.html"]


def test_missing_package_is_named_with_the_command_that_installs_it(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_report_that_cannot_be_finished_leaves_the_earlier_one(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_many_keys_and_classes_are_summed_up(tmp_path: Path) -> None:
    """Of a thousand of each, the first ones are drawn."""
    names = tuple(f"kind {index}" for index in range(1000))
    label = field(Label, "kind", role="target", num_classes=1000, classes=names)
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
    assert page.count('<th scope="row">key') >= 999
    assert '<th scope="row">key999' not in page
    for text in (
        "976 others",
        "976 more keys are in the table only.",
        "1 more row is left out here.",
    ):
        assert text in page


def test_specs_of_later_versions_are_left_out(tmp_path: Path) -> None:
    spec = record_spec("odd", field(Label, "a", role="target", num_classes=20))
    data = write_dataset(tmp_path / "data", spec, {"train": RECORDS})
    assert specs_of(data) == {"train": spec}
    assert specs_of(tmp_path / "data" / "*.tfrecord") == {"train": spec}
    found = inspect_data(data)
    assert found.splits["train"].records == 20
