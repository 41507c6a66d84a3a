"""`mlcroissant` takes the exported description for one, and reads what it holds."""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path

import pytest
from exported_records import export, tool

mlcroissant = tool("mlcroissant")

pytestmark = pytest.mark.integration

PROPERTIES = {
    "license": "https://creativecommons.org/licenses/by/4.0/",
    "url": "https://example.org/kept",
    "version": "1.0.0",
    "datePublished": "2024-02-29",
    "citeAs": "@misc{kept}",
}


@pytest.mark.parametrize("record", ["kept", "changed", "clip", "pair"])
def test_exported_croissant_document_is_valid(
    project: Path, tmp_path: Path, record: str
) -> None:
    out = tmp_path / "croissant.json"
    export(project, record, "croissant", out)
    dataset = mlcroissant.Dataset(out)
    assert not dataset.metadata.ctx.issues.errors
    assert dataset.metadata.name == record


def test_properties_that_were_set_satisfy_the_validator(
    project: Path, data: dict[str, Path], tmp_path: Path
) -> None:
    """It recommends nothing more once all is given."""
    out = tmp_path / "croissant.json"
    given = [f"--set={name}={value}" for name, value in PROPERTIES.items()]
    export(project, "pair", "croissant", out, "--data", data["pair"], *given)
    assert not mlcroissant.Dataset(out).metadata.ctx.issues.warnings
    assert json.loads(out.read_text()).items() >= PROPERTIES.items()


def test_files_splits_and_classes_are_read(
    project: Path, data: dict[str, Path], tmp_path: Path
) -> None:
    """Files have their sums and sizes; classes and splits their rows."""
    out = tmp_path / "croissant.json"
    export(project, "changed", "croissant", out, "--data", data["changed"])
    dataset = mlcroissant.Dataset(out)
    files = {each.name: each for each in dataset.metadata.file_objects}
    assert set(files) == {path.name for path in data["changed"].glob("train-*")}
    for name, file in files.items():
        content = (data["changed"] / name).read_bytes()
        assert file.sha256 == hashlib.sha256(content).hexdigest()
        assert file.content_size == f"{len(content)} B"
    assert list(dataset.records("splits")) == [
        {"splits/name": "train", "splits/records": 7}
    ]
    name = "changed.late.classes"
    assert [row[f"{name}/id"] for row in dataset.records(name)] == [1, 2]


def test_records_cannot_be_extracted(
    project: Path, data: dict[str, Path], tmp_path: Path
) -> None:
    """As the notes say. Once Croissant reads TFRecord files, they have to say else."""
    logging.disable(logging.CRITICAL)
    out = data["pair"] / "croissant.json"
    try:
        export(project, "pair", "croissant", out, "--data", data["pair"], "--force")
        with pytest.raises(Exception, match=r"Read\(files\)"):
            list(mlcroissant.Dataset(out).records("pair"))
    finally:
        logging.disable(logging.NOTSET)
        out.unlink(missing_ok=True)
    assert json.loads((data["pair"] / "manifest.json").read_text())["record"] == "pair"
