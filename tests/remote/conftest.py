"""An S3 server on this machine, and a generated package whose data goes there.

Nothing but schemagen with its extra `remote-tests` is needed.
"""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from command_line import make_project

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

_SCHEMA = """
from typing import Annotated
from schemagen import Label, Record, VarLen

class Pet(Record):
    number: int
    tokens: Annotated[list[int], VarLen("int64", max_length=2000)]
    kind: Annotated[int, Label(num_classes=5)]
"""

_SECONDS = 60
_BUCKET = "bucket"

ModuleOf = Callable[[str], ModuleType]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An S3 server, by the environment that names it to processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = str(Path(sys.executable).parent / "moto_server")
    url = f"http://127.0.0.1:{port}"
    environment = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [command, "-H", "127.0.0.1", "-p", port],
            env={**os.environ, **environment},
            stdout=out,
            stderr=out,
        )
    try:
        _wait_for(url, process, log)
        yield environment
    finally:
        process.kill()
        process.wait(_SECONDS)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the server does not answer: {log.read_text()}")


@pytest.fixture
def s3(server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The file system of the server, with an empty bucket."""
    import s3fs

    for name, value in server.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem()
    if system.exists(_BUCKET):
        system.rm(_BUCKET, recursive=True)
    system.mkdir(_BUCKET)
    yield system
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with generated code, importable."""
    import schemagen

    root = tmp_path_factory.mktemp("remote") / "project"
    make_project(root, {"pet.py": _SCHEMA}, output="generated_remote")
    schemagen.generate(root)
    sys.path.insert(0, str(root))
    return root


@pytest.fixture
def module_of(project: Path) -> ModuleOf:
    """Import a module of the record's package, such as "pipeline"."""
    return lambda part: importlib.import_module(f"generated_remote.pet.{part}")
