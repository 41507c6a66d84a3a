"""Splits on S3: written, resumed, read, verified, inspected, inferred and replaced."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from generations import is_of_run, without_runs
from s3_process import ROWS, row

if TYPE_CHECKING:
    from conftest import ModuleOf

pytestmark = pytest.mark.integration

URL = "s3://bucket/some/data"
_PROGRAM = Path(__file__).with_name("s3_process.py")
_SECONDS = 120


@pytest.fixture(autouse=True)
def _empty(s3: Any) -> None:
    """Each test begins with an empty bucket."""


def run(project: Path, *arguments: str, **environment: str) -> Any:
    """Run Python with arguments where the generated code is, and return what it did."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project), **environment},
        timeout=_SECONDS,
        capture_output=True,
        text=True,
    )


def schemagen(project: Path, *arguments: str) -> tuple[int, str]:
    """Run `schemagen`, and return its exit code and output."""
    done = run(project, "-m", "schemagen", *arguments)
    return done.returncode, done.stdout + done.stderr


def write(module_of: ModuleOf, where: str = URL, **options: Any) -> None:
    """Write the rows into eight shards."""
    rows = [row(number) for number in range(ROWS)]
    options = {"shards": 8, **options}
    module_of("serializer").write_dataset(rows, where, "train", **options)


def numbers(dataset: Any) -> list[int]:
    """The numbers of all records, in order."""
    return [int(n) for features, _ in dataset for n in features["number"]]


def test_killed_write_is_resumed_and_published(
    project: Path, module_of: ModuleOf, s3: Any, tmp_path: Path
) -> None:
    """Nothing is readable before; the files are those of a run that was not killed."""
    from schemagen.runtime.shared.errors import DatasetError

    options = '{"shard_bytes": 40000}'
    done = run(project, str(_PROGRAM), "write", URL, "300", options)
    assert done.returncode == -signal.SIGKILL, done.stderr
    s3.invalidate_cache()
    left = [path.rsplit("/", 1)[1] for path in s3.ls(URL)]
    assert left
    assert all(name.startswith(".") or is_of_run(name) for name in left)
    with pytest.raises(DatasetError, match=r"manifest\.json"):
        module_of("pipeline").make_dataset(URL, batch_size=8)
    resume = '{"shard_bytes": 40000, "resume": true, "take_over": true}'
    done = run(project, str(_PROGRAM), "write", URL, "-1", resume)
    assert done.returncode == 0, done.stderr
    done = run(project, str(_PROGRAM), "write", str(tmp_path / "data"), "-1", options)
    assert done.returncode == 0, done.stderr
    s3.invalidate_cache()
    there = {path.rsplit("/", 1)[1]: s3.cat(path) for path in s3.ls(URL)}
    here = {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()}
    assert without_runs(there) == without_runs(here)
    assert schemagen(project, "verify", URL)[0] == 0


def test_shard_takes_three_requests(
    module_of: ModuleOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is put, and asked for twice; one that it replaces is removed."""
    from aiobotocore.client import AioBaseClient

    called = AioBaseClient._make_api_call
    requests: list[str] = []

    async def call(self: Any, operation: str, options: dict[str, Any]) -> Any:
        name = options.get("Key") or options.get("Prefix") or ""
        if name.startswith("some/data/train-"):
            requests.append(operation)
        return await called(self, operation, options)

    monkeypatch.setattr(AioBaseClient, "_make_api_call", call)
    for deleted in (0, 8):
        requests.clear()
        write(module_of, overwrite=True)
        wanted = Counter(PutObject=8, HeadObject=16, DeleteObject=deleted)
        assert Counter(requests) == wanted


def test_ranks_that_begin_at_once_write_one_split(
    module_of: ModuleOf, s3: Any, tmp_path: Path
) -> None:
    """Each of them may claim it, and several publish it."""
    serializer = module_of("serializer")
    rows = [row(number) for number in range(ROWS)]
    plan = serializer.plan_dataset(URL, "train", shards=4, rows=ROWS, run="job")
    with ThreadPoolExecutor(4) as pool:
        write = partial(serializer.write_parts, rows, plan)
        written = list(pool.map(lambda rank: write(part=(rank, 4)), range(4)))
        assert [len(receipts) for receipts in written] == [1] * 4
        found = list(pool.map(lambda _: serializer.publish(plan), range(3)))
    assert found == [ROWS] * 3
    serializer.write_dataset(rows, tmp_path, "train", shards=4)
    s3.invalidate_cache()
    there = {path.rsplit("/", 1)[1]: s3.cat(path) for path in s3.ls(URL)}
    (claim,) = [name for name in there if ".run." in name]
    assert json.loads(there.pop(claim))["published"] == ROWS
    here = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert without_runs(there) == without_runs(here)


def test_of_waiters_for_a_dead_publisher_only_one_takes_over(
    s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store compares: one that was sooner while another waited for it is not replaced."""
    import s3fs
    from schemagen.runtime.storage import lock
    from schemagen.runtime.storage.directory import open_directory

    monkeypatch.setattr(lock, "LEASE_SECONDS", 2.0)
    s3.pipe(f"{URL}/.manifest.lock", b"of a dead process\n")
    pipe_file = s3fs.S3FileSystem._pipe_file
    slow = [1.0]

    async def piped(self: Any, path: str, data: bytes, **options: Any) -> Any:
        if slow:
            await asyncio.sleep(slow.pop())
        return await pipe_file(self, path, data, **options)

    monkeypatch.setattr(s3fs.S3FileSystem, "_pipe_file", piped)
    held: list[tuple[float, float]] = []

    def hold(_: int) -> None:
        with open_directory(URL).lock(".manifest.lock", wait=True) as lock:
            start = time.monotonic()
            time.sleep(1.5)
            lock.check()
            held.append((start, time.monotonic()))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(hold, range(3)))
    held.sort()
    assert len(held) == 3
    assert all(end < start for (_, end), (start, _) in pairwise(held))
    assert not s3.exists(f"{URL}/.manifest.lock")


