"""What SECURITY.md says: which commands run code of a project, and that data never runs."""

from __future__ import annotations

import os
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from command_line import make_project, run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")

SCHEMA = """\
from pathlib import Path

from schemagen import Record

Path({canary!r}).touch()


class Pet(Record):
    \"\"\"A pet.\"\"\"

    name: bytes
"""


class _Canary:
    """Unpickling makes a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.path),))


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """Return a path that exists after a schema was imported, or a value unpickled."""
    return tmp_path / "canary"


@pytest.fixture
def project(tmp_path: Path, canary: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose schema leaves a trace; its directory is the current one."""
    schema = SCHEMA.format(canary=str(canary))
    root = make_project(tmp_path / "project", {"pets.py": schema})
    values = [pickle.dumps(_Canary(canary)), b"import os; os.mkdir('canary')"] * 5
    with tf.io.TFRecordWriter(str(root / "pets.tfrecord")) as writer:
        for value in values:
            feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
            features = tf.train.Features(feature={"name": feature})
            writer.write(tf.train.Example(features=features).SerializeToString())
    code = f"import os\nos.mkdir({str(canary)!r})\n"
    code += "import tensorflow as tf\n"
    code += "F = {'name': tf.io.FixedLenFeature([], tf.string)}\n"
    (root / "features.py").write_text(code)
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "pets.tfrecord"),
        ("inspect", "pets.tfrecord", "--html", "report.html"),
        ("infer", "pets.tfrecord", "--out", "schemas/old.py"),
        (
            *("import", "features.py:F", "--from", "feature-spec"),
            *("--out", "schemas/old.py"),
        ),
        ("verify", "pets.tfrecord"),
    ],
    ids=" ".join,
)
def test_reading_data_runs_no_schema_no_value_and_no_code(
    project: Path, canary: Path, arguments: tuple[str, ...]
) -> None:
    """In a project whose schema, data and code would all leave a trace."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert not canary.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("generate", "--dry-run"),
        ("describe",),
        ("verify", "pets.tfrecord", "--record", "Pet"),
    ],
    ids=" ".join,
)
def test_these_commands_run_code_as_the_page_says(
    project: Path, canary: Path, arguments: tuple[str, ...]
) -> None:
    """The trace that the other commands do not leave is left by these."""
    result = run(*arguments)
    assert result.exit_code in (0, 1), result.output
    assert canary.exists()


def test_the_tests_that_the_page_names_exist() -> None:
    """Each property names at least one."""
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE))
    assert len(named) >= 10
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []
    table = PAGE.split("| property | tests |")[1].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert all("`tests/" in row for row in rows)
