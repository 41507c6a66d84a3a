"""`docs/writing.md` is run: its photographs are written, and its promises hold."""

from __future__ import annotations

import inspect
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from generated.digit.serializer import Writer, write_dataset

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "writing.md"
# `test_data_frames.py` runs the section on pandas.
TEXT = re.sub(r"\n## Data frames.*?(?=\n## )", "", PAGE.read_text("utf-8"), flags=re.S)
SCHEMA, FIRST, PROGRAM, CHECK = re.findall(r"```python\n(.*?)```", TEXT, re.S)


def _run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _archive(root: Path, count: int) -> None:
    """Photographs on a file server: one is no JPEG, and one is not there."""
    root.mkdir()
    lines = ["path,place"]
    for number in range(count):
        place = "indoors" if number < count // 2 else "outdoors"
        out = io.BytesIO()
        Image.new("RGB", (40 + number, 30), (number, 0, 99)).save(out, "JPEG")
        data = b"no photograph" if number == 3 else out.getvalue()
        if number != 5:
            (root / f"{number}.jpg").write_bytes(data)
        lines.append(f"{number}.jpg,{place}")
    (root / "index.csv").write_text("\n".join(lines), encoding="utf-8")


def test_the_photographs_are_written(tmp_path: Path) -> None:
    """The schema, the program and the check run as they stand."""
    _run("-m", "schemagen", "init", cwd=tmp_path)
    (tmp_path / "schemas" / "photograph.py").write_text(SCHEMA, encoding="utf-8")
    _run("-m", "schemagen", "generate", cwd=tmp_path)
    _archive(tmp_path / "photographs", 3)
    assert _run("-c", FIRST, cwd=tmp_path) == ""
    assert (tmp_path / "data" / "sample-00000-of-00001.tfrecord").is_file()
    shutil.rmtree(tmp_path / "photographs")
    _archive(tmp_path / "photographs", 30)
    (tmp_path / "write_photographs.py").write_text(PROGRAM, encoding="utf-8")
    assert _run("write_photographs.py", cwd=tmp_path) == "28 photographs\n"
    lines = (tmp_path / "refused.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["row"], row["field"]) for row in rows] == [(3, "image"), (5, "image")]
    shown = re.search(r"```json\n(.*?)\n```", TEXT, re.S)
    assert shown is not None
    assert list(json.loads(shown[1])) == list(rows[0])
    assert rows[1]["expected"] == "one at 5.jpg"
    assert _run("-c", CHECK, cwd=tmp_path) == ""
    shard = tmp_path / "data" / "train-00000-of-00001.tfrecord"
    shard.write_bytes(shard.read_bytes()[:-1])
    assert "train-00000-of-00001.tfrecord" in _run("-c", CHECK, cwd=tmp_path)


@pytest.mark.parametrize("function", [Writer, write_dataset])
def test_every_parameter_is_on_the_page(function: Any) -> None:
    """What can be asked for is explained."""
    for name in inspect.signature(function).parameters:
        assert re.search(rf"`{name}[=`]|{name}=", TEXT) or name in ("source", "split")
