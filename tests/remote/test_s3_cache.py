"""Splits on S3 that are read by a cache on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from s3_process import ROWS, row

if TYPE_CHECKING:
    from conftest import ModuleOf

pytestmark = pytest.mark.integration

URL = "s3://bucket/some/data"
_PROGRAM = Path(__file__).with_name("s3_process.py")
_SECONDS = 120


@pytest.fixture(autouse=True)
def _written(s3: Any, module_of: ModuleOf) -> None:
    """Each test begins with a split of eight shards."""
    write(module_of, 0)


def write(module_of: ModuleOf, first: int) -> None:
    rows = [row(number) for number in range(first, first + ROWS)]
    options = {"shards": 8, "overwrite": True}
    module_of("serializer").write_dataset(rows, URL, "train", **options)


def numbers(split: Any, **options: Any) -> list[int]:
    batches = split.batches(32, shuffle_seed=1, **options)
    return sorted(number for batch in batches for number in batch["number"].tolist())


@pytest.mark.parametrize("is_listed", [True, False])
def test_second_epoch_makes_no_request(
    module_of: ModuleOf,
    s3: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_listed: bool,
) -> None:
    """With a manifest, and without one by entity tags."""
    from aiobotocore.client import AioBaseClient

    called = AioBaseClient._make_api_call
    requests: list[str] = []

    async def call(self: Any, operation: str, options: dict[str, Any]) -> Any:
        requests.append(operation)
        return await called(self, operation, options)

    source = (URL, "train")
    if not is_listed:
        s3.rm(f"{URL}/manifest.json")
        source = (f"{URL}/train-*",)  # type: ignore[assignment]
    split = module_of("reader").open_split(*source, cache_dir=tmp_path)
    assert numbers(split) == [*range(ROWS)]
    monkeypatch.setattr(AioBaseClient, "_make_api_call", call)
    assert numbers(split, epoch=1) == [*range(ROWS)]
    assert requests == []


def test_split_that_is_written_again_is_read_from_the_server(
    module_of: ModuleOf, tmp_path: Path
) -> None:
    """By who opens it afterwards; who has opened it before goes on with what was kept."""
    open_split = module_of("reader").open_split
    split = open_split(URL, "train", cache_dir=tmp_path)
    assert numbers(split) == [*range(ROWS)]
    write(module_of, 10_000)
    assert numbers(split, epoch=1) == [*range(ROWS)]
    again = open_split(URL, "train", cache_dir=tmp_path)
    assert numbers(again) == [*range(10_000, 10_000 + ROWS)]


def test_processes_read_while_others_remove(project: Path, tmp_path: Path) -> None:
    """Two have room for all of it, and the third has not."""
    bounds = [10_000_000, 10_000_000, 200_000]
    path = f"{project}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    readers = [
        subprocess.Popen(
            [sys.executable, str(_PROGRAM), "cached", URL, str(tmp_path), str(bound)],
            env={**os.environ, "PYTHONPATH": path},
            stderr=subprocess.PIPE,
            text=True,
        )
        for bound in bounds
    ]
    for reader in readers:
        _, said = reader.communicate(timeout=_SECONDS)
        assert reader.returncode == 0, said
