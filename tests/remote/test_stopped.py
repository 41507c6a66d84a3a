"""Writers to S3 that are stopped before a request, for longer than their lease."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from s3_process import LEASE_SECONDS, row, shared_plan, stopped_rows

if TYPE_CHECKING:
    from conftest import ModuleOf

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:.*(taking split|is completed now|had finished)"),
]

URL = "s3://bucket/some/data"
_PROGRAM = Path(__file__).with_name("s3_process.py")

_OTHERS = [row(number) for number in range(200, 230)]


@pytest.fixture(autouse=True)
def _brief_leases(s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemagen.runtime.storage.lock.LEASE_SECONDS", LEASE_SECONDS)


def stopped_before(
    request: int, project: Path, how: str, act: Callable[[], object]
) -> tuple[bool, int, str]:
    """Stop a writer before a request, act, and let it go on.

    Returns:
        Whether it has made so many requests, its exit code, and what it has printed.
    """
    process = subprocess.Popen(
        [sys.executable, str(_PROGRAM), "stop", URL, str(request), how],
        cwd=project,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(project), *sys.path])},
        stderr=subprocess.PIPE,
        text=True,
    )
    is_stopped = os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    if is_stopped:
        act()
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=60)[1]
        return True, process.returncode, said
    assert process.stderr is not None
    return False, 0, process.stderr.read()


def check(module_of: ModuleOf, s3: Any, wanted: list[list[int]]) -> None:
    """See that the split is whole and holds one of these, and is replaced without a trace."""
    serializer, reader = module_of("serializer"), module_of("reader")
    s3.invalidate_cache()
    assert importlib.import_module("generated_remote").check_files(URL) == []
    found = [each["number"].item() for each in reader.open_split(URL, "train")]
    assert found in wanted
    serializer.write_dataset(
        _OTHERS, URL, "train", shards=2, overwrite=True, take_over=True
    )
    s3.invalidate_cache()
    left = [path.rsplit("/", 1)[1] for path in s3.find(URL)]
    assert len([name for name in left if name.startswith("train-")]) == 2
    others = [name for name in left if not name.startswith("train-")]
    assert sorted(name.split(".")[-1] for name in others) == ["index", "json"]
    assert len([*reader.open_split(URL, "train")]) == len(_OTHERS)


def numbers(rows: list[dict[str, Any]]) -> list[int]:
    return [each["number"] for each in rows]


def replace_while_stopped(
    request: int, project: Path, module_of: ModuleOf, s3: Any
) -> bool:
    """Replace a split while another process that does so too is stopped."""
    serializer = module_of("serializer")
    options = {"shards": 2, "overwrite": True, "take_over": True}

    def write() -> None:
        serializer.write_dataset(_OTHERS, URL, "train", **options)

    # What is replaced is what the other process writes: its index has the same checksum.
    write()
    is_stopped, code, said = stopped_before(request, project, "alone", write)
    mine, others = numbers(stopped_rows()), numbers(_OTHERS)
    if is_stopped:
        assert code == 0 or "Error" in said
        check(module_of, s3, [others] if code else [mine, others])
    return is_stopped


def publish_while_stopped(
    request: int, project: Path, module_of: ModuleOf, s3: Any
) -> bool:
    """Publish a run, and replace its split, while another publisher is stopped."""
    serializer = module_of("serializer")
    plan = shared_plan(URL)
    serializer.write_dataset(_OTHERS, URL, "train", shards=2, overwrite=True)
    serializer.write_parts(stopped_rows(), plan, part=(0, 1))
    records = []

    def publish() -> None:
        records.append(serializer.publish(plan))

    is_stopped, code, said = stopped_before(request, project, "shared", publish)
    if is_stopped:
        assert records == [len(stopped_rows())]
        assert code == 0 or "lease" in said, said
        check(module_of, s3, [numbers(stopped_rows())])
    return is_stopped


@pytest.mark.parametrize("act", [replace_while_stopped, publish_while_stopped])
@pytest.mark.parametrize("request_number", [30, 45, 60])
def test_writer_that_was_stopped_mixes_nothing(
    project: Path,
    module_of: ModuleOf,
    s3: Any,
    act: Callable[..., bool],
    request_number: int,
) -> None:
    """Whatever request it makes when it goes on: another has published meanwhile."""
    act(request_number, project, module_of, s3)


@pytest.mark.slow
@pytest.mark.parametrize("act", [replace_while_stopped, publish_while_stopped])
def test_writer_that_was_stopped_before_any_request_mixes_nothing(
    project: Path, module_of: ModuleOf, s3: Any, act: Callable[..., bool]
) -> None:
    """Before each of its requests in turn."""
    for number in count():
        if number:
            s3.rm("bucket", recursive=True)
            s3.mkdir("bucket")
        if not act(number, project, module_of, s3):
            break
    assert number > 30