def test_file_that_another_process_creates_sooner_is_not_replaced(
    s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As claims are, and receipts: the store compares, and its refusal is not an error."""
    from schemagen.runtime.storage.directory import open_directory

    opened = s3.__class__.open

    def sooner(self: Any, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "xb":
            self.pipe(path, b"first")
        return opened(self, path, mode, **options)

    monkeypatch.setattr(s3.__class__, "open", sooner)
    directory = open_directory(URL)
    assert not directory.create_whole("file", b"second")
    assert directory.read("file") == b"first"


@pytest.mark.parametrize(
    "options",
    [{}, {"training": True, "seed": 1, "repeat": 2}, {"on_corrupt": "skip"}],
    ids=str,
)
@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_split_is_read_as_the_local_one(
    module_of: ModuleOf,
    tmp_path: Path,
    compression: str | None,
    options: dict[str, Any],
) -> None:
    """By its directory and by a glob."""
    make = module_of("pipeline").make_dataset
    for where in (URL, str(tmp_path)):
        write(module_of, where, compression=compression, workers=2)
    expected = numbers(make(tmp_path, batch_size=32, **options))
    assert len(expected) == ROWS * options.get("repeat", 1)
    for source in (URL, f"{URL}/train-*"):
        assert numbers(make(source, batch_size=32, **options)) == expected


@pytest.mark.parametrize("block", [None, 16])
def test_records_are_read_in_any_order(module_of: ModuleOf, block: int | None) -> None:
    """By ranges of the files, several at a time."""
    write(module_of)
    split = module_of("reader").open_split(URL, "train")
    assert len(split) == ROWS
    wanted = sorted(range(ROWS))
    batches = split.batches(64, shuffle_seed=1, block=block)
    found = [number for batch in batches for number in batch["number"].tolist()]
    assert found != wanted
    assert sorted(found) == wanted


def test_verbs_say_of_a_url_what_they_say_of_a_path(
    project: Path, module_of: ModuleOf, s3: Any, tmp_path: Path
) -> None:
    """Of sound data, and of a damaged object; by one process and by two."""
    local, shard = str(tmp_path / "data"), "train-00003-of-00008.tfrecord"
    for where in (URL, local):
        write(module_of, where)
    (remote,) = s3.glob(f"{URL}/train-00003-*")
    run_name = re.compile(r"(?<=-of-00008)\.[0-9a-f]{24}")

    def compared(code: int, *options: str) -> str:
        said = [schemagen(project, *options, where) for where in (URL, local)]
        texts = [
            " ".join(run_name.sub("", text.replace(where, "DATA")).split())
            for (_, text), where in zip(said, (URL, local), strict=True)
        ]
        assert [found for found, _ in said] == [code, code], texts
        assert texts[0] == texts[1]
        return texts[0]

    compared(0, "verify")
    compared(0, "verify", "--workers", "2")
    compared(0, "inspect")
    content = bytearray(s3.cat(remote))
    content[100] ^= 1
    s3.pipe(remote, bytes(content))
    (tmp_path / "data" / shard).write_bytes(content)
    assert f"DATA/{shard}" in compared(1, "verify")
    compared(1, "inspect", "--workers", "2")
    for where in (URL, local):
        out = tmp_path / f"{len(where)}" / "pets.py"
        out.parent.mkdir()
        code, text = schemagen(project, "infer", where, "--out", str(out))
        assert code == 0, text
        assert "tokens" in out.read_text()
    code, text = schemagen(project, "verify", "s3://bucket/nothing")
    assert code == 2
    assert "s3://bucket/nothing: SG441 " in text


@pytest.mark.parametrize("how", ["stop", "break", "kill"])
def test_reading_process_leaves_no_copy_but_what_was_ahead(
    project: Path, module_of: ModuleOf, tmp_path: Path, how: str
) -> None:
    """None at all unless it is killed."""
    write(module_of)
    done = run(project, str(_PROGRAM), "read", URL, how, TMPDIR=str(tmp_path))
    assert done.returncode == (-signal.SIGKILL if how == "kill" else 0), done.stderr
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(left) <= (4 if how == "kill" else 0)


def test_server_that_refuses_the_credentials_is_named(
    module_of: ModuleOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the data's place, rather than one without a name."""
    import s3fs
    from schemagen.runtime.shared.errors import DatasetError

    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(DatasetError, match=f"{URL}.*redentials"):
        module_of("pipeline").make_dataset(URL, batch_size=8)
