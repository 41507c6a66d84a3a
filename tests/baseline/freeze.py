"""Makes the baseline with an installed schemagen 0.4.0, which is commit 30617e51.

Run it outside of the repository, whose own schemagen would be imported otherwise:

git archive 30617e51 | tar --extract --directory /tmp/source
pip install --no-deps --target /tmp/0.4.0 /tmp/source
cd /tmp; PYTHONPATH=/tmp/0.4.0:REPOSITORY python -m tests.baseline.freeze
"""

from __future__ import annotations

import contextlib
import importlib
import json
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import schemagen

from .documents import DOCUMENTS, run
from .rows import BASELINES, CODE, HERE, longest_split, write
from .values import read_by_arrays

_SETTINGS = '[tool.schemagen]\nschemas = "schemas"\noutput = "older_code"\n'


def freeze() -> None:
    """Make everything that is frozen, in place of what was there."""
    installed = Path(schemagen.__file__)
    assert schemagen.__version__ == "0.4.0", installed
    assert not installed.is_relative_to(HERE.parent.parent), installed
    with tempfile.TemporaryDirectory() as directory:
        _generate_code(Path(directory) / "project")
        _write_data(Path(directory) / "project")
    for path in sorted((HERE / "changes" / "older").glob("*.py")):
        _save(path.with_suffix(".json"), _specs(path))
    for name, document in DOCUMENTS.items():
        with tempfile.TemporaryDirectory() as directory:
            _save(
                HERE / "documents" / f"{name}.json", document(Path(directory) / "work")
            )


def _generate_code(root: Path) -> None:
    """Generate the code in a directory, and pack it as it is."""
    shutil.copytree(HERE / "project", root)
    schemagen.generate(root)
    with zipfile.ZipFile(CODE, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((root / "baseline_code").rglob("*.*")):
            name = path.relative_to(root).as_posix()
            entry = zipfile.ZipInfo(name)
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


def _write_data(root: Path) -> None:
    sys.path.insert(0, str(root))
    shutil.rmtree(HERE / "data", ignore_errors=True)
    for record, baseline in BASELINES.items():
        serializer = importlib.import_module(f"baseline_code.{record}.serializer")
        directory = HERE / "data" / record
        directory.mkdir(parents=True)
        for split in baseline.splits:
            write(record, split, serializer, directory)
        reader = importlib.import_module(f"baseline_code.{record}.reader")
        split = longest_split(record)
        values = read_by_arrays(reader.open_split, directory, split)
        lines = ",\n".join(json.dumps(each, sort_keys=True) for each in values)
        path = HERE / "values" / f"{record}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"[{lines}]\n", encoding="utf-8")
    _seal_files(root)


def _seal_files(root: Path) -> None:
    """Seal copies of two shards, as files of another program."""
    directory = HERE / "data" / "sealed"
    directory.mkdir()
    for number in range(2):
        shard = HERE / "data" / "reading" / f"sharded-{number:05}-of-00003.tfrecord"
        shutil.copy(shard, directory / f"old-{number:05}-of-00002.tfrecord")
    with contextlib.chdir(root):
        sealing = run("verify", str(directory), "--record", "reading", "--seal")
    assert sealing["exit"] == 0, sealing


def _specs(schema: Path) -> dict[str, Any]:
    """Return the specs of the records in a file."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "schemas").mkdir()
        (root / "pyproject.toml").write_text(_SETTINGS, encoding="utf-8")
        shutil.copy(schema, root / "schemas" / "records.py")
        schemagen.generate(root)
        return {
            path.parent.name: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((root / "older_code").glob("*/spec.json"))
        }


def _save(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(value, ensure_ascii=False, indent=0, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    freeze()
